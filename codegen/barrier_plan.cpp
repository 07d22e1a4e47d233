#include "codegen/barrier_plan.hpp"

#include <algorithm>
#include <set>

#include "semantics/timelines.hpp"

namespace exocheck::codegen {

using semantics::Dialect;
using semantics::LoweredBarrier;
using semantics::Qual;
using semantics::QualSet;

bool needs_proxy_fence(semantics::SyncTl first, semantics::SyncTl second) {
  const QualSet from = semantics::sync_timeline(Dialect::P, first).full;
  const QualSet to = semantics::sync_timeline(Dialect::P, second).full;
  return from.meets({Qual::ram, Qual::cp80}) && to.meets(semantics::async_proxy_quals);
}

std::vector<std::int64_t> named_ctas(const Context& cx, const ir::BarrierExpr& barrier,
                                     const analysis::Geometry& geometry) {
  std::vector<std::int64_t> ranks{0};
  for (std::size_t d = 0; d < barrier.index.size(); ++d) {
    if (!barrier.index[d].interval()) continue;
    const std::int64_t extent = cx.constant_extent(barrier.var, static_cast<int>(d));
    if (extent == 1) continue;
    const std::int64_t pitch = cx.pitch(barrier.var, static_cast<int>(d));
    if (pitch < geometry.block_dim || pitch % geometry.block_dim != 0) {
      cx.unsupported(barrier.span, "a multicast that does not run over CTAs");
    }
    std::vector<std::int64_t> more;
    for (std::int64_t a = 0; a < extent; ++a) {
      for (const std::int64_t r : ranks) more.push_back(r + a * (pitch / geometry.block_dim));
    }
    ranks = std::move(more);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

namespace {

void plan_mbarrier(const Context& cx, const analysis::Geometry& geometry, BarrierPlan& plan) {
  const analysis::BarrierFacts& facts = cx.facts.barrier.at(plan.var);
  const ir::Symbol& symbol = cx.symbol(plan.var);
  plan.depth = facts.ring_depth;
  if (plan.depth > 32)
    cx.refuse("C-02", symbol.span,
              fmt::format("{} needs a ring of {} mbarriers; 32 are possible", symbol.name, plan.depth));
  plan.lag = -1 - facts.await_n.value_or(-1);
  for (int d = 0; d < symbol.rank(); ++d) {
    const std::int64_t pitch = cx.pitch(plan.var, d);
    if (pitch > 0 && pitch < geometry.block_dim) plan.slices *= cx.constant_extent(plan.var, d);
  }
}

}  // namespace

std::vector<BarrierPlan> plan_barriers(const Context& cx, const ir::Block& body,
                                       const analysis::Geometry& geometry) {
  std::vector<BarrierPlan> plans;
  const auto plan_of = [&](SymId var) -> BarrierPlan& {
    return *std::find_if(plans.begin(), plans.end(), [&](const BarrierPlan& p) { return p.var == var; });
  };
  std::map<SymId, std::set<std::int64_t>> targets;
  ir::for_each_stmt(body, [&](const ir::Stmt& s) {
    if (const auto* alloc = std::get_if<ir::Alloc>(&s.node)) {
      if (cx.symbol(alloc->var).kind != ir::SymbolKind::barrier) return;
      BarrierPlan plan;
      plan.var = alloc->var;
      plan.lowered = cx.facts.barrier.at(alloc->var).lowered;
      if (plan.mbarrier()) plan_mbarrier(cx, geometry, plan);
      plans.push_back(plan);
    } else if (const auto* arrive = std::get_if<ir::Arrive>(&s.node)) {
      BarrierPlan& plan = plan_of(arrive->targets.front().var);
      plan.first = arrive->first;
      if (!plan.mbarrier()) return;
      for (const ir::BarrierExpr& e : arrive->targets) {
        for (const std::int64_t rank : named_ctas(cx, e, geometry)) targets[plan.var].insert(rank);
      }
      plan.arrivals = cx.facts.tiling_of(s.id)->threads();
    } else if (const auto* await = std::get_if<ir::Await>(&s.node)) {
      plan_of(await->barrier.var).second = await->second;
    } else if (const auto* call = std::get_if<ir::Call>(&s.node); call != nullptr && call->trailing) {
      BarrierPlan& plan = plan_of(call->trailing->var);
      plan.named_by_copy = true;
      if (named_ctas(cx, *call->trailing, geometry).size() > 1) plan.across_ctas = true;
    }
  });
  std::int64_t offset = 0;
  for (BarrierPlan& plan : plans) {
    const bool commit_group =
        plan.lowered != LoweredBarrier::mbarrier && plan.lowered != LoweredBarrier::cluster_sync;
    plan.proxy_fence = !commit_group && needs_proxy_fence(plan.first, plan.second);
    if (!plan.mbarrier()) continue;
    plan.targets.assign(targets[plan.var].begin(), targets[plan.var].end());
    plan.arrivals *= static_cast<std::int64_t>(plan.targets.size());
    plan.across_ctas = plan.across_ctas || plan.targets.size() > 1;
    if (plan.arrivals < 1 || plan.arrivals >= 1 << 20) {
      cx.refuse("C-02", cx.symbol(plan.var).span,
                fmt::format("{} needs {} arrivals per phase; an mbarrier counts 1 to 1048575",
                            cx.symbol(plan.var).name, plan.arrivals));
    }
    plan.offset = offset;
    offset += plan.bytes();
  }
  return plans;
}

}  // namespace exocheck::codegen
