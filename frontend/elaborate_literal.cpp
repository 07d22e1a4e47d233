#include "frontend/elaborate_literal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using ir::BinaryOp;
using ir::ExprPtr;
using ir::ExprType;
using ir::TypeKind;

// An expression of literals only, which can be read as data: `3`, `-2`, `1 / 2`.
bool is_literal(const ir::Expr& e) {
  return std::visit(ir::overloaded{
                        [](const ir::IntConst&) { return true; },
                        [](const ir::RealConst&) { return true; },
                        [](const ir::Unary& x) { return x.op == ir::UnaryOp::neg && is_literal(*x.operand); },
                        [](const ir::Binary& x) {
                          const bool data_op = x.op == BinaryOp::add || x.op == BinaryOp::sub ||
                                               x.op == BinaryOp::mul || x.op == BinaryOp::div;
                          return data_op && is_literal(*x.left) && is_literal(*x.right);
                        },
                        [](const auto&) { return false; },
                    },
                    e.node);
}

ExprPtr rebuild(const ExprPtr& e, ExprType type, decltype(ir::Expr::node) node) {
  return std::make_shared<const ir::Expr>(ir::Expr{e->id, e->span, type, std::move(node)});
}

ExprPtr literal_to_data(const ExprPtr& e) {
  return std::visit(ir::overloaded{
                        [&](const ir::IntConst& x) -> ExprPtr {
                          return rebuild(e, literal_data, ir::RealConst{static_cast<double>(x.value)});
                        },
                        [&](const ir::Unary& x) -> ExprPtr {
                          return rebuild(e, literal_data, ir::Unary{x.op, literal_to_data(x.operand)});
                        },
                        [&](const ir::Binary& x) -> ExprPtr {
                          return rebuild(e, literal_data,
                                         ir::Binary{x.op, literal_to_data(x.left), literal_to_data(x.right)});
                        },
                        [&](const auto&) -> ExprPtr { return e; },
                    },
                    e->node);
}

}  // namespace

bool indexable(const ExprType& type) {
  return type.kind == TypeKind::integer || type.kind == TypeKind::size || type.kind == TypeKind::index;
}

bool is_constant(const Context& cx, const ir::Expr& e) {
  bool constant = true;
  ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
    const auto* var = std::get_if<ir::VarRef>(&sub.node);
    const bool open = var && cx.flavour == Flavour::definition && cx.is_open_name(cx.symbol(var->var).name);
    constant = constant &&
               (open || std::holds_alternative<ir::IntConst>(sub.node) ||
                std::holds_alternative<ir::BoolConst>(sub.node) ||
                std::holds_alternative<ir::Binary>(sub.node) || std::holds_alternative<ir::Unary>(sub.node));
  });
  return constant;
}

ExprPtr fold(Context& cx, const ExprPtr& e) {
  if (const auto* u = std::get_if<ir::Unary>(&e->node)) {
    const ExprPtr operand = fold(cx, u->operand);
    if (!operand) return nullptr;
    if (operand == u->operand) return e;
    return rebuild(e, e->type, ir::Unary{u->op, operand});
  }
  const auto* b = std::get_if<ir::Binary>(&e->node);
  if (!b || e->type.kind == TypeKind::data) return e;
  const ExprPtr left = fold(cx, b->left);
  const ExprPtr right = fold(cx, b->right);
  if (!left || !right) return nullptr;
  const bool arithmetic_op = b->op <= BinaryOp::mod;
  const auto* l = std::get_if<ir::IntConst>(&left->node);
  const auto* r = std::get_if<ir::IntConst>(&right->node);
  if (arithmetic_op && l && r) {
    const ir::Expr whole{e->id, e->span, e->type, ir::Binary{b->op, left, right}};
    const auto folded = ir::constant_value(whole);
    if (!folded) {
      cx.report("L-03", e->span, fmt::format("`{}` leaves the range of 64-bit integers", cx.text(e->span)));
      return nullptr;
    }
    return rebuild(e, control_type(TypeKind::integer), ir::IntConst{*folded});
  }
  if (left == b->left && right == b->right) return e;
  return rebuild(e, e->type, ir::Binary{b->op, left, right});
}

ExprPtr as_data(const ExprPtr& e) {
  return e->type.kind == TypeKind::integer && is_literal(*e) ? literal_to_data(e) : e;
}

ExprPtr adopt(const ExprPtr& e, semantics::Precision precision) {
  if (e->type.kind != TypeKind::data || e->type.precision) return e;
  const ExprType type{TypeKind::data, precision, 0};
  return std::visit(
      ir::overloaded{
          [&](const ir::Unary& x) -> ExprPtr {
            return rebuild(e, type, ir::Unary{x.op, adopt(x.operand, precision)});
          },
          [&](const ir::Binary& x) -> ExprPtr {
            return rebuild(e, type, ir::Binary{x.op, adopt(x.left, precision), adopt(x.right, precision)});
          },
          [&](const ir::ExternCall& x) -> ExprPtr {
            ir::ExternCall out{x.function, {}};
            for (const ExprPtr& a : x.arguments) out.arguments.push_back(adopt(a, precision));
            return rebuild(e, type, std::move(out));
          },
          [&](const auto& x) -> ExprPtr { return rebuild(e, type, x); },
      },
      e->node);
}

}  // namespace exocheck::frontend
