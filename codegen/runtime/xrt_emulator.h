// xrt on the CPU: every CUDA thread is a fiber, every asynchronous operation waits in a list until the scheduler completes it
// as late, as early or in as odd an order as the policy says. What the hardware leaves undefined ends the run with a report.
// xrt_emulator.cc implements it and needs Boost.Context:
//     c++ -std=c++20 -x c++ kernel.cu main.cpp xrt_emulator.cc -lboost_context
// In the environment:
//   XRT_POLICY    OPERATIONS/THREADS (random/random)
//                 OPERATIONS  eager lazy random reverse       when pending operations complete
//                 THREADS     turns random greedy first last  which thread runs next
//   XRT_SEED      of the random choices (0)
//   XRT_CLUSTERS  started at the same time: 1 or 2, otherwise chosen by the seed; each takes its tasks in turn
//   XRT_WEAK      1: a store reaches other threads late and out of order, until its thread synchronizes; otherwise chosen by the seed
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#define XRT_DEV inline
#define XRT_HOST_DEV
#define XRT_UNROLL
#define XRT_UNROLL_BY(n)
#define XRT_LOOP_YIELD() xrt_emu::maybe_yield()
#define XRT_LINE(n) xrt_emu::thread->line = (n)

using xrt_stream = int;

struct XrtTensorMap {
  int swizzle = 0, rank = 0;
  float* base = nullptr;
  int64_t extent[5] = {}, stride[5] = {};  // outermost first, in elements
  int box[5] = {};
};

namespace xrt_emu {

// What emitted code asks of the thread that runs.
struct Thread {
  int tid = 0, block = 0, line = 0;
};
extern Thread* thread;

struct Launch {
  int block_dim, cluster_dim, blocks_per_sm, smem_bytes;
  void (*body)(char*, const void*);
  const void* args;
};

void* allocate(int64_t bytes);
void copy(void* to, const void* from, int64_t bytes);
void stream_sync();
void release(void* p);
XrtTensorMap tensor_map(XrtTensorMap map);
void launch(const Launch& launch, int64_t tasks);
int grid_blocks();
void maybe_yield();

void before_load(const void* p, int bytes);
void store(void* p, const void* value, int bytes);
void cp_async(void* to, const void* from, int bytes);
void cp_async_wait(int groups);
void* swizzled(void* p, int bytes);

void mbar_arrive(uint32_t bar);
void mbar_wait(uint32_t bar, uint32_t parity);
void named_barrier(int id, int threads);  // threads 0: the whole CTA

void shuffle(void* value, int bytes, int lane);
void setmaxnreg(int registers, bool increase);

void tma_load(uint32_t to, const XrtTensorMap& map, const int* c, int rank, uint32_t bar, int arriving, uint32_t mask);
void tma_store(const XrtTensorMap& map, const int* c, int rank, uint32_t from, bool reduce);
void bulk_wait(int groups);

void mma(int k, float* d, const uint32_t* a, const uint32_t* b);
void wgmma(int n, float* d, uint64_t a, uint64_t b, int scale_d);
void wgmma_wait(int groups);
void wgmma_use(const float* d);

}  // namespace xrt_emu

// ---------------------------------------------------------------------------------------------- host
template <class T>
T* xrt_malloc_async(int64_t count, xrt_stream) {
  return static_cast<T*>(xrt_emu::allocate((count > 0 ? count : 1) * static_cast<int64_t>(sizeof(T))));
}
inline void xrt_free_async(void* p, xrt_stream) { xrt_emu::release(p); }
template <class T>
void xrt_memcpy_async(T* to, const T* from, int64_t count, xrt_stream) {
  xrt_emu::copy(to, from, count * static_cast<int64_t>(sizeof(T)));
}
template <class T>
void xrt_memset0_async(T* p, int64_t count, xrt_stream) {
  std::memset(static_cast<void*>(p), 0, static_cast<size_t>(count) * sizeof(T));
}
inline void xrt_stream_sync(xrt_stream) { xrt_emu::stream_sync(); }
template <int Rank>
XrtTensorMap xrt_tensor_map(int swizzle, float* base, const int64_t (&extent)[Rank], const int64_t (&stride)[Rank], const int (&box)[Rank]) {
  XrtTensorMap map;
  map.swizzle = swizzle;
  map.rank = Rank;
  map.base = base;
  for (int d = 0; d < Rank; ++d) {
    map.extent[d] = extent[d];
    map.stride[d] = stride[d];
    map.box[d] = box[d];
  }
  return xrt_emu::tensor_map(map);
}
template <class K>
void xrt_launch(const typename K::Args& args, int64_t tasks, xrt_stream) {
  const auto body = [](char* smem, const void* a) { K::run(smem, *static_cast<const typename K::Args*>(a)); };
  xrt_emu::launch({K::kBlockDim, K::kClusterDim, K::kBlocksPerSm, K::kSmemBytes, body, &args}, tasks);
}

// ---------------------------------------------------------------------------------------------- threads
inline int xrt_tid() { return xrt_emu::thread->tid; }
inline int xrt_block() { return xrt_emu::thread->block; }
inline int xrt_grid() { return xrt_emu::grid_blocks(); }

void xrt_syncwarp();
inline void xrt_bar_named(int id, int threads) { xrt_emu::named_barrier(id, threads); }
inline void xrt_bar_cta() { xrt_emu::named_barrier(0, 0); }
void xrt_cluster_arrive();
void xrt_cluster_wait();
template <int Registers>
void xrt_setmaxnreg_dec() {
  xrt_emu::setmaxnreg(Registers, false);
}
template <int Registers>
void xrt_setmaxnreg_inc() {
  xrt_emu::setmaxnreg(Registers, true);
}
template <class T>
T xrt_shfl(T value, int lane) {
  xrt_emu::shuffle(&value, sizeof(T), lane);
  return value;
}
template <class T>
T xrt_shfl_xor(T value, int mask) {
  return xrt_shfl(value, xrt_tid() % 32 ^ mask);
}

// ---------------------------------------------------------------------------------------------- memory
template <class T>
T xrt_ld(const T* p) {
  xrt_emu::before_load(p, sizeof(T));
  return *p;
}
template <class T>
void xrt_st(T* p, std::type_identity_t<T> value) {
  static_assert(sizeof(T) <= 8);
  xrt_emu::store(p, &value, sizeof(T));
}
inline void xrt_st_pair(float* p, float first, float second) {
  const float pair[] = {first, second};
  xrt_emu::store(p, pair, sizeof pair);
}
void xrt_atomic_add(float* p, float value);
inline uint32_t xrt_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
uint32_t xrt_smem_u32(const void* p);
template <int Bytes, class T>
T* xrt_swizzle(T* p) {
  return Bytes == 0 ? p : static_cast<T*>(xrt_emu::swizzled(p, Bytes));
}
// Publishes what its CTA wrote, and what the grid wrote to global memory.
void xrt_fence_proxy_async();
template <int Bytes, class T>
void xrt_cp_async(T* to, const T* from) {
  xrt_emu::cp_async(to, from, Bytes);
}
void xrt_cp_async_commit();
template <int N>
void xrt_cp_async_wait() {
  xrt_emu::cp_async_wait(N);
}
void xrt_cp_async_wait_all();

// ---------------------------------------------------------------------------------------------- mbarriers
void xrt_mbar_init(uint32_t bar, int count);
inline void xrt_fence_mbar_init() {}
template <bool Cluster>
void xrt_mbar_arrive(uint32_t bar) {
  xrt_emu::mbar_arrive(bar);
}
inline void xrt_mbar_arrive_remote(uint32_t bar, uint32_t rank) { xrt_emu::mbar_arrive((bar & 0xFFFFFF) | rank << 24); }
void xrt_mbar_arrive_cp_async(uint32_t bar);
template <bool Cluster>
void xrt_mbar_wait(uint32_t bar, uint32_t parity) {
  xrt_emu::mbar_wait(bar, parity);
}

// ---------------------------------------------------------------------------------------------- TMA
inline void xrt_prefetch_map(const XrtTensorMap&) {}
template <int Rank>
void xrt_tma_load_multicast(uint32_t to, const XrtTensorMap& map, const int (&c)[Rank], uint32_t bar, int arriving, uint32_t mask) {
  xrt_emu::tma_load(to, map, c, Rank, bar, arriving, mask);
}
template <int Rank>
void xrt_tma_load(uint32_t to, const XrtTensorMap& map, const int (&c)[Rank], uint32_t bar, int arriving) {
  xrt_emu::tma_load(to, map, c, Rank, bar, arriving, 0);
}
template <int Rank>
void xrt_tma_store(const XrtTensorMap& map, const int (&c)[Rank], uint32_t from) {
  xrt_emu::tma_store(map, c, Rank, from, false);
}
template <int Rank>
void xrt_tma_reduce_add(const XrtTensorMap& map, const int (&c)[Rank], uint32_t from) {
  xrt_emu::tma_store(map, c, Rank, from, true);
}
void xrt_bulk_commit();
template <int N>
void xrt_bulk_wait() {
  xrt_emu::bulk_wait(N);
}

// ---------------------------------------------------------------------------------------------- matrix instructions
template <int K, class D, class A, class B>
void xrt_mma_tf32(D& d, const A& a, const B& b) {
  xrt_emu::mma(K, d.r, a.r, b.r);
}
void xrt_wgmma_fence();
void xrt_wgmma_commit();
template <int N>
void xrt_wgmma_wait() {
  xrt_emu::wgmma_wait(N);
}
inline uint64_t xrt_wgmma_desc(uint32_t address) {
  return uint64_t(address >> 4 & 0x3FFF) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}
template <int N>
void xrt_wgmma_tf32(float (&d)[N / 2], uint64_t a, uint64_t b, int scale_d) {
  xrt_emu::wgmma(N, d, a, b, scale_d);
}
template <int N>
void xrt_wgmma_use(float (&d)[N / 2]) {
  xrt_emu::wgmma_use(d);
}
