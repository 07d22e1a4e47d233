// Terms: quasi-affine integer and boolean expressions over program variables (language.md 5.1, 9). A Term is
// a small immutable value that shares its operands; it knows nothing about the solver. Constants are 64 bits,
// the meaning is over unbounded integers; `/` is floor division and `%` the non-negative remainder, both by a
// positive literal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace exocheck::smt {

enum class Sort : std::uint8_t { integer, boolean };

// What a variable is in the user's program; counterexamples list and minimise them in this order.
enum class VariableRole : std::uint8_t { size, index, boolean, iterator, stride, config };

// Equal ids mean the same variable. Ids are unique within one Prover and grow in declaration order.
struct Variable {
  std::uint32_t id = 0;
  Sort sort = Sort::integer;
  VariableRole role = VariableRole::index;
  std::string name;  // as the user knows it: "n", "stride(a, 0)", "Cfg.f"
};

enum class Op : std::uint8_t {
  int_const,
  bool_const,
  variable,
  add,
  sub,  // integer, integer
  mul,  // value() * left
  div,
  mod,  // left by value() > 0
  le,
  lt,
  eq,  // integer, integer -> boolean
  iff,
  conj,
  disj,      // boolean, boolean
  negation,  // boolean
};

class Term {
 public:
  struct Node;
  explicit Term(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  Op op() const;
  Sort sort() const;
  // int_const and bool_const: the constant; mul: the factor; div and mod: the divisor.
  std::int64_t value() const;
  const Variable& variable() const;  // precondition: op() == Op::variable
  const Term& left() const;          // first or only operand
  const Term& right() const;
  // Height of the expression tree, and the number of nodes of its unfolding (saturating).
  std::uint32_t depth() const;
  std::uint64_t size() const;
  // Identity for memo tables; equal pointers mean equal terms, not the other way round.
  const Node* node() const { return node_.get(); }

  bool is_true() const { return op() == Op::bool_const && value() != 0; }
  bool is_false() const { return op() == Op::bool_const && value() == 0; }

 private:
  std::shared_ptr<const Node> node_;
};

// Factories. They fold constants where that cannot overflow and drop neutral elements, nothing else, so that
// a term still reads like the expression it came from.
Term integer(std::int64_t value);
Term boolean(bool value);
Term variable(Variable v);
Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term scale(std::int64_t factor, const Term& a);
// Precondition: divisor > 0.
Term floor_div(const Term& a, std::int64_t divisor);
Term floor_mod(const Term& a, std::int64_t divisor);
Term le(const Term& a, const Term& b);
Term lt(const Term& a, const Term& b);
Term eq(const Term& a, const Term& b);
Term iff(const Term& a, const Term& b);
Term conj(const Term& a, const Term& b);
Term disj(const Term& a, const Term& b);
// Negation of a comparison is a comparison; double negation disappears.
Term negate(const Term& a);

// Structural equality.
bool same(const Term& a, const Term& b);

// Every variable of the term once, in ascending id.
std::vector<Variable> variables(const Term& t);

// Value under an assignment, booleans as 0 and 1. Throws OverflowError.
std::int64_t evaluate(const Term& t, const std::function<std::int64_t(const Variable&)>& value_of);

// Infix text in the language's own notation, for messages; very large terms are cut to "...".
std::string text(const Term& t);

}  // namespace exocheck::smt
