#include "amir/explain_trace.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace exocheck::amir {

namespace {

constexpr std::size_t most_events = 50'000;
constexpr std::size_t most_misses = 4;

struct Lineage {
  std::set<std::uint64_t> ids;
  bool contains(std::uint64_t id) const { return ids.contains(id); }
};

// The record and those it was split off from.
Lineage lineage_of(const TraceLog& log, std::uint64_t id) {
  std::map<std::uint64_t, std::uint64_t> parent;
  const auto note = [&parent](const RecordView& view) {
    if (view.split_from) parent[view.id] = *view.split_from;
  };
  for (const auto& event : log.events()) {
    if (const auto* sync = std::get_if<SyncEvent>(&event)) {
      for (const SyncEffect& effect : sync->effects) {
        note(effect.before);
        note(effect.after);
      }
    }
    if (const auto* check = std::get_if<CheckEvent>(&event)) {
      for (const auto& result : check->results) note(result.record);
    }
  }
  Lineage out;
  for (std::uint64_t at = id; out.ids.insert(at).second;) {
    const auto up = parent.find(at);
    if (up == parent.end()) break;
    at = up->second;
  }
  return out;
}

bool concerns(const ThreadSet& collective, const Hazard& hazard) {
  return hazard.result.missing ? collective.contains(*hazard.result.missing)
                               : collective.meets(hazard.check.collective);
}

// What an augmentation that took place lacked for the second access.
std::optional<Miss> lacking(const SyncEvent& event, const SyncEffect& effect, const Hazard& hazard) {
  if (!concerns(event.collective, hazard)) return Miss::other_threads;
  const Demand& need = hazard.result.demanded;
  if (need.level == Level::full) {
    if (effect.withheld.meets(need.quals)) return Miss::withheld;
    if (effect.strength == Strength::weak && event.full.meets(need.quals)) return Miss::weak_chain;
    if (!event.full.meets(need.quals) && event.temporal.meets(need.quals)) return Miss::time_only;
  }
  if (!event.temporal.meets(need.quals)) return Miss::wrong_timeline;
  return std::nullopt;
}

// Is the access attached to this very arrival already, as a copy is to the Arrive after it?
bool attached(const SyncEvent& arrive, const RecordView& record) {
  return std::any_of(record.pending.begin(), record.pending.end(), [&](const PendingView& p) {
    const bool named =
        std::find(arrive.referenced.begin(), arrive.referenced.end(), p.element) != arrive.referenced.end();
    return p.barrier == arrive.barrier && named && p.strong && *p.strong <= arrive.arrival;
  });
}

std::optional<Miss> judge(const SyncEvent& event, const SyncEffect& effect, const Hazard& hazard) {
  const bool concerned = concerns(event.collective, hazard);
  if (event.kind == SyncKind::await) {
    const bool covered = effect.pending && *effect.pending <= event.arrival;
    if (covered) return lacking(event, effect, hazard);
    if (effect.pending) return Miss::not_covered;
    return concerned ? std::optional(Miss::nothing_attached) : std::nullopt;
  }
  const bool fence = event.kind == SyncKind::fence;
  if (effect.strength != Strength::none || effect.changed) {
    return fence ? lacking(event, effect, hazard) : std::optional(Miss::never_awaited);
  }
  // A fence whose second timeline would not help the second access is there for something else.
  if (fence && !event.temporal.meets(hazard.result.demanded.quals)) return std::nullopt;
  // So is what waits for the completion of another kind of access.
  const bool own_kind = event.first.contains(hazard.result.record.original);
  if (!event.transitive && !event.first.empty() && !own_kind) return std::nullopt;
  if (!fence && attached(event, effect.before)) return std::nullopt;
  if (effect.known_on.empty()) return fence && concerned ? std::optional(Miss::not_known) : std::nullopt;
  return effect.original_required ? Miss::not_transitive : Miss::not_waited_for;
}

// Lower is more telling.
int rank(const NearMiss& miss, const Hazard& hazard) {
  const bool concerned = concerns(miss.event.collective, hazard);
  switch (miss.reason) {
    case Miss::time_only:
    case Miss::weak_chain:
    case Miss::withheld:
      return 0;
    case Miss::not_covered:
      return concerned ? 1 : 6;
    case Miss::wrong_timeline:
      return 2;
    case Miss::not_waited_for:
    case Miss::not_transitive:
      return 3;
    case Miss::never_awaited:
      return 4;
    case Miss::other_threads:
      return 5;
    case Miss::not_known:
      return 7;
    case Miss::nothing_attached:
      return 8;
  }
  return 9;
}

// An arrival is wasted only if no later Await covered it on one of the elements it publishes on; where one
// came close, that Await says more.
bool wasted(const NearMiss& miss, const std::vector<NearMiss>& misses,
            const std::vector<const SyncEvent*>& syncs) {
  const bool close = std::any_of(misses.begin(), misses.end(), [&](const NearMiss& other) {
    return other.reason == Miss::not_covered && other.event.barrier == miss.event.barrier &&
           other.effect.pending == miss.event.arrival;
  });
  return !close && std::none_of(syncs.begin(), syncs.end(), [&](const SyncEvent* later) {
    return later->kind == SyncKind::await && later->barrier == miss.event.barrier &&
           later->arrival >= miss.event.arrival &&
           std::find(miss.event.referenced.begin(), miss.event.referenced.end(), later->element) !=
               miss.event.referenced.end();
  });
}

// One entry per statement and reason: its last instance.
std::vector<NearMiss> distinct(std::vector<NearMiss> misses) {
  std::vector<NearMiss> out;
  for (NearMiss& miss : misses) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const NearMiss& d) {
      return d.event.at.node == miss.event.at.node && d.reason == miss.reason;
    });
    if (same != out.end()) {
      miss.repetitions = same->repetitions + 1;
      out.erase(same);
    }
    out.push_back(std::move(miss));
  }
  return out;
}

// The most telling ones, in order of execution; of equally telling ones the latest.
std::vector<NearMiss> select(std::vector<NearMiss> misses, const Hazard& hazard) {
  std::stable_sort(misses.begin(), misses.end(), [&](const NearMiss& a, const NearMiss& b) {
    const int ra = rank(a, hazard);
    const int rb = rank(b, hazard);
    return ra != rb ? ra < rb : a.sequence > b.sequence;
  });
  if (misses.size() > most_misses) misses.resize(most_misses);
  std::sort(misses.begin(), misses.end(),
            [](const NearMiss& a, const NearMiss& b) { return a.sequence < b.sequence; });
  return misses;
}

}  // namespace

void TraceLog::add(Event event) {
  if (events_.size() < most_events) events_.push_back(std::move(event));
}

void TraceLog::on_check(const CheckEvent& event) {
  // Checks that found everything in order say nothing; the last failing one is the violation.
  const bool failed =
      std::any_of(event.results.begin(), event.results.end(), [](const auto& r) { return !r.ok; });
  if (failed) events_.push_back(event);
}

void TraceLog::on_record(const RecordEvent& event) {
  for (const std::uint64_t id : event.dropped) live_.erase(id);
  // A mutate that made every earlier access irrelevant begins a new story.
  if (live_.empty()) events_.clear();
  for (const RecordView& view : event.created) live_.insert(view.id);
  add(event);
}

void TraceLog::on_sync(const SyncEvent& event) {
  for (const SyncEffect& effect : event.effects) live_.insert(effect.after.id);
  const bool own_barrier = event.barrier == filter_.var;
  if (!event.effects.empty() || own_barrier) add(event);
}

std::optional<Hazard> find_hazard(const TraceLog& log) {
  Hazard hazard;
  const CheckEvent* failing = nullptr;
  for (const auto& event : log.events()) {
    if (const auto* check = std::get_if<CheckEvent>(&event)) failing = check;
  }
  if (failing == nullptr) return std::nullopt;
  hazard.check = *failing;
  hazard.result =
      *std::find_if(failing->results.begin(), failing->results.end(), [](const auto& r) { return !r.ok; });
  const Lineage lineage = lineage_of(log, hazard.result.record.id);

  std::vector<const SyncEvent*> syncs;
  std::vector<NearMiss> misses;
  std::size_t sequence = 0;
  for (const auto& event : log.events()) {
    ++sequence;
    if (const auto* record = std::get_if<RecordEvent>(&event)) {
      const bool creates = std::any_of(record->created.begin(), record->created.end(),
                                       [&](const RecordView& view) { return lineage.contains(view.id); });
      if (creates) hazard.creation = *record;
    }
    const auto* sync = std::get_if<SyncEvent>(&event);
    // The host-side ends of kernels order everything that lies before them; they explain nothing.
    if (sync == nullptr || sync->collective.is_all()) continue;
    for (const SyncEffect& effect : sync->effects) {
      if (!lineage.contains(effect.before.id)) continue;
      syncs.push_back(sync);
      if (effect.changed) hazard.steps.push_back({*sync, sequence, effect, Miss::other_threads, 1});
      if (const auto reason = judge(*sync, effect, hazard))
        misses.push_back({*sync, sequence, effect, *reason, 1});
    }
  }
  std::vector<NearMiss> telling;
  for (const NearMiss& miss : misses) {
    if (miss.reason != Miss::never_awaited || wasted(miss, misses, syncs)) telling.push_back(miss);
  }
  hazard.misses = select(distinct(std::move(telling)), hazard);
  return hazard;
}

}  // namespace exocheck::amir
