// Constants and literals in typed expressions (language.md 4.4, 5.1; decisions.md D4).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

constexpr ir::ExprType control_type(ir::TypeKind kind) { return {kind, std::nullopt, 0}; }
constexpr ir::ExprType literal_data{ir::TypeKind::data, std::nullopt, 0};

// int, size, index
bool indexable(const ir::ExprType& type);
// Has no variable inside (structural, decisions.md D4); open names of a definition count as constants.
bool is_constant(const Context& cx, const ir::Expr& e);

// Folds integer constants. nullptr after L-03.
ir::ExprPtr fold(Context& cx, const ir::ExprPtr& e);

// Integer literals (and arithmetic on them) become data; other expressions are unchanged.
ir::ExprPtr as_data(const ir::ExprPtr& e);
// Gives data literals inside `e` the precision they meet (language.md 4.4 rule 2).
ir::ExprPtr adopt(const ir::ExprPtr& e, semantics::Precision precision);

}  // namespace exocheck::frontend
