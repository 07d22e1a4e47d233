// Fence, Arrive and Await (codegen.md 11; decisions.md M, P3-P6).
#include <algorithm>

#include "codegen/kernel_emitter.hpp"
#include "semantics/errors.hpp"

namespace exocheck::codegen {

using semantics::Dialect;
using semantics::LoweredBarrier;
using semantics::SyncTl;

const BarrierPlan& KernelEmitter::plan_of(SymId var) const {
  return *std::find_if(barriers_.begin(), barriers_.end(),
                       [&](const BarrierPlan& p) { return p.var == var; });
}

void KernelEmitter::fence(const ir::Fence& fence, const ir::Stmt& stmt) {
  const analysis::TilingPtr& tiling = cx_.facts.tiling_of(stmt.id);
  const analysis::Geometry& geometry = tiling->geometry;
  out_.line(cx_.marker(stmt));
  if (fence.first == SyncTl::wgmma_fence_1) return out_.line("xrt_wgmma_fence();");
  if (!semantics::covers_as_first(Dialect::P, SyncTl::cuda_in_order, fence.first))
    out_.line("xrt_cp_async_wait_all();");
  const bool proxy = needs_proxy_fence(fence.first, fence.second);
  if (proxy) proxy_fence();
  if (geometry.cluster_dim > 1 && tiling->threads() == geometry.threads()) {
    out_.line("xrt_cluster_arrive();");
    out_.line("xrt_cluster_wait();");
  } else if (tiling->threads() == 1) {
    return;
  } else if (analysis::matches(tiling, semantics::unit_warp())) {
    out_.line("xrt_syncwarp();");
  } else if (tiling->threads() == geometry.block_dim && analysis::matches(tiling, semantics::unit_cta())) {
    out_.line("xrt_bar_cta();");
  } else if (analysis::matches(tiling, semantics::unit_warpgroup())) {
    if (geometry.block_dim > 128 * 15)
      cx_.unsupported(stmt.span, "a Fence of a warpgroup in a CTA of more than 15");
    out_.line("xrt_bar_named(1 + tid / 128, 128);");
  } else {
    cx_.unsupported(stmt.span, "a Fence of this collective");
  }
  if (proxy) proxy_fence();
}

// Shared address of the first barrier of the slice that a barrier expression names.
std::string KernelEmitter::slice_text(const BarrierPlan& plan, const ir::BarrierExpr& barrier) const {
  std::string slice;
  for (std::size_t d = 0; d < barrier.index.size(); ++d) {
    const std::int64_t pitch = cx_.pitch(plan.var, static_cast<int>(d));
    if (pitch <= 0 || pitch >= launch_.geometry.block_dim) continue;
    const std::int64_t extent = cx_.constant_extent(plan.var, static_cast<int>(d));
    const std::string index = control_text(cx_, *barrier.index[d].lo);
    slice = slice.empty() ? index : fmt::format("{} * {} + {}", grouped(slice), extent, index);
  }
  const std::string& base = barrier_names_.at(plan.var);
  return slice.empty() ? base : fmt::format("{} + {} * {}", base, 8 * plan.depth, grouped(slice));
}

void KernelEmitter::arrive(const ir::Arrive& arrive, const ir::Stmt& stmt) {
  const BarrierPlan& plan = plan_of(arrive.targets.front().var);
  out_.line(cx_.marker(stmt));
  switch (plan.lowered) {
    case LoweredBarrier::sm80_commit_group:
      return out_.line("xrt_cp_async_commit();");
    case LoweredBarrier::tma_commit_group:
      return out_.line("xrt_bulk_commit();");
    case LoweredBarrier::wgmma_commit_group:
      return out_.line("xrt_wgmma_commit();");
    case LoweredBarrier::cluster_sync:
      if (!semantics::covers_as_first(Dialect::P, SyncTl::cuda_in_order, arrive.first))
        out_.line("xrt_cp_async_wait_all();");
      if (plan.proxy_fence) proxy_fence();
      return out_.line("xrt_cluster_arrive();");
    case LoweredBarrier::mbarrier:
      break;
  }
  if (plan.proxy_fence) proxy_fence();
  const std::string ring = "sync." + constants_.at(plan.var).substr(2);
  const std::string slot =
      fmt::format("xrt_ring_slot({}, {})", ring, slice_text(plan, arrive.targets.front()));
  if (!semantics::covers_as_first(Dialect::P, SyncTl::cuda_in_order, arrive.first)) {
    if (plan.targets.size() > 1) cx_.unsupported(stmt.span, "a cp.async arrival at other CTAs");
    out_.line(fmt::format("xrt_mbar_arrive_cp_async({});", slot));
  } else {
    for (const std::int64_t target : plan.targets) {
      out_.line(target == 0 ? fmt::format("xrt_mbar_arrive<{}>({});", plan.across_ctas, slot)
                            : fmt::format("xrt_mbar_arrive_remote({}, uint32_t(cta ^ {}));", slot, target));
    }
  }
  out_.line(fmt::format("xrt_ring_advance({});", ring));
}

void KernelEmitter::await(const ir::Await& await, const ir::Stmt& stmt) {
  const BarrierPlan& plan = plan_of(await.barrier.var);
  out_.line(cx_.marker(stmt));
  switch (plan.lowered) {
    case LoweredBarrier::sm80_commit_group:
      return out_.line(fmt::format("xrt_cp_async_wait<{}>();", await.n));
    case LoweredBarrier::tma_commit_group:
      return out_.line(fmt::format("xrt_bulk_wait<{}>();", await.n));
    case LoweredBarrier::wgmma_commit_group:
      return out_.line(fmt::format("xrt_wgmma_wait<{}>();", await.n));
    case LoweredBarrier::cluster_sync:
      out_.line("xrt_cluster_wait();");
      if (plan.proxy_fence) proxy_fence();
      return;
    case LoweredBarrier::mbarrier:
      break;
  }
  const std::string wait = fmt::format("xrt_ring_wait<{}>(sync.{}, {})", plan.across_ctas,
                                       constants_.at(plan.var).substr(2), slice_text(plan, await.barrier));
  out_.line(plan.proxy_fence ? fmt::format("if ({}) xrt_fence_proxy_async();", wait) : wait + ";");
}

}  // namespace exocheck::codegen
