#include "frontend/elaborate_expr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/elaborate_access.hpp"
#include "frontend/elaborate_literal.hpp"
#include "frontend/elaborate_operators.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using ir::ExprPtr;
using ir::ExprType;
using ir::TypeKind;

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
    if (argument) argument = as_data(argument);
    if (argument && argument->type.kind != TypeKind::data) {
      cx.report("E-T30", argument->span,
                fmt::format("`{}` is {}; {} takes data scalars", cx.text(*a.value), describe(argument->type),
                            name));
      argument = nullptr;
    }
    ok = ok && argument != nullptr;
    arguments.push_back(std::move(argument));
  }
  if (!ok || !unify_precisions(cx, arguments, e.span, "E-F02", name)) return nullptr;
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
          [&](const ast::Unary& x) { return unary_expr(cx, e, x); },
          [&](const ast::Binary& x) { return binary_expr(cx, e, x); },
          [&](const ast::Compare& x) { return compare_expr(cx, e, x); },
      },
      e.node);
}

}  // namespace exocheck::frontend
