#include "property/support/machine_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "amir/machine.hpp"
#include "amir/trace_graph.hpp"

namespace exocheck::testing {
namespace {

template <class Finding>
std::string element_text(const Program& program, const Finding& v) {
  return fmt::format("{} {}[{}]", v.code, program.variables[index(v.var)].name, fmt::join(v.element, ","));
}

}  // namespace

std::string verdict_text(const Program& program, const amir::Outcome& outcome) {
  std::string out = "accepted";
  if (outcome.violation) {
    const amir::Violation& v = *outcome.violation;
    out = fmt::format("{} node {}", element_text(program, v), index(v.at.node));
    if (v.missing) out += fmt::format(" missing {}/{}", v.missing->task, v.missing->local);
  }
  for (const amir::Violation& w : outcome.warnings) out += "; " + element_text(program, w);
  if (outcome.limit) out += "; limit " + *outcome.limit;
  return out;
}

std::string short_text(const Program& program, const amir::Outcome& outcome) {
  if (outcome.limit) return "limit " + *outcome.limit;
  if (!outcome.violation) return "accepted";
  return fmt::format("{} node {}", element_text(program, *outcome.violation),
                     index(outcome.violation->at.node));
}

std::string short_text(const Program& program, const amir::ProofResult& result) {
  const amir::ProofFailure* best = nullptr;
  for (const amir::ProofFailure& f : result.failures) {
    if (f.warning) continue;
    const bool before =
        best == nullptr || f.order < best->order || (f.order == best->order && f.element < best->element);
    if (before) best = &f;
  }
  if (best == nullptr) return "accepted";
  return fmt::format("{} node {}", element_text(program, *best), index(best->node));
}

bool in_shared_memory(const Program& program, const amir::Outcome& outcome) {
  return outcome.violation && program.variables[index(outcome.violation->var)].parameter;
}

bool broken_in_a_slice(const amir::ProofResult& result) {
  return std::any_of(result.failures.begin(), result.failures.end(),
                     [](const amir::ProofFailure& f) { return !f.warning; });
}

bool in_execution_order(const amir::ProofResult& result) {
  return std::all_of(result.failures.begin(), result.failures.end(),
                     [](const amir::ProofFailure& f) { return !f.order.empty() && f.approximate.empty(); });
}

std::string verdict(const Program& program, const amir::ModeRules& rules) {
  const amir::Sizes sizes(program.symbol_count);
  const std::string naive = verdict_text(program, amir::run_naive(program, sizes, rules, {}));
  const std::string fast = verdict_text(program, amir::run(program, sizes, rules, {}));
  const std::string graph = verdict_text(program, amir::run_trace_graph(program, sizes, rules, {}));
  if (naive == fast && naive == graph) return naive;
  return fmt::format("naive: {}; working: {}; graph: {}", naive, fast, graph);
}

std::string verdict(const Program& program, analysis::Mode mode) {
  return verdict(program, amir::rules_of(mode));
}

std::vector<std::string> history(const Program& program, const amir::ModeRules& rules, VarId var,
                                 const std::vector<std::int64_t>& element) {
  std::vector<std::string> out;
  amir::naive::Machine machine(program, amir::Sizes(program.symbol_count), rules, {});
  machine.run([&](const semantics::amir::Node&) {
    std::string now = machine.dump(var, element);
    if (out.empty() ? now != "-" : now != out.back()) out.push_back(std::move(now));
  });
  return out;
}

}  // namespace exocheck::testing
