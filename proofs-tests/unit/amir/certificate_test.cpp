#include "amir/certificate.hpp"

#include <catch2/catch.hpp>

#include "amir/certificate_loop.hpp"
#include "amir/certificate_print.hpp"
#include "amir/certificate_tiles.hpp"
#include "amir/certificate_translate.hpp"
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using namespace exocheck::amir::certificate;

namespace {

Certificate certificate_of(const std::string& text, const semantics::ir::SizeSet& sizes,
                           CertificateOptions options = {}) {
  const semantics::ir::Program program = testing::load_program(text);
  const Preparation p = prepare(program.procedures.back(), program, options.mode);
  REQUIRE(p.prepared != nullptr);
  options.headline = "A test.";
  return make_certificate(*p.prepared, sizes, options);
}

const std::string exchange = R"(
def k(n: size, out: f32[32] @ CudaGmemLinear):
    with CudaDeviceFunction(blockDim=32):
        for task in cuda_tasks(0, 1):
            smem: f32[32] @ CudaSmemLinear
            for i in seq(0, n):
                for t in cuda_threads(0, 32, unit=cuda_thread):
                    smem[t] = 1.0
                Fence(cuda_in_order, cuda_in_order)
                for t in cuda_threads(0, 32, unit=cuda_thread):
                    out[t] = smem[31 - t]
                Fence(cuda_in_order, cuda_in_order)
)";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a checked program becomes a theorem about every trip count of its loop") {
  const Certificate c = certificate_of(exchange, {{"n", 3}});
  INFO(c.reason << c.text);
  REQUIRE(c.reason.empty());
  CHECK(c.claim == Claim::accepted_all_trips);
  CHECK(c.theorem == "p_k_every_n");
  CHECK(contains(c.text, "Theorem p_k_every_n : forall n, 1 <= n ->"));
  CHECK(contains(c.text, "sequential_for_all_K 32 prologue"));
}

TEST_CASE("... or about the sizes that were run") {
  CertificateOptions options;
  options.open_sizes = false;
  const Certificate c = certificate_of(exchange, {{"n", 3}}, options);
  CHECK(c.claim == Claim::accepted);
  CHECK(c.says == "k is accepted at n=3, and every parallel execution of it equals the sequential one");
  CHECK(contains(c.text, "(CK 0) (CK 3)"));
}

TEST_CASE("a claim about every size is about the size that was run") {
  CHECK(certificate_of(exchange, {{"n", 0}}).claim == Claim::accepted);
}

TEST_CASE("a defect becomes a theorem that names statement, kind and element") {
  std::string broken = exchange;
  broken.replace(broken.find("                Fence(cuda_in_order, cuda_in_order)\n"), 52, "");
  const Certificate c = certificate_of(broken, {{"n", 3}});
  INFO(c.reason << c.text);
  CHECK(c.claim == Claim::rejected);
  CHECK(contains(c.says, "KMut of smem[31] (E-Y30)"));
  CHECK(contains(c.text, "KMut, Some ("));
}

TEST_CASE("what the theory does not have gets no certificate, and the reason is said") {
  CertificateOptions options;
  options.mode = analysis::Mode::strict;
  CHECK(certificate_of(exchange, {{"n", 3}}, options).reason ==
        "the rules of strict mode are not in the theory");
  options.mode = analysis::Mode::standard;
  options.max_cost = 10;
  CHECK(contains(certificate_of(exchange, {{"n", 3}}, options).reason, "too large for the kernel"));
}

TEST_CASE("linear forms stay small") {
  const Linear x = variable(0), y = variable(1);
  CHECK(plus(x, y) == plus(plus(x, number(2)), minus(y, number(2))));
  CHECK(minus(x, x) == number(0));
  CHECK(times(2, plus(x, number(3))) == plus(plus(x, x), number(6)));
  CHECK(floor_mod(number(-1), number(4)) == number(3));
  CHECK(floor_div(number(-1), number(4)) == number(-1));
  CHECK(print(plus(times(8, floor_mod(x, number(4))), number(-1))) ==
        "CAdd (CMul (CK 8) (CMod (CV 0) (CK 4))) (CK (-1))");
  CHECK(print_size(floor_div(plus(x, number(31)), number(32)), "K") == "((K + 31) / 32)");
  CHECK(mentions(floor_mod(x, number(4)), 0));
  CHECK_FALSE(mentions(floor_mod(x, number(4)), 1));
}

TEST_CASE("tiles are split where every access allows it") {
  Term term;
  term.variables.push_back({"A", 0, false, {4, 128, 32}, 3, {}});
  term.threads.push_back({});
  const auto access = [](Linear stage, Linear row, std::int64_t rows, Linear column, std::int64_t columns) {
    Leaf leaf;
    leaf.kind = LeafKind::record;
    leaf.target.index = {{std::move(stage), std::nullopt},
                         {row, plus(row, number(rows - 1))},
                         {column, plus(column, number(columns - 1))}};
    return Stmt{leaf};
  };
  term.body.push_back(access(floor_mod(variable(0), number(4)), number(0), 128, number(0), 32));
  term.body.push_back(
      access(floor_mod(variable(0), number(4)), times(64, variable(1)), 64, times(8, variable(2)), 8));
  split_tiles(term);
  CHECK(term.variables[0].extents == std::vector<std::int64_t>{4, 2, 4, 64, 8});
  CHECK(term.variables[0].kept == 3);
  CHECK(term.variables[0].renaming == "[4, 128, 32] as [4, 2, 4] of [64, 8]");
  CHECK(collapsed_elements(term) == 32);
  const auto& whole = std::get<Leaf>(term.body[0].node).target.index;
  CHECK(whole[1] == Window{number(0), number(1)});
  const auto& part = std::get<Leaf>(term.body[1].node).target.index;
  CHECK(part[1] == Window{variable(1), std::nullopt});
  CHECK(part[2] == Window{variable(2), std::nullopt});
  CHECK(tiles(term) == "Definition tiles : list (N * (nat * list Z)) := [(0%N, (3%nat, [64; 8]))].\n");
}
