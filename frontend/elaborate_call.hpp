// Calls of procedures and instructions (language.md 6.4).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// `f(...)`, `f(...) >> z[...]`; `trailing` has what stands after each `>>`. nullopt after an error.
std::optional<ir::Call> call_statement(Context& cx, const ast::Expr& e, const ast::CallExpr& call,
                                       const std::string& callee,
                                       const std::vector<const ast::Expr*>& trailing);

}  // namespace exocheck::frontend
