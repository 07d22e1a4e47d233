#include <fmt/format.h>

#include <algorithm>

#include "semantics/export.hpp"
#include "semantics/inference_rules.hpp"
#include "semantics/inference_term.hpp"
#include "semantics/rules.hpp"

namespace exocheck::semantics {
namespace {

std::string yes(bool b) { return b ? "yes" : "no"; }

std::string sync_table(Dialect d) {
  std::string out = "| timeline | transitive | full set | temporal set |\n|---|---|---|---|\n";
  for (const SyncTimeline& t : all_sync_timelines(d)) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", t.name, yes(t.transitive), braces(t.full),
                       braces(t.temporal));
  }
  return out;
}

std::string mode_table() {
  constexpr Mode modes[] = {Mode::paper_exact, Mode::standard, Mode::strict};
  std::string out = "| | paper-exact | default | strict |\n|---|---|---|---|\n";
  const auto row = [&](std::string_view label, auto cell) {
    out += fmt::format("| {} |", label);
    for (const Mode m : modes) out += fmt::format(" {} |", cell(rules_of(m)));
    out += "\n";
  };
  row("InOrder: a new record, its threads, in-order access",
      [](const ModeRules& r) { return braces(flag_table(r).in_order); });
  row("OutOfOrder: the same, out of order",
      [](const ModeRules& r) { return braces(flag_table(r).out_of_order); });
  row("StrongFull: strong pick-up, full set", [](const ModeRules& r) { return braces(flag_table(r).full); });
  row("StrongTemporal: strong pick-up, rest of the temporal set",
      [](const ModeRules& r) { return braces(flag_table(r).temporal); });
  row("Weak: weak pick-up, temporal set", [](const ModeRules& r) { return braces(flag_table(r).weak); });
  row("atomics keep reads (H3)", [](const ModeRules& r) { return yes(r.atomics_keep_reads); });
  row("setting scale-d to zero clears nothing (H9)", [](const ModeRules& r) { return yes(r.zero_keeps); });
  row("forward progress is checked (H6)", [](const ModeRules& r) { return yes(r.forward_progress); });
  row("a free asks of earlier mutates",
      [](const ModeRules& r) { return std::string(amir::name(r.free_level)); });
  row("reads of uninitialised elements are found", [](const ModeRules& r) { return yes(r.uninitialised); });
  row("a proxy fence publishes only its own threads' writes (S1)",
      [](const ModeRules& r) { return yes(r.proxy_fence_owner); });
  row("an async write after ordinary accesses needs a proxy fence (S2)",
      [](const ModeRules& r) { return yes(r.generic_before_async); });
  return out;
}

std::string memory_table() {
  std::string out = "| memory | instructions | initial | extended |\n|---|---|---|---|\n";
  for (const MemoryType& memory : sample_memories()) {
    for (const InstrTimeline t : instruction_timelines()) {
      if (const auto q = access_qual(Dialect::P, memory, t)) {
        out += fmt::format("| `{}` | `{}` | {} | {} |\n", memory.text(), name(t),
                           qual_record(q->initial).short_name, braces(q->extended));
      }
    }
  }
  return out;
}

std::string inference(const InferenceRule& rule) {
  std::vector<std::string> lines;
  for (const std::string_view premise : rule.premises)
    lines.push_back(print(parse_term(premise), Notation::text));
  const std::string conclusion = print(parse_term(rule.conclusion), Notation::text);
  std::size_t width = std::min<std::size_t>(conclusion.size(), 110);
  for (const std::string& line : lines) width = std::max(width, std::min<std::size_t>(line.size(), 110));
  std::string out =
      fmt::format("**{}** ({}, `{}`). {}\n\n```\n", rule.title, rule.section, rule.id, rule.prose);
  for (const std::string& line : lines) out += line + "\n";
  if (!lines.empty()) out += std::string(width, '-') + "\n";
  return out + conclusion + "\n```\n\n";
}

std::string rules_of_kind(RuleKind kind) {
  std::string out;
  for (const InferenceRule& rule : inference_rules()) {
    if (rule.kind == kind) out += inference(rule);
  }
  return out;
}

}  // namespace

std::string export_markdown() {
  std::string out =
      "# Tables and rules of the semantics\n\n"
      "Printed from the tables that the checker itself uses. [semantics.md](semantics.md) explains them.\n\n"
      "## Timelines\n\nThe mechanism by which an element is touched.\n\n| name | long name | convergent | "
      "meaning |\n|---|---|---|---|\n";
  for (const QualRecord& q : all_quals())
    out += fmt::format("| {} | `{}` | {} | {} |\n", q.short_name, q.long_name, yes(q.convergent), q.meaning);
  out += "\n## Timelines of Fence, Arrive and Await\n\nDialect P, the paper's:\n\n" + sync_table(Dialect::P);
  out += "\nDialect R, mid-2026:\n\n" + sync_table(Dialect::R);
  out += "\n## Levels and flags\n\nA check asks for one of the levels, weakest first:";
  for (const auto level : {amir::Level::invisible, amir::Level::atomic, amir::Level::unordered,
                           amir::Level::temporal, amir::Level::full})
    out += fmt::format("{} *{}*", level == amir::Level::invisible ? "" : ",", amir::name(level));
  out +=
      ".\nThe machine keeps them as flags:\n\n| flag | name | a thread that holds it on a timeline knows "
      "that |\n|---|---|---|\n";
  for (const FlagRecord& f : all_flags())
    out += fmt::format("| {} | {} | {} |\n", f.symbol, f.name, f.meaning);
  out += "\n## Modes\n\n" + mode_table();
  out += "\n## Memories\n\nInitial timeline and extended set of an access (dialect P).\n\n" + memory_table();
  out += "\n## Collective units\n\n| unit | domain | box |\n|---|---|---|\n";
  for (const CollUnit& u : all_units())
    out += fmt::format("| `{}` | {} | {} |\n", u.name, domain_text(u), box_text(u));
  out += "\n## Errors of the machine\n\n| code | name | when |\n|---|---|---|\n";
  for (const Rule& r : all_rules()) {
    if (r.code.starts_with("E-Y")) out += fmt::format("| {} | {} | {} |\n", r.code, r.name, r.summary);
  }
  out += "\n## Definitions\n\n" + rules_of_kind(RuleKind::definition);
  out += "## Steps\n\n" + rules_of_kind(RuleKind::step);
  out += "## Structure\n\n" + rules_of_kind(RuleKind::structure);
  out += "## The happens-before graph\n\n" + rules_of_kind(RuleKind::graph);
  out.pop_back();
  return out;
}

}  // namespace exocheck::semantics
