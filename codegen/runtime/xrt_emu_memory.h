// Shared and global memory: what is being copied, what the asynchronous proxy sees, store buffers, cp.async. Part of
// xrt_emulator.cc.
//
// The ordinary and the asynchronous view of memory differ in the bytes that were written by ordinary accesses since the
// last fence.proxy.async; these are kept (`unpublished`), not a second copy. An asynchronous read of one is an error.
#pragma once

#include "xrt_emu_barriers.h"

namespace xrt_emu {

// ---- places
inline int smem_offset(const Cta& cta, const void* p) {
  const auto at = static_cast<const char*>(p) - cta.smem;
  return at >= 0 && at < g.smem_bytes ? static_cast<int>(at) : -1;
}
inline Allocation& allocation_of(const void* p, int64_t bytes) {
  const auto holds = [&](const Allocation& a) { return p >= a.begin && static_cast<const char*>(p) + bytes <= a.begin + a.bytes; };
  if (g.last_allocation < g.allocations.size() && holds(g.allocations[g.last_allocation])) return g.allocations[g.last_allocation];
  for (size_t i = 0; i < g.allocations.size(); ++i) {
    if (!holds(g.allocations[i])) continue;
    g.last_allocation = i;
    return g.allocations[i];
  }
  fail("an access outside of every allocation in global memory");
}
inline uint32_t swizzle(uint32_t a, int bytes) {
  const uint32_t m = bytes == 128 ? 0x70 : bytes == 64 ? 0x30 : bytes == 32 ? 0x10 : 0;
  return a ^ (a >> 3 & m);
}

// ---- shared memory
inline void check_quiet(const Cta& cta, int at, int bytes, const char* how, int line = 0) {
  for (int w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
    if (cta.in_flight[static_cast<size_t>(w)] == 0) continue;
    fail(format("a %s of shared memory (byte %d) that an asynchronous copy is still writing%s", how, at,
                line == 0 ? "" : format(" (issued in line %d)", line).c_str()));
  }
}
// Before the asynchronous proxy reads.
inline void check_published(const Cta& cta, int at, int bytes, const char* how, int line) {
  check_quiet(cta, at, bytes, how, line);
  for (int w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
    if ((cta.flags[static_cast<size_t>(w)] & unpublished) == 0) continue;
    fail(format("a %s of shared memory (byte %d) that was written by ordinary accesses without a proxy fence (issued in line %d)", how, at, line));
  }
}
inline void mark_in_flight(Cta& cta, int at, int bytes, int by) {
  for (int w = at / 4; w < (at + bytes + 3) / 4; ++w) cta.in_flight[static_cast<size_t>(w)] = static_cast<uint8_t>(cta.in_flight[static_cast<size_t>(w)] + by);
}
inline void mark_unpublished(Cta& cta, int at, int bytes) {
  for (int w = at / 4; w <= (at + bytes - 1) / 4; ++w) {
    uint8_t& flags = cta.flags[static_cast<size_t>(w)];
    if ((flags & mbarrier) != 0) fail("a write over an mbarrier");
    if ((flags & unpublished) != 0) continue;
    flags |= unpublished;
    cta.dirty.push_back(w);
  }
}
// The asynchronous proxy writes.
inline void mark_published(Cta& cta, int at, int bytes) {
  for (int w = at / 4; w <= (at + bytes - 1) / 4; ++w) cta.flags[static_cast<size_t>(w)] &= static_cast<uint8_t>(~unpublished);
}

// ---- global memory that tensor maps reach
inline void global_words(const Allocation& a, const void* p, int bytes, size_t& first, size_t& last) {
  const auto at = static_cast<const char*>(p) - a.begin;
  first = static_cast<size_t>(at / 4);
  last = static_cast<size_t>((at + bytes - 1) / 4);
}
inline void global_write(const void* p, int bytes) {
  Allocation& a = allocation_of(p, bytes);
  if (!a.mapped) return;
  size_t first, last;
  for (global_words(a, p, bytes, first, last); first <= last; ++first) {
    if ((a.flags[first] & unpublished) != 0) continue;
    a.flags[first] |= unpublished;
    g.dirty.emplace_back(static_cast<size_t>(&a - g.allocations.data()), first);
  }
}
inline void check_global_published(const void* p, int bytes, const char* how, int line) {
  const Allocation& a = allocation_of(p, bytes);
  size_t first, last;
  for (global_words(a, p, bytes, first, last); a.mapped && first <= last; ++first) {
    if ((a.flags[first] & unpublished) == 0) continue;
    fail(format("a %s of global memory that was written by ordinary accesses without a proxy fence (issued in line %d)", how, line));
  }
}
inline void global_async_write(const void* p, int bytes) {
  Allocation& a = allocation_of(p, bytes);
  size_t first, last;
  for (global_words(a, p, bytes, first, last); a.mapped && first <= last; ++first) a.flags[first] &= static_cast<uint8_t>(~unpublished);
}

// ---- ordinary accesses
inline void check_access(const void* p, int bytes, const char* how) {
  const Cta& cta = *self().cta;
  const int at = smem_offset(cta, p);
  if (at < 0) {
    allocation_of(p, bytes);
    return;
  }
  if (at + bytes > g.smem_bytes) fail("an access past the end of shared memory");
  check_quiet(cta, at, bytes, how);
}
inline void store_now(Fiber& f, char* to, const void* value, int bytes) {
  Cta& cta = *f.cta;
  const int at = smem_offset(cta, to);
  if (at >= 0) {
    check_quiet(cta, at, bytes, "write");
    mark_unpublished(cta, at, bytes);
  } else {
    global_write(to, bytes);
  }
  std::memcpy(to, value, static_cast<size_t>(bytes));
}

// ---- store buffers: with weak memory a store reaches the others late and in any order, unless it is to the same place
inline void publish_store(Fiber& f, size_t which) {
  const Store s = f.stores[which];
  f.stores.erase(f.stores.begin() + static_cast<std::ptrdiff_t>(which));
  const int line = std::exchange(f.line, s.line);
  store_now(f, s.to, &s.value, s.bytes);
  f.line = line;
}
inline void publish_stores() {
  Fiber& f = self();
  while (!f.stores.empty()) {
    publish_store(f, dice(f.stores.size()));
    if (!f.stores.empty() && dice(4) == 0) maybe_yield();
  }
}
inline bool overlap(const Store& s, const void* p, int bytes) {
  return s.to < static_cast<const char*>(p) + bytes && static_cast<const char*>(p) < s.to + s.bytes;
}
// A thread sees its own stores.
inline void before_access(const void* p, int bytes) {
  Fiber& f = self();
  for (const Store& s : f.stores) {
    if (overlap(s, p, bytes)) return publish_stores();
  }
}
inline void buffer_store(char* to, const void* value, int bytes) {
  Fiber& f = self();
  before_access(to, bytes);
  f.stores.push_back({to, bytes, f.line, 0});
  std::memcpy(&f.stores.back().value, value, static_cast<size_t>(bytes));
  if (f.stores.size() > 16 || dice(8) == 0) publish_store(f, dice(f.stores.size()));
}

// ---- cp.async
inline void finish_copy(Fiber& f) {
  const CpAsync item = f.copies.front();
  f.copies.pop_front();
  if (item.kind == CpAsync::copy) {
    const int at = smem_offset(*f.cta, item.to);
    std::memcpy(item.to, item.from, static_cast<size_t>(item.bytes));
    mark_in_flight(*f.cta, at, item.bytes, -1);
    mark_unpublished(*f.cta, at, item.bytes);
  } else if (item.kind == CpAsync::arrive) {
    arrive(barrier_at(*f.cta, item.bar));
  }
}
// Each operation finishes one item of its thread, if a wait has not done so already: any copy of the current run of copies,
// an arrival when all copies before it are done.
inline void complete_copy(Fiber& f) {
  size_t i = 0, copies = 0;
  while (i < f.copies.size() && f.copies[i].kind == CpAsync::commit) ++i;
  if (i == f.copies.size()) return;
  for (size_t j = i; j < f.copies.size() && f.copies[j].kind == CpAsync::copy; ++j) ++copies;
  if (copies > 1 && g.operations == When::random) i += dice(copies);
  if (copies > 1 && g.operations == When::reverse) i += copies - 1;
  const CpAsync chosen = f.copies[i];
  f.copies.erase(f.copies.begin() + static_cast<std::ptrdiff_t>(i));
  f.copies.push_front(chosen);
  finish_copy(f);
}
inline void start_copy(CpAsync item) {
  Fiber& f = self();
  f.copies.push_back(item);
  if (item.kind == CpAsync::commit) return;
  Operation operation;
  operation.kind = Operation::cp_async;
  operation.fiber = &f;
  operation.line = f.line;
  start(std::move(operation));
}

// ---- calls
void before_load(const void* p, int bytes) {
  if (dice(16) == 0) maybe_yield();
  if (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) != 0) fail("a read of an address that is not aligned to its size");
  if (g.weak) before_access(p, bytes);
  check_access(p, bytes, "read");
}
void store(void* p, const void* value, int bytes) {
  if (dice(16) == 0) maybe_yield();
  if (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) != 0) fail("a write to an address that is not aligned to its size");
  check_access(p, bytes, "write");
  if (g.weak) return buffer_store(static_cast<char*>(p), value, bytes);
  store_now(self(), static_cast<char*>(p), value, bytes);
}
void* swizzled(void* p, int bytes) {
  char* const base = self().cta->smem;
  return base + swizzle(static_cast<uint32_t>(static_cast<char*>(p) - base), bytes);
}
void cp_async(void* to, const void* from, int bytes) {
  Cta& cta = *self().cta;
  const int at = smem_offset(cta, to);
  if (at < 0) fail("cp.async to memory that is not shared");
  if (at % bytes != 0 || reinterpret_cast<uintptr_t>(from) % static_cast<uintptr_t>(bytes) != 0) fail("cp.async with an address that is not aligned to its size");
  before_access(to, bytes);
  before_access(from, bytes);
  check_access(to, bytes, "cp.async write");
  allocation_of(from, bytes);
  mark_unpublished(cta, at, bytes);
  std::memset(to, 0xFF, static_cast<size_t>(bytes));
  mark_in_flight(cta, at, bytes, 1);
  start_copy({CpAsync::copy, static_cast<char*>(to), static_cast<const char*>(from), bytes, 0});
}
void cp_async_wait(int wanted) {
  Fiber& f = self();
  maybe_yield();
  const auto groups = [&] {
    int count = 0;
    for (const CpAsync& c : f.copies) count += c.kind == CpAsync::commit;
    return count;
  };
  while (groups() > wanted) finish_copy(f);
}

}  // namespace xrt_emu

void xrt_cp_async_commit() { xrt_emu::start_copy({xrt_emu::CpAsync::commit, nullptr, nullptr, 0, 0}); }
void xrt_mbar_arrive_cp_async(uint32_t bar) { xrt_emu::start_copy({xrt_emu::CpAsync::arrive, nullptr, nullptr, 0, bar}); }
void xrt_cp_async_wait_all() {
  xrt_emu::maybe_yield();
  while (!xrt_emu::self().copies.empty()) xrt_emu::finish_copy(xrt_emu::self());
}
void xrt_atomic_add(float* p, float value) {
  using namespace xrt_emu;
  maybe_yield();
  before_access(p, sizeof(float));
  check_access(p, sizeof(float), "reduction");
  const float sum = *p + value;
  store_now(self(), reinterpret_cast<char*>(p), &sum, sizeof(float));
}
uint32_t xrt_smem_u32(const void* p) {
  const auto& cta = *xrt_emu::self().cta;
  return static_cast<uint32_t>(cta.rank) << 24 | static_cast<uint32_t>(static_cast<const char*>(p) - cta.smem);
}
void xrt_fence_proxy_async() {
  using namespace xrt_emu;
  publish_stores();
  Cta& cta = *self().cta;
  for (const int w : cta.dirty) cta.flags[static_cast<size_t>(w)] &= static_cast<uint8_t>(~unpublished);
  cta.dirty.clear();
  for (const auto& [allocation, word] : g.dirty) g.allocations[allocation].flags[word] &= static_cast<uint8_t>(~unpublished);
  g.dirty.clear();
}
