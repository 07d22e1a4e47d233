// Rings of mbarriers, as one thread counts them. Part of xrt.h, which provides XRT_DEV and xrt_mbar_wait.
#pragma once

#include <cstdint>

// What one thread knows of an array of mbarriers: `Depth` physical barriers per slice are used in turn; the first `Lag`
// waits of the kernel return at once. The state lives as long as the kernel.
template <int Depth, int Lag>
struct XrtRing {
  uint32_t arrive_at = 0, wait_at = 0, parities = 0, skipped = 0;
};

// Address of the barrier that the next arrival of this thread completes.
template <int Depth, int Lag>
XRT_DEV uint32_t xrt_ring_slot(const XrtRing<Depth, Lag>& ring, uint32_t slice) {
  return slice + 8 * ring.arrive_at;
}

template <int Depth, int Lag>
XRT_DEV void xrt_ring_advance(XrtRing<Depth, Lag>& ring) {
  ring.arrive_at = ring.arrive_at + 1 == Depth ? 0 : ring.arrive_at + 1;
}

// Waits for the next phase; `Cluster`: other CTAs arrive, too. False: skipped, nothing to order.
template <bool Cluster, int Depth, int Lag>
XRT_DEV bool xrt_ring_wait(XrtRing<Depth, Lag>& ring, uint32_t slice) {
  if (Lag > 0 && ring.skipped < uint32_t(Lag)) {
    ++ring.skipped;
    return false;
  }
  xrt_mbar_wait<Cluster>(slice + 8 * ring.wait_at, ring.parities >> ring.wait_at & 1);
  ring.parities ^= 1u << ring.wait_at;
  ring.wait_at = ring.wait_at + 1 == Depth ? 0 : ring.wait_at + 1;
  return true;
}
