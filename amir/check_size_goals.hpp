// What chosen sizes should make happen (a loop with two trips, a ragged tile, ...), as questions to the
// solver: is there a size set that satisfies the preconditions and reaches it?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "amir/check_size_features.hpp"
#include "amir/translate_windows.hpp"
#include "smt/query.hpp"
#include "smt/quick.hpp"

namespace exocheck::amir {

struct SizeGoal {
  SizeFeatures::Feature feature;
  semantics::Span span;  // of the statement; of the procedure's name for divisions
  std::string meaning;   // "loop `k` runs twice"
  // Satisfiable together iff reachable, if everything on the way could be said.
  smt::Assumptions path;
  smt::Term condition;
};

// Terms for a procedure's parameters and iterators. `fixed` holds the parameters whose values are given; the
// other sizes are at least 1 (decisions.md E1).
class SizeGoals {
 public:
  SizeGoals(const semantics::ir::Procedure& procedure, const WindowTable& windows,
            const SizeFeatures& features, const semantics::ir::Environment& fixed);

  // Declared sizes, given values and asserts; without asserts that have no linear form (`complete` is false
  // then) or that read config fields.
  const smt::Assumptions& preconditions() const { return preconditions_; }
  bool complete() const { return complete_; }

  // Every class of behaviour of loops, branches and divisions that depends on the sizes. Branches and loops
  // around a place that have no linear form are left out, so that a goal may look reachable and not be.
  std::vector<SizeGoal> goals();

  // The parameter's value in a model; 1 if the model leaves it open.
  std::int64_t value(semantics::ir::SymId parameter,
                     const std::vector<std::pair<smt::Variable, std::int64_t>>& model) const;

 private:
  std::optional<smt::Term> term(const semantics::ir::ExprPtr& e) const;
  smt::Term declare(semantics::ir::SymId symbol);
  void walk(const semantics::ir::Block& block, const smt::Assumptions& path);
  void loop(const semantics::ir::Stmt& stmt, const semantics::ir::For& loop, const smt::Assumptions& path);
  void add(SizeFeatures::Feature feature, semantics::Span span, std::string meaning,
           const smt::Assumptions& path, const smt::Term& condition);

  const semantics::ir::Procedure& procedure_;
  const SizeFeatures& features_;
  std::vector<std::optional<smt::Term>> terms_;
  smt::Assumptions preconditions_;
  bool complete_ = true;
  std::uint32_t next_variable_ = 0;
  std::vector<SizeGoal> goals_;
};

}  // namespace exocheck::amir
