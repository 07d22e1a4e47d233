// Memory rules (language.md 6.3, 6.4, 7.2; decisions.md F; conformance PA-34, PA-39 .. PA-46).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string r = "# exocheck: dialect=R\n";

std::string one_thread(const std::string& statement) {
  return "for t in cuda_threads(0, 1):\n" + indented(statement, 4);
}
std::string allocated(const std::string& declaration) { return task("blockDim=128", "n: size", declaration); }

// A kernel that loads one tile with the given tensor map, shared memory and call.
std::string tma(const std::string& map, const std::string& smem, const std::string& source,
                const std::string& keywords) {
  return host(
      "A: f32[4, 64, 32] @ CudaGmemLinear, B: f32[64, 32] @ CudaGmemLinear",
      map +
          "\nwith CudaDeviceFunction(blockDim=32):\n    for task in cuda_tasks(0, 1):\n"
          "        s: f32[64, 32] @ " +
          smem +
          "\n        full: barrier @ CudaMbarrier\n        Sm90_copy_tensor_to_smem_swizzled_2f32(s[:, :], " +
          source + ", size0=64, size1=32" + keywords +
          ") >> full\n        Arrive(cuda_temporal, 1) >> full\n        Await(full, cuda_in_order, ~0)\n");
}

TEST_CASE("declarations: one rule at a time", "[analysis][memory]") {
  check({
      {"E-M02", allocated("x: f32[8] @ CudaDeviceVisibleLinear"), ""},
      {"E-M02", allocated("x: f32[8] @ CudaSmemAtomicity16B"), ""},
      {"E-M02", allocated("x: f32[64, 8] @ Sm90_RmemMatrixA(64, 8)"), ""},
      {"E-M06", allocated("x: f32[16] @ Sm80_RmemMatrixD(16, 8)"), ""},
      {"E-M06", r + allocated("x: f32 @ CudaRmemPacked32"), ""},
      {"E-M07", r + allocated("x: f32[n, 256] @ CudaTkWarpTile(64, 256)"), ""},
      {"E-M08", r + allocated("x: f32[137, 256] @ CudaTkWarpTile(64, 256)"), ""},
      {"E-M08", allocated("x: f32[8, 4] @ Sm80_RmemMatrixB(8, 4)"), ""},
      {"E-M15", allocated("x: f16[16, 8] @ Sm80_RmemMatrixD(16, 8)"), ""},
      {"E-M15", r + allocated("x: i8[4] @ CudaRmemPacked32"), ""},
      {"E-M15", r + allocated("x: f64[1] @ CudaRmemPacked32"), ""},
      {"E-M16", r + allocated("x: f32[16, 16] @ CudaTkWarpTile(16, 16, \"all\")"), ""},
      {"E-M17", r + host("x: [f32][64, 256] @ CudaTkWarpTile(64, 256)", "pass"),
       host("x: [f32][64, 256] @ DRAM", "pass")},
  });
  // The near-miss of the tile rules, unused and so with a warning.
  CHECK(codes(allocated("x: f32[4, 8] @ Sm80_RmemMatrixB(8, 4)")) == Codes{"W-X01"});
}

TEST_CASE("special windows: one rule at a time", "[analysis][memory]") {
  check({
      {"E-M03", host("x: f32[256, 128] @ DRAM", "tm = x[:, :] @ Sm90_tensorMap(0, 256, 128)"),
       host("x: f32[256, 128] @ CudaGmemLinear", "tm = x[:, :] @ Sm90_tensorMap(0, 256, 128)")},
      {"E-M04", host("x: f32[2, 64, 32] @ CudaGmemLinear", "tm = x[:, :, :] @ Sm90_tensorMap(128, 64, 32)"),
       host("x: f32[2, 64, 32] @ CudaGmemLinear", "tm = x[0, :, :] @ Sm90_tensorMap(128, 64, 32)")},
      {"E-M04", host("x: f32[64, 32] @ CudaGmemLinear", "tm = x[:, :] @ Sm90_tensorMap(64, 64, 32)"),
       host("x: f32[64, 32] @ CudaGmemLinear", "tm = x[:, :] @ Sm90_tensorMap(64, 64, 16)")},
      {"E-M19",
       host("x: f32[4, 64, 32] @ CudaGmemLinear",
            "tm = x[:, :, :] @ Sm90_tensorMap(128, 2, 64, 32)\nw = tm[0, :, :]"),
       host("x: f32[4, 64, 32] @ CudaGmemLinear",
            "tm = x[:, :, :] @ Sm90_tensorMap(128, 1, 64, 32)\nw = tm[0, :, :]")},
      // Only the last window of a chain may have a point.
      {"E-M19",
       host("x: f32[4, 64, 32] @ CudaGmemLinear",
            "tm = x[:, :, :] @ Sm90_tensorMap(128, 1, 64, 32)\nw = tm[0, :, :]\nv = w[0:32, :]"),
       host("x: f32[4, 64, 32] @ CudaGmemLinear",
            "tm = x[:, :, :] @ Sm90_tensorMap(128, 1, 64, 32)\nw = tm[0:2, :, :]\nv = w[0, 0:32, :]")},
  });
}

TEST_CASE("arguments: memories", "[analysis][memory]") {
  const std::string swizzled = "Sm90_SmemSwizzled(128)";
  const std::string map = "tm = B[:, :] @ Sm90_tensorMap(128, 64, 32)";
  const std::string whole = "tm[0:64, 0:32]";
  const std::string map3 = "tm = A[:, :, :] @ Sm90_tensorMap(128, 1, 64, 32)";
  CHECK(codes(tma(map, swizzled, whole, "")) == Codes{});
  CHECK(codes(tma(map3, swizzled, "tm[3, 0:64, 0:32]", ", smem_box=(1, 64, 32)")) == Codes{});
  // Another swizzle, another box, no tensor map at all, the wrong shared memory.
  CHECK(codes(tma("tm = B[:, :] @ Sm90_tensorMap(0, 64, 32)", swizzled, whole, "")) == Codes{"E-M01"});
  CHECK(codes(tma("tm = B[:, :] @ Sm90_tensorMap(128, 32, 32)", swizzled, whole, "")) == Codes{"E-M01"});
  CHECK(codes(tma(map3, swizzled, "tm[3, 0:64, 0:32]", "")) == Codes{"E-M01"});
  CHECK(codes(tma("pass", swizzled, "B[0:64, 0:32]", "")) == Codes{"E-M01"});
  CHECK(codes(tma(map, "CudaSmemLinear", whole, "")) == Codes{"E-M01"});
  // A point where the box is not 1.
  CHECK(codes(tma("tm = A[:, :, :] @ Sm90_tensorMap(128, 64, 1, 32)", swizzled, "tm[3, 0:64, 0:32]",
                  ", smem_box=(64, 1, 32)")) == Codes{"E-M19"});
  check({
      {"E-M01", "def q(x: f32[8] @ DRAM):\n    pass\n\n" + host("g: f32[8] @ CudaGmemLinear", "q(g)"),
       "def q(x: f32[8] @ DRAM):\n    pass\n\n" + host("g: f32[8] @ CudaGridConstant", "q(g)")},
  });
}

TEST_CASE("arguments: packed dimensions are taken whole", "[analysis][memory]") {
  const auto zero = [](const std::string& shape, const std::string& window) {
    return task("blockDim=32", "",
                "D: f32[" + shape + "] @ Sm80_RmemMatrixD(16, 8)\nSm80_mma_zero_d_tf32(" + window + ")");
  };
  CHECK(codes(zero("2, 16, 8", "D[1, :, :]")) == Codes{});
  CHECK(codes(zero("16, 8", "D")) == Codes{});
  CHECK(codes(task("blockDim=32", "",
                   "D: f32[16, 8, 16, 8] @ Sm80_RmemMatrixD(16, 8)\nSm80_mma_zero_d_tf32(D[:, :, 0, 0])")) ==
        Codes{"E-M05"});
  CHECK(codes(task("blockDim=32", "", "D: f32[16, 16, 8] @ Sm80_RmemMatrixD(16, 8)\nw = D[:, 0, :]")) ==
        Codes{"E-M05"});
}

TEST_CASE("trailing barriers", "[analysis][memory]") {
  const std::string declarations =
      "s: f32[64, 32] @ Sm90_SmemSwizzled(128)\nz: barrier @ CudaMbarrier\ncg: barrier @ CudaCommitGroup\n";
  const auto load_with = [&](const std::string& trailing) {
    return host(
        "B: f32[64, 32] @ CudaGmemLinear",
        "tm = B[:, :] @ Sm90_tensorMap(128, 64, 32)\nwith CudaDeviceFunction(blockDim=32):\n"
        "    for task in cuda_tasks(0, 1):\n" +
            indented(
                declarations +
                    "Sm90_copy_tensor_to_smem_swizzled_2f32(s[:, :], tm[0:64, 0:32], size0=64, size1=32)" +
                    trailing +
                    "\nArrive(cuda_temporal, 1) >> z\nAwait(z, cuda_in_order, ~0)\n"
                    "Arrive(tma_to_gmem_async, 1) >> cg\nAwait(cg, cuda_in_order, 0)",
                8));
  };
  CHECK(codes(load_with(" >> z")) == Codes{});
  CHECK(codes(load_with("")) == Codes{"E-C21"});
  CHECK(codes(load_with(" >> cg")) == Codes{"E-C21"});
  CHECK(codes(task("blockDim=32", "g: f32[4] @ CudaGmemLinear",
                   "s: f32[4] @ CudaSmemLinear\nz: barrier @ CudaMbarrier\nfor t in cuda_threads(0, 1):\n"
                   "    Sm80_cp_async_f32(s[0:4], g[0:4], size=4) >> z\n")) == Codes{"E-C20"});
}

TEST_CASE("plain accesses of instruction memories", "[analysis][memory]") {
  const std::string g = "g: f32[8] @ CudaGmemLinear";
  const std::string d = "D: f32[16, 8] @ Sm80_RmemMatrixD(16, 8)\n";
  check({
      {"E-M20", task("blockDim=32", g, d + one_thread("g[0] = D[0, 0]")), ""},
      {"E-M21", task("blockDim=32", g, d + one_thread("D[0, 0] = 1.0")), ""},
      {"E-M22", task("blockDim=32", g, d + one_thread("D[0, 0] += 1.0")), ""},
      {"E-M21", r + task("blockDim=32", g, one_thread("x: f32[1] @ CudaRmemPacked32\nx[0] = 1.0")), ""},
  });
}

}  // namespace
}  // namespace exocheck::analysis::test
