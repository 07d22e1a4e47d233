#include "frontend/elaborate_operators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_expr.hpp"
#include "frontend/elaborate_literal.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using ir::BinaryOp;
using ir::ExprPtr;
using ir::ExprType;
using ir::TypeKind;

bool is_aggregate(const ExprType& type) {
  return type.kind == TypeKind::tensor || type.kind == TypeKind::window;
}

// ----------------------------------------------------------------------------- data operators

// An operand of a data operator; nullptr after `code`.
ExprPtr data_operand(Context& cx, const ExprPtr& e, std::string_view code, std::string_view what) {
  const ExprPtr data = as_data(e);
  if (data->type.kind == TypeKind::data) return data;
  if (is_aggregate(data->type)) {
    cx.report("E-T12", e->span,
              fmt::format("`{}` is {}; index it to use an element in {}", cx.text(e->span), describe(e->type),
                          what));
    return nullptr;
  }
  cx.report(code, e->span,
            fmt::format("`{}` is {}, but {} works on data; write a literal or a data scalar",
                        cx.text(e->span), describe(e->type), what));
  return nullptr;
}

ExprPtr data_binary(Context& cx, Span span, BinaryOp op, std::string_view spelling, const ExprPtr& left,
                    const ExprPtr& right) {
  if (op == BinaryOp::mod) {
    cx.report("E-T20", span, "`%` is not defined on data");
    return nullptr;
  }
  const std::string what = fmt::format("`{}`", spelling);
  std::vector<ExprPtr> operands{data_operand(cx, left, "E-T21", what),
                                data_operand(cx, right, "E-T21", what)};
  if (!operands[0] || !operands[1]) return nullptr;
  if (!unify_precisions(cx, operands, span, "E-F01", what)) return nullptr;
  const ExprType type{TypeKind::data, operands[0]->type.precision, 0};
  return cx.make(span, type, ir::Binary{op, operands[0], operands[1]});
}

// -------------------------------------------------------------------------- control operators

// False after E-T10, E-T11, E-T12.
bool arithmetic_operand(Context& cx, const ExprPtr& e, std::string_view spelling) {
  switch (e->type.kind) {
    case TypeKind::integer:
    case TypeKind::size:
    case TypeKind::index:
      return true;
    case TypeKind::boolean:
      cx.report("E-T10", e->span,
                fmt::format("`{}` is a bool; `{}` works on integers", cx.text(e->span), spelling));
      return false;
    case TypeKind::stride:
      cx.report("E-T11", e->span,
                fmt::format("`{}` is a stride; strides can only be compared with ==", cx.text(e->span)));
      return false;
    case TypeKind::data:
    case TypeKind::tensor:
    case TypeKind::window:
      cx.report("E-T12", e->span,
                fmt::format("`{}` is {}; index it to use an element in `{}`", cx.text(e->span),
                            describe(e->type), spelling));
      return false;
  }
  throw semantics::InternalError("unknown type kind");
}

bool check_divisor(Context& cx, const ExprPtr& right, std::string_view spelling) {
  const std::string_view noun = spelling == "/" ? "divisor" : "modulus";
  if (!is_constant(cx, *right)) {
    cx.report("E-T14", right->span,
              fmt::format("the {} `{}` must be an integer literal", noun, cx.text(right->span)));
    return false;
  }
  const ExprPtr folded = fold(cx, right);
  if (!folded) return false;
  const auto literal = ir::constant_value(*folded);
  if (literal && *literal <= 0) {
    cx.report("E-T15", right->span, fmt::format("the {} must be positive, but it is {}", noun, *literal));
    return false;
  }
  return true;
}

ExprPtr control_binary(Context& cx, Span span, BinaryOp op, std::string_view spelling, const ExprPtr& left,
                       const ExprPtr& right) {
  const bool left_ok = arithmetic_operand(cx, left, spelling);
  const bool right_ok = arithmetic_operand(cx, right, spelling);
  if (!left_ok || !right_ok) return nullptr;
  const TypeKind l = left->type.kind;
  const TypeKind r = right->type.kind;
  TypeKind result = TypeKind::integer;
  if (op == BinaryOp::add || op == BinaryOp::sub) {
    if (l == TypeKind::index || r == TypeKind::index)
      result = TypeKind::index;
    else if (l == TypeKind::size && r == TypeKind::size)
      result = TypeKind::size;
  } else if (op == BinaryOp::mul) {
    const bool left_constant = is_constant(cx, *left);
    if (!left_constant && !is_constant(cx, *right)) {
      cx.report("E-T13", span,
                fmt::format("`{}` is not affine: one factor must be a constant", cx.text(span)));
      return nullptr;
    }
    result = left_constant ? r : l;
  } else {
    if (!check_divisor(cx, right, spelling)) return nullptr;
    result = l;
  }
  return cx.make(span, control_type(result), ir::Binary{op, left, right});
}

std::optional<BinaryOp> arithmetic_op(std::string_view spelling) {
  if (spelling == "+") return BinaryOp::add;
  if (spelling == "-") return BinaryOp::sub;
  if (spelling == "*") return BinaryOp::mul;
  if (spelling == "/") return BinaryOp::div;
  if (spelling == "%") return BinaryOp::mod;
  return std::nullopt;
}

ExprPtr arithmetic(Context& cx, const ast::Expr& e, const ast::Binary& b, BinaryOp op) {
  const ExprPtr left = value(cx, *b.left);
  const ExprPtr right = value(cx, *b.right);
  if (!left || !right) return nullptr;
  const auto is_data = [](const ExprPtr& x) { return x->type.kind == TypeKind::data; };
  if (is_data(left) || is_data(right)) return data_binary(cx, e.span, op, b.op, left, right);
  return control_binary(cx, e.span, op, b.op, left, right);
}

ExprPtr logical(Context& cx, const ast::Expr& e, const ast::Binary& b) {
  const std::string what = fmt::format("an operand of `{}`", b.op);
  const ExprPtr left = boolean(cx, *b.left, "E-T17", what);
  const ExprPtr right = boolean(cx, *b.right, "E-T17", what);
  if (!left || !right) return nullptr;
  const BinaryOp op = b.op == "and" ? BinaryOp::logical_and : BinaryOp::logical_or;
  return cx.make(e.span, control_type(TypeKind::boolean), ir::Binary{op, left, right});
}

ExprPtr unsupported_binary(Context& cx, const ast::Expr& e, const ast::Binary& b) {
  if (b.op == "@") {
    if (std::holds_alternative<ast::Subscript>(b.left->node) ||
        std::holds_alternative<ast::Name>(b.left->node)) {
      cx.report("E-T54", e.span,
                "special windows are made by a window statement of their own: `w = x[...] @ S`");
    } else {
      cx.report("E-P54", b.op_span, "`@` is no operator of expressions");
    }
  } else if (b.op == ">>") {
    cx.report("E-P49", e.span, "`>>` belongs to instruction calls and Arrive only");
  } else {
    const std::string_view hint =
        b.op == "//" ? "; write `/`, which is floor division on control expressions" : "";
    cx.report("E-P54", b.op_span, fmt::format("`{}` is no operator of the language{}", b.op, hint));
  }
  return nullptr;
}

ExprPtr negate(Context& cx, const ast::Expr& e, const ExprPtr& operand) {
  if (const auto* i = std::get_if<ir::IntConst>(&operand->node)) {
    return cx.make_int(e.span, ir::checked_sub(0, i->value));  // a literal is never the smallest integer
  }
  if (const auto* r = std::get_if<ir::RealConst>(&operand->node)) {
    return cx.make(e.span, operand->type, ir::RealConst{-r->value});
  }
  if (operand->type.kind != TypeKind::data && !arithmetic_operand(cx, operand, "-")) return nullptr;
  // A negated size is no size any more.
  const ExprType type =
      operand->type.kind == TypeKind::size ? control_type(TypeKind::integer) : operand->type;
  return cx.make(e.span, type, ir::Unary{ir::UnaryOp::neg, operand});
}

// -------------------------------------------------------------------------------- comparisons

std::optional<BinaryOp> comparison_op(std::string_view spelling) {
  if (spelling == "<") return BinaryOp::lt;
  if (spelling == "<=") return BinaryOp::le;
  if (spelling == ">") return BinaryOp::gt;
  if (spelling == ">=") return BinaryOp::ge;
  if (spelling == "==") return BinaryOp::eq;
  if (spelling == "!=") return BinaryOp::ne;
  return std::nullopt;
}

bool check_comparison(Context& cx, const ExprPtr& left, const ExprPtr& right, BinaryOp op,
                      std::string_view spelling) {
  const Span span = semantics::cover(left->span, right->span);
  for (const ExprPtr& operand : {left, right}) {
    if (operand->type.kind == TypeKind::data) {
      cx.report("E-T22", operand->span,
                fmt::format("`{}` is {}: control flow may not depend on data; use select(...)",
                            cx.text(operand->span), describe(operand->type)));
      return false;
    }
    if (is_aggregate(operand->type)) {
      cx.report(
          "E-T12", operand->span,
          fmt::format("`{}` is {} and cannot be compared", cx.text(operand->span), describe(operand->type)));
      return false;
    }
  }
  const bool equality = op == BinaryOp::eq || op == BinaryOp::ne;
  const TypeKind l = left->type.kind;
  const TypeKind r = right->type.kind;
  if (indexable(left->type) && indexable(right->type)) return true;
  if (equality && l == TypeKind::boolean && r == TypeKind::boolean) return true;
  if (equality && l != TypeKind::boolean && r != TypeKind::boolean) return true;  // a stride is among them
  cx.report(
      "E-T16", span,
      fmt::format("`{}` cannot compare {} with {}", spelling, describe(left->type), describe(right->type)));
  return false;
}

}  // namespace

bool unify_precisions(Context& cx, std::vector<ExprPtr>& operands, Span span, std::string_view code,
                      std::string_view what) {
  std::optional<semantics::Precision> met;
  for (const ExprPtr& o : operands) {
    if (!o->type.precision) continue;
    if (!met) met = o->type.precision;
    // The behaviour of an instruction says what hardware computes, mixed precisions included.
    if (*met != *o->type.precision && cx.flavour == Flavour::procedure) {
      cx.report(code, span,
                fmt::format("the operands of {} have different precisions: {} and {}", what,
                            semantics::name(*met), semantics::name(*o->type.precision)));
      return false;
    }
  }
  if (met) {
    for (ExprPtr& o : operands) {
      if (!o->type.precision) o = adopt(o, *met);
    }
  }
  return true;
}

ExprPtr binary_expr(Context& cx, const ast::Expr& e, const ast::Binary& b) {
  if (b.op == "and" || b.op == "or") return logical(cx, e, b);
  if (const auto op = arithmetic_op(b.op)) return arithmetic(cx, e, b, *op);
  return unsupported_binary(cx, e, b);
}

ExprPtr unary_expr(Context& cx, const ast::Expr& e, const ast::Unary& u) {
  if (u.op == "not") {
    const ExprPtr operand = boolean(cx, *u.operand, "E-T17", "the operand of `not`");
    if (!operand) return nullptr;
    return cx.make(e.span, control_type(TypeKind::boolean), ir::Unary{ir::UnaryOp::logical_not, operand});
  }
  if (u.op == "-") {
    const ExprPtr operand = value(cx, *u.operand);
    return operand ? negate(cx, e, operand) : nullptr;
  }
  if (u.op == "~" && std::holds_alternative<ast::Dict>(u.operand->node)) {
    cx.report("E-P65", e.span,
              "metaprogramming must be expanded first; print the procedure and check the print");
    return nullptr;
  }
  cx.report("E-P53", e.span, fmt::format("unary `{}` is not supported", u.op));
  return nullptr;
}

ExprPtr compare_expr(Context& cx, const ast::Expr& e, const ast::Compare& c) {
  std::vector<ExprPtr> operands{value(cx, *c.first)};
  std::vector<BinaryOp> ops;
  bool ok = operands[0] != nullptr;
  for (const auto& [spelling, operand] : c.rest) {
    const auto op = comparison_op(spelling);
    if (!op) {
      cx.report("E-P54", e.span, fmt::format("`{}` is no operator of the language", spelling));
      return nullptr;
    }
    ops.push_back(*op);
    operands.push_back(value(cx, *operand));
    ok = ok && operands.back() != nullptr;
  }
  if (!ok) return nullptr;

  const ExprType boolean_type = control_type(TypeKind::boolean);
  const bool chain = ops.size() > 1;
  const bool boolean_chain =
      chain && std::all_of(ops.begin(), ops.end(), [](BinaryOp op) { return op == BinaryOp::eq; }) &&
      std::all_of(operands.begin(), operands.end(),
                  [](const ExprPtr& o) { return o->type.kind == TypeKind::boolean; });
  if (boolean_chain) {
    cx.report("W-P03", e.span,
              "a chain of == on bools is read from the left, (a == b) == c; write the parentheses");
    ExprPtr result = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      result = cx.make(e.span, boolean_type, ir::Binary{BinaryOp::eq, result, operands[i]});
    }
    return result;
  }
  ExprPtr result;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!check_comparison(cx, operands[i], operands[i + 1], ops[i], c.rest[i].first)) return nullptr;
    // The middle operand of a chain stands in two comparisons; the second one is a copy.
    const ExprPtr left = i == 0 ? operands[i] : cx.copy(operands[i], operands[i]->span);
    const ExprPtr pair = cx.make(chain ? semantics::cover(left->span, operands[i + 1]->span) : e.span,
                                 boolean_type, ir::Binary{ops[i], left, operands[i + 1]});
    result = result ? cx.make(e.span, boolean_type, ir::Binary{BinaryOp::logical_and, result, pair}) : pair;
  }
  return result;
}

}  // namespace exocheck::frontend
