#include "semantics/ir_util.hpp"

#include "semantics/errors.hpp"

namespace exocheck::semantics::ir {
namespace {

ExprPtr make(Span span, ExprType type, decltype(Expr::node) node) {
  return std::make_shared<const Expr>(Expr{ExprId{}, span, type, std::move(node)});
}

bool same_lists(const std::vector<Access>& a, const std::vector<Access>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

void visit_accesses(const std::vector<Access>& accesses, const std::function<void(const Expr&)>& visit) {
  for (const Access& a : accesses) {
    visit(*a.lo);
    if (a.hi) visit(*a.hi);
  }
}

std::int64_t evaluate_binary(const Binary& b, const Environment& env) {
  // Short-circuit, so that a guard protects what stands behind it.
  const std::int64_t left = evaluate(*b.left, env);
  if (b.op == BinaryOp::logical_and) return left != 0 && evaluate(*b.right, env) != 0;
  if (b.op == BinaryOp::logical_or) return left != 0 || evaluate(*b.right, env) != 0;
  const std::int64_t right = evaluate(*b.right, env);
  switch (b.op) {
    case BinaryOp::add:
      return checked_add(left, right);
    case BinaryOp::sub:
      return checked_sub(left, right);
    case BinaryOp::mul:
      return checked_mul(left, right);
    case BinaryOp::div:
      ensure(right > 0, "divisor");
      return floor_div(left, right);
    case BinaryOp::mod:
      ensure(right > 0, "modulus");
      return floor_mod(left, right);
    case BinaryOp::lt:
      return left < right;
    case BinaryOp::le:
      return left <= right;
    case BinaryOp::gt:
      return left > right;
    case BinaryOp::ge:
      return left >= right;
    case BinaryOp::eq:
      return left == right;
    case BinaryOp::ne:
      return left != right;
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  throw InternalError("unknown operator");
}

}  // namespace

std::vector<const Block*> sub_blocks(const Stmt& stmt) {
  return std::visit(overloaded{
                        [](const For& s) { return std::vector<const Block*>{&s.body}; },
                        [](const If& s) {
                          return std::vector<const Block*>{&s.then_body, &s.else_body};
                        },
                        [](const DeviceFunction& s) { return std::vector<const Block*>{&s.body}; },
                        [](const Warps& s) { return std::vector<const Block*>{&s.body}; },
                        [](const auto&) { return std::vector<const Block*>{}; },
                    },
                    stmt.node);
}

void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const Stmt& s : block) {
    visit(s);
    for (const Block* b : sub_blocks(s)) for_each_stmt(*b, visit);
  }
}

void for_each_expr(const Stmt& stmt, const std::function<void(const Expr&)>& visit) {
  std::visit(overloaded{
                 [&](const Assign& s) {
                   for (const ExprPtr& e : s.index) visit(*e);
                   visit(*s.value);
                 },
                 [&](const ConfigWrite& s) { visit(*s.value); },
                 [&](const WindowStmt& s) { visit_accesses(s.index, visit); },
                 [&](const Call& s) {
                   for (const ExprPtr& e : s.arguments) visit(*e);
                   if (s.trailing) visit_accesses(s.trailing->index, visit);
                 },
                 [&](const For& s) {
                   visit(*s.lo);
                   visit(*s.hi);
                 },
                 [&](const If& s) { visit(*s.condition); },
                 [&](const Arrive& s) {
                   for (const BarrierExpr& b : s.targets) visit_accesses(b.index, visit);
                 },
                 [&](const Await& s) { visit_accesses(s.barrier.index, visit); },
                 [](const Pass&) {},
                 [](const Alloc&) {},
                 [](const DeviceFunction&) {},
                 [](const Warps&) {},
                 [](const Fence&) {},
             },
             stmt.node);
}

void for_each_subexpr(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  visit(expr);
  const auto descend = [&visit](const Expr& e) { for_each_subexpr(e, visit); };
  std::visit(overloaded{
                 [&](const Read& e) { visit_accesses(e.index, descend); },
                 [&](const Binary& e) {
                   descend(*e.left);
                   descend(*e.right);
                 },
                 [&](const Unary& e) { descend(*e.operand); },
                 [&](const ExternCall& e) {
                   for (const ExprPtr& a : e.arguments) descend(*a);
                 },
                 [](const auto&) {},
             },
             expr.node);
}

bool reads_config(const Expr& expr) {
  bool found = false;
  for_each_subexpr(expr, [&found](const Expr& e) {
    found = found || (e.type.control() && std::holds_alternative<ConfigRead>(e.node));
  });
  return found;
}

bool same(const Access& a, const Access& b) {
  return a.interval() == b.interval() && same(*a.lo, *b.lo) && (!a.interval() || same(*a.hi, *b.hi));
}

bool same(const Expr& a, const Expr& b) {
  if (a.node.index() != b.node.index()) return false;
  return std::visit(overloaded{
                        [&](const IntConst& x) { return x.value == std::get<IntConst>(b.node).value; },
                        [&](const BoolConst& x) { return x.value == std::get<BoolConst>(b.node).value; },
                        [&](const RealConst& x) { return x.value == std::get<RealConst>(b.node).value; },
                        [&](const VarRef& x) { return x.var == std::get<VarRef>(b.node).var; },
                        [&](const Read& x) {
                          const auto& y = std::get<Read>(b.node);
                          return x.var == y.var && same_lists(x.index, y.index);
                        },
                        [&](const Binary& x) {
                          const auto& y = std::get<Binary>(b.node);
                          return x.op == y.op && same(*x.left, *y.left) && same(*x.right, *y.right);
                        },
                        [&](const Unary& x) {
                          const auto& y = std::get<Unary>(b.node);
                          return x.op == y.op && same(*x.operand, *y.operand);
                        },
                        [&](const StrideOf& x) {
                          const auto& y = std::get<StrideOf>(b.node);
                          return x.var == y.var && x.dim == y.dim;
                        },
                        [&](const ExternCall& x) {
                          const auto& y = std::get<ExternCall>(b.node);
                          if (x.function != y.function || x.arguments.size() != y.arguments.size())
                            return false;
                          for (std::size_t i = 0; i < x.arguments.size(); ++i) {
                            if (!same(*x.arguments[i], *y.arguments[i])) return false;
                          }
                          return true;
                        },
                        [&](const ConfigRead& x) {
                          const auto& y = std::get<ConfigRead>(b.node);
                          return x.config == y.config && x.field == y.field;
                        },
                    },
                    a.node);
}

std::optional<std::int64_t> constant_value(const Expr& e) {
  bool constant = true;
  for_each_subexpr(e, [&constant](const Expr& sub) {
    constant =
        constant && (std::holds_alternative<IntConst>(sub.node) || std::holds_alternative<Binary>(sub.node) ||
                     std::holds_alternative<Unary>(sub.node));
  });
  if (!constant) return std::nullopt;
  try {
    return evaluate(e, Environment(0));
  } catch (const OverflowError&) {
    return std::nullopt;
  }
}

std::int64_t evaluate(const Expr& e, const Environment& env) {
  return std::visit(overloaded{
                        [](const IntConst& x) { return x.value; },
                        [](const BoolConst& x) { return static_cast<std::int64_t>(x.value); },
                        [&](const VarRef& x) {
                          const auto& value = env[x.var];
                          ensure(value.has_value(), "unbound control variable");
                          return *value;
                        },
                        [&](const Binary& x) { return evaluate_binary(x, env); },
                        [&](const Unary& x) {
                          const std::int64_t v = evaluate(*x.operand, env);
                          return x.op == UnaryOp::neg ? checked_sub(0, v) : static_cast<std::int64_t>(v == 0);
                        },
                        [](const auto&) -> std::int64_t { throw InternalError("not a control expression"); },
                    },
                    e.node);
}

std::int64_t floor_div(std::int64_t a, std::int64_t divisor) {
  const std::int64_t q = a / divisor;
  return a % divisor < 0 ? q - 1 : q;
}

std::int64_t floor_mod(std::int64_t a, std::int64_t divisor) {
  const std::int64_t r = a % divisor;
  return r < 0 ? r + divisor : r;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) throw OverflowError("integer overflow in an addition");
  return out;
}

std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(a, b, &out)) throw OverflowError("integer overflow in a subtraction");
  return out;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) throw OverflowError("integer overflow in a multiplication");
  return out;
}

ExprPtr int_const(std::int64_t value, Span span) {
  return make(span, {TypeKind::integer, std::nullopt, 0}, IntConst{value});
}

ExprPtr var_ref(SymId var, TypeKind kind, Span span) {
  return make(span, {kind, std::nullopt, 0}, VarRef{var});
}

ExprPtr binary(BinaryOp op, ExprPtr left, ExprPtr right, TypeKind kind, Span span) {
  return make(span, {kind, std::nullopt, 0}, Binary{op, std::move(left), std::move(right)});
}

ExprPtr add(ExprPtr a, ExprPtr b) {
  const auto x = constant_value(*a);
  const auto y = constant_value(*b);
  if (x && y) return int_const(checked_add(*x, *y), a->span);
  if (x == 0) return b;
  if (y == 0) return a;
  return binary(BinaryOp::add, a, b, TypeKind::index, a->span);
}

ExprPtr sub(ExprPtr a, ExprPtr b) {
  const auto x = constant_value(*a);
  const auto y = constant_value(*b);
  if (x && y) return int_const(checked_sub(*x, *y), a->span);
  if (y == 0) return a;
  if (same(*a, *b)) return int_const(0, a->span);
  return binary(BinaryOp::sub, a, b, TypeKind::index, a->span);
}

ExprPtr substitute(const ExprPtr& e, const std::function<ExprPtr(SymId)>& replace) {
  const auto rebuild = [&e](decltype(Expr::node) node) {
    return std::make_shared<const Expr>(Expr{e->id, e->span, e->type, std::move(node)});
  };
  const auto all = [&replace](const std::vector<Access>& accesses) {
    std::vector<Access> out;
    out.reserve(accesses.size());
    for (const Access& a : accesses) {
      out.push_back({substitute(a.lo, replace), a.hi ? substitute(a.hi, replace) : nullptr});
    }
    return out;
  };
  return std::visit(
      overloaded{
          [&](const VarRef& x) {
            ExprPtr r = replace(x.var);
            return r ? r : e;
          },
          [&](const Read& x) -> ExprPtr {
            return x.index.empty() ? e : rebuild(Read{x.var, all(x.index)});
          },
          [&](const Binary& x) -> ExprPtr {
            return rebuild(Binary{x.op, substitute(x.left, replace), substitute(x.right, replace)});
          },
          [&](const Unary& x) -> ExprPtr {
            return rebuild(Unary{x.op, substitute(x.operand, replace)});
          },
          [&](const ExternCall& x) -> ExprPtr {
            ExternCall call{x.function, {}};
            for (const ExprPtr& a : x.arguments) call.arguments.push_back(substitute(a, replace));
            return rebuild(std::move(call));
          },
          [&](const auto&) -> ExprPtr { return e; },
      },
      e->node);
}

std::vector<Access> compose(const std::vector<Access>& outer, const std::vector<Access>& inner) {
  std::vector<Access> out;
  out.reserve(outer.size());
  std::size_t next = 0;
  for (const Access& o : outer) {
    if (!o.interval()) {
      out.push_back(o);
      continue;
    }
    ensure(next < inner.size(), "window composition: too few subscripts");
    const Access& i = inner[next++];
    out.push_back({add(o.lo, i.lo), i.interval() ? add(o.lo, i.hi) : nullptr});
  }
  ensure(next == inner.size(), "window composition: too many subscripts");
  return out;
}

}  // namespace exocheck::semantics::ir
