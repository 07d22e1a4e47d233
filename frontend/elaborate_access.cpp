#include "frontend/elaborate_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/elaborate_expr.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using ir::ExprPtr;
using ir::ExprType;
using ir::SymbolKind;
using ir::TypeKind;

bool is_data(const ir::Symbol& s) { return s.kind == SymbolKind::data || s.kind == SymbolKind::window; }

// ----------------------------------------------------------------------------- affine extents

// sum of coefficient * atom + constant; atoms are what is not +, -, * by a constant.
struct Affine {
  std::vector<std::pair<const ir::Expr*, std::int64_t>> terms;
  std::int64_t constant = 0;
};

void accumulate(const ir::Expr& e, std::int64_t factor, Affine& out) {
  const auto atom = [&] {
    for (auto& [other, coefficient] : out.terms) {
      if (ir::same(*other, e)) {
        coefficient = ir::checked_add(coefficient, factor);
        return;
      }
    }
    out.terms.emplace_back(&e, factor);
  };
  if (const auto* i = std::get_if<ir::IntConst>(&e.node)) {
    out.constant = ir::checked_add(out.constant, ir::checked_mul(factor, i->value));
    return;
  }
  if (const auto* u = std::get_if<ir::Unary>(&e.node)) {
    if (u->op == ir::UnaryOp::neg) return accumulate(*u->operand, ir::checked_sub(0, factor), out);
    return atom();
  }
  const auto* b = std::get_if<ir::Binary>(&e.node);
  if (!b) return atom();
  switch (b->op) {
    case ir::BinaryOp::add:
      accumulate(*b->left, factor, out);
      return accumulate(*b->right, factor, out);
    case ir::BinaryOp::sub:
      accumulate(*b->left, factor, out);
      return accumulate(*b->right, ir::checked_sub(0, factor), out);
    case ir::BinaryOp::mul: {
      if (const auto l = ir::constant_value(*b->left)) {
        return accumulate(*b->right, ir::checked_mul(factor, *l), out);
      }
      if (const auto r = ir::constant_value(*b->right)) {
        return accumulate(*b->left, ir::checked_mul(factor, *r), out);
      }
      return atom();
    }
    case ir::BinaryOp::div:
    case ir::BinaryOp::mod:
    case ir::BinaryOp::lt:
    case ir::BinaryOp::le:
    case ir::BinaryOp::gt:
    case ir::BinaryOp::ge:
    case ir::BinaryOp::eq:
    case ir::BinaryOp::ne:
    case ir::BinaryOp::logical_and:
    case ir::BinaryOp::logical_or:
      return atom();
  }
  throw semantics::InternalError("unknown operator");
}

// hi - lo where all variables cancel.
std::optional<std::int64_t> constant_difference(const ir::Expr& hi, const ir::Expr& lo) {
  try {
    Affine difference;
    accumulate(hi, 1, difference);
    accumulate(lo, -1, difference);
    const bool constant = std::all_of(difference.terms.begin(), difference.terms.end(),
                                      [](const auto& term) { return term.second == 0; });
    if (constant) return difference.constant;
  } catch (const semantics::OverflowError&) {
    // Not a constant that we can name.
  }
  return std::nullopt;
}

// --------------------------------------------------------------------------------- subscripts

struct SubscriptCodes {
  std::string_view point;     // a point of a wrong type
  std::string_view interval;  // an interval end of a wrong type
};

ExprPtr extent_of(Context& cx, const ir::Symbol& base, std::size_t dim, Span span) {
  if (dim < base.shape.size()) return cx.copy(base.shape[dim], span);
  return nullptr;
}

// One access per item; omitted ends are filled in. nullopt after an error.
std::optional<std::vector<ir::Access>> accesses(Context& cx, ir::SymId base,
                                                const std::vector<ast::Item>& items,
                                                const SubscriptCodes& codes) {
  std::vector<ir::Access> out;
  bool ok = true;
  for (std::size_t dim = 0; dim < items.size(); ++dim) {
    const ast::Item& item = items[dim];
    if (item.has_step) {
      cx.report("E-P42", item.span, "windows have no stride; write lo:hi");
      ok = false;
      continue;
    }
    if (!item.slice) {
      const ExprPtr point = control(cx, *item.lo, codes.point, "a subscript");
      ok = ok && point != nullptr;
      out.push_back({point, nullptr});
      continue;
    }
    const ExprPtr lo =
        item.lo ? control(cx, *item.lo, codes.interval, "an interval end") : cx.make_int(item.span, 0);
    const ExprPtr hi = item.hi ? control(cx, *item.hi, codes.interval, "an interval end")
                               : extent_of(cx, cx.symbol(base), dim, item.span);
    ok = ok && lo && hi;
    out.push_back({lo, hi});
  }
  if (!ok) return std::nullopt;
  return out;
}

void append_full_intervals(Context& cx, ir::SymId base, std::vector<ir::Access>& index, Span span) {
  const std::size_t rank = cx.symbol(base).shape.size();
  while (index.size() < rank) {
    ExprPtr lo = cx.make_int(span, 0);
    ExprPtr hi = extent_of(cx, cx.symbol(base), index.size(), span);
    index.push_back({std::move(lo), std::move(hi)});
  }
}

std::string count(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// A file constant or `inf` in an expression; nullopt if the name means neither.
std::optional<ExprPtr> constant_name(Context& cx, const ast::Expr& e, const std::string& name) {
  const auto constant = cx.constants().find(name);
  if (constant != cx.constants().end()) {
    const auto& v = constant->second.value;
    if (const auto* i = std::get_if<std::int64_t>(&v)) return cx.make_int(e.span, *i);
    if (const auto* d = std::get_if<double>(&v)) {
      return cx.make(e.span, {TypeKind::data, std::nullopt, 0}, ir::RealConst{*d});
    }
    if (const auto* b = std::get_if<bool>(&v)) {
      return cx.make(e.span, {TypeKind::boolean, std::nullopt, 0}, ir::BoolConst{*b});
    }
    cx.report("E-N01", e.span,
              fmt::format("the constant `{}` is {}; only numbers and bools stand in expressions", name,
                          meta_kind(constant->second)));
    return nullptr;
  }
  if (name == "inf") {
    return cx.make(e.span, {TypeKind::data, std::nullopt, 0},
                   ir::RealConst{std::numeric_limits<double>::infinity()});
  }
  if (cx.flavour == Flavour::definition && cx.is_open_name(name)) {
    // The value is known at each call only; any symbol will do, the definition's body is thrown away.
    ir::Symbol open;
    open.name = name;
    open.kind = SymbolKind::size;
    open.span = e.span;
    const ir::SymId id = cx.declare(std::move(open));
    return cx.make(e.span, {TypeKind::size, std::nullopt, 0}, ir::VarRef{id});
  }
  return std::nullopt;
}

TypeKind control_kind(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::size:
      return TypeKind::size;
    case SymbolKind::index:
    case SymbolKind::iterator:
      return TypeKind::index;
    case SymbolKind::boolean:
      return TypeKind::boolean;
    case SymbolKind::stride:
      return TypeKind::stride;
    case SymbolKind::data:
    case SymbolKind::window:
    case SymbolKind::barrier:
      break;
  }
  throw semantics::InternalError("not a control symbol");
}

void report_barrier_value(Context& cx, Span span, ir::SymId id) {
  auto& d = cx.report("E-T26", span,
                      fmt::format("`{}` is a barrier; barriers stand in Arrive, Await and after >> only",
                                  cx.symbol(id).name));
  cx.note_declaration(d, id);
}

}  // namespace

ExprPtr read_name(Context& cx, const ast::Expr& e, const std::string& name) {
  if (!cx.scopes.find(name)) {
    if (auto constant = constant_name(cx, e, name)) return *constant;
  }
  const auto id = cx.resolve(name, e.span);
  if (!id) return nullptr;
  const ir::Symbol& s = cx.symbol(*id);
  if (s.control()) return cx.make(e.span, {control_kind(s.kind), std::nullopt, 0}, ir::VarRef{*id});
  if (s.kind == SymbolKind::barrier) {
    report_barrier_value(cx, e.span, *id);
    return nullptr;
  }
  const TypeKind kind = s.shape.empty()                ? TypeKind::data
                        : s.kind == SymbolKind::window ? TypeKind::window
                                                       : TypeKind::tensor;
  return cx.make(e.span, {kind, s.precision, s.rank()}, ir::Read{*id, {}});
}

ExprPtr read_subscript(Context& cx, const ast::Expr& e, const ast::Subscript& subscript) {
  const auto* base = std::get_if<ast::Name>(&subscript.base->node);
  if (!base) {
    cx.report("E-T25", subscript.base->span,
              fmt::format("`{}` cannot be indexed; only names can", cx.text(*subscript.base)));
    return nullptr;
  }
  const auto id = cx.resolve(base->text, subscript.base->span);
  if (!id) return nullptr;
  const ir::Symbol& s = cx.symbol(*id);
  if (s.kind == SymbolKind::barrier) {
    report_barrier_value(cx, e.span, *id);
    return nullptr;
  }
  const bool any_interval = std::any_of(subscript.items.begin(), subscript.items.end(),
                                        [](const ast::Item& item) { return item.slice; });
  if (!is_data(s) || s.shape.empty()) {
    auto& d =
        any_interval
            ? cx.report("E-T51", e.span,
                        fmt::format("`{}` is {}; there are windows of tensors only", s.name, describe(s)))
            : cx.report("E-T25", e.span,
                        fmt::format("`{}` is {} and cannot be indexed", s.name, describe(s)));
    cx.note_declaration(d, *id);
    return nullptr;
  }
  if (denotes_window(subscript.items, s.rank())) {
    auto index = window_accesses(cx, *id, subscript.items, e.span);
    if (!index) return nullptr;
    const auto rank =
        std::count_if(index->begin(), index->end(), [](const ir::Access& a) { return a.interval(); });
    const ExprType type{TypeKind::window, cx.symbol(*id).precision, static_cast<int>(rank)};
    return cx.make(e.span, type, ir::Read{*id, std::move(*index)});
  }
  if (subscript.items.size() > s.shape.size()) {
    auto& d =
        cx.report("E-T24", e.span,
                  fmt::format("`{}` has {}, but {} are given", s.name, count(s.shape.size(), "dimension"),
                              count(subscript.items.size(), "subscript")));
    cx.note_declaration(d, *id);
    return nullptr;
  }
  auto index = accesses(cx, *id, subscript.items, {"E-T23", "E-T52"});
  if (!index) return nullptr;
  return cx.make(e.span, {TypeKind::data, cx.symbol(*id).precision, 0}, ir::Read{*id, std::move(*index)});
}

bool denotes_window(const std::vector<ast::Item>& items, int rank) {
  return items.size() < static_cast<std::size_t>(rank) ||
         std::any_of(items.begin(), items.end(), [](const ast::Item& item) { return item.slice; });
}

std::optional<std::vector<ir::Access>> window_accesses(Context& cx, ir::SymId base,
                                                       const std::vector<ast::Item>& items, Span span) {
  const std::size_t rank = cx.symbol(base).shape.size();
  if (items.size() > rank) {
    auto& d = cx.report("E-T50", span,
                        fmt::format("a window of `{}` needs {}, but {} are given", cx.symbol(base).name,
                                    count(rank, "subscript"), count(items.size(), "subscript")));
    cx.note_declaration(d, base);
    return std::nullopt;
  }
  auto index = accesses(cx, base, items, {"E-T52", "E-T52"});
  if (index) append_full_intervals(cx, base, *index, span);
  return index;
}

std::size_t node_count(const ir::Expr& e) {
  std::size_t nodes = 0;
  ir::for_each_subexpr(e, [&nodes](const ir::Expr&) { ++nodes; });
  return nodes;
}

std::optional<std::vector<ExprPtr>> window_shape(Context& cx, const std::vector<ir::Access>& index,
                                                 Span span) {
  std::vector<ExprPtr> shape;
  for (const ir::Access& a : index) {
    if (!a.interval()) continue;
    if (node_count(*a.lo) + node_count(*a.hi) >= max_extent_nodes) {
      cx.report("L-07", span,
                fmt::format("an extent of this window has more than {} operands", max_extent_nodes));
      return std::nullopt;
    }
    if (const auto constant = constant_difference(*a.hi, *a.lo)) {
      shape.push_back(cx.make_int(span, *constant));
    } else {
      shape.push_back(cx.copy(ir::sub(a.hi, a.lo), span));
    }
  }
  return shape;
}

std::optional<std::vector<ExprPtr>> target_points(Context& cx, const std::vector<ast::Item>& items) {
  std::vector<ExprPtr> points;
  bool ok = true;
  for (const ast::Item& item : items) {
    if (item.slice) {
      cx.report(item.has_step ? "E-P42" : "E-P41", item.span,
                "an interval cannot be assigned; write a loop over the elements");
      ok = false;
      continue;
    }
    points.push_back(control(cx, *item.lo, "E-T23", "a subscript"));
    ok = ok && points.back() != nullptr;
  }
  if (!ok) return std::nullopt;
  return points;
}

// ------------------------------------------------------------------- barrier expressions
namespace {

// The declared meaning of the names of one synchronization statement, bound for its elaboration only.
class SyncNames {
 public:
  SyncNames(Context& cx, const ast::Subscript& subscript) : cx_(cx) {
    cx_.scopes.open();
    for (const ast::Item& item : subscript.items) {
      for (const ast::ExprPtr& e : {item.lo, item.hi}) {
        if (e) bind(*e);
      }
    }
  }
  ~SyncNames() { cx_.scopes.close(); }
  SyncNames(const SyncNames&) = delete;
  SyncNames& operator=(const SyncNames&) = delete;

 private:
  void bind(const ast::Expr& e) {
    if (const auto* name = std::get_if<ast::Name>(&e.node)) {
      const auto found = cx_.scopes.find_in_sync(name->text);
      if (!found || !found->repaired) return;
      cx_.scopes.declare(name->text, found->symbol);
      cx_.report("W-N01", e.span,
                 fmt::format("`{}` is taken for `{}`, as printed procedures write it", name->text,
                             cx_.symbol(found->symbol).name));
    } else if (const auto* u = std::get_if<ast::Unary>(&e.node)) {
      bind(*u->operand);
    } else if (const auto* b = std::get_if<ast::Binary>(&e.node)) {
      bind(*b->left);
      bind(*b->right);
    }
  }
  Context& cx_;
};

std::optional<ir::SymId> barrier_name(Context& cx, const ast::Expr& e, const std::string& name,
                                      bool in_sync) {
  if (in_sync) {
    const auto found = cx.scopes.find_in_sync(name);
    if (found && found->repaired) {
      cx.report("W-N01", e.span,
                fmt::format("`{}` is taken for `{}`, as printed procedures write it", name,
                            cx.symbol(found->symbol).name));
    }
    if (found && found->symbol != poisoned_symbol) return found->symbol;
  }
  return cx.resolve(name, e.span);
}

}  // namespace

std::optional<ir::BarrierExpr> barrier_expr(Context& cx, const ast::Expr& e, bool in_sync) {
  if (const auto* name = std::get_if<ast::Name>(&e.node)) {
    const auto id = barrier_name(cx, e, name->text, in_sync);
    if (!id) return std::nullopt;
    return ir::BarrierExpr{*id, {}, e.span};
  }
  if (const auto* u = std::get_if<ast::Unary>(&e.node); u && (u->op == "+" || u->op == "-")) {
    cx.report(
        "E-P62", e.span,
        "`+z` and `-z` belong to an old dialect; use two barriers, the second one declared as barrier(z)");
    return std::nullopt;
  }
  const auto* subscript = std::get_if<ast::Subscript>(&e.node);
  const auto* base = subscript ? std::get_if<ast::Name>(&subscript->base->node) : nullptr;
  if (!base) {
    cx.report("E-U03", e.span, fmt::format("`{}` is no barrier; write z or z[...]", cx.text(e)));
    return std::nullopt;
  }
  const auto id = barrier_name(cx, *subscript->base, base->text, in_sync);
  if (!id) return std::nullopt;
  for (std::size_t dim = cx.symbol(*id).shape.size(); dim < subscript->items.size(); ++dim) {
    // An omitted end has no extent to stand for.
    if (!subscript->items[dim].slice || subscript->items[dim].hi) continue;
    auto& d = cx.report("E-U04", e.span,
                        fmt::format("`{}` has {}, but {} are given", cx.symbol(*id).name,
                                    count(cx.symbol(*id).shape.size(), "dimension"),
                                    count(subscript->items.size(), "index")));
    cx.note_declaration(d, *id);
    return std::nullopt;
  }
  std::optional<std::vector<ir::Access>> index;
  if (in_sync) {
    const SyncNames names(cx, *subscript);
    index = accesses(cx, *id, subscript->items, {"E-T23", "E-T52"});
  } else {
    index = accesses(cx, *id, subscript->items, {"E-T23", "E-T52"});
  }
  if (!index) return std::nullopt;
  return ir::BarrierExpr{*id, std::move(*index), e.span};
}

}  // namespace exocheck::frontend
