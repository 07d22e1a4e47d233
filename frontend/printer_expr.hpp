// Expressions, subscripts and barrier expressions as text.
#pragma once

#include <string>
#include <vector>

#include "semantics/ir.hpp"

namespace exocheck::frontend {

// Print levels (language.md 2.5): a child of a lower level than required stands in parentheses.
inline constexpr int level_any = 0;
inline constexpr int level_multiply = 50;

class ExprPrinter {
 public:
  // `names`: one per symbol; nullptr: the symbols' own names. Both must outlive the printer.
  ExprPrinter(const semantics::ir::Procedure& procedure, const std::vector<std::string>* names)
      : procedure_(procedure), names_(names) {}

  const std::string& name(semantics::ir::SymId id) const;
  std::string expr(const semantics::ir::Expr& e, int required = level_any) const;
  std::string access(const semantics::ir::Access& a) const;
  // `name[...]`, or the bare name without subscripts.
  std::string indexed(semantics::ir::SymId var, const std::vector<semantics::ir::Access>& index) const;
  std::string indexed(semantics::ir::SymId var, const std::vector<semantics::ir::ExprPtr>& index) const;
  std::string barrier(const semantics::ir::BarrierExpr& b) const;

 private:
  const semantics::ir::Procedure& procedure_;
  const std::vector<std::string>* names_;
};

}  // namespace exocheck::frontend
