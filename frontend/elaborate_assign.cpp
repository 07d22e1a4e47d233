#include "frontend/elaborate_assign.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_access.hpp"
#include "frontend/elaborate_expr.hpp"
#include "frontend/elaborate_literal.hpp"
#include "frontend/elaborate_type.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using StmtNode = decltype(ir::Stmt::node);

// ---------------------------------------------------------------------------- the target

struct Target {
  ir::SymId var{};
  std::vector<ir::ExprPtr> index;
};

// Is the symbol assignable with this many subscripts? False after E-T40 .. E-T43.
bool check_target(Context& cx, Span span, ir::SymId id, bool subscripted, std::size_t subscripts) {
  const ir::Symbol& s = cx.symbol(id);
  const auto refuse = [&](std::string_view code, std::string message) {
    auto& d = cx.report(code, span, std::move(message));
    cx.note_declaration(d, id);
    return false;
  };
  if (s.control())
    return refuse("E-T41", fmt::format("`{}` is {} and cannot be assigned", s.name, describe(s)));
  if (s.kind == ir::SymbolKind::barrier) {
    return refuse("E-T42", fmt::format("`{}` is a barrier and cannot be assigned", s.name));
  }
  if (!subscripted && !s.shape.empty()) {
    return refuse("E-T43", fmt::format("`{}` is {}; assign its elements, names are never bound anew", s.name,
                                       describe(s)));
  }
  if (subscripts != s.shape.size()) {
    return refuse("E-T40",
                  fmt::format("`{}` has {} dimension{}, but {} subscript{} given", s.name, s.rank(),
                              s.rank() == 1 ? "" : "s", subscripts, subscripts == 1 ? " is" : "s are"));
  }
  return true;
}

// The element that `e` names. Precondition: `e` is no undefined bare name.
std::optional<Target> element_target(Context& cx, const ast::Expr& e) {
  if (const auto* name = std::get_if<ast::Name>(&e.node)) {
    const auto id = cx.resolve(name->text, e.span);
    if (!id || !check_target(cx, e.span, *id, false, 0)) return std::nullopt;
    return Target{*id, {}};
  }
  const auto* subscript = std::get_if<ast::Subscript>(&e.node);
  const auto* base = subscript ? std::get_if<ast::Name>(&subscript->base->node) : nullptr;
  if (!base) {
    cx.report("E-P56", e.span, fmt::format("`{}` cannot be assigned; write x or x[...]", cx.text(e)));
    return std::nullopt;
  }
  const auto id = cx.resolve(base->text, subscript->base->span);
  if (!id) return std::nullopt;
  auto points = target_points(cx, subscript->items);
  if (!points || !check_target(cx, e.span, *id, true, points->size())) return std::nullopt;
  return Target{*id, std::move(*points)};
}

// The right side as a data scalar; literals take the target's precision.
ir::ExprPtr assigned_value(Context& cx, const ast::Expr& e, semantics::Precision precision) {
  ir::ExprPtr v = value(cx, e);
  if (!v) return nullptr;
  v = as_data(v);
  if (v->type.kind != ir::TypeKind::data) {
    cx.report("E-T44", e.span,
              fmt::format("`{}` is {}; only data scalars can be assigned", cx.text(e), describe(v->type)));
    return nullptr;
  }
  return adopt(v, precision);
}

std::optional<StmtNode> element_assignment(Context& cx, const ast::Expr& target, const ast::Expr& value_expr,
                                           bool reduce) {
  auto left = element_target(cx, target);
  if (!left) {
    value(cx, value_expr);  // the errors inside it
    return std::nullopt;
  }
  const ir::ExprPtr right = assigned_value(cx, value_expr, cx.symbol(left->var).precision);
  if (!right) return std::nullopt;
  return ir::Assign{left->var, std::move(left->index), right, reduce};
}

// --------------------------------------------------------------------- window statements

// `x[...]` or `x[...] @ S` taken apart.
struct WindowForm {
  const ast::Subscript* subscript = nullptr;
  const ast::Expr* special = nullptr;
};
WindowForm window_form(const ast::Expr& e) {
  if (const auto* b = std::get_if<ast::Binary>(&e.node); b && b->op == "@") {
    return {std::get_if<ast::Subscript>(&b->left->node), b->right.get()};
  }
  return {std::get_if<ast::Subscript>(&e.node), nullptr};
}

bool special_memory(Context& cx, const ast::Expr& e, const ir::Symbol& base, ir::Symbol& window) {
  const auto where = storage(cx, e);
  if (!where) return false;
  const bool special = where->memory && (cx.flavour == Flavour::definition ||
                                         semantics::memory_record(*where->memory).special_window);
  if (!special) {
    cx.report("E-T53", e.span,
              fmt::format("`{}` is no special window type; write Sm90_tensorMap(...)", cx.text(e)));
    return false;
  }
  if (base.kind == ir::SymbolKind::window && cx.procedure.dialect == semantics::Dialect::P) {
    auto& d =
        cx.report("E-T55", e.span,
                  fmt::format("a special window needs a dense tensor, but `{}` is a window", base.name));
    d.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", base.name),
                         cx.procedure.location(base.span)});
    return false;
  }
  window.memory = where->memory;
  return true;
}

// Precondition: `name` is not defined, `form.subscript` is set.
std::optional<StmtNode> window_statement(Context& cx, const ast::Expr& target, const std::string& name,
                                         const ast::Expr& value_expr, const WindowForm& form) {
  const auto fail = [&]() -> std::optional<StmtNode> {
    cx.poison(name);
    return std::nullopt;
  };
  const auto* base_name = std::get_if<ast::Name>(&form.subscript->base->node);
  if (!base_name) {
    cx.report("E-T51", value_expr.span,
              fmt::format("there is no window of `{}`", cx.text(*form.subscript->base)));
    return fail();
  }
  const auto id = cx.resolve(base_name->text, form.subscript->base->span);
  if (!id) return fail();
  const ir::Symbol base = cx.symbol(*id);
  if (base.kind == ir::SymbolKind::barrier) {
    auto& d = cx.report("E-T26", value_expr.span,
                        fmt::format("`{}` is a barrier; there are no windows of barriers", base.name));
    cx.note_declaration(d, *id);
    return fail();
  }
  if (base.control() || base.shape.empty()) {
    auto& d =
        cx.report("E-T51", value_expr.span,
                  fmt::format("`{}` is {}; there are windows of tensors only", base.name, describe(base)));
    cx.note_declaration(d, *id);
    return fail();
  }
  if (!form.special && form.subscript->items.size() == base.shape.size() &&
      !denotes_window(form.subscript->items, base.rank())) {
    cx.report(
        "E-T45", target.span,
        fmt::format("`{}` is not declared, and `{}` is an element, not a window", name, cx.text(value_expr)));
    return fail();
  }
  auto index = window_accesses(cx, *id, form.subscript->items, value_expr.span);
  ir::Symbol window;
  window.name = name;
  window.kind = ir::SymbolKind::window;
  window.span = target.span;
  window.precision = base.precision;
  window.memory = base.memory;
  const bool memory_ok = !form.special || special_memory(cx, *form.special, base, window);
  if (!index || !memory_ok) return fail();
  auto shape = window_shape(cx, *index, value_expr.span);
  if (!shape) return fail();
  window.shape = std::move(*shape);
  if (window.shape.empty()) {
    cx.report("E-T50", value_expr.span, "a window needs an interval; this is one element");
    return fail();
  }
  const ir::SymId result = cx.declare(std::move(window));
  return ir::WindowStmt{result, *id, std::move(*index)};
}

// ------------------------------------------------------------------------------------ configs

bool depends_on_iterator(const Context& cx, const ir::Expr& e) {
  bool found = false;
  ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
    const auto* var = std::get_if<ir::VarRef>(&sub.node);
    found = found || (var && cx.symbol(var->var).kind == ir::SymbolKind::iterator);
  });
  return found;
}

bool fits_field(const ir::ExprType& field, const ir::ExprType& written) {
  if (field.kind == ir::TypeKind::data) return written.kind == ir::TypeKind::data;
  if (field.kind == ir::TypeKind::boolean) return written.kind == ir::TypeKind::boolean;
  if (field.kind == ir::TypeKind::stride) return written.kind == ir::TypeKind::stride || indexable(written);
  return indexable(written);
}

std::optional<StmtNode> config_write(Context& cx, const ast::Expr& target, const ast::Expr& value_expr) {
  const ir::ExprPtr field = value(cx, target);  // E-T60, E-P66
  ir::ExprPtr written = value(cx, value_expr);
  if (!field || !written) return std::nullopt;
  const auto* read = std::get_if<ir::ConfigRead>(&field->node);
  semantics::ensure(read != nullptr, "config field");
  if (field->type.kind == ir::TypeKind::data) {
    written = as_data(written);
    if (field->type.precision) written = adopt(written, *field->type.precision);
  }
  if (!fits_field(field->type, written->type)) {
    cx.report("E-T61", value_expr.span,
              fmt::format("`{}` is {}, but {}.{} is {}", cx.text(value_expr), describe(written->type),
                          read->config, read->field, describe(field->type)));
    return std::nullopt;
  }
  if (depends_on_iterator(cx, *written)) {
    cx.report("E-T62", value_expr.span,
              fmt::format("the value of {}.{} may not depend on a loop iterator", read->config, read->field));
    return std::nullopt;
  }
  return ir::ConfigWrite{read->config, read->field, fold(cx, written)};
}

}  // namespace

std::optional<StmtNode> assignment(Context& cx, const ast::Stmt& s, const ast::AssignStmt& a) {
  if (a.targets.size() != 1) {
    cx.report("E-P55", s.span, "one target per assignment; write two statements");
    return std::nullopt;
  }
  const ast::Expr& target = *a.targets[0];
  if (std::holds_alternative<ast::Attribute>(target.node)) return config_write(cx, target, *a.value);

  const auto* name = std::get_if<ast::Name>(&target.node);
  const WindowForm form = window_form(*a.value);
  if (name && name->text != "_" && !cx.scopes.find(name->text)) {
    if (form.subscript) return window_statement(cx, target, name->text, *a.value, form);
    value(cx, *a.value);  // its own errors, too
    cx.report("E-T45", target.span,
              fmt::format("`{}` is not declared and `{}` is no window; declare it first: `{}: f32`{}",
                          name->text, cx.text(*a.value), name->text,
                          cx.suggestion(name->text, [&] { return cx.scopes.visible(); })));
    cx.poison(name->text);
    return std::nullopt;
  }
  return element_assignment(cx, target, *a.value, false);
}

std::optional<StmtNode> reduction(Context& cx, const ast::Stmt&, const ast::AugAssignStmt& a) {
  if (a.op != "+=") {
    cx.report("E-P40", a.target->span, fmt::format("`{}` is not supported; the only reduction is +=", a.op));
    return std::nullopt;
  }
  return element_assignment(cx, *a.target, *a.value, true);
}

}  // namespace exocheck::frontend
