// Conditions on sizes and iterators as values: formulas over linear atoms in a normal form, hash-consed, so
// that equal conditions are mostly equal ids (all-sizes.md 4, 10). Most questions about them are answered
// without the solver. All arithmetic is checked: OverflowError.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "semantics/ir.hpp"
#include "smt/linear.hpp"
#include "smt/solver.hpp"

namespace exocheck::smt {

// Index into one Formulas; equal ids mean equal formulas.
enum class FormulaId : std::uint32_t { no = 0, yes = 1 };

class Formulas {
 public:
  // `total_seconds` bounds the solver time of all questions together.
  explicit Formulas(const Limits& limits = {}, double total_seconds = 30)
      : limits_(limits), total_seconds_(total_seconds) {}

  // ------------------------------------------------------------------------------------------- integers

  // A fresh integer variable; those declared first are made small first in models.
  Linear declare(std::string name, VariableRole role);
  // Value of the variable of an iterator or parameter; nullopt: it has none here.
  using Values = std::function<std::optional<Linear>(semantics::ir::SymId)>;
  // Linear form of a control expression; nullopt if it has none (a product of variables).
  std::optional<Linear> linear(const semantics::ir::Expr& e, const Values& values);
  Linear quotient(const Linear& a, std::int64_t divisor) { return atoms_.divide(a, divisor); }
  Linear remainder(const Linear& a, std::int64_t divisor);
  // The atom of a declared variable.
  static AtomId atom(const Linear& variable) { return variable.terms.front().first; }
  // Does the variable occur, also inside quotients?
  bool mentions(const Linear& a, AtomId variable) const;
  Linear substitute(const Linear& a, AtomId variable, const Linear& value);
  const Atoms& atoms() const { return atoms_; }

  // ------------------------------------------------------------------------------------------- formulas

  FormulaId at_most_zero(Linear a);  // a <= 0
  FormulaId zero(Linear a);          // a == 0
  FormulaId less(const Linear& a, const Linear& b);
  FormulaId negate(FormulaId f);
  FormulaId conj(FormulaId a, FormulaId b) { return nary(Kind::conj, {a, b}); }
  FormulaId disj(FormulaId a, FormulaId b) { return nary(Kind::disj, {a, b}); }
  // The disjunction, with common conjuncts factored out.
  FormulaId join(FormulaId a, FormulaId b);
  // nullopt if some part has no linear form.
  std::optional<FormulaId> condition(const semantics::ir::Expr& e, const Values& values);
  FormulaId substitute(FormulaId f, AtomId variable, const Linear& value);
  bool mentions(FormulaId f, AtomId variable) const;
  // Number of its comparisons, each as often as it occurs.
  std::uint64_t size(FormulaId f) const { return node(f).size; }
  // f without those of its conjuncts that are conjuncts of `known`.
  FormulaId without(FormulaId f, FormulaId known);
  // The linear forms of the comparisons in f, `a <= 0` and `a == 0` (or != 0) told apart.
  struct Comparison {
    bool equality = false;
    Linear a;
    friend auto operator<=>(const Comparison&, const Comparison&) = default;
  };
  void comparisons(FormulaId f, std::vector<Comparison>& out) const;

  // ------------------------------------------------------------------------------------------- questions

  // Is f true (false) wherever `known` holds? nullopt: it may be either, as far as can be seen without the
  // solver.
  std::optional<bool> decide(FormulaId known, FormulaId f);
  // f, simpler where `known` holds: the parts that it decides are left out.
  FormulaId under(FormulaId known, FormulaId f);
  enum class Satisfiable : std::uint8_t { no, yes, unknown };
  Satisfiable satisfiable(FormulaId f);
  // nullopt: unknown.
  std::optional<bool> equivalent(FormulaId a, FormulaId b);
  // A model, made small; Proved if there is none.
  Answer solve(FormulaId f);

  Term term(FormulaId f) const;
  Term term(const Linear& a) const;

  std::uint64_t solver_calls() const { return solver_calls_; }
  double solver_seconds() const { return solver_seconds_; }

 private:
  enum class Kind : std::uint8_t { no, yes, le, eq, ne, conj, disj };
  struct Node {
    Kind kind = Kind::no;
    Linear a;                      // le, eq, ne
    std::vector<FormulaId> parts;  // conj, disj: ascending, at least two
    std::uint64_t size = 1;        // saturates
    friend auto operator<=>(const Node&, const Node&) = default;
  };

  const Node& node(FormulaId f) const { return nodes_[static_cast<std::size_t>(f)]; }
  FormulaId intern(Node n);
  FormulaId nary(Kind kind, std::vector<FormulaId> parts);
  // The conjuncts of f, ascending.
  std::vector<FormulaId> conjuncts(FormulaId f) const;
  void facts(FormulaId f, std::vector<Linear>& out) const;
  bool proves(FormulaId known, const std::vector<Linear>& facts, FormulaId f);

  Limits limits_;
  double total_seconds_;
  double solver_seconds_ = 0;
  std::uint64_t solver_calls_ = 0;
  Solver solver_;
  std::uint32_t next_variable_ = 0;
  Atoms atoms_;
  std::vector<Node> nodes_{{Kind::no, {}, {}, 0}, {Kind::yes, {}, {}, 0}};
  std::map<Node, FormulaId> ids_;
  std::map<std::pair<FormulaId, FormulaId>, std::optional<bool>> decided_;
  std::map<FormulaId, std::vector<Linear>> facts_;
  std::map<FormulaId, Satisfiable> satisfiable_;
};

}  // namespace exocheck::smt
