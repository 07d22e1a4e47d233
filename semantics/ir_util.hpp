// Walking, comparing and evaluating GPU IR.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "semantics/ir.hpp"

namespace exocheck::semantics::ir {

template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

// Sub-blocks of a compound statement (If: then, else); empty for the others.
std::vector<const Block*> sub_blocks(const Stmt& stmt);
// Every statement of the block and of its sub-blocks, in program order.
void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& visit);
// Expressions that occur directly in the statement (bounds, conditions, indices, values, arguments, barrier
// indices); not those of sub-blocks, nor those of declared shapes.
void for_each_expr(const Stmt& stmt, const std::function<void(const Expr&)>& visit);
// The expression and all its operands, parents first; subscripts included.
void for_each_subexpr(const Expr& expr, const std::function<void(const Expr&)>& visit);
// Does its value depend on a control field of a config?
bool reads_config(const Expr& expr);

// Structural equality up to ids and spans.
bool same(const Expr& a, const Expr& b);
bool same(const Access& a, const Access& b);
// Value of an expression without variables (decisions.md D4); nullopt if it has one or overflows.
std::optional<std::int64_t> constant_value(const Expr& e);

// Control environment: value per SymId; a symbol without a value is nullopt.
class Environment {
 public:
  explicit Environment(std::size_t symbols) : values_(symbols) {}
  void set(SymId var, std::int64_t value) { values_[index(var)] = value; }
  void clear(SymId var) { values_[index(var)].reset(); }
  const std::optional<std::int64_t>& operator[](SymId var) const { return values_[index(var)]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::optional<std::int64_t>> values_;
};

// Value of a control expression; booleans are 0 and 1; `/` and `%` floor. Throws OverflowError, and
// InternalError for an unbound variable, a stride or a data expression.
std::int64_t evaluate(const Expr& e, const Environment& env);

// Floor division and non-negative remainder; precondition: divisor > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t divisor);
std::int64_t floor_mod(std::int64_t a, std::int64_t divisor);
// Throw OverflowError.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_sub(std::int64_t a, std::int64_t b);
std::int64_t checked_mul(std::int64_t a, std::int64_t b);

// Node constructors for generated expressions (no id, the given span).
ExprPtr int_const(std::int64_t value, Span span = {});
ExprPtr var_ref(SymId var, TypeKind kind = TypeKind::index, Span span = {});
ExprPtr binary(BinaryOp op, ExprPtr left, ExprPtr right, TypeKind kind = TypeKind::index, Span span = {});
// a + b and a - b with constant folding and the neutral element dropped.
ExprPtr add(ExprPtr a, ExprPtr b);
ExprPtr sub(ExprPtr a, ExprPtr b);

// Replaces control variables; variables for which `replace` returns nullptr stay.
ExprPtr substitute(const ExprPtr& e, const std::function<ExprPtr(SymId)>& replace);

// One subscript list composed with another (language.md 6.3): `outer` on the base, `inner` one per interval
// of `outer`.
std::vector<Access> compose(const std::vector<Access>& outer, const std::vector<Access>& inner);

}  // namespace exocheck::semantics::ir
