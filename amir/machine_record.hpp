// Visibility records of the working machine: a plain record, or a family that stands for one record per
// thread of a non-convergent access (abstract-machine.md 9.4).
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "amir/machine_visibility.hpp"

namespace exocheck::amir::working {

// Identity of one element of one allocation of a barrier; a new allocation gets new ids, which is how pending
// arrivals of an earlier generation disappear from every record (decisions.md N25).
using BarrierUid = std::uint64_t;

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t always = std::numeric_limits<std::int64_t>::min();

// The smallest arrival per tier that publishes the record; `never`: none. `own`: strict rule S1. `always`
// replaces indices that no later Await can fail to cover.
struct Pending {
  BarrierUid barrier = 0;
  std::int64_t strong = never, weak = never, own = never;
  friend bool operator==(const Pending&, const Pending&) = default;
};

struct RecordValue {
  Qual original{};
  QualSet atomic;         // every thread carries the atomic flag on these
  ThreadSet members;      // family: its two or more threads; plain record: empty
  bool in_order = true;   // family: what each member knows about its own access; plain record: true, unused
  ThreadSet issuers;      // plain record, strict rule S1 and generic accesses only: who made the access
  Visibility visibility;  // of the plain record; of a family: what all members' records have in common
  std::vector<Pending> pending;  // sorted by barrier

  bool family() const { return !members.empty(); }
  const Pending* find_pending(BarrierUid barrier) const;
  Pending& pending_on(BarrierUid barrier);
  std::size_t hash() const;
  friend bool operator==(const RecordValue&, const RecordValue&) = default;
};

// What depends on the mode only.
struct Rules {
  explicit Rules(const ModeRules& mode_rules) : mode(mode_rules), table(flag_table(mode_rules)) {}
  ModeRules mode;
  FlagTable table;

  FlagSets self(const RecordValue& r) const {
    return FlagSets::of({r.original}, r.in_order ? table.in_order : table.out_of_order);
  }
  // Strict rule S1: is the record denied full order on the async-proxy timelines?
  bool withholds(Qual original, bool owned) const {
    return mode.proxy_fence_owner && generic_quals.contains(original) && !owned;
  }
  // Do issuers of such an access matter after its members' own knowledge has become common?
  bool needs_issuers(Qual original) const {
    return mode.proxy_fence_owner && generic_quals.contains(original);
  }
};

// NewRecs of abstract-machine.md 4.3 without pending awaits, `one` as one_record() says.
RecordValue new_record(const Rules& rules, const semantics::amir::Record& access, const ThreadSet& threads,
                       bool one);
// Brings a family into its only form: a plain record if one thread is left or if what members know about
// their own access is common knowledge.
void normalise(RecordValue& r, const Rules& rules);

// abstract-machine.md 4.5 and 9.4. Of a family, the lowest failing member decides the report.
struct Failure {
  std::optional<ThreadId> missing;
  Level held = Level::invisible;
};
std::optional<Failure> check(const RecordValue& r, const ThreadSet& threads, bool convergent,
                             const Demand& demanded, const Rules& rules);

// How a Fence or Arrive picks up the record: `common` through what all members' records share; `self` if in
// addition members of the collective are picked up strongly through their own access.
struct Witness {
  Strength common = Strength::none;
  bool self = false;
};
Witness witness(const RecordValue& r, const ThreadSet& threads, bool transitive, QualSet first);

// own(r, C) of decisions.md O3; for a family, of the members outside the collective.
bool own(const RecordValue& r, const ThreadSet& threads);

// How a Fence or Arrive by `threads` meets a record. A family whose members are met differently is met in two
// parts.
struct Meeting {
  struct Part {
    Strength strength = Strength::none;
    bool owned = false;
  };
  bool met() const { return whole.strength != Strength::none || split; }
  bool split = false;
  Part whole;        // of all members; with `split`, of those outside `inside`
  Part inside_part;  // with `split`
  ThreadSet inside;  // with `split`: the members in the collective
};
Meeting meet(const RecordValue& r, const ThreadSet& threads, bool transitive, QualSet first,
             const Rules& rules);

}  // namespace exocheck::amir::working
