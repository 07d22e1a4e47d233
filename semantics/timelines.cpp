#include "semantics/timelines.hpp"

#include <algorithm>
#include <array>

#include "semantics/errors.hpp"

namespace exocheck::semantics {
namespace {

using enum Qual;

constexpr std::array<QualRecord, qual_count> quals{{
    {cpu, "cpu", "cpu_in_order_qual", true, "touched by plain CPU code"},
    {strm, "strm", "cpu_cuda_stream_qual", true, "operand of a call queued on the CUDA stream"},
    {rmem, "rmem", "cuda_in_order_rmem_qual", true, "register touched by synchronous device code"},
    {ram, "ram", "cuda_in_order_ram_qual", false,
     "shared or global memory touched by synchronous device code"},
    {mbar, "mbar", "cuda_mbarrier_qual", true, "use of an mbarrier object"},
    {cp80, "cp80", "Sm80_cp_async_qual", false, "non-bulk cp.async"},
    {g2s, "g2s", "tma_to_smem_async_qual", false, "bulk asynchronous copy into shared memory"},
    {s2g, "s2g", "tma_to_gmem_async_qual", false, "bulk asynchronous copy or reduction into global memory"},
    {wgA, "wgA", "wgmma_async_rmem_a_qual", true, "register operand A of wgmma"},
    {wgD, "wgD", "wgmma_async_rmem_d_qual", true, "register operand D of wgmma"},
    {wgS, "wgS", "wgmma_async_smem_qual", false, "shared-memory operand of wgmma"},
    {wg0, "wg0", "wgmma_zero_qual", true, "the pseudo write of D that sets scale-d to zero"},
    {async, "async", "cuda_async_proxy_retired_qual", false,
     "retired access made visible to the async proxy"},
}};

constexpr QualSet device{strm, rmem, ram, cp80, g2s, s2g, wgA, wgD, wgS};
constexpr QualSet temporal_p = device | QualSet{wg0};
constexpr QualSet temporal_r{rmem, ram, mbar, async, wg0};
constexpr QualSet none{};

constexpr std::array sync_p{
    SyncTimeline{SyncTl::empty_sync_tl, "empty_sync_tl", false, none, none},
    SyncTimeline{SyncTl::cpu_in_order, "cpu_in_order", true, {cpu}, {cpu}},
    SyncTimeline{SyncTl::cuda_stream_sync, "cuda_stream_sync", true, device, device},
    SyncTimeline{SyncTl::cuda_in_order, "cuda_in_order", true, {rmem, ram}, temporal_p},
    SyncTimeline{SyncTl::cuda_temporal, "cuda_temporal", false, none, temporal_p},
    SyncTimeline{SyncTl::Sm80_cp_async, "Sm80_cp_async", false, {cp80}, {cp80}},
    SyncTimeline{SyncTl::Sm80_generic, "Sm80_generic", false, {rmem, ram, cp80}, temporal_p},
    SyncTimeline{SyncTl::tma_to_smem_async, "tma_to_smem_async", false, {g2s}, {g2s}},
    SyncTimeline{SyncTl::tma_to_gmem_async, "tma_to_gmem_async", false, {s2g}, {s2g}},
    SyncTimeline{SyncTl::wgmma_async_smem, "wgmma_async_smem", false, {wgS}, {wgS}},
    SyncTimeline{SyncTl::wgmma_fence_1, "wgmma_fence_1", false, {rmem, wgA, wgD}, {rmem, wgA, wgD}},
    SyncTimeline{SyncTl::wgmma_fence_2, "wgmma_fence_2", false, {wgA, wgD}, {wgA, wgD}},
    SyncTimeline{SyncTl::wgmma_async, "wgmma_async", false, {wgA, wgD, wgS}, {wgA, wgD, wgS}},
    SyncTimeline{SyncTl::cuda_async_proxy, "cuda_async_proxy", false, async_proxy_quals, async_proxy_quals},
    SyncTimeline{SyncTl::cuda_async_proxy_wgmma, "cuda_async_proxy_wgmma", false,
                 async_proxy_quals | QualSet{wgA, wgD}, async_proxy_quals | QualSet{wgA, wgD}},
    SyncTimeline{SyncTl::cuda_generic_and_async_proxy, "cuda_generic_and_async_proxy", false,
                 async_proxy_quals | QualSet{rmem, ram, cp80}, temporal_p},
};

constexpr QualSet stream_r = device | QualSet{mbar, async};
constexpr std::array sync_r{
    SyncTimeline{SyncTl::empty_sync_tl, "empty_sync_tl", false, none, none},
    SyncTimeline{SyncTl::cpu_in_order, "cpu_in_order", false, {cpu}, {cpu}},
    SyncTimeline{SyncTl::cuda_stream_sync, "cuda_stream_sync", false, stream_r, stream_r},
    SyncTimeline{SyncTl::cuda_in_order, "cuda_in_order", false, {rmem, ram, mbar}, temporal_r},
    SyncTimeline{SyncTl::cuda_temporal, "cuda_temporal", false, {mbar}, temporal_r},
    SyncTimeline{SyncTl::Sm80_cp_async, "Sm80_cp_async", false, {cp80, mbar}, {cp80, mbar}},
    SyncTimeline{
        SyncTl::Sm80_generic, "Sm80_generic", false, {rmem, ram, mbar, cp80}, temporal_r | QualSet{cp80}},
    SyncTimeline{SyncTl::tma_to_smem_async, "tma_to_smem_async", false, {g2s}, {g2s}},
    SyncTimeline{SyncTl::tma_to_gmem_async, "tma_to_gmem_async", false, {s2g}, {s2g}},
    SyncTimeline{SyncTl::wgmma_async_smem, "wgmma_async_smem", false, {wgS}, {wgS}},
    SyncTimeline{SyncTl::wgmma_fence_1, "wgmma_fence_1", false, {rmem, wgA, wgD}, {rmem, wgA, wgD}},
    SyncTimeline{SyncTl::wgmma_fence_2, "wgmma_fence_2", false, {wgA, wgD}, {wgA, wgD}},
    SyncTimeline{SyncTl::wgmma_async, "wgmma_async", false, {wgA, wgD, wgS}, {wgA, wgD, wgS}},
    SyncTimeline{SyncTl::cuda_generic_and_async_proxy,
                 "cuda_generic_and_async_proxy",
                 false,
                 {rmem, ram, mbar, async},
                 temporal_r},
    SyncTimeline{SyncTl::tcgen05_commit, "tcgen05_commit", false, none, none},
    SyncTimeline{SyncTl::tcgen05_ld, "tcgen05_ld", false, none, none},
    SyncTimeline{SyncTl::tcgen05_st, "tcgen05_st", false, none, none},
};

constexpr std::array<std::string_view, 13> instr_names{
    "cpu_in_order_instr",      "cpu_cuda_stream_instr",   "cuda_in_order_instr", "Sm80_cp_async_instr",
    "tma_to_smem_async_instr", "tma_to_gmem_async_instr", "wgmma_async_instr",   "wgmma_zero_instr",
    "tcgen05_mma_instr",       "tcgen05_cp_instr",        "tcgen05_shift_instr", "tcgen05_ld_instr",
    "tcgen05_st_instr",
};

const SyncTimeline* find(Dialect d, SyncTl t) {
  const auto table = all_sync_timelines(d);
  const auto it = std::find_if(table.begin(), table.end(), [t](const SyncTimeline& s) { return s.id == t; });
  return it == table.end() ? nullptr : &*it;
}

}  // namespace

std::vector<Qual> QualSet::members() const {
  std::vector<Qual> out;
  for (const QualRecord& r : quals) {
    if (contains(r.qual)) out.push_back(r.qual);
  }
  return out;
}

const QualRecord& qual_record(Qual q) { return quals[static_cast<std::size_t>(q)]; }
std::span<const QualRecord> all_quals() { return quals; }

std::string_view name(InstrTimeline t) { return instr_names[static_cast<std::size_t>(t)]; }

std::optional<InstrTimeline> find_instr_timeline(std::string_view name) {
  for (std::size_t i = 0; i < instr_names.size(); ++i) {
    if (name == instr_names[i]) return static_cast<InstrTimeline>(i);
  }
  // A sync timeline that stands for exactly one instruction timeline.
  for (const std::string_view alias : {"cpu_in_order", "cuda_in_order", "Sm80_cp_async", "tma_to_smem_async",
                                       "tma_to_gmem_async", "wgmma_async", "tcgen05_ld", "tcgen05_st"}) {
    if (name == alias) return find_instr_timeline(std::string(name) + "_instr");
  }
  return std::nullopt;
}

bool is_cpu(InstrTimeline t) {
  return t == InstrTimeline::cpu_in_order || t == InstrTimeline::cpu_cuda_stream;
}

bool is_in_order(InstrTimeline t) {
  return t == InstrTimeline::cpu_in_order || t == InstrTimeline::cuda_in_order;
}

std::string_view name(SyncTl t) {
  if (const SyncTimeline* s = find(Dialect::P, t)) return s->name;
  return sync_timeline(Dialect::R, t).name;
}

std::optional<SyncTl> find_sync_timeline(std::string_view name) {
  for (const Dialect d : {Dialect::P, Dialect::R}) {
    for (const SyncTimeline& s : all_sync_timelines(d)) {
      if (s.name == name) return s.id;
    }
  }
  return std::nullopt;
}

bool exists(Dialect d, SyncTl t) { return find(d, t) != nullptr; }

const SyncTimeline& sync_timeline(Dialect d, SyncTl t) {
  const SyncTimeline* s = find(d, t);
  ensure(s != nullptr, "sync timeline of the other dialect");
  return *s;
}

std::span<const SyncTimeline> all_sync_timelines(Dialect d) {
  if (d == Dialect::P) return sync_p;
  return sync_r;
}

bool covers_as_second(Dialect d, SyncTl a, SyncTl b) {
  const SyncTimeline& outer = sync_timeline(d, a);
  const SyncTimeline& inner = sync_timeline(d, b);
  return outer.full.contains(inner.full) && outer.temporal.contains(inner.temporal);
}

bool covers_as_first(Dialect d, SyncTl a, SyncTl b) {
  if (!covers_as_second(d, a, b)) return false;
  return d == Dialect::R || sync_timeline(d, a).transitive || !sync_timeline(d, b).transitive;
}

}  // namespace exocheck::semantics
