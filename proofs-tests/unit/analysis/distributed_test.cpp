// Distribution of data: collective.md 11.3, conformance.md 1.3.
#include <catch2/catch.hpp>

#include "proofs-tests/unit/analysis/nest_text.hpp"

using namespace exocheck::test;

namespace {

std::string rmem(const std::string& name, const std::string& shape) {
  return name + ": f32" + shape + " @ CudaRmem\n";
}
std::string smem(const std::string& name, const std::string& shape) {
  return name + ": f32" + shape + " @ CudaSmemLinear\n";
}
std::string fragment(const std::string& name, const std::string& shape) {
  return name + ": f32" + shape + " @ Sm80_RmemMatrixD(16, 8)\n";
}
std::string clear(const std::string& window) { return "Sm80_mma_zero_d_tf32(" + window + ")"; }

// Instructions that only exist to have a unit and distributed units.
const std::string instructions =
    "@instr(\"{x_data} = 0;\", tl=cuda_in_order_instr, unit=cuda_cta_in_cluster)\n"
    "def cta_zero(x: [f32][16, 16] @ CudaSmemLinear):\n"
    "    for i in seq(0, 16):\n"
    "        for j in seq(0, 16):\n"
    "            x[i, j] = 0.0\n"
    "\n"
    "@instr(\"{x_data} = 0;\", tl=cuda_in_order_instr, unit=2 * cuda_threads_strided(1, 32),\n"
    "       distributed={x: [cuda_thread]}, owner_only={x: True})\n"
    "def pair_zero(x: [f32][2] @ CudaRmem):\n"
    "    for i in seq(0, 2):\n"
    "        x[i] = 0.0\n"
    "\n"
    "@instr(\"{x_data} = 0;\", tl=cuda_in_order_instr, unit=cuda_warp,\n"
    "       distributed={x: [4 * cuda_thread, cuda_thread]}, owner_only={x: True})\n"
    "def warp_zero(x: [f32][8, 4, 2] @ CudaRmem):\n"
    "    for i in seq(0, 8):\n"
    "        for j in seq(0, 4):\n"
    "            for k in seq(0, 2):\n"
    "                x[i, j, k] = 0.0\n"
    "\n"
    "@instr(\"{x_data} = 0;\", tl=cuda_in_order_instr, unit=cuda_warpgroup, distributed={x: [cuda_warp]},\n"
    "       owner_only={x: True})\n"
    "def group_zero(x: [f32][4, 16, 256] @ CudaTkWarpTile(16, 256)):\n"
    "    for i in seq(0, 4):\n"
    "        for j in seq(0, 16):\n"
    "            for k in seq(0, 256):\n"
    "                x[i, j, k] = 0.0\n"
    "\n"
    "@instr(\"{x_data} = 0;\", tl=cuda_in_order_instr, unit=2 * cuda_warp_in_cluster_strided(2),\n"
    "       distributed={x: [cuda_cta_in_cluster]}, owner_only={x: False})\n"
    "def multicast(x: [f32][2, 64] @ CudaSmemLinear):\n"
    "    for i in seq(0, 2):\n"
    "        for j in seq(0, 64):\n"
    "            x[i, j] = 0.0\n"
    "\n"
    "@instr(\"{x_data} = 0;\", tl=cuda_in_order_instr, unit=cuda_warp, distributed={x: "
    "[cuda_cta_in_cluster]},\n"
    "       owner_only={x: False})\n"
    "def warp_multicast(x: [f32][2, 64] @ CudaSmemLinear):\n"
    "    for i in seq(0, 2):\n"
    "        for j in seq(0, 64):\n"
    "            x[i, j] = 0.0\n"
    "\n";

Program data(int cluster_dim, int block_dim, const std::string& body) {
  return {shape(cluster_dim, block_dim), body};
}
Program called(int cluster_dim, int block_dim, const std::string& body) {
  Program p = data(cluster_dim, block_dim, body);
  p.prelude = instructions;
  return p;
}

}  // namespace

TEST_CASE("D1-D3 leading dimensions follow the loops below the allocation") {
  const std::string x = rmem("x", "[16, 8, 2]");
  check_distribution(data(1, 256, x + nest("W(2, 6) > m:16*8T > n:8*T > seq s:2", "x[m, n, s] = 0.0")), "x",
                     {8, 1}, 64, {2});
  const std::string b = "b:2*128T > m:16*8T > n:8*T";
  check_distribution(data(1, 256, x + nest(b, "x[m, n, b] = 0.0")), "x", {8, 1, 128}, 0, {});
  check_error(data(1, 256, x + nest(b + " > seq s:2", "x[m, n, s] = 0.0")), "E-X04", {"`s`", "`b`"});
}

TEST_CASE("D4 a repeated iterator") {
  const std::string x = rmem("x", "[16, 16, 16]");
  const std::string loops = "m:16*16T > n:16*T";
  check_error(data(1, 256, x + nest(loops, "x[m, m, n] = 0.0")), "E-X06", {"`m`"});
  check_distribution(data(1, 256, x + nest(loops, "x[n, m, m] = 0.0")), "x", {1, 16}, 0, {16});
}

TEST_CASE("D5 different loops with equal owners agree") {
  const std::string uses =
      nest("m:16*8T > n:8*T", "x[m, n] = 0.0") + nest("n:8*16TS(1,8) > m:16*T", "x[m, n] = 0.0");
  check_distribution(data(1, 128, rmem("x", "[16, 8]") + uses), "x", {8, 1}, 0, {});
}

TEST_CASE("D6-D8 disagreeing uses") {
  const std::string x = rmem("x", "[16, 4]");
  const std::string first = nest("m:16*4T > n:4*T", "x[m, n] = 0.0");
  check_error(data(1, 256, x + first + nest("W(1, 3) > m:16*4T > n:4*T", "x[m, n] = 0.0")), "E-X13",
              {"thread 32", "thread 0", "CudaWarps(1, 3)"});
  check_error(data(1, 256, x + first + nest("t:16*T > seq s:4", "x[t, s] = 0.0")), "E-X12",
              {"threadIdx.x / 4"});
  check_error(data(1, 256, rmem("x", "[8, 8]") + nest("m:8*8T > n:8*T", "x[m, n] = 0.0\nx[n, m] = 0.0")),
              "E-X12");
}

TEST_CASE("D9-D11 loops of one iteration") {
  check_error(data(1, 64, rmem("x", "[8, 8]") + nest("m:1*8T > n:8*T", "x[m, n] = 0.0")), "E-X08",
              {"8", "1 iterations"});
  check_distribution(data(1, 64, rmem("x", "[1, 64]") + nest("o:1*64T > n:64*T", "x[o, n] = 0.0")), "x",
                     {0, 1}, 0, {});
  check_distribution(data(1, 64, rmem("x", "[64, 1]") + nest("n:64*T > o:1*T", "x[n, o] = 0.0")), "x", {1}, 0,
                     {1});
}

TEST_CASE("D12-D18 shared memory is owned by CTAs") {
  const std::string v = smem("v", "[4, 4, 64]");
  check_distribution(data(4, 256, v + nest("x:4*CTA > y:4*64T > z:32*T", "v[x, y, z] = 0.0")), "v", {256}, 0,
                     {4, 64});
  check_error(data(4, 256, v + nest("x:4*64T > y:4*CTA > z:32*T", "v[x, y, z] = 0.0")), "E-X05", {"`x`"});
  check_distribution(data(4, 256, v + nest("x:4*64T > y:4*CTA > z:32*T", "v[y, x, z] = 0.0")), "v", {256}, 0,
                     {4, 64});
  check_distribution(
      called(1, 256, smem("s", "[16, 16]") + "cta_zero(s[:, :])\n" + nest("t:16*T", "s[15 - t, 3] = 0.0")),
      "s", {}, 0, {16, 16});
  check_error(data(1, 128, nest("w:4*WP", smem("s", "[32]") + nest("t:32*T", "s[t] = 0.0"))), "E-X01",
              {"cuda_cta_in_cluster", "loop `w`"});
  check_distribution(data(1, 32, nest("w:1*WP", smem("s", "[32]") + nest("t:32*T", "s[t] = 0.0"))), "s", {},
                     0, {32});
  check_distribution(data(4, 128, nest("c:4*CTA", smem("s", "[128]") + nest("t:128*T", "s[t] = 0.0"))), "s",
                     {}, 0, {128});
  check_error(data(2, 64, smem("s", "[64]") + nest("c:2*CTA > t:64*T", "s[t] = 0.0")), "E-X05",
              {"`t`", "`c`"});
  const std::string s = smem("s", "[2, 32]");
  check_error(data(2, 32, s + nest("c:2*CTA > t:32*T", "s[1 - c, t] = 0.0")), "E-X03", {"1 - c"});
  check_distribution(data(2, 32, s + nest("c:2*CTA > t:32*T", "s[c, t] = 0.0")), "s", {32}, 0, {32});
}

TEST_CASE("D19-D20 warp fragments") {
  check_distribution(data(1, 256,
                          fragment("x", "[2, 4, 6, 16, 8]") +
                              nest("m:2*128T > n:4*32T > seq s:6", clear("x[m, n, s, :, :]"))),
                     "x", {128, 32}, 0, {6, 16, 8});
  check_error(
      data(1, 256, fragment("x", "[16, 8]") + nest("W(2, 3)", clear("x")) + nest("W(3, 4)", clear("x"))),
      "E-X13", {"64", "96"});
  check_distribution(data(1, 256, nest("W(3, 4)", fragment("x", "[16, 8]") + clear("x"))), "x", {}, 96,
                     {16, 8});
}

TEST_CASE("D21 a register array used by whole warps") {
  const std::string x = rmem("x", "[2, 4]");
  check_error(data(1, 64, x + nest("t:2*WP > seq i:4", "x[t, i] = 0.0")), "E-X02", {"cuda_thread"});
  check_distribution(data(1, 64, x + nest("t:2*T > seq i:4", "x[t, i] = 0.0")), "x", {1}, 0, {4});
}

TEST_CASE("D22-D25 instructions that touch several shards") {
  check_distribution(data(1, 64,
                          rmem("x", "[2, 2, 16, 4]") + rmem("y", "[2, 2, 16, 4]") +
                              nest("w:2*WP > h:2*16T > k:16*T > seq s:4", "x[w, h, k, s] = 0.0") +
                              nest("w:2*WP > k:16*2TS(1,16) > seq s:4",
                                   "cuda_shfl_xor_sync_1f32(y[w, :, k, s], x[w, :, k, s], laneMask=16)")),
                     "x", {32, 16, 1}, 0, {4});
  check_distribution(called(1, 128,
                            rmem("x", "[4, 8, 4, 2]") + nest("w:4*WP", "warp_zero(x[w, :, :, :])") +
                                nest("w:4*WP > a:8*4T > b:4*T > seq s:2", "x[w, a, b, s] = 0.0")),
                     "x", {32, 4, 1}, 0, {2});
  const std::string tile = "x: f32[2, 4, 1, 16, 256] @ CudaTkWarpTile(16, 256)\n";
  check_distribution(called(1, 384, tile + nest("W(4, 12) > g:2*WG", "group_zero(x[g, :, 0, :, :])")), "x",
                     {128, 32}, 128, {1, 16, 256});
  const std::string fragments = "x: f32[2, 2, 64, 256] @ Sm90_RmemMatrixD(64, 256)\n";
  const std::string zero_scale = "Sm90_zero_scale_d_f32(x[c, g, :, :], M=64, N=256)";
  check_distribution(data(2, 384,
                          fragments + nest("W(4, 12) > g:2*WG > c:2*CTA", zero_scale) +
                              nest("c:2*CTA > W(4, 12) > g:2*WG", zero_scale)),
                     "x", {384, 128}, 128, {64, 256});
}

TEST_CASE("D26-D27 multicast destinations") {
  const std::string x = smem("x", "[2, 2, 64]");
  const std::string consumer = nest("m:2*2CTA > n:2*CTA > W(4, 12) > t:64*T", "x[m, n, t] = 0.0");
  check_distribution(called(4, 384, x + nest("W(0, 1) > n:2*2CS(2)", "multicast(x[:, n, :])") + consumer),
                     "x", {768, 384}, 0, {64});
  check_error(called(4, 384, smem("x", "[2, 4, 64]") + nest("c:4*CTA > W(0, 1)", "multicast(x[0:2, c, :])")),
              "E-H06", {"multicast", "loop `c`"});
  check_error(
      called(4, 384, smem("x", "[2, 4, 64]") + nest("c:4*CTA > W(0, 1)", "warp_multicast(x[0:2, c, :])")),
      "E-H05");
}

TEST_CASE("D28 registers that are uniform over a group") {
  const std::string x = "x: f32[4] @ CudaRmemUniform(64)\n";
  const std::string write = nest("g:4*64T", "x[g] = 0.0");
  check_distribution(data(1, 256, x + write), "x", {64}, 0, {});
  check_distribution(data(1, 256, x + write + nest("g:4*64T > t:64*T", rmem("y", "") + "y = x[g]")), "x",
                     {64}, 0, {});
  check_error(
      data(1, 256, "x: f32[256] @ CudaRmemUniform(64)\n" + nest("t:256*T", rmem("y", "") + "y = x[t]")),
      "E-X02");
}

TEST_CASE("D29-D30 a scalar register and the loops around its uses") {
  const std::string x = rmem("x", "");
  check_error(data(1, 256, x + nest("t:256*T", "x = 0.0")), "E-X07", {"`t`"});
  check_error(data(1, 256, x + nest("W(1, 2) > t:1*T", "x = 0.0") + nest("W(2, 3) > t:1*T", "x = 0.0")),
              "E-X13", {"64", "32"});
  check_distribution(data(1, 256, nest("t:256*T", x + "x = 0.0")), "x", {}, 0, {});
}

TEST_CASE("D31 an instruction distributes whole dimensions only") {
  check_error(called(1, 64, rmem("x", "[4, 32]") + nest("k:32*2TS(1,32)", "pair_zero(x[0:2, k])")), "E-X10",
              {"0:4", "pair_zero"});
}

TEST_CASE("D32-D33 only the owner counts") {
  const std::string x = rmem("x", "[32]");
  check_distribution(
      data(1, 256,
           x + nest("W(1, 3) > W(1, 2) > t:32*T", "x[t] = 0.0") + nest("W(2, 3) > t:32*T", "x[t] = 0.0")),
      "x", {1}, 64, {});
  const std::string y = rmem("x", "[2, 128, 4]");
  check_distribution(data(2, 128,
                          y + nest("c:2*CTA > t:128*T > seq s:4", "x[c, t, s] = 0.0") +
                              nest("t:128*T > c:2*CTA > seq s:4", "x[c, t, s] = 0.0")),
                     "x", {128, 1}, 0, {4});
  check_error(data(2, 128, y + nest("c:2*CTA > t:128*T > seq s:2", "x[t, c, s] = 0.0")), "E-X08");
}

TEST_CASE("D34 distributed extents are constants") {
  Program p = data(1, 256, rmem("x", "[4, 4, n]") + nest("a:4*64T > b:4*16T > c:16*T", "x[a, b, c] = 0.0"));
  p.parameters = "n: size";
  check_error(p, "E-X09", {"dimension 2"});
  Program q = data(1, 256, rmem("x", "[4, 4, n]") + nest("a:4*64T > b:4*T > seq c:n", "x[a, b, c] = 0.0"));
  q.parameters = "n: size";
  CHECK(exocheck::analysis::test::codes(q.text()) == std::vector<std::string>{"E-M14"});
}

TEST_CASE("D35-D36 allocation and subscripts") {
  check_error(data(1, 64, nest("h:4*16T", fragment("x", "[16, 8]"))), "E-X01", {"cuda_warp", "loop `h`"});
  const std::string x = rmem("x", "[2, 32, 4]");
  check_error(data(1, 64, x + nest("w:2*WP > t:32*T > seq i:4", "x[w, 0, i] = 0.0")), "E-X03",
              {"subscript 1"});
  check_error(data(1, 64, x + nest("t:32*T > seq j:2 > seq i:4", "x[j, t, i] = 0.0")), "E-X04", {"`j`"});
}

TEST_CASE("DM-05 to DM-12 extents and chains") {
  check_error(data(1, 128, rmem("x", "[4, 32, 2]") + nest("w:2*WP > t:32*T", "x[w, t, 0] = 0.0")), "E-X08");
  const std::string full = nest("x:8*64T > y:8*8T > z:8*T", "v[x, y, z] = 0.0");
  check_codes(data(1, 512, rmem("v", "[8, 8, 8]") + full), {});
  check_error(
      data(1, 512, rmem("v", "[8, 8, 8]") + full + nest("x:8*64T > y:8*8T > seq z:8", "v[x, y, z] = 0.0")),
      "E-X02");
  check_error(data(1, 512, rmem("v", "[8, 12, 8]") + full), "E-X08", {"12", "8 iterations"});
  check_error(
      data(1, 256,
           rmem("v", "[16, 8, 2]") + nest("b:2*128T > m:16*8T > n:8*T > seq s:2", "v[m, n, s] = 0.0")),
      "E-X04", {"`s`"});
  check_error(
      data(1, 256,
           rmem("v", "[16, 16, 16, 4]") + nest("m:16*16T > n:16*T > seq s:16", "v[m, s, n, 0] = 0.0")),
      "E-X04", {"`s`"});
}

TEST_CASE("uses with different numbers of distributed dimensions") {
  check_error(data(1, 128,
                   rmem("x", "[64, 2]") + nest("t:64*T > seq s:2", "x[t, s] = 0.0") +
                       nest("p:2*64T > t:64*T", "x[t, p] = 0.0")),
              "E-X11", {"2 dimensions", "loop `p`", "one iteration"});
}

TEST_CASE("uses through windows belong to the variable") {
  const std::string x = rmem("x", "[4, 32, 2]");
  check_distribution(
      data(1, 128, x + nest("w:4*WP", "r = x[w, :, :]\n" + nest("t:32*T > seq s:2", "r[t, s] = 0.0"))), "x",
      {32, 1}, 0, {2});
  check_error(data(1, 128, x + "r = x[:, 0:2, :]\n" + nest("w:4*WP > t:2*T > seq s:2", "r[w, t, s] = 0.0")),
              "E-X08");
  check_error(
      data(1, 128, rmem("x", "[8, 32]") + "r = x[4:8, :]\n" + nest("w:4*WP > t:32*T", "r[w, t] = 0.0")),
      "E-X03", {"a window of `x`"});
  // A window of a distributed fragment as an argument.
  check_distribution(data(1, 128,
                          fragment("x", "[4, 2, 16, 8]") +
                              nest("w:4*WP", "r = x[w, :, :, :]\n" + nest("seq s:2", clear("r[s, :, :]")))),
                     "x", {32}, 0, {2, 16, 8});
}

TEST_CASE("implied loops are facts of the call") {
  const Checked c(data(
      1, 64,
      rmem("x", "[2, 2, 16]") + rmem("y", "[2, 2, 16]") +
          nest("w:2*WP > k:16*2TS(1,16)", "cuda_shfl_xor_sync_1f32(y[w, :, k], x[w, :, k], laneMask=16)")));
  INFO(c.message());
  REQUIRE(c.codes().empty());
  REQUIRE(c.facts().call.size() == 1);
  const auto& call = c.facts().call.begin()->second;
  REQUIRE(call.implied.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(call.implied[i].size() == 1);
    const auto& loop = call.implied[i][0];
    CHECK(loop.extent == 2);
    CHECK(loop.access == 1);
    const auto symbol = exocheck::semantics::ir::index(loop.iter);
    CHECK(symbol >= c.procedure().symbols.size());
    CHECK(symbol < c.facts().symbol_limit);
    CHECK(exocheck::analysis::thread_pitch(*call.inner_tiling[i], loop.iter) == 16);
    CHECK(call.inner_tiling[i]->threads() == 1);
  }
  CHECK(call.implied[0][0].iter != call.implied[1][0].iter);
}

TEST_CASE("errors that follow from an earlier one are not repeated") {
  // Half a warp where the broadcast needs a whole one: everything below follows from the first loop.
  check_error(data(1, 128,
                   nest("h:8*16T", rmem("v", "[32]") + rmem("o", "[32]") + nest("l:16*T", "v[l] = g[l]") +
                                       "cuda_warp_broadcast_sync_1f32(o[:], v[:], 0, size0=32)\n" +
                                       nest("l:16*T", "g[l] = o[l]"))),
              "E-X08", {"`v`"});
}

TEST_CASE("one error per variable, and unused variables are noticed") {
  const std::string bad = nest("t:32*T", "x = 0.0\nx = 1.0\ny = 0.0");
  check_codes(data(1, 32, rmem("x", "") + rmem("y", "") + bad), {"E-X07", "E-X07"});
  const Checked unused(data(1, 32, rmem("x", "")));
  CHECK(unused.message().find("W-X01: `x` is allocated but never used") != std::string::npos);
}
