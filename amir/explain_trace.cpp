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

std::optional<Miss> judge(const SyncEvent& event, const SyncEffect& effect, const Hazard& hazard) {
  if (event.kind == SyncKind::await) {
    const bool covered = effect.pending && *effect.pending <= event.arrival;
    if (covered) return lacking(event, effect, hazard);
    if (effect.pending) return Miss::not_covered;
    return concerns(event.collective, hazard) ? std::optional(Miss::nothing_attached) : std::nullopt;
  }
  if (effect.strength != Strength::none || effect.changed) {
    return event.kind == SyncKind::fence ? lacking(event, effect, hazard)
                                         : std::optional(Miss::never_awaited);
  }
  if (effect.known_on.empty()) {
    return concerns(event.collective, hazard) ? std::optional(Miss::not_known) : std::nullopt;
  }
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

// An arrival is wasted only if no later Await covered it on one of the elements it publishes on.
void drop_awaited_arrivals(std::vector<NearMiss>& misses, const std::vector<const SyncEvent*>& syncs) {
  std::erase_if(misses, [&](const NearMiss& miss) {
    if (miss.reason != Miss::never_awaited) return false;
    return std::any_of(syncs.begin(), syncs.end(), [&](const SyncEvent* later) {
      return later->kind == SyncKind::await && later->barrier == miss.event.barrier &&
             later->arrival >= miss.event.arrival &&
             std::find(miss.event.referenced.begin(), miss.event.referenced.end(), later->element) !=
                 miss.event.referenced.end();
    });
  });
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

std::optional<Hazard> find_hazard(const TraceLog& log, const Program& program) {
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
    if (sync == nullptr) continue;
    // The host-side ends of kernels order everything that lies before them; they explain nothing.
    if (program.maps.size() > 0 && sync->collective.is_all()) continue;
    for (const SyncEffect& effect : sync->effects) {
      if (!lineage.contains(effect.before.id)) continue;
      syncs.push_back(sync);
      if (effect.changed) hazard.steps.push_back({*sync, sequence, effect, Miss::other_threads, 1});
      if (const auto reason = judge(*sync, effect, hazard))
        misses.push_back({*sync, sequence, effect, *reason, 1});
    }
  }
  drop_awaited_arrivals(misses, syncs);

  // One entry per statement and reason: its last instance.
  std::vector<NearMiss> distinct;
  for (NearMiss& miss : misses) {
    const auto same = std::find_if(distinct.begin(), distinct.end(), [&](const NearMiss& d) {
      return d.event.at.node == miss.event.at.node && d.reason == miss.reason;
    });
    if (same == distinct.end()) {
      distinct.push_back(std::move(miss));
    } else {
      miss.repetitions = same->repetitions + 1;
      distinct.erase(same);
      distinct.push_back(std::move(miss));
    }
  }
  std::vector<std::size_t> order(distinct.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int ra = rank(distinct[a], hazard);
    const int rb = rank(distinct[b], hazard);
    return ra != rb ? ra < rb : a > b;
  });
  order.resize(std::min(order.size(), most_misses));
  std::sort(order.begin(), order.end());
  for (const std::size_t i : order) hazard.misses.push_back(std::move(distinct[i]));
  return hazard;
}

}  // namespace exocheck::amir
