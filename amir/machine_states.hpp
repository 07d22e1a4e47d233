// What all elements of a region have in common: their lists of mutate and read records, oldest first. Equal
// pairs of lists are one object.
#pragma once

#include <unordered_map>
#include <vector>

#include "amir/machine_records.hpp"

namespace exocheck::amir::working {

using StateId = std::uint32_t;
inline constexpr StateId no_records = 0;

struct State {
  std::vector<RecordId> mutates, reads;
  friend bool operator==(const State&, const State&) = default;
};

class StateTable {
 public:
  explicit StateTable(const RecordTable& records) : records_(records), states_(1) {}

  StateId insert(State state);
  const State& operator[](StateId id) const { return states_[id]; }
  // The same state with all links between records followed.
  StateId resolve(StateId id);

  // A memo per state for the duration of one statement. begin() forgets all of them.
  void begin() { ++epoch_; }
  // nullptr: nothing stored yet. The pointer is valid until the next call.
  const StateId* memo(StateId id) const;
  void set_memo(StateId id, StateId value);

  std::size_t size() const { return states_.size(); }
  // Forgets all states but the empty one; the caller inserts those that are still needed again.
  std::vector<State> take_all();
  std::size_t memory_bytes() const { return states_.size() * (sizeof(State) + sizeof(Memo) + 128); }

 private:
  struct Memo {
    std::uint64_t epoch = 0;
    StateId value = 0;
  };
  const RecordTable& records_;
  std::vector<State> states_;
  std::vector<Memo> memos_;
  std::uint64_t epoch_ = 1;
  std::unordered_multimap<std::size_t, StateId> by_hash_;
};

}  // namespace exocheck::amir::working
