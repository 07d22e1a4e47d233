#include "smt/quick.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::smt {
namespace {

using semantics::InternalError;
using semantics::OverflowError;
using semantics::ir::checked_sub;

constexpr int search_depth = 14;    // eliminations in a row
constexpr int search_budget = 300;  // forms looked at per goal
constexpr int boolean_depth = 30;   // nesting of and/or in a goal

// a <= b, a < b as L <= 0.
Linear difference(const Linear& a, const Linear& b, bool strict) {
  Linear out = combine(1, a, -1, b);
  out.constant = semantics::ir::checked_add(out.constant, strict ? 1 : 0);
  return tighten(std::move(out));
}

// Depth-first search for a proof of `goal <= 0` from facts `L <= 0`.
class Elimination {
 public:
  Elimination(const Atoms& atoms, const std::vector<Linear>& facts)
      : atoms_(atoms), facts_(facts), used_(facts.size()) {}

  bool operator()(Linear goal, int depth) {
    goal = tighten(std::move(goal));
    if (goal.is_constant()) return goal.constant <= 0;
    if (depth == 0 || --budget_ < 0) return false;

    const auto innermost =
        std::max_element(goal.terms.begin(), goal.terms.end(), [this](const auto& a, const auto& b) {
          return std::pair{atoms_.rank(a.first), a.first} < std::pair{atoms_.rank(b.first), b.first};
        });
    const AtomId atom = innermost->first;
    const std::int64_t c = innermost->second;

    std::vector<Step> steps;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      if (!used_[i]) add_step(goal, c, facts_[i], facts_[i].coefficient(atom), i, steps);
    }
    if (const auto& q = atoms_.quotient(atom)) {
      // n * q <= a and a <= n * q + (n - 1).
      const Linear quotient{{{atom, 1}}, 0};
      Linear bound = c > 0 ? combine(q->divisor, quotient, -1, q->numerator)
                           : combine(1, q->numerator, -q->divisor, quotient);
      if (c < 0) bound.constant = checked_sub(bound.constant, q->divisor - 1);
      add_step(goal, c, bound, bound.coefficient(atom), facts_.size(), steps);
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.goal.terms.size() < b.goal.terms.size(); });
    for (Step& step : steps) {
      const bool is_fact = step.fact < used_.size();
      if (is_fact) used_[step.fact] = true;
      const bool proved = (*this)(std::move(step.goal), depth - 1);
      if (is_fact) used_[step.fact] = false;
      if (proved) return true;
    }
    return false;
  }

 private:
  struct Step {
    Linear goal;
    std::size_t fact;
  };

  // `fact` has coefficient k of the atom, the goal c; equal signs bound the atom in the direction the goal
  // needs.
  static void add_step(const Linear& goal, std::int64_t c, const Linear& fact, std::int64_t k,
                       std::size_t index, std::vector<Step>& steps) {
    if (k == 0 || (k > 0) != (c > 0)) return;
    try {
      const std::int64_t size_c = c > 0 ? c : checked_sub(0, c);
      const std::int64_t size_k = k > 0 ? k : checked_sub(0, k);
      const std::int64_t g = std::gcd(size_c, size_k);
      // goal <= 0 iff m * goal <= m - 1 (integers), and m * goal <= m * goal - f * fact because fact <= 0.
      const std::int64_t m = size_k / g;
      const std::int64_t f = size_c / g;
      Linear next = combine(m, goal, -f, fact);
      next.constant = checked_sub(next.constant, m - 1);
      steps.push_back({tighten(std::move(next)), index});
    } catch (const OverflowError&) {
      // This combination needs more than 64 bits; others may not.
    }
  }

  const Atoms& atoms_;
  const std::vector<Linear>& facts_;
  std::vector<char> used_;
  int budget_ = search_budget;
};

}  // namespace

void QuickProver::add_facts(const Term& condition, Facts& out) {
  switch (condition.op()) {
    case Op::conj:
      add_facts(condition.left(), out);
      add_facts(condition.right(), out);
      return;
    case Op::le:
    case Op::lt:
      out.linear.push_back(difference(atoms_.linear(condition.left()), atoms_.linear(condition.right()),
                                      condition.op() == Op::lt));
      return;
    case Op::eq:
      out.linear.push_back(
          difference(atoms_.linear(condition.left()), atoms_.linear(condition.right()), false));
      out.linear.push_back(
          difference(atoms_.linear(condition.right()), atoms_.linear(condition.left()), false));
      return;
    case Op::negation:
      if (condition.left().op() == Op::disj) {
        add_facts(negate(condition.left().left()), out);
        add_facts(negate(condition.left().right()), out);
        return;
      }
      out.literals.push_back(condition);
      return;
    case Op::variable:
    case Op::iff:
    case Op::disj:
      out.literals.push_back(condition);
      return;
    case Op::bool_const:
      return;
    case Op::int_const:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::mod:
      break;
  }
  throw InternalError("an integer term as an assumption");
}

const QuickProver::Facts& QuickProver::facts_of(const std::shared_ptr<const Assumptions::Link>& link) {
  const auto found = cache_.find(link.get());
  if (found != cache_.end()) return found->second.facts;
  CachedFacts entry{link, {}};
  try {
    add_facts(link->assumption.condition, entry.facts);
  } catch (const OverflowError&) {
    // What was collected so far holds; the rest is left to the solver.
  }
  return cache_.emplace(link.get(), std::move(entry)).first->second.facts;
}

bool QuickProver::proves(const Assumptions& assumptions, const Term& goal) {
  Facts known;
  for (auto link = assumptions.last(); link; link = link->parent) {
    const Facts& facts = facts_of(link);
    known.linear.insert(known.linear.end(), facts.linear.begin(), facts.linear.end());
    known.literals.insert(known.literals.end(), facts.literals.begin(), facts.literals.end());
  }
  try {
    return proves(known, goal, boolean_depth);
  } catch (const OverflowError&) {
    return false;
  }
}

bool QuickProver::proves(const Facts& known, const Term& goal, int depth) {
  if (depth == 0) return false;
  switch (goal.op()) {
    case Op::bool_const:
      return goal.value() != 0;
    case Op::conj:
      return proves(known, goal.left(), depth - 1) && proves(known, goal.right(), depth - 1);
    case Op::le:
    case Op::lt:
      return proves_linear(
          known, difference(atoms_.linear(goal.left()), atoms_.linear(goal.right()), goal.op() == Op::lt));
    case Op::eq:
      return proves(known, le(goal.left(), goal.right()), depth - 1) &&
             proves(known, le(goal.right(), goal.left()), depth - 1);
    case Op::disj: {
      // Either side, each under the negation of the other.
      for (const bool left_first : {true, false}) {
        Facts more = known;
        add_facts(negate(left_first ? goal.right() : goal.left()), more);
        if (proves(more, left_first ? goal.left() : goal.right(), depth - 1)) return true;
      }
      return false;
    }
    case Op::negation:
      if (goal.left().op() == Op::eq) {
        const Term& e = goal.left();
        return proves(known, lt(e.left(), e.right()), depth - 1) ||
               proves(known, lt(e.right(), e.left()), depth - 1);
      }
      if (goal.left().op() == Op::conj) {
        return proves(known, disj(negate(goal.left().left()), negate(goal.left().right())), depth - 1);
      }
      if (goal.left().op() == Op::disj) {
        return proves(known, negate(goal.left().left()), depth - 1) &&
               proves(known, negate(goal.left().right()), depth - 1);
      }
      [[fallthrough]];
    case Op::variable:
    case Op::iff:
      return std::any_of(known.literals.begin(), known.literals.end(),
                         [&goal](const Term& t) { return same(t, goal); });
    case Op::int_const:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::mod:
      break;
  }
  throw InternalError("an integer term as a goal");
}

bool implied(const Atoms& atoms, const std::vector<Linear>& facts, const Linear& goal) {
  try {
    return Elimination(atoms, facts)(goal, search_depth);
  } catch (const OverflowError&) {
    return false;
  }
}

bool QuickProver::proves_linear(const Facts& known, const Linear& goal) {
  return Elimination(atoms_, known.linear)(goal, search_depth);
}

bool QuickProver::satisfiable_by_guess(const Assumptions& assumptions) {
  constexpr std::array<std::int64_t, 16> guesses{1,  0,  2,   3,   4,   8,   16,   32,
                                                 64, 96, 128, 192, 256, 512, 1024, 2048};
  const auto conditions = assumptions.in_order();
  // `x == 32` and `x == y` decide x; the rest is guessed, every integer alike.
  std::map<std::uint32_t, Term> decided;
  for (const Assumption* a : conditions) {
    const Term& c = a->condition;
    if (c.op() != Op::eq) continue;
    const bool left = c.left().op() == Op::variable;
    const Term& x = left ? c.left() : c.right();
    const Term& value = left ? c.right() : c.left();
    if (x.op() == Op::variable) decided.emplace(x.variable().id, value);
  }
  return std::any_of(guesses.begin(), guesses.end(), [&](std::int64_t guess) {
    int depth = 8;  // x == y and y == x must not go round for ever
    const std::function<std::int64_t(const Variable&)> value_of = [&](const Variable& v) -> std::int64_t {
      const auto found = decided.find(v.id);
      if (found == decided.end() || depth == 0) return v.sort == Sort::boolean ? 1 : guess;
      --depth;
      const std::int64_t value = evaluate(found->second, value_of);
      ++depth;
      return value;
    };
    try {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&value_of](const Assumption* a) { return evaluate(a->condition, value_of) != 0; });
    } catch (const OverflowError&) {
      return false;
    }
  });
}

}  // namespace exocheck::smt
