#include "amir/machine_states.hpp"

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::amir::working {

StateId StateTable::insert(State state) {
  if (state.mutates.empty() && state.reads.empty()) return no_records;
  std::size_t hash = state.mutates.size();
  for (const RecordId r : state.mutates) hash = mix(hash, r);
  hash = mix(hash, 0x5eed);
  for (const RecordId r : state.reads) hash = mix(hash, r);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (states_[at->second] == state) return at->second;
  }
  semantics::ensure(states_.size() < std::numeric_limits<StateId>::max(), "state ids");
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back(std::move(state));
  by_hash_.emplace(hash, id);
  return id;
}

StateId StateTable::resolve(StateId id) {
  const auto current = [this](RecordId r) { return records_.is_value(r); };
  const State& state = states_[id];
  if (std::all_of(state.mutates.begin(), state.mutates.end(), current) &&
      std::all_of(state.reads.begin(), state.reads.end(), current)) {
    return id;
  }
  State resolved;
  for (const RecordId r : state.mutates) records_.resolve(r, resolved.mutates);
  for (const RecordId r : state.reads) records_.resolve(r, resolved.reads);
  return insert(std::move(resolved));
}

const StateId* StateTable::memo(StateId id) const {
  return id < memos_.size() && memos_[id].epoch == epoch_ ? &memos_[id].value : nullptr;
}

void StateTable::set_memo(StateId id, StateId value) {
  if (id >= memos_.size()) memos_.resize(std::max<std::size_t>(states_.size(), id + 1));
  memos_[id] = {epoch_, value};
}

std::vector<State> StateTable::take_all() {
  std::vector<State> all = std::move(states_);
  states_.assign(1, State{});
  by_hash_.clear();
  memos_.clear();
  return all;
}

}  // namespace exocheck::amir::working
