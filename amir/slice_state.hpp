// What one slice knows at one moment, in a canonical form that does not grow with the number of iterations
// (all-sizes.md 3), and how statements change it (abstract-machine.md 4, 9.4).
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "amir/machine_awaits.hpp"
#include "amir/slice.hpp"

namespace exocheck::amir::slices {

using working::RecordValue;
using working::Rules;

// (a, w) of a barrier element, less the arrivals of the first element of its multicast group.
struct Counter {
  std::int64_t arrivals = 0, awaits = 0;
  // Slices of counters: arrivals `first`, `first + 1`, ...: how many homes contributed, and how many should.
  // Earlier ones are complete.
  struct Group {
    std::int64_t homes = 0, expected = 0;
    friend bool operator==(const Group&, const Group&) = default;
  };
  std::int64_t first = 0;
  std::vector<Group> groups;
  friend bool operator==(const Counter&, const Counter&) = default;
};

struct State {
  std::vector<RecordValue> mutates, reads;  // distinct, in canonical order
  bool initialised = false;
  std::vector<Counter> counters;  // by Slice::barriers
  std::size_t hash() const;
  friend bool operator==(const State&, const State&) = default;
};

using StateId = std::uint32_t;

// The states of one slice and the transitions between them.
class Transitions {
 public:
  // Throws GiveUp for what it cannot follow.
  Transitions(const Unit& unit, const Slice& slice, const Rules& rules);

  StateId initial() const { return initial_; }
  struct Step {
    StateId next = 0;
    std::string_view
        code;  // not empty: the rule that the statement breaks here; then `next` means nothing unless ...
    bool warning = false;       // ... it is only a warning
    std::uint32_t barrier = 0;  // rules about counters: index into Slice::barriers
  };
  // `parts`: the elements of the leaf's barrier parts (one list per part), constant.
  Step step(std::uint32_t leaf, StateId from, const std::vector<std::vector<std::uint32_t>>& parts);

  std::uint64_t steps() const { return steps_; }
  std::uint64_t states() const { return states_.size(); }
  std::uint64_t records_peak() const { return records_peak_; }

 private:
  struct Use {  // of an Await on an element
    ThreadSet threads;
    working::FlagSets strong, weak;
  };
  struct Awaits {
    std::optional<std::int64_t> largest_n, largest_lag;
    std::vector<Use> uses;
  };

  StateId intern(State s);
  void canonical(State& s) const;
  void tidy(std::vector<RecordValue>& records, const State& s, const std::vector<std::int64_t>& base) const;
  Step compute(const SliceLeaf& leaf, State s, const std::vector<std::vector<std::uint32_t>>& parts);
  // Calls `change(record, strength, owned)` for what the collective picks up; families that it meets in part
  // are split.
  template <class Change>
  void pick_up(std::vector<RecordValue>& records, const ThreadSet& threads, bool transitive, QualSet first,
               const Change& change) const;
  void fence(std::vector<RecordValue>& records, const semantics::amir::Fence& s,
             const ThreadSet& threads) const;
  void arrive(std::vector<RecordValue>& records, const semantics::amir::Arrive& s, const ThreadSet& threads,
              const std::vector<std::uint32_t>& referenced, std::int64_t k) const;
  void await(std::vector<RecordValue>& records, const semantics::amir::Await& s, const ThreadSet& threads,
             std::uint32_t element, std::int64_t newest) const;
  // A life of the variable begins or ends; arrivals of earlier lives are gone (decisions.md N25).
  void renew(State& s, VarId var) const;

  const Unit& unit_;
  const Slice& slice_;
  const Rules& rules_;
  std::vector<Awaits> awaits_;  // by Slice::barriers
  std::vector<char> homes_;     // by Slice::barriers: some Arrive has its home there
  std::vector<State> states_;
  std::unordered_multimap<std::size_t, StateId> ids_;
  std::map<std::tuple<std::uint32_t, StateId, std::vector<std::vector<std::uint32_t>>>, Step> memo_;
  StateId initial_ = 0;
  std::uint64_t steps_ = 0, records_peak_ = 0;
};

}  // namespace exocheck::amir::slices
