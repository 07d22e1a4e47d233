// Legality of Fence, Arrive and Await as hardware instructions (language.md 10.2, 10.5; decisions.md M).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/collective.hpp"
#include "analysis/passes.hpp"

namespace exocheck::analysis {

// What a garden fence is in hardware; `warpgroup` is the special case of P (decisions.md M7).
enum class FenceScope { thread, warp, warpgroup, cta, cluster };

// Kind of fence for the threads that execute it (decisions.md M6-M8); nullopt: none, E-S05. `second` matters
// for the warpgroup only.
std::optional<FenceScope> fence_scope(const TilingPtr& tiling, semantics::Dialect dialect,
                                      semantics::SyncTl second);

// First timelines of fences and cluster syncs, and of mbarrier Arrives (decisions.md M1, M3).
bool fence_accepts_first(semantics::Dialect dialect, semantics::SyncTl first);
bool mbarrier_accepts_first(semantics::Dialect dialect, semantics::SyncTl first);
// Second timelines of fences, cluster syncs and mbarriers (decisions.md M5).
bool accepts_second(semantics::Dialect dialect, semantics::SyncTl second);
// Second timelines that wait for cp.async, which fences of R cannot publish (E-S03).
bool cp_async_second(semantics::Dialect dialect, semantics::SyncTl second);
// Second timelines of a commit group of the given kind.
bool commit_group_accepts_second(semantics::Dialect dialect, semantics::LoweredBarrier kind,
                                 semantics::SyncTl second);

// E-S01 .. E-S06, E-S10 .. E-S14, E-S20 .. E-S22, E-U10: one statement at a time.
void check_sync_statements(PassContext& context);
// E-U17: solitary barriers live together, a cluster fence against a live cluster sync; W-M20: shared memory
// in use.
void check_live_resources(PassContext& context);
// E-M10 .. E-M12, E-M14, E-U21: shapes that must be constant, or 1.
void check_shapes(PassContext& context);

}  // namespace exocheck::analysis
