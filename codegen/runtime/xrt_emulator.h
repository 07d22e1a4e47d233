// xrt on the CPU: every CUDA thread is a fiber, every asynchronous operation waits in a list until the scheduler completes it
// as late, as early or in as odd an order as the policy says. What the hardware leaves undefined ends the run with a report.
// Needs Boost.Context. In the environment:
//   XRT_POLICY    OPERATIONS/THREADS (random/random)
//                 OPERATIONS  eager lazy random reverse       when pending operations complete
//                 THREADS     turns random greedy first last  which thread runs next
//   XRT_SEED      of the random choices (0)
//   XRT_CLUSTERS  started at the same time: 1 or 2, otherwise chosen by the seed; each takes its tasks in turn
//   XRT_WEAK      1: a store reaches other threads late and out of order, until its thread synchronizes; otherwise chosen by the seed
#pragma once

#include "xrt_emu_host.h"

#define XRT_DEV inline
#define XRT_HOST_DEV
#define XRT_UNROLL
#define XRT_UNROLL_BY(n)
#define XRT_LOOP_YIELD() xrt_emu::maybe_yield()
#define XRT_LINE(n) xrt_emu::self().line = (n)

inline int xrt_tid() { return xrt_emu::self().tid; }
inline int xrt_block() { return xrt_emu::self().cta->block; }
inline int xrt_grid() { return static_cast<int>(xrt_emu::g.ctas.size()); }

template <int Registers>
void xrt_setmaxnreg_dec() {
  using namespace xrt_emu;
  Fiber& f = self();
  if (f.registers < Registers) fail("setmaxnreg.dec to more registers than the thread has");
  f.cta->registers += f.registers - Registers;
  f.registers = Registers;
  wake(f.cta->register_queue);
}
template <int Registers>
void xrt_setmaxnreg_inc() {
  using namespace xrt_emu;
  Fiber& f = self();
  wait_until(f.cta->register_queue, [&] { return f.cta->registers >= Registers - f.registers; }, "setmaxnreg.inc");
  f.cta->registers -= Registers - f.registers;
  f.registers = Registers;
}

template <class T>
T xrt_shfl(T value, int lane) {
  struct Item {
    T in, out;
    int lane;
  } item{value, {}, lane & 31};
  xrt_emu::warp_rendezvous("shfl", &item, [](auto& r) {
    for (void* slot : r.slot) {
      auto* mine = static_cast<Item*>(slot);
      mine->out = static_cast<Item*>(r.slot[mine->lane])->in;
    }
  });
  return item.out;
}
template <class T>
T xrt_shfl_xor(T value, int mask) {
  return xrt_shfl(value, xrt_tid() % 32 ^ mask);
}
