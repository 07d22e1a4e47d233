#include "analysis/sync_legality.hpp"

#include "analysis/ring.hpp"
#include "semantics/units.hpp"

namespace exocheck::analysis {

using semantics::Dialect;
using semantics::LoweredBarrier;
using semantics::SyncTl;

namespace {

// Their QualTLs are not modelled, so the set comparisons would accept them.
bool tensor_memory(SyncTl t) {
  return t == SyncTl::tcgen05_commit || t == SyncTl::tcgen05_ld || t == SyncTl::tcgen05_st;
}

bool covers_first(Dialect d, SyncTl a, SyncTl b) {
  return !tensor_memory(b) && semantics::covers_as_first(d, a, b);
}
bool covers_second(Dialect d, SyncTl a, SyncTl b) {
  return !tensor_memory(b) && semantics::covers_as_second(d, a, b);
}

}  // namespace

bool fence_accepts_first(Dialect dialect, SyncTl first) {
  return covers_first(dialect, SyncTl::cuda_in_order, first) ||
         covers_first(dialect, SyncTl::Sm80_generic, first);
}

bool mbarrier_accepts_first(Dialect dialect, SyncTl first) {
  return covers_first(dialect, SyncTl::cuda_in_order, first) ||
         covers_first(dialect, SyncTl::Sm80_cp_async, first);
}

bool accepts_second(Dialect dialect, SyncTl second) {
  const SyncTl generic = dialect == Dialect::P ? SyncTl::Sm80_generic : SyncTl::cuda_in_order;
  return covers_second(dialect, generic, second) ||
         covers_second(dialect, SyncTl::cuda_generic_and_async_proxy, second);
}

bool cp_async_second(Dialect dialect, SyncTl second) {
  return !accepts_second(dialect, second) && covers_second(dialect, SyncTl::Sm80_generic, second);
}

bool commit_group_accepts_second(Dialect dialect, LoweredBarrier kind, SyncTl second) {
  if (kind == LoweredBarrier::sm80_commit_group) {
    return covers_second(dialect, dialect == Dialect::P ? SyncTl::Sm80_generic : SyncTl::cuda_in_order,
                         second);
  }
  return covers_second(dialect, SyncTl::cuda_generic_and_async_proxy, second);
}

std::optional<FenceScope> fence_scope(const TilingPtr& tiling, Dialect dialect, SyncTl second) {
  if (tiling->geometry.cluster_dim > 1 && matches(tiling, semantics::unit_cluster()))
    return FenceScope::cluster;
  if (matches(tiling, semantics::unit_standalone_thread())) return FenceScope::thread;
  if (matches(tiling, semantics::unit_warp())) return FenceScope::warp;
  if (matches(tiling, semantics::unit_cta())) return FenceScope::cta;
  if (dialect == Dialect::P && matches(tiling, semantics::unit_warpgroup()) &&
      covers_second(dialect, SyncTl::wgmma_async_smem, second)) {
    return FenceScope::warpgroup;
  }
  return std::nullopt;
}

void check_sync_legality(PassContext& context) {
  check_sync_statements(context);
  check_ring_shapes(context);
  check_shapes(context);
  check_live_resources(context);
}

}  // namespace exocheck::analysis
