// mbarriers, and the barriers of warps, CTAs and clusters. Part of xrt_emulator.cc.
#pragma once

#include "xrt_emu_schedule.h"

namespace xrt_emu {

inline void publish_stores();

inline Cta& cta_of(uint32_t address) {
  Cluster& cluster = *self().cluster;
  const uint32_t rank = address >> 24;
  if (rank >= cluster.ctas.size()) fail("a shared memory address of a CTA that is not in the cluster");
  return *cluster.ctas[rank];
}
inline size_t barrier_index(Cta& cta, uint32_t address) {
  const size_t slot = (address & 0xFFFFFF) / 8;
  if (address % 8 != 0 || slot >= cta.barrier_at.size() || cta.barrier_at[slot] < 0) {
    fail(format("mbarrier at byte %u of CTA rank %d: used before its initialisation", address & 0xFFFFFF, cta.rank));
  }
  return static_cast<size_t>(cta.barrier_at[slot]);
}
inline Mbarrier& barrier_at(Cta& cta, uint32_t address) { return cta.barriers[barrier_index(cta, address)]; }
inline void check_phase(Mbarrier& b) {
  if (b.pending != 0 || b.tx != 0) return;
  b.pending = b.expected;
  ++b.phases;
  wake(b.queue);
}
inline void arrive(Mbarrier& b) {
  if (b.pending == 0) fail(format("the mbarrier at byte %u gets more arrivals than its phase expects", b.at));
  --b.pending;
  check_phase(b);
}
void mbar_arrive(uint32_t address) {
  maybe_yield();
  publish_stores();
  Cta& cta = cta_of(address);
  if (&cta != self().cta) {
    if (cta.started == 0) fail("a remote arrival at a CTA that has not started");
    if (cta.exited == g.block_dim) fail("a remote arrival at a CTA that has ended");
  }
  arrive(barrier_at(cta, address));
}

void mbar_wait(uint32_t bar, uint32_t parity) {
  maybe_yield();
  Fiber& f = self();
  const size_t index = barrier_index(*f.cta, bar);
  if (f.waited.size() <= index) f.waited.resize(index + 1, 0);
  const auto barrier = [&]() -> Mbarrier& { return f.cta->barriers[index]; };
  if (barrier().phases >= f.waited[index] + 2) {
    fail(format("a wait at the mbarrier at byte %u that is two phases late: its parity means nothing", bar & 0xFFFFFF));
  }
  wait_until(barrier().queue, [&] { return (barrier().phases & 1) != parity; }, "mbarrier at byte %u, parity %u", bar & 0xFFFFFF, parity);
  ++f.waited[index];
}

void named_barrier(int id, int threads) {
  publish_stores();
  rendezvous(self().cta->named[id], threads == 0 ? g.block_dim : threads, "barrier.cta.sync", -1, nullptr, [](auto&) {});
}

}  // namespace xrt_emu

void xrt_mbar_init(uint32_t bar, int count) {
  using namespace xrt_emu;
  Cta& cta = *self().cta;
  const uint32_t at = bar & 0xFFFFFF;
  if (at % 8 != 0 || static_cast<int>(at) + 8 > g.smem_bytes) fail("an mbarrier at an address that is no multiple of 8 in shared memory");
  if (cta.barrier_at.size() <= at / 8) cta.barrier_at.resize(at / 8 + 1, -1);
  if (cta.barrier_at[at / 8] >= 0) fail("an mbarrier is initialised twice");
  cta.barrier_at[at / 8] = static_cast<int>(cta.barriers.size());
  Mbarrier barrier;
  barrier.at = at;
  barrier.expected = barrier.pending = count;
  cta.barriers.push_back(std::move(barrier));
  cta.flags[at / 4] |= mbarrier;
  cta.flags[at / 4 + 1] |= mbarrier;
}
// ---------------------------------------------------------------------------------------------- execution barriers
void xrt_syncwarp() {
  xrt_emu::publish_stores();
  xrt_emu::warp_rendezvous("__syncwarp", nullptr, [](auto&) {});
}
void xrt_cluster_arrive() {
  using namespace xrt_emu;
  Fiber& f = self();
  if (f.arrived) fail("a thread arrives twice at the cluster barrier without waiting");
  publish_stores();
  f.arrived = true;
  f.arrive_phase = f.cluster->phase;
  if (++f.cluster->arrived == g.block_dim * g.cluster_dim) {
    f.cluster->arrived = 0;
    ++f.cluster->phase;
    wake(f.cluster->queue);
  }
}
void xrt_cluster_wait() {
  using namespace xrt_emu;
  Fiber& f = self();
  if (!f.arrived) fail("a thread waits at the cluster barrier without having arrived");
  wait_until(f.cluster->queue, [&] { return f.cluster->phase > f.arrive_phase; }, "barrier.cluster.wait");
  f.arrived = false;
}
