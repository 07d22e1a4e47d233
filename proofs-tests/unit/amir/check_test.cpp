// Verdicts of whole procedures (cli.md, decisions.md C, E1, O).
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using amir::Verdict;
using semantics::Role;

namespace {

const std::string reverse_tile = R"(
def tile_reverse(n: size, src: f32[n] @ CudaGmemLinear, dst: f32[n] @ CudaGmemLinear):
    assert n % 64 == 0
    with CudaDeviceFunction(blockDim=64):
        for blk in cuda_tasks(0, n / 64):
            tile: f32[64] @ CudaSmemLinear
            for t in cuda_threads(0, 64, unit=cuda_thread):
                tile[t] = src[64 * blk + t]
            Fence(cuda_in_order, cuda_in_order)
            for t in cuda_threads(0, 64, unit=cuda_thread):
                dst[64 * blk + t] = tile[63 - t]
            Fence(cuda_in_order, cuda_in_order)
)";

std::string without(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.substr(0, at) + text.substr(at + part.size());
}

}  // namespace

TEST_CASE("A correct kernel is checked at the given sizes") {
  const auto r = check_text(reverse_tile, {{{"n", 128}}});
  CHECK(r.verdict == Verdict::checked);
  CHECK(r.findings.empty());
  CHECK(r.sizes == std::vector<semantics::ir::SizeSet>{{{"n", 128}}});
  CHECK_FALSE(r.all_sizes);
  CHECK(r.stats.statements > 0);
}

TEST_CASE("A missing fence is a read-after-write hazard with both accesses") {
  const auto r =
      check_text(without(reverse_tile, "            Fence(cuda_in_order, cuda_in_order)\n"), {{{"n", 64}}});
  CHECK(r.verdict == Verdict::defect);
  const auto& d = the_error(r);
  CHECK(d.rule->code == "E-Y30");
  CHECK(d.variable == "tile");
  CHECK(d.location.begin().line == 10);
  CHECK(related_line(d, Role::first_access) == 8);
  CHECK(related_line(d, Role::declaration) == 6);
  REQUIRE(d.access);
  CHECK(d.access->mode == "read");
  CHECK(d.access->required == "fully ordered");
  CHECK(d.access->held == "invisible");
  CHECK(d.access->missing_thread == "task 0, cta 0, warp 0, lane 0");
  REQUIRE(d.suggestion);
  CHECK(d.suggestion->find("Fence(cuda_in_order, cuda_in_order)") != std::string::npos);
  REQUIRE(r.counterexample);
  CHECK(r.counterexample->graph.events.size() >= 2);
}

TEST_CASE("A missing closing fence is a free hazard at the allocation") {
  const std::size_t last = reverse_tile.rfind("            Fence");
  const auto r = check_text(reverse_tile.substr(0, last), {{{"n", 64}}});
  const auto& d = the_error(r);
  CHECK(d.rule->code == "E-Y12");
  CHECK(d.location.begin().line == 6);
  CHECK(related_line(d, Role::first_access) == 11);
  CHECK(d.message.find("after read") != std::string::npos);
}

TEST_CASE("Sizes that the asserts exclude are vacuous") {
  const auto r = check_text(reverse_tile, {{{"n", 65}}});
  CHECK(r.verdict == Verdict::vacuous);
  CHECK(r.sizes.empty());
  CHECK_FALSE(r.reason.empty());
}

TEST_CASE("Size 0 runs no task, with a warning") {
  const auto r = check_text(reverse_tile, {{{"n", 0}}});
  CHECK(r.verdict == Verdict::vacuous);
  CHECK(has_finding(r, "W-B01"));
}

TEST_CASE("A correct kernel is proved for all sizes") {
  const auto r = check_text(reverse_tile);
  CHECK(r.verdict == Verdict::proved);
  CHECK(r.all_sizes);
  REQUIRE(r.proof);
  CHECK(r.proof->slices > 0);
}

TEST_CASE("Chosen sizes satisfy the asserts and cover one task and more") {
  const semantics::ir::Program program = load_program(reverse_tile);
  amir::CheckOptions options;
  options.all_sizes = false;
  const auto r = amir::check_procedure(program.procedures.back(), program, options);
  CHECK(r.verdict == Verdict::checked);
  REQUIRE(r.sizes.size() >= 2);
  bool one = false;
  bool more = false;
  for (const auto& set : r.sizes) {
    REQUIRE(set.size() == 1);
    CHECK(set[0].second % 64 == 0);
    one = one || set[0].second == 64;
    more = more || set[0].second > 128;
  }
  CHECK(one);
  CHECK(more);
}

TEST_CASE("A host-only procedure is proved") {
  const auto r = check_text(R"(
def fill(n: size, a: f32[n] @ DRAM):
    for i in seq(0, n):
        a[i] = 1.0
)");
  CHECK(r.verdict == Verdict::proved);
  CHECK(r.all_sizes);
}

TEST_CASE("Tasks are never ordered with each other") {
  const auto r = check_text(R"(
def sum(n: size, x: f32[n, 32] @ CudaGmemLinear, c: f32[32] @ CudaGmemLinear):
    with CudaDeviceFunction(blockDim=32):
        for k in cuda_tasks(0, n):
            for t in cuda_threads(0, 32, unit=cuda_thread):
                c[t] += x[k, t]
)",
                            {{{"n", 2}}});
  const auto& d = the_error(r);
  CHECK(d.rule->code == "E-Y32");
  CHECK(d.location.begin().line == 6);
  CHECK(related_line(d, Role::first_access) == 6);
  REQUIRE(d.first_access);
  CHECK(d.first_access->task == 0);
  CHECK(d.access->task == 1);
  REQUIRE(d.suggestion);
  CHECK(d.suggestion->find("task") != std::string::npos);
}

TEST_CASE("A procedure call is inlined, and its kernel is checked in the caller") {
  const auto r = check_text(reverse_tile + R"(
def twice(n: size, x: f32[n] @ CudaGmemLinear, y: f32[n] @ CudaGmemLinear):
    assert n % 64 == 0
    tile_reverse(n, x, y)
    tile_reverse(n, y, x)
)",
                            {{{"n", 128}}});
  CHECK(r.verdict == Verdict::checked);
}

TEST_CASE("Reading a register nobody wrote is a defect, shared memory a warning") {
  const std::string text = R"(
def f(y: f32[32] @ CudaGmemLinear):
    with CudaDeviceFunction(blockDim=32):
        for task in cuda_tasks(0, 1):
            v: f32[32] @ MEMORY
            for t in cuda_threads(0, 32, unit=cuda_thread):
                if t < 20:
                    v[t] = 1.0
            for t in cuda_threads(0, 32, unit=cuda_thread):
                y[t] = v[t]
            Fence(cuda_in_order, cuda_in_order)
)";
  const auto with = [&](const std::string& memory) {
    std::string out = text;
    out.replace(out.find("MEMORY"), 6, memory);
    return out;
  };
  const auto registers = check_text(with("CudaRmem"));
  const auto& d = the_error(registers);
  CHECK(d.rule->code == "E-Y21");
  CHECK(d.index == std::vector<std::int64_t>{20});
  CHECK(d.location.begin().line == 10);
  const auto shared = check_text(with("CudaSmemLinear"));
  CHECK(shared.verdict == Verdict::proved);
  CHECK(has_finding(shared, "W-Y21"));
  CHECK(check_text(with("CudaRmem"), {}, analysis::Mode::paper_exact).verdict == Verdict::proved);
}

TEST_CASE("Shared memory below cluster scope is unsupported") {
  const auto r = check_text(R"(
def f(y: f32[2, 64] @ CudaGmemLinear):
    with CudaDeviceFunction(clusterDim=2, blockDim=64):
        for task in cuda_tasks(0, 1):
            for c in cuda_threads(0, 2, unit=cuda_cta_in_cluster):
                s: f32[64] @ CudaSmemLinear
                for t in cuda_threads(0, 64, unit=cuda_thread):
                    s[t] = 1.0
                Fence(cuda_in_order, cuda_in_order)
                for t in cuda_threads(0, 64, unit=cuda_thread):
                    y[c, t] = s[t]
            Fence(cuda_in_order, cuda_in_order)
)");
  CHECK(r.verdict == Verdict::unsupported);
  CHECK(has_finding(r, "E-Y40"));
}

TEST_CASE("The time limit gives unknown, not a verdict") {
  const semantics::ir::Program program = load_program(reverse_tile);
  amir::CheckOptions options;
  options.sizes = {{{"n", 640000}}};
  options.limits.max_steps = 100;
  options.all_sizes = false;
  const auto r = amir::check_procedure(program.procedures.back(), program, options);
  CHECK(r.verdict == Verdict::unknown);
  CHECK(has_finding(r, "L-06"));
}
