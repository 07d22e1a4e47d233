// Infix printing of terms.
#include <string>

#include "semantics/errors.hpp"
#include "smt/term.hpp"

namespace exocheck::smt {
namespace {

// Binding strengths of language.md 2.5.
enum Strength : int {
  none = 0,
  or_ = 10,
  and_ = 20,
  not_ = 25,
  comparison = 30,
  additive = 40,
  multiplicative = 50,
  unary = 60,
  atom = 70
};

constexpr std::uint64_t largest_printed = 400;

std::string parenthesized(bool needed, std::string inner) { return needed ? "(" + inner + ")" : inner; }

std::string print(const Term& t, int around);

std::string binary(const Term& t, const char* op, int strength, int around) {
  // Left associative: the right operand of equal strength needs parentheses.
  return parenthesized(strength < around, print(t.left(), strength) + op + print(t.right(), strength + 1));
}

// Comparisons do not chain.
std::string compare(const Term& t, const char* op, int around) {
  return parenthesized(comparison < around,
                       print(t.left(), comparison + 1) + op + print(t.right(), comparison + 1));
}

std::string print(const Term& t, int around) {
  switch (t.op()) {
    case Op::int_const:
      return parenthesized(t.value() < 0 && around > additive, std::to_string(t.value()));
    case Op::bool_const:
      return t.value() != 0 ? "True" : "False";
    case Op::variable:
      return t.variable().name;
    case Op::add:
      if (t.right().op() == Op::int_const && t.right().value() < 0) {
        const std::string digits = std::to_string(t.right().value()).substr(1);
        return parenthesized(additive < around, print(t.left(), additive) + " - " + digits);
      }
      return binary(t, " + ", additive, around);
    case Op::sub:
      return binary(t, " - ", additive, around);
    case Op::mul:
      if (t.value() == -1) return parenthesized(unary < around, "-" + print(t.left(), unary));
      return parenthesized(multiplicative < around,
                           std::to_string(t.value()) + " * " + print(t.left(), multiplicative + 1));
    case Op::div:
      return parenthesized(multiplicative < around,
                           print(t.left(), multiplicative) + " / " + std::to_string(t.value()));
    case Op::mod:
      return parenthesized(multiplicative < around,
                           print(t.left(), multiplicative) + " % " + std::to_string(t.value()));
    case Op::le:
      return compare(t, " <= ", around);
    case Op::lt:
      return compare(t, " < ", around);
    case Op::eq:
    case Op::iff:
      return compare(t, " == ", around);
    case Op::conj:
      return binary(t, " and ", and_, around);
    case Op::disj:
      return binary(t, " or ", or_, around);
    case Op::negation:
      if (t.left().op() == Op::eq) {
        return parenthesized(comparison < around, print(t.left().left(), comparison + 1) +
                                                      " != " + print(t.left().right(), comparison + 1));
      }
      return parenthesized(not_ < around, "not " + print(t.left(), not_ + 1));
  }
  throw semantics::InternalError("unknown term");
}

}  // namespace

std::string text(const Term& t) { return t.size() > largest_printed ? "..." : print(t, none); }

}  // namespace exocheck::smt
