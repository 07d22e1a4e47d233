// xrt on the GPU: one wrapper per PTX instruction. Needs nvcc for sm_90a (sm_80 for kernels without Hopper features).
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#define XRT_DEV __device__ __forceinline__
#define XRT_HOST_DEV __host__ __device__
#define XRT_UNROLL _Pragma("unroll")
#define XRT_PRAGMA(text) _Pragma(#text)
#define XRT_UNROLL_BY(n) XRT_PRAGMA(unroll n)
#define XRT_LOOP_YIELD()
#define XRT_LINE(n)

using xrt_stream = cudaStream_t;

// ---------------------------------------------------------------------------------------------- host
inline void xrt_check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
  std::abort();
}
template <class T>
T* xrt_malloc_async(int64_t count, xrt_stream stream) {
  void* p = nullptr;
  xrt_check(cudaMallocAsync(&p, static_cast<size_t>(count > 0 ? count : 1) * sizeof(T), stream), "cudaMallocAsync");
  return static_cast<T*>(p);
}
inline void xrt_free_async(void* p, xrt_stream stream) { xrt_check(cudaFreeAsync(p, stream), "cudaFreeAsync"); }
template <class T>
void xrt_memcpy_async(T* to, const T* from, int64_t count, xrt_stream stream) {
  xrt_check(cudaMemcpyAsync(to, from, static_cast<size_t>(count) * sizeof(T), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}
template <class T>
void xrt_memset0_async(T* p, int64_t count, xrt_stream stream) {
  xrt_check(cudaMemsetAsync(p, 0, static_cast<size_t>(count) * sizeof(T), stream), "cudaMemsetAsync");
}
inline void xrt_stream_sync(xrt_stream stream) { xrt_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

struct XrtTensorMap {
  CUtensorMap map;
};

// A tiled map of f32 elements; dimensions outermost first, strides in elements, the last one dense.
template <int Rank>
XrtTensorMap xrt_tensor_map(int swizzle, const float* base, const int64_t (&extent)[Rank], const int64_t (&stride)[Rank],
                            const int (&box)[Rank]) {
  if (stride[Rank - 1] != 1) {
    std::fprintf(stderr, "xrt_tensor_map: the elements of a row do not lie next to each other\n");
    std::abort();
  }
  cuuint64_t dims[Rank], strides[Rank > 1 ? Rank - 1 : 1];
  cuuint32_t boxes[Rank], steps[Rank];
  for (int i = 0; i < Rank; ++i) {
    dims[i] = static_cast<cuuint64_t>(extent[Rank - 1 - i]);
    if (i > 0) strides[i - 1] = static_cast<cuuint64_t>(stride[Rank - 1 - i]) * sizeof(float);
    boxes[i] = static_cast<cuuint32_t>(box[Rank - 1 - i]);
    steps[i] = 1;
  }
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                              const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode encode = nullptr;
  if (encode == nullptr) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    xrt_check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
              "cudaGetDriverEntryPointByVersion");
    encode = reinterpret_cast<Encode>(entry);
  }
  const CUtensorMapSwizzle mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                  : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                  : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                  : CU_TENSOR_MAP_SWIZZLE_NONE;
  XrtTensorMap result;
  const CUresult code =
      encode(&result.map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, Rank, const_cast<float*>(base), dims, strides, boxes, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d (16-byte aligned rows and base are needed)\n", static_cast<int>(code));
    std::abort();
  }
  return result;
}

// ---------------------------------------------------------------------------------------------- kernels
template <class K>
__global__ void __launch_bounds__(K::kBlockDim, K::kBlocksPerSm) xrt_kernel(const __grid_constant__ typename K::Args args) {
  extern __shared__ __align__(1024) char xrt_smem[];
  K::run(xrt_smem, args);
}

// As many clusters as the GPU holds at once, at most one per task.
template <class K>
void xrt_launch(const typename K::Args& args, int64_t tasks, xrt_stream stream) {
  if (tasks <= 0) return;
  const auto kernel = xrt_kernel<K>;
  xrt_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, K::kSmemBytes), "shared memory");
  if (K::kClusterDim > 8) {
    xrt_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cluster size");
  }
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = K::kClusterDim;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(K::kBlockDim);
  config.gridDim = dim3(K::kClusterDim);
  config.dynamicSmemBytes = K::kSmemBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = K::kClusterDim > 1 ? 1 : 0;
  int clusters = 0;
  if (K::kClusterDim > 1) {
    xrt_check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), "occupancy");
  } else {
    int device = 0, processors = 0, blocks = 0;
    xrt_check(cudaGetDevice(&device), "device");
    xrt_check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "device");
    xrt_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, K::kBlockDim, K::kSmemBytes), "occupancy");
    clusters = processors * blocks;
  }
  const int64_t wanted = tasks < clusters ? tasks : clusters;
  config.gridDim = dim3(static_cast<unsigned>((wanted > 0 ? wanted : 1) * K::kClusterDim));
  xrt_check(cudaLaunchKernelEx(&config, kernel, args), "launch");
}

// ---------------------------------------------------------------------------------------------- threads
XRT_DEV int xrt_tid() { return static_cast<int>(threadIdx.x); }
XRT_DEV int xrt_block() { return static_cast<int>(blockIdx.x); }
XRT_DEV int xrt_grid() { return static_cast<int>(gridDim.x); }

XRT_DEV void xrt_syncwarp() { __syncwarp(); }
XRT_DEV void xrt_bar_cta() { asm volatile("barrier.cta.sync 0;" ::: "memory"); }
XRT_DEV void xrt_bar_named(int id, int threads) { asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
XRT_DEV void xrt_cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
XRT_DEV void xrt_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
template <int Registers>
XRT_DEV void xrt_setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
XRT_DEV void xrt_setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

template <class T>
XRT_DEV T xrt_shfl_xor(T value, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, mask);
}
template <class T>
XRT_DEV T xrt_shfl(T value, int lane) {
  return __shfl_sync(0xFFFFFFFFu, value, lane);
}

// ---------------------------------------------------------------------------------------------- memory
XRT_DEV uint16_t xrt_f16_bits(float x) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
XRT_DEV float xrt_f16_value(uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
XRT_DEV uint16_t xrt_bf16_bits(float x) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

template <class T>
XRT_DEV T xrt_ld(const T* p) {
  return *p;
}
template <class T>
XRT_DEV void xrt_st(T* p, std::type_identity_t<T> value) {
  *p = value;
}
// p: a multiple of 8 bytes.
XRT_DEV void xrt_st_pair(float* p, float first, float second) { *reinterpret_cast<float2*>(p) = make_float2(first, second); }
XRT_DEV void xrt_atomic_add(float* p, float value) { atomicAdd(p, value); }
XRT_DEV uint32_t xrt_bits(float value) { return __float_as_uint(value); }
XRT_DEV uint32_t xrt_smem_u32(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
template <int Bytes, class T>
XRT_DEV T* xrt_swizzle(T* p) {
  if constexpr (Bytes == 0) {
    return p;
  } else {
    constexpr uint32_t mask = Bytes == 128 ? 0x70 : Bytes == 64 ? 0x30 : 0x10;
    const uint32_t a = xrt_smem_u32(p);
    const int delta = static_cast<int>(a ^ (a >> 3 & mask)) - static_cast<int>(a);
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) + static_cast<intptr_t>(delta));
  }
}

XRT_DEV void xrt_fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

template <int Bytes, class T>
XRT_DEV void xrt_cp_async(T* to, const T* from) {
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(xrt_smem_u32(to)), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(xrt_smem_u32(to)), "l"(from), "n"(Bytes) : "memory");
  }
}
XRT_DEV void xrt_cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
XRT_DEV void xrt_cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
XRT_DEV void xrt_cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---------------------------------------------------------------------------------------------- mbarriers
XRT_DEV void xrt_mbar_init(uint32_t bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
// Makes the initialised barriers known to asynchronous copies and to the other CTAs.
XRT_DEV void xrt_fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
template <bool Cluster>
XRT_DEV void xrt_mbar_arrive(uint32_t bar) {
  if constexpr (Cluster) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.release.cluster.shared::cta.b64 state, [%0]; }" ::"r"(bar) : "memory");
  } else {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(bar) : "memory");
  }
}
XRT_DEV void xrt_mbar_arrive_remote(uint32_t bar, uint32_t rank) {
  asm volatile(
      "{ .reg .b32 remote;\n"
      "  mapa.shared::cluster.u32 remote, %0, %1;\n"
      "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(bar),
      "r"(rank)
      : "memory");
}
XRT_DEV void xrt_mbar_arrive_cp_async(uint32_t bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}
template <bool Cluster>
XRT_DEV void xrt_mbar_wait(uint32_t bar, uint32_t parity) {
  if constexpr (Cluster) {
    asm volatile(
        "{ .reg .pred done;\n"
        "XRT_WAIT:\n"
        "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "  @done bra XRT_DONE;\n"
        "  bra XRT_WAIT;\n"
        "XRT_DONE: }" ::"r"(bar),
        "r"(parity)
        : "memory");
  } else {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{ .reg .pred done;\n"
        "XRT_WAIT:\n"
        "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "  @done bra XRT_DONE;\n"
        "  bra XRT_WAIT;\n"
        "XRT_DONE: }" ::"r"(bar),
        "r"(parity)
        : "memory");
#else
    asm volatile(
        "{ .reg .pred done;\n"
        "XRT_WAIT:\n"
        "  mbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "  @done bra XRT_DONE;\n"
        "  bra XRT_WAIT;\n"
        "XRT_DONE: }" ::"r"(bar),
        "r"(parity)
        : "memory");
#endif
  }
}

#include "xrt_device_tma.h"

// ---------------------------------------------------------------------------------------------- matrix instructions
template <int K>
struct XrtMmaA;
template <int K>
struct XrtMmaB;
struct XrtMmaD;
template <int K, class D, class A, class B>
XRT_DEV void xrt_mma_tf32(D& d, const A& a, const B& b) {
  if constexpr (K == 8) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d.r[0]), "+f"(d.r[1]), "+f"(d.r[2]), "+f"(d.r[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
  } else {
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d.r[0]), "+f"(d.r[1]), "+f"(d.r[2]), "+f"(d.r[3])
                 : "r"(a.r[0]), "r"(a.r[1]), "r"(b.r[0]));
  }
}

XRT_DEV void xrt_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
XRT_DEV void xrt_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
XRT_DEV void xrt_wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// K-major operand in 128-byte swizzled rows: 8 rows apart by 1024 bytes.
XRT_DEV uint64_t xrt_wgmma_desc(uint32_t address) {
  return uint64_t(address >> 4 & 0x3FFF) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}
// d = a b^T + scale_d d for m64 nN k8; the specialisations are in xrt_wgmma.h.
template <int N>
XRT_DEV void xrt_wgmma_tf32(float (&d)[N / 2], uint64_t a, uint64_t b, int scale_d);
// Keeps the compiler from moving reads of an accumulator before the wait for it.
template <int N>
XRT_DEV void xrt_wgmma_use(float (&d)[N / 2]) {
  XRT_UNROLL
  for (int i = 0; i < N / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
