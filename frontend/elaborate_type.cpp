#include "frontend/elaborate_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/elaborate_access.hpp"
#include "frontend/elaborate_expr.hpp"
#include "semantics/errors.hpp"

namespace exocheck::frontend {
namespace {

using ir::SymbolKind;

constexpr std::array<std::pair<std::string_view, SymbolKind>, 4> control_types{
    {{"size", SymbolKind::size},
     {"index", SymbolKind::index},
     {"bool", SymbolKind::boolean},
     {"stride", SymbolKind::stride}}};

std::optional<SymbolKind> find_control_type(std::string_view name) {
  const auto it = std::find_if(control_types.begin(), control_types.end(),
                               [name](const auto& t) { return t.first == name; });
  if (it == control_types.end()) return std::nullopt;
  return it->second;
}

const std::string* name_of(const ast::ExprPtr& e) {
  const auto* name = e ? std::get_if<ast::Name>(&e->node) : nullptr;
  return name ? &name->text : nullptr;
}

void report_unknown_type(Context& cx, const ast::Expr& e) {
  static const std::vector<std::string> known{"size", "index", "bool", "stride", "R",  "f16", "bf16", "f32",
                                              "f64",  "e4m3",  "e5m2", "e8m0",   "i8", "i32", "ui8",  "ui16"};
  const auto* name = std::get_if<ast::Name>(&e.node);
  const std::string hint = name ? suggestion_text(name->text, known) : std::string();
  cx.report("E-N03", e.span, fmt::format("`{}` is no type{}", cx.text(e), hint));
}

// --------------------------------------------------------------------------------- dimensions

// Is there an `@` below an operator of lower precedence, as in `n + 2 @ ring_buffer_by(2)`?
const ast::Expr* misplaced_annotation(const ast::Expr& e) {
  const auto* b = std::get_if<ast::Binary>(&e.node);
  if (!b) return nullptr;
  if (b->op == "@") return &e;
  if (const ast::Expr* left = misplaced_annotation(*b->left)) return left;
  return misplaced_annotation(*b->right);
}

// `ring_buffer_by(2)`, `ring_buffer_by(depth=2)`.
std::optional<ir::DimAnnotation> ring_annotation(Context& cx, const ast::Expr& e, const ast::CallExpr& call) {
  const bool form = call.arguments.size() == 1 && !call.arguments[0].star &&
                    (!call.arguments[0].keyword || *call.arguments[0].keyword == "depth");
  if (!form) {
    cx.report("E-R02", e.span, "write ring_buffer_by(depth) with one positive integer");
    return std::nullopt;
  }
  const auto depth = cx.meta(*call.arguments[0].value, "E-R02");
  if (!depth) return std::nullopt;
  const auto value = meta_int(*depth);
  if (!value) {
    cx.report("E-R02", e.span,
              fmt::format("the ring depth must be a positive integer, not {}", meta_kind(*depth)));
    return std::nullopt;
  }
  ir::DimAnnotation annotation;
  annotation.ring_depth = *value;
  return annotation;
}

bool annotate(Context& cx, const ast::Expr& e, ir::DimAnnotation& out) {
  if (const auto* call = std::get_if<ast::CallExpr>(&e.node)) {
    if (const std::string* callee = name_of(call->callee); callee && *callee == "ring_buffer_by") {
      const auto ring = ring_annotation(cx, e, *call);
      if (!ring) return false;
      if (out.ring_depth) {
        cx.report("E-R01", e.span, "a dimension takes one ring annotation only");
        return false;
      }
      out.ring_depth = ring->ring_depth;
      return true;
    }
  }
  const auto v = cx.meta(e, "E-P73");
  if (!v) return false;
  const auto* unit = std::get_if<semantics::CollUnit>(&v->value);
  if (!unit) {
    cx.report("E-P73", e.span,
              fmt::format("`{}` annotates a dimension neither with ring_buffer_by(...) nor with a "
                          "collective unit",
                          cx.text(e)));
    return false;
  }
  cx.report("W-P02", e.span, "a collective unit on a dimension has no meaning; it is kept as written");
  out.unit = *unit;
  return true;
}

// Extents are copied wherever an interval ends at them.
bool small_extent(Context& cx, const ir::Expr& e) {
  if (node_count(e) <= max_extent_nodes) return true;
  cx.report("L-07", e.span, fmt::format("an extent has more than {} operands", max_extent_nodes));
  return false;
}

struct Dimensions {
  std::vector<ir::ExprPtr> shape;
  std::vector<ir::DimAnnotation> annotations;  // one per dimension, or empty
};

std::optional<Dimensions> dimensions(Context& cx, const std::vector<ast::Item>& items,
                                     bool annotations_allowed) {
  Dimensions out;
  bool ok = true;
  bool any_annotation = false;
  for (const ast::Item& item : items) {
    if (item.slice) {
      cx.report("E-T72", item.span, "an extent is one expression, not an interval");
      ok = false;
      continue;
    }
    const ast::Expr* extent = item.lo.get();
    ir::DimAnnotation annotation;
    const auto* b = std::get_if<ast::Binary>(&extent->node);
    while (annotations_allowed && b && b->op == "@") {
      any_annotation = true;
      ok = annotate(cx, *b->right, annotation) && ok;
      extent = b->left.get();
      b = std::get_if<ast::Binary>(&extent->node);
    }
    if (const ast::Expr* at = misplaced_annotation(*extent)) {
      cx.report(
          annotations_allowed ? "E-P34" : "E-P73", at->span,
          annotations_allowed
              ? fmt::format("`@` binds tighter than the operator before it; parenthesize what `{}` annotates",
                            cx.text(*at))
              : "extents of parameters take no annotation");
      ok = false;
      continue;
    }
    out.shape.push_back(control(cx, *extent, "E-T72", "an extent"));
    ok = ok && out.shape.back() && small_extent(cx, *out.shape.back());
    out.annotations.push_back(std::move(annotation));
  }
  if (!ok) return std::nullopt;
  if (!any_annotation) out.annotations.clear();
  return out;
}

// -------------------------------------------------------------------------------- annotations

// `T @ M` taken apart; memory empty if there is none.
struct Annotation {
  const ast::Expr* type = nullptr;
  const ast::Expr* memory = nullptr;
};
Annotation split_memory(const ast::Expr& e) {
  const auto* b = std::get_if<ast::Binary>(&e.node);
  if (b && b->op == "@") return {b->left.get(), b->right.get()};
  return {&e, nullptr};
}

// Parts of an allocated type: head[dims].ring_guarded_by(z).
struct TypeParts {
  const ast::Expr* head = nullptr;  // `f32`, `barrier`, `barrier(g)`, `[f32]`
  const std::vector<ast::Item>* dims = nullptr;
  const ast::CallExpr* ring_guard = nullptr;
  Span ring_guard_span;
};

std::optional<TypeParts> split_type(Context& cx, const ast::Expr& e) {
  TypeParts parts;
  const ast::Expr* rest = &e;
  if (const auto* call = std::get_if<ast::CallExpr>(&rest->node)) {
    if (const auto* attribute = std::get_if<ast::Attribute>(&call->callee->node)) {
      if (attribute->name != "ring_guarded_by") {
        cx.report(
            "E-P36", attribute->name_span,
            fmt::format("a type has no `.{}`; only .ring_guarded_by(z) may follow it", attribute->name));
        return std::nullopt;
      }
      parts.ring_guard = call;
      parts.ring_guard_span = rest->span;
      rest = attribute->base.get();
    }
  }
  if (const auto* subscript = std::get_if<ast::Subscript>(&rest->node)) {
    if (std::holds_alternative<ast::Subscript>(subscript->base->node)) {
      cx.report("E-P30", e.span, "write all extents in one pair of brackets: f32[a, b]");
      return std::nullopt;
    }
    parts.dims = &subscript->items;
    rest = subscript->base.get();
  }
  parts.head = rest;
  return parts;
}

// `barrier` or `barrier(...)`.
bool is_barrier_head(const ast::Expr& head) {
  const auto* name = std::get_if<ast::Name>(&head.node);
  if (name) return name->text == "barrier";
  const auto* call = std::get_if<ast::CallExpr>(&head.node);
  const std::string* callee = call ? name_of(call->callee) : nullptr;
  return callee && *callee == "barrier";
}

bool resolve_guard(Context& cx, const ast::Expr& head, ir::Symbol& symbol) {
  const auto* call = std::get_if<ast::CallExpr>(&head.node);
  if (!call) return true;
  const std::string* guard = call->arguments.size() == 1 && !call->arguments[0].keyword
                                 ? name_of(call->arguments[0].value)
                                 : nullptr;
  if (!guard) {
    cx.report("E-G01", head.span, "a guard is the bare name of one other barrier: barrier(g)");
    return false;
  }
  const auto id = cx.resolve(*guard, call->arguments[0].span);
  if (!id) return false;
  symbol.guard = *id;
  return true;
}

bool resolve_ring_guard(Context& cx, const TypeParts& parts, ir::Symbol& symbol) {
  if (!parts.ring_guard) return true;
  if (!parts.dims) {
    cx.report("E-P35", parts.ring_guard_span,
              "only arrays can be ring buffers; a scalar takes no .ring_guarded_by");
    return false;
  }
  const auto& arguments = parts.ring_guard->arguments;
  const std::string* guard =
      arguments.size() == 1 && !arguments[0].keyword ? name_of(arguments[0].value) : nullptr;
  if (!guard) {
    cx.report("E-P36", parts.ring_guard_span, ".ring_guarded_by takes the bare name of one barrier");
    return false;
  }
  const auto id = cx.resolve(*guard, arguments[0].span);
  if (!id) return false;
  symbol.ring_guard = *id;
  return true;
}

// --------------------------------------------------------------------------------- parameters

void control_parameter(Context& cx, const ast::Param& param, SymbolKind kind, const ast::Expr* memory,
                       ir::Symbol& symbol) {
  symbol.kind = kind;
  if (!memory) return;
  const auto where = storage(cx, *memory);
  if (!where) return;
  if (!where->memory || !where->memory->is(semantics::MemoryKind::DRAM)) {
    cx.report("E-P26", memory->span,
              fmt::format("`{}` is a control parameter and has no memory", param.name));
  }
}

// Element type, shape and window-ness of a data parameter; false after an error.
bool data_parameter(Context& cx, const ast::Param& param, const TypeParts& parts, ir::Symbol& symbol) {
  const std::string* prim = nullptr;
  if (const auto* list = std::get_if<ast::List>(&parts.head->node)) {
    if (list->items.size() == 1) prim = name_of(list->items[0]);
    symbol.kind = SymbolKind::window;
    if (!parts.dims) {
      cx.report("E-P24", parts.head->span, "a window parameter needs its extents: [f32][n]");
      return false;
    }
  } else if (const auto* name = std::get_if<ast::Name>(&parts.head->node)) {
    prim = &name->text;
  }
  const auto precision = prim ? precision_name(cx, *prim, param.name) : std::nullopt;
  if (!precision) {
    report_unknown_type(cx, *parts.head);
    return false;
  }
  symbol.precision = *precision;
  if (parts.ring_guard) {
    cx.report("E-P36", parts.ring_guard_span, "parameters take no .ring_guarded_by; only allocations do");
    return false;
  }
  if (!parts.dims) return true;
  auto dims = dimensions(cx, *parts.dims, false);
  if (!dims) return false;
  symbol.shape = std::move(dims->shape);
  return true;
}

}  // namespace

std::optional<semantics::Precision> precision_name(const Context& cx, const std::string& name,
                                                   const std::string& parameter) {
  if (name != "R") return semantics::find_precision(name);
  if (cx.flavour == Flavour::behaviour) {
    const auto bound = cx.constants().find(parameter);
    if (bound != cx.constants().end()) {
      if (const auto* p = std::get_if<semantics::Precision>(&bound->second.value)) return *p;
    }
  }
  return semantics::Precision::f32;
}

std::optional<Storage> storage(Context& cx, const ast::Expr& e) {
  Storage out;
  if (cx.flavour == Flavour::definition) {
    // Template arguments are known at each call only; an unknown name is told there, too.
    out.memory = semantics::MemoryType{};
    return out;
  }
  const auto v = cx.meta(e, "E-P73");
  if (!v) return std::nullopt;
  if (const auto* memory = std::get_if<semantics::MemoryType>(&v->value)) {
    out.memory = *memory;
  } else if (const auto* mechanism = std::get_if<semantics::MechanismType>(&v->value)) {
    out.mechanism = *mechanism;
  } else {
    cx.report("E-P73", e.span, fmt::format("`{}` is {}, not a memory", cx.text(e), meta_kind(*v)));
    return std::nullopt;
  }
  return out;
}

void declare_parameter(Context& cx, const ast::Param& param) {
  if (param.star || param.has_default) {
    cx.report("E-P22", param.span, "parameters have no default values and there is no *, ** or / among them");
    if (param.star) return;
  }
  ir::Symbol symbol;
  symbol.name = param.name;
  symbol.span = param.span;
  symbol.parameter = true;
  if (const auto other = cx.scopes.find(param.name)) {
    auto& d = cx.report("E-N04", param.span, fmt::format("two parameters are named `{}`", param.name));
    if (*other != poisoned_symbol) cx.note_declaration(d, *other);
  }
  bool known = false;  // else the uses of the name are not judged
  if (!param.annotation) {
    cx.report("E-P24", param.span, fmt::format("parameter `{}` needs a type", param.name));
  } else {
    const Annotation annotation = split_memory(*param.annotation);
    const auto parts = split_type(cx, *annotation.type);
    const auto* head_name = parts ? std::get_if<ast::Name>(&parts->head->node) : nullptr;
    const auto control_kind = head_name ? find_control_type(head_name->text) : std::nullopt;
    if (!parts) {
      // reported
    } else if (is_barrier_head(*parts->head)) {
      cx.report("E-P25", param.span,
                fmt::format("`{}`: barriers cannot be passed to procedures", param.name));
    } else if (control_kind) {
      if (parts->dims) {
        cx.report("E-P24", annotation.type->span, "control parameters are scalars; they have no extents");
      }
      control_parameter(cx, param, *control_kind, annotation.memory, symbol);
      known = true;
    } else if (data_parameter(cx, param, *parts, symbol)) {
      known = true;
      symbol.memory = semantics::MemoryType{};
      if (annotation.memory) {
        const auto where = storage(cx, *annotation.memory);
        if (where && where->mechanism) {
          cx.report("E-P25", annotation.memory->span,
                    fmt::format("{} is a barrier mechanism; parameter `{}` needs a data memory",
                                where->mechanism->text(), param.name));
        } else if (where) {
          symbol.memory = where->memory;
        }
      }
    }
  }
  cx.procedure.parameters.push_back(cx.declare(std::move(symbol)));
  if (!known) cx.poison(param.name);
}

std::optional<ir::Symbol> allocation_symbol(Context& cx, const std::string& name, Span span,
                                            const ast::Expr& whole) {
  const Annotation annotation = split_memory(whole);
  const auto parts = split_type(cx, *annotation.type);
  if (!parts) return std::nullopt;
  ir::Symbol symbol;
  symbol.name = name;
  symbol.span = span;
  const auto* head = std::get_if<ast::Name>(&parts->head->node);
  const bool barrier = is_barrier_head(*parts->head);
  if (std::holds_alternative<ast::List>(parts->head->node)) {
    cx.report("E-P31", annotation.type->span, "window types stand in signatures only; write f32[n]");
    return std::nullopt;
  }
  if (head && find_control_type(head->text)) {
    cx.report("E-P32", annotation.type->span,
              fmt::format("only data and barriers can be allocated, not a {}", head->text));
    return std::nullopt;
  }
  if (barrier && cx.flavour != Flavour::procedure) {
    cx.report("E-P71", whole.span, "the behaviour of an instruction is sequential; it declares no barriers");
    return std::nullopt;
  }
  const auto precision = head && !barrier ? precision_name(cx, head->text, {}) : std::nullopt;
  if (!barrier && !precision) {
    report_unknown_type(cx, *parts->head);
    return std::nullopt;
  }

  bool ok = true;
  symbol.kind = barrier ? SymbolKind::barrier : SymbolKind::data;
  if (barrier) ok = resolve_guard(cx, *parts->head, symbol);
  if (precision) symbol.precision = *precision;
  if (parts->dims) {
    auto dims = dimensions(cx, *parts->dims, true);
    ok = ok && dims;
    if (dims) {
      symbol.shape = std::move(dims->shape);
      symbol.annotations = std::move(dims->annotations);
    }
  }
  ok = resolve_ring_guard(cx, *parts, symbol) && ok;

  std::optional<Storage> where = Storage{semantics::MemoryType{}, std::nullopt};
  if (annotation.memory) where = storage(cx, *annotation.memory);
  if (!where) return std::nullopt;
  if (barrier && !where->mechanism) {
    cx.report("E-T70", annotation.memory ? annotation.memory->span : whole.span,
              annotation.memory ? fmt::format("`{}` is a data memory; barrier `{}` needs a barrier mechanism",
                                              cx.text(*annotation.memory), name)
                                : fmt::format("barrier `{}` needs a mechanism: @ CudaMbarrier, ...", name));
    ok = false;
  }
  if (!barrier && where->mechanism) {
    cx.report(
        "E-T71", annotation.memory->span,
        fmt::format("{} is a barrier mechanism; `{}` needs a data memory", where->mechanism->text(), name));
    ok = false;
  }
  if (!ok) return std::nullopt;
  symbol.memory = barrier ? std::nullopt : where->memory;
  symbol.mechanism = where->mechanism;
  return symbol;
}

}  // namespace exocheck::frontend
