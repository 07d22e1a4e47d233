// Device scopes and permissions (language.md 7.1, 7.3; conformance PA-05 .. PA-08, PA-10, PA-35 .. PA-38).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string g = "g: f32[8] @ CudaGmemLinear";
const std::string copy4 =
    "@instr(tl=cuda_in_order_instr, unit=cuda_thread)\n"
    "def copy4(dst: [f32][4] @ CudaDeviceVisibleLinear, src: [f32][4] @ CudaDeviceVisibleLinear):\n"
    "    for i in seq(0, 4):\n        dst[i] = src[i]\n\n";

std::string one_thread(const std::string& statement) {
  return "for t in cuda_threads(0, 1):\n" + indented(statement, 4);
}

TEST_CASE("device scopes: one rule at a time", "[analysis][device]") {
  const std::string config = "@config\nclass Cfg:\n    s: f32\n\n";
  check({
      {"E-D01", host("", "x: f32[8] @ CudaRmem"), host("", "x: f32[8] @ DRAM")},
      {"E-D01", host("", "x: f32[8] @ CudaSmemLinear"), host("", "x: f32[8] @ CudaGridConstant")},
      {"E-D01", host("", "z: barrier @ CudaMbarrier"), ""},
      {"E-D01", task("blockDim=32", "", "s: f32[256] @ CudaGmemLinear"), ""},
      {"E-D01", task("blockDim=32", "", "s: f32[256] @ DRAM"), ""},
      {"E-D02", host("g: f32 @ CudaGmemLinear", "g += 5.0"), ""},
      {"E-D02", host("g: f32 @ CudaGmemLinear", "x: f32 @ DRAM\nx = g"),
       host("g: f32 @ CudaGridConstant", "x: f32 @ DRAM\nx = g")},
      {"E-D02", host("", "x: f32 @ CudaGmemLinear\nx = 1.0"), ""},
      {"E-D02", task("blockDim=32", "gc: f32 @ CudaGridConstant, " + g, one_thread("gc = g[0]")),
       task("blockDim=32", "gc: f32 @ CudaGridConstant, " + g, one_thread("g[0] = gc"))},
      {"E-D02", task("blockDim=32", "x: f32[8] @ DRAM, " + g, one_thread("g[0] = x[0]")), ""},
      {"E-D02",
       copy4 +
           task("blockDim=32", "gc: f32[4] @ CudaGridConstant, " + g, one_thread("copy4(gc[0:4], g[0:4])")),
       copy4 +
           task("blockDim=32", "gc: f32[4] @ CudaGridConstant, " + g, one_thread("copy4(g[0:4], gc[0:4])"))},
      {"E-D02", config + task("blockDim=32", g, one_thread("g[0] = Cfg.s")),
       config + host("x: f32[8] @ DRAM", "x[0] = Cfg.s")},
      {"E-D03",
       task("blockDim=32", g + ", x: f32[8] @ DRAM",
            one_thread("cudaMemcpyAsync_htod_1f32(8, g[0:8], x[0:8])")),
       host(g + ", x: f32[8] @ DRAM", "cudaMemcpyAsync_htod_1f32(8, g[0:8], x[0:8])")},
      {"E-D03",
       copy4 + host("a: f32[4] @ CudaGmemLinear, b: f32[4] @ CudaGmemLinear", "copy4(a[0:4], b[0:4])"), ""},
      {"E-D03", "def q(g: f32[8] @ CudaGmemLinear):\n    pass\n\n" + task("blockDim=32", g, "q(g)"),
       "def q(g: f32[8] @ CudaGmemLinear):\n    pass\n\n" + host(g, "q(g)")},
      {"E-D04",
       task("blockDim=32", "x: f32[64, 32] @ CudaGmemLinear", "tm = x[:, :] @ Sm90_tensorMap(128, 64, 32)"),
       host("x: f32[64, 32] @ CudaGmemLinear", "tm = x[:, :] @ Sm90_tensorMap(128, 64, 32)")},
      {"E-D05",
       task("blockDim=32", "",
            "with CudaDeviceFunction(blockDim=32):\n    for u in cuda_tasks(0, 1):\n        pass"),
       ""},
      {"E-K07", task("blockDim=32", "", "for i in par(0, 8):\n    pass"),
       task("blockDim=32", "", "for i in seq(0, 8):\n    pass")},
      {"E-K08", host("", "for i in cuda_tasks(0, 8):\n    pass"), host("", "for i in seq(0, 8):\n    pass")},
      {"E-K09", host("x: i32[4] @ DRAM", "for t in cuda_threads(0, 4):\n    x[t] = 10"), ""},
      {"E-K09", host("", "with CudaWarps(0, 1):\n    pass"), ""},
  });
}

TEST_CASE("barrier statements at CPU scope", "[analysis][device]") {
  // The allocation is found first; without it the statements could name no barrier.
  const auto found = findings(
      host("", "z: barrier @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order, ~0)"));
  CHECK(found == Codes{"E-D01@2", "E-D06@3", "E-D06@4"});
}

TEST_CASE("messages name the instruction and its timeline", "[analysis][device]") {
  const auto loaded = load(copy4 + task("blockDim=32", "gc: f32[4] @ CudaGridConstant, " + g,
                                        one_thread("copy4(gc[0:4], g[0:4])")));
  const auto result = analyse(loaded.program.procedures.at(0), loaded.program, Mode::standard);
  REQUIRE(result.diagnostics.size() == 1);
  CHECK_THAT(result.diagnostics[0].message, Catch::Contains("copy4") &&
                                                Catch::Contains("cuda_in_order_instr") &&
                                                Catch::Contains("CudaGridConstant"));
}

TEST_CASE("instructions on memories their timeline cannot touch", "[analysis][device]") {
  // wgmma's memory-side QualTL has no entry for plain registers.
  const std::string instr =
      "@instr(tl=wgmma_async_instr, unit=cuda_thread, ooo=[src], inorder=[dst])\n"
      "def odd(dst: [f32][4] @ CudaRmem, src: [f32][4] @ CudaSmemLinear):\n"
      "    for i in seq(0, 4):\n        dst[i] = src[i]\n\n";
  const std::string body =
      "s: f32[4] @ CudaSmemLinear\nfor t in cuda_threads(0, 1):\n    r: f32[4] @ CudaRmem\n    "
      "odd(r[0:4], s[0:4])";
  CHECK(codes(instr + task("blockDim=32", "", body)) == Codes{"E-D03"});
}

}  // namespace
}  // namespace exocheck::analysis::test
