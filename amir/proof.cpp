#include "amir/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "amir/proof_memory.hpp"
#include "amir/proof_program.hpp"
#include "amir/slice_run.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

namespace prog = semantics::amir;
using semantics::ir::Procedure;
using semantics::ir::SymbolKind;
using slices::Bindings;
using slices::FormulaId;
using slices::Formulas;
using slices::GiveUp;
using slices::Linear;

namespace {

class Prover {
 public:
  Prover(const Program& program, const Procedure& procedure, const ParameterValues& fixed, const ModeRules& rules,
         const ProofOptions& options)
      : program_(program),
        procedure_(procedure),
        fixed_(fixed),
        rules_(rules),
        options_(options),
        formulas_(smt::Limits{4'000, 2'000'000, 2'048}, options.solver_seconds),
        bindings_(program.symbol_count) {
    budget_.deadline = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(static_cast<std::int64_t>(options.max_seconds * 1000));
    budget_.fast_forward = options.fast_forward;
  }

  ProofResult run() {
    const auto start = std::chrono::steady_clock::now();
    try {
      preconditions();
      follow();
      judge();
    } catch (const GiveUp& e) {
      give_up(e.what());
    } catch (const semantics::OverflowError& e) {
      give_up(e.what());
    }
    result_.steps = budget_.steps;
    result_.layers = budget_.layers;
    result_.solver_calls = formulas_.solver_calls();
    result_.solver_seconds = formulas_.solver_seconds();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  struct Suspect {
    FormulaId condition;
    ProofFailure failure;
  };

  void give_up(std::string reason) {
    result_.kind = ProofResult::Kind::open;
    result_.reason = std::move(reason);
  }
  void preconditions();
  void follow();
  void follow(const slices::Task& task);
  ProofFailure describe(const slices::Unit& unit, const slices::Slice& slice, const slices::Failure& f) const;
  void judge();
  // Sizes for the condition; nullopt: none, or (with `unknown` set) nobody knows.
  std::optional<ParameterValues> sizes(FormulaId f, bool& unknown);

  const Program& program_;
  const Procedure& procedure_;
  const ParameterValues& fixed_;
  const working::Rules rules_;
  const ProofOptions& options_;
  Formulas formulas_;
  Bindings bindings_;
  std::vector<std::pair<SymId, smt::Variable>> parameters_;
  FormulaId assumptions_ = FormulaId::yes;
  slices::Budget budget_;
  std::vector<Suspect> suspects_;
  std::vector<Suspect> memory_suspects_;
  std::size_t followed_ = 0;  // tasks
  bool task_unknown_ = false;
  ProofResult result_;
};

void Prover::preconditions() {
  for (const SymId p : procedure_.parameters) {
    const auto& symbol = procedure_.symbol(p);
    if (!symbol.control() || symbol.kind == SymbolKind::stride) continue;
    const auto given = std::find_if(fixed_.begin(), fixed_.end(), [&](const auto& v) { return v.first == p; });
    if (given != fixed_.end()) {
      bindings_.set(p, Linear{{}, given->second});
      continue;
    }
    const smt::VariableRole role = symbol.kind == SymbolKind::size      ? smt::VariableRole::size
                                   : symbol.kind == SymbolKind::boolean ? smt::VariableRole::boolean
                                                                        : smt::VariableRole::index;
    const Linear v = formulas_.declare(symbol.name, role);
    bindings_.set(p, v);
    parameters_.emplace_back(p, *formulas_.atoms().variable(Formulas::atom(v)));
    const auto at_least = [&](std::int64_t n) {
      assumptions_ = formulas_.conj(assumptions_, formulas_.negate(formulas_.less(v, Linear{{}, n})));
    };
    if (symbol.kind == SymbolKind::size) at_least(1);
    if (symbol.kind == SymbolKind::boolean) {
      at_least(0);
      assumptions_ = formulas_.conj(assumptions_, formulas_.less(v, Linear{{}, 2}));
    }
  }
  for (const semantics::ir::Assertion& a : procedure_.assertions) {
    // Without an assert that has no linear form more is shown than needed.
    const auto f = formulas_.condition(*a.condition, [this](SymId s) { return bindings_[s]; });
    result_.asserts_complete = result_.asserts_complete && f.has_value();
    if (f) assumptions_ = formulas_.conj(assumptions_, *f);
  }
  if (assumptions_ == FormulaId::no) throw GiveUp("no sizes satisfy the asserts");
}

void Prover::follow(const slices::Task& task) {
  Bindings bindings = bindings_;
  const FormulaId path = formulas_.conj(assumptions_, slices::enter(task.path, formulas_, bindings).condition);
  switch (formulas_.satisfiable(path)) {
    case Formulas::Satisfiable::no:
      return;  // never executed
    case Formulas::Satisfiable::yes:
      result_.reaches_task = true;
      break;
    case Formulas::Satisfiable::unknown:
      task_unknown_ = true;
      break;
  }
  const slices::Unit unit = slices::make_unit(program_, *task.body, formulas_, bindings);
  const slices::SliceSet set = slices::make_slices(unit, formulas_, rules_.mode, options_.merge_slices);
  result_.element_classes += set.classes;
  result_.slices += set.slices.size();
  for (const slices::Slice& slice : set.slices) {
    const auto failures =
        slices::explore(unit, slice, formulas_, rules_, path, budget_, result_.records_peak);
    for (const slices::Failure& f : failures) {
      suspects_.push_back({f.condition, describe(unit, slice, f)});
    }
  }
}

ProofFailure Prover::describe(const slices::Unit& unit, const slices::Slice& slice, const slices::Failure& f) const {
  ProofFailure out{f.code, f.warning, unit.leaves[f.unit_leaf].node->id, slice.var.value_or(VarId{}), slice.first,
                   {static_cast<std::int64_t>(followed_)}};
  if (!slice.var) {
    const slices::SliceBarrier& b = slice.barriers[f.barrier];
    out.var = b.var;
    const auto& extents = unit.locals[index(b.var)]->extents;
    out.element.resize(extents.size());
    std::int64_t rest = b.flat;
    for (std::size_t d = extents.size(); d-- > 0;) {
      out.element[d] = rest % extents[d];
      rest /= extents[d];
    }
  }
  for (const auto& [leaf, iteration] : f.loops) {
    if (!iteration.is_constant()) {
      out.order.clear();
      return out;
    }
    out.order.insert(out.order.end(), {leaf, iteration.constant});
  }
  out.order.push_back(f.unit_leaf);
  return out;
}

void Prover::follow() {
  const slices::Tasks tasks = slices::find_tasks(program_);
  if (tasks.tasks.empty()) throw GiveUp("there is no task");
  if (const auto wrong = slices::compare_host(program_, tasks, rules_)) throw GiveUp(*wrong);
  const slices::MemoryResult memory =
      slices::compare_accesses(program_, tasks, bindings_, assumptions_, rules_, formulas_);
  result_.memory_queries = memory.queries;
  for (const auto* list : {&memory.across_tasks, &memory.within_task}) {
    for (const slices::Encounter& m : *list)
      memory_suspects_.push_back({m.condition, {"E-Y32", false, m.check, m.var, {}, {}}});
  }
  for (const slices::Task& task : tasks.tasks) {
    follow(task);
    ++followed_;
  }
}

std::optional<ParameterValues> Prover::sizes(FormulaId f, bool& unknown) {
  const smt::Answer answer = formulas_.solve(f);
  if (std::holds_alternative<smt::Proved>(answer)) return std::nullopt;
  if (std::holds_alternative<smt::Unknown>(answer)) {
    unknown = true;
    return std::nullopt;
  }
  ParameterValues out = fixed_;
  const auto& values = std::get<smt::Model>(answer).values;
  for (const auto& [symbol, variable] : parameters_) {
    const auto at = std::find_if(values.begin(), values.end(),
                                 [id = variable.id](const auto& v) { return v.first.id == id; });
    const std::int64_t smallest = procedure_.symbol(symbol).kind == SymbolKind::size ? 1 : 0;
    out.emplace_back(symbol, at == values.end() ? smallest : at->second);
  }
  return out;
}

void Prover::judge() {
  bool unknown = false;
  for (const Suspect& s : suspects_) {
    if (options_.keep_failures && formulas_.satisfiable(s.condition) != Formulas::Satisfiable::no)
      result_.failures.push_back(s.failure);
  }
  const auto collect = [&](const std::vector<Suspect>& suspects, bool warning, std::vector<ParameterValues>& out) {
    // The smallest sizes of all paths together first, then path by path.
    FormulaId any = FormulaId::no;
    std::vector<const Suspect*> wanted;
    for (const Suspect& s : suspects) {
      if (s.failure.warning != warning) continue;
      any = formulas_.disj(any, s.condition);
      wanted.push_back(&s);
    }
    if (wanted.empty()) return;
    bool confirmed = false;
    const auto add = [&](FormulaId f) {
      auto found = sizes(f, unknown);
      if (!found) return false;
      if (std::find(out.begin(), out.end(), *found) != out.end()) return true;
      confirmed = !warning && options_.confirm && options_.confirm(*found);
      out.push_back(std::move(*found));
      return true;
    };
    if (!warning && !result_.failure) result_.failure = wanted.front()->failure;
    if (wanted.size() <= 40 && !add(any) && !unknown) return;
    for (const Suspect* s : wanted) {
      if (confirmed || out.size() >= options_.most_candidates) break;
      // One set of sizes is enough for a warning.
      if (warning && !out.empty()) break;
      add(s->condition);
    }
    result_.confirmed = result_.confirmed || confirmed;
  };
  collect(suspects_, false, result_.candidates);
  if (!result_.confirmed) collect(memory_suspects_, false, result_.candidates);
  if (!result_.candidates.empty()) {
    result_.kind = ProofResult::Kind::refuted;
    result_.reason = "a path was found on which a rule may be broken";
    return;
  }
  if (unknown) return give_up("the solver gave up on a path");
  collect(suspects_, true, result_.warnings);
  if (unknown) return give_up("the solver gave up on a path");
  if (!result_.reaches_task)
    return give_up(task_unknown_ ? "the solver gave up on the tasks" : "no task is ever executed");
  result_.kind = ProofResult::Kind::proved;
}

}  // namespace

ProofResult prove(const Program& program, const Procedure& procedure, const ParameterValues& fixed,
                  const ModeRules& rules, const ProofOptions& options) {
  return Prover(program, procedure, fixed, rules, options).run();
}

}  // namespace exocheck::amir
