// xrt on the CPU: every CUDA thread is a fiber, every asynchronous operation waits in a list until the scheduler completes it
// as late, as early or in as odd an order as the policy says. What the hardware leaves undefined ends the run with a report.
// Needs Boost.Context. XRT_SEED (number), XRT_POLICY (OPERATIONS/THREADS), XRT_CLUSTERS (number) in the environment:
//   OPERATIONS  eager lazy random reverse       when pending operations complete
//   THREADS     turns random greedy first last  which thread runs next
#pragma once

#include <algorithm>
#include <bit>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#define XRT_DEV inline
#define XRT_HOST_DEV
#define XRT_UNROLL
#define XRT_UNROLL_BY(n)
#define XRT_LOOP_YIELD() xrt_emu::maybe_yield()
#define XRT_LINE(n) xrt_emu::grid().current->line = (n)

using xrt_stream = int;

struct XrtTensorMap {
  int swizzle = 0, rank = 0;
  float* base = nullptr;
  int64_t extent[5] = {}, stride[5] = {};  // outermost first, in elements
  int box[5] = {};
};

namespace xrt_emu {

struct Fiber;

// Fibers that wait for one thing.
struct Queue {
  std::vector<Fiber*> fibers;
};

struct Mbarrier {
  int expected = 0, pending = 0;
  int64_t tx = 0;
  uint32_t phases = 0;  // completed
  Queue queue;
};

struct Rendezvous {
  int count = 0;
  uint64_t generation = 0;
  const char* kind = "";
  void* slot[32] = {};
  Queue queue;
};

// One wgmma of a warpgroup; runs when all 128 threads have issued it and those before it are done.
struct Wgmma {
  int n = 0, issued = 0;
  uint64_t a = 0, b = 0;
  int scale_d = 0;
  float* fragment[128] = {};
};

struct Warpgroup {
  std::deque<std::shared_ptr<Wgmma>> operations;  // issued by somebody, not complete
  uint64_t complete = 0;                          // number of completed operations
  Queue queue;
};

struct Cta {
  int rank = 0, block = 0, started = 0, exited = 0;
  std::vector<char> memory;                // with slack for the alignment
  char* generic = nullptr;                 // what ordinary accesses see
  std::vector<char> async;                 // what the asynchronous proxy sees
  std::vector<int> dirty;                  // bytes written and not yet fenced, and the same as a set
  std::vector<bool> is_dirty;
  std::vector<uint16_t> in_flight;         // per 4 bytes: operations that will write it
  std::map<uint32_t, Mbarrier> barriers;   // by offset
  std::map<int, Rendezvous> named;
  std::vector<Rendezvous> warps;
  std::vector<Warpgroup> warpgroups;
  int64_t registers = 0;  // free in the pool, per thread sums
  Queue register_queue;
};

struct Cluster {
  int arrived = 0;
  uint64_t phase = 0;
  Queue queue;
  std::vector<Cta*> ctas;
};

struct CpAsync {
  enum Kind { copy, arrive, commit } kind = copy;
  char* to = nullptr;
  const char* from = nullptr;
  int bytes = 0;
  uint32_t bar = 0;
};

struct Fiber {
  boost::context::fiber context;
  Cluster* cluster = nullptr;
  Cta* cta = nullptr;
  int tid = 0, line = 0;
  bool done = false, started = false;
  std::string waits_for;
  // cluster barrier
  bool arrived = false;
  uint64_t arrive_phase = 0;
  // cp.async
  std::deque<CpAsync> copies;
  // bulk stores: operations per group; the last group is open
  std::vector<int> bulk_groups = {0};
  Queue bulk_queue;
  // wgmma
  uint64_t wgmma_issued = 0;
  std::vector<uint64_t> wgmma_groups;  // number of operations at each commit
  bool wgmma_fenced = false;
  std::map<uint32_t, uint32_t> waited;  // phases of each mbarrier that this thread has waited for
  struct Shadow {
    float* registers;
    int n;
    std::vector<float> value;
    uint64_t last;  // number of the last operation on it
  };
  std::vector<std::shared_ptr<Shadow>> shadows;
  int registers = 0;
};

struct Operation {
  const char* name = "";
  std::function<bool()> ready;  // empty: always
  std::function<void()> complete;
};

struct Allocation {
  const char* begin;
  int64_t bytes;
};

struct Grid {
  boost::context::fiber scheduler;
  Fiber* current = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::deque<Fiber*> ready;
  std::vector<Operation> pending;
  int alive = 0, block_dim = 0, cluster_dim = 0, smem_bytes = 0;
  std::mt19937_64 random;
  std::string operations = "random", threads = "random";
  uint64_t seed = 0;
  std::map<const char*, int64_t> allocations;  // global memory
};

inline Grid& grid() {
  static Grid g;
  return g;
}

[[noreturn]] inline void fail(const std::string& what) {
  Grid& g = grid();
  std::fprintf(stderr, "xrt: %s\n", what.c_str());
  if (g.current != nullptr) {
    std::fprintf(stderr, "xrt: CTA %d (rank %d), thread %d, program line %d\n", g.current->cta->block, g.current->cta->rank, g.current->tid, g.current->line);
  }
  std::fprintf(stderr, "xrt: XRT_SEED=%llu XRT_POLICY=%s/%s\n", static_cast<unsigned long long>(g.seed), g.operations.c_str(), g.threads.c_str());
  std::fflush(nullptr);
  std::_Exit(86);
}
inline std::string format(const char* text, ...) {
  char buffer[400];
  va_list list;
  va_start(list, text);
  std::vsnprintf(buffer, sizeof buffer, text, list);
  va_end(list);
  return buffer;
}

inline Fiber& self() { return *grid().current; }
inline uint64_t dice(uint64_t n) { return grid().random() % n; }

// ---- switching
inline void to_scheduler() { grid().scheduler = std::move(grid().scheduler).resume(); }
inline void yield() {
  grid().ready.push_back(&self());
  to_scheduler();
}
inline void maybe_yield() {
  if (grid().threads != "greedy" || dice(16) == 0) yield();
}
template <class Condition>
void wait_until(Queue& queue, const std::string& what, const Condition& condition) {
  Fiber& f = self();
  while (!condition()) {
    f.waits_for = what;
    queue.fibers.push_back(&f);
    to_scheduler();
  }
}
inline void wake(Queue& queue) {
  for (Fiber* f : queue.fibers) grid().ready.push_back(f);
  queue.fibers.clear();
}

// ---- memory
inline int smem_offset(const Cta& cta, const void* p) {
  const auto at = static_cast<const char*>(p) - cta.generic;
  return at >= 0 && at < grid().smem_bytes ? static_cast<int>(at) : -1;
}
inline void check_global(const void* p, int bytes) {
  const auto& all = grid().allocations;
  auto found = all.upper_bound(static_cast<const char*>(p));
  if (found == all.begin()) fail("an access outside of every allocation in global memory");
  --found;
  if (static_cast<const char*>(p) + bytes > found->first + found->second) fail("an access outside of every allocation in global memory");
}
inline void check_access(const void* p, int bytes, const char* how) {
  Cta& cta = *self().cta;
  const int at = smem_offset(cta, p);
  if (at < 0) return check_global(p, bytes);
  if (at + bytes > grid().smem_bytes) fail("an access past the end of shared memory");
  for (int i = at / 4; i <= (at + bytes - 1) / 4; ++i) {
    if (cta.in_flight[static_cast<size_t>(i)] != 0) fail(format("a %s of shared memory (byte %d) that an asynchronous copy is still writing", how, at));
  }
}
inline void mark(Cta& cta, int at, int bytes, int by) {
  for (int i = at / 4; i < (at + bytes + 3) / 4; ++i) cta.in_flight[static_cast<size_t>(i)] = static_cast<uint16_t>(cta.in_flight[static_cast<size_t>(i)] + by);
}
inline void mark_dirty(Cta& cta, int at, int bytes) {
  for (int i = at; i < at + bytes; ++i) {
    if (cta.is_dirty[static_cast<size_t>(i)]) continue;
    cta.is_dirty[static_cast<size_t>(i)] = true;
    cta.dirty.push_back(i);
  }
}
inline void check_barriers(const Cta& cta, int at, int bytes) {
  const auto next = cta.barriers.lower_bound(at >= 7 ? static_cast<uint32_t>(at - 7) : 0);
  if (next != cta.barriers.end() && static_cast<int>(next->first) < at + bytes) fail("a write over an mbarrier");
}
inline uint32_t swizzle(uint32_t a, int bytes) {
  const uint32_t m = bytes == 128 ? 0x70 : bytes == 64 ? 0x30 : bytes == 32 ? 0x10 : 0;
  return a ^ (a >> 3 & m);
}

// ---- mbarriers
inline Cta& cta_of(uint32_t address) {
  Cluster& cluster = *self().cluster;
  const uint32_t rank = address >> 24;
  if (rank >= cluster.ctas.size()) fail("a shared memory address of a CTA that is not in the cluster");
  return *cluster.ctas[rank];
}
inline Mbarrier& barrier_at(Cta& cta, uint32_t address) {
  const auto found = cta.barriers.find(address & 0xFFFFFF);
  if (found == cta.barriers.end()) fail(format("mbarrier at byte %u of CTA rank %d: used before its initialisation", address & 0xFFFFFF, cta.rank));
  return found->second;
}
inline void check_phase(Mbarrier& b) {
  if (b.pending != 0 || b.tx != 0) return;
  b.pending = b.expected;
  ++b.phases;
  wake(b.queue);
}
inline void arrive(Mbarrier& b) {
  if (b.pending == 0) fail("an mbarrier gets more arrivals than its phase expects");
  --b.pending;
  check_phase(b);
}
inline void arrive_at(uint32_t address) {
  Cta& cta = cta_of(address);
  if (&cta != self().cta) {
    if (cta.started == 0) fail("a remote arrival at a CTA that has not started");
    if (cta.exited == grid().block_dim) fail("a remote arrival at a CTA that has ended");
  }
  arrive(barrier_at(cta, address));
}

// ---- operations
inline std::vector<size_t> completable() {
  std::vector<size_t> result;
  const auto& pending = grid().pending;
  for (size_t i = 0; i < pending.size(); ++i) {
    if (!pending[i].ready || pending[i].ready()) result.push_back(i);
  }
  return result;
}
inline bool complete_one() {
  Grid& g = grid();
  const auto candidates = completable();
  if (candidates.empty()) return false;
  const size_t which = g.operations == "reverse" ? candidates.back() : g.operations == "random" ? candidates[dice(candidates.size())] : candidates.front();
  Operation operation = std::move(g.pending[which]);
  g.pending.erase(g.pending.begin() + static_cast<std::ptrdiff_t>(which));
  operation.complete();
  return true;
}
inline void start(Operation operation) {
  Grid& g = grid();
  g.pending.push_back(std::move(operation));
  while (g.operations == "eager" && complete_one()) {
  }
}

// ---- warps
template <class Last>
void rendezvous(Rendezvous& r, int members, const char* kind, int slot, void* mine, const Last& last) {
  if (r.count == 0) r.kind = kind;
  if (std::strcmp(r.kind, kind) != 0) fail(format("threads of one group execute different operations together: %s and %s", r.kind, kind));
  if (slot >= 0) r.slot[slot] = mine;
  if (++r.count == members) {
    last(r);
    r.count = 0;
    ++r.generation;
    wake(r.queue);
    return;
  }
  const uint64_t generation = r.generation;
  wait_until(r.queue, kind, [&] { return r.generation != generation; });
}
template <class Last>
void warp_rendezvous(const char* kind, void* mine, const Last& last) {
  Fiber& f = self();
  rendezvous(f.cta->warps[static_cast<size_t>(f.tid / 32)], 32, kind, f.tid % 32, mine, last);
}

// ---- cp.async
inline void finish_copy(Fiber& f) {
  const CpAsync item = f.copies.front();
  f.copies.pop_front();
  if (item.kind == CpAsync::copy) {
    const int at = smem_offset(*f.cta, item.to);
    std::memcpy(item.to, item.from, static_cast<size_t>(item.bytes));
    mark(*f.cta, at, item.bytes, -1);
    mark_dirty(*f.cta, at, item.bytes);
  } else if (item.kind == CpAsync::arrive) {
    arrive(barrier_at(*f.cta, item.bar));
  }
}
inline void start_copy(CpAsync item) {
  Fiber* f = &self();
  f->copies.push_back(item);
  if (item.kind == CpAsync::commit) return;
  // One operation per item; each finishes the oldest of its thread, if a wait has not done so already.
  start({"cp.async", {}, [f] {
           for (size_t i = 0; i < f->copies.size(); ++i) {
             if (f->copies[i].kind == CpAsync::commit) continue;
             const CpAsync chosen = f->copies[i];
             f->copies.erase(f->copies.begin() + static_cast<std::ptrdiff_t>(i));
             f->copies.push_front(chosen);
             finish_copy(*f);
             break;
           }
         }});
}

// ---- TMA
struct Box {
  std::vector<std::pair<int, int64_t>> elements;  // offset in shared memory's tile (bytes, linear), element of the tensor or -1
  int bytes = 0;
};
inline Box box_of(const XrtTensorMap& map, const int* c) {
  Box box;
  int64_t count = 1;
  for (int d = 0; d < map.rank; ++d) count *= map.box[d];
  box.bytes = static_cast<int>(count * 4);
  std::vector<int> at(static_cast<size_t>(map.rank), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0, rest = i;
    bool inside = true;
    for (int d = map.rank; d-- > 0;) {
      const int64_t index = c[map.rank - 1 - d] + rest % map.box[d];
      rest /= map.box[d];
      inside = inside && index >= 0 && index < map.extent[d];
      position += index * map.stride[d];
    }
    box.elements.emplace_back(static_cast<int>(i * 4), inside ? position : -1);
  }
  return box;
}
inline void check_tile(uint32_t address, const Box& box) {
  if (address % 128 != 0) fail("a bulk tensor copy at a shared memory address that is no multiple of 128");
  if (static_cast<int>(address & 0xFFFFFF) + box.bytes > grid().smem_bytes) fail("a bulk tensor copy past the end of shared memory");
}
inline void issue_load(const XrtTensorMap& map, const int* c, uint32_t to, uint32_t bar, uint32_t mask) {
  auto box = std::make_shared<Box>(box_of(map, c));
  check_tile(to, *box);
  Cluster& cluster = *self().cluster;
  const auto at = static_cast<int>(to & 0xFFFFFF);
  for (uint32_t rank = 0; rank < 32; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    if (rank >= cluster.ctas.size()) fail("a multicast to a CTA that is not in the cluster");
    Cta* cta = cluster.ctas[rank];
    if (cta->started == 0 || cta->exited == grid().block_dim) fail("a multicast to a CTA that has not started or has ended");
    Mbarrier* barrier = &barrier_at(*cta, bar);
    check_barriers(*cta, at, box->bytes);
    mark(*cta, at, box->bytes, 1);
    std::memset(cta->generic + at, 0xFF, static_cast<size_t>(box->bytes));
    std::memset(cta->async.data() + at, 0xFF, static_cast<size_t>(box->bytes));
    start({"TMA load", {}, [=] {
             for (const auto& [offset, element] : box->elements) {
               const float value = element < 0 ? 0 : map.base[element];
               const uint32_t p = swizzle(static_cast<uint32_t>(at + offset), map.swizzle);
               std::memcpy(cta->generic + p, &value, 4);
               std::memcpy(cta->async.data() + p, &value, 4);
             }
             mark(*cta, at, box->bytes, -1);
             barrier->tx -= box->bytes;
             check_phase(*barrier);
           }});
  }
}
inline void issue_store(const XrtTensorMap& map, const int* c, uint32_t from, bool reduce) {
  auto box = std::make_shared<Box>(box_of(map, c));
  check_tile(from, *box);
  Fiber* f = &self();
  Cta* cta = f->cta;
  const auto at = static_cast<int>(from & 0xFFFFFF);
  auto snapshot = std::make_shared<std::vector<char>>(cta->async.begin() + at, cta->async.begin() + at + box->bytes);
  const size_t group = f->bulk_groups.size() - 1;
  ++f->bulk_groups[group];
  const int line = f->line;
  start({"TMA store", {}, [=] {
           if (std::memcmp(snapshot->data(), cta->async.data() + at, snapshot->size()) != 0) {
             fail(format("shared memory is overwritten while the bulk tensor store of line %d still reads it", line));
           }
           for (const auto& [offset, element] : box->elements) {
             if (element < 0) continue;
             float value;
             std::memcpy(&value, cta->async.data() + swizzle(static_cast<uint32_t>(at + offset), map.swizzle), 4);
             map.base[element] = reduce ? map.base[element] + value : value;
           }
           --f->bulk_groups[group];
           wake(f->bulk_queue);
         }});
}

// ---- wgmma
inline float tf32(float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xFFFFE000u); }
inline float operand(const Cta& cta, uint64_t desc, int row, int k) {
  const auto start = static_cast<uint32_t>(desc & 0x3FFF) << 4;
  const auto stride = static_cast<uint32_t>(desc >> 32 & 0x3FFF) << 4;
  if (desc >> 62 != 1) fail("a matrix descriptor without 128-byte swizzle");
  const uint32_t p = swizzle(start + static_cast<uint32_t>(row / 8) * stride + static_cast<uint32_t>(row % 8) * 128 + static_cast<uint32_t>(k) * 4, 128);
  if (static_cast<int>(p) + 4 > grid().smem_bytes) fail("a matrix descriptor past the end of shared memory");
  float value;
  std::memcpy(&value, cta.async.data() + p, 4);
  return tf32(value);
}
inline Fiber::Shadow* shadow_of(Fiber& f, float* registers) {
  for (const auto& s : f.shadows) {
    if (s->registers == registers) return s.get();
  }
  return nullptr;
}
inline void run_wgmma(Cta& cta, size_t group) {
  Warpgroup& w = cta.warpgroups[group];
  const std::shared_ptr<Wgmma> op = w.operations.front();
  w.operations.pop_front();
  std::vector<float> a(64 * 8), b(static_cast<size_t>(op->n) * 8);
  for (int m = 0; m < 64; ++m) {
    for (int k = 0; k < 8; ++k) a[static_cast<size_t>(m * 8 + k)] = operand(cta, op->a, m, k);
  }
  for (int n = 0; n < op->n; ++n) {
    for (int k = 0; k < 8; ++k) b[static_cast<size_t>(n * 8 + k)] = operand(cta, op->b, n, k);
  }
  for (auto& owner : grid().fibers) {
    if (owner->cta != &cta || static_cast<size_t>(owner->tid / 128) != group) continue;
    const int t = owner->tid % 128, lane = t % 32;
    Fiber::Shadow* shadow = shadow_of(*owner, op->fragment[t]);
    for (int i = 0; i < op->n / 2; ++i) {
      const int m = 16 * (t / 32) + lane / 4 + 8 * (i / 2 % 2), n = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      float sum = op->scale_d != 0 ? shadow->value[static_cast<size_t>(i)] : 0;
      for (int k = 0; k < 8; ++k) sum += a[static_cast<size_t>(m * 8 + k)] * b[static_cast<size_t>(n * 8 + k)];
      shadow->value[static_cast<size_t>(i)] = sum;
    }
  }
  ++w.complete;
  wake(w.queue);
}
// Registers whose operations are all complete get their values back.
inline void settle(Fiber& f) {
  const Warpgroup& w = f.cta->warpgroups[static_cast<size_t>(f.tid / 128)];
  std::erase_if(f.shadows, [&](const auto& s) {
    if (s->last > w.complete) return false;
    std::copy(s->value.begin(), s->value.end(), s->registers);
    return true;
  });
}

inline void deadlock() {
  std::map<std::string, int> waits;
  for (const auto& f : grid().fibers) {
    if (!f->done) ++waits[format("CTA %d, %s, program line %d", f->cta->block, f->waits_for.c_str(), f->line)];
  }
  std::string text = "deadlock: nothing can run and no operation is pending";
  for (const auto& [what, count] : waits) text += format("\n  %d threads: %s", count, what.c_str());
  grid().current = nullptr;
  fail(text);
}

inline Fiber* next_fiber() {
  Grid& g = grid();
  size_t which = 0;
  if (g.threads == "random") which = dice(g.ready.size());
  if (g.threads == "greedy") which = g.ready.size() - 1;
  if (g.threads == "first" || g.threads == "last") {
    for (size_t i = 1; i < g.ready.size(); ++i) {
      if (g.threads == "first" ? g.ready[i]->tid < g.ready[which]->tid : g.ready[i]->tid > g.ready[which]->tid) which = i;
    }
    if (dice(64) == 0) which = dice(g.ready.size());  // nobody starves for ever
  }
  Fiber* f = g.ready[which];
  g.ready[which] = g.ready.back();
  if (g.threads == "turns") {
    g.ready[which] = f;
    g.ready.pop_front();
  } else {
    g.ready.pop_back();
  }
  return f;
}

inline void schedule() {
  Grid& g = grid();
  while (g.alive > 0) {
    if (!g.pending.empty() && (g.operations == "random" || g.operations == "reverse") && dice(32) == 0) complete_one();
    if (g.ready.empty()) {
      if (!complete_one()) deadlock();
      continue;
    }
    Fiber* f = next_fiber();
    g.current = f;
    f->context = std::move(f->context).resume();
    g.current = nullptr;
    if (f->done) --g.alive;
  }
  while (complete_one()) {
  }
}

}  // namespace xrt_emu

// ---------------------------------------------------------------------------------------------- host
template <class T>
T* xrt_malloc_async(int64_t count, xrt_stream) {
  const int64_t bytes = (count > 0 ? count : 1) * static_cast<int64_t>(sizeof(T));
  char* p = static_cast<char*>(std::aligned_alloc(256, static_cast<size_t>((bytes + 255) / 256 * 256)));
  std::memset(p, 0xFF, static_cast<size_t>(bytes));
  xrt_emu::grid().allocations[p] = bytes;
  return reinterpret_cast<T*>(p);
}
inline void xrt_free_async(void* p, xrt_stream) {
  if (xrt_emu::grid().allocations.erase(static_cast<char*>(p)) == 0) xrt_emu::fail("a free of memory that is not allocated");
  std::free(p);
}
template <class T>
void xrt_memcpy_async(T* to, const T* from, int64_t count, xrt_stream) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
}
template <class T>
void xrt_memset0_async(T* p, int64_t count, xrt_stream) {
  std::memset(p, 0, static_cast<size_t>(count) * sizeof(T));
}
inline void xrt_stream_sync(xrt_stream) {}

template <int Rank>
XrtTensorMap xrt_tensor_map(int swizzle, float* base, const int64_t (&extent)[Rank], const int64_t (&stride)[Rank], const int (&box)[Rank]) {
  XrtTensorMap map;
  map.swizzle = swizzle;
  map.rank = Rank;
  map.base = base;
  if (reinterpret_cast<uintptr_t>(base) % 16 != 0) xrt_emu::fail("a tensor map of memory that is not aligned to 16 bytes");
  for (int d = 0; d < Rank; ++d) {
    map.extent[d] = extent[d];
    map.stride[d] = stride[d];
    map.box[d] = box[d];
    if (extent[d] < 1) xrt_emu::fail("a tensor map of an empty tensor");
    if (box[d] < 1 || box[d] > 256) xrt_emu::fail("a tensor map with a box of more than 256 elements in one dimension");
    if (d + 1 < Rank && stride[d] * 4 % 16 != 0) xrt_emu::fail("a tensor map whose rows are no multiple of 16 bytes apart");
  }
  if (box[Rank - 1] * 4 % 16 != 0) xrt_emu::fail("a tensor map whose box rows are no multiple of 16 bytes");
  if (swizzle != 0 && box[Rank - 1] * 4 > swizzle) xrt_emu::fail("a tensor map whose box rows are longer than the swizzle");
  return map;
}

// ---------------------------------------------------------------------------------------------- kernels
template <class K>
void xrt_launch(const typename K::Args& args, int64_t tasks, xrt_stream) {
  using namespace xrt_emu;
  if (tasks <= 0) return;
  Grid& g = grid();
  const char* seed = std::getenv("XRT_SEED");
  const char* policy = std::getenv("XRT_POLICY");
  const char* wanted = std::getenv("XRT_CLUSTERS");
  g.seed = seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10);
  g.random.seed(g.seed);
  if (policy != nullptr) {
    const std::string text = policy;
    const size_t slash = text.find('/');
    g.operations = text.substr(0, slash);
    if (slash != std::string::npos) g.threads = text.substr(slash + 1);
  }
  const int64_t clusters = std::min<int64_t>(tasks, wanted == nullptr ? 2 : std::max(1, std::atoi(wanted)));
  g.block_dim = K::kBlockDim;
  g.cluster_dim = K::kClusterDim;
  g.smem_bytes = K::kSmemBytes;
  g.fibers.clear();
  g.ctas.clear();
  g.clusters.clear();
  const int launch_registers = std::min(255 / 8 * 8, 65536 / (K::kBlockDim * K::kBlocksPerSm) / 8 * 8);
  for (int64_t c = 0; c < clusters; ++c) {
    g.clusters.push_back(std::make_unique<Cluster>());
    Cluster* cluster = g.clusters.back().get();
    for (int rank = 0; rank < K::kClusterDim; ++rank) {
      g.ctas.push_back(std::make_unique<Cta>());
      Cta* cta = g.ctas.back().get();
      cluster->ctas.push_back(cta);
      cta->rank = rank;
      cta->block = static_cast<int>(c) * K::kClusterDim + rank;
      cta->memory.assign(K::kSmemBytes + 2048, static_cast<char>(0xFF));
      cta->generic = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(cta->memory.data()) + 1023) / 1024 * 1024);
      cta->async.assign(K::kSmemBytes + 1, static_cast<char>(0xFF));
      cta->is_dirty.assign(K::kSmemBytes + 1, false);
      cta->in_flight.assign(K::kSmemBytes / 4 + 2, 0);
      cta->warps.resize(K::kBlockDim / 32);
      cta->warpgroups.resize((K::kBlockDim + 127) / 128);
      for (int tid = 0; tid < K::kBlockDim; ++tid) {
        g.fibers.push_back(std::make_unique<Fiber>());
        Fiber* f = g.fibers.back().get();
        f->cluster = cluster;
        f->cta = cta;
        f->tid = tid;
        f->registers = launch_registers;
        f->context = boost::context::fiber(std::allocator_arg, boost::context::fixedsize_stack(64 * 1024),
                                           [f, &args](boost::context::fiber&& scheduler) {
                                             grid().scheduler = std::move(scheduler);
                                             ++f->cta->started;
                                             K::run(f->cta->generic, args);
                                             if (!f->shadows.empty()) fail("a thread ends with wgmma operations in flight");
                                             ++f->cta->exited;
                                             f->done = true;
                                             return std::move(grid().scheduler);
                                           });
        g.ready.push_back(f);
      }
    }
  }
  g.alive = static_cast<int>(g.fibers.size());
  schedule();
  g.fibers.clear();
}

// ---------------------------------------------------------------------------------------------- threads
inline int xrt_tid() { return xrt_emu::self().tid; }
inline int xrt_block() { return xrt_emu::self().cta->block; }
inline int xrt_grid() { return static_cast<int>(xrt_emu::grid().ctas.size()); }

inline void xrt_syncwarp() {
  xrt_emu::warp_rendezvous("__syncwarp", nullptr, [](auto&) {});
}
inline void xrt_bar_named(int id, int threads) {
  xrt_emu::rendezvous(xrt_emu::self().cta->named[id], threads, "barrier.cta.sync", -1, nullptr, [](auto&) {});
}
inline void xrt_bar_cta() { xrt_bar_named(0, xrt_emu::grid().block_dim); }
inline void xrt_cluster_arrive() {
  using namespace xrt_emu;
  Fiber& f = self();
  if (f.arrived) fail("a thread arrives twice at the cluster barrier without waiting");
  f.arrived = true;
  f.arrive_phase = f.cluster->phase;
  if (++f.cluster->arrived == grid().block_dim * grid().cluster_dim) {
    f.cluster->arrived = 0;
    ++f.cluster->phase;
    wake(f.cluster->queue);
  }
}
inline void xrt_cluster_wait() {
  using namespace xrt_emu;
  Fiber& f = self();
  if (!f.arrived) fail("a thread waits at the cluster barrier without having arrived");
  wait_until(f.cluster->queue, "barrier.cluster.wait", [&] { return f.cluster->phase > f.arrive_phase; });
  f.arrived = false;
}
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
  wait_until(f.cta->register_queue, "setmaxnreg.inc", [&] { return f.cta->registers >= Registers - f.registers; });
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

// ---------------------------------------------------------------------------------------------- memory
template <class T>
T xrt_ld(const T* p) {
  if (xrt_emu::dice(16) == 0) xrt_emu::maybe_yield();
  xrt_emu::check_access(p, sizeof(T), "read");
  return *p;
}
template <class T>
void xrt_st(T* p, T value) {
  using namespace xrt_emu;
  if (dice(16) == 0) maybe_yield();
  check_access(p, sizeof(T), "write");
  Cta& cta = *self().cta;
  const int at = smem_offset(cta, p);
  if (at >= 0) {
    check_barriers(cta, at, sizeof(T));
    mark_dirty(cta, at, sizeof(T));
  }
  *p = value;
}
inline void xrt_atomic_add(float* p, float value) {
  xrt_emu::maybe_yield();
  xrt_emu::check_access(p, sizeof(float), "reduction");
  *p += value;
}
inline uint32_t xrt_bits(float value) { return std::bit_cast<uint32_t>(value); }
inline uint32_t xrt_smem_u32(const void* p) {
  const auto& cta = *xrt_emu::self().cta;
  return static_cast<uint32_t>(cta.rank) << 24 | static_cast<uint32_t>(static_cast<const char*>(p) - cta.generic);
}
template <int Bytes, class T>
T* xrt_swizzle(T* p) {
  if (Bytes == 0) return p;
  char* base = xrt_emu::self().cta->generic;
  return reinterpret_cast<T*>(base + xrt_emu::swizzle(static_cast<uint32_t>(reinterpret_cast<char*>(p) - base), Bytes));
}
inline void xrt_fence_proxy_async() {
  auto& cta = *xrt_emu::self().cta;
  for (const int at : cta.dirty) {
    cta.async[static_cast<size_t>(at)] = cta.generic[at];
    cta.is_dirty[static_cast<size_t>(at)] = false;
  }
  cta.dirty.clear();
}

template <int Bytes, class T>
void xrt_cp_async(T* to, const T* from) {
  using namespace xrt_emu;
  Cta& cta = *self().cta;
  const int at = smem_offset(cta, to);
  if (at < 0) fail("cp.async to memory that is not shared");
  if (at % Bytes != 0 || reinterpret_cast<uintptr_t>(from) % Bytes != 0) fail("cp.async with an address that is not aligned to its size");
  check_access(to, Bytes, "cp.async write");
  check_global(from, Bytes);
  check_barriers(cta, at, Bytes);
  std::memset(to, 0xFF, Bytes);
  mark(cta, at, Bytes, 1);
  start_copy({CpAsync::copy, reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), Bytes, 0});
}
inline void xrt_cp_async_commit() { xrt_emu::start_copy({xrt_emu::CpAsync::commit, nullptr, nullptr, 0, 0}); }
template <int N>
void xrt_cp_async_wait() {
  using namespace xrt_emu;
  Fiber& f = self();
  maybe_yield();
  const auto groups = [&] { return std::count_if(f.copies.begin(), f.copies.end(), [](const auto& c) { return c.kind == CpAsync::commit; }); };
  while (groups() > N) finish_copy(f);
}
inline void xrt_cp_async_wait_all() {
  xrt_emu::maybe_yield();
  while (!xrt_emu::self().copies.empty()) xrt_emu::finish_copy(xrt_emu::self());
}

// ---------------------------------------------------------------------------------------------- mbarriers
inline void xrt_mbar_init(uint32_t bar, int count) {
  using namespace xrt_emu;
  auto [barrier, fresh] = self().cta->barriers.try_emplace(bar & 0xFFFFFF);
  if (!fresh) fail("an mbarrier is initialised twice");
  if (bar % 8 != 0) fail("an mbarrier at an address that is no multiple of 8");
  barrier->second.expected = barrier->second.pending = count;
}
inline void xrt_fence_mbar_init() {}
template <bool Cluster>
void xrt_mbar_arrive(uint32_t bar) {
  xrt_emu::maybe_yield();
  xrt_emu::arrive_at(bar);
}
inline void xrt_mbar_arrive_remote(uint32_t bar, uint32_t rank) {
  xrt_emu::maybe_yield();
  xrt_emu::arrive_at((bar & 0xFFFFFF) | rank << 24);
}
inline void xrt_mbar_arrive_cp_async(uint32_t bar) { xrt_emu::start_copy({xrt_emu::CpAsync::arrive, nullptr, nullptr, 0, bar}); }
template <bool Cluster>
void xrt_mbar_wait(uint32_t bar, uint32_t parity) {
  using namespace xrt_emu;
  maybe_yield();
  Mbarrier& b = barrier_at(*self().cta, bar);
  uint32_t& waited = self().waited[bar & 0xFFFFFF];
  if (b.phases >= waited + 2) fail(format("a wait at the mbarrier at byte %u that is two phases late: its parity means nothing", bar & 0xFFFFFF));
  wait_until(b.queue, format("mbarrier at byte %u, parity %u", bar & 0xFFFFFF, parity), [&] { return (b.phases & 1) != parity; });
  ++waited;
}

// ---------------------------------------------------------------------------------------------- TMA
template <int Rank>
void xrt_tma_load_multicast(uint32_t to, const XrtTensorMap& map, const int (&c)[Rank], uint32_t bar, int arriving, uint32_t mask) {
  using namespace xrt_emu;
  if (map.rank != Rank) fail("a tensor map of another rank than the copy");
  warp_rendezvous("TMA load", nullptr, [](auto&) {});
  if (self().tid % 32 != static_cast<int>(grid().seed % 32)) return;
  maybe_yield();
  barrier_at(*self().cta, bar).tx += arriving;
  maybe_yield();
  issue_load(map, c, to, bar, mask);
}
template <int Rank>
void xrt_tma_load(uint32_t to, const XrtTensorMap& map, const int (&c)[Rank], uint32_t bar, int arriving) {
  xrt_tma_load_multicast<Rank>(to, map, c, bar, arriving, 1u << xrt_emu::self().cta->rank);
}
template <int Rank>
void xrt_tma_store(const XrtTensorMap& map, const int (&c)[Rank], uint32_t from) {
  xrt_emu::warp_rendezvous("TMA store", nullptr, [](auto&) {});
  if (xrt_tid() % 32 == 0) xrt_emu::issue_store(map, c, from, false);
}
template <int Rank>
void xrt_tma_reduce_add(const XrtTensorMap& map, const int (&c)[Rank], uint32_t from) {
  xrt_emu::warp_rendezvous("TMA reduction", nullptr, [](auto&) {});
  if (xrt_tid() % 32 == 0) xrt_emu::issue_store(map, c, from, true);
}
inline void xrt_bulk_commit() {
  if (xrt_tid() % 32 == 0) xrt_emu::self().bulk_groups.push_back(0);
}
template <int N>
void xrt_bulk_wait() {
  using namespace xrt_emu;
  Fiber& f = self();
  if (f.tid % 32 == 0) {
    wait_until(f.bulk_queue, "cp.async.bulk.wait_group", [&] {
      // Closed groups but for the newest N have no operation left.
      const size_t closed = f.bulk_groups.size() - 1;
      for (size_t i = 0; i + N < closed; ++i) {
        if (f.bulk_groups[i] != 0) return false;
      }
      return true;
    });
  }
  xrt_syncwarp();
}

// ---------------------------------------------------------------------------------------------- matrix instructions
template <int K, class D, class A, class B>
void xrt_mma_tf32(D& d, const A& a, const B& b) {
  struct Item {
    D* d;
    const A* a;
    const B* b;
  } item{&d, &a, &b};
  xrt_emu::warp_rendezvous("mma", &item, [](auto& r) {
    const auto lane = [&](int l) { return static_cast<Item*>(r.slot[l]); };
    const auto value = [](uint32_t bits) { return xrt_emu::tf32(std::bit_cast<float>(bits)); };
    for (int l = 0; l < 32; ++l) {
      for (int i = 0; i < 4; ++i) {
        const int m = l / 4 + 8 * (i / 2), n = 2 * (l % 4) + i % 2;
        float sum = lane(l)->d->r[i];
        for (int k = 0; k < K; ++k) {
          const float left = value(lane(m % 8 * 4 + k % 4)->a->r[m / 8 + 2 * (k / 4)]);
          const float right = value(lane(n * 4 + k % 4)->b->r[k / 4]);
          sum += left * right;
        }
        lane(l)->d->r[i] = sum;
      }
    }
  });
}

inline void xrt_wgmma_fence() { xrt_emu::self().wgmma_fenced = true; }
inline void xrt_wgmma_commit() { xrt_emu::self().wgmma_groups.push_back(xrt_emu::self().wgmma_issued); }
template <int N>
void xrt_wgmma_wait() {
  using namespace xrt_emu;
  Fiber& f = self();
  maybe_yield();
  Warpgroup& w = f.cta->warpgroups[static_cast<size_t>(f.tid / 128)];
  const size_t groups = f.wgmma_groups.size();
  const uint64_t needed = groups > N ? f.wgmma_groups[groups - 1 - N] : 0;
  wait_until(w.queue, "wgmma.wait_group", [&] { return w.complete >= needed; });
  settle(f);
}
inline uint64_t xrt_wgmma_desc(uint32_t address) {
  return uint64_t(address >> 4 & 0x3FFF) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}
template <int N>
void xrt_wgmma_tf32(float (&d)[N / 2], uint64_t a, uint64_t b, int scale_d) {
  using namespace xrt_emu;
  Fiber& f = self();
  maybe_yield();
  const auto group = static_cast<size_t>(f.tid / 128);
  Cta* cta = f.cta;
  Warpgroup& w = cta->warpgroups[group];
  const uint64_t number = f.wgmma_issued++;
  while (w.complete + w.operations.size() <= number) {
    w.operations.push_back(std::make_shared<Wgmma>());
    w.operations.back()->n = N;
    w.operations.back()->a = a;
    w.operations.back()->b = b;
    w.operations.back()->scale_d = scale_d;
  }
  const std::shared_ptr<Wgmma> op = w.operations[static_cast<size_t>(number - w.complete)];
  if (op->n != N || op->a != a || op->b != b || op->scale_d != scale_d) fail("the threads of a warpgroup issue different wgmma operations");
  Fiber::Shadow* shadow = shadow_of(f, d);
  if (shadow == nullptr) {
    if (!f.wgmma_fenced) fail("a wgmma on registers without a wgmma.fence before it");
    f.shadows.push_back(std::make_shared<Fiber::Shadow>(Fiber::Shadow{d, N, std::vector<float>(d, d + N / 2), 0}));
    shadow = f.shadows.back().get();
    std::fill(d, d + N / 2, std::numeric_limits<float>::quiet_NaN());
  }
  shadow->last = number + 1;
  op->fragment[f.tid % 128] = d;
  if (++op->issued == 128) {
    start({"wgmma", [cta, group, op] { return cta->warpgroups[group].operations.front() == op; }, [cta, group] { run_wgmma(*cta, group); }});
  }
}
template <int N>
void xrt_wgmma_use(float (&d)[N / 2]) {
  if (xrt_emu::shadow_of(xrt_emu::self(), d) != nullptr) xrt_emu::fail("a read of accumulator registers that a wgmma is still writing");
  xrt_emu::self().wgmma_fenced = false;
}
