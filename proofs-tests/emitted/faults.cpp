// Small kernels for the emulator: what it must report, and next to it what is right.
//
//     faults            the cases, one per line: NAME, the report expected (empty: none; "wrong result"),
//     policies (empty: all) faults NAME       runs one; exit code 86: the emulator reports, 3: a wrong result
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "xrt.h"

namespace {

struct Parameters {
  float *x, *y;
  XrtTensorMap x_map, y_map;
};

// x: 64 x 32 numbers 0, 1, ...; y: as many of -1.
float *x, *y;
constexpr int rows = 64, columns = 32, count = rows * columns;

template <int Threads, int Ctas, void (*Body)(char*, const Parameters&)>
struct Kernel {
  using Args = Parameters;
  static constexpr int kBlockDim = Threads, kClusterDim = Ctas, kBlocksPerSm = 1, kSmemBytes = 32768;
  static void run(char* smem, const Args& args) { Body(smem, args); }
};

template <int Threads, int Ctas, void (*Body)(char*, const Parameters&)>
void launch() {
  Parameters p{x, y, xrt_tensor_map<2>(0, x, {rows, columns}, {columns, 1}, {8, 32}),
               xrt_tensor_map<2>(0, y, {rows, columns}, {columns, 1}, {8, 32})};
  xrt_launch<Kernel<Threads, Ctas, Body>>(p, 1, 0);
}

struct Case {
  const char *name, *report, *policies;
  void (*run)();
};
std::vector<Case> cases;
struct Add {
  Add(const char* name, const char* report, void (*run)(), const char* policies = "") {
    cases.push_back({name, report, policies, run});
  }
};
#define CASE(NAME, THREADS, CTAS, REPORT, ...)                                     \
  void NAME(char* smem, const Parameters& p);                                      \
  const Add add_##NAME(#NAME, REPORT, launch<THREADS, CTAS, NAME>, ##__VA_ARGS__); \
  void NAME([[maybe_unused]] char* smem, [[maybe_unused]] const Parameters& p)

[[noreturn]] void wrong() { std::_Exit(3); }

constexpr int bar_at = 0, tile_at = 1024;
float* tile(char* smem) { return reinterpret_cast<float*>(smem + tile_at); }
uint32_t bar(char* smem) { return xrt_smem_u32(smem + bar_at); }
void init(char* smem, int arrivals) {
  if (xrt_tid() == 0) xrt_mbar_init(bar(smem), arrivals);
  xrt_bar_cta();
}
// The box of 8 rows at `row` into the tile; the whole warp.
void load(char* smem, const Parameters& p, int row) {
  xrt_tma_load<2>(xrt_smem_u32(tile(smem)), p.x_map, {0, row}, bar(smem), 1024);
  xrt_mbar_arrive<false>(bar(smem));
}

// ---- TMA and proxies
CASE(load_and_wait, 32, 1, "") {
  init(smem, 32);
  load(smem, p, 8);
  xrt_mbar_wait<false>(bar(smem), 0);
  if (xrt_ld(tile(smem) + xrt_tid()) != float(8 * columns + xrt_tid())) wrong();
}
CASE(load_without_waiting, 32, 1, "that an asynchronous copy is still writing",
     "lazy/turns random/random reverse/first") {
  init(smem, 32);
  load(smem, p, 8);
  xrt_ld(tile(smem) + 255 - xrt_tid());
}
CASE(load_outside, 32, 1, "") {
  init(smem, 32);
  xrt_tma_load<2>(xrt_smem_u32(tile(smem)), p.x_map, {-1, 60}, bar(smem), 1024);
  xrt_mbar_arrive<false>(bar(smem));
  xrt_mbar_wait<false>(bar(smem), 0);
  const int column = xrt_tid();
  if (xrt_ld(tile(smem) + column) != (column == 0 ? 0 : float(60 * columns + column - 1))) wrong();
  if (xrt_ld(tile(smem) + 4 * columns + column) != 0) wrong();
}
CASE(wait_for_more_bytes_than_announced, 32, 1, "deadlock", "eager/turns lazy/turns") {
  init(smem, 32);
  xrt_tma_load<2>(xrt_smem_u32(tile(smem)), p.x_map, {0, 0}, bar(smem), 512);
  xrt_mbar_arrive<false>(bar(smem));
  xrt_mbar_wait<false>(bar(smem), 0);
}
CASE(more_bytes_than_announced, 32, 1, "512 bytes more than announced", "eager/turns eager/random") {
  init(smem, 32);
  xrt_tma_load<2>(xrt_smem_u32(tile(smem)), p.x_map, {0, 0}, bar(smem), 512);
}
void store(char* smem, const Parameters& p, bool fence, bool wait, bool overwrite) {
  for (int i = xrt_tid(); i < 8 * columns; i += 32) xrt_st(tile(smem) + i, float(i));
  if (fence) xrt_fence_proxy_async();
  xrt_syncwarp();
  xrt_tma_store<2>(p.y_map, {0, 8}, xrt_smem_u32(tile(smem)));
  xrt_bulk_commit();
  if (wait) xrt_bulk_wait<0>();
  if (overwrite) xrt_st(tile(smem) + xrt_tid(), -7.0f);
  xrt_bulk_wait<0>();
  if (xrt_ld(p.y + 8 * columns + xrt_tid()) != float(xrt_tid())) wrong();
}
CASE(store_fenced, 32, 1, "") { store(smem, p, true, true, true); }
CASE(store_unfenced, 32, 1,
     "shared memory (byte 1024) that was written by ordinary accesses without a proxy fence") {
  store(smem, p, false, true, false);
}
CASE(store_overwritten, 32, 1, "bulk tensor store", "lazy/turns lazy/greedy lazy/first") {
  store(smem, p, true, false, true);
}
void through_global(char* smem, const Parameters& p, bool fence) {
  init(smem, 32);
  xrt_st(p.x + xrt_tid(), 5.0f);
  if (fence) xrt_fence_proxy_async();
  xrt_syncwarp();
  load(smem, p, 0);
  xrt_mbar_wait<false>(bar(smem), 0);
  if (xrt_ld(tile(smem) + xrt_tid()) != 5) wrong();
}
CASE(global_fenced, 32, 1, "") { through_global(smem, p, true); }
CASE(global_unfenced, 32, 1, "global memory that was written by ordinary accesses without a proxy fence") {
  through_global(smem, p, false);
}
CASE(load_misaligned, 32, 1, "no multiple of 128") {
  init(smem, 32);
  xrt_tma_load<2>(xrt_smem_u32(tile(smem) + 4), p.x_map, {0, 0}, bar(smem), 1024);
}
CASE(load_past_the_end, 32, 1, "past the end of shared memory") {
  init(smem, 32);
  xrt_tma_load<2>(xrt_smem_u32(smem + 32768 - 512), p.x_map, {0, 0}, bar(smem), 1024);
}
CASE(load_of_wrong_rank, 32, 1, "another rank") {
  init(smem, 32);
  xrt_tma_load<1>(xrt_smem_u32(tile(smem)), p.x_map, {0}, bar(smem), 1024);
}
CASE(load_over_mbarrier, 32, 1, "a write over an mbarrier") {
  init(smem, 32);
  xrt_tma_load<2>(xrt_smem_u32(smem), p.x_map, {0, 0}, bar(smem), 1024);
}
CASE(multicast_outside_the_cluster, 32, 2, "a CTA that is not in the cluster") {
  init(smem, 32);
  xrt_cluster_arrive();
  xrt_cluster_wait();
  xrt_tma_load_multicast<2>(xrt_smem_u32(tile(smem)), p.x_map, {0, 0}, bar(smem), 1024, 5);
}
CASE(multicast, 32, 2, "") {
  init(smem, 64);
  xrt_cluster_arrive();
  xrt_cluster_wait();
  const int cta = xrt_block() % 2;
  xrt_tma_load_multicast<2>(xrt_smem_u32(tile(smem) + cta * 256), p.x_map, {0, 8 * cta}, bar(smem), 2048, 3);
  xrt_mbar_arrive<true>(bar(smem));
  xrt_mbar_arrive_remote(bar(smem), uint32_t(cta ^ 1));
  xrt_mbar_wait<true>(bar(smem), 0);
  for (int i = xrt_tid(); i < 512; i += 32) {
    if (xrt_ld(tile(smem) + i) != float(i)) wrong();
  }
  xrt_cluster_arrive();
  xrt_cluster_wait();
}

// ---- mbarriers and threads
CASE(arrive_too_often, 32, 1, "more arrivals than its phase expects", "lazy/turns") {
  init(smem, 32);
  load(smem, p, 0);
  xrt_mbar_arrive<false>(bar(smem));
}
CASE(load_not_awaited, 32, 1, "ends while", "lazy/turns lazy/random") {
  init(smem, 32);
  load(smem, p, 0);
}
CASE(cp_async_not_awaited, 32, 1, "ends while", "lazy/turns lazy/random") {
  xrt_cp_async<4>(tile(smem) + xrt_tid(), p.x + xrt_tid());
}
CASE(arrive_too_seldom, 32, 1, "deadlock") {
  init(smem, 33);
  xrt_mbar_arrive<false>(bar(smem));
  xrt_mbar_wait<false>(bar(smem), 0);
}
CASE(wait_before_init, 32, 1, "used before its initialisation") { xrt_mbar_wait<false>(bar(smem), 0); }
CASE(init_twice, 32, 1, "initialised twice") { xrt_mbar_init(bar(smem), 32); }
CASE(write_over_mbarrier, 32, 1, "a write over an mbarrier") {
  init(smem, 32);
  xrt_st(reinterpret_cast<float*>(smem + bar_at + 4), 1.0f);
}
CASE(wait_two_phases_late, 32, 1, "two phases late") {
  init(smem, 1);
  if (xrt_tid() == 0) {
    for (int i = 0; i < 2; ++i) xrt_mbar_arrive<false>(bar(smem));
  }
  xrt_syncwarp();
  xrt_mbar_wait<false>(bar(smem), 0);
}
CASE(arrival_at_an_ended_cta, 32, 2, "has ended", "eager/turns random/random lazy/last") {
  init(smem, 32);
  xrt_cluster_arrive();
  xrt_cluster_wait();
  if (xrt_block() % 2 == 1) return;
  for (int i = 0; i < 2000; ++i) xrt_emu::maybe_yield();
  xrt_mbar_arrive_remote(bar(smem), 1);
}
CASE(cluster_barrier_twice, 32, 1, "arrives twice") {
  xrt_cluster_arrive();
  xrt_cluster_arrive();
}
CASE(different_operations, 32, 1, "execute different operations together") {
  if (xrt_tid() < 16) {
    xrt_syncwarp();
  } else {
    xrt_shfl(1.0f, 0);
  }
}
CASE(half_a_warp, 32, 1, "deadlock") {
  if (xrt_tid() < 16) xrt_syncwarp();
}
CASE(registers, 256, 1, "") {
  if (xrt_tid() < 128) {
    xrt_setmaxnreg_dec<40>();
  } else {
    xrt_setmaxnreg_inc<248>();
  }
}
CASE(too_many_registers, 384, 1, "setmaxnreg.inc") {
  if (xrt_tid() < 128) {
    xrt_setmaxnreg_dec<40>();
  } else {
    xrt_setmaxnreg_inc<240>();
  }
}
CASE(odd_address, 32, 1, "not aligned to its size") { xrt_st_pair(tile(smem) + 1, 1, 2); }
CASE(outside_of_memory, 32, 1, "outside of every allocation") { xrt_ld(p.y + count + xrt_tid()); }

// ---- weak memory: without synchronization the data may come after the flag
CASE(flag_without_synchronization, 64, 1, "sometimes wrong") {
  float* const data = tile(smem);
  if (xrt_tid() == 0) xrt_st(data + 16, 0.0f);
  xrt_bar_cta();
  if (xrt_tid() == 0) {
    xrt_st(data, 1.0f);
    xrt_st(data + 16, 1.0f);
  }
  if (xrt_tid() == 32) {
    while (xrt_ld(data + 16) == 0) XRT_LOOP_YIELD();
    if (xrt_ld(data) != 1) wrong();
  }
}
CASE(own_stores, 32, 1, "") {
  float* const mine = tile(smem) + xrt_tid();
  for (int i = 0; i < 20; ++i) {
    xrt_st(mine, float(i));
    xrt_add(mine, 1.0f);
    if (xrt_ld(mine) != float(i + 1)) wrong();
  }
}

// ---- cp.async
void copy(char* smem, const Parameters& p, bool wait) {
  xrt_cp_async<16>(tile(smem) + 4 * xrt_tid(), p.x + 4 * xrt_tid());
  xrt_cp_async_commit();
  if (wait) xrt_cp_async_wait<0>();
  if (xrt_ld(tile(smem) + 4 * xrt_tid() + 1) != float(4 * xrt_tid() + 1)) wrong();
}
CASE(cp_async, 32, 1, "") { copy(smem, p, true); }
CASE(cp_async_without_waiting, 32, 1, "that an asynchronous copy is still writing", "lazy/turns lazy/last") {
  copy(smem, p, false);
}
CASE(cp_async_misaligned, 32, 1, "not aligned to its size") { xrt_cp_async<16>(tile(smem) + 1, p.x); }
CASE(cp_async_mbarrier, 32, 1, "") {
  init(smem, 32);
  xrt_cp_async<4>(tile(smem) + xrt_tid(), p.x + xrt_tid());
  xrt_mbar_arrive_cp_async(bar(smem));
  xrt_mbar_wait<false>(bar(smem), 0);
  if (xrt_ld(tile(smem) + 31 - xrt_tid()) != float(31 - xrt_tid())) wrong();
}

// ---- wgmma: 64 x 8 = (64 x 8) (8 x 8)^T of ones
struct Multiply {
  bool publish = true, fence = true, commit = true, wait = true, overwrite = false, same = true;
};
void multiply(char* smem, Multiply how) {
  float* const a = reinterpret_cast<float*>(smem + 8192);
  float* const b = reinterpret_cast<float*>(smem + 16384);
  for (int i = xrt_tid(); i < 64 * 32; i += 128) xrt_st(a + i, 1.0f);
  for (int i = xrt_tid(); i < 8 * 32; i += 128) xrt_st(b + i, 1.0f);
  if (how.publish) xrt_fence_proxy_async();
  xrt_bar_cta();
  float d[4] = {1, 1, 1, 1};
  if (how.fence) xrt_wgmma_fence();
  const int row = how.same ? 0 : xrt_tid() / 64;
  for (int i = 0; i < 2; ++i)
    xrt_wgmma_tf32<8>(d, xrt_wgmma_desc(xrt_smem_u32(a) + uint32_t(32 * row)),
                      xrt_wgmma_desc(xrt_smem_u32(b)), 1);
  if (how.commit) xrt_wgmma_commit();
  if (how.overwrite) xrt_st(a + xrt_tid(), 2.0f);
  if (how.wait) xrt_wgmma_wait<0>();
  xrt_wgmma_use<8>(d);
  for (const float v : d) {
    if (v != 17) wrong();
  }
}
CASE(wgmma, 128, 1, "") { multiply(smem, {}); }
CASE(wgmma_unpublished, 128, 1, "without a proxy fence") { multiply(smem, {.publish = false}); }
CASE(wgmma_unfenced, 128, 1, "without a wgmma.fence") { multiply(smem, {.fence = false}); }
CASE(wgmma_uncommitted, 128, 1, "that a wgmma is still writing", "lazy/turns lazy/greedy lazy/first") {
  multiply(smem, {.commit = false});
}
CASE(wgmma_without_waiting, 128, 1, "that a wgmma is still writing") { multiply(smem, {.wait = false}); }
CASE(wgmma_overwritten, 128, 1, "wgmma", "lazy/turns lazy/greedy lazy/last") {
  multiply(smem, {.overwrite = true});
}
CASE(wgmma_different, 128, 1, "issue different wgmma operations") { multiply(smem, {.same = false}); }

// ---- host
void copy_back(bool sync) {
  float there[4] = {};
  xrt_memcpy_async(there, x, 4, 0);
  if (sync) xrt_stream_sync(0);
  const bool right = there[3] == 3;
  xrt_stream_sync(0);
  if (!right) wrong();
}
const Add host_waits("copy_to_the_host", "", [] { copy_back(true); });
const Add host_hurries(
    "copy_to_the_host_without_waiting", "wrong result", [] { copy_back(false); }, "lazy/turns random/random");
const Add map_rows("map_of_odd_rows", "no multiple of 16 bytes apart", [] {
  xrt_tensor_map<2>(0, x, {4, 30}, {30, 1}, {4, 8});
});
const Add map_box("map_of_a_large_box", "more than 256 elements", [] {
  xrt_tensor_map<2>(0, x, {rows, columns}, {columns, 1}, {257, 8});
});
const Add map_base("map_of_an_odd_base", "not aligned to 16 bytes", [] {
  xrt_tensor_map<2>(0, x + 1, {4, columns}, {columns, 1}, {4, 8});
});
const Add map_strided("map_of_scattered_rows", "do not lie next to each other", [] {
  xrt_tensor_map<2>(0, x, {4, 8}, {columns, 2}, {4, 8});
});
const Add map_empty("map_of_nothing", "empty tensor", [] {
  xrt_tensor_map<2>(0, x, {0, columns}, {columns, 1}, {4, 8});
});

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    for (const Case& c : cases) std::printf("%s\t%s\t%s\n", c.name, c.report, c.policies);
    return 0;
  }
  x = xrt_malloc_async<float>(count, 0);
  y = xrt_malloc_async<float>(count, 0);
  for (int i = 0; i < count; ++i) {
    x[i] = float(i);
    y[i] = -1;
  }
  for (const Case& c : cases) {
    if (std::strcmp(c.name, argv[1]) != 0) continue;
    c.run();
    return 0;
  }
  return 2;
}
