#include <nlohmann/json.hpp>

#include "semantics/export.hpp"
#include "semantics/inference_rules.hpp"
#include "semantics/inference_term.hpp"
#include "semantics/rules.hpp"

namespace exocheck::semantics {
namespace {

using Json = nlohmann::json;  // sorts its keys

Json set(QualSet quals) {
  Json out = Json::array();
  for (const Qual q : quals.members()) out.push_back(qual_record(q).short_name);
  return out;
}

Json set(Flags flags) {
  Json out = Json::array();
  for (const FlagRecord& f : all_flags()) {
    if (flags.contains(f.flag)) out.push_back(f.symbol);
  }
  return out;
}

Json sync(Dialect d) {
  Json out = Json::array();
  for (const SyncTimeline& t : all_sync_timelines(d)) {
    out.push_back({{"name", t.name},
                   {"transitive", t.transitive},
                   {"full", set(t.full)},
                   {"temporal", set(t.temporal)}});
  }
  return out;
}

Json mode(Mode m) {
  const ModeRules r = rules_of(m);
  const FlagTable t = flag_table(r);
  return {{"name", name(m)},
          {"in_order", set(t.in_order)},
          {"out_of_order", set(t.out_of_order)},
          {"strong_full", set(t.full)},
          {"strong_temporal", set(t.temporal)},
          {"weak", set(t.weak)},
          {"atomics_keep_reads", r.atomics_keep_reads},
          {"zero_keeps", set(r.zero_keeps ? zero_quals : QualSet{})},
          {"forward_progress", r.forward_progress},
          {"shared_record", set(shared_record_quals)},
          {"free_level", amir::name(r.free_level)},
          {"uninitialised", r.uninitialised},
          {"proxy_fence_owner", r.proxy_fence_owner},
          {"generic_before_async", r.generic_before_async}};
}

Json memory(const MemoryType& type) {
  const MemoryRecord record = memory_record(type);
  Json accesses = Json::array();
  for (const Dialect d : {Dialect::P, Dialect::R}) {
    for (const InstrTimeline t : instruction_timelines()) {
      if (const auto q = access_qual(d, type, t)) {
        accesses.push_back({{"dialect", d == Dialect::P ? "P" : "R"},
                            {"instructions", name(t)},
                            {"initial", qual_record(q->initial).short_name},
                            {"extended", set(q->extended)}});
      }
    }
  }
  return {{"name", kind_name(type.kind)},      {"example", type.text()},
          {"shared", record.shared},           {"registers", record.registers},
          {"sync_exempt", record.sync_exempt}, {"accesses", accesses}};
}

// An application is an array [head, arguments...], everything else a string.
Json term(const Term& t) {
  if (t.arguments.empty()) return t.head;
  Json out = Json::array({t.head});
  for (const Term& a : t.arguments) out.push_back(term(a));
  return out;
}

Json inference(const InferenceRule& rule) {
  Json premises = Json::array();
  for (const std::string_view p : rule.premises) premises.push_back(term(parse_term(p)));
  return {{"id", rule.id},
          {"kind", name(rule.kind)},
          {"section", rule.section},
          {"title", rule.title},
          {"premises", premises},
          {"conclusion", term(parse_term(rule.conclusion))},
          {"text", print(parse_term(rule.conclusion), Notation::text)},
          {"prose", rule.prose}};
}

}  // namespace

std::string export_json() {
  Json quals = Json::array(), flags = Json::array(), memories = Json::array(), units = Json::array(),
       errors = Json::array(), rules = Json::array(), levels = Json::array();
  for (const QualRecord& q : all_quals()) {
    quals.push_back({{"bit", static_cast<int>(q.qual)},
                     {"name", q.short_name},
                     {"long_name", q.long_name},
                     {"convergent", q.convergent},
                     {"meaning", q.meaning}});
  }
  for (const auto level : {amir::Level::invisible, amir::Level::atomic, amir::Level::unordered,
                           amir::Level::temporal, amir::Level::full})
    levels.push_back(amir::name(level));
  for (const FlagRecord& f : all_flags())
    flags.push_back({{"symbol", f.symbol}, {"name", f.name}, {"meaning", f.meaning}});
  for (const MemoryType& m : sample_memories()) memories.push_back(memory(m));
  for (const CollUnit& u : all_units())
    units.push_back({{"name", u.name}, {"domain", domain_text(u)}, {"box", box_text(u)}});
  for (const Rule& r : all_rules()) {
    if (r.code.starts_with("E-Y"))
      errors.push_back({{"code", r.code}, {"name", r.name}, {"summary", r.summary}});
  }
  for (const InferenceRule& r : inference_rules()) rules.push_back(inference(r));
  const Json out{{"schema", "exocheck-semantics/1"},
                 {"timelines", quals},
                 {"sync_timelines", {{"P", sync(Dialect::P)}, {"R", sync(Dialect::R)}}},
                 {"levels", levels},
                 {"flags", flags},
                 {"modes", {mode(Mode::paper_exact), mode(Mode::standard), mode(Mode::strict)}},
                 {"memories", memories},
                 {"units", units},
                 {"errors", errors},
                 {"rules", rules}};
  return out.dump(2) + "\n";
}

}  // namespace exocheck::semantics
