// What constructs become, and which are refused.
#include "codegen/emit.hpp"

#include <catch2/catch.hpp>

#include "codegen/barrier_plan.hpp"
#include "emitted.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using Catch::Matchers::Contains;

namespace {

// The one problem.
semantics::Diagnostic refusal(const std::string& text) {
  const codegen::Module module = emit_text(text);
  CHECK(module.files.empty());
  REQUIRE(module.problems.size() == 1);
  return module.problems.front();
}

// The statements between the first two lines that contain the markers.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const auto begin = text.find(from);
  REQUIRE(begin != std::string::npos);
  const auto end = text.find(to, begin + from.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin, end - begin);
}

const char* const fence_frame =
    "s: f32[128] @ CudaSmemLinear\n"
    "for t in cuda_threads(0, 128, unit=cuda_thread):\n"
    "    s[t] = 1.0\n"
    "FENCE\n"
    "for t in cuda_threads(0, 128, unit=cuda_thread):\n"
    "    y[t] = s[t]\n"
    "Fence(cuda_in_order, cuda_in_order)\n";

std::string fence(const std::string& statement) {
  std::string body = fence_frame;
  body.replace(body.find("FENCE"), 5, statement);
  const std::string source = source_of(kernel_text("y: f32[128] @ CudaGmemLinear", "blockDim=128", body));
  const std::string found = between(source, "// Fence(", "const int t");
  std::string calls;
  std::istringstream lines(found.substr(found.find('\n')));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find("xrt_");
    if (first != std::string::npos) calls += line.substr(first) + " ";
  }
  return calls;
}

}  // namespace

TEST_CASE("thread loops become index expressions and tests") {
  const std::string source = source_of(kernel_text("y: f32[128] @ CudaGmemLinear", "blockDim=128",
                                                   "for w in cuda_threads(0, 3, unit=cuda_warp):\n"
                                                   "    for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                                                   "        y[32 * w + t] = 1.0\n"));
  CHECK_THAT(source, Contains("if (const int w = tid / 32; w < 3) {"));
  CHECK_THAT(source, Contains("const int t = tid % 32;"));
  CHECK_THAT(source, Contains("xrt_st(args.y + 32 * w + t, 1.0f);"));
}

TEST_CASE("division that may see negative numbers floors") {
  const std::string source = source_of(kernel_text("n: size, y: f32[n + 4] @ CudaGmemLinear", "blockDim=32",
                                                   "for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                                                   "    if t == 0 and 0 < n:\n"
                                                   "        for i in seq(0, n):\n"
                                                   "            y[(i - 1) / 2 + 1] = 1.0\n"
                                                   "            y[i / 2] = 2.0\n"));
  CHECK_THAT(source, Contains("xrt_floor_div(i - 1, 2) + 1"));
  CHECK_THAT(source, Contains("args.y + i / 2,"));
}

TEST_CASE("global memory is addressed in 64 bits") {
  const std::string source = source_of(file_text("kernels/basic/naive_gemm.exo"));
  CHECK_THAT(source, Contains("args.A + int64_t(16 * task.bm + i) * args.K + k"));
}

TEST_CASE("fences become the least instructions of their unit and timelines") {
  CHECK(fence("Fence(cuda_in_order, cuda_in_order)") == "xrt_bar_cta(); ");
  CHECK(fence("Fence(cuda_in_order, cuda_generic_and_async_proxy)") ==
        "xrt_fence_proxy_async(); xrt_bar_cta(); xrt_fence_proxy_async(); ");
  CHECK(fence("Fence(Sm80_generic, cuda_in_order)") == "xrt_cp_async_wait_all(); xrt_bar_cta(); ");
  CHECK(fence("Fence(Sm80_generic, tma_to_gmem_async)") ==
        "xrt_cp_async_wait_all(); xrt_fence_proxy_async(); xrt_bar_cta(); xrt_fence_proxy_async(); ");
  const std::string warp = source_of(file_text("kernels/paper/inter_thread.exo"));
  CHECK_THAT(warp, Contains("xrt_syncwarp();"));
  CHECK_THAT(warp, !Contains("xrt_bar_cta"));
}

TEST_CASE("a proxy fence is needed from ordinary accesses to the asynchronous proxy, and only there") {
  using semantics::SyncTl;
  std::set<std::pair<SyncTl, SyncTl>> expected;
  for (const SyncTl from : {SyncTl::cuda_in_order, SyncTl::Sm80_cp_async, SyncTl::Sm80_generic,
                            SyncTl::cuda_stream_sync, SyncTl::cuda_generic_and_async_proxy}) {
    for (const SyncTl to : {SyncTl::tma_to_smem_async, SyncTl::tma_to_gmem_async, SyncTl::wgmma_async_smem,
                            SyncTl::wgmma_async, SyncTl::cuda_async_proxy, SyncTl::cuda_async_proxy_wgmma,
                            SyncTl::cuda_generic_and_async_proxy, SyncTl::cuda_stream_sync}) {
      expected.insert({from, to});
    }
  }
  for (const auto& from : semantics::all_sync_timelines(semantics::Dialect::P)) {
    for (const auto& to : semantics::all_sync_timelines(semantics::Dialect::P)) {
      INFO(from.name << " -> " << to.name);
      CHECK(codegen::needs_proxy_fence(from.id, to.id) == expected.contains({from.id, to.id}));
    }
  }
}

TEST_CASE("mbarriers: ring, arrivals over the cluster, scope, initialisation") {
  const std::string source = source_of(file_text("kernels/sm90/gemm_2x2_tma.exo"));
  CHECK_THAT(source, Contains("XrtRing<3, 0> raw;"));
  CHECK_THAT(source, Contains("XrtRing<3, 3> war;"));
  // a warp resp. 256 threads arrive at 3 CTAs of the row and the column
  CHECK_THAT(source, Contains("xrt_mbar_init(xrt_smem_u32(smem + k_raw) + 8 * i, 96)"));
  CHECK_THAT(source, Contains("xrt_mbar_init(xrt_smem_u32(smem + k_war) + 8 * i, 768)"));
  CHECK_THAT(source, Contains("xrt_fence_mbar_init();"));
  CHECK_THAT(source, Contains("uint32_t(cta ^ 1)"));
  CHECK_THAT(source, Contains("uint32_t(cta ^ 2)"));
  CHECK_THAT(source, !Contains("cta ^ 3"));
  CHECK_THAT(source, Contains("xrt_ring_wait<true>(sync.raw"));
  CHECK_THAT(source, Contains("0x3u << (cta & 2)"));
  CHECK_THAT(source, Contains("0x5u << (cta & 1)"));
  const std::string single = source_of(file_text("kernels/sm80/gemm_mbarrier.exo"));
  CHECK_THAT(single, Contains("xrt_ring_wait<false>(sync.full"));
  CHECK_THAT(single, Contains("xrt_mbar_arrive_cp_async("));
  CHECK_THAT(single, !Contains("xrt_fence_mbar_init"));
}

TEST_CASE("every set of warps has code of its own, and its registers") {
  const std::string source = source_of(file_text("kernels/sm90/gemm_2x1_tma.exo"));
  const std::string producer =
      between(source, "static void run_task_producer", "static void run_task_unused");
  const std::string consumer = between(source, "static void run_task_consumer", "static void run(");
  CHECK_THAT(producer, Contains("xrt_tma_load") && !Contains("wgmma") && !Contains("C_s"));
  CHECK_THAT(consumer, Contains("xrt_wgmma_mma_tf32") && !Contains("xrt_tma_load"));
  CHECK_THAT(source, Contains("xrt_setmaxnreg_dec<40>();") && Contains("xrt_setmaxnreg_inc<232>();"));
  // one setmaxnreg for the producer and the unused warps of its warpgroup
  CHECK(source.find("xrt_setmaxnreg_dec") == source.rfind("xrt_setmaxnreg_dec"));
}

TEST_CASE("shared memory that is used one after the other overlaps") {
  const std::string source = source_of(file_text("kernels/sm90/gemm_1x1_tma.exo"));
  CHECK_THAT(source, Contains("k_C_s = 128;"));
  CHECK_THAT(source, Contains("k_A_s = 1024;"));
}

TEST_CASE(
    "accumulators go to shared memory in pairs where their rows allow it, and never so to global memory") {
  const std::string text = file_text("kernels/sm90/gemm_2x1_tma.exo");
  CHECK_THAT(source_of(text), Contains("xrt_wgmma_store_pairs(64, 256, "));
  CHECK_THAT(source_of(file_text("kernels/sm90/gemm_2x1_direct.exo")), !Contains("_pairs"));
}

TEST_CASE("names that C++ or the emitted text takes are changed") {
  const std::string source =
      source_of(kernel_text("int: f32[32] @ CudaGmemLinear, args: f32[32] @ CudaGmemLinear", "blockDim=32",
                            "for tid in cuda_threads(0, 32, unit=cuda_thread):\n"
                            "    int[tid] = args[tid]\n"));
  CHECK_THAT(source, Contains("const int tid_ = tid;"));
  CHECK_THAT(source, Contains("float* int_"));
}

TEST_CASE("host code: allocation, memset, copies, windows, synchronization") {
  const std::string source = source_of(
      "def k(n: size, h: f32[n] @ DRAM, y: f32[4, n] @ CudaGmemLinear):\n"
      "    x: f32[n] @ CudaGmemLinear\n"
      "    cudaMemsetAsync0_2f32(4, n, y[:, :])\n"
      "    cudaMemcpyAsync_htod_1f32(n, x[:], h[:])\n"
      "    w = y[2, :]\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, (n + 31) / 32):\n"
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                if 32 * task + t < n:\n"
      "                    w[32 * task + t] = x[32 * task + t]\n"
      "    cudaMemcpyAsync_dtoh_1f32(n, h[:], y[2, :])\n"
      "    Fence(cuda_stream_sync, cpu_in_order)\n");
  CHECK_THAT(source, Contains("float* const x = xrt_malloc_async<float>(int64_t(n), stream);"));
  CHECK_THAT(source, Contains("xrt_memset0_async(y, int64_t(4) * n, stream);"));
  CHECK_THAT(source, Contains("xrt_memcpy_async(x, h, int64_t(n), stream);"));
  CHECK_THAT(source, Contains("xrt_st(args.y + int64_t(2) * args.n + 32 * task.task_ + t,") ||
                         Contains("xrt_st(args.y + int64_t(2) * args.n + 32 * task.task + t,"));
  CHECK_THAT(source, Contains("xrt_memcpy_async(h, y + 2 * int64_t(n), int64_t(n), stream);"));
  CHECK_THAT(source, Contains("xrt_stream_sync(stream);"));
  CHECK_THAT(source, Contains("xrt_free_async(x, stream);"));
}

TEST_CASE("host code: memory of the host and arithmetic on it") {
  const std::string source = source_of(
      "def k(n: size, a: f32[4, n] @ DRAM, y: f32[n] @ CudaGmemLinear):\n"
      "    b: f32[n] @ DRAM\n"
      "    scale: f32 @ CudaGridConstant\n"
      "    scale = 2.0\n"
      "    for i in seq(0, n):\n"
      "        b[i] = a[2, i] * scale\n"
      "        b[i] += 1.0\n"
      "    cudaMemcpyAsync_htod_1f32(n, y[:], b[:])\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, 1):\n"
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "                if t < n:\n"
      "                    y[t] = scale\n");
  CHECK_THAT(source, Contains("#include <memory>"));
  CHECK_THAT(source, Contains("const std::unique_ptr<float[]> b_memory(new float[size_t(int64_t(n))]);\n"
                              "  float* const b = b_memory.get();"));
  CHECK_THAT(source, Contains("scale[0] = 2.0f;"));
  CHECK_THAT(source, Contains("b[i] = a[int64_t(2) * n + i] * scale[0];"));
  CHECK_THAT(source, Contains("b[i] += 1.0f;"));
  CHECK_THAT(source, Contains("args.scale = *scale;"));
  CHECK_THAT(source, !Contains("xrt_free_async(b"));
}

TEST_CASE("narrow and mixed precisions") {
  const std::string source = source_of(kernel_text(
      "x: f64[32] @ CudaGmemLinear, h: f16[32] @ CudaGmemLinear, i: i8[32] @ CudaGmemLinear", "blockDim=32",
      "v: bf16[32] @ CudaRmem\n"
      "for t in cuda_threads(0, 32, unit=cuda_thread):\n"
      "    v[t] = h[t]\n"
      "    v[t] += 0.1\n"
      "    h[t] = h[t] * h[t] + 1.5\n"
      "    h[t] += x[t]\n"
      "    i[t] = 1.0\n"
      "    i[t] = x[t]\n"
      "    h[t] = sqrt(h[t])\n"));
  CHECK_THAT(source, Contains("xrt_f16* h;"));
  CHECK_THAT(source, Contains("xrt_bf16 v;"));
  CHECK_THAT(source, Contains("v = xrt_bf16(xrt_ld(args.h + t));"));
  CHECK_THAT(source, Contains("v = xrt_bf16(v + xrt_bf16(0.1));"));
  CHECK_THAT(source,
             Contains("xrt_st(args.h + t, xrt_f16(xrt_f16(xrt_ld(args.h + t) * xrt_ld(args.h + t)) + "
                      "xrt_f16(1.5)));") ||
                 Contains("xrt_st(args.h + t, xrt_f16((xrt_f16(xrt_ld(args.h + t) * xrt_ld(args.h + t))) + "
                          "(xrt_f16(1.5))));"));
  CHECK_THAT(source, Contains("xrt_add(args.h + t, xrt_f16(xrt_ld(args.x + t)));"));
  CHECK_THAT(source, Contains("xrt_st(args.i + t, int8_t(1));"));
  CHECK_THAT(source, Contains("xrt_st(args.i + t, xrt_to<int8_t>(xrt_ld(args.x + t)));"));
  CHECK_THAT(source, Contains("xrt_f16(xrt_sqrt(float(xrt_ld(args.h + t))))"));
}

TEST_CASE("window parameters come with their strides") {
  const codegen::Module module =
      emit_text(kernel_text("m: size, n: size, x: [f32][m, n] @ CudaGmemLinear", "blockDim=32",
                            "for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                            "    if t < m:\n"
                            "        for j in seq(0, n):\n"
                            "            x[t, j] = 1.0\n"));
  REQUIRE(module.problems.empty());
  const std::string& source = module.files[0].second;
  CHECK_THAT(
      module.files[1].second,
      Contains("void k(int m, int n, float* x, int64_t x_stride0, int64_t x_stride1, xrt_stream stream);"));
  CHECK_THAT(source, Contains("float* x;\n    int64_t x_stride[2];"));
  CHECK_THAT(source, Contains("args.x_stride[1] = x_stride1;"));
  CHECK_THAT(source, Contains("xrt_st(args.x + t * args.x_stride[0] + j * args.x_stride[1], 1.0f);"));
}

TEST_CASE("procedures with names that C++ takes") {
  const std::string text = kernel_text("y: f32[32] @ CudaGmemLinear", "blockDim=32",
                                       "for t in cuda_threads(0, 32, unit=cuda_thread):\n    y[t] = 1.0\n");
  const codegen::Module module = emit_text("def main" + text.substr(text.find('(')));
  CHECK(module.files[0].first == "main.cu");
  CHECK_THAT(module.files[1].second, Contains("void main_(float* y, xrt_stream stream);"));
}

TEST_CASE("the headline stands in every emitted file") {
  const codegen::Module module = emit_text(file_text("kernels/basic/vec_add.exo"));
  CHECK(module.files[0].second.starts_with("// Headline.\n"));
  CHECK(module.files[1].second.starts_with("// Headline.\n"));
  CHECK_THAT(module.files[1].second,
             Contains("void vec_add(int n, float* a, float* b, float* c, xrt_stream stream);"));
}

TEST_CASE("what cannot be emitted is refused at its place") {
  const auto instruction = refusal(
      "@instr(tl=cuda_in_order_instr, unit=cuda_thread, cuda=\"op({x});\")\n"
      "def op(x: index):\n"
      "    pass\n" +
      kernel_text("y: f32[32] @ CudaGmemLinear", "blockDim=32",
                  "for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                  "    op(t)\n"));
  CHECK(instruction.rule->code == "C-01");
  CHECK_THAT(instruction.message, Contains("the user-defined instruction op"));
  const auto memory = refusal(kernel_text("y: f32[32] @ CudaGmemLinear", "blockDim=32",
                                          "s: f32[100000] @ CudaSmemLinear\n"
                                          "for t in cuda_threads(0, 32, unit=cuda_thread):\n"
                                          "    s[t] = 1.0\n"
                                          "    y[t] = s[t]\n"
                                          "Fence(cuda_in_order, cuda_in_order)\n"));
  CHECK(memory.rule->code == "C-02");
  CHECK_THAT(memory.message, Contains("400000"));
}

TEST_CASE("a shuffle that not all lanes reach is refused") {
  const auto shuffle = [](const std::string& halves, const std::string& condition) {
    return kernel_text("y: f32 @ CudaGmemLinear", "blockDim=32",
                       "v: f32[16, 2] @ CudaRmem\n"
                       "u: f32[16, 2] @ CudaRmem\n"
                       "for h in cuda_threads(0, 16, unit=2 * cuda_thread):\n"
                       "    for t in cuda_threads(0, 2, unit=cuda_thread):\n"
                       "        v[h, t] = 1.0\n"
                       "for h in cuda_threads(0, " +
                           halves +
                           ", unit=2 * cuda_thread):\n"
                           "    if " +
                           condition +
                           ":\n"
                           "        cuda_shfl_xor_sync_1f32(u[h, 0:2], v[h, 0:2], laneMask=1)\n");
  };
  CHECK_THAT(source_of(shuffle("16", "task < 1")), Contains("u = xrt_shfl_xor(v, 1);"));
  CHECK_THAT(refusal(shuffle("16", "h < 8")).message, Contains("a condition that differs between the lanes"));
}

TEST_CASE("a shuffle in a loop that leaves lanes out is refused") {
  const std::string text = kernel_text("y: f32 @ CudaGmemLinear", "blockDim=32",
                                       "v: f32[8, 2] @ CudaRmem\n"
                                       "u: f32[8, 2] @ CudaRmem\n"
                                       "for h in cuda_threads(0, 8, unit=2 * cuda_thread):\n"
                                       "    for t in cuda_threads(0, 2, unit=cuda_thread):\n"
                                       "        v[h, t] = 1.0\n"
                                       "for h in cuda_threads(0, 8, unit=2 * cuda_thread):\n"
                                       "    cuda_shfl_xor_sync_1f32(u[h, 0:2], v[h, 0:2], laneMask=1)\n");
  CHECK_THAT(refusal(text).message, Contains("do not take part"));
}
