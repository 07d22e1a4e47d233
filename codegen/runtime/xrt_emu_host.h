// Host calls and the launch of a kernel. Part of xrt_emulator.cc.
#pragma once

#include "xrt_emu_tma.h"
#include "xrt_emu_wgmma.h"

namespace xrt_emu {

// From XRT_SEED, XRT_POLICY, XRT_CLUSTERS and XRT_WEAK; the most clusters to start.
inline int64_t choose_schedule() {
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string seed = variable("XRT_SEED"), clusters = variable("XRT_CLUSTERS"), weak = variable("XRT_WEAK");
  g.seed = g.random = std::strtoull(seed.c_str(), nullptr, 10);
  if (!variable("XRT_POLICY").empty()) g.policy = variable("XRT_POLICY");
  const char* const operations[] = {"eager", "lazy", "random", "reverse"};
  const char* const threads[] = {"turns", "random", "greedy", "first", "last"};
  const size_t slash = g.policy.find('/');
  bool known = false, also_known = false;
  for (int i = 0; i < 4; ++i) {
    if (g.policy.substr(0, slash) == operations[i]) g.operations = static_cast<When>(i), known = true;
  }
  for (int i = 0; i < 5; ++i) {
    if (slash != std::string::npos && g.policy.substr(slash + 1) == threads[i]) g.threads = static_cast<Turn>(i), also_known = true;
  }
  if (!known || !also_known) fail("XRT_POLICY is not OPERATIONS/THREADS");
  g.weak = weak.empty() ? g.seed / 2 % 2 == 1 : weak != "0";
  return clusters.empty() ? 1 + static_cast<int64_t>(g.seed % 2) : std::max(1, std::atoi(clusters.c_str()));
}

// A copy to the host arrives when the host waits for the stream, unless all operations complete at once.
void copy(void* to, const void* from, int64_t bytes) {
  const auto on_device = [&](const Allocation& a) { return to >= a.begin && to < a.begin + a.bytes; };
  choose_schedule();
  if (g.operations == When::eager || std::any_of(g.allocations.begin(), g.allocations.end(), on_device)) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  const char* const source = static_cast<const char*>(from);
  g.copies_to_host.emplace_back(to, std::vector<char>(source, source + bytes));
  std::memset(to, 0xFF, static_cast<size_t>(bytes));
}
void stream_sync() {
  for (const auto& [to, bytes] : g.copies_to_host) std::memcpy(to, bytes.data(), bytes.size());
  g.copies_to_host.clear();
}

void* allocate(int64_t bytes) {
  char* p = static_cast<char*>(std::aligned_alloc(256, static_cast<size_t>((bytes + 255) / 256 * 256)));
  std::memset(p, 0xFF, static_cast<size_t>(bytes));
  Allocation allocation;
  allocation.begin = p;
  allocation.bytes = bytes;
  g.allocations.push_back(std::move(allocation));
  return p;
}
void release(void* p) {
  for (size_t i = 0; i < g.allocations.size(); ++i) {
    if (g.allocations[i].begin != p) continue;
    g.allocations.erase(g.allocations.begin() + static_cast<std::ptrdiff_t>(i));
    return std::free(p);
  }
  fail("a free of memory that is not allocated");
}

XrtTensorMap tensor_map(XrtTensorMap map) {
  const int last = map.rank - 1;
  if (reinterpret_cast<uintptr_t>(map.base) % 16 != 0) fail("a tensor map of memory that is not aligned to 16 bytes");
  for (int d = 0; d <= last; ++d) {
    if (map.extent[d] < 1) fail("a tensor map of an empty tensor");
    if (map.box[d] < 1 || map.box[d] > 256) fail("a tensor map with a box of more than 256 elements in one dimension");
    if (d < last && map.stride[d] * 4 % 16 != 0) fail("a tensor map whose rows are no multiple of 16 bytes apart");
  }
  if (map.stride[last] != 1) fail("a tensor map of rows whose elements do not lie next to each other");
  if (map.box[last] * 4 % 16 != 0) fail("a tensor map whose box rows are no multiple of 16 bytes");
  if (map.swizzle != 0 && map.box[last] * 4 > map.swizzle) fail("a tensor map whose box rows are longer than the swizzle");
  Allocation& tensor = allocation_of(map.base, 4);
  tensor.mapped = true;
  tensor.flags.assign(static_cast<size_t>(tensor.bytes / 4 + 1), 0);
  return map;
}

constexpr size_t stack_bytes = 64 * 1024;

// Nothing may be under way when a CTA ends.
inline void check_end(Cta& cta) {
  const auto copies = [](const Fiber& f) {
    for (const CpAsync& c : f.copies) {
      if (c.kind != CpAsync::commit) return true;
    }
    return false;
  };
  for (const Operation& o : g.pending) {
    if (o.kind == Operation::cp_async ? o.fiber->cta == &cta && copies(*o.fiber) : o.cta == &cta)
      fail(format("a CTA ends while an asynchronous operation on its shared memory is under way (issued in line %d)", o.line));
  }
  for (const Mbarrier& b : cta.barriers) {
    if (b.tx != 0) fail(format("%d bytes %s than announced have come to the mbarrier at byte %u", static_cast<int>(b.tx < 0 ? -b.tx : b.tx), b.tx < 0 ? "more" : "fewer", b.at));
  }
}

inline void run_fiber(boost::context::detail::transfer_t t) {
  arrived_from(t);
  Fiber& f = self();
  ++f.cta->started;
  g.body(f.cta->smem, g.args);
  if (has_accumulators(f)) fail("a thread ends with wgmma operations in flight");
  publish_stores();
  if (++f.cta->exited == g.block_dim) check_end(*f.cta);
  f.done = true;
  --g.alive;
  switch_away();
}

inline void complete(Operation& o) {
  switch (o.kind) {
    case Operation::cp_async:
      return complete_copy(*o.fiber);
    case Operation::load:
      return complete_load(o);
    case Operation::store:
      return complete_store(o);
    case Operation::wgmma:
      return complete_wgmma(o);
  }
}

static void make_cta(const Launch& k, Cluster& cluster, int rank, int block) {
  g.ctas.push_back(std::make_unique<Cta>());
  Cta& cta = *g.ctas.back();
  cluster.ctas.push_back(&cta);
  cta.rank = rank;
  cta.block = block;
  cta.memory.assign(static_cast<size_t>(k.smem_bytes) + 2048, static_cast<char>(0xFF));
  cta.smem = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(cta.memory.data()) + 1023) / 1024 * 1024);
  cta.flags.assign(static_cast<size_t>(k.smem_bytes) / 4 + 4, 0);
  cta.in_flight.assign(static_cast<size_t>(k.smem_bytes) / 4 + 4, 0);
  cta.warps.resize(static_cast<size_t>(k.block_dim / 32));
  cta.warpgroups.resize(static_cast<size_t>((k.block_dim + 127) / 128));
}

void launch(const Launch& k, int64_t tasks) {
  if (tasks <= 0) return;
  const int64_t clusters = std::min(tasks, choose_schedule());
  g.block_dim = k.block_dim;
  g.cluster_dim = k.cluster_dim;
  g.smem_bytes = k.smem_bytes;
  g.args = k.args;
  g.body = k.body;
  g.fibers.clear();
  g.ctas.clear();
  g.clusters.clear();
  const size_t count = static_cast<size_t>(clusters * k.cluster_dim * k.block_dim);
  if (g.stacks_bytes < count * stack_bytes + 64) {
    g.stacks_bytes = count * stack_bytes + 64;
    g.stacks.reset(new char[g.stacks_bytes]);
  }
  char* const stacks = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(g.stacks.get()) + 63) / 64 * 64);
  ready.start(g.threads, count);
  const int registers = std::min(255 / 8 * 8, 65536 / (k.block_dim * k.blocks_per_sm) / 8 * 8);
  for (int64_t c = 0; c < clusters; ++c) {
    g.clusters.push_back(std::make_unique<Cluster>());
    for (int rank = 0; rank < k.cluster_dim; ++rank) {
      make_cta(k, *g.clusters.back(), rank, static_cast<int>(c) * k.cluster_dim + rank);
      for (int tid = 0; tid < k.block_dim; ++tid) {
        g.fibers.push_back(std::make_unique<Fiber>());
        Fiber* f = g.fibers.back().get();
        f->cluster = g.clusters.back().get();
        f->cta = g.ctas.back().get();
        f->tid = tid;
        f->block = f->cta->block;
        f->order = static_cast<size_t>(tid * clusters * k.cluster_dim + f->cta->block);
        f->registers = registers;
        f->context = boost::context::detail::make_fcontext(stacks + g.fibers.size() * stack_bytes, stack_bytes, run_fiber);
        ready.add(f);
      }
    }
  }
  g.alive = static_cast<int>(count);
  switch_away();
  g.pending.clear();
  g.current = &g.main;
  thread = &g.main;
  for (const auto& [allocation, word] : g.dirty) g.allocations[allocation].flags[word] = 0;
  g.dirty.clear();
  g.fibers.clear();
}

int grid_blocks() { return static_cast<int>(g.ctas.size()); }

void shuffle(void* value, int bytes, int lane) {
  struct Item {
    uint64_t in, out;
    int lane;
  } item{0, 0, lane & 31};
  std::memcpy(&item.in, value, static_cast<size_t>(bytes));
  warp_rendezvous("shfl", &item, [](auto& r) {
    for (void* slot : r.slot) {
      auto* mine = static_cast<Item*>(slot);
      mine->out = static_cast<Item*>(r.slot[mine->lane])->in;
    }
  });
  std::memcpy(value, &item.out, static_cast<size_t>(bytes));
}
void setmaxnreg(int registers, bool increase) {
  Fiber& f = self();
  if (increase) {
    wait_until(f.cta->register_queue, [&] { return f.cta->registers >= registers - f.registers; }, "setmaxnreg.inc");
  } else if (f.registers < registers) {
    fail("setmaxnreg.dec to more registers than the thread has");
  }
  f.cta->registers += f.registers - registers;
  f.registers = registers;
  wake(f.cta->register_queue);
}

}  // namespace xrt_emu
