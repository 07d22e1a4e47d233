// The state of a run of the working machine and its statements. Split over machine_access.cpp (checks,
// records, life time), machine_sync.cpp (fences and barriers), machine_collect.cpp (forgetting what no longer
// matters) and machine_observe.cpp (what observers see).
#pragma once

#include <set>
#include <vector>

#include "amir/control.hpp"
#include "amir/machine_awaits.hpp"
#include "amir/machine_regions.hpp"
#include "amir/machine_states.hpp"
#include "amir/observer.hpp"
#include "amir/rounds.hpp"

namespace exocheck::amir::working {

// (a, w) of a barrier element; for E-Y06, per arrival index how many homes have contributed and how many
// should.
struct Counters {
  std::int64_t arrivals = 0, awaits = 0;
  struct Group {
    std::int64_t homes = 0, expected = 0;
  };
  std::vector<Group> groups;
  std::int64_t complete = 0;  // groups below this index are known to be complete
};

struct VariableState {
  bool alive = false;
  std::vector<std::int64_t> extents;
  RegionMap records;               // payload: StateId
  RegionMap initialised;           // payload: 0 or 1
  std::vector<Counters> counters;  // barriers, row-major
  BarrierUid first_uid = 0;        // barriers: id of the first element
};

// When the machine forgets: after its tables have doubled since the last time and grown by this many entries.
struct Tuning {
  std::size_t records = 512, states = 2048;
};

class Machine {
 public:
  Machine(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits,
          Observer* observer, Tuning tuning = {});
  Outcome run();

 private:
  struct BarrierElement {
    VarId var{};
    std::size_t flat = 0;  // row-major
    friend auto operator<=>(const BarrierElement&, const BarrierElement&) = default;
  };
  struct FenceEffect;
  struct ArriveEffect;
  // A record, or the two parts of a family, after a sync statement picked it up.
  struct PickedUp {
    struct Piece {
      RecordId id = 0;
      Strength strength = Strength::none;
      bool owned = false;
      bool changed = false;
    };
    Piece pieces[2];
    int count = 0;  // 0: the record was not picked up
  };

  bool execute(const semantics::amir::Node& node, const semantics::amir::Check& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Record& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::CheckBarrier& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Fence& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Arrive& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Await& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Alloc& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Free& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::IncTask& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::InitRead& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::InitWrite& s);

  // machine_access.cpp
  VariableState& alive(VarId var);
  void allocate(VarId var);
  // The elements of the target; nullopt after reporting E-Y20.
  std::optional<Box> elements(const semantics::amir::Node& node, const semantics::amir::Target& target);
  // Restricts the box to the observed element, if there is one; false: the element is outside.
  bool observed_part(VarId var, Box& box) const;
  bool fail(const semantics::amir::Node& node, Violation violation);
  std::vector<std::int64_t> element_of(VarId var, std::size_t flat) const;
  std::size_t flat_index(VarId var, const std::vector<std::int64_t>& element) const;
  // The flat indices of barrier elements; nullopt after reporting E-Y20.
  std::optional<std::vector<std::size_t>> barrier_elements(const semantics::amir::Node& node,
                                                           const semantics::amir::Target& target);
  void report_failure(const semantics::amir::Node& node, const semantics::amir::Check& s,
                      const ThreadSet& threads, const State& state, std::vector<std::int64_t> element);

  // machine_sync.cpp
  std::optional<Violation> forward_progress(const semantics::amir::Await& await, Counters& counters,
                                            std::int64_t newest) const;
  // Fence and Arrive. If the collective picks the record up and `effect.needed(record, strength, owned)` says
  // that this would change it, `effect.apply(record, strength, owned)` does. A family whose members are
  // picked up differently is split.
  template <class Effect>
  PickedUp pick_up(RecordId id, const ThreadSet& threads, bool transitive, QualSet first,
                   const Effect& effect);
  // Calls `pick(id)` for all records in `ids`; with an observer, for all live records, and reports the event.
  template <class Pick>
  void for_records(const std::vector<RecordId>& ids, SyncEvent* event, const Pick& pick);

  // machine_collect.cpp
  static constexpr std::uint64_t region_bytes = 32;  // per node of a region map
  // Between collections memory is only counted up.
  void grow(std::uint64_t bytes) { control_.set_memory(control_.memory() + bytes); }
  void collect_if_due();
  void collect();
  void end_task();

  // machine_observe.cpp
  RecordView view(RecordId id) const;
  void observe_check(const semantics::amir::Node& node, const semantics::amir::Check& s,
                     const ThreadSet& threads, const State& state);
  // Live records, oldest first.
  std::vector<RecordId> observed_records();
  SyncEffect effect_facts(const SyncEvent& event, RecordId id) const;

  const Program& program_;
  const Rules rules_;
  Observer* const observer_;
  const Tuning tuning_;
  std::optional<ElementFilter> filter_;
  Control control_;
  Rounds rounds_;
  std::vector<VariableState> variables_;
  std::vector<AwaitSummary> awaits_;
  RecordTable records_;
  StateTable states_;
  BarrierUid next_uid_ = 1;
  std::size_t records_after_collect_ = 0, states_after_collect_ = 0;
  std::uint64_t memory_after_collect_ = 0;
  std::set<VarId> warned_;
  Outcome outcome_;
};

}  // namespace exocheck::amir::working
