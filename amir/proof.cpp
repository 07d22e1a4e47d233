#include "amir/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>

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
using smt::combine;

namespace {

// What `step` could not carry through; nullopt if it did.
template <class Step>
std::optional<std::string> reason_to_give_up(const Step& step) {
  try {
    step();
    return std::nullopt;
  } catch (const GiveUp& e) {
    return e.what();
  } catch (const semantics::OverflowError& e) {
    return e.what();
  }
}

}  // namespace

class Proof::State {
 public:
  State(const Program& program, const Procedure& procedure, ParameterValues fixed, const ModeRules& strictest,
        const ProofOptions& options)
      : program_(program),
        procedure_(procedure),
        fixed_(std::move(fixed)),
        strictest_(strictest),
        options_(options),
        formulas_(smt::Limits{4'000, 2'000'000, 2'048}, options.solver_seconds),
        bindings_(program.symbol_count) {
    budget_.deadline = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(static_cast<std::int64_t>(options.max_seconds * 1000));
    budget_.fast_forward = options.fast_forward;
    budget_.approximate_all = options.approximate_all;
  }

  ProofResult look(const ModeRules& rules, const Candidates& candidates) {
    const auto start = std::chrono::steady_clock::now();
    const slices::Budget before = budget_;
    const std::uint64_t calls = formulas_.solver_calls();
    const double solver_seconds = formulas_.solver_seconds();
    result_ = {};
    suspects_.clear();
    memory_suspects_.clear();
    if (!taken_apart_) gave_up_ = reason_to_give_up([&] { take_apart(); });
    taken_apart_ = true;
    const auto reason = gave_up_ ? gave_up_ : reason_to_give_up([&] {
      follow(working::Rules(rules));
      judge(candidates);
    });
    if (reason) give_up(*reason);
    result_.steps = budget_.steps - before.steps;
    result_.layers = budget_.layers - before.layers;
    result_.solver_calls = formulas_.solver_calls() - calls;
    result_.solver_seconds = formulas_.solver_seconds() - solver_seconds;
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  struct Suspect {
    FormulaId condition;
    ProofFailure failure;
  };
  // A task that some sizes execute.
  struct TaskSlices {
    FormulaId path = FormulaId::yes;
    slices::Unit unit;
    slices::SliceSet set;  // points into `unit`
  };

  void give_up(std::string reason) {
    result_.kind = ProofResult::Kind::open;
    result_.reason = std::move(reason);
  }
  void take_apart();
  void preconditions();
  void take_apart(const slices::Task& task);
  void follow(const working::Rules& rules);
  ProofFailure describe(std::size_t task, const slices::Slice& slice, const slices::Failure& f) const;
  void judge(const Candidates& candidates);
  // Sizes for the condition; nullopt: none, or (with `unknown` set) nobody knows.
  std::optional<ParameterValues> sizes(FormulaId f, bool& unknown);
  // The parameters have these values.
  FormulaId at_sizes(const ParameterValues& values);

  const Program& program_;
  const Procedure& procedure_;
  const ParameterValues fixed_;
  const ModeRules strictest_;
  const ProofOptions options_;
  Formulas formulas_;
  slices::Budget budget_;

  // The same at every look.
  bool taken_apart_ = false;
  std::optional<std::string> gave_up_;
  Bindings bindings_;
  std::vector<std::pair<SymId, smt::Variable>> parameters_;
  FormulaId assumptions_ = FormulaId::yes;
  bool asserts_complete_ = true, reaches_task_ = false, task_unknown_ = false;
  slices::Tasks tasks_;
  std::deque<TaskSlices> task_slices_;

  // Of this look.
  std::vector<Suspect> suspects_;
  std::vector<Suspect> memory_suspects_;
  ProofResult result_;
};

void Proof::State::preconditions() {
  for (const SymId p : procedure_.parameters) {
    const auto& symbol = procedure_.symbol(p);
    if (!symbol.control() || symbol.kind == SymbolKind::stride) continue;
    const auto given =
        std::find_if(fixed_.begin(), fixed_.end(), [&](const auto& v) { return v.first == p; });
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
    asserts_complete_ = asserts_complete_ && f.has_value();
    if (f) assumptions_ = formulas_.conj(assumptions_, *f);
  }
  if (assumptions_ == FormulaId::no) throw GiveUp("no sizes satisfy the asserts");
}

void Proof::State::take_apart() {
  preconditions();
  tasks_ = slices::find_tasks(program_);
  if (tasks_.tasks.empty()) throw GiveUp("there is no task");
  for (const slices::Task& task : tasks_.tasks) take_apart(task);
}

void Proof::State::take_apart(const slices::Task& task) {
  Bindings bindings = bindings_;
  const FormulaId path =
      formulas_.conj(assumptions_, slices::enter(task.path, formulas_, bindings).condition);
  switch (formulas_.satisfiable(path)) {
    case Formulas::Satisfiable::no:
      return;  // never executed
    case Formulas::Satisfiable::yes:
      reaches_task_ = true;
      break;
    case Formulas::Satisfiable::unknown:
      task_unknown_ = true;
      break;
  }
  TaskSlices& out = task_slices_.emplace_back();
  out.path = path;
  out.unit = slices::make_unit(program_, *task.body, formulas_, bindings);
  out.set = slices::make_slices(out.unit, formulas_, strictest_, options_.merge_slices);
}

void Proof::State::follow(const working::Rules& rules) {
  result_.reaches_task = reaches_task_;
  result_.asserts_complete = asserts_complete_;
  if (const auto wrong = slices::compare_host(program_, tasks_, rules)) throw GiveUp(*wrong);
  const slices::MemoryResult memory =
      slices::compare_accesses(program_, tasks_, bindings_, assumptions_, rules, formulas_);
  result_.memory_queries = memory.queries;
  for (const auto* list : {&memory.across_tasks, &memory.within_task}) {
    for (const slices::Encounter& m : *list)
      memory_suspects_.push_back({m.condition, {"E-Y32", false, m.check, m.var, {}, {}, {}}});
  }
  for (std::size_t task = 0; task < task_slices_.size(); ++task) {
    const TaskSlices& t = task_slices_[task];
    result_.element_classes += t.set.classes;
    result_.slices += t.set.slices.size();
    for (const slices::Slice& slice : t.set.slices) {
      for (const slices::Failure& f :
           slices::explore(t.unit, slice, formulas_, rules, t.path, budget_, result_.records_peak))
        suspects_.push_back({f.condition, describe(task, slice, f)});
    }
  }
}

ProofFailure Proof::State::describe(std::size_t task, const slices::Slice& slice,
                                    const slices::Failure& f) const {
  const slices::Unit& unit = task_slices_[task].unit;
  ProofFailure out{f.code,
                   f.warning,
                   unit.leaves[f.unit_leaf].node->id,
                   slice.var.value_or(VarId{}),
                   slice.first,
                   {static_cast<std::int64_t>(task)},
                   f.approximate};
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

std::optional<ParameterValues> Proof::State::sizes(FormulaId f, bool& unknown) {
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

FormulaId Proof::State::at_sizes(const ParameterValues& values) {
  FormulaId out = FormulaId::yes;
  for (const auto& [symbol, value] : values)
    out = formulas_.conj(out, formulas_.zero(combine(1, *bindings_[symbol], -1, Linear{{}, value})));
  return out;
}

void Proof::State::judge(const Candidates& candidates) {
  bool unknown = false;
  for (const Suspect& s : suspects_) {
    if (options_.keep_failures && formulas_.satisfiable(s.condition) != Formulas::Satisfiable::no)
      result_.failures.push_back(s.failure);
  }
  const auto collect = [&](const std::vector<Suspect>& suspects, bool warning, bool approximate,
                           std::vector<ParameterValues>& out) {
    // The smallest sizes of all paths together first, then path by path.
    FormulaId any = FormulaId::no;
    std::vector<const Suspect*> wanted;
    for (const Suspect& s : suspects) {
      if (s.failure.warning != warning || s.failure.approximate.empty() == approximate) continue;
      any = formulas_.disj(any, s.condition);
      wanted.push_back(&s);
    }
    if (wanted.empty()) return;
    bool confirmed = false;
    const auto add = [&](FormulaId f) {
      auto found = sizes(f, unknown);
      if (!found) return false;
      if (std::find(out.begin(), out.end(), *found) != out.end()) return true;
      if (!warning && !result_.failure) result_.failure = wanted.front()->failure;
      confirmed = !warning && candidates.confirm && candidates.confirm(*found);
      out.push_back(std::move(*found));
      return true;
    };
    if (wanted.size() <= 40 && !add(any) && !unknown) return;
    // At the smallest sizes of an approximate path nothing need be wrong.
    FormulaId others = any;
    while (approximate && !warning && !confirmed && !out.empty() && out.size() < candidates.most) {
      others = formulas_.conj(others, formulas_.negate(at_sizes(out.back())));
      if (add(others)) continue;
      if (!unknown) return;
      break;
    }
    for (const Suspect* s : wanted) {
      if (confirmed || out.size() >= candidates.most) break;
      // One set of sizes is enough for a warning.
      if (warning && !out.empty()) break;
      add(s->condition);
    }
    result_.confirmed = result_.confirmed || confirmed;
  };
  collect(suspects_, false, false, result_.candidates);
  if (!result_.confirmed) collect(memory_suspects_, false, false, result_.candidates);
  if (!result_.confirmed) collect(suspects_, false, true, result_.candidates);
  if (!result_.candidates.empty()) {
    result_.kind = ProofResult::Kind::refuted;
    result_.reason = "a path was found on which a rule may be broken";
    if (!result_.failure->approximate.empty())
      result_.reason =
          fmt::format("a rule may be broken on a path that need not exist: {}", result_.failure->approximate);
    return;
  }
  if (unknown) return give_up("the solver gave up on a path");
  for (const bool approximate : {false, true}) collect(suspects_, true, approximate, result_.warnings);
  if (unknown) return give_up("the solver gave up on a path");
  if (!result_.reaches_task)
    return give_up(task_unknown_ ? "the solver gave up on the tasks" : "no task is ever executed");
  result_.kind = ProofResult::Kind::proved;
}

Proof::Proof(const Program& program, const Procedure& procedure, ParameterValues fixed,
             const ModeRules& strictest, const ProofOptions& options)
    : state_(std::make_unique<State>(program, procedure, std::move(fixed), strictest, options)) {}

Proof::~Proof() = default;

ProofResult Proof::look(const ModeRules& rules, const Candidates& candidates) {
  return state_->look(rules, candidates);
}

ProofResult prove(const Program& program, const Procedure& procedure, const ParameterValues& fixed,
                  const ModeRules& rules, const ProofOptions& options) {
  return Proof(program, procedure, fixed, rules, options).look(rules);
}

}  // namespace exocheck::amir
