// Forgetting what no longer matters: records that no element holds, pending arrivals that fired for good, and
// who knew what in tasks that have ended. All of it keeps every later verdict (abstract-machine.md 9.1, 9.5).
#include <algorithm>

#include "amir/machine_core.hpp"

namespace exocheck::amir::working {

using semantics::ir::checked_mul;

void Machine::collect_if_due() {
  const bool many_records = records_.used() > 2 * records_after_collect_ + tuning_.records;
  const bool many_states = states_.size() > 2 * states_after_collect_ + tuning_.states;
  const bool much_memory = control_.memory() > 2 * memory_after_collect_ + (std::uint64_t{64} << 20);
  if (many_records || many_states || much_memory || tuning_.records == 0) collect();
}

void Machine::collect() {
  // Follow all links, so that only live ids remain in use.
  std::vector<bool> marked(records_.capacity());
  states_.begin();
  for (VariableState& x : variables_) {
    if (!x.alive) continue;
    x.records.rewrite([&](StateId id) {
      if (const StateId* known = states_.memo(id)) return *known;
      const StateId resolved = states_.resolve(id);
      for (const RecordId r : states_[resolved].mutates) marked[r] = true;
      for (const RecordId r : states_[resolved].reads) marked[r] = true;
      states_.set_memo(id, resolved);
      return resolved;
    });
  }

  // Which arrivals every later Await covers, per live barrier element.
  struct LiveBarrier {
    BarrierUid first;
    const VariableState* variable;
    AwaitSummary* awaits;
  };
  std::vector<LiveBarrier> barriers;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const VariableState& x = variables_[v];
    if (x.alive && !x.counters.empty()) barriers.push_back({x.first_uid, &x, &awaits_[v]});
  }
  std::sort(barriers.begin(), barriers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto simplify = [&](RecordValue& r) {
    std::erase_if(r.pending, [&](Pending& p) {
      const auto after = std::upper_bound(barriers.begin(), barriers.end(), p.barrier,
                                          [](BarrierUid uid, const LiveBarrier& b) { return uid < b.first; });
      if (after == barriers.begin()) return true;
      const LiveBarrier& b = *std::prev(after);
      const std::size_t flat = p.barrier - b.first;
      if (flat >= b.variable->counters.size()) return true;
      if (observer_ != nullptr) return false;  // shows the indices as they are
      const Strength strength = p.strong == never ? Strength::weak : Strength::strong;
      if (b.awaits->pointless(r, strength, control_.task(), program_.threads)) return true;
      const Counters& counters = b.variable->counters[flat];
      const std::int64_t covered = b.awaits->always_covered(counters.arrivals, counters.awaits);
      for (std::int64_t* minimum : {&p.strong, &p.weak, &p.own}) {
        if (*minimum <= covered) *minimum = always;
      }
      return false;
    });
  };
  records_.collect(marked, simplify);

  std::vector<State> old = states_.take_all();
  std::vector<std::optional<StateId>> moved(old.size());
  for (VariableState& x : variables_) {
    if (!x.alive) continue;
    x.records.rewrite([&](StateId id) {
      if (!moved[id]) {
        State current;
        for (const RecordId r : old[id].mutates) records_.resolve(r, current.mutates);
        for (const RecordId r : old[id].reads) records_.resolve(r, current.reads);
        moved[id] = states_.insert(std::move(current));
      }
      return *moved[id];
    });
  }
  records_after_collect_ = records_.used();
  states_after_collect_ = states_.size();
  std::size_t bytes = records_.memory_bytes() + states_.memory_bytes();
  for (const VariableState& x : variables_) {
    bytes += (x.records.nodes() + x.initialised.nodes()) * region_bytes;
    for (const Counters& c : x.counters)
      bytes += sizeof(Counters) + c.groups.size() * sizeof(Counters::Group);
  }
  control_.set_memory(bytes);
  memory_after_collect_ = bytes;
}

// Threads of ended tasks appear in no later collective but the set of all threads, which asks for some thread
// only: what one of them knows may be known by all. Records of different tasks become equal that way.
void Machine::end_task() {
  const ThreadId end = checked_mul(control_.task() + 1, program_.threads);
  const std::vector<RecordId> ids = records_.active();
  for (const RecordId id : ids) {
    RecordValue r = records_.value(id);
    if (r.family()) {
      r.visibility.add(r.members, rules_.self(r));
      if (rules_.needs_issuers(r.original)) r.issuers = r.members;
      r.members = {};
      r.in_order = true;
    }
    r.visibility.join_below(end);
    if (!r.issuers.empty() && r.issuers.min() < end && !r.issuers.is_all())
      r.issuers = ThreadSet::range(0, end);
    if (r != records_.value(id)) records_.change(id, std::move(r));
  }
  records_.settle();
  collect_if_due();
}

}  // namespace exocheck::amir::working
