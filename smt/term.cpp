#include "smt/term.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::smt {

namespace ir = semantics::ir;
using semantics::ensure;
using semantics::InternalError;
using semantics::OverflowError;

struct Term::Node {
  Op op = Op::int_const;
  Sort sort = Sort::integer;
  std::int64_t value = 0;
  std::optional<Term> left, right;
  Variable variable;
  std::uint32_t depth = 1;
  std::uint64_t size = 1;
};

namespace {

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max()
                                                           : a + b;
}

Term make(Op op, Sort sort, std::int64_t value, std::optional<Term> left = {},
          std::optional<Term> right = {}) {
  auto node = std::make_shared<Term::Node>();
  node->op = op;
  node->sort = sort;
  node->value = value;
  for (const auto* operand : {&left, &right}) {
    if (!*operand) continue;
    node->depth = std::max(node->depth, (*operand)->depth() + 1);
    node->size = saturating_add(node->size, (*operand)->size());
  }
  node->left = std::move(left);
  node->right = std::move(right);
  return Term(std::move(node));
}

Term make(Op op, Sort sort, const Term& left, const Term& right) { return make(op, sort, 0, left, right); }

bool is_int(const Term& t, std::int64_t value) { return t.op() == Op::int_const && t.value() == value; }

bool both_constant(const Term& a, const Term& b) {
  return a.op() == Op::int_const && b.op() == Op::int_const;
}

void ensure_sort(const Term& a, Sort sort) { ensure(a.sort() == sort, "term of the wrong sort"); }

}  // namespace

Op Term::op() const { return node_->op; }
Sort Term::sort() const { return node_->sort; }
std::int64_t Term::value() const { return node_->value; }
const Variable& Term::variable() const { return node_->variable; }
const Term& Term::left() const { return *node_->left; }
const Term& Term::right() const { return *node_->right; }
std::uint32_t Term::depth() const { return node_->depth; }
std::uint64_t Term::size() const { return node_->size; }

Term integer(std::int64_t value) { return make(Op::int_const, Sort::integer, value); }

Term boolean(bool value) { return make(Op::bool_const, Sort::boolean, value ? 1 : 0); }

Term variable(Variable v) {
  auto node = std::make_shared<Term::Node>();
  node->op = Op::variable;
  node->sort = v.sort;
  node->variable = std::move(v);
  return Term(std::move(node));
}

Term operator+(const Term& a, const Term& b) {
  ensure_sort(a, Sort::integer);
  ensure_sort(b, Sort::integer);
  std::int64_t sum = 0;
  if (both_constant(a, b) && !__builtin_add_overflow(a.value(), b.value(), &sum)) return integer(sum);
  if (is_int(a, 0)) return b;
  if (is_int(b, 0)) return a;
  return make(Op::add, Sort::integer, a, b);
}

Term operator-(const Term& a, const Term& b) {
  ensure_sort(a, Sort::integer);
  ensure_sort(b, Sort::integer);
  std::int64_t difference = 0;
  if (both_constant(a, b) && !__builtin_sub_overflow(a.value(), b.value(), &difference))
    return integer(difference);
  if (is_int(b, 0)) return a;
  if (a.node() == b.node()) return integer(0);
  return make(Op::sub, Sort::integer, a, b);
}

Term scale(std::int64_t factor, const Term& a) {
  ensure_sort(a, Sort::integer);
  std::int64_t product = 0;
  if (a.op() == Op::int_const && !__builtin_mul_overflow(factor, a.value(), &product))
    return integer(product);
  if (factor == 0) return integer(0);
  if (factor == 1) return a;
  return make(Op::mul, Sort::integer, factor, a);
}

Term floor_div(const Term& a, std::int64_t divisor) {
  ensure_sort(a, Sort::integer);
  ensure(divisor > 0, "divisor");
  if (divisor == 1) return a;
  if (a.op() == Op::int_const) return integer(ir::floor_div(a.value(), divisor));
  return make(Op::div, Sort::integer, divisor, a);
}

Term floor_mod(const Term& a, std::int64_t divisor) {
  ensure_sort(a, Sort::integer);
  ensure(divisor > 0, "modulus");
  if (divisor == 1) return integer(0);
  if (a.op() == Op::int_const) return integer(ir::floor_mod(a.value(), divisor));
  return make(Op::mod, Sort::integer, divisor, a);
}

Term le(const Term& a, const Term& b) {
  ensure_sort(a, Sort::integer);
  ensure_sort(b, Sort::integer);
  if (both_constant(a, b)) return boolean(a.value() <= b.value());
  return make(Op::le, Sort::boolean, a, b);
}

Term lt(const Term& a, const Term& b) {
  ensure_sort(a, Sort::integer);
  ensure_sort(b, Sort::integer);
  if (both_constant(a, b)) return boolean(a.value() < b.value());
  return make(Op::lt, Sort::boolean, a, b);
}

Term eq(const Term& a, const Term& b) {
  ensure_sort(a, Sort::integer);
  ensure_sort(b, Sort::integer);
  if (both_constant(a, b)) return boolean(a.value() == b.value());
  return make(Op::eq, Sort::boolean, a, b);
}

Term iff(const Term& a, const Term& b) {
  ensure_sort(a, Sort::boolean);
  ensure_sort(b, Sort::boolean);
  if (a.is_true()) return b;
  if (b.is_true()) return a;
  if (a.is_false()) return negate(b);
  if (b.is_false()) return negate(a);
  return make(Op::iff, Sort::boolean, a, b);
}

Term conj(const Term& a, const Term& b) {
  ensure_sort(a, Sort::boolean);
  ensure_sort(b, Sort::boolean);
  if (a.is_true() || b.is_false()) return b;
  if (b.is_true() || a.is_false()) return a;
  return make(Op::conj, Sort::boolean, a, b);
}

Term disj(const Term& a, const Term& b) {
  ensure_sort(a, Sort::boolean);
  ensure_sort(b, Sort::boolean);
  if (a.is_false() || b.is_true()) return b;
  if (b.is_false() || a.is_true()) return a;
  return make(Op::disj, Sort::boolean, a, b);
}

Term negate(const Term& a) {
  ensure_sort(a, Sort::boolean);
  switch (a.op()) {
    case Op::bool_const:
      return boolean(a.value() == 0);
    case Op::negation:
      return a.left();
    case Op::le:
      return lt(a.right(), a.left());
    case Op::lt:
      return le(a.right(), a.left());
    case Op::eq:
    case Op::iff:
    case Op::conj:
    case Op::disj:
    case Op::variable:
      return make(Op::negation, Sort::boolean, 0, a);
    case Op::int_const:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::mod:
      break;
  }
  throw InternalError("negation of an integer term");
}

bool same(const Term& a, const Term& b) {
  if (a.node() == b.node()) return true;
  if (a.op() != b.op() || a.sort() != b.sort() || a.value() != b.value() || a.size() != b.size())
    return false;
  switch (a.op()) {
    case Op::int_const:
    case Op::bool_const:
      return true;
    case Op::variable:
      return a.variable().id == b.variable().id;
    case Op::mul:
    case Op::div:
    case Op::mod:
    case Op::negation:
      return same(a.left(), b.left());
    case Op::add:
    case Op::sub:
    case Op::le:
    case Op::lt:
    case Op::eq:
    case Op::iff:
    case Op::conj:
    case Op::disj:
      return same(a.left(), b.left()) && same(a.right(), b.right());
  }
  throw InternalError("unknown term");
}

namespace {

// Unary and binary operators alike; constants and variables have no operands.
template <class F>
void for_each_operand(const Term& t, const F& visit) {
  switch (t.op()) {
    case Op::int_const:
    case Op::bool_const:
    case Op::variable:
      return;
    case Op::mul:
    case Op::div:
    case Op::mod:
    case Op::negation:
      visit(t.left());
      return;
    case Op::add:
    case Op::sub:
    case Op::le:
    case Op::lt:
    case Op::eq:
    case Op::iff:
    case Op::conj:
    case Op::disj:
      visit(t.left());
      visit(t.right());
      return;
  }
}

class Evaluator {
 public:
  explicit Evaluator(const std::function<std::int64_t(const Variable&)>& value_of) : value_of_(value_of) {}

  std::int64_t operator()(const Term& t) {
    const auto found = memo_.find(t.node());
    if (found != memo_.end()) return found->second;
    const std::int64_t value = compute(t);
    memo_.emplace(t.node(), value);
    return value;
  }

 private:
  std::int64_t compute(const Term& t) {
    Evaluator& self = *this;
    switch (t.op()) {
      case Op::int_const:
      case Op::bool_const:
        return t.value();
      case Op::variable:
        return value_of_(t.variable());
      case Op::add:
        return ir::checked_add(self(t.left()), self(t.right()));
      case Op::sub:
        return ir::checked_sub(self(t.left()), self(t.right()));
      case Op::mul:
        return ir::checked_mul(t.value(), self(t.left()));
      case Op::div:
        return ir::floor_div(self(t.left()), t.value());
      case Op::mod:
        return ir::floor_mod(self(t.left()), t.value());
      case Op::le:
        return self(t.left()) <= self(t.right());
      case Op::lt:
        return self(t.left()) < self(t.right());
      case Op::eq:
      case Op::iff:
        return self(t.left()) == self(t.right());
      case Op::conj:
        return self(t.left()) != 0 && self(t.right()) != 0;
      case Op::disj:
        return self(t.left()) != 0 || self(t.right()) != 0;
      case Op::negation:
        return self(t.left()) == 0;
    }
    throw InternalError("unknown term");
  }

  const std::function<std::int64_t(const Variable&)>& value_of_;
  std::unordered_map<const Term::Node*, std::int64_t> memo_;
};

}  // namespace

std::vector<Variable> variables(const Term& t) {
  std::unordered_set<const Term::Node*> seen;
  std::vector<Variable> out;
  std::vector<Term> work{t};
  while (!work.empty()) {
    const Term top = std::move(work.back());
    work.pop_back();
    if (!seen.insert(top.node()).second) continue;
    if (top.op() == Op::variable) out.push_back(top.variable());
    for_each_operand(top, [&work](const Term& operand) { work.push_back(operand); });
  }
  const auto by_id = [](const Variable& a, const Variable& b) { return a.id < b.id; };
  std::sort(out.begin(), out.end(), by_id);
  out.erase(
      std::unique(out.begin(), out.end(), [](const Variable& a, const Variable& b) { return a.id == b.id; }),
      out.end());
  return out;
}

std::int64_t evaluate(const Term& t, const std::function<std::int64_t(const Variable&)>& value_of) {
  return Evaluator(value_of)(t);
}

}  // namespace exocheck::smt
