#include "frontend/elaborate_context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_reserved.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

// Far above what the parser lets through as brackets and blocks; operator chains nest without brackets.
constexpr int max_depth = 1000;

ir::ExprPtr copy_expr(Context& cx, const ir::ExprPtr& e, Span span);

std::vector<ir::Access> copy_accesses(Context& cx, const std::vector<ir::Access>& accesses, Span span) {
  std::vector<ir::Access> out;
  out.reserve(accesses.size());
  for (const ir::Access& a : accesses) {
    out.push_back({copy_expr(cx, a.lo, span), a.hi ? copy_expr(cx, a.hi, span) : nullptr});
  }
  return out;
}

ir::ExprPtr copy_expr(Context& cx, const ir::ExprPtr& e, Span span) {
  const auto same_node = [&](const auto& node) { return cx.make(span, e->type, node); };
  return std::visit(ir::overloaded{
                        [&](const ir::Read& x) {
                          return cx.make(span, e->type, ir::Read{x.var, copy_accesses(cx, x.index, span)});
                        },
                        [&](const ir::Binary& x) {
                          ir::ExprPtr left = copy_expr(cx, x.left, span);
                          ir::ExprPtr right = copy_expr(cx, x.right, span);
                          return cx.make(span, e->type, ir::Binary{x.op, std::move(left), std::move(right)});
                        },
                        [&](const ir::Unary& x) {
                          return cx.make(span, e->type, ir::Unary{x.op, copy_expr(cx, x.operand, span)});
                        },
                        [&](const ir::ExternCall& x) {
                          ir::ExternCall call{x.function, {}};
                          for (const ir::ExprPtr& a : x.arguments)
                            call.arguments.push_back(copy_expr(cx, a, span));
                          return cx.make(span, e->type, std::move(call));
                        },
                        [&](const ir::IntConst& x) { return same_node(x); },
                        [&](const ir::BoolConst& x) { return same_node(x); },
                        [&](const ir::RealConst& x) { return same_node(x); },
                        [&](const ir::VarRef& x) { return same_node(x); },
                        [&](const ir::StrideOf& x) { return same_node(x); },
                        [&](const ir::ConfigRead& x) { return same_node(x); },
                    },
                    e->node);
}

}  // namespace

Context::Context(FileScope& file_scope, std::shared_ptr<const MetaEnvironment> constants,
                 semantics::SourcePtr source_file, Flavour kind)
    : file(file_scope), flavour(kind), constants_(std::move(constants)) {
  procedure.source = std::move(source_file);
}

std::string Context::text(Span span) const {
  constexpr std::size_t longest = 60;
  std::string out;
  for (const char c : procedure.source->text(span)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.size() > longest) out = out.substr(0, longest) + "...";
  return out;
}

std::string Context::suggestion(std::string_view name,
                                const std::function<std::vector<std::string>()>& candidates) {
  constexpr int most = 20;  // a procedure with more errors has another problem than spelling
  return ++suggestions_ > most ? std::string() : suggestion_text(name, candidates());
}

semantics::Diagnostic& Context::report(std::string_view code, Span span, std::string message) {
  diagnostics.push_back(semantics::make_diagnostic(code, procedure.location(span), std::move(message)));
  return diagnostics.back();
}

void Context::note_declaration(semantics::Diagnostic& diagnostic, ir::SymId id) const {
  const ir::Symbol& s = symbol(id);
  diagnostic.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", s.name),
                                procedure.location(s.span)});
}

ir::SymId Context::declare(ir::Symbol s) {
  const ir::SymId id{static_cast<std::uint32_t>(procedure.symbols.size())};
  if (flavour == Flavour::procedure && is_reserved_in_c(s.name)) {
    report("E-L07", s.span,
           fmt::format("`{}` is a reserved name of C or CUDA and cannot be emitted; rename it", s.name));
  }
  scopes.declare(s.name, id);
  procedure.symbols.push_back(std::move(s));
  return id;
}

std::optional<ir::SymId> Context::resolve(const std::string& name, Span span) {
  if (const auto id = scopes.find(name)) return *id == poisoned_symbol ? std::nullopt : id;
  if (name == "_") {
    report("E-P67", span, "`_` stands for a hole in a pattern; patterns are not programs");
  } else {
    report(
        "E-N01", span,
        fmt::format("`{}` is not defined here{}", name, suggestion(name, [&] { return scopes.visible(); })));
  }
  return std::nullopt;
}

bool Context::is_open_name(std::string_view name) const {
  return std::find(open_names_.begin(), open_names_.end(), name) != open_names_.end();
}

ir::ExprPtr Context::make(Span span, ir::ExprType type, decltype(ir::Expr::node) node) {
  const ir::ExprId id{procedure.expression_count++};
  return std::make_shared<const ir::Expr>(ir::Expr{id, span, type, std::move(node)});
}

ir::ExprPtr Context::make_int(Span span, std::int64_t value) {
  return make(span, {ir::TypeKind::integer, std::nullopt, 0}, ir::IntConst{value});
}

ir::ExprPtr Context::copy(const ir::ExprPtr& e, Span span) { return copy_expr(*this, e, span); }

std::optional<MetaValue> Context::meta(const ast::Expr& e, std::string_view code) {
  MetaResult result = evaluate_meta(e, *constants_, procedure.source, code);
  if (auto* failure = std::get_if<semantics::Diagnostic>(&result)) {
    const std::string name(procedure.source->text(failure->location.span));
    if (failure->rule->code == "E-N03" && scopes.find(name)) {
      report(code, failure->location.span,
             fmt::format("`{}` is a variable, but a value known at compile time must stand here", name));
      return std::nullopt;
    }
    report(std::move(*failure));
    return std::nullopt;
  }
  return std::get<MetaValue>(std::move(result));
}

Context::Nesting::Nesting(Context& context, Span span)
    : context_(context), ok_(++context.depth_ <= max_depth) {
  if (!ok_) {
    context.report("L-02", span,
                   fmt::format("the program is nested more than {} levels deep here", max_depth));
  }
}

std::string describe(const ir::ExprType& type) {
  const auto of_precision = [&] {
    return type.precision ? fmt::format(" of precision {}", semantics::name(*type.precision)) : std::string();
  };
  switch (type.kind) {
    case ir::TypeKind::integer:
      return "an integer";
    case ir::TypeKind::size:
      return "a size";
    case ir::TypeKind::index:
      return "an index";
    case ir::TypeKind::boolean:
      return "a bool";
    case ir::TypeKind::stride:
      return "a stride";
    case ir::TypeKind::data:
      return type.precision ? "a data scalar" + of_precision() : "a data literal";
    case ir::TypeKind::tensor:
      return fmt::format("a whole tensor of rank {}{}", type.rank, of_precision());
    case ir::TypeKind::window:
      return fmt::format("a window of rank {}{}", type.rank, of_precision());
  }
  throw semantics::InternalError("unknown type kind");
}

std::string describe(const ir::Symbol& symbol) {
  const bool scalar = symbol.shape.empty();
  switch (symbol.kind) {
    case ir::SymbolKind::size:
      return "a size parameter";
    case ir::SymbolKind::index:
      return "an index parameter";
    case ir::SymbolKind::boolean:
      return "a bool parameter";
    case ir::SymbolKind::stride:
      return "a stride parameter";
    case ir::SymbolKind::iterator:
      return "a loop iterator";
    case ir::SymbolKind::data:
      return scalar ? fmt::format("a scalar of precision {}", semantics::name(symbol.precision))
                    : fmt::format("a tensor of rank {}", symbol.rank());
    case ir::SymbolKind::window:
      return fmt::format("a window of rank {}", symbol.rank());
    case ir::SymbolKind::barrier:
      return "a barrier";
  }
  throw semantics::InternalError("unknown symbol kind");
}

}  // namespace exocheck::frontend
