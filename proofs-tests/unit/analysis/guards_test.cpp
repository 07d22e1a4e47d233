// Guards, alternation and ring depth (language.md 10.6, decisions.md L1-L3, L8, L9; conformance BU-21 ..
// BU-24).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string pair = "full: barrier @ CudaMbarrier\nempty: barrier(full) @ CudaMbarrier\n";
const std::string produce = "Await(empty, cuda_in_order, ~1)\nArrive(cuda_in_order, 1) >> full\n";
const std::string consume = "Await(full, cuda_in_order, ~0)\nArrive(cuda_in_order, 1) >> empty\n";
const std::string arrive_full = "Arrive(cuda_in_order, 1) >> full\n";
const std::string arrive_empty = "Arrive(cuda_in_order, 1) >> empty\n";
const std::string await_full = "Await(full, cuda_in_order, ~0)\n";
const std::string await_empty = "Await(empty, cuda_in_order, ~1)\n";

std::string warp(const std::string& body) { return task("blockDim=32", "n: size, b: bool", body); }
std::string in(const std::string& header, const std::string& body) {
  return header + "\n" + indented(body, 4);
}

TEST_CASE("guard declarations", "[analysis][guards]") {
  const std::string mb = " @ CudaMbarrier\n";
  const auto used = [](const std::string& z) { return "Arrive(cuda_in_order, 1) >> " + z + "\n"; };
  const auto awaited = [](const std::string& z) { return "Await(" + z + ", cuda_in_order, ~1)\n"; };
  // a guards b guards ... : declaring c with guard a when a guards b already.
  const std::string three = awaited("a") + used("b") + awaited("b") + used("a") + awaited("c") + used("c");
  CHECK(codes(warp("a: barrier" + mb + "b: barrier(a)" + mb + "c: barrier(a)" + mb + three)) ==
        Codes{"E-G03"});
  // Splicing behind b instead gives the cycle a -> b -> c: b is awaited before c, c before a, a before b.
  CHECK(codes(warp("a: barrier" + mb + "b: barrier(a)" + mb + "c: barrier(b)" + mb + awaited("c") +
                   used("a") + awaited("a") + used("b") + awaited("b") + used("c"))) == Codes{});
  CHECK(codes(warp("a: barrier" + mb + "c: barrier(a) @ CudaClusterSync\n" + used("a") + awaited("a") +
                   used("c") + "Await(c, cuda_in_order, 0)\n")) == Codes{"E-G02"});
  CHECK(codes(warp("a: barrier @ CudaClusterSync\nc: barrier(a)" + mb + used("a") +
                   "Await(a, cuda_in_order, 0)\n" + used("c") + awaited("c"))) == Codes{"E-G04"});
  CHECK(codes(task("blockDim=32", "x: f32 @ CudaGmemLinear",
                   "c: barrier(x)" + mb + used("c") + awaited("c"))) == Codes{"E-G01"});
}

TEST_CASE("alternation: one rule at a time", "[analysis][guards]") {
  const std::string loop = "for i in seq(0, n):";
  check({
      // The pair around an if, and whole pairs inside one.
      {"E-G10", warp(pair + await_empty + in("if b:", arrive_full) + consume),
       warp(pair + in("if b:", produce + consume))},
      {"E-G10", warp(pair + await_empty + in(loop, arrive_full) + consume),
       warp(pair + in(loop, produce + consume))},
      // Nothing of the pair in a loop between: fine (decisions.md L2).
      {"E-G10", warp(pair + await_empty + in(loop, in("if b:", arrive_full)) + consume),
       warp(pair + await_empty + in(loop, "pass\n") + arrive_full + consume)},
      {"E-G11", warp(pair + produce + arrive_full + consume), warp(pair + produce + produce + consume)},
      {"E-G11", warp(pair + arrive_full + await_empty + consume), ""},
      {"E-G12", warp(pair + await_empty + await_empty + arrive_full + consume), ""},
      {"E-G13", warp(pair + produce + consume + await_full), ""},
      {"E-G13", warp(pair + in("if b:", await_empty) + produce + consume), ""},
  });
  // A self-guarded barrier chooses what comes first.
  const std::string z = "z: barrier @ CudaMbarrier\n";
  const std::string a = "Arrive(cuda_in_order, 1) >> z\n";
  const std::string w = "Await(z, cuda_in_order, ~1)\n";
  CHECK(codes(warp(z + a + w + a + w)) == Codes{});
  CHECK(codes(warp(z + w + a + w + a)) == Codes{});
  CHECK(codes(warp(z + w + a + a + w)) == Codes{"E-G11"});
  CHECK(codes(warp(z + a + w + w + a)) == Codes{"E-G12"});
  // A cluster sync does not: Arrive first.
  const std::string c = "c: barrier @ CudaClusterSync\n";
  const std::string ca = "Arrive(cuda_in_order, 1) >> c\n";
  const std::string cw = "Await(c, cuda_in_order, 0)\n";
  CHECK(codes(warp(c + ca + cw + ca + cw)) == Codes{});
  CHECK(codes(warp(c + cw + ca)) == Codes{"E-G12"});
  // A commit group counts and needs no alternation.
  CHECK(codes(warp("g: barrier @ CudaCommitGroup\nArrive(tma_to_gmem_async, 1) >> "
                   "g\nArrive(tma_to_gmem_async, 1) >> g\n"
                   "Await(g, cuda_in_order, 0)\n")) == Codes{});
}

TEST_CASE("with blocks and parallel loops belong to the straight line", "[analysis][guards]") {
  const std::string body =
      "z: barrier[2] @ CudaMbarrier\ny: barrier(z)[2] @ CudaMbarrier\n"
      "for w in cuda_threads(0, 2, unit=cuda_warp):\n    Await(y[w], cuda_in_order, ~1)\n"
      "for w in cuda_threads(0, 2, unit=cuda_warp):\n    Arrive(cuda_in_order, 1) >> z[w]\n"
      "with CudaWarps(0, 2):\n    for w in cuda_threads(0, 2, unit=cuda_warp):\n"
      "        Await(z[w], cuda_in_order, ~0)\n        Arrive(cuda_in_order, 1) >> y[w]\n";
  CHECK(codes(task("blockDim=64", "", body)) == Codes{});
}

TEST_CASE("the place of a finding", "[analysis][guards]") {
  // The branch splits the pair; the finding is at the statement inside it.
  CHECK(findings(warp(pair + await_empty + in("if b:", arrive_full) + consume)) == Codes{"E-G10@8"});
  // The body ends with an open pair; the finding is at what opened it.
  CHECK(findings(warp(pair + produce + consume + await_full)) == Codes{"E-G13@10"});
}

TEST_CASE("trailing barriers need an Arrive of the same body", "[analysis][guards]") {
  const auto kernel = [](const std::string& body) {
    return host("B: f32[64, 32] @ CudaGmemLinear, n: size",
                "tm = B[:, :] @ Sm90_tensorMap(128, 64, 32)\nwith CudaDeviceFunction(blockDim=32):\n"
                "    for task in cuda_tasks(0, 1):\n        s: f32[64, 32] @ Sm90_SmemSwizzled(128)\n" +
                    indented(body, 8));
  };
  const std::string copy =
      "Sm90_copy_tensor_to_smem_swizzled_2f32(s[:, :], tm[0:64, 0:32], size0=64, size1=32) >> full\n";
  CHECK(codes(kernel(pair + await_empty + copy + copy + arrive_full + consume)) == Codes{});
  // Outside the pair: after the Arrive, or before the Await.
  CHECK(codes(kernel(pair + await_empty + copy + arrive_full + copy + consume)) == Codes{"E-G11"});
  CHECK(codes(kernel(pair + copy + await_empty + arrive_full + consume)) == Codes{"E-G11"});
  // A self-guarded barrier: the Arrive stands in another body.
  const std::string self = "full: barrier @ CudaMbarrier\n";
  CHECK(codes(kernel(self + in("for i in seq(0, n):", copy) + arrive_full + await_full)) == Codes{"E-G14"});
  CHECK(codes(kernel(self + copy + arrive_full + await_full)) == Codes{});
}

TEST_CASE("multicast copies stay within the Arrive's elements", "[analysis][guards]") {
  const auto kernel = [](const std::string& targets) {
    return host(
        "A: f32[64, 32] @ CudaGmemLinear",
        "tm = A[:, :] @ Sm90_tensorMap(128, 32, 32)\nwith CudaDeviceFunction(clusterDim=2, blockDim=32):\n"
        "    for task in cuda_tasks(0, 1):\n        st: f32[2, 64, 32] @ Sm90_SmemSwizzled(128)\n"
        "        full: barrier[2] @ CudaMbarrier\n"
        "        Sm90_multicast_copy_tensor_to_smem_swizzled_2f32(st[:, :, :], tm[0:64, 0:32], ncta=2, "
        "cta_stride=1, "
        "size0=64, size1=32, smem_box=(32, 32)) >> full[:]\n"
        "        for cta in cuda_threads(0, 2, unit=cuda_cta_in_cluster):\n"
        "            Arrive(cuda_temporal, 1) >> " +
            targets + "\n            Await(full[cta], cuda_in_order, ~0)\n");
  };
  CHECK(codes(kernel("full[cta] >> full[:]")) == Codes{});
  CHECK(codes(kernel("full[cta]")) == Codes{"E-G15"});
}

TEST_CASE("ring depth", "[analysis][guards]") {
  const std::string no_lag = "Await(empty, cuda_in_order, ~0)\nArrive(cuda_in_order, 1) >> full\n";
  const auto found = findings(warp(pair + no_lag + consume));
  CHECK(found == Codes{"E-G20@4"});  // once per cycle
  CHECK(codes(warp(pair + produce + consume)) == Codes{});
  CHECK(codes(warp(
            "z: barrier @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order, ~0)\n")) ==
        Codes{});
  const auto loaded = load(warp(pair + no_lag + consume));
  const auto result = analyse(loaded.program.procedures.at(0), loaded.program, Mode::standard);
  CHECK_THAT(result.diagnostics.at(0).message, Catch::Contains("full") && Catch::Contains("empty"));
}

}  // namespace
}  // namespace exocheck::analysis::test
