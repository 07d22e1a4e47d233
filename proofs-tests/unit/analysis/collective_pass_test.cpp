// Loops, CudaWarps blocks and scopes in programs: collective.md 11.1 (A34-A38), conformance.md 1.2.
#include <catch2/catch.hpp>

#include "proofs-tests/unit/analysis/nest_text.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::test;

namespace {

const std::string group =
    "@instr(\"f();\", tl=cuda_in_order_instr, unit=cuda_warpgroup)\n"
    "def group(x: [f32][1] @ CudaGmemLinear):\n"
    "    x[0] = 0.0\n"
    "\n"
    "@instr(\"f();\", tl=cuda_in_order_instr, unit=cuda_warp)\n"
    "def warp(x: [f32][1] @ CudaGmemLinear):\n"
    "    x[0] = 0.0\n"
    "\n";

Program block(int cluster_dim, int block_dim, const std::string& steps,
              const std::string& statement = "pass") {
  return {shape(cluster_dim, block_dim), nest(steps, statement), "a: f32[4096] @ CudaGmemLinear", group};
}
Program named(const std::string& groups, const std::string& steps, const std::string& statement = "pass",
              int cluster_dim = 1) {
  return {"clusterDim=" + std::to_string(cluster_dim) + ", warp_config=[" + groups + "]",
          nest(steps, statement), "a: f32[4096] @ CudaGmemLinear", group};
}
const std::string abc_xyz = "CudaWarpConfig(\"abc\", 16), CudaWarpConfig(\"xyz\", 4)";
const std::string call = "group(a[0:1])";

}  // namespace

TEST_CASE("A6-A16 loop errors have their codes") {
  check_error(block(1, 512, "g:4*WG > s:4*40T"), "E-H03", {"`s`", "at most 3"});
  check_error(block(1, 512, "g:4*WG > s:4*2WG"), "E-H03", {"`s`"});
  check_error(block(1, 32, "t:64*T"), "E-H03", {"at most 32"});
  check_error(block(1, 96, "g:1*WG"), "E-H03");
  check_error(block(1, 512, "g:4*WG > s:4*QP"), "E-H04", {"cuda_quadpair", "`s`"});
  check_error(block(1, 128, "w:4*WP > v:2*WP"), "E-H05", {"`v`"});
  check_error(block(1, 256, "w:2*WP > W(2, 4)"), "E-H05", {"CudaWarps(2, 4)"});
  check_codes(block(1, 256, "w:2*WP > W(0, 1)"), {});
  check_error(block(1, 256, "W(6, 10)"), "E-H03", {"at most 8"});
}

TEST_CASE("A24-A26, A33 misfits name the culprit") {
  Program p = block(1, 256, "t:256*T > z:1*u8");
  p.prelude = "u8 = CollUnit((8,), (1,), \"u8\")\nu3 = CollUnit((3,), (1,), \"u3\")\n";
  check_error(p, "E-H06", {"loop `t`", "256 boxes"});
  p.launch = shape(1, 384);
  p.body = nest("y:2*u3 > x:2*u8", "pass");
  check_error(p, "E-H06", {"`x`", "does not divide"});
  p.launch = shape(1, 96);
  p.prelude = "part = CollUnit((blockDim / 64, 64), (blockDim / 64, 1), \"part\")\n";
  p.body = nest("t:1*part", "pass");
  check_error(p, "E-H06", {"blockDim / 64"});
}

TEST_CASE("A34-A35 named warps") {
  check_error(named(abc_xyz, "g:2*WG > W(name=\"abc\")"), "E-W22", {"loop `g`"});
  check_codes(named(abc_xyz, "seq s:5 > g:2*CTA > W(name=\"abc\")", "pass", 2), {});
  check_error(named(abc_xyz, "W(name=\"foo\")"), "E-W21", {"`foo`", "`abc` (16 warps)"});
  check_error(named(abc_xyz, "W(0, 4)"), "E-W21", {"missing"});
  check_error(named(abc_xyz, "W(name=\"xyz\") > W(0, 2, name=\"abc\")"), "E-W24", {"cannot change"});
  check_error(named(abc_xyz, "W(name=\"xyz\") > W(hi=2, name=\"xyz\")"), "E-W25", {"lo must"});
  check_error(named(abc_xyz, "W(name=\"xyz\") > W(lo=1, name=\"xyz\")"), "E-W25", {"hi must"});
  check_error(named(abc_xyz, "W(0, 17, name=\"abc\")"), "E-W23", {"17"});
  check_error(named(abc_xyz, "W(name=\"xyz\") > W(0, 5)"), "E-W23", {"5", "4 warps"});
  check_error(named(abc_xyz, "W(lo=16, name=\"abc\")"), "E-W23");
  check_codes(named(abc_xyz, "W(hi=2, name=\"xyz\")"), {});
  check_codes(named(abc_xyz, "W(name=\"xyz\") > W(0, 2)"), {});
  check_error(named(abc_xyz, "W(3, 3, name=\"abc\")"), "E-W20");
  check_error(block(1, 128, "W(lo=1)"), "E-W20");
  // A single group follows the nested rules (decisions.md K12).
  check_error(named("CudaWarpConfig(\"all\", 8)", "W(name=\"all\")"), "E-W25");
  check_error(named("CudaWarpConfig(\"all\", 8)", "W(0, 4, name=\"other\")"), "E-W24");
  check_codes(named("CudaWarpConfig(\"all\", 8)", "W(0, 4)"), {});
}

TEST_CASE("A36 loop bounds") {
  Program p{shape(1, 256), "for i in cuda_threads(137, 256):\n    pass\n"};
  check_error(p, "E-H01", {"`i`", "137"});
  p.body = "for i in cuda_threads(0, 200 + 56):\n    pass\n";
  check_codes(p, {});
  p.body = "for i in cuda_threads(0, 0):\n    pass\n";
  check_error(p, "E-H02");
  p.body = "for i in cuda_threads(0, n):\n    pass\n";
  p.parameters = "n: size";
  check_error(p, "E-H02", {"`i`"});
}

TEST_CASE("M1-M4, CO-18 to CO-20 instruction scopes") {
  check_codes(block(1, 256, "W(0, 4) > g:1*WG", call), {});
  check_error(block(1, 256, "W(1, 5) > g:1*WG", call), "E-H06", {"CudaWarps(1, 5)", "group"});
  check_error(
      named("CudaWarpConfig(\"abc\", 7), CudaWarpConfig(\"xyz\", 25)", "W(name=\"xyz\") > g:2*WG", call),
      "E-H06", {"name=\"xyz\""});
  const std::string eight = "CudaWarpConfig(\"abc\", 8), CudaWarpConfig(\"xyz\", 24)";
  check_codes(named(eight, "W(name=\"xyz\") > g:2*WG", call), {});
  check_error(named(eight, "W(name=\"xyz\") > e:2*9WP > g:2*WG", call), "E-H06", {"loop `e`"});
  check_codes(named(eight, "W(name=\"xyz\") > e:2*8WP > g:2*WG", call), {});
  check_error(block(1, 32, "i:1*T", "warp(a[0:1])"), "E-H20", {"32", "cuda_warp"});
  check_codes(block(1, 32, "i:1*WP", "warp(a[0:1])"), {});
  check_codes(block(1, 512, "i:2*256T > j:2*128T", call), {});
  Program odd = block(1, 512, "i:2*ua > j:2*ub", call);
  odd.prelude += "ua = CollUnit((4, 128), (4, 64), \"ua\")\nub = CollUnit((4, 128), (2, 64), \"ub\")\n";
  check_error(odd, "E-H20", {"(2, 64)"});
  check_error(block(2, 384, "W(4, 12) > g:2*WG", call), "E-H20", {"256 threads"});
}

TEST_CASE("CO-17, CO-30, DM-24 plain writes") {
  check_codes(block(1, 32, "t:1*T", "a[0] = 0.0"), {});
  check_codes(block(1, 32, "t:32*T", "a[0] = 0.0"), {});
  check_error(block(1, 32, "t:1*WP", "a[0] = 0.0"), "E-H10", {"`a[0]`", "exactly one thread", "32 threads"});
  check_error(block(1, 64, "w:2*WP", "a[w] += 1.0"), "E-H10", {"loop `w`"});
  const std::string uniform = "x: f32[4] @ CudaRmemUniform(64)\n";
  Program p = block(1, 256, "", uniform + nest("g:4*64T > t:1*T", "x[g] = 0.0"));
  check_error(p, "E-H10", {"64 * cuda_thread", "CudaRmemUniform(64)", "`x[g]`"});
}

TEST_CASE("tilings are facts of every device statement") {
  const Checked c(block(1, 384, "W(4, 12) > w:7*WP > t:32*T", "a[w * 32 + t] = 0.0"));
  INFO(c.message());
  REQUIRE(c.codes().empty());
  const auto& facts = c.facts();
  CHECK(facts.body_tiling.size() == 3);
  bool found = false;
  exocheck::semantics::ir::for_each_stmt(c.procedure().body, [&](const exocheck::semantics::ir::Stmt& s) {
    if (!std::holds_alternative<exocheck::semantics::ir::Assign>(s.node)) return;
    found = true;
    const auto& tiling = facts.tiling_of(s.id);
    REQUIRE(tiling);
    CHECK(tiling->threads() == 1);
    CHECK(exocheck::analysis::base_thread(*tiling) == 128);
    CHECK(exocheck::analysis::thread_map(*tiling).dims.at(0).terms.size() == 2);
  });
  CHECK(found);
  for (const auto& [symbol, name] : facts.synthetic_names) {
    CHECK(exocheck::semantics::ir::index(symbol) >= c.procedure().symbols.size());
    CHECK(exocheck::semantics::ir::index(symbol) < facts.symbol_limit);
    CHECK(name == "CudaWarps(4, 12)");
  }
}
