// Expressions (language.md 5): names resolved, kinds and types checked, integer literals in data positions
// turned into data. Every function returns nullptr after an error that it reported, so that one mistake is
// told once.
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// Any expression. Whole tensors and windows are legal here; who calls judges the type.
ir::ExprPtr value(Context& cx, const ast::Expr& e);

// An indexable expression (int, size, index) with constants folded; another type is reported with `code`.
// `what` names the place: "a loop bound".
ir::ExprPtr control(Context& cx, const ast::Expr& e, std::string_view code, std::string_view what);
ir::ExprPtr boolean(Context& cx, const ast::Expr& e, std::string_view code, std::string_view what);

// `sin`, `select`, ...: operand count of an extern function; nullopt for another name.
struct ExternRecord {
  ir::Extern function{};
  std::size_t arguments = 1;
};
std::optional<ExternRecord> find_extern(std::string_view name);

}  // namespace exocheck::frontend
