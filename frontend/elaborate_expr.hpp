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

// Integer literals (and arithmetic on them) become data; other expressions are unchanged.
ir::ExprPtr as_data(Context& cx, const ir::ExprPtr& e);
// Gives data literals inside `e` the precision they meet (language.md 4.4 rule 2).
ir::ExprPtr adopt(const ir::ExprPtr& e, semantics::Precision precision);

// Folds integer constants (decisions.md D4). nullptr after L-03.
ir::ExprPtr fold(Context& cx, const ir::ExprPtr& e);

bool indexable(const ir::ExprType& type);
// Has no variable inside (structural, decisions.md D4); open names of a definition count as constants.
bool is_constant(const Context& cx, const ir::Expr& e);

// `sin`, `select`, ...: operand count of an extern function; nullopt for another name.
struct ExternRecord {
  ir::Extern function{};
  std::size_t arguments = 1;
};
std::optional<ExternRecord> find_extern(std::string_view name);

}  // namespace exocheck::frontend
