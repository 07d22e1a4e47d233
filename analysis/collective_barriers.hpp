// Which threads execute the Arrives and Awaits of a barrier (collective.md 7.2, 7.3; decisions.md K6, L4).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/collective_constructs.hpp"
#include "analysis/distributed.hpp"
#include "analysis/passes.hpp"

namespace exocheck::analysis {

// The unit at which Arrive and Await of the barrier must stand (E-U18); nullopt where another rule has
// rejected or will reject the barrier (a commit group of an unknown kind, E-S20).
std::optional<CollUnit> sync_unit(const semantics::ir::Symbol& barrier, const Facts& facts, SymId var,
                                  semantics::Dialect dialect);

// E-U19: compares every Arrive and Await with the earlier ones it has to share its threads with.
class BarrierConsistency {
 public:
  BarrierConsistency(const PassContext& context, const Constructs& constructs);

  enum class Kind { arrive, await };
  // The statement is the next one in program order. At most one refusal per barrier.
  std::optional<Refusal> add(SymId barrier, Kind kind, const TilingPtr& tiling,
                             std::vector<std::int64_t> pitches, semantics::Location location);

 private:
  struct Sync {
    TilingPtr tiling;
    std::vector<std::int64_t> pitches;
    semantics::Location location;
  };
  struct State {
    std::optional<Sync> arrive, await;
    bool failed = false;
  };
  const Sync* first(SymId barrier, Kind kind) const;
  std::optional<Refusal> compare(SymId barrier, Kind kind, const Sync& now, SymId other,
                                 Kind other_kind) const;
  std::optional<Refusal> compare_all(SymId barrier, Kind kind, const Sync& now) const;
  Refusal refuse(SymId barrier, Kind kind, const Sync& now, SymId other, Kind other_kind, const Sync& before,
                 const std::string& difference) const;

  const PassContext& context_;
  const Constructs& constructs_;
  std::unordered_map<SymId, SymId> guard_;    // of a barrier: the one whose Await precedes its Arrive
  std::unordered_map<SymId, SymId> guarded_;  // the inverse
  std::unordered_map<SymId, State> states_;
};

}  // namespace exocheck::analysis
