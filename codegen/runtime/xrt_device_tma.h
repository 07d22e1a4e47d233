// Bulk tensor copies (TMA) on the GPU, by one warp. Part of xrt_device.h.
#pragma once

// Coordinates innermost first, as in PTX. All 32 lanes call; one issues.
XRT_DEV bool xrt_elect() {
  uint32_t elected;
  asm volatile(
      "{ .reg .pred p; elect.sync _|p, 0xFFFFFFFF; selp.u32 %0, 1, 0, p; }"
      : "=r"(elected));
  return elected != 0;
}
XRT_DEV void xrt_mbar_expect_tx(uint32_t bar, int bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
#define XRT_TMA_ADDRESS(map) reinterpret_cast<uint64_t>(&(map).map)
XRT_DEV void xrt_prefetch_map(const XrtTensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(XRT_TMA_ADDRESS(map)) : "memory"); }

// Loads the box at c; `arriving` bytes will reach this CTA's barrier through this call of all participating CTAs.
template <int Rank>
XRT_DEV void xrt_tma_load(uint32_t to, const XrtTensorMap& map, const int (&c)[Rank], uint32_t bar, int arriving) {
  static_assert(Rank >= 1 && Rank <= 5);
  __syncwarp();
  if (!xrt_elect()) return;
  xrt_mbar_expect_tx(bar, arriving);
#define XRT_LOAD "cp.async.bulk.tensor."
#define XRT_LOAD_TAIL "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
  if constexpr (Rank == 1)
    asm volatile(XRT_LOAD "1" XRT_LOAD_TAIL "{%3}], [%2];" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "r"(c[0]) : "memory");
  if constexpr (Rank == 2)
    asm volatile(XRT_LOAD "2" XRT_LOAD_TAIL "{%3, %4}], [%2];" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "r"(c[0]), "r"(c[1]) : "memory");
  if constexpr (Rank == 3)
    asm volatile(XRT_LOAD "3" XRT_LOAD_TAIL "{%3, %4, %5}], [%2];" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "r"(c[0]), "r"(c[1]), "r"(c[2]) : "memory");
  if constexpr (Rank == 4)
    asm volatile(XRT_LOAD "4" XRT_LOAD_TAIL "{%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]) : "memory");
  if constexpr (Rank == 5)
    asm volatile(XRT_LOAD "5" XRT_LOAD_TAIL "{%3, %4, %5, %6, %7}], [%2];" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]) : "memory");
}
// The same to every CTA in `mask`, each at the same address and with its own barrier.
template <int Rank>
XRT_DEV void xrt_tma_load_multicast(uint32_t to, const XrtTensorMap& map, const int (&c)[Rank], uint32_t bar, int arriving,
                                    uint32_t mask) {
  static_assert(Rank >= 2 && Rank <= 5);
  __syncwarp();
  if (!xrt_elect()) return;
  xrt_mbar_expect_tx(bar, arriving);
  const uint16_t m = static_cast<uint16_t>(mask);
#define XRT_MULTICAST_TAIL "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
  if constexpr (Rank == 2)
    asm volatile(XRT_LOAD "2" XRT_MULTICAST_TAIL "{%4, %5}], [%2], %3;" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "h"(m), "r"(c[0]), "r"(c[1]) : "memory");
  if constexpr (Rank == 3)
    asm volatile(XRT_LOAD "3" XRT_MULTICAST_TAIL "{%4, %5, %6}], [%2], %3;" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "h"(m), "r"(c[0]), "r"(c[1]), "r"(c[2]) : "memory");
  if constexpr (Rank == 4)
    asm volatile(XRT_LOAD "4" XRT_MULTICAST_TAIL "{%4, %5, %6, %7}], [%2], %3;" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "h"(m), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]) : "memory");
  if constexpr (Rank == 5)
    asm volatile(XRT_LOAD "5" XRT_MULTICAST_TAIL "{%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to), "l"(XRT_TMA_ADDRESS(map)), "r"(bar), "h"(m), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]) : "memory");
}

// Stores and reductions: always lane 0, which also commits and waits.
#define XRT_DEFINE_TMA_STORE(NAME, OPCODE)                                                                                     \
  template <int Rank>                                                                                                          \
  XRT_DEV void NAME(const XrtTensorMap& map, const int (&c)[Rank], uint32_t from) {                                            \
    static_assert(Rank >= 1 && Rank <= 5);                                                                                     \
    __syncwarp();                                                                                                              \
    if (threadIdx.x % 32 != 0) return;                                                                                         \
    if constexpr (Rank == 1)                                                                                                   \
      asm volatile(OPCODE(1) " [%0, {%2}], [%1];" ::"l"(XRT_TMA_ADDRESS(map)), "r"(from), "r"(c[0]) : "memory");               \
    if constexpr (Rank == 2)                                                                                                   \
      asm volatile(OPCODE(2) " [%0, {%2, %3}], [%1];" ::"l"(XRT_TMA_ADDRESS(map)), "r"(from), "r"(c[0]), "r"(c[1]) : "memory"); \
    if constexpr (Rank == 3)                                                                                                   \
      asm volatile(OPCODE(3) " [%0, {%2, %3, %4}], [%1];" ::"l"(XRT_TMA_ADDRESS(map)), "r"(from), "r"(c[0]), "r"(c[1]),        \
                   "r"(c[2])                                                                                                   \
                   : "memory");                                                                                                \
    if constexpr (Rank == 4)                                                                                                   \
      asm volatile(OPCODE(4) " [%0, {%2, %3, %4, %5}], [%1];" ::"l"(XRT_TMA_ADDRESS(map)), "r"(from), "r"(c[0]), "r"(c[1]),    \
                   "r"(c[2]), "r"(c[3])                                                                                        \
                   : "memory");                                                                                                \
    if constexpr (Rank == 5)                                                                                                   \
      asm volatile(OPCODE(5) " [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(XRT_TMA_ADDRESS(map)), "r"(from), "r"(c[0]),           \
                   "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])                                                                  \
                   : "memory");                                                                                                \
  }
#define XRT_STORE_OPCODE(R) "cp.async.bulk.tensor." #R "d.global.shared::cta.tile.bulk_group"
#define XRT_REDUCE_OPCODE(R) "cp.reduce.async.bulk.tensor." #R "d.global.shared::cta.add.tile.bulk_group"
XRT_DEFINE_TMA_STORE(xrt_tma_store, XRT_STORE_OPCODE)
XRT_DEFINE_TMA_STORE(xrt_tma_reduce_add, XRT_REDUCE_OPCODE)

XRT_DEV void xrt_bulk_commit() {
  if (threadIdx.x % 32 == 0) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int N>
XRT_DEV void xrt_bulk_wait() {
  if (threadIdx.x % 32 == 0) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
  __syncwarp();
}
