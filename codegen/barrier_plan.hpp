// What the barriers of a kernel become (codegen.md 10, 11; decisions.md P3, P4, P6, P7).
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/kernel_context.hpp"

namespace exocheck::codegen {

// Does data written or read by ordinary accesses become visible to the asynchronous proxy here (decisions.md
// M9)?
bool needs_proxy_fence(semantics::SyncTl first, semantics::SyncTl second);

struct BarrierPlan {
  SymId var{};
  semantics::LoweredBarrier lowered{};
  semantics::SyncTl first{}, second{};  // of its Arrives and of its Awaits
  bool proxy_fence = false;             // around this barrier

  // mbarriers
  std::int64_t depth = 1;             // physical barriers per slice
  std::int64_t lag = 0;               // waits that return at once
  std::int64_t slices = 1;            // per CTA
  std::vector<std::int64_t> targets;  // an Arrive signals the CTAs of rank `own ^ target`
  std::int64_t arrivals = 0;          // per phase
  bool named_by_copy = false;
  bool across_ctas = false;  // cluster scope
  std::int64_t offset = 0;   // in shared memory
  bool mbarrier() const { return lowered == semantics::LoweredBarrier::mbarrier; }
  std::int64_t bytes() const { return 8 * slices * depth; }
};

// All barriers of the kernel, in declaration order; mbarriers lie one after the other from offset 0.
std::vector<BarrierPlan> plan_barriers(const Context& cx, const ir::Block& body,
                                       const analysis::Geometry& geometry);

// The ranks, relative to the own one, of the CTAs that a barrier expression names: 0 alone without a
// multicast interval.
std::vector<std::int64_t> named_ctas(const Context& cx, const ir::BarrierExpr& barrier,
                                     const analysis::Geometry& geometry);

}  // namespace exocheck::codegen
