#include "amir/hb_graph_build.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amir/explain_access.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

using semantics::Diagnostic;

namespace {

constexpr std::size_t most_steps = 8;
constexpr std::size_t most_barrier_events = 10;

std::string short_list(QualSet quals) {
  std::string out;
  for (const Qual q : quals.members()) {
    std::string name(semantics::qual_record(q).long_name);
    if (name.ends_with("_qual")) name.resize(name.size() - 5);
    out += (out.empty() ? "" : ", ") + name;
  }
  return out.empty() ? "nothing" : out;
}

// The failing condition in a few words.
std::string edge_label(const NearMiss& miss, const Hazard& hazard) {
  switch (miss.reason) {
    case Miss::time_only:
      return "in time only, effect not visible to " + short_list(hazard.result.demanded.quals);
    case Miss::weak_chain:
      return "had it in time only, cannot pass on more";
    case Miss::withheld:
      return "proxy fence by threads that do not own the access";
    case Miss::not_covered:
      return miss.event.arrival < 0
                 ? fmt::format("waits for no arrival yet, needs arrival {}", *miss.effect.pending)
                 : fmt::format("waits for arrivals 0..{}, needs arrival {}", miss.event.arrival,
                               *miss.effect.pending);
    case Miss::wrong_timeline:
      return "second timeline lacks " + short_list(hazard.result.demanded.quals);
    case Miss::not_waited_for:
      return fmt::format("known on {} only, waits for {}", short_list(miss.effect.known_on),
                         short_list(miss.event.first));
    case Miss::not_transitive:
      return "not transitive: waits for its own accesses only";
    case Miss::never_awaited:
      return fmt::format("arrival {} is not awaited before", miss.event.arrival);
    case Miss::other_threads:
      return "published to other threads";
    case Miss::not_known:
      return "its threads do not know the access";
    case Miss::nothing_attached:
      return "none of the awaited arrivals carries the access";
  }
  throw semantics::InternalError("unknown reason");
}

// Does the reason lie before the sync instance (it never got hold of the access) or after it (it did, but to
// no avail)?
bool lies_before(Miss reason) {
  switch (reason) {
    case Miss::not_covered:
    case Miss::not_waited_for:
    case Miss::not_transitive:
    case Miss::not_known:
    case Miss::nothing_attached:
      return true;
    case Miss::time_only:
    case Miss::weak_chain:
    case Miss::withheld:
    case Miss::wrong_timeline:
    case Miss::never_awaited:
    case Miss::other_threads:
      return false;
  }
  throw semantics::InternalError("unknown reason");
}

EventKind kind_of(SyncKind kind) {
  switch (kind) {
    case SyncKind::fence:
      return EventKind::fence;
    case SyncKind::arrive:
      return EventKind::arrive;
    case SyncKind::await:
      return EventKind::await;
  }
  throw semantics::InternalError("unknown sync kind");
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const Words& words) : words_(words) {}

  HbGraph build(const Explanation& explanation, const std::string& sizes) {
    const Diagnostic& d = explanation.diagnostic;
    std::string element = d.variable;
    for (std::size_t i = 0; i < d.index.size(); ++i)
      element += fmt::format("{}{}", i == 0 ? "[" : ", ", d.index[i]);
    if (!d.index.empty()) element += "]";
    graph_.title =
        fmt::format("{} {} on {}{}", d.rule->name, d.rule->code, element, sizes.empty() ? "" : ", " + sizes);
    if (explanation.hazard) {
      hazard(*explanation.hazard);
    } else {
      barrier(explanation);
    }
    return std::move(graph_);
  }

 private:
  // One event with the threads that execute it.
  std::size_t add(EventKind kind, const Instance& at, const ThreadSet& threads,
                  std::vector<std::string> details, int repetitions);
  void program_order();
  // Program order that another edge already shows.
  void drop_doubled();
  void hazard(const Hazard& h);
  void barrier(const Explanation& explanation);
  std::vector<std::string> sync_details(const SyncEvent& e) const;

  const Words& words_;
  HbGraph graph_;
  std::vector<ThreadSet> threads_;  // per event
};

std::size_t GraphBuilder::add(EventKind kind, const Instance& at, const ThreadSet& threads,
                              std::vector<std::string> details, int repetitions) {
  const std::string title = words_.threads(threads, at);
  const auto lane = std::find_if(graph_.lanes.begin(), graph_.lanes.end(),
                                 [&](const HbLane& l) { return l.title == title; });
  HbEvent event;
  event.kind = kind;
  event.lane = static_cast<std::size_t>(lane - graph_.lanes.begin());
  if (lane == graph_.lanes.end()) graph_.lanes.push_back({title});
  event.line = words_.line(at);
  event.statement = words_.text(words_.statement(at));
  event.where = words_.where(at);
  event.details = std::move(details);
  event.repetitions = repetitions;
  graph_.events.push_back(std::move(event));
  threads_.push_back(threads);
  return graph_.events.size() - 1;
}

// From each event to the next one of the same threads; what follows from two other edges is left out.
void GraphBuilder::program_order() {
  for (std::size_t to = 0; to < threads_.size(); ++to) {
    ThreadSet open = threads_[to];
    for (std::size_t from = to; from-- > 0 && !open.empty();) {
      if (!threads_[from].meets(open)) continue;
      graph_.edges.push_back({from, to, EdgeKind::program_order, ""});
      open = open.minus(threads_[from]);
    }
  }
}

void GraphBuilder::drop_doubled() {
  std::vector<HbEdge> kept;
  for (const HbEdge& edge : graph_.edges) {
    const bool doubled = std::any_of(graph_.edges.begin(), graph_.edges.end(), [&](const HbEdge& other) {
      return other.kind != EdgeKind::program_order && other.from == edge.from && other.to == edge.to;
    });
    if (edge.kind != EdgeKind::program_order || !doubled) kept.push_back(edge);
  }
  graph_.edges = std::move(kept);
}

std::vector<std::string> GraphBuilder::sync_details(const SyncEvent& e) const {
  if (!e.barrier) return {};
  const std::string element = words_.element(*e.barrier, e.element);
  if (e.kind == SyncKind::arrive) return {fmt::format("arrival {} of {}", e.arrival, element)};
  if (e.arrival < 0) return {fmt::format("waits for no arrival of {} yet", element)};
  return {fmt::format("waits for arrivals 0..{} of {}", e.arrival, element)};
}

void GraphBuilder::hazard(const Hazard& h) {
  const RecordView& record = h.result.record;
  const Instance& first_at = record.created;
  const ThreadSet first_threads = h.creation ? h.creation->collective : record.threads;

  // Rows: what took effect and what missed, in order of execution; an instance that did both is one row.
  struct Row {
    const NearMiss* step = nullptr;
    const NearMiss* miss = nullptr;
    const SyncEvent& event() const { return step != nullptr ? step->event : miss->event; }
    std::size_t sequence() const { return step != nullptr ? step->sequence : miss->sequence; }
  };
  std::vector<const NearMiss*> steps;
  for (const NearMiss& step : h.steps) {
    if (!steps.empty() && steps.back()->event.at.node == step.event.at.node &&
        step.event.kind == SyncKind::fence) {
      steps.back() = &step;
    } else {
      steps.push_back(&step);
    }
  }
  if (steps.size() > most_steps) {
    steps.erase(steps.begin() + most_steps / 2, steps.end() - most_steps / 2);
  }
  std::vector<Row> rows;
  for (const NearMiss* step : steps) rows.push_back({step, nullptr});
  for (const NearMiss& miss : h.misses) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.sequence() == miss.sequence; });
    if (row != rows.end()) {
      row->miss = &miss;
    } else {
      rows.push_back({nullptr, &miss});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.sequence() < b.sequence(); });

  const std::string on_first =
      fmt::format("{} on {}", access_verb(words_, first_at.node), short_list(QualSet{record.original}));
  const std::size_t first = add(EventKind::first_access, first_at, first_threads, {on_first}, 1);
  std::vector<std::size_t> ids;
  for (const Row& row : rows) {
    ids.push_back(add(kind_of(row.event().kind), row.event().at, row.event().collective,
                      sync_details(row.event()), row.miss != nullptr ? row.miss->repetitions : 1));
  }
  std::vector<std::string> needs{
      fmt::format("{} on {}", access_verb(words_, h.check.at.node), short_list(h.result.demanded.quals)),
      fmt::format("needs the first access {}", semantics::amir::name(h.result.demanded.level))};
  if (h.result.missing) needs.push_back("missing: " + words_.thread(*h.result.missing, h.check.at));
  const std::size_t second =
      add(EventKind::second_access, h.check.at, h.check.collective, std::move(needs), 1);

  program_order();
  // Who could have told row i of the first access: the latest earlier step whose threads it shares, or the
  // access itself.
  const auto source = [&](std::size_t row, const ThreadSet& threads) {
    for (std::size_t i = row; i-- > 0;) {
      const NearMiss* step = rows[i].step;
      if (step != nullptr && step->event.kind != SyncKind::arrive && step->event.collective.meets(threads))
        return ids[i];
    }
    return first;
  };
  const auto arrival_source = [&](std::size_t row, std::optional<std::int64_t> pending) {
    const SyncEvent& await = rows[row].event();
    for (std::size_t i = row; i-- > 0;) {
      const NearMiss* step = rows[i].step;
      if (step == nullptr || step->event.kind != SyncKind::arrive || step->event.barrier != await.barrier)
        continue;
      if (pending && step->event.arrival == *pending) return ids[i];
    }
    return first;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SyncEvent& e = rows[i].event();
    if (const NearMiss* step = rows[i].step) {
      if (e.kind == SyncKind::await) {
        graph_.edges.push_back({arrival_source(i, step->effect.pending), ids[i], EdgeKind::arrival,
                                fmt::format("arrival {}", step->effect.pending.value_or(0))});
      } else {
        graph_.edges.push_back({source(i, e.collective), ids[i], EdgeKind::published, ""});
      }
    }
    if (const NearMiss* miss = rows[i].miss) {
      if (lies_before(miss->reason)) {
        const std::size_t from = miss->reason == Miss::not_covered ? arrival_source(i, miss->effect.pending)
                                                                   : source(i, e.collective);
        graph_.edges.push_back({from, ids[i], EdgeKind::near_miss, edge_label(*miss, h)});
      } else {
        graph_.edges.push_back({ids[i], second, EdgeKind::near_miss, edge_label(*miss, h)});
      }
    }
  }
  graph_.edges.push_back({first, second, EdgeKind::hazard,
                          h.result.held == Level::temporal
                              ? "ordered in time, but its effect need not be visible"
                              : "no happens-before path"});
  drop_doubled();
}

void GraphBuilder::barrier(const Explanation& explanation) {
  const auto& events = explanation.barrier_events;
  const std::size_t skip = events.size() > most_barrier_events ? events.size() - most_barrier_events : 0;
  std::vector<std::size_t> ids;
  for (std::size_t i = skip; i < events.size(); ++i) {
    const SyncEvent& e = events[i];
    const std::size_t id = add(kind_of(e.kind), e.at, e.collective, sync_details(e), 1);
    if (e.kind == SyncKind::await) {
      for (std::size_t j = skip; j < i; ++j) {
        if (events[j].kind == SyncKind::arrive && events[j].arrival == e.arrival) {
          graph_.edges.push_back(
              {ids[j - skip], id, EdgeKind::arrival, fmt::format("arrival {}", e.arrival)});
        }
      }
    }
    ids.push_back(id);
  }
  program_order();
}

}  // namespace

HbGraph make_graph(const Words& words, const Explanation& explanation, const std::string& sizes) {
  if (!explanation.hazard && explanation.barrier_events.empty()) return {};
  return GraphBuilder(words).build(explanation, sizes);
}

}  // namespace exocheck::amir
