// State of the emulated GPU. Part of xrt_emulator.cc.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "xrt_emulator.h"

namespace xrt_emu {

struct Fiber;

// Fibers that wait for one thing.
struct Queue {
  std::vector<Fiber*> fibers;
};

struct Mbarrier {
  uint32_t at = 0;  // offset in shared memory
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

// 64 x n registers of a warpgroup while wgmma operations write them; the threads' own copies hold NaN meanwhile.
struct Accumulator {
  int n = 0, members = 0;
  float* registers[128] = {};  // null: the thread has its values back, or never was here
  std::vector<float> value;    // row-major
  uint64_t last = 0;           // number of the last operation on it
};

// One wgmma of a warpgroup; runs when all 128 threads have issued it and those before it are done.
struct Wgmma {
  int n = 0, issued = 0, line = 0;
  uint64_t a = 0, b = 0;
  int scale_d = 0;
  Accumulator* accumulator = nullptr;
  std::vector<float> left, right;  // operands when it was issued: 64 x 8, n x 8
};

struct Warpgroup {
  std::deque<Wgmma> operations;  // issued by somebody, not complete
  uint64_t complete = 0;         // number of completed operations
  std::vector<std::unique_ptr<Accumulator>> accumulators;
  Queue queue;
};

// What is known of 4 bytes of memory.
enum : uint8_t {
  unpublished = 1,  // written by ordinary accesses, and the asynchronous proxy has not been told
  mbarrier = 2,     // part of an mbarrier
};

struct Cta {
  int rank = 0, block = 0, started = 0, exited = 0;
  std::vector<char> memory;               // with slack for the alignment
  char* smem = nullptr;
  std::vector<uint8_t> flags, in_flight;  // per 4 bytes; copies that will write them
  std::vector<int> dirty;                 // words with `unpublished`
  std::deque<Mbarrier> barriers;
  std::vector<int> barrier_at;  // by offset / 8: position in barriers, or -1
  std::map<int, Rendezvous> named;
  std::vector<Rendezvous> warps;
  std::deque<Warpgroup> warpgroups;
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

// A store that other threads do not see yet.
struct Store {
  char* to = nullptr;
  int bytes = 0, line = 0;
  uint64_t value = 0;
};

struct Fiber : Thread {
  boost::context::detail::fcontext_t context = nullptr;
  Cluster* cluster = nullptr;
  Cta* cta = nullptr;
  size_t order = 0;  // among all, by tid
  bool done = false;
  // what it waits for: text with at most two numbers
  const char* waits_for = "";
  uint32_t wait_numbers[2] = {};
  std::vector<uint32_t> waited;  // phases of each mbarrier that this thread has waited for
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
  int registers = 0;
  std::vector<Store> stores;
};

// An asynchronous operation, or a part of one.
struct Operation {
  enum Kind { cp_async, load, store, wgmma } kind = cp_async;
  Fiber* fiber = nullptr;  // that issued it
  Cta* cta = nullptr;      // whose shared memory it touches
  int line = 0;
  // bulk tensor copies: rows first .. last - 1 of the box at c
  const XrtTensorMap* map = nullptr;
  int c[5] = {};
  int at = 0, first = 0, last = 0;
  uint32_t bar = 0;
  bool reduce = false;
  size_t group = 0;
  std::shared_ptr<std::vector<char>> source;
  size_t warpgroup = 0;
};

// Global memory.
struct Allocation {
  char* begin = nullptr;
  int64_t bytes = 0;
  bool mapped = false;         // the asynchronous proxy can reach it
  std::vector<uint8_t> flags;  // per 4 bytes, if mapped
};

enum class When { eager, lazy, random, reverse };
enum class Turn { turns, random, greedy, first, last };

struct Grid {
  Fiber main;  // what called the kernel
  Fiber* current = &main;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Operation> pending;
  int alive = 0, block_dim = 0, cluster_dim = 0, smem_bytes = 0;
  uint64_t seed = 0, random = 0;
  std::string policy = "random/random";
  When operations = When::random;
  Turn threads = Turn::random;
  bool weak = false;
  void (*body)(char*, const void*) = nullptr;
  const void* args = nullptr;
  std::vector<Allocation> allocations;
  std::vector<std::pair<void*, std::vector<char>>> copies_to_host;
  size_t last_allocation = 0;                                  // found by the last look
  std::vector<std::pair<size_t, size_t>> dirty;                // words of mapped allocations, as in Cta
  std::unique_ptr<char[]> stacks;
  size_t stacks_bytes = 0;
};
static Grid g;
Thread* thread = &g.main;

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "xrt: %s\n", what.c_str());
  if (g.current != nullptr && g.current->cta != nullptr) {
    std::fprintf(stderr, "xrt: CTA %d (rank %d), thread %d, program line %d\n", g.current->block, g.current->cta->rank, g.current->tid, g.current->line);
  }
  std::fprintf(stderr, "xrt: XRT_SEED=%llu XRT_POLICY=%s\n", static_cast<unsigned long long>(g.seed), g.policy.c_str());
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

inline Fiber& self() { return *g.current; }

// A number below n, which is below 2^32 (splitmix64).
inline uint64_t dice(uint64_t n) {
  uint64_t z = g.random += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return ((z ^ z >> 31) >> 32) * n >> 32;
}

}  // namespace xrt_emu
