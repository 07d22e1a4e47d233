#include "amir/slice_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;
using semantics::ir::overloaded;
using working::always;
using working::Grants;
using working::Meeting;
using working::mix;
using working::never;
using working::Pending;

namespace {

// Arrivals and awaits of one element that drift further apart than this do not balance.
constexpr std::int64_t widest_drift = 64;

void grant(RecordValue& r, const ThreadSet& threads, const working::FlagSets& flags) {
  if (!r.visibility.has(threads, flags)) r.visibility.add(threads, flags);
}

bool same_elements(const std::optional<Linear>& index, std::int64_t value) {
  return !index || !index->is_constant() || index->constant == value;
}

}  // namespace

std::size_t State::hash() const {
  std::size_t h = initialised ? 1 : 0;
  for (const auto* list : {&mutates, &reads}) {
    h = mix(h, list->size());
    for (const RecordValue& r : *list) h = mix(h, r.hash());
  }
  for (const Counter& c : counters) {
    h = mix(h, static_cast<std::uint64_t>(c.arrivals));
    h = mix(h, static_cast<std::uint64_t>(c.awaits));
    h = mix(h, static_cast<std::uint64_t>(c.first));
    for (const Counter::Group& g : c.groups)
      h = mix(h, static_cast<std::uint64_t>(g.homes * 65536 + g.expected));
  }
  return h;
}

Transitions::Transitions(const Unit& unit, const Slice& slice, const Rules& rules)
    : unit_(unit),
      slice_(slice),
      rules_(rules),
      awaits_(slice.barriers.size()),
      homes_(slice.barriers.size(), 0) {
  const auto matches = [&](const BarrierPart& part, const SliceBarrier& b) {
    if (part.var != b.var) return false;
    const auto& extents = unit_.locals[index(b.var)]->extents;
    std::int64_t rest = b.flat;
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (!same_elements(part.index[d], rest % extents[d])) return false;
      rest /= extents[d];
    }
    return true;
  };
  for (const SliceLeaf& leaf : slice.leaves) {
    for (std::size_t b = 0; b < slice.barriers.size(); ++b) {
      if (std::holds_alternative<prog::Arrive>(leaf.node->node) &&
          matches(leaf.barriers.front(), slice.barriers[b]))
        homes_[b] = 1;
      const auto* await = std::get_if<prog::Await>(&leaf.node->node);
      if (await == nullptr || !matches(leaf.barriers.front(), slice.barriers[b])) continue;
      Awaits& a = awaits_[b];
      auto& largest = await->n >= 0 ? a.largest_n : a.largest_lag;
      const std::int64_t n = await->n >= 0 ? await->n : -1 - await->n;
      largest = std::max(largest.value_or(n), n);
      const Grants grants = Grants::of(await->full, await->temporal, rules_.table);
      a.uses.push_back({leaf.threads, grants.strong, grants.weak});
    }
  }
  State s;
  s.counters.resize(slice.barriers.size());
  initial_ = intern(std::move(s));
}

StateId Transitions::intern(State s) {
  canonical(s);
  records_peak_ = std::max<std::uint64_t>(records_peak_, s.mutates.size() + s.reads.size());
  const std::size_t h = s.hash();
  const auto [begin, end] = ids_.equal_range(h);
  for (auto at = begin; at != end; ++at) {
    if (states_[at->second] == s) return at->second;
  }
  const auto id = static_cast<StateId>(states_.size());
  if (states_.size() > 200'000) throw GiveUp("one element has too many different states");
  states_.push_back(std::move(s));
  ids_.emplace(h, id);
  return id;
}

void Transitions::canonical(State& s) const {
  std::vector<std::int64_t> base(s.counters.size());
  for (std::size_t b = 0; b < base.size(); ++b) base[b] = s.counters[slice_.barriers[b].group].arrivals;
  // Smallest arrival index that a home of the group can still contribute to.
  std::map<std::uint32_t, std::int64_t> open;
  for (std::size_t b = 0; b < base.size(); ++b) {
    if (homes_[b] == 0) continue;
    const auto [at, fresh] = open.try_emplace(slice_.barriers[b].group, s.counters[b].arrivals);
    if (!fresh) at->second = std::min(at->second, s.counters[b].arrivals);
  }
  for (std::size_t b = 0; b < base.size(); ++b) {
    Counter& c = s.counters[b];
    const Awaits& awaits = awaits_[b];
    const bool follows = slice_.var ? awaits.largest_lag.has_value() : true;
    if (!follows) c.awaits = base[b];
    if (!slice_.var && !awaits.largest_lag) {
      // Awaits of this kind catch up by themselves.
      c.awaits = std::max(c.awaits, c.arrivals - awaits.largest_n.value_or(0) - 1);
    }
    const bool drifts = std::abs(c.arrivals - base[b]) > widest_drift ||
                        (follows && std::abs(c.arrivals - c.awaits) > widest_drift) ||
                        c.groups.size() > static_cast<std::size_t>(widest_drift);
    if (drifts) {
      throw GiveUp(fmt::format("arrives and awaits of {} do not balance over an iteration",
                               unit_.program->variables[index(slice_.barriers[b].var)].name));
    }
    const auto at = open.find(slice_.barriers[b].group);
    const std::int64_t settled = at == open.end() ? never : at->second;
    std::size_t done = 0;
    while (done < c.groups.size() && c.first + static_cast<std::int64_t>(done) < settled &&
           c.groups[done].homes == c.groups[done].expected)
      ++done;
    c.groups.erase(c.groups.begin(), c.groups.begin() + static_cast<std::ptrdiff_t>(done));
    c.first += static_cast<std::int64_t>(done);
    if (c.groups.empty()) c.first = base[b];
    c.arrivals -= base[b];
    c.awaits -= base[b];
    c.first -= base[b];
  }
  tidy(s.mutates, s, base);
  tidy(s.reads, s, base);
}

void Transitions::tidy(std::vector<RecordValue>& records, const State& s,
                       const std::vector<std::int64_t>& base) const {
  for (RecordValue& r : records) {
    std::erase_if(r.pending, [&](const Pending& p) {
      const Awaits& awaits = awaits_[p.barrier];
      return std::all_of(awaits.uses.begin(), awaits.uses.end(), [&](const Use& use) {
        return r.visibility.has(use.threads, p.strong != never ? use.strong : use.weak);
      });
    });
    for (Pending& p : r.pending) {
      const Awaits& awaits = awaits_[p.barrier];
      const Counter& c = s.counters[p.barrier];
      std::int64_t covered = never;
      if (awaits.largest_n) covered = std::min(covered, c.arrivals - *awaits.largest_n - 1);
      if (awaits.largest_lag) covered = std::min(covered, c.awaits - *awaits.largest_lag);
      for (std::int64_t* k : {&p.strong, &p.weak, &p.own}) {
        if (*k == never || *k == always) continue;
        *k -= base[p.barrier];
        if (*k <= covered) *k = always;
      }
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < records.size(); ++i) order.emplace_back(records[i].hash(), i);
  std::sort(order.begin(), order.end());
  std::vector<RecordValue> sorted;
  for (const auto& [h, i] : order) {
    const bool known = std::any_of(sorted.rbegin(), sorted.rend(),
                                   [&, i = i](const RecordValue& r) { return r == records[i]; });
    if (!known) sorted.push_back(std::move(records[i]));
  }
  records = std::move(sorted);
}

Transitions::Step Transitions::step(std::uint32_t leaf, StateId from,
                                    const std::vector<std::vector<std::uint32_t>>& parts) {
  std::tuple key{leaf, from, parts};
  const auto found = memo_.find(key);
  if (found != memo_.end()) return found->second;
  ++steps_;
  const Step out = compute(slice_.leaves[leaf], states_[from], parts);
  memo_.emplace(std::move(key), out);
  return out;
}

Transitions::Step Transitions::compute(const SliceLeaf& leaf, State s,
                                       const std::vector<std::vector<std::uint32_t>>& parts) {
  const auto both = [&](const auto& change) {
    change(s.mutates);
    change(s.reads);
  };
  return std::visit(
      overloaded{
          [&](const prog::Check& check) -> Step {
            for (const RecordValue& r : check.reads ? s.reads : s.mutates) {
              const Demand demanded = demand(check, r.original, rules_.mode);
              if (working::check(r, leaf.threads, check.convergent, demanded, rules_))
                return {0, code_of(check)};
            }
            return {intern(std::move(s)), {}};
          },
          [&](const prog::Record& record) -> Step {
            RecordValue r = new_record(rules_, record, leaf.threads, one_record(record, false));
            for (const auto& part : parts) {
              for (const std::uint32_t e : part) {
                const std::int64_t k = s.counters[e].arrivals;
                r.pending_on(e) = Pending{e, k, k, k};
              }
            }
            if (record.mutate) {
              if (!keeps_mutates(record, rules_.mode)) s.mutates.clear();
              if (!keeps_reads(record, rules_.mode)) s.reads.clear();
            }
            (record.mutate ? s.mutates : s.reads).push_back(std::move(r));
            return {intern(std::move(s)), {}};
          },
          [&](const prog::Fence& f) -> Step {
            both([&](auto& records) { fence(records, f, leaf.threads); });
            return {intern(std::move(s)), {}};
          },
          [&](const prog::Arrive& a) -> Step {
            Counter& home = s.counters[parts.front().front()];
            const std::int64_t k = home.arrivals;
            std::vector<std::uint32_t> referenced;
            for (std::size_t i = 1; i < parts.size(); ++i)
              referenced.insert(referenced.end(), parts[i].begin(), parts[i].end());
            std::sort(referenced.begin(), referenced.end());
            referenced.erase(std::unique(referenced.begin(), referenced.end()), referenced.end());
            if (slice_.var) both([&](auto& records) { arrive(records, a, leaf.threads, referenced, k); });
            home.arrivals = k + 1;
            if (!slice_.var && rules_.mode.forward_progress) {
              for (const std::uint32_t e : referenced) {
                Counter& c = s.counters[e];
                if (c.groups.empty()) c.first = std::min(c.first, k);
                if (k < c.first) {
                  c.groups.insert(c.groups.begin(), static_cast<std::size_t>(c.first - k), Counter::Group{});
                  c.first = k;
                }
                const auto at = static_cast<std::size_t>(k - c.first);
                if (at >= c.groups.size()) c.groups.resize(at + 1);
                ++c.groups[at].homes;
                c.groups[at].expected =
                    std::max(c.groups[at].expected, static_cast<std::int64_t>(referenced.size()));
              }
            }
            return {intern(std::move(s)), {}};
          },
          [&](const prog::Await& a) -> Step {
            const std::uint32_t e = parts.front().front();
            Counter& c = s.counters[e];
            const std::int64_t newest = a.n >= 0 ? c.arrivals - a.n - 1 : c.awaits - (-1 - a.n);
            if (!slice_.var && rules_.mode.forward_progress) {
              const bool cluster_sync = unit_.program->variables[index(slice_.barriers[e].var)].lowered ==
                                        semantics::LoweredBarrier::cluster_sync;
              const std::int64_t waits_for = a.n < 0 ? newest : c.awaits;
              if ((a.n < 0 || cluster_sync) && waits_for >= c.arrivals) return {0, "E-Y04", false, e};
              for (std::size_t i = 0; i < c.groups.size() && c.first + static_cast<std::int64_t>(i) <= newest;
                   ++i) {
                if (c.groups[i].homes != c.groups[i].expected) return {0, "E-Y06", false, e};
              }
            }
            if (slice_.var) both([&](auto& records) { await(records, a, leaf.threads, e, newest); });
            c.awaits = a.n >= 0 ? std::max(c.awaits, newest + 1) : c.awaits + 1;
            return {intern(std::move(s)), {}};
          },
          [&](const prog::CheckBarrier& check) -> Step {
            std::optional<std::uint32_t> failing;
            for (std::uint32_t b = 0; !slice_.var && b < s.counters.size(); ++b) {
              const bool differ =
                  slice_.barriers[b].var == check.var && s.counters[b].arrivals != s.counters[b].awaits;
              if (differ && (!failing || slice_.barriers[b].flat < slice_.barriers[*failing].flat))
                failing = b;
            }
            if (failing) return {0, "E-Y14", false, *failing};
            return {intern(std::move(s)), {}};
          },
          [&](const prog::Alloc& a) -> Step {
            renew(s, a.var);
            return {intern(std::move(s)), {}};
          },
          [&](const prog::Free& f) -> Step {
            renew(s, f.var);
            return {intern(std::move(s)), {}};
          },
          [&](const prog::InitRead& read) -> Step {
            const prog::Variable& x = unit_.program->variables[index(read.target.var)];
            if (s.initialised || !rules_.mode.uninitialised || !x.check_initialised)
              return {intern(std::move(s)), {}};
            if (x.registers) return {0, "E-Y21", false};
            return {intern(std::move(s)), "W-Y21", true};
          },
          [&](const prog::InitWrite&) -> Step {
            s.initialised = true;
            return {intern(std::move(s)), {}};
          },
          [&](const auto&) -> Step { throw semantics::InternalError("a structural node as a leaf"); },
      },
      leaf.node->node);
}

template <class Change>
void Transitions::pick_up(std::vector<RecordValue>& records, const ThreadSet& threads, bool transitive,
                          QualSet first, const Change& change) const {
  const std::size_t count = records.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Meeting meeting = meet(records[i], threads, transitive, first, rules_);
    if (!meeting.met()) continue;
    const auto apply = [&](RecordValue& r, const Meeting::Part& part) {
      if (part.strength != Strength::none) change(r, part.strength, part.owned);
      normalise(r, rules_);
    };
    if (meeting.split) {
      RecordValue inside = records[i];
      inside.members = meeting.inside;
      records[i].members = records[i].members.minus(meeting.inside);
      apply(inside, meeting.inside_part);
      records.push_back(std::move(inside));
    }
    apply(records[i], meeting.whole);
  }
}

void Transitions::fence(std::vector<RecordValue>& records, const prog::Fence& s,
                        const ThreadSet& threads) const {
  const Grants grants = Grants::of(s.full, s.temporal, rules_.table);
  pick_up(records, threads, s.transitive, s.first, [&](RecordValue& r, Strength strength, bool owned) {
    grant(r, threads, grants.to(r, strength, owned, rules_));
  });
}

void Transitions::arrive(std::vector<RecordValue>& records, const prog::Arrive& s, const ThreadSet& threads,
                         const std::vector<std::uint32_t>& referenced, std::int64_t k) const {
  pick_up(records, threads, s.transitive, s.first, [&](RecordValue& r, Strength strength, bool owned) {
    for (const std::uint32_t e : referenced) {
      if (awaits_[e].uses.empty()) continue;
      Pending& p = r.pending_on(e);
      p.weak = std::min(p.weak, k);
      if (strength != Strength::strong) continue;
      p.strong = std::min(p.strong, k);
      if (owned && rules_.mode.proxy_fence_owner) p.own = std::min(p.own, k);
    }
  });
}

void Transitions::await(std::vector<RecordValue>& records, const prog::Await& s, const ThreadSet& threads,
                        std::uint32_t element, std::int64_t newest) const {
  const Grants grants = Grants::of(s.full, s.temporal, rules_.table);
  for (RecordValue& r : records) {
    const Pending* p = r.find_pending(element);
    if (p == nullptr) continue;
    const Strength strength = p->strong <= newest ? Strength::strong
                              : p->weak <= newest ? Strength::weak
                                                  : Strength::none;
    if (strength == Strength::none) continue;
    grant(r, threads, grants.to(r, strength, p->own <= newest, rules_));
    normalise(r, rules_);
  }
}

void Transitions::renew(State& s, VarId var) const {
  if (slice_.var == var) {
    s.mutates.clear();
    s.reads.clear();
    s.initialised = false;
  }
  for (std::size_t b = 0; b < s.counters.size(); ++b) {
    if (slice_.barriers[b].var != var) continue;
    s.counters[b] = {};
    for (auto* records : {&s.mutates, &s.reads}) {
      for (RecordValue& r : *records)
        std::erase_if(r.pending, [&](const Pending& p) { return p.barrier == b; });
    }
  }
}

}  // namespace exocheck::amir::slices
