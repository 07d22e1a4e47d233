#include "analysis/collective_barriers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::analysis {
namespace {

using semantics::Dialect;
using semantics::MechanismKind;
using semantics::Role;

std::optional<CollUnit> lowered_unit(LoweredBarrier lowered) {
  switch (lowered) {
    case LoweredBarrier::mbarrier:
      return std::nullopt;
    case LoweredBarrier::sm80_commit_group:
      return semantics::unit_thread();
    case LoweredBarrier::tma_commit_group:
      return semantics::unit_warp();
    case LoweredBarrier::wgmma_commit_group:
      return semantics::unit_warpgroup();
    case LoweredBarrier::cluster_sync:
      return semantics::unit_cluster();
  }
  throw semantics::InternalError("unknown lowered barrier");
}

// The same threads for every value of the iterators, as far as the first thread and the shape tell.
bool same_threads(const TilingPtr& a, const TilingPtr& b) {
  if (base_thread(*a) != base_thread(*b)) return false;
  const auto domain = common_domain(a->domain(), b->domain());
  if (std::holds_alternative<Failure>(domain)) return false;
  const auto fine_a = refine(a, std::get<0>(domain));
  const auto fine_b = refine(b, std::get<0>(domain));
  if (std::holds_alternative<Failure>(fine_a) || std::holds_alternative<Failure>(fine_b)) return false;
  return std::get<TilingPtr>(fine_a)->box() == std::get<TilingPtr>(fine_b)->box();
}

// Pitches that tell elements apart, in any order: dimensions of one element have pitch 0.
std::vector<std::int64_t> distinguishing(std::vector<std::int64_t> pitches) {
  std::erase(pitches, 0);
  std::sort(pitches.begin(), pitches.end());
  return pitches;
}

const char* word(BarrierConsistency::Kind kind) {
  return kind == BarrierConsistency::Kind::arrive ? "Arrive" : "Await";
}

}  // namespace

std::optional<CollUnit> sync_unit(const semantics::ir::Symbol& barrier, const Facts& facts, SymId var,
                                  Dialect dialect) {
  switch (barrier.mechanism->kind) {
    case MechanismKind::CudaMbarrier:
    case MechanismKind::CudaMbarrierPreArrive:
      return semantics::unit_agnostic_sub_cta();
    case MechanismKind::Sm80_CommitGroup:
      return semantics::unit_thread();
    case MechanismKind::Sm90_TmaCommitGroup:
      return semantics::unit_warp();
    case MechanismKind::Sm90_WgmmaCommitGroup:
      return semantics::unit_warpgroup();
    case MechanismKind::CudaClusterSync:
      return semantics::unit_cluster();
    case MechanismKind::CudaCommitGroup: {
      const auto it = facts.barrier.find(var);
      if (dialect != Dialect::P || it == facts.barrier.end()) return std::nullopt;
      return lowered_unit(it->second.lowered);
    }
    case MechanismKind::CudaEvent:
      return std::nullopt;
  }
  throw semantics::InternalError("unknown barrier mechanism");
}

BarrierConsistency::BarrierConsistency(const PassContext& context, const Constructs& constructs)
    : context_(context), constructs_(constructs) {
  for (const auto& [barrier, facts] : context.facts.barrier) {
    guard_[barrier] = facts.guarded_by;
    guarded_[facts.guarded_by] = barrier;
  }
}

const BarrierConsistency::Sync* BarrierConsistency::first(SymId barrier, Kind kind) const {
  const auto it = states_.find(barrier);
  if (it == states_.end()) return nullptr;
  const auto& sync = kind == Kind::arrive ? it->second.arrive : it->second.await;
  return sync ? &*sync : nullptr;
}

Refusal BarrierConsistency::refuse(SymId barrier, Kind kind, const Sync& now, SymId other, Kind other_kind,
                                   const Sync& before, const std::string& difference) const {
  const auto name = [&](SymId s) { return context_.procedure.symbol(s).name; };
  return {
      "E-U19",
      fmt::format(
          "this {} on `{}` and the {} on `{}` must be executed by the same threads, but {}: {} threads from "
          "thread {} ({}) here, {} threads from thread {} ({}) there",
          word(kind), name(barrier), word(other_kind), name(other), difference, now.tiling->threads(),
          base_thread(*now.tiling), constructs_.path(*now.tiling), before.tiling->threads(),
          base_thread(*before.tiling), constructs_.path(*before.tiling)),
      {{Role::sync, fmt::format("the {} on `{}`: {}", word(other_kind), name(other), before.tiling->text()),
        before.location}}};
}

std::optional<Refusal> BarrierConsistency::compare(SymId barrier, Kind kind, const Sync& now, SymId other,
                                                   Kind other_kind) const {
  const Sync* before = first(other, other_kind);
  if (before == nullptr) return std::nullopt;
  if (!same_threads(now.tiling, before->tiling)) {
    return refuse(barrier, kind, now, other, other_kind, *before, "their collectives differ");
  }
  if (barrier == other || distinguishing(now.pitches) == distinguishing(before->pitches)) return std::nullopt;
  return refuse(barrier, kind, now, other, other_kind, *before,
                fmt::format("their elements are spread over threads differently, with pitches ({}) and ({})",
                            fmt::join(now.pitches, ", "), fmt::join(before->pitches, ", ")));
}

std::optional<Refusal> BarrierConsistency::compare_all(SymId barrier, Kind kind, const Sync& now) const {
  const auto& mechanism = *context_.procedure.symbol(barrier).mechanism;
  if (context_.procedure.dialect == Dialect::R) {
    const Sync* before = kind == Kind::arrive && mechanism.mbarrier() ? first(barrier, kind) : nullptr;
    if (before == nullptr || before->tiling->threads() == now.tiling->threads()) return std::nullopt;
    return Refusal{
        "E-U19",
        fmt::format("every Arrive on `{}` must be executed by the same number of threads, but {} threads "
                    "execute this one ({}) and {} the first one ({})",
                    context_.procedure.symbol(barrier).name, now.tiling->threads(),
                    constructs_.path(*now.tiling), before->tiling->threads(),
                    constructs_.path(*before->tiling)),
        {{Role::sync, "the first Arrive", before->location}}};
  }
  if (auto refusal = compare(barrier, kind, now, barrier, kind)) return refusal;
  const auto& partners = kind == Kind::arrive ? guard_ : guarded_;
  const auto it = partners.find(barrier);
  const SymId partner = it == partners.end() ? barrier : it->second;
  return compare(barrier, kind, now, partner, kind == Kind::arrive ? Kind::await : Kind::arrive);
}

std::optional<Refusal> BarrierConsistency::add(SymId barrier, Kind kind, const TilingPtr& tiling,
                                               std::vector<std::int64_t> pitches,
                                               semantics::Location location) {
  const Sync now{tiling, std::move(pitches), std::move(location)};
  std::optional<Refusal> refusal;
  if (!states_[barrier].failed) refusal = compare_all(barrier, kind, now);
  State& state = states_[barrier];
  state.failed = state.failed || refusal.has_value();
  auto& slot = kind == Kind::arrive ? state.arrive : state.await;
  if (!slot) slot = now;
  return refusal;
}

}  // namespace exocheck::analysis
