#include "smt/linear.hpp"

#include <algorithm>
#include <numeric>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::smt {

using semantics::InternalError;
using semantics::OverflowError;
using semantics::ir::checked_add;
using semantics::ir::checked_mul;
using semantics::ir::checked_sub;
using semantics::ir::floor_div;
using semantics::ir::floor_mod;

namespace {

// A quotient comes right before the innermost variable inside it is eliminated; nested quotients before inner
// ones.
constexpr std::uint64_t ranks_per_variable = 1024;

}  // namespace

std::int64_t Linear::coefficient(AtomId atom) const {
  const auto at = std::lower_bound(terms.begin(), terms.end(), atom,
                                   [](const auto& term, AtomId id) { return term.first < id; });
  return at != terms.end() && at->first == atom ? at->second : 0;
}

Linear combine(std::int64_t factor_a, const Linear& a, std::int64_t factor_b, const Linear& b) {
  Linear out;
  out.constant = checked_add(checked_mul(factor_a, a.constant), checked_mul(factor_b, b.constant));
  out.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    const bool take_a = x != a.terms.end() && (y == b.terms.end() || x->first <= y->first);
    const bool take_b = y != b.terms.end() && (x == a.terms.end() || y->first <= x->first);
    const AtomId id = take_a ? x->first : y->first;
    std::int64_t c = 0;
    if (take_a) c = checked_mul(factor_a, x++->second);
    if (take_b) c = checked_add(c, checked_mul(factor_b, y++->second));
    if (c != 0) out.terms.emplace_back(id, c);
  }
  return out;
}

Linear tighten(Linear l) {
  std::int64_t g = 0;
  for (const auto& [id, c] : l.terms) {
    if (c == std::numeric_limits<std::int64_t>::min()) throw OverflowError("coefficient");
    g = std::gcd(g, c);
  }
  if (g <= 1) return l;
  for (auto& [id, c] : l.terms) c /= g;
  // sum + constant / g <= 0 with integer sum: round the constant up.
  l.constant = checked_sub(0, floor_div(checked_sub(0, l.constant), g));
  return l;
}

const Linear& Atoms::linear(const Term& t) {
  const auto found = memo_.find(t.node());
  if (found != memo_.end()) return found->second.second;
  Linear value = compute(t);
  return memo_.emplace(t.node(), std::pair{t, std::move(value)}).first->second.second;
}

Linear Atoms::compute(const Term& t) {
  switch (t.op()) {
    case Op::int_const:
      return Linear{{}, t.value()};
    case Op::variable:
      return atom(variable_atom(t.variable()));
    case Op::add: {
      const Linear left = linear(t.left());
      return combine(1, left, 1, linear(t.right()));
    }
    case Op::sub: {
      const Linear left = linear(t.left());
      return combine(1, left, -1, linear(t.right()));
    }
    case Op::mul:
      return combine(t.value(), linear(t.left()), 0, Linear{});
    case Op::div:
      return divide(linear(t.left()), t.value());
    case Op::mod: {
      const Linear numerator = linear(t.left());
      return combine(1, numerator, checked_sub(0, t.value()), divide(numerator, t.value()));
    }
    case Op::bool_const:
    case Op::le:
    case Op::lt:
    case Op::eq:
    case Op::iff:
    case Op::conj:
    case Op::disj:
    case Op::negation:
      break;
  }
  throw InternalError("linear form of a boolean term");
}

Linear Atoms::divide(Linear numerator, std::int64_t divisor) {
  // floor((divisor * A + B) / divisor) = A + floor(B / divisor).
  Linear whole, rest;
  for (const auto& [id, c] : numerator.terms) {
    if (c % divisor == 0) {
      whole.terms.emplace_back(id, c / divisor);
    } else {
      rest.terms.emplace_back(id, c);
    }
  }
  whole.constant = floor_div(numerator.constant, divisor);
  rest.constant = floor_mod(numerator.constant, divisor);
  // floor((g * X + c) / (g * m)) = floor((X + floor(c / g)) / m).
  std::int64_t g = divisor;
  for (const auto& [id, c] : rest.terms) {
    if (c == std::numeric_limits<std::int64_t>::min()) throw OverflowError("coefficient");
    g = std::gcd(g, c);
  }
  if (g > 1) {
    for (auto& [id, c] : rest.terms) c /= g;
    rest.constant = floor_div(rest.constant, g);
    divisor /= g;
  }
  if (rest.is_constant()) return combine(1, whole, 1, Linear{{}, floor_div(rest.constant, divisor)});
  if (divisor == 1) return combine(1, whole, 1, rest);
  return combine(1, whole, 1, atom(quotient_atom(std::move(rest), divisor)));
}

Linear Atoms::atom(AtomId id) const { return Linear{{{id, 1}}, 0}; }

AtomId Atoms::variable_atom(const Variable& v) {
  const auto found = variables_.find(v.id);
  if (found != variables_.end()) return found->second;
  const auto id = static_cast<AtomId>(atoms_.size());
  atoms_.push_back({v, std::nullopt, (std::uint64_t{v.id} + 1) * ranks_per_variable});
  variables_.emplace(v.id, id);
  return id;
}

AtomId Atoms::quotient_atom(Linear numerator, std::int64_t divisor) {
  auto key = std::pair{numerator, divisor};
  const auto found = quotients_.find(key);
  if (found != quotients_.end()) return found->second;
  std::uint64_t highest = 0;
  for (const auto& [id, c] : numerator.terms) highest = std::max(highest, atoms_[id].rank);
  const auto id = static_cast<AtomId>(atoms_.size());
  atoms_.push_back({std::nullopt, Quotient{std::move(numerator), divisor}, highest + 1});
  quotients_.emplace(std::move(key), id);
  return id;
}

}  // namespace exocheck::smt
