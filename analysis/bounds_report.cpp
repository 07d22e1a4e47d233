#include "analysis/bounds_report.hpp"

#include <fmt/format.h>

#include <map>

#include "semantics/errors.hpp"

namespace exocheck::analysis::bounds {

using semantics::Diagnostic;
using semantics::Severity;

namespace {

// O9-O11 are warnings in paper-exact (decisions.md E6).
bool only_warning(std::string_view code, Mode mode) {
  return mode == Mode::paper_exact && (code == "E-B08" || code == "E-B09" || code == "E-B10");
}

std::string text_of(const smt::Variable& v, std::int64_t value) {
  if (v.sort == smt::Sort::boolean) return value != 0 ? "True" : "False";
  return std::to_string(value);
}

}  // namespace

std::string Numbers::value(const smt::Term& t) const {
  try {
    const std::int64_t value = evaluate(t, [this](const smt::Variable& v) {
      for (const auto& [variable, x] : model_.values) {
        if (variable.id == v.id) return x;
      }
      throw semantics::OverflowError("a variable the counterexample leaves open");
    });
    return t.sort() == smt::Sort::boolean ? (value != 0 ? "True" : "False") : std::to_string(value);
  } catch (const semantics::OverflowError&) {
    return "out of range";
  }
}

std::string Numbers::with_value(const smt::Term& t) const {
  if (t.op() == smt::Op::int_const) return std::to_string(t.value());
  return smt::text(t) + " = " + value(t);
}

std::string Numbers::when() const {
  std::string out;
  std::map<std::string, int> seen;
  for (const auto& [variable, x] : model_.values) {
    // Shadowed names: the inner one is declared later.
    const int times = ++seen[variable.name];
    const std::string inner = times == 1   ? ""
                              : times == 2 ? " (inner)"
                                           : fmt::format(" (inner {})", times - 1);
    out +=
        fmt::format("{} {}{} = {}", out.empty() ? " when" : ",", variable.name, inner, text_of(variable, x));
  }
  return out;
}

bool Reporter::require(const smt::Assumptions& gamma, const smt::Term& goal, const Claim& claim) {
  // What is already reported needs no second counterexample: a callee is walked once per call path.
  if (already_reported(claim) && !prover_.obvious(gamma, goal)) return false;
  const smt::Answer answer = prover_.prove(gamma, goal);
  if (std::holds_alternative<smt::Proved>(answer)) {
    record(claim, Obligation::Status::proved, {gamma, goal});
    return true;
  }
  if (const auto* unknown = std::get_if<smt::Unknown>(&answer)) {
    record(claim, Obligation::Status::unknown, {gamma, goal});
    undecided(claim, "the solver gave up: " + unknown->reason);
    return false;
  }
  const auto& model = std::get<smt::Model>(answer);
  record(claim, Obligation::Status::refuted, {gamma, goal}, model);
  if (!first_report(claim, claim.code)) return false;
  Diagnostic d = make_diagnostic(claim.code, claim.location, claim.message(Numbers(model)));
  if (only_warning(claim.code, context_.mode)) d.severity = Severity::warning;
  d.variable = claim.variable;
  d.related = claim.related;
  context_.diagnostics.push_back(std::move(d));
  return false;
}

bool Reporter::require_satisfiable(const smt::Assumptions& gamma, const Claim& claim) {
  const smt::Answer answer = prover_.contradictory(gamma);
  if (const auto* unknown = std::get_if<smt::Unknown>(&answer)) {
    record(claim, Obligation::Status::unknown, {gamma, std::nullopt});
    undecided(claim, "the solver gave up: " + unknown->reason);
    return true;
  }
  const bool contradiction = std::holds_alternative<smt::Proved>(answer);
  record(claim, contradiction ? Obligation::Status::refuted : Obligation::Status::proved,
         {gamma, std::nullopt});
  if (contradiction && first_report(claim, claim.code)) {
    Diagnostic d = make_diagnostic(claim.code, claim.location, claim.message(Numbers(smt::Model{})));
    d.related = claim.related;
    context_.diagnostics.push_back(std::move(d));
  }
  return !contradiction;
}

void Reporter::undecided(const Claim& claim, const std::string& why) {
  const std::string text = fmt::format("cannot decide whether {}: {}", claim.meaning, why);
  if (only_warning(claim.code, context_.mode)) {
    if (!first_report(claim, claim.code)) return;
    Diagnostic d = make_diagnostic(claim.code, claim.location, text);
    d.severity = Severity::warning;
    context_.diagnostics.push_back(std::move(d));
    return;
  }
  if (!context_.facts.unknown_reason) context_.facts.unknown_reason = text;
  if (!first_report(claim, "L-08")) return;
  Diagnostic d = make_diagnostic("L-08", claim.location, text + fmt::format(" [{}]", claim.code));
  d.variable = claim.variable;
  context_.diagnostics.push_back(std::move(d));
}

void Reporter::record(const Claim& claim, Obligation::Status status, smt::Query query,
                      const smt::Model& counterexample) {
  context_.facts.obligations.push_back({claim.code, claim.location, claim.meaning, status,
                                        prover_.last_used_solver(), prover_.last_seconds(),
                                        counterexample.values, std::move(query)});
}

bool Reporter::already_reported(const Claim& claim) const {
  const auto has = [&](std::string_view code) {
    return reported_.contains(
        {std::string(code), claim.location.source.get(), claim.place, claim.variable, claim.dimension});
  };
  return has(claim.code) || has("L-08");
}

bool Reporter::first_report(const Claim& claim, std::string_view code) {
  return reported_
      .insert({std::string(code), claim.location.source.get(), claim.place, claim.variable, claim.dimension})
      .second;
}

}  // namespace exocheck::analysis::bounds
