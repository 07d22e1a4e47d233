#include "amir/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "amir/check_attribution.hpp"
#include "amir/check_prepare.hpp"
#include "amir/check_sizes.hpp"
#include "amir/explain.hpp"
#include "amir/hb_graph_build.hpp"
#include "amir/machine.hpp"
#include "amir/proof.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

using semantics::Diagnostic;
using semantics::RuleClass;
using semantics::Severity;
using semantics::ir::Procedure;
using semantics::ir::SizeSet;

namespace {

std::string show(const SizeSet& sizes) {
  std::string out;
  for (const auto& [name, value] : sizes)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  return out.empty() ? "no size parameters" : out;
}

// The verdict of the static passes; nullopt if they found no error.
std::optional<Verdict> static_verdict(const semantics::Diagnostics& findings) {
  std::optional<Verdict> verdict;
  for (const Diagnostic& d : findings) {
    if (d.severity != Severity::error) continue;
    if (d.rule->rule_class == RuleClass::defect || d.rule->rule_class == RuleClass::input)
      return Verdict::defect;
    if (d.rule->rule_class == RuleClass::unsupported) verdict = Verdict::unsupported;
    if (d.rule->rule_class == RuleClass::limit && !verdict) verdict = Verdict::unknown;
  }
  return verdict;
}

class Checker {
 public:
  Checker(const Procedure& procedure, const semantics::ir::Program& program, const CheckOptions& options)
      : procedure_(procedure), program_(program), options_(options) {}

  ProcedureResult run() {
    try {
      check();
    } catch (const semantics::OverflowError& e) {
      finish(Verdict::unknown, e.what());
      result_.findings.push_back(
          semantics::make_diagnostic("L-03", procedure_.location(procedure_.name_span), e.what()));
    }
    result_.stats.seconds = elapsed();
    return std::move(result_);
  }

 private:
  void check();
  void prove_sequential();
  void count(const std::vector<analysis::Obligation>& obligations);
  void count(const SizePlan& plan);
  void run_sizes(const Prepared& prepared, bool bounds_proved);
  // Looks at all sizes (or, with `fixed`, at these) without running the machine. settled: the verdict is
  // final.
  enum class Attempt : std::uint8_t { settled, accepted, open };
  Attempt attempt(const Prepared& prepared, const Words& words, const ParameterValues& fixed);
  // Runs the machine at the sizes that a proof named. true: that ended the check.
  bool confirm(const Prepared& prepared, const Words& words, const ParameterValues& candidate);
  void warn_zero_size(const SizeChoice& choice);
  void finish_excluded(const std::vector<std::string>& sizes);
  // false: a defect or a limit ended the check.
  bool run_one(const Prepared& prepared, const Words& words, const SizeChoice& choice);
  // The mode's rules; in the default mode with the strict ones. These only add findings: if they find
  // nothing, the default mode is settled, too, and there is nothing to warn of.
  ModeRules stricter() const {
    ModeRules rules = rules_of(options_.mode);
    if (options_.mode == analysis::Mode::standard)
      rules.proxy_fence_owner = rules.generic_before_async = true;
    return rules;
  }
  Outcome execute(const Prepared& prepared, const Sizes& sizes, const ModeRules& rules);
  void report(const Words& words, const SizeChoice& choice, const Sizes& sizes, const ModeRules& rules,
              const Violation& violation);
  void warn_strict(const Prepared& prepared, const Words& words, const Sizes& sizes, const ModeRules& rules);
  void add_warning(Diagnostic warning);
  void finish(Verdict verdict, std::string reason) {
    if (verdict != Verdict::checked) result_.not_proved.clear();
    result_.verdict = verdict;
    result_.reason = std::move(reason);
  }
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Limits limits() const {
    Limits out = options_.limits;
    out.max_seconds = std::max(0.001, out.max_seconds - elapsed());
    return out;
  }

  // A watched run ends where the run before it ended, so it needs no limit of its own.
  Limits watched() const { return {~0ull, 1e9, options_.limits.max_memory_bytes}; }

  const Procedure& procedure_;
  const semantics::ir::Program& program_;
  const CheckOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ProcedureResult result_;
  bool executed_task_ = false;
};

void Checker::check() {
  analysis::AnalysisOptions analysis(options_.mode);
  analysis.solver_seconds = std::min(analysis.solver_seconds, options_.limits.max_seconds);
  Preparation preparation = prepare(procedure_, program_, analysis);
  result_.findings = std::move(preparation.findings);
  count(preparation.obligations);
  if (options_.obligations) result_.obligations = std::move(preparation.obligations);
  const std::optional<Verdict> verdict = static_verdict(result_.findings);
  if (verdict == Verdict::defect) return finish(Verdict::defect, "");
  if (preparation.unsupported) return finish(Verdict::unsupported, *preparation.unsupported);
  if (verdict && !preparation.unknown) return finish(*verdict, result_.findings.front().message);
  if (preparation.prepared) run_sizes(*preparation.prepared, !preparation.unknown);
  if (preparation.prepared && result_.verdict != Verdict::checked && result_.verdict != Verdict::proved)
    return;
  if (preparation.unknown) return finish(Verdict::unknown, *preparation.unknown);
  if (preparation.cpu_only) prove_sequential();
}

// Without a device function nothing runs in parallel: the obligations are all there is (decisions.md C4).
void Checker::prove_sequential() {
  if (!options_.sizes.empty() || !procedure_.size_sets.empty()) {
    std::vector<std::string> inadmissible;
    const SizePlan plan = plan_sizes(procedure_, options_.sizes);
    for (const SizeChoice& choice : plan.choices) {
      if (choice.admissible)
        warn_zero_size(choice);
      else
        inadmissible.push_back(show(choice.values));
    }
    if (!inadmissible.empty() && inadmissible.size() == plan.choices.size())
      return finish_excluded(inadmissible);
  }
  finish(Verdict::proved, "");
  result_.all_sizes = true;
}

void Checker::finish_excluded(const std::vector<std::string>& sizes) {
  finish(Verdict::vacuous, fmt::format("the asserts exclude {}", fmt::join(sizes, "; ")));
}

void Checker::warn_zero_size(const SizeChoice& choice) {
  if (!choice.zero_size) return;
  add_warning(semantics::make_diagnostic(
      "W-B01", procedure_.location(procedure_.name_span),
      fmt::format("0 is outside the declared range of a size ({}); no proof covers this run",
                  show(choice.values))));
}

void Checker::count(const std::vector<analysis::Obligation>& obligations) {
  CheckStats& stats = result_.stats;
  stats.obligations = obligations.size();
  for (const analysis::Obligation& o : obligations) {
    if (!o.solver) continue;
    ++stats.obligations_solver;
    stats.solver_seconds += o.seconds;
    if (!stats.slowest || o.seconds > stats.slowest->seconds)
      stats.slowest = CheckStats::Query{o.code, o.location, o.seconds};
  }
}

// The questions behind the choice of sizes are kept like obligations: they are proved if sizes exist.
void Checker::count(const SizePlan& plan) {
  CheckStats& stats = result_.stats;
  stats.size_queries = plan.queries.size();
  for (const SizeQuery& q : plan.queries) {
    const semantics::Location location = procedure_.location(q.span);
    stats.size_queries_solver += q.solver ? 1 : 0;
    stats.solver_seconds += q.seconds;
    if (q.solver && (!stats.slowest || q.seconds > stats.slowest->seconds))
      stats.slowest = CheckStats::Query{"sizes", location, q.seconds};
    if (!options_.obligations) continue;
    using Status = analysis::Obligation::Status;
    const Status status = std::holds_alternative<smt::Proved>(q.answer)  ? Status::refuted
                          : std::holds_alternative<smt::Model>(q.answer) ? Status::proved
                                                                         : Status::unknown;
    result_.obligations.push_back({"sizes", location, q.meaning, status, q.solver, q.seconds, {}, q.query});
  }
}

Checker::Attempt Checker::attempt(const Prepared& prepared, const Words& words,
                                  const ParameterValues& fixed) {
  const Program& program = prepared.translation.program;
  ProofOptions options;
  options.max_seconds = std::min(options.max_seconds, limits().max_seconds / 2);
  options.solver_seconds = std::min(options.solver_seconds, options.max_seconds);
  Proof proof(program, prepared.procedure, fixed, stricter(), options);
  const auto look = [&](const ModeRules& rules, bool final) {
    Candidates candidates;
    if (final)
      candidates.confirm = [&](const ParameterValues& sizes) { return confirm(prepared, words, sizes); };
    if (!final) candidates.most = 1;
    ProofResult r = proof.look(rules, candidates);
    result_.stats.statements += r.steps;
    result_.stats.records_peak = std::max(result_.stats.records_peak, r.records_peak);
    result_.stats.solver_seconds += r.solver_seconds;
    return r;
  };
  const bool standard = options_.mode == analysis::Mode::standard;
  ProofResult result = look(stricter(), !standard);
  std::vector<ParameterValues> warnings = result.warnings;
  if (standard && result.kind != ProofResult::Kind::proved) {
    // What only the strict rules find is worth a warning, at the sizes that show it.
    const std::vector<ParameterValues> strict_only = std::move(result.candidates);
    result = look(rules_of(options_.mode), true);
    warnings = result.warnings;
    warnings.insert(warnings.end(), strict_only.begin(), strict_only.end());
  }
  if (result.kind == ProofResult::Kind::open) {
    result_.not_proved = result.reason;
    return Attempt::open;
  }
  if (result.kind == ProofResult::Kind::refuted) {
    if (result.confirmed) return Attempt::settled;
    result_.not_proved = result.reason;
    return Attempt::open;
  }
  const std::size_t before = result_.findings.size();
  for (const ParameterValues& sizes : warnings) {
    if (confirm(prepared, words, sizes)) return Attempt::settled;
    if (result_.findings.size() > before) break;
  }
  if (!result.asserts_complete) {
    // Nothing is wrong at any sizes; are there any?
    const SizePlan plan = plan_sizes(prepared.procedure, {});
    if (plan.choices.empty()) {
      result_.not_proved = plan.unknown.value_or("no sizes satisfy the asserts");
      return Attempt::open;
    }
  }
  executed_task_ = true;
  result_.proof =
      ProofSummary{result.element_classes, result.slices, result.steps, result.layers, result.memory_queries};
  return Attempt::accepted;
}

bool Checker::confirm(const Prepared& prepared, const Words& words, const ParameterValues& candidate) {
  SizeSet sizes;
  for (const auto& [symbol, value] : candidate)
    sizes.emplace_back(prepared.procedure.symbol(symbol).name, value);
  const SizePlan plan = plan_sizes(prepared.procedure, {sizes});
  for (const SizeChoice& choice : plan.choices) {
    if (!choice.admissible || run_one(prepared, words, choice)) continue;
    result_.sizes = {choice.values};
    result_.sizes_chosen = !choice.values.empty() && options_.sizes.empty();
    return true;
  }
  return false;
}

void Checker::run_sizes(const Prepared& prepared, bool bounds_proved) {
  const Words words(prepared.procedure, prepared.facts, prepared.translation);
  if (bounds_proved && options_.all_sizes && options_.sizes.empty()) {
    switch (attempt(prepared, words, {})) {
      case Attempt::settled:
        return;
      case Attempt::accepted:
        finish(Verdict::proved, "");
        result_.all_sizes = true;
        return;
      case Attempt::open:
        break;
    }
  }
  // The inlined procedure has the same parameters under the same symbols.
  const SizePlan plan = plan_sizes(prepared.procedure, options_.sizes);
  if (!plan.errors.empty()) return finish(Verdict::unknown, plan.errors.front());
  count(plan);
  if (plan.unknown) return finish(Verdict::unknown, *plan.unknown);
  result_.sizes_chosen = plan.chosen_here;
  result_.behaviours_left_out = plan.left_out;
  std::vector<std::string> inadmissible;
  bool all_accepted = true;
  for (const SizeChoice& choice : plan.choices) {
    if (!choice.admissible) {
      inadmissible.push_back(show(choice.values));
      continue;
    }
    warn_zero_size(choice);
    result_.sizes.push_back(choice.values);
    if (bounds_proved && options_.all_sizes && !options_.sizes.empty()) {
      ParameterValues fixed;
      for (const SymId p : prepared.procedure.parameters) {
        const auto& value = choice.environment[p];
        if (value && prepared.procedure.symbol(p).kind != semantics::ir::SymbolKind::stride)
          fixed.emplace_back(p, *value);
      }
      const Attempt done = attempt(prepared, words, fixed);
      result_.not_proved.clear();
      if (done == Attempt::settled) return;
      if (done == Attempt::accepted) continue;
    }
    all_accepted = false;
    if (!run_one(prepared, words, choice)) return;
  }
  if (!all_accepted) result_.proof.reset();
  if (result_.sizes.empty()) {
    if (!inadmissible.empty()) return finish_excluded(inadmissible);
    return finish(Verdict::vacuous, "no sizes satisfy the asserts");
  }
  if (!executed_task_) {
    std::vector<std::string> shown;
    for (const SizeSet& sizes : result_.sizes) shown.push_back(show(sizes));
    return finish(Verdict::vacuous,
                  fmt::format("no device task was executed for {}", fmt::join(shown, "; ")));
  }
  // Without parameters the one run is all there is.
  result_.all_sizes = result_.sizes.front().empty();
  finish(result_.all_sizes ? Verdict::proved : Verdict::checked, "");
}

Outcome Checker::execute(const Prepared& prepared, const Sizes& sizes, const ModeRules& rules) {
  return amir::run(prepared.translation.program, sizes, rules, limits());
}

bool Checker::run_one(const Prepared& prepared, const Words& words, const SizeChoice& choice) {
  const Sizes sizes = environment_of(choice, prepared.translation.program.symbol_count);
  const ModeRules rules = rules_of(options_.mode);
  Outcome outcome = execute(prepared, sizes, stricter());
  result_.stats.statements += outcome.nodes_executed;
  result_.stats.records_peak = std::max(result_.stats.records_peak, outcome.records_peak);
  const bool only_stricter = outcome.violation && options_.mode == analysis::Mode::standard;
  if (only_stricter) outcome = execute(prepared, sizes, rules);
  executed_task_ = executed_task_ || outcome.executed_task;
  for (const Violation& w : outcome.warnings) add_warning(describe_warning(words, w));
  if (outcome.limit) {
    const std::size_t blank = outcome.limit->find(' ');
    const std::string text = blank == std::string::npos ? *outcome.limit : outcome.limit->substr(blank + 1);
    result_.findings.push_back(
        semantics::make_diagnostic(outcome.limit->substr(0, blank), procedure_.location(procedure_.name_span),
                                   fmt::format("{} (sizes: {})", text, show(choice.values))));
    finish(Verdict::unknown, text);
    return false;
  }
  if (outcome.violation) {
    report(words, choice, sizes, rules, *outcome.violation);
    finish(Verdict::defect, "");
    return false;
  }
  if (only_stricter) warn_strict(prepared, words, sizes, rules);
  return true;
}

void Checker::report(const Words& words, const SizeChoice& choice, const Sizes& sizes, const ModeRules& rules,
                     const Violation& violation) {
  Explanation explanation = explain(words, violation, sizes, rules, watched());
  Diagnostic& d = explanation.diagnostic;
  const auto labels = attribution(words.program(), sizes, rules, violation, limits());
  if (!labels.empty()) d.message += fmt::format(" ({})", fmt::join(labels, ", "));
  if (!choice.values.empty()) {
    d.related.push_back(
        {semantics::Role::context, fmt::format("found with {}", show(choice.values)), d.location});
  }
  if (options_.graph) {
    result_.counterexample = Counterexample{
        choice.values, make_graph(words, explanation, choice.values.empty() ? "" : show(choice.values))};
  }
  result_.findings.push_back(std::move(d));
}

// W-Y01 and W-Y02 (decisions.md C13, O3): what strict mode would report, one rule at a time.
void Checker::warn_strict(const Prepared& prepared, const Words& words, const Sizes& sizes,
                          const ModeRules& rules) {
  struct StrictRule {
    bool ModeRules::*member;
    const char* code;
    const char* lead;
  };
  constexpr StrictRule strict_rules[]{
      {&ModeRules::proxy_fence_owner, "W-Y01",
       "the paper's rules accept this program, but a proxy fence publishes writes that its own threads did "
       "not make"},
      {&ModeRules::generic_before_async, "W-Y02",
       "the paper's rules accept this program, but no proxy fence separates an ordinary access from an "
       "async-proxy write"},
  };
  bool warned = false;
  for (const StrictRule& strict : strict_rules) {
    ModeRules variant = rules;
    variant.*strict.member = true;
    const Outcome outcome = execute(prepared, sizes, variant);
    if (!outcome.violation) continue;
    warned = true;
    Diagnostic d = explain(words, *outcome.violation, sizes, variant, watched()).diagnostic;
    d.rule = &semantics::rule(strict.code);
    d.severity = Severity::warning;
    d.message = fmt::format("{}: {}", strict.lead, d.message);
    add_warning(std::move(d));
  }
  if (warned) return;
  // Only both rules together find something: the ordering that S2 asks for comes from a fence that S1
  // discounts.
  ModeRules both = rules;
  both.proxy_fence_owner = both.generic_before_async = true;
  const Outcome outcome = execute(prepared, sizes, both);
  if (!outcome.violation) return;
  Diagnostic d = explain(words, *outcome.violation, sizes, both, watched()).diagnostic;
  d.rule = &semantics::rule("W-Y01");
  d.severity = Severity::warning;
  d.message = fmt::format("{}: {}", strict_rules[0].lead, d.message);
  add_warning(std::move(d));
}

// One warning per rule and place, whatever the number of sizes.
void Checker::add_warning(Diagnostic warning) {
  const bool known = std::any_of(result_.findings.begin(), result_.findings.end(), [&](const Diagnostic& d) {
    return d.rule == warning.rule && d.location.span == warning.location.span &&
           d.variable == warning.variable;
  });
  if (!known) result_.findings.push_back(std::move(warning));
}

}  // namespace

ProcedureResult check_procedure(const Procedure& procedure, const semantics::ir::Program& program,
                                const CheckOptions& options) {
  return Checker(procedure, program, options).run();
}

}  // namespace exocheck::amir
