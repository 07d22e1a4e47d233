// Fence, Arrive, Await (language.md 2.4).
#pragma once

#include <set>

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

bool is_sync_name(std::string_view callee);

// Precondition: is_sync_name(callee). `trailing`: what stands after each `>>`. nullopt after an error.
std::optional<decltype(ir::Stmt::node)> sync_statement(Context& cx, const ast::Expr& e,
                                                       const ast::CallExpr& call, const std::string& callee,
                                                       const std::vector<const ast::Expr*>& trailing);

// `a >> b >> c` taken apart: the call, and the operands after it.
struct ShiftChain {
  const ast::Expr* head = nullptr;
  std::vector<const ast::Expr*> trailing;
};
ShiftChain shift_chain(const ast::Expr& e);

// Names that the Arrive and Await statements of a block (at any depth) say: of barriers, and in their
// subscripts.
struct SyncNameUse {
  std::set<std::string> barriers, indices;
};
SyncNameUse sync_names(const ast::Block& statements);

}  // namespace exocheck::frontend
