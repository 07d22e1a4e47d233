#include "frontend/elaborate_expr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "frontend/elaborate_access.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using ir::BinaryOp;
using ir::ExprPtr;
using ir::ExprType;
using ir::TypeKind;

constexpr ExprType control_type(TypeKind kind) { return {kind, std::nullopt, 0}; }
constexpr ExprType literal_data{TypeKind::data, std::nullopt, 0};

bool is_aggregate(const ExprType& type) {
  return type.kind == TypeKind::tensor || type.kind == TypeKind::window;
}

struct ExternName {
  std::string_view name;
  ExternRecord record;
};
constexpr std::array<ExternName, 12> externs{{{"sin", {ir::Extern::sin, 1}},
                                              {"relu", {ir::Extern::relu, 1}},
                                              {"expf", {ir::Extern::expf, 1}},
                                              {"exp2f", {ir::Extern::exp2f, 1}},
                                              {"logf", {ir::Extern::logf, 1}},
                                              {"log2f", {ir::Extern::log2f, 1}},
                                              {"fabsf", {ir::Extern::fabsf, 1}},
                                              {"sigmoid", {ir::Extern::sigmoid, 1}},
                                              {"sqrt", {ir::Extern::sqrt, 1}},
                                              {"fmaxf", {ir::Extern::fmaxf, 2}},
                                              {"fminf", {ir::Extern::fminf, 2}},
                                              {"select", {ir::Extern::select, 4}}}};

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

// ----------------------------------------------------------------------------- data operators

// Brings the operands of a data operator to one precision. False after E-F01/E-F02.
bool unify(Context& cx, std::vector<ExprPtr>& operands, Span span, std::string_view code,
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

// An operand of a data operator; nullptr after `code`.
ExprPtr data_operand(Context& cx, const ExprPtr& e, std::string_view code, std::string_view what) {
  const ExprPtr data = as_data(cx, e);
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
  if (!unify(cx, operands, span, "E-F01", what)) return nullptr;
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

ExprPtr binary(Context& cx, const ast::Expr& e, const ast::Binary& b) {
  if (b.op == "and" || b.op == "or") return logical(cx, e, b);
  if (const auto op = arithmetic_op(b.op)) return arithmetic(cx, e, b, *op);
  return unsupported_binary(cx, e, b);
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

ExprPtr unary(Context& cx, const ast::Expr& e, const ast::Unary& u) {
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

ExprPtr compare(Context& cx, const ast::Expr& e, const ast::Compare& c) {
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

// ---------------------------------------------------------------------------- calls and names

ExprPtr stride(Context& cx, const ast::Expr& e, const ast::CallExpr& call) {
  const bool form = call.arguments.size() == 2 && !call.arguments[0].keyword && !call.arguments[1].keyword &&
                    !call.arguments[0].star && !call.arguments[1].star;
  const auto* name = form ? std::get_if<ast::Name>(&call.arguments[0].value->node) : nullptr;
  const auto* dim = form ? std::get_if<ast::Int>(&call.arguments[1].value->node) : nullptr;
  if (!name || !dim) {
    cx.report("E-P74", e.span, "write stride(x, k) with the name of a tensor and an integer literal");
    return nullptr;
  }
  const auto id = cx.resolve(name->text, call.arguments[0].span);
  if (!id) return nullptr;
  const ir::Symbol& symbol = cx.symbol(*id);
  const bool data = symbol.kind == ir::SymbolKind::data || symbol.kind == ir::SymbolKind::window;
  if (!data || symbol.shape.empty()) {
    cx.report("E-T18", e.span,
              fmt::format("`{}` is {}; only tensors and windows have strides", name->text, describe(symbol)));
    return nullptr;
  }
  if (dim->too_big || dim->value >= symbol.rank()) {
    cx.report("E-T19", e.span,
              fmt::format("`{}` has {} dimension{}; there is no stride number {}", name->text, symbol.rank(),
                          symbol.rank() == 1 ? "" : "s", cx.text(*call.arguments[1].value)));
    return nullptr;
  }
  return cx.make(e.span, control_type(TypeKind::stride), ir::StrideOf{*id, static_cast<int>(dim->value)});
}

ExprPtr extern_call(Context& cx, const ast::Expr& e, const ast::CallExpr& call, const std::string& name,
                    const ExternRecord& record) {
  for (const ast::Argument& a : call.arguments) {
    if (a.keyword || a.star) {
      cx.report("E-P75", a.span, fmt::format("{} takes positional arguments only", name));
      return nullptr;
    }
  }
  if (call.arguments.size() != record.arguments) {
    cx.report("E-T31", e.span,
              fmt::format("{} takes {} argument{}, got {}", name, record.arguments,
                          record.arguments == 1 ? "" : "s", call.arguments.size()));
    return nullptr;
  }
  std::vector<ExprPtr> arguments;
  bool ok = true;
  for (const ast::Argument& a : call.arguments) {
    ExprPtr argument = value(cx, *a.value);
    if (argument) argument = as_data(cx, argument);
    if (argument && argument->type.kind != TypeKind::data) {
      cx.report("E-T30", argument->span,
                fmt::format("`{}` is {}; {} takes data scalars", cx.text(*a.value), describe(argument->type),
                            name));
      argument = nullptr;
    }
    ok = ok && argument != nullptr;
    arguments.push_back(std::move(argument));
  }
  if (!ok || !unify(cx, arguments, e.span, "E-F02", name)) return nullptr;
  const ExprType type{TypeKind::data, arguments[0]->type.precision, 0};
  return cx.make(e.span, type, ir::ExternCall{record.function, std::move(arguments)});
}

ExprPtr call(Context& cx, const ast::Expr& e, const ast::CallExpr& c) {
  const auto* callee = std::get_if<ast::Name>(&c.callee->node);
  if (!callee) {
    cx.report("E-N02", c.callee->span,
              fmt::format("`{}` is not a function of the language", cx.text(*c.callee)));
    return nullptr;
  }
  if (callee->text == "stride") return stride(cx, e, c);
  if (const auto record = find_extern(callee->text)) return extern_call(cx, e, c, callee->text, *record);
  if (cx.file.find_procedure(callee->text) || cx.file.find_instr(callee->text)) {
    cx.report("E-N02", e.span,
              fmt::format("`{}` returns no value; call it as a statement of its own", callee->text));
    return nullptr;
  }
  if (const auto id = cx.scopes.find(callee->text)) {
    if (*id != poisoned_symbol) {
      cx.report("E-N02", c.callee->span,
                fmt::format("`{}` is {} and cannot be called", callee->text, describe(cx.symbol(*id))));
    }
    return nullptr;
  }
  std::vector<std::string> names;
  for (const ExternName& x : externs) names.emplace_back(x.name);
  cx.report("E-N03", c.callee->span,
            fmt::format("there is no function `{}`{}", callee->text, suggestion_text(callee->text, names)));
  return nullptr;
}

ExprPtr dotted(Context& cx, const ast::Expr& e, const ast::Attribute& a) {
  const auto* base = std::get_if<ast::Name>(&a.base->node);
  const ir::Config* config = base ? cx.file.find_config(base->text) : nullptr;
  if (!config) {
    cx.report("E-P66", e.span,
              fmt::format("`{}` is neither a field of a config nor a name of object code", cx.text(e)));
    return nullptr;
  }
  const auto field = std::find_if(config->fields.begin(), config->fields.end(),
                                  [&](const ir::Config::Field& f) { return f.name == a.name; });
  if (field == config->fields.end()) {
    cx.report("E-T60", a.name_span, fmt::format("config `{}` has no field `{}`", config->name, a.name));
    return nullptr;
  }
  return cx.make(e.span, field->type, ir::ConfigRead{config->name, field->name});
}

ExprPtr bad_literal(Context& cx, const ast::Expr& e, std::string_view what) {
  cx.report("E-T01", e.span, fmt::format("{} is no value of the object language", what));
  return nullptr;
}

}  // namespace

std::optional<ExternRecord> find_extern(std::string_view name) {
  const auto it =
      std::find_if(externs.begin(), externs.end(), [&](const ExternName& x) { return x.name == name; });
  if (it == externs.end()) return std::nullopt;
  return it->record;
}

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

ExprPtr as_data(Context&, const ExprPtr& e) {
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

ExprPtr control(Context& cx, const ast::Expr& e, std::string_view code, std::string_view what) {
  const ExprPtr v = value(cx, e);
  if (!v) return nullptr;
  if (!indexable(v->type)) {
    cx.report(code, e.span,
              fmt::format("{} must be an integer control expression, but `{}` is {}", what, cx.text(e),
                          describe(v->type)));
    return nullptr;
  }
  return fold(cx, v);
}

ExprPtr boolean(Context& cx, const ast::Expr& e, std::string_view code, std::string_view what) {
  const ExprPtr v = value(cx, e);
  if (!v) return nullptr;
  if (v->type.kind != TypeKind::boolean) {
    cx.report(code, e.span,
              fmt::format("{} must be a bool, but `{}` is {}", what, cx.text(e), describe(v->type)));
    return nullptr;
  }
  return fold(cx, v);
}

ExprPtr value(Context& cx, const ast::Expr& e) {
  const Context::Nesting nesting(cx, e.span);
  if (!nesting) return nullptr;
  return std::visit(
      ir::overloaded{
          [&](const ast::Int& x) -> ExprPtr {
            if (!x.too_big) return cx.make_int(e.span, x.value);
            cx.report("L-03", e.span, fmt::format("`{}` leaves the range of 64-bit integers", cx.text(e)));
            return nullptr;
          },
          [&](const ast::Float& x) -> ExprPtr {
            return cx.make(e.span, literal_data, ir::RealConst{x.value});
          },
          [&](const ast::Bool& x) -> ExprPtr {
            return cx.make(e.span, control_type(TypeKind::boolean), ir::BoolConst{x.value});
          },
          [&](const ast::String&) { return bad_literal(cx, e, "a string"); },
          [&](const ast::None&) { return bad_literal(cx, e, "None"); },
          [&](const ast::Tuple&) { return bad_literal(cx, e, "a tuple"); },
          [&](const ast::List&) { return bad_literal(cx, e, "a list"); },
          [&](const ast::Dict&) -> ExprPtr {
            cx.report("E-P65", e.span,
                      "metaprogramming must be expanded first; print the procedure and check the print");
            return nullptr;
          },
          [&](const ast::Unparsed& x) -> ExprPtr {
            cx.report(
                "E-P69", e.span,
                fmt::format("`{}` is the print of a Python object; define what it stands for in the file",
                            x.text));
            return nullptr;
          },
          [&](const ast::Conditional&) -> ExprPtr {
            cx.report("E-P54", e.span, "`a if c else b` is no expression of the language; use select(...)");
            return nullptr;
          },
          [&](const ast::Name& x) { return read_name(cx, e, x.text); },
          [&](const ast::Attribute& x) { return dotted(cx, e, x); },
          [&](const ast::CallExpr& x) { return call(cx, e, x); },
          [&](const ast::Subscript& x) { return read_subscript(cx, e, x); },
          [&](const ast::Unary& x) { return unary(cx, e, x); },
          [&](const ast::Binary& x) { return binary(cx, e, x); },
          [&](const ast::Compare& x) { return compare(cx, e, x); },
      },
      e.node);
}

}  // namespace exocheck::frontend
