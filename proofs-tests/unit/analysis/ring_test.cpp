// Managed ring buffers of dialect R, static rules (language.md 10.7; conformance PA-47).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

std::string warp(const std::string& body) {
  return "# exocheck: dialect=R\n" + task("blockDim=32", "n: size, x: f32[8, 32] @ CudaGmemLinear", body);
}
const std::string pair = "Arrive(cuda_in_order, 1) >> z[0]\nAwait(z[0], cuda_in_order, 0)\n";
const std::string z = "z: barrier[2 @ ring_buffer_by(2)] @ CudaMbarrier\n";
const std::string use = "for t in cuda_threads(0, 32):\n    s[0, t] = 1.0\n";

TEST_CASE("ring annotations: one rule at a time", "[analysis][ring]") {
  check({
      {"E-R01",
       warp("z: barrier[2 @ ring_buffer_by(2), 2 @ ring_buffer_by(2)] @ CudaMbarrier\n"
            "Arrive(cuda_in_order, 1) >> z[0, 0]\nAwait(z[0, 0], cuda_in_order, 0)\n"),
       ""},
      {"E-R02", warp("z: barrier[2 @ ring_buffer_by(0)] @ CudaMbarrier\n" + pair), ""},
      {"E-R04",
       warp(
           "cg: barrier[1 @ ring_buffer_by(1)] @ Sm90_TmaCommitGroup\nArrive(tma_to_gmem_async, 1) >> cg[0]\n"
           "Await(cg[0], cuda_in_order, 0)\n"),
       ""},
      {"E-R04",
       warp(z + pair +
            "for t in cuda_threads(0, 32):\n    r: f32[2 @ ring_buffer_by(2)].ring_guarded_by(z) @ CudaRmem\n"
            "    r[0] = 1.0\n"),
       ""},
      {"E-R05", warp("z: barrier[1] @ CudaMbarrier\n" + pair), warp(z + pair)},
      {"E-R06", warp("z: barrier[2 @ ring_buffer_by(2)] @ CudaMbarrierPreArrive(3)\n" + pair),
       warp("z: barrier[2 @ ring_buffer_by(2)] @ CudaMbarrierPreArrive(2)\n" + pair)},
      {"E-R07",
       warp("z: barrier[n, 2 @ ring_buffer_by(2)] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z[0, 0]\n"
            "Await(z[0, 0], cuda_in_order, 0)\n"),
       warp("z: barrier[3, (n + 1) @ ring_buffer_by(2)] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z[0, 0]\n"
            "Await(z[0, 0], cuda_in_order, 0)\n")},
      {"E-R08",
       warp(z + pair + "s: f32[2 @ ring_buffer_by(2), 32].ring_guarded_by(z) @ CudaSmemLinear\n" + use +
            "w = s[0:1, :]\n"),
       warp(z + pair + "s: f32[2 @ ring_buffer_by(2), 32].ring_guarded_by(z) @ CudaSmemLinear\n" + use +
            "w = s[0, :]\n")},
      {"E-R09", warp(z + pair + "s: f32[2 @ ring_buffer_by(2), 32] @ CudaSmemLinear\n" + use), ""},
      {"E-R09",
       warp("cg: barrier @ Sm90_TmaCommitGroup\nArrive(tma_to_gmem_async, 1) >> cg\nAwait(cg, cuda_in_order, "
            "0)\n"
            "s: f32[2 @ ring_buffer_by(2), 32].ring_guarded_by(cg) @ CudaSmemLinear\n" +
            use),
       ""},
      {"E-R11",
       warp("z: barrier[1, 1, 2 @ ring_buffer_by(2)] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z[0, 0, 0]\n"
            "Await(z[0, 0, 0], cuda_in_order, 0)\n"
            "s: f32[2 @ ring_buffer_by(2), 32].ring_guarded_by(z) @ CudaSmemLinear\n" +
            use),
       ""},
      {"E-R12",
       warp("z: barrier[1, 2 @ ring_buffer_by(2)] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z[0, 0]\n"
            "Await(z[0, 0], cuda_in_order, 0)\n"
            "s: f32[2 @ ring_buffer_by(2), 32].ring_guarded_by(z) @ CudaSmemLinear\n" +
            use),
       ""},
  });
  CHECK(codes("# exocheck: dialect=R\n" + host("", "x: f32[2 @ ring_buffer_by(2)] @ DRAM")) ==
        Codes{"E-R03"});
}

}  // namespace
}  // namespace exocheck::analysis::test
