#include "analysis/collective_fence.hpp"

#include "semantics/errors.hpp"

namespace exocheck::analysis {

const char* name(FenceScope scope) {
  switch (scope) {
    case FenceScope::cluster:
      return "cluster";
    case FenceScope::thread:
      return "thread";
    case FenceScope::warp:
      return "warp";
    case FenceScope::cta:
      return "CTA";
  }
  throw semantics::InternalError("unknown fence scope");
}

std::optional<FenceScope> classify_fence_scope(const TilingPtr& tiling) {
  if (tiling->geometry.cluster_dim > 1 && matches(tiling, semantics::unit_cluster()))
    return FenceScope::cluster;
  if (matches(tiling, semantics::unit_thread())) return FenceScope::thread;
  if (matches(tiling, semantics::unit_warp())) return FenceScope::warp;
  if (matches(tiling, semantics::unit_cta())) return FenceScope::cta;
  return std::nullopt;
}

}  // namespace exocheck::analysis
