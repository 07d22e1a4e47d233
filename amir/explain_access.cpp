#include "amir/explain_access.hpp"

#include <fmt/format.h>

#include "semantics/errors.hpp"

namespace exocheck::amir {

namespace am = semantics::amir;
using semantics::ir::overloaded;

namespace {

// An access is CheckMutates [CheckReads] Record with consecutive ids; this is the Record of the check.
const am::Record* record_after(const Words& words, NodeId node) {
  for (std::size_t id = am::index(node); id < words.program().node_count && id < am::index(node) + 3; ++id) {
    if (const auto* r = std::get_if<am::Record>(&words.node(NodeId{static_cast<std::uint32_t>(id)}).node))
      return r;
  }
  return nullptr;
}

// Does the mutate ignore the old value? The check before the record says so.
bool overwrites(const Words& words, NodeId record) {
  if (am::index(record) == 0) return false;
  const auto* check =
      std::get_if<am::Check>(&words.node(NodeId{static_cast<std::uint32_t>(am::index(record) - 1)}).node);
  return check != nullptr && check->overwrites;
}

std::string mode_of(const am::Record& record, bool overwriting) {
  if (!record.mutate) return "read";
  if (!record.atomic.empty()) return "atomic";
  return overwriting ? "write" : "read-write";
}

std::string barrier_element(const Words& words, const SyncEvent& event) {
  return event.barrier ? words.element(*event.barrier, event.element) : "";
}

std::string referenced(const Words& words, const SyncEvent& event) {
  std::string out;
  for (std::size_t i = 0; i < event.referenced.size() && i < 4; ++i) {
    out += (i == 0 ? "" : ", ") + words.element(*event.barrier, event.referenced[i]);
  }
  if (event.referenced.size() > 4) out += ", ...";
  return out.empty() ? barrier_element(words, event) : out;
}

std::string times(const NearMiss& miss) {
  if (miss.repetitions == 1) return "";
  if (miss.repetitions == 2) return " (so does an earlier execution of it)";
  return fmt::format(" (so do {} earlier executions of it)", miss.repetitions - 1);
}

// Timelines of a first timeline; "nothing" for those that only order in time.
std::string awaited(QualSet first) { return first.empty() ? "nothing" : timeline_list(first); }

std::string kind_word(SyncKind kind) {
  switch (kind) {
    case SyncKind::fence:
      return "Fence";
    case SyncKind::arrive:
      return "Arrive";
    case SyncKind::await:
      return "Await";
  }
  throw semantics::InternalError("unknown sync kind");
}

}  // namespace

std::string access_mode(const Words& words, NodeId id) {
  const am::Node& node = words.node(id);
  if (const auto* record = std::get_if<am::Record>(&node.node))
    return mode_of(*record, overwrites(words, id));
  if (std::holds_alternative<am::InitRead>(node.node)) return "read";
  if (std::holds_alternative<am::InitWrite>(node.node)) return "write";
  const auto* check = std::get_if<am::Check>(&node.node);
  if (check == nullptr) return "synchronization";
  switch (check->purpose) {
    case am::Purpose::read:
      return "read";
    case am::Purpose::free_memory:
      return "free";
    case am::Purpose::write: {
      const am::Record* record = record_after(words, id);
      return record == nullptr ? "write" : mode_of(*record, check->overwrites);
    }
  }
  throw semantics::InternalError("unknown purpose");
}

std::string access_verb(const Words& words, NodeId id) {
  const std::string mode = access_mode(words, id);
  if (mode == "read-write") return "update";
  return mode == "atomic" ? "atomic update" : mode;
}

semantics::AccessDetail second_access(const Words& words, const Hazard& hazard) {
  const Instance& at = hazard.check.at;
  semantics::AccessDetail out;
  out.statement = words.text(words.statement(at));
  out.mode = access_mode(words, at.node);
  out.iterators = words.iterators(at);
  const bool host = hazard.check.collective.is_all();
  if (!host) out.task = at.task;
  out.collective = words.threads(hazard.check.collective, at);
  const auto& check = std::get<am::Check>(words.node(at.node).node);
  if (const am::Record* record = record_after(words, at.node);
      record != nullptr && check.purpose != am::Purpose::free_memory) {
    out.timeline = semantics::qual_record(record->qual).long_name;
  } else if (!check.quals.empty()) {
    out.timeline = semantics::qual_record(check.quals.members().front()).long_name;
  }
  for (const Qual q : check.quals.members()) out.extended.emplace_back(semantics::qual_record(q).long_name);
  out.required = am::name(hazard.result.demanded.level);
  out.held = am::name(hazard.result.held);
  if (hazard.result.missing) out.missing_thread = words.thread(*hazard.result.missing, at);
  return out;
}

semantics::AccessDetail first_access(const Words& words, const Hazard& hazard) {
  const RecordView& record = hazard.result.record;
  semantics::AccessDetail out;
  out.statement = words.text(words.statement(record.created));
  out.mode = access_mode(words, record.created.node);
  out.iterators = words.iterators(record.created);
  if (!record.threads.is_all()) out.task = record.created.task;
  out.collective =
      words.threads(hazard.creation ? hazard.creation->collective : record.threads, record.created);
  out.timeline = semantics::qual_record(record.original).long_name;
  out.extended = {out.timeline};
  return out;
}

std::string access_circumstances(const Words& words, const Instance& at) {
  const am::Node& node = words.node(at.node);
  const auto* call = std::get_if<semantics::ir::Call>(&words.statement(at).node);
  std::string out;
  if (call != nullptr && call->instr != nullptr && node.role.starts_with("argument")) {
    out = fmt::format("{} of {}", node.role, call->instr->name);
  }
  const std::string where = words.where(at);
  return out.empty() || where.empty() ? out + where : out + ", " + where;
}

std::string missing_party(const Words& words, const Hazard& hazard) {
  if (hazard.result.missing) return words.thread(*hazard.result.missing, hazard.check.at);
  return words.threads(hazard.check.collective, hazard.check.at);
}

std::string describe_step(const Words& words, const NearMiss& step) {
  const SyncEvent& e = step.event;
  const std::string who = words.threads(e.collective, e.at);
  const std::string where = words.where(e.at).empty() ? "" : " (" + words.where(e.at) + ")";
  switch (e.kind) {
    case SyncKind::fence:
      return fmt::format("this Fence{} orders the first access before later accesses of {}", where, who);
    case SyncKind::arrive:
      return fmt::format("this Arrive{} by {} attaches the first access to arrival {} of {}", where, who,
                         e.arrival, referenced(words, e));
    case SyncKind::await:
      return fmt::format(
          "this Await{} covers arrival {} of {} and orders the first access before later accesses of {}",
          where, step.effect.pending.value_or(e.arrival), barrier_element(words, e), who);
  }
  throw semantics::InternalError("unknown sync kind");
}

std::string describe_miss(const Words& words, const NearMiss& miss, const Hazard& hazard) {
  const SyncEvent& e = miss.event;
  const std::string kind = kind_word(e.kind);
  const std::string where = words.where(e.at).empty() ? "" : " (" + words.where(e.at) + ")";
  const std::string who = words.threads(e.collective, e.at);
  const std::string barrier = barrier_element(words, e);
  const std::string needed = timeline_list(hazard.result.demanded.quals);
  std::string text;
  switch (miss.reason) {
    case Miss::time_only:
      text = fmt::format(
          "this {}{} does reach the second access, but its second timeline has {} in its temporal set only: "
          "it "
          "orders in time without making the first access's effect visible",
          kind, where, needed);
      break;
    case Miss::weak_chain:
      text = fmt::format(
          "this {}{} hands the first access on, but was itself told of it in time only, and full visibility "
          "needs an unbroken chain of full hand-overs (repair H1)",
          kind, where);
      break;
    case Miss::withheld:
      text = fmt::format(
          "this {}{} is a proxy fence by {}, who neither made the first access nor learned of it through a "
          "proxy fence (strict S1)",
          kind, where, who);
      break;
    case Miss::not_covered:
      text =
          e.arrival < 0
              ? fmt::format(
                    "this Await{} on {} waits for no arrival yet, the first access is attached to arrival {}",
                    where, barrier, *miss.effect.pending)
              : fmt::format(
                    "this Await{} waits for the arrivals 0..{} of {}, the first access is attached to "
                    "arrival {}",
                    where, e.arrival, barrier, *miss.effect.pending);
      break;
    case Miss::wrong_timeline:
      text =
          fmt::format("this {}{} does reach the second access, but its second timeline does not contain {}",
                      kind, where, needed);
      break;
    case Miss::not_waited_for:
      text = fmt::format(
          "this {}{} does not pick the first access up: its threads know it only on {}, its first timeline "
          "waits for {}",
          kind, where, timeline_list(miss.effect.known_on), awaited(e.first));
      break;
    case Miss::not_transitive:
      text = fmt::format(
          "this {}{} does not pick the first access up: its first timeline is not transitive, it waits for "
          "its own threads' accesses only, and the first access was made on {}",
          kind, where, semantics::qual_record(hazard.result.record.original).long_name);
      break;
    case Miss::never_awaited:
      text = fmt::format(
          "this Arrive{} attaches the first access to arrival {} of {}, but no Await covers that arrival "
          "before "
          "the second access",
          where, e.arrival, referenced(words, e));
      break;
    case Miss::other_threads:
      text = fmt::format(
          "this {}{} orders the first access before later accesses of {}, but {} is not among them", kind,
          where, who, missing_party(words, hazard));
      break;
    case Miss::not_known:
      text = fmt::format(
          "this {}{} is executed by {}, none of whom made the first access or had been told of it", kind,
          where, who);
      break;
    case Miss::nothing_attached:
      text = e.arrival < 0
                 ? fmt::format("this Await{} on {} waits for no arrival yet", where, barrier)
                 : fmt::format(
                       "this Await{} waits for the arrivals 0..{} of {}, none of which carries the first "
                       "access",
                       where, e.arrival, barrier);
      break;
  }
  return text + times(miss);
}

}  // namespace exocheck::amir
