// Host calls and the launch of a kernel. Part of xrt_emulator.h.
#pragma once

#include "xrt_emu_tma.h"
#include "xrt_emu_wgmma.h"

using xrt_stream = int;

template <class T>
T* xrt_malloc_async(int64_t count, xrt_stream) {
  const int64_t bytes = (count > 0 ? count : 1) * static_cast<int64_t>(sizeof(T));
  char* p = static_cast<char*>(std::aligned_alloc(256, static_cast<size_t>((bytes + 255) / 256 * 256)));
  std::memset(p, 0xFF, static_cast<size_t>(bytes));
  xrt_emu::Allocation allocation;
  allocation.begin = p;
  allocation.bytes = bytes;
  xrt_emu::g.allocations.push_back(std::move(allocation));
  return reinterpret_cast<T*>(p);
}
inline void xrt_free_async(void* p, xrt_stream) {
  auto& all = xrt_emu::g.allocations;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].begin != p) continue;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    return std::free(p);
  }
  xrt_emu::fail("a free of memory that is not allocated");
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
  using xrt_emu::fail;
  XrtTensorMap map;
  map.swizzle = swizzle;
  map.rank = Rank;
  map.base = base;
  if (reinterpret_cast<uintptr_t>(base) % 16 != 0) fail("a tensor map of memory that is not aligned to 16 bytes");
  for (int d = 0; d < Rank; ++d) {
    map.extent[d] = extent[d];
    map.stride[d] = stride[d];
    map.box[d] = box[d];
    if (extent[d] < 1) fail("a tensor map of an empty tensor");
    if (box[d] < 1 || box[d] > 256) fail("a tensor map with a box of more than 256 elements in one dimension");
    if (d + 1 < Rank && stride[d] * 4 % 16 != 0) fail("a tensor map whose rows are no multiple of 16 bytes apart");
  }
  if (stride[Rank - 1] != 1) fail("a tensor map of rows whose elements do not lie next to each other");
  if (box[Rank - 1] * 4 % 16 != 0) fail("a tensor map whose box rows are no multiple of 16 bytes");
  if (swizzle != 0 && box[Rank - 1] * 4 > swizzle) fail("a tensor map whose box rows are longer than the swizzle");
  xrt_emu::Allocation& tensor = xrt_emu::allocation_of(base, 4);
  tensor.mapped = true;
  tensor.flags.assign(static_cast<size_t>(tensor.bytes / 4 + 1), 0);
  return map;
}

namespace xrt_emu {

constexpr size_t stack_bytes = 64 * 1024;

inline void run_fiber(boost::context::detail::transfer_t t) {
  arrived_from(t);
  Fiber& f = self();
  ++f.cta->started;
  g.body(f.cta->smem, g.args);
  if (has_accumulators(f)) fail("a thread ends with wgmma operations in flight");
  publish_stores();
  ++f.cta->exited;
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

template <class K>
void make_cta(Cluster& cluster, int rank, int block) {
  g.ctas.push_back(std::make_unique<Cta>());
  Cta& cta = *g.ctas.back();
  cluster.ctas.push_back(&cta);
  cta.rank = rank;
  cta.block = block;
  cta.memory.assign(K::kSmemBytes + 2048, static_cast<char>(0xFF));
  cta.smem = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(cta.memory.data()) + 1023) / 1024 * 1024);
  cta.flags.assign(K::kSmemBytes / 4 + 4, 0);
  cta.in_flight.assign(K::kSmemBytes / 4 + 4, 0);
  cta.warps.resize(K::kBlockDim / 32);
  cta.warpgroups.resize((K::kBlockDim + 127) / 128);
}

}  // namespace xrt_emu

template <class K>
void xrt_launch(const typename K::Args& args, int64_t tasks, xrt_stream) {
  using namespace xrt_emu;
  if (tasks <= 0) return;
  const int64_t clusters = std::min(tasks, choose_schedule());
  g.block_dim = K::kBlockDim;
  g.cluster_dim = K::kClusterDim;
  g.smem_bytes = K::kSmemBytes;
  g.args = &args;
  g.body = [](char* smem, const void* a) { K::run(smem, *static_cast<const typename K::Args*>(a)); };
  g.fibers.clear();
  g.ctas.clear();
  g.clusters.clear();
  const size_t count = static_cast<size_t>(clusters * K::kClusterDim * K::kBlockDim);
  if (g.stacks_bytes < count * stack_bytes + 64) {
    g.stacks_bytes = count * stack_bytes + 64;
    g.stacks.reset(new char[g.stacks_bytes]);
  }
  char* const stacks = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(g.stacks.get()) + 63) / 64 * 64);
  ready.start(g.threads, count);
  const int registers = std::min(255 / 8 * 8, 65536 / (K::kBlockDim * K::kBlocksPerSm) / 8 * 8);
  for (int64_t c = 0; c < clusters; ++c) {
    g.clusters.push_back(std::make_unique<Cluster>());
    for (int rank = 0; rank < K::kClusterDim; ++rank) {
      make_cta<K>(*g.clusters.back(), rank, static_cast<int>(c) * K::kClusterDim + rank);
      for (int tid = 0; tid < K::kBlockDim; ++tid) {
        g.fibers.push_back(std::make_unique<Fiber>());
        Fiber* f = g.fibers.back().get();
        f->cluster = g.clusters.back().get();
        f->cta = g.ctas.back().get();
        f->tid = tid;
        f->order = static_cast<size_t>(tid * clusters * K::kClusterDim + f->cta->block);
        f->registers = registers;
        f->context = boost::context::detail::make_fcontext(stacks + g.fibers.size() * stack_bytes, stack_bytes, run_fiber);
        ready.add(f);
      }
    }
  }
  g.alive = static_cast<int>(count);
  switch_away();
  g.current = nullptr;
  while (complete_one()) {
  }
  g.current = &g.main;
  for (const auto& [allocation, word] : g.dirty) g.allocations[allocation].flags[word] = 0;
  g.dirty.clear();
  g.fibers.clear();
}
