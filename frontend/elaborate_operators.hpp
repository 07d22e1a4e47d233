// Operators of expressions: arithmetic on control and on data, comparisons and their chains, and / or / not
// (language.md 2.5, 5.1, 5.2). nullptr after a reported error.
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

ir::ExprPtr binary_expr(Context& cx, const ast::Expr& e, const ast::Binary& b);
ir::ExprPtr unary_expr(Context& cx, const ast::Expr& e, const ast::Unary& u);
ir::ExprPtr compare_expr(Context& cx, const ast::Expr& e, const ast::Compare& c);

// Brings data operands to one precision: literals adopt it, two different ones are reported with `code`
// (E-F01, E-F02) in a procedure. `what` names the operator.
bool unify_precisions(Context& cx, std::vector<ir::ExprPtr>& operands, Span span, std::string_view code,
                      std::string_view what);

}  // namespace exocheck::frontend
