// Fence, Arrive and Await (abstract-machine.md 4.6, 4.7; decisions.md N11, N12, O3) on distinct records.
#include <algorithm>

#include "amir/machine_core.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir::working {

namespace prog = semantics::amir;
using semantics::ensure;
using semantics::ir::checked_add;
using semantics::ir::checked_sub;

struct Machine::FenceEffect {
  const Machine& machine;
  const Grants& given;
  const ThreadSet& threads;

  bool needed(const RecordValue& r, Strength strength, bool owned) const {
    return !r.visibility.has(threads, given.to(r, strength, owned, machine.rules_));
  }
  void apply(RecordValue& r, Strength strength, bool owned) const {
    r.visibility.add(threads, given.to(r, strength, owned, machine.rules_));
  }
};

struct Machine::ArriveEffect {
  Machine& machine;
  const std::vector<BarrierElement>& referenced;
  std::int64_t k;

  // The entry of one referenced element after the arrival; nullopt if it stays or if it could grant nothing.
  std::optional<Pending> lowered(const RecordValue& r, const BarrierElement& e, Strength strength,
                                 bool owned) const {
    const BarrierUid uid = machine.variables_[index(e.var)].first_uid + e.flat;
    const Pending* p = r.find_pending(uid);
    const Pending now = p == nullptr ? Pending{uid} : *p;
    Pending then = now;
    then.weak = std::min(now.weak, k);
    if (strength == Strength::strong) then.strong = std::min(now.strong, k);
    // Ownership matters to rule S1 only.
    const bool own = strength == Strength::strong && owned && machine.rules_.mode.proxy_fence_owner;
    if (own) then.own = std::min(now.own, k);
    if (then == now) return std::nullopt;
    // An observer wants to see every arrival.
    const bool pointless =
        machine.observer_ == nullptr && machine.awaits_[index(e.var)].pointless(
                                            r, strength, machine.control_.task(), machine.program_.threads);
    return pointless ? std::nullopt : std::optional(then);
  }

  bool needed(const RecordValue& r, Strength strength, bool owned) const {
    return std::any_of(referenced.begin(), referenced.end(),
                       [&](const BarrierElement& e) { return lowered(r, e, strength, owned).has_value(); });
  }
  void apply(RecordValue& r, Strength strength, bool owned) const {
    for (const BarrierElement& e : referenced) {
      if (const auto entry = lowered(r, e, strength, owned)) r.pending_on(entry->barrier) = *entry;
    }
  }
};

template <class Effect>
Machine::PickedUp Machine::pick_up(RecordId id, const ThreadSet& threads, bool transitive, QualSet first,
                                   const Effect& effect) {
  if (!records_.may_know(id, first, threads)) return {};
  const RecordValue& r = records_.value(id);
  const Meeting meeting = meet(r, threads, transitive, first, rules_);
  if (!meeting.met()) return {};
  const auto piece_of = [&](const Meeting::Part& part) {
    PickedUp::Piece piece{id, part.strength, part.owned};
    piece.changed = piece.strength != Strength::none && effect.needed(r, piece.strength, piece.owned);
    return piece;
  };
  const auto apply = [&](RecordValue& value, const PickedUp::Piece& piece) {
    if (piece.changed) effect.apply(value, piece.strength, piece.owned);
    normalise(value, rules_);
  };
  if (meeting.split) {
    PickedUp out{{piece_of(meeting.whole), piece_of(meeting.inside_part)}, 2};
    if (!out.pieces[0].changed && !out.pieces[1].changed) return out;
    RecordValue part = r, rest = r;
    part.members = meeting.inside;
    rest.members = r.members.minus(meeting.inside);
    apply(rest, out.pieces[0]);
    apply(part, out.pieces[1]);
    const auto ids = records_.split(id, std::move(rest), std::move(part), meeting.inside);
    out.pieces[0].id = ids.first;
    out.pieces[1].id = ids.second;
    return out;
  }
  const PickedUp out{{piece_of(meeting.whole)}, 1};
  if (out.pieces[0].changed) {
    RecordValue value = r;
    apply(value, out.pieces[0]);
    records_.change(id, std::move(value));
  }
  return out;
}

template <class Pick>
void Machine::for_records(const std::vector<RecordId>& ids, SyncEvent* event, const Pick& pick) {
  if (event == nullptr) {
    for (const RecordId id : ids) pick(id);
  } else {
    for (const RecordId id : observed_records()) {
      const SyncEffect facts = effect_facts(*event, id);
      const PickedUp picked = pick(id);
      if (picked.count == 0) event->effects.push_back(facts);
      for (int i = 0; i < picked.count; ++i) {
        const PickedUp::Piece& piece = picked.pieces[i];
        SyncEffect& effect = event->effects.emplace_back(facts);
        effect.after = view(piece.id);
        effect.changed = piece.changed;
        effect.strength = piece.strength;
        if (piece.strength == Strength::strong &&
            rules_.withholds(records_.value(piece.id).original, piece.owned)) {
          effect.withheld = event->full & semantics::async_proxy_quals;
        }
      }
    }
    observer_->on_sync(*event);
  }
  records_.settle();
}

bool Machine::execute(const prog::Node& node, const prog::Fence& s) {
  const ThreadSet threads = control_.threads(node);
  const Grants given = Grants::of(s.full, s.temporal, rules_.table);
  const FenceEffect effect{*this, given, threads};
  std::optional<SyncEvent> event;
  if (observer_ != nullptr) {
    event.emplace();
    event->at = control_.instance(node);
    event->kind = SyncKind::fence;
    event->collective = threads;
    event->first = s.first;
    event->full = s.full;
    event->temporal = s.temporal;
    event->transitive = s.transitive;
  }
  const std::vector<RecordId> ids = records_.active();
  for_records(ids, event ? &*event : nullptr,
              [&](RecordId id) { return pick_up(id, threads, s.transitive, s.first, effect); });
  rounds_.fence(threads.is_all() ||
                (threads.ranges().size() == 1 && threads.end() - threads.min() == program_.threads));
  collect_if_due();
  return control_.spend(ids.size());
}

bool Machine::execute(const prog::Node& node, const prog::Arrive& s) {
  const auto homes = barrier_elements(node, s.home);
  if (!homes) return false;
  ensure(homes->size() == 1, "home of an Arrive");
  std::vector<BarrierElement> referenced;
  for (const prog::Target& target : s.referenced) {
    const auto flats = barrier_elements(node, target);
    if (!flats) return false;
    for (const std::size_t flat : *flats) referenced.push_back({target.var, flat});
  }
  std::sort(referenced.begin(), referenced.end());
  referenced.erase(std::unique(referenced.begin(), referenced.end()), referenced.end());

  const ThreadSet threads = control_.threads(node);
  const std::vector<std::int64_t> home_element = element_of(s.home.var, homes->front());
  if (rules_.mode.forward_progress && !rounds_.arrive(s.home.var, home_element, referenced.size(), threads)) {
    Violation v;
    v.code = "E-Y06";
    v.var = s.home.var;
    v.element = home_element;
    return fail(node, std::move(v));
  }
  Counters& home = variables_[index(s.home.var)].counters[homes->front()];
  const std::int64_t k = home.arrivals;
  const ArriveEffect effect{*this, referenced, k};
  std::optional<SyncEvent> event;
  if (observer_ != nullptr) {
    event.emplace();
    event->at = control_.instance(node);
    event->kind = SyncKind::arrive;
    event->collective = threads;
    event->first = s.first;
    event->transitive = s.transitive;
    event->barrier = s.home.var;
    event->element = home_element;
    for (const auto& [var, flat] : referenced) event->referenced.push_back(element_of(var, flat));
    event->arrival = k;
    event->arrivals_before = k;
    event->arrivals_after = k + 1;
    event->awaits_before = event->awaits_after = home.awaits;
  }
  const std::vector<RecordId> ids = records_.active();
  for_records(ids, event ? &*event : nullptr,
              [&](RecordId id) { return pick_up(id, threads, s.transitive, s.first, effect); });
  home.arrivals = checked_add(k, 1);
  for (const auto& [var, flat] : referenced) {
    Counters& c = variables_[index(var)].counters[flat];
    if (static_cast<std::size_t>(k) >= c.groups.size()) {
      grow((static_cast<std::size_t>(k) + 1 - c.groups.size()) * sizeof(Counters::Group));
      c.groups.resize(static_cast<std::size_t>(k) + 1);
    }
    Counters::Group& group = c.groups[static_cast<std::size_t>(k)];
    ++group.homes;
    group.expected = std::max(group.expected, static_cast<std::int64_t>(referenced.size()));
    c.complete = std::min(c.complete, k);
  }
  collect_if_due();
  return control_.spend(ids.size());
}

bool Machine::execute(const prog::Node& node, const prog::Await& s) {
  const auto elements = barrier_elements(node, s.barrier);
  if (!elements) return false;
  ensure(elements->size() == 1, "element of an Await");
  VariableState& z = variables_[index(s.barrier.var)];
  Counters& counters = z.counters[elements->front()];
  const std::int64_t newest = s.n >= 0 ? checked_sub(checked_sub(counters.arrivals, s.n), 1)
                                       : checked_sub(counters.awaits, checked_sub(-1, s.n));
  if (rules_.mode.forward_progress) {
    if (auto violation = forward_progress(s, counters, newest)) {
      violation->element = element_of(s.barrier.var, elements->front());
      return fail(node, std::move(*violation));
    }
  }
  const ThreadSet threads = control_.threads(node);
  const BarrierUid uid = z.first_uid + elements->front();
  const std::int64_t awaits =
      s.n >= 0 ? std::max(counters.awaits, newest + 1) : checked_add(counters.awaits, 1);
  std::optional<SyncEvent> event;
  if (observer_ != nullptr) {
    event.emplace();
    event->at = control_.instance(node);
    event->kind = SyncKind::await;
    event->collective = threads;
    event->full = s.full;
    event->temporal = s.temporal;
    event->barrier = s.barrier.var;
    event->element = element_of(s.barrier.var, elements->front());
    event->arrival = newest;
    event->arrivals_before = event->arrivals_after = counters.arrivals;
    event->awaits_before = counters.awaits;
    event->awaits_after = awaits;
  }
  const Grants given = Grants::of(s.full, s.temporal, rules_.table);
  const std::vector<RecordId> ids = records_.pending_on(uid);
  for_records(ids, event ? &*event : nullptr, [&](RecordId id) -> PickedUp {
    const RecordValue& r = records_.value(id);
    const Pending* pending = r.find_pending(uid);
    if (pending == nullptr) return {};
    PickedUp::Piece piece{id, Strength::none, pending->own <= newest};
    if (pending->weak <= newest) piece.strength = Strength::weak;
    if (pending->strong <= newest) piece.strength = Strength::strong;
    if (piece.strength == Strength::none) return {};
    const FlagSets& flags = given.to(r, piece.strength, piece.owned, rules_);
    if (!r.visibility.has(threads, flags)) {
      RecordValue value = r;
      value.visibility.add(threads, flags);
      normalise(value, rules_);
      records_.change(id, std::move(value));
      piece.changed = true;
    }
    return {{piece}, 1};
  });
  counters.awaits = awaits;
  rounds_.await(s.barrier.var, s.n, threads);
  collect_if_due();
  return control_.spend(ids.size());
}

// decisions.md N11 (E-Y04) and N12 (E-Y06).
std::optional<Violation> Machine::forward_progress(const prog::Await& await, Counters& counters,
                                                   std::int64_t newest) const {
  Violation v;
  v.var = await.barrier.var;
  const bool cluster_sync =
      program_.variables[index(await.barrier.var)].lowered == semantics::LoweredBarrier::cluster_sync;
  const std::int64_t waits_for = await.n < 0 ? newest : counters.awaits;
  if ((await.n < 0 || cluster_sync) && waits_for >= counters.arrivals) {
    v.code = "E-Y04";
    v.count_a = waits_for;
    v.count_b = counters.arrivals;
    return v;
  }
  while (counters.complete <= newest &&
         static_cast<std::size_t>(counters.complete) < counters.groups.size()) {
    const Counters::Group& group = counters.groups[static_cast<std::size_t>(counters.complete)];
    if (group.homes != group.expected) {
      v.code = "E-Y06";
      v.count_a = group.homes;
      v.count_b = group.expected;
      return v;
    }
    ++counters.complete;
  }
  return std::nullopt;
}

}  // namespace exocheck::amir::working
