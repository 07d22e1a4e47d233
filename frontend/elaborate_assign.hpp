// Assignments, reductions, window statements, config writes (language.md 2.4, 6.1, 6.3, 6.6).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// `x = e`, `x[i] = e`, `w = x[...]`, `w = x[...] @ S`, `Cfg.f = e`. nullopt after an error.
std::optional<decltype(ir::Stmt::node)> assignment(Context& cx, const ast::Stmt& s, const ast::AssignStmt& a);
// `x += e`, `x[i] += e`. nullopt after an error.
std::optional<decltype(ir::Stmt::node)> reduction(Context& cx, const ast::Stmt& s,
                                                  const ast::AugAssignStmt& a);

}  // namespace exocheck::frontend
