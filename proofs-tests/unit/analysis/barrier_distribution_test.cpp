// Barriers in the collective pass: collective.md 11.4, decisions.md K6, K7, L4, L10, both dialects.
#include <catch2/catch.hpp>

#include "proofs-tests/unit/analysis/nest_text.hpp"

using namespace exocheck::test;

namespace {

const std::string R = "# exocheck: dialect=R\n";

Program p(int cluster_dim, int block_dim, const std::string& body) {
  return {shape(cluster_dim, block_dim), body};
}
Program r(int cluster_dim, int block_dim, const std::string& body) {
  return {shape(cluster_dim, block_dim), body, "g: f32[4096] @ CudaGmemLinear", R};
}
std::string arrive(const std::string& targets, const std::string& tl = "cuda_in_order") {
  return "Arrive(" + tl + ", 1) >> " + targets + "\n";
}
std::string await(const std::string& z, const std::string& n = "~0",
                  const std::string& tl = "cuda_in_order") {
  return "Await(" + z + ", " + tl + ", " + n + ")\n";
}
std::string mbarrier(const std::string& z, const std::string& shape) {
  return z + ": barrier" + shape + " @ CudaMbarrier\n";
}
// Arrive on and Await of one element in the same place.
std::string pair(const std::string& z) { return arrive(z) + await(z); }
std::string pair_r(const std::string& z) { return arrive(z) + await(z, "0"); }

}  // namespace

TEST_CASE("B1 producer and consumer need not be the same threads, guard partners must") {
  const std::string z = mbarrier("z", "[2, 2]") + "e: barrier(z)[2, 2] @ CudaMbarrier\n";
  const std::string producer =
      nest("W(0, 1) > m:2*2CTA > n:2*CTA", await("e[m, n]", "~1") + arrive("z[m, n]"));
  const std::string consumer = nest("W(4, 12) > m:2*2CTA > n:2*CTA", await("z[m, n]") + arrive("e[m, n]"));
  check_distribution(p(4, 384, z + producer + consumer), "z", {768, 384}, 0, {});
  check_distribution(p(4, 384, z + producer + consumer), "e", {768, 384}, 0, {});
  // The release comes from other warps than those that waited.
  const std::string other =
      nest("W(4, 12) > m:2*2CTA > n:2*CTA", await("z[m, n]") + nest("W(0, 4)", arrive("e[m, n]")));
  check_error(p(4, 384, z + producer + other), "E-U19", {"`e`", "`z`", "CudaWarps(0, 4)"});
}

TEST_CASE("B2 an iterator that divides the arriving threads must index") {
  const std::string steps = "m:2*2CTA > n:2*CTA > W(4, 12) > g:2*WG";
  check_error(p(4, 384, mbarrier("z", "[2, 2]") + nest(steps, pair("z[m, n]"))), "E-X07", {"`g`"});
  check_distribution(
      r(4, 384,
        mbarrier("z", "[2, 2, 8 @ ring_buffer_by(1)]") + nest(steps + " > seq k:8", pair_r("z[m, n, k]"))),
      "z", {768, 384}, 0, {8});
}

TEST_CASE("B3 an element must lie in one CTA") {
  check_error(p(4, 256, mbarrier("z", "[2]") + nest("m:2*2CTA", pair("z[m]"))), "E-U18",
              {"threads of one CTA", "loop `m`"});
  check_error(r(4, 256, mbarrier("z", "[2, 1 @ ring_buffer_by(1)]") + nest("m:2*2CTA", pair_r("z[m, 0]"))),
              "E-X02", {"cuda_cta_in_cluster"});
}

TEST_CASE("B4 a barrier allocated inside a thread loop") {
  const std::string body =
      mbarrier("z", "[2, 2, 2]") + nest("p:2*8T > m:2*2CTA > n:2*CTA", pair("z[m, n, p]"));
  check_distribution(p(4, 64, nest("q:4*16T", body)), "z", {128, 64, 8}, 0, {});
  // An iterator around the allocation cannot index.
  const std::string outer =
      mbarrier("z", "[4, 2, 2, 2]") + nest("p:2*8T > m:2*2CTA > n:2*CTA", pair("z[q, m, n, p]"));
  check_error(p(4, 64, nest("q:4*16T", outer)), "E-X05", {"`q`"});
}

TEST_CASE("B5-B6 commit groups") {
  const std::string cg = "cg: barrier[2] @ CudaCommitGroup\n";
  const std::string start = arrive("cg[g]", "wgmma_async");
  check_distribution(p(1, 384, cg + nest("W(4, 12) > g:2*WG", start + await("cg[g]", "0"))), "cg", {128}, 0,
                     {});
  check_error(p(1, 384, cg + nest("W(4, 12) > g:2*WG", start + nest("w:4*WP", await("cg[g]", "0")))), "E-X07",
              {"`w`"});
  const std::string cg_r = "cg: barrier[2] @ Sm90_WgmmaCommitGroup\n";
  check_distribution(r(1, 384, cg_r + nest("W(4, 12) > g:2*WG", start + await("cg[g]", "0"))), "cg", {128},
                     128, {});
  check_error(r(1, 384, cg_r + nest("W(4, 12) > g:2*WG", start + nest("w:4*WP", await("cg[g]", "0")))),
              "E-U18", {"cuda_warpgroup"});
}

TEST_CASE("CO-27 units of commit groups") {
  const std::string cg = "cg: barrier @ CudaCommitGroup\n";
  check_error(p(1, 64, cg + arrive("cg", "wgmma_async") + await("cg", "0")), "E-U18", {"cuda_warpgroup"});
  check_error(p(1, 64, cg + arrive("cg", "Sm80_cp_async") + await("cg", "0")), "E-U18",
              {"cuda_thread", "64"});
  check_codes(p(1, 32, cg + arrive("cg", "tma_to_gmem_async") + await("cg", "0")), {});
}

TEST_CASE("DM-25, 12.9 a commit group belongs to its threads") {
  const std::string cg = "cg: barrier[2] @ CudaCommitGroup\n";
  const auto uses = [](const std::string& warps) {
    return nest("W(4, 12) > t:2*T", arrive("cg[t]", "Sm80_cp_async")) +
           nest(warps + " > t:2*T", await("cg[t]", "1"));
  };
  check_codes(p(1, 512, cg + uses("W(4, 12)")), {});
  check_error(p(1, 512, cg + uses("W(8, 16)")), "E-U19", {"CudaWarps(8, 16)", "CudaWarps(4, 12)"});
  const std::string cg_r = "cg: barrier[2] @ Sm80_CommitGroup\n";
  check_codes(r(1, 512, cg_r + uses("W(4, 12)")), {});
  check_error(r(1, 512, cg_r + uses("W(8, 16)")), "E-X13", {"`cg`"});
}

TEST_CASE("B8, BU-25 multicast needs convergence") {
  const std::string z = mbarrier("z", "[2, 2]");
  const std::string multicast = arrive("z[m, n] >> z[m, :]") + await("z[m, n]");
  check_codes(p(4, 32, z + nest("m:2*2CTA > n:2*CTA", multicast)), {});
  check_codes(p(4, 32, z + nest("m:2*2CTA > if m == 0 > n:2*CTA", multicast)), {});
  check_error(p(4, 32, z + nest("m:2*2CTA > n:2*CTA > if n == 0", multicast)), "E-U32",
              {"an if", "loop `n`"});
  check_error(p(4, 32, z + nest("m:2*2CTA > n:2*CTA > seq k:3", multicast)), "E-U32", {"seq loop `k`"});
  check_error(r(4, 32,
                mbarrier("z", "[2, 2, 3 @ ring_buffer_by(1)]") +
                    nest("m:2*2CTA > n:2*CTA > seq k:3",
                         arrive("z[m, n, k] >> z[m, :, k]") + await("z[m, n, k]", "0"))),
              "E-U32");
}

TEST_CASE("B9, BU-20 multicast goes to CTAs") {
  const std::string both = arrive("z[w] >> z[:]") + await("z[w]");
  check_error(p(1, 256, mbarrier("z", "[4]") + nest("w:4*WP", both)), "E-U31", {"32 threads apart", "256"});
  check_error(r(1, 256,
                mbarrier("z", "[4, 1 @ ring_buffer_by(1)]") +
                    nest("w:4*WP", arrive("z[w, 0] >> z[:, 0]") + await("z[w, 0]", "0"))),
              "E-U31", {"not distributed"});
  const std::string z = mbarrier("z", "[2, 2]");
  check_codes(p(2, 64, z + nest("c:2*CTA > w:2*WP", arrive("z[c, w] >> z[:, w]") + await("z[c, w]"))), {});
  check_error(p(2, 64, z + nest("c:2*CTA > w:2*WP", arrive("z[c, w] >> z[c, :]") + await("z[c, w]"))),
              "E-U31");
}

TEST_CASE("B10, B15 multicast rings") {
  const std::string z = mbarrier("z", "[2, 2]");
  check_distribution(
      p(4, 384, z + nest("W(0, 1) > m:2*2CTA > n:2*CTA", arrive("z[m, :] >> z[:, n]") + await("z[m, n]"))),
      "z", {768, 384}, 0, {});
  check_distribution(p(8, 128,
                       mbarrier("z", "[4, 2]") + nest("m:4*2CTA > n:2*CTA > W(0, 1)",
                                                      arrive("z[:, n] >> z[m, :]") + await("z[m, n]"))),
                     "z", {256, 128}, 0, {});
}

TEST_CASE("B11 multicast intervals are complete") {
  const std::string z = mbarrier("z", "[2, 2]");
  check_error(p(4, 32, z + nest("m:2*2CTA > n:2*CTA", arrive("z[m, n] >> z[m, 0:1]") + await("z[m, n]"))),
              "E-U30", {"0:2", "position 1"});
}

TEST_CASE("B12 Arrives of one barrier") {
  const std::string body =
      nest("seq k:4", nest("w:1*WP", arrive("z[k]")) + arrive("z[k]") + await("z[k]", "0"));
  check_error(r(1, 256, mbarrier("z", "[4 @ ring_buffer_by(2)]") + body), "E-U19", {"256 threads", "32"});
}

TEST_CASE("B13, CO-26 cluster sync") {
  const std::string z = "z: barrier @ CudaClusterSync\n";
  const std::string sync = arrive("z") + await("z", "0");
  check_codes(p(2, 64, z + sync), {});
  check_error(p(2, 64, z + nest("c:2*CTA", sync)), "E-X07", {"`c`"});
  check_error(r(2, 64, z + nest("c:2*CTA", sync)), "E-U18", {"cuda_cluster"});
  check_error(p(4, 256, z + nest("W(0, 8)", arrive("z")) + nest("W(4, 8)", await("z", "0"))), "E-U18",
              {"an Await"});
  check_error(r(4, 256, nest("u:1*CTA", z + sync)), "E-X01", {"cuda_cluster"});
  check_error(p(4, 256, nest("u:1*CTA", z + sync)), "E-U18");
}

TEST_CASE("B14 multicast needs powers of two") {
  check_error(p(8, 128,
                mbarrier("z", "[2, 3]") +
                    nest("m:2*3CTA > n:3*CTA", arrive("z[m, n] >> z[m, :]") + await("z[m, n]"))),
              "E-U33", {"extent 3"});
  check_error(p(8, 128,
                mbarrier("z", "[2, 2]") +
                    nest("m:2*3CTA > n:2*CTA", arrive("z[m, n] >> z[m, :]") + await("z[m, n]"))),
              "E-U33", {"3 CTAs", "loop `m`"});
}

TEST_CASE("BU-22 threads of a self-guarded barrier") {
  const auto program = [](const std::string& a, const std::string& b) {
    return p(1, 1024,
             mbarrier("z", "") + nest("W(" + a + ")", arrive("z")) + nest("W(" + b + ")", await("z")));
  };
  check_codes(program("12, 16", "12, 16"), {});
  check_error(program("11, 15", "12, 16"), "E-U19", {"CudaWarps(11, 15)", "CudaWarps(12, 16)"});
  check_error(program("12, 18", "12, 16"), "E-U19", {"CudaWarps(12, 18)", "CudaWarps(12, 16)"});
}

TEST_CASE("DM-26, DM-27 elements and loops") {
  check_codes(p(4, 256, mbarrier("z", "[4]") + nest("c:4*CTA", pair("z[c]"))), {});
  check_codes(p(1, 256, mbarrier("z", "[2]") + nest("g:2*WG > seq w:4", pair("z[g]"))), {});
  check_error(p(1, 256, mbarrier("z", "[2]") + nest("g:2*WG > w:4*WP", pair("z[g]"))), "E-X07", {"`w`"});
}

TEST_CASE("BU-13 barrier subscripts are plain iterators") {
  check_error(
      p(4, 32,
        mbarrier("z", "[2, 2]") + nest("m:2*2CTA > n:2*CTA", arrive("z[m, n]") + await("z[m, n / 2]"))),
      "E-X03", {"n / 2"});
  check_error(p(1, 32, mbarrier("z", "[2]") + nest("seq k:2", pair("z[k]"))), "E-X04", {"`k`"});
}

TEST_CASE("trailing barriers are uses") {
  Program load = p(4, 384, mbarrier("z", "[2, 2]"));
  load.prelude =
      "@instr(\"f();\", tl=tma_to_smem_async_instr, unit=2 * cuda_warp_in_cluster_strided(2), ooo=[x],\n"
      "       distributed={x: [cuda_cta_in_cluster]}, owner_only={x: False}, barrier=CudaMbarrier,\n"
      "       barrier_units=[cuda_cta_in_cluster])\n"
      "def load(x: [f32][2, 64] @ CudaSmemLinear):\n"
      "    for i in seq(0, 2):\n"
      "        for j in seq(0, 64):\n"
      "            x[i, j] = 0.0\n\n";
  const std::string x = "x: f32[2, 2, 64] @ CudaSmemLinear\n";
  const auto body = [&](const std::string& trailing) {
    return nest("W(0, 1)", nest("n:2*2CS(2)", "load(x[:, n, :]) >> " + trailing) +
                               nest("m:2*2CTA > n:2*CTA", arrive("z[m, :] >> z[:, n]") + await("z[m, n]")));
  };
  load.body = mbarrier("z", "[2, 2]") + x + body("z[:, n]");
  check_distribution(load, "z", {768, 384}, 0, {});
  load.body = mbarrier("z", "[2, 2]") + x + body("z[n, :]");
  check_error(load, "E-X12", {"`z`"});
  load.body = mbarrier("z", "[2, 2]") + x + body("z[n, n]");
  check_error(load, "E-C22", {"0 intervals"});
}
