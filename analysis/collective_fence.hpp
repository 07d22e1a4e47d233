// Which hardware synchronization a Fence at this collective can be (decisions.md M6 - M8).
#pragma once

#include <optional>

#include "analysis/collective.hpp"

namespace exocheck::analysis {

enum class FenceScope { cluster, thread, warp, cta };
const char* name(FenceScope scope);

// The first match in the order cluster (only if clusterDim > 1), thread, warp, CTA; nullopt: E-S05, unless
// the fence is one of the warpgroup fences of decisions.md M7 or a wgmma fence.
std::optional<FenceScope> classify_fence_scope(const TilingPtr& tiling);

}  // namespace exocheck::analysis
