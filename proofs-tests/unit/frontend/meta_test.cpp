#include <catch2/catch.hpp>
#include <memory>

#include "frontend/meta.hpp"
#include "frontend/parse.hpp"

using namespace exocheck;
using namespace exocheck::frontend;

namespace {

MetaEnvironment environment() {
  MetaEnvironment env;
  env["n"].value = std::int64_t{64};
  env["k"].value = std::int64_t{2};
  env["box"].value = MetaTuple{{{std::int64_t{1}}, {std::int64_t{32}}, {std::int64_t{16}}}};
  env["A"].value = semantics::Precision::f16;
  env["nothing"].value = MetaNone{};
  return env;
}

MetaResult evaluate(const std::string& text) {
  const auto source = std::make_shared<const semantics::SourceFile>("test.exo", "(" + text + ")\n");
  const ParseResult r = parse(source);
  REQUIRE(r.diagnostics.empty());
  return evaluate_meta(*std::get<ast::ExprStmt>(r.file.statements.at(0).node).value, environment(), source,
                       "E-C12");
}

// The value as printed, or the code of the error.
std::string meta(const std::string& text) {
  const MetaResult r = evaluate(text);
  if (const auto* d = std::get_if<semantics::Diagnostic>(&r)) return std::string(d->rule->code);
  return meta_text(std::get<MetaValue>(r));
}

}  // namespace

TEST_CASE("literals print as they are written", "[meta]") {
  for (const std::string text :
       {"1", "0.5", "3.0", "1e-07", "1e+30", "inf", "'row'", "True", "None", "(1, 2)", "(1,)", "()",
        "[1, None]", "{1, 2}", "{a: 1, b: (2,)}", "f16", "same", "required"}) {
    CHECK(meta(text) == text);
  }
  CHECK(meta("\"it's\\n\"") == "'it\\'s\\n'");
  CHECK(meta("-5") == "-5");
  CHECK(meta("~0") == "-1");
  CHECK(meta("~2") == "-3");
  CHECK(meta("R") == "f32");
  CHECK(meta("9223372036854775808") == "L-03");
}

TEST_CASE("arithmetic is exact and checked", "[meta]") {
  CHECK(meta("n / k + 3 * (n - 1) % 5") == "36");
  CHECK(meta("-7 % 4") == "1");
  CHECK(meta("n / 3") == "E-C12");
  CHECK(meta("n / 0") == "E-C12");
  CHECK(meta("n % 0") == "E-C12");
  CHECK(meta("n // 2") == "E-C12");
  CHECK(meta("9223372036854775807 + 1") == "L-03");
  CHECK(meta("9223372036854775807 * k") == "L-03");
  CHECK(meta("0.5 + 1") == "E-C12");
  CHECK(meta("+n") == "E-C12");
}

TEST_CASE("conditions", "[meta]") {
  CHECK(meta("n == 64 and not k > 2 or False") == "True");
  CHECK(meta("1 < k <= 2 != n") == "True");
  CHECK(meta("1 < k < 2") == "False");
  CHECK(meta("k in (1, 2, 4)") == "True");
  CHECK(meta("n not in {1, 2}") == "True");
  CHECK(meta("(1, k) == (1, 2)") == "True");
  CHECK(meta("nothing == None") == "True");
  CHECK(meta("box == None") == "False");
  CHECK(meta("k == 2.0") == "False");
  // Only what decides is evaluated.
  CHECK(meta("False and 1 / 0 == 1") == "False");
  CHECK(meta("n if k == 2 else 1 / 0") == "64");
  CHECK(meta("n and k") == "E-C12");
  CHECK(meta("1 if n else 2") == "E-C12");
  CHECK(meta("'a' < 'b'") == "E-C12");
}

TEST_CASE("tuples", "[meta]") {
  CHECK(meta("box[0]") == "1");
  CHECK(meta("4 * box[-1]") == "64");
  CHECK(meta("box[3]") == "E-C12");
  CHECK(meta("box[-4]") == "E-C12");
  CHECK(meta("box[0:1]") == "E-C12");
  CHECK(meta("n[0]") == "E-C12");
  CHECK(meta("(0, *box, 7)") == "(0, 1, 32, 16, 7)");
  CHECK(meta("(*n,)") == "E-C12");
  CHECK(meta("minimal(box) == minimal((32, n / 4))") == "True");
  CHECK(meta("minimal([1, 1])") == "()");
  CHECK(meta("minimal(None)") == "E-C12");
}

TEST_CASE("precisions have bits", "[meta]") {
  CHECK(meta("bits(A) * 8 == 128") == "True");
  CHECK(meta("bits(f64) + bits(e4m3)") == "72");
  CHECK(meta("bits(n)") == "E-C12");
}

TEST_CASE("memories and mechanisms", "[meta]") {
  CHECK(meta("CudaSmemLinear") == "CudaSmemLinear");
  CHECK(meta("CudaRmemLinear") == "CudaRmem");
  CHECK(meta("Sm90_SmemSwizzled(n * k,)") == "Sm90_SmemSwizzled(128)");
  CHECK(meta("Sm90_SmemSwizzled(100)") == "E-M13");
  CHECK(meta("Sm90_SmemSwizzled") == "E-P73");
  CHECK(meta("Sm90_tensorMap(64, *box)") == "Sm90_tensorMap(64, 1, 32, 16)");
  CHECK(meta("Sm90_tensorMap(64, *box, 1, 1, 1)") == "E-M04");
  CHECK(meta("CudaTkWarpTile(16, n)") == "CudaTkWarpTile(16, 64, 'row')");
  CHECK(meta("CudaTkWarpTile(16, n, layout='all')") == "CudaTkWarpTile(16, 64, 'all')");
  CHECK(meta("CudaSmemLinear if k == 2 else Sm90_SmemSwizzled(k)") == "CudaSmemLinear");
  CHECK(meta("CudaMbarrier") == "CudaMbarrier");
  CHECK(meta("CudaMbarrierPreArrive(k, )") == "CudaMbarrierPreArrive(2)");
  CHECK(meta("CudaMbarrierPreArrive(0)") == "E-C12");
  CHECK(meta("CudaSmemLinear('row')") == "E-C12");
}

TEST_CASE("collective units", "[meta]") {
  CHECK(meta("16 * cuda_thread") == "16 * cuda_thread");
  CHECK(meta("cuda_thread * 16") == "16 * cuda_thread");
  CHECK(meta("k * n * cuda_warp") == "128 * cuda_warp");
  CHECK(meta("k * cuda_threads_strided(1, n)") == "2 * cuda_threads_strided(1, 64)");
  CHECK(meta("cuda_threads_strided(1)") == "E-C12");
  CHECK(meta("0 * cuda_warp") == "E-H07");
  CHECK(meta("-1 * cuda_warp") == "E-H07");
  CHECK(meta("cuda_warp * 2.5") == "E-H07");
  CHECK(meta("2 * cuda_quadpair") == "E-H08");
  CHECK(meta("CollUnit((8,), (1,), 'cuda_1_8')") == "CollUnit((8,), (1,), 'cuda_1_8')");
  CHECK(meta("2 * CollUnit((blockDim / 16, 16), (1, None), 'u', 0)") ==
        "2 * CollUnit((blockDim / 16, 16), (1, None), 'u', 0)");
  CHECK(meta("CollUnit((clusterDim * blockDim,), (blockDim,), 'u')") ==
        "CollUnit((clusterDim * blockDim,), (blockDim,), 'u')");
  // A unit that only borrows a library unit's name is written out.
  CHECK(meta("CollUnit((blockDim,), (16,), 'cuda_warp')") == "CollUnit((blockDim,), (16,), 'cuda_warp')");
  CHECK(meta("CollUnit((blockDim,), (32,), 'cuda_warp')") == "cuda_warp");
  CHECK(meta("CollUnit((8, 2), (1,))") == "E-C12");
  CHECK(meta("CollUnit((0,), (1,))") == "E-C12");
  CHECK(meta("CollUnit((8,), (1,), 'u', 1)") == "E-C12");
  const MetaResult r = evaluate("3 * CollUnit((blockDim,), (4,), 'u', 0)");
  const auto& unit = std::get<semantics::CollUnit>(std::get<MetaValue>(r).value);
  CHECK(unit.box.front() == semantics::size_constant(12));
}

TEST_CASE("timelines and warp configurations", "[meta]") {
  CHECK(std::holds_alternative<semantics::SyncTl>(std::get<MetaValue>(evaluate("cuda_in_order")).value));
  CHECK(std::holds_alternative<semantics::InstrTimeline>(
      std::get<MetaValue>(evaluate("cuda_in_order_instr")).value));
  CHECK(std::holds_alternative<semantics::Qual>(std::get<MetaValue>(evaluate("s2g")).value));
  CHECK(meta("CudaWarpConfig('a', k, setmaxnreg_inc=240)") ==
        "CudaWarpConfig('a', 2, setmaxnreg_dec=None, setmaxnreg_inc=240)");
  CHECK(meta("[CudaWarpConfig('a', 1)]") ==
        "[CudaWarpConfig('a', 1, setmaxnreg_dec=None, setmaxnreg_inc=None)]");
  CHECK(meta("CudaWarpConfig('a')") == "E-C12");
  CHECK(meta("CudaWarpConfig('a', 1, name='b')") == "E-C12");
  CHECK(meta("CudaWarpConfig('a', 1, regs=3)") == "E-C12");
}

TEST_CASE("names that mean nothing", "[meta]") {
  CHECK(meta("bogus") == "E-N03");
  CHECK(meta("bogus(1)") == "E-N03");
  CHECK(meta("_") == "E-P67");
  CHECK(meta("<class 'x.Y'>") == "E-P69");
  CHECK(meta("a.b") == "E-C12");
  CHECK(meta("n(1)") == "E-N03");
}

TEST_CASE("lists of bare names stay unevaluated", "[meta]") {
  const auto names = [](const std::string& text) {
    const auto source = std::make_shared<const semantics::SourceFile>("test.exo", text + "\n");
    const ParseResult r = parse(source);
    return name_list(*std::get<ast::ExprStmt>(r.file.statements.at(0).node).value);
  };
  using Names = std::vector<std::string>;
  CHECK(names("[a, b]") == Names{"a", "b"});
  CHECK(names("(a,)") == Names{"a"});
  CHECK(names("{a, b}") == Names{"a", "b"});
  CHECK(names("[]") == Names{});
  CHECK_FALSE(names("[a, 1]"));
  CHECK_FALSE(names("{a: b}"));
  CHECK_FALSE(names("a"));
}
