#include "smt/solver.hpp"

#include <z3++.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <unordered_map>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::smt {
namespace {

using semantics::InternalError;
using semantics::OverflowError;

class Session {
 public:
  Session(z3::context& context, const Limits& limits)
      : limits_(limits), context_(context), solver_(context_, z3::solver::simple()) {
    configure(limits.milliseconds, limits.resource_units);
  }

  Answer run(const Query& query) {
    for (const Assumption* a : query.assumptions.in_order()) solver_.add(translate(a->condition));
    if (query.goal) solver_.add(!translate(*query.goal));
    switch (solver_.check()) {
      case z3::unsat:
        return Proved{};
      case z3::unknown:
        return Unknown{reason()};
      case z3::sat:
        return small_model(query);
    }
    throw InternalError("unknown solver answer");
  }

 private:
  void configure(unsigned milliseconds, unsigned resource_units) {
    z3::params p(context_);
    p.set("random_seed", 0u);
    p.set("timeout", milliseconds);
    p.set("rlimit", resource_units);
    p.set("max_memory", limits_.megabytes);
    solver_.set(p);
  }

  std::string reason() const {
    const std::string why = solver_.reason_unknown();
    if (why.find("resource") != std::string::npos) return "it used up its step limit";
    if (why.find("timeout") != std::string::npos || why.find("canceled") != std::string::npos) {
      return "it used up its time limit or step limit";
    }
    if (why.find("memory") != std::string::npos || why.find("memout") != std::string::npos) {
      return "it used up its memory limit";
    }
    return why.empty() ? "it gave no reason" : why;
  }

  z3::expr variable(const Variable& v) {
    const auto found = variables_.find(v.id);
    if (found != variables_.end()) return found->second;
    const std::string name = "v" + std::to_string(v.id);
    z3::expr e =
        v.sort == Sort::boolean ? context_.bool_const(name.c_str()) : context_.int_const(name.c_str());
    variables_.emplace(v.id, e);
    return e;
  }

  // floor(a / n): the unique q with n*q <= a < n*q + n, which may be assumed for goals and assumptions alike.
  z3::expr quotient(const z3::expr& a, std::int64_t n) {
    const auto key = std::pair{Z3_get_ast_id(context_, a), n};
    const auto found = quotients_.find(key);
    if (found != quotients_.end()) return found->second;
    z3::expr q = context_.int_const(("q" + std::to_string(quotients_.size())).c_str());
    const z3::expr divisor = context_.int_val(n);
    solver_.add(divisor * q <= a);
    solver_.add(a < divisor * q + divisor);
    kept_.push_back(a);  // keeps the id unique
    quotients_.emplace(key, q);
    return q;
  }

  z3::expr translate(const Term& t) {
    const auto found = memo_.find(t.node());
    if (found != memo_.end()) return found->second;
    z3::expr e = compute(t);
    memo_.emplace(t.node(), e);
    return e;
  }

  z3::expr compute(const Term& t) {
    // Left before right, so that the numbering of quotients does not depend on the compiler.
    const bool binary = t.op() == Op::add || t.op() == Op::sub || t.sort() == Sort::boolean;
    if (binary && t.op() != Op::bool_const && t.op() != Op::variable) translate(t.left());
    switch (t.op()) {
      case Op::int_const:
        return context_.int_val(t.value());
      case Op::bool_const:
        return context_.bool_val(t.value() != 0);
      case Op::variable:
        return variable(t.variable());
      case Op::add:
        return translate(t.left()) + translate(t.right());
      case Op::sub:
        return translate(t.left()) - translate(t.right());
      case Op::mul:
        return context_.int_val(t.value()) * translate(t.left());
      case Op::div:
        return quotient(translate(t.left()), t.value());
      case Op::mod: {
        const z3::expr a = translate(t.left());
        return a - context_.int_val(t.value()) * quotient(a, t.value());
      }
      case Op::le:
        return translate(t.left()) <= translate(t.right());
      case Op::lt:
        return translate(t.left()) < translate(t.right());
      case Op::eq:
      case Op::iff:
        return translate(t.left()) == translate(t.right());
      case Op::conj:
        return translate(t.left()) && translate(t.right());
      case Op::disj:
        return translate(t.left()) || translate(t.right());
      case Op::negation:
        return !translate(t.left());
    }
    throw InternalError("unknown term");
  }

  std::optional<std::int64_t> value_in(const z3::model& model, const Variable& v) {
    const z3::expr value = model.eval(variable(v), true);
    if (v.sort == Sort::boolean) return value.is_true() ? 1 : 0;
    std::int64_t out = 0;
    if (!value.is_numeral_i64(out)) return std::nullopt;
    return out;
  }

  // The model nearest to zero in lexicographic order of the variables. A value that cannot be improved within
  // a small effort stays as it is; after a few of these nothing more is tried.
  Answer small_model(const Query& query) {
    z3::model model = solver_.get_model();
    configure(std::min(limits_.milliseconds, 1'000u), 500'000);
    give_up_at_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits_.milliseconds);
    const std::vector<Variable> shown = relevant_variables(query);
    for (const Variable& v : shown) {
      const z3::expr x = variable(v);
      if (v.sort == Sort::boolean) {
        fix_if_possible(!x, model) || fix_if_possible(x, model);
        continue;
      }
      if (fix_if_possible(x == 0, model)) continue;
      // Prefer positive values; then shrink the size of the value by bisection.
      const bool positive = holds(x > 0, model);
      solver_.add(positive ? x > 0 : x < 0);
      const auto size_of = [&](const z3::model& m) -> std::optional<std::int64_t> {
        const auto value = value_in(m, v);
        if (!value || *value == INT64_MIN) return std::nullopt;
        return *value < 0 ? -*value : *value;
      };
      auto best = size_of(model);
      if (!best) {
        // More than 64 bits: ask once for something that fits.
        const std::int64_t bound = std::int64_t{1} << 40;
        if (holds(positive ? x <= context_.int_val(bound) : x >= context_.int_val(-bound), model))
          best = size_of(model);
        if (!best) return Unknown{"every counterexample it found needs numbers of more than 64 bits"};
      }
      for (std::int64_t low = 1; low < *best;) {
        const std::int64_t middle = low + (*best - low) / 2;
        if (holds(positive ? x <= context_.int_val(middle) : x >= context_.int_val(-middle), model)) {
          best = size_of(model);
          if (!best) break;
        } else {
          low = middle + 1;
        }
      }
      const auto value = value_in(model, v);
      if (value) solver_.add(x == context_.int_val(*value));
    }
    return checked(query, shown, model);
  }

  // Is there a model with `condition`, too? If so, `model` becomes it.
  bool holds(const z3::expr& condition, z3::model& model) {
    if (given_up_ == max_given_up || std::chrono::steady_clock::now() > give_up_at_) {
      return model.eval(condition, true).is_true();
    }
    solver_.push();
    solver_.add(condition);
    const z3::check_result answer = solver_.check();
    if (answer == z3::sat) model = solver_.get_model();
    if (answer == z3::unknown) ++given_up_;
    solver_.pop();
    return answer == z3::sat;
  }

  bool fix_if_possible(const z3::expr& condition, z3::model& model) {
    if (!holds(condition, model)) return false;
    solver_.add(condition);
    return true;
  }

  // Evaluates the whole query under the model: it must satisfy every assumption and falsify the goal.
  Answer checked(const Query& query, const std::vector<Variable>& shown, const z3::model& model) {
    const auto value_of = [&](const Variable& v) -> std::int64_t {
      const auto value = value_in(model, v);
      if (!value) throw OverflowError("model value");
      return *value;
    };
    try {
      for (const Assumption* a : query.assumptions.in_order()) {
        if (evaluate(a->condition, value_of) == 0)
          return Unknown{"its counterexample violates an assumption"};
      }
      if (query.goal && evaluate(*query.goal, value_of) != 0)
        return Unknown{"its counterexample does not refute the goal"};
      Model out;
      for (const Variable& v : shown) out.values.emplace_back(v, value_of(v));
      return out;
    } catch (const OverflowError&) {
      return Unknown{"every counterexample it found needs numbers of more than 64 bits"};
    }
  }

  static constexpr int max_given_up = 3;

  Limits limits_;
  int given_up_ = 0;  // attempts to improve a model that ended without an answer
  std::chrono::steady_clock::time_point give_up_at_;
  z3::context& context_;
  z3::solver solver_;
  std::unordered_map<std::uint32_t, z3::expr> variables_;
  std::map<std::pair<unsigned, std::int64_t>, z3::expr> quotients_;
  std::vector<z3::expr> kept_;
  std::unordered_map<const Term::Node*, z3::expr> memo_;
};

}  // namespace

struct Solver::Context {
  z3::context context;
};

Solver::Solver() = default;
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

Answer Solver::solve(const Query& query, const Limits& limits) {
  Answer answer;
  try {
    if (!context_) context_ = std::make_unique<Context>();
    answer = Session(context_->context, limits).run(query);
  } catch (const z3::exception& e) {
    answer = Unknown{e.msg()};
  }
  // What a query interrupted at a limit leaves behind must not touch the next.
  if (std::holds_alternative<Unknown>(answer)) context_.reset();
  return answer;
}

}  // namespace exocheck::smt
