#include "amir/machine_record.hpp"

#include <algorithm>

namespace exocheck::amir::working {

const Pending* RecordValue::find_pending(BarrierUid barrier) const {
  const auto at = std::lower_bound(pending.begin(), pending.end(), barrier,
                                   [](const Pending& p, BarrierUid b) { return p.barrier < b; });
  return at != pending.end() && at->barrier == barrier ? &*at : nullptr;
}

Pending& RecordValue::pending_on(BarrierUid barrier) {
  const auto at = std::lower_bound(pending.begin(), pending.end(), barrier,
                                   [](const Pending& p, BarrierUid b) { return p.barrier < b; });
  if (at != pending.end() && at->barrier == barrier) return *at;
  return *pending.insert(at, Pending{barrier});
}

std::size_t RecordValue::hash() const {
  std::size_t h = visibility.hash();
  h = mix(h, (std::uint64_t{atomic.bits()} << 8) | static_cast<std::uint64_t>(original));
  h = mix(h, in_order);
  for (const ThreadSet* set : {&members, &issuers}) {
    for (const ThreadRange& r : set->ranges()) {
      h = mix(h, static_cast<std::uint64_t>(r.lo));
      h = mix(h, static_cast<std::uint64_t>(r.hi));
    }
    h = mix(h, set->ranges().size());
  }
  for (const Pending& p : pending) {
    h = mix(h, p.barrier);
    h = mix(h, static_cast<std::uint64_t>(p.strong));
    h = mix(h, static_cast<std::uint64_t>(p.weak));
    h = mix(h, static_cast<std::uint64_t>(p.own));
  }
  return h;
}

RecordValue new_record(const Rules& rules, const semantics::amir::Record& access, const ThreadSet& threads,
                       bool one) {
  RecordValue r;
  r.original = access.qual;
  r.atomic = access.atomic;
  r.in_order = access.in_order;
  if (one) {
    r.visibility.add(threads, rules.self(r));
    if (rules.needs_issuers(r.original)) r.issuers = threads;
    r.in_order = true;
  } else {
    r.members = threads;
    normalise(r, rules);
  }
  return r;
}

void normalise(RecordValue& r, const Rules& rules) {
  if (!r.family()) return;
  const bool common = r.visibility.has(r.members, rules.self(r));
  if (r.members.is_single()) {
    r.visibility.add(r.members, rules.self(r));
  } else if (!common || rules.needs_issuers(r.original)) {
    return;
  }
  if (rules.needs_issuers(r.original)) r.issuers = std::move(r.members);
  r.members = {};
  r.in_order = true;
}

namespace {

std::optional<Failure> check_convergent(const RecordValue& r, const ThreadSet& threads, Flags flag,
                                        const Demand& demanded, const Rules& rules) {
  const FlagSets common = r.visibility.some_of(threads);
  if (common.with(flag).meets(demanded.quals)) return std::nullopt;
  Failure failure{std::nullopt, common.level(demanded.quals)};
  if (r.family()) {
    const FlagSets self = rules.self(r);
    const bool self_sufficient = self.with(flag).meets(demanded.quals);
    if (self_sufficient && threads.contains(r.members)) return std::nullopt;
    // A member that fails through no access of its own inside the collective shows only the common knowledge.
    if (!self_sufficient && threads.contains(r.members.min())) {
      failure.held = std::max(failure.held, self.level(demanded.quals));
    }
  }
  failure.held = std::max(failure.held, FlagSets::of(r.atomic, Flags::atomic).level(demanded.quals));
  return failure;
}

std::optional<Failure> check_all(const RecordValue& r, const ThreadSet& threads, Flags flag,
                                 const Demand& demanded, const Rules& rules) {
  ThreadSet lacking = r.visibility.lacking(threads, flag, demanded.quals);
  if (lacking.empty()) return std::nullopt;
  FlagSets self;
  std::optional<ThreadId> member;
  if (r.family()) {
    self = rules.self(r);
    member = r.members.min();
    if (self.with(flag).meets(demanded.quals)) {
      // A record whose own thread is the only one that lacks the common knowledge passes; another member's
      // fails.
      if (lacking.is_single() && lacking.min() == *member) {
        member = r.members.minus(lacking).min();
      }
      lacking = lacking.minus(ThreadSet::single(*member));
    }
  }
  const ThreadId missing = lacking.min();
  FlagSets held = r.visibility.at(missing) | FlagSets::of(r.atomic, Flags::atomic);
  if (member == missing) held = held | self;
  return Failure{missing, held.level(demanded.quals)};
}

}  // namespace

std::optional<Failure> check(const RecordValue& r, const ThreadSet& threads, bool convergent,
                             const Demand& demanded, const Rules& rules) {
  const Flags flag = required_flag(demanded.level, rules.mode);
  if (flag == Flags::atomic && r.atomic.meets(demanded.quals)) return std::nullopt;
  return convergent || threads.is_all() ? check_convergent(r, threads, flag, demanded, rules)
                                        : check_all(r, threads, flag, demanded, rules);
}

Witness witness(const RecordValue& r, const ThreadSet& threads, bool transitive, QualSet first) {
  const QualSet timelines = transitive ? first : first & QualSet{r.original};
  Witness out;
  if (timelines.empty()) return out;
  const FlagSets common = r.visibility.some_of(threads);
  if (common.issue.meets(timelines)) {
    out.common = Strength::strong;
  } else if (common.weak.meets(timelines)) {
    out.common = Strength::weak;
  }
  out.self = r.family() && out.common != Strength::strong && timelines.contains(r.original) &&
             r.members.meets(threads);
  return out;
}

bool own(const RecordValue& r, const ThreadSet& threads) {
  if (threads.is_all() || r.issuers.meets(threads)) return true;
  return r.visibility.some_of(threads).full.meets(semantics::async_proxy_quals);
}

Meeting meet(const RecordValue& r, const ThreadSet& threads, bool transitive, QualSet first,
             const Rules& rules) {
  const Witness w = witness(r, threads, transitive, first);
  if (w.common == Strength::none && !w.self) return {};
  const bool common_own = !rules.needs_issuers(r.original) || own(r, threads);
  ThreadSet inside = r.family() ? r.members.intersect(threads) : ThreadSet{};
  const bool all_inside = !inside.empty() && inside == r.members;
  // Members of the collective own their access and may know it on their own; the others share the common
  // knowledge.
  const auto part = [&](bool in) {
    return Meeting::Part{in && w.self ? Strength::strong : w.common, common_own || in};
  };
  Meeting out;
  out.split = (w.self || !common_own) && !inside.empty() && !all_inside;
  out.whole = part(all_inside);
  if (out.split) {
    out.inside_part = part(true);
    out.inside = std::move(inside);
  }
  return out;
}

}  // namespace exocheck::amir::working
