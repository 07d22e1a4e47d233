// Linear normal forms over atoms: what the fast path reasons with. An atom is a variable or a quotient
// floor(L / n) that does not simplify; equal quotients are one atom. All arithmetic is checked: OverflowError
// means "leave it to the solver".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smt/term.hpp"

namespace exocheck::smt {

using AtomId = std::uint32_t;

// sum(coefficient * atom) + constant; atoms ascending, no zero coefficients.
struct Linear {
  std::vector<std::pair<AtomId, std::int64_t>> terms;
  std::int64_t constant = 0;

  std::int64_t coefficient(AtomId atom) const;
  bool is_constant() const { return terms.empty(); }
  friend auto operator<=>(const Linear&, const Linear&) = default;
};

// factor_a * a + factor_b * b.
Linear combine(std::int64_t factor_a, const Linear& a, std::int64_t factor_b, const Linear& b);
// `L <= 0` divided by the gcd of its coefficients, the constant rounded up: the same set of integer points.
Linear tighten(Linear l);

class Atoms {
 public:
  struct Quotient {
    Linear numerator;
    std::int64_t divisor = 1;
  };

  // Normal form of an integer term without conditionals; throws OverflowError.
  const Linear& linear(const Term& t);
  Linear linear(const Variable& v) { return atom(variable_atom(v)); }
  // Normal form of floor(numerator / divisor); precondition: divisor > 0. Throws OverflowError.
  Linear divide(Linear numerator, std::int64_t divisor);
  // Set for variable atoms.
  const std::optional<Variable>& variable(AtomId atom) const { return atoms_[atom].variable; }
  // Set for quotient atoms.
  const std::optional<Quotient>& quotient(AtomId atom) const { return atoms_[atom].quotient; }
  // Elimination order: later declared variables first, a quotient before the variables inside it.
  std::uint64_t rank(AtomId atom) const { return atoms_[atom].rank; }

 private:
  struct Atom {
    std::optional<Variable> variable;
    std::optional<Quotient> quotient;
    std::uint64_t rank = 0;
  };

  Linear compute(const Term& t);
  Linear atom(AtomId id) const;
  AtomId variable_atom(const Variable& v);
  AtomId quotient_atom(Linear numerator, std::int64_t divisor);

  std::vector<Atom> atoms_;
  std::unordered_map<std::uint32_t, AtomId> variables_;
  std::map<std::pair<Linear, std::int64_t>, AtomId> quotients_;
  // The Term keeps its node alive, so that the address stays unique.
  std::unordered_map<const Term::Node*, std::pair<Term, Linear>> memo_;
};

}  // namespace exocheck::smt
