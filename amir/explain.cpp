#include "amir/explain.hpp"

#include <fmt/format.h>

#include "amir/explain_access.hpp"
#include "amir/explain_suggest.hpp"
#include "amir/machine.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

namespace am = semantics::amir;
using semantics::Diagnostic;
using semantics::Related;
using semantics::Role;

namespace {

constexpr std::size_t most_steps = 6;

Diagnostic about_element(const Words& words, const Violation& v, semantics::Location location,
                         std::string message) {
  Diagnostic d = semantics::make_diagnostic(v.code, std::move(location), std::move(message));
  d.variable = words.name(v.var);
  d.index = v.element;
  d.memory = words.program().variables.at(am::index(v.var)).memory;
  return d;
}

void add_declaration(const Words& words, const Violation& v, Diagnostic& d) {
  const semantics::Location place = words.declaration(v.var);
  if (place.span == d.location.span) return;
  const auto& variable = words.program().variables.at(am::index(v.var));
  d.related.push_back({Role::declaration,
                       fmt::format("{} is {} here, in {}", variable.name,
                                   variable.parameter ? "declared" : "allocated", variable.memory),
                       place});
}

std::string hazard_message(const Words& words, const Violation& v, const Hazard& hazard) {
  const std::string element = words.element(v.var, v.element);
  const std::string verb = access_verb(words, hazard.check.at.node);
  const std::string first = access_verb(words, hazard.result.record.created.node);
  const int line = words.line(hazard.result.record.created);
  std::string head;
  if (verb == "free") {
    head = fmt::format(
        "shared memory of {} is freed (after {}) while the {} of {} in line {} may still be under way",
        words.name(v.var), hazard.result.record.mutate ? "mutate" : "read", first, element, line);
  } else if (!hazard.check.reads && (verb == "read" || verb == "update")) {
    head = fmt::format("this {} of {} may not see the {} in line {}", verb, element, first, line);
  } else {
    head = fmt::format("this {} of {} may overtake the {} in line {}", verb, element, first, line);
  }
  const Level needed = hazard.result.demanded.level;
  return fmt::format("{}: {} must be {} after it on {}, but {}", head, missing_party(words, hazard),
                     needed == Level::atomic ? "at least atomic" : am::name(needed),
                     timeline_list(hazard.result.demanded.quals), knowledge(hazard.result.held));
}

void describe_hazard(const Words& words, const Hazard& hazard, Diagnostic& d) {
  d.access = second_access(words, hazard);
  d.first_access = first_access(words, hazard);
  const RecordView& record = hazard.result.record;
  std::string circumstances = access_circumstances(words, record.created);
  if (!circumstances.empty()) circumstances = " (" + circumstances + ")";
  d.related.push_back(
      {Role::first_access,
       fmt::format("the first access: {} on {} by {}{}", access_verb(words, record.created.node),
                   d.first_access->timeline, d.first_access->collective, circumstances),
       words.location(record.created)});
  const std::size_t skipped = hazard.steps.size() > most_steps ? hazard.steps.size() - most_steps : 0;
  for (std::size_t i = 0; i < hazard.steps.size(); ++i) {
    if (i >= most_steps / 2 && i < most_steps / 2 + skipped) continue;
    const NearMiss& step = hazard.steps[i];
    d.related.push_back({Role::sync, describe_step(words, step), words.location(step.event.at)});
  }
  for (const NearMiss& miss : hazard.misses) {
    d.related.push_back({Role::near_miss, describe_miss(words, miss, hazard), words.location(miss.event.at)});
  }
  if (hazard.steps.empty() && hazard.misses.empty()) {
    d.related.push_back(
        {Role::context,
         fmt::format("between the two accesses no Fence, Arrive or Await of {} or of the first access's "
                     "threads was executed",
                     missing_party(words, hazard)),
         d.location});
  }
  d.suggestion = suggest(words, hazard);
}

// Arrive and Await events on one barrier element, from the log.
std::vector<SyncEvent> events_on(const TraceLog& log, const Violation& v) {
  std::vector<SyncEvent> out;
  for (const auto& event : log.events()) {
    const auto* sync = std::get_if<SyncEvent>(&event);
    if (sync == nullptr || sync->barrier != v.var) continue;
    const bool referenced =
        std::find(sync->referenced.begin(), sync->referenced.end(), v.element) != sync->referenced.end();
    if (sync->element == v.element || referenced) out.push_back(*sync);
  }
  return out;
}

std::string barrier_message(const Words& words, const Violation& v) {
  const std::string element = words.element(v.var, v.element);
  if (v.code == "E-Y04") {
    return fmt::format(
        "in sequential order this Await runs before the Arrive it waits for: it waits for arrival {} "
        "(counted "
        "from 0) of {}, but only {} have been executed",
        v.count_a, element, v.count_b);
  }
  if (v.code == "E-Y06" && v.count_b == 0) {
    return fmt::format(
        "this Arrive may count in the wrong round: since its last arrive its threads waited for nothing but "
        "the round of "
        "{} itself, so a neighbour's mbarrier may still lack another CTA's arrive of that round",
        element);
  }
  if (v.code == "E-Y06") {
    return fmt::format(
        "this Await of {} relies on an arrival to which only {} of the {} multicast partners have "
        "contributed",
        element, v.count_a, v.count_b);
  }
  return fmt::format("barrier {} dies with {} arrivals but {} awaits", element, v.count_a, v.count_b);
}

void describe_barrier(const Words& words, const Violation& v, const std::vector<SyncEvent>& events,
                      Diagnostic& d) {
  constexpr std::size_t most = 4;
  for (std::size_t i = events.size() > most ? events.size() - most : 0; i < events.size(); ++i) {
    const SyncEvent& e = events[i];
    const std::string where = words.where(e.at).empty() ? "" : " (" + words.where(e.at) + ")";
    const std::string text =
        e.kind == SyncKind::arrive
            ? fmt::format("arrival {} of {}{} by {}", e.arrival, words.element(v.var, e.element), where,
                          words.threads(e.collective, e.at))
            : fmt::format("Await{} of the arrivals up to {} by {}", where, e.arrival,
                          words.threads(e.collective, e.at));
    d.related.push_back({Role::sync, text, words.location(e.at)});
  }
  if (events.empty()) {
    d.related.push_back(
        {Role::context,
         fmt::format("no Arrive or Await on {} was executed before", words.element(v.var, v.element)),
         d.location});
  }
  if (v.code == "E-Y04")
    d.suggestion =
        "execute the Arrive first, or give the Await a larger lag so that its first executions pass";
  if (v.code == "E-Y06" && v.count_b == 0) {
    d.suggestion =
        "let the rounds alternate with a second mbarrier (barrier(...) guard), give the ring another slot "
        "(Await with a lag "
        "of 1), or put a Fence of the whole cluster between them";
  } else if (v.code == "E-Y06")
    d.suggestion = "let every CTA of the multicast group execute the Arrive before the Await";
  if (v.code == "E-Y14") {
    d.suggestion =
        v.count_a > v.count_b
            ? "Await every arrival before the barrier's life ends (drain a commit group with N = 0)"
            : "pair every Await with an Arrive";
  }
}

// What the violated node's statement does, for access details of findings without a first access.
semantics::AccessDetail lone_access(const Words& words, const Violation& v) {
  semantics::AccessDetail out;
  out.statement = words.text(words.statement(v.at));
  out.mode = access_mode(words, v.at.node);
  out.iterators = words.iterators(v.at);
  const am::Node& node = words.node(v.at.node);
  const am::ThreadMap& map = words.program().maps.at(node.map);
  if (map.all_threads) {
    out.collective = "the host";
    return out;
  }
  out.task = v.at.task;
  semantics::ir::Environment env(words.program().symbol_count);
  for (const auto& [symbol, value] : v.at.iterators) env.set(symbol, value);
  out.collective = words.threads(ThreadSet::of(map, env, v.at.task, words.program().threads), v.at);
  return out;
}

std::string circumstances_of(const Words& words, const Violation& v) {
  std::string text = access_circumstances(words, v.at);
  return text.empty() ? text : " (" + text + ")";
}

std::string uninitialised_message(const Words& words, const Violation& v) {
  return fmt::format("{} is read{}, but no earlier statement wrote it", words.element(v.var, v.element),
                     circumstances_of(words, v));
}

}  // namespace

Diagnostic describe_warning(const Words& words, const Violation& warning) {
  Diagnostic d =
      about_element(words, warning, words.location(warning.at), uninitialised_message(words, warning));
  d.access = lone_access(words, warning);
  add_declaration(words, warning, d);
  d.suggestion = fmt::format("write {} before it is read", words.name(warning.var));
  return d;
}

Explanation explain(const Words& words, const Violation& v, const Sizes& sizes, const ModeRules& rules,
                    const Limits& limits) {
  Explanation out;
  if (v.code == "E-Y21") {
    out.diagnostic = describe_warning(words, v);
    return out;
  }
  if (v.code == "E-Y20") {
    out.diagnostic = about_element(words, v, words.location(v.at),
                                   fmt::format("{} lies outside the allocation{}",
                                               words.element(v.var, v.element), circumstances_of(words, v)));
    out.diagnostic.access = lone_access(words, v);
    add_declaration(words, v, out.diagnostic);
    return out;
  }
  TraceLog log({v.var, v.element});
  const Outcome again = run(words.program(), sizes, rules, limits, &log);
  semantics::ensure(again.violation && again.violation->code == v.code &&
                        again.violation->element == v.element && again.violation->at.node == v.at.node,
                    "the watched run ends in another violation than the first one");
  if (v.code == "E-Y04" || v.code == "E-Y06" || v.code == "E-Y14") {
    out.barrier_events = events_on(log, v);
    const semantics::Location place = v.code == "E-Y14" ? words.declaration(v.var) : words.location(v.at);
    out.diagnostic = about_element(words, v, place, barrier_message(words, v));
    out.diagnostic.access = lone_access(words, v);
    describe_barrier(words, v, out.barrier_events, out.diagnostic);
    add_declaration(words, v, out.diagnostic);
    return out;
  }
  out.hazard = find_hazard(log);
  semantics::ensure(out.hazard.has_value(), "a hazard comes from a failed check");
  const semantics::Location place = v.code == "E-Y12" ? words.declaration(v.var) : words.location(v.at);
  out.diagnostic = about_element(words, v, place, hazard_message(words, v, *out.hazard));
  describe_hazard(words, *out.hazard, out.diagnostic);
  add_declaration(words, v, out.diagnostic);
  return out;
}

}  // namespace exocheck::amir
