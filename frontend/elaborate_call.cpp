#include "frontend/elaborate_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_access.hpp"
#include "frontend/elaborate_expr.hpp"
#include "frontend/elaborate_literal.hpp"
#include "frontend/instr_definition.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using ir::ExprPtr;
using ir::SymbolKind;
using ir::TypeKind;

// The actual arguments as written; nullptr where one has an error.
struct Actuals {
  std::vector<const ast::Expr*> text;
  std::vector<ExprPtr> values;
  std::vector<const ast::Argument*> keywords;
  bool ok = true;
  bool spliced = false;  // the number of arguments is unknown
};

Actuals actuals(Context& cx, const ast::CallExpr& call) {
  Actuals out;
  for (const ast::Argument& a : call.arguments) {
    if (a.keyword) {
      out.keywords.push_back(&a);
    } else if (a.star) {
      cx.report("E-C02", a.span, "an argument list is not spliced with `*`; write the arguments");
      out.ok = false;
      out.spliced = true;
    } else {
      out.text.push_back(a.value.get());
      out.values.push_back(value(cx, *a.value));
      out.ok = out.ok && out.values.back();
    }
  }
  return out;
}

// ---------------------------------------------------------------- one argument

// The place of an argument, for messages.
struct ArgumentPlace {
  std::string callee;
  std::size_t position = 0;  // from 0
  std::string formal;
  std::string text() const { return fmt::format("argument {} (`{}`) of {}", position + 1, formal, callee); }
};

ExprPtr control_argument(Context& cx, const ir::Symbol& formal, const ExprPtr& actual, const ast::Expr& text,
                         const ArgumentPlace& place) {
  const auto refuse = [&](std::string_view code, std::string_view expected) {
    cx.report(code, text.span,
              fmt::format("{} is {}, but `{}` is {}", place.text(), expected, cx.text(text),
                          describe(actual->type)));
    return nullptr;
  };
  switch (formal.kind) {
    case SymbolKind::size:
    case SymbolKind::index:
    case SymbolKind::iterator:
      if (!indexable(actual->type)) return refuse("E-C03", "an integer control expression");
      return fold(cx, actual);
    case SymbolKind::boolean:
      if (actual->type.kind != TypeKind::boolean) return refuse("E-C04", "a bool");
      return fold(cx, actual);
    case SymbolKind::stride:
      if (!indexable(actual->type) && actual->type.kind != TypeKind::stride)
        return refuse("E-C05", "a stride");
      return fold(cx, actual);
    case SymbolKind::data:
    case SymbolKind::window:
    case SymbolKind::barrier:
      break;
  }
  throw semantics::InternalError("not a control parameter");
}

bool is_window_value(const Context& cx, const ir::Read& read) {
  return !read.index.empty() || cx.symbol(read.var).kind == SymbolKind::window;
}

ExprPtr data_argument(Context& cx, const ir::Procedure& callee, const ir::Symbol& formal,
                      const ExprPtr& actual, const ast::Expr& text, const ArgumentPlace& place) {
  const auto refuse = [&](std::string_view code, std::string message) -> ExprPtr {
    auto& d = cx.report(code, text.span, std::move(message));
    d.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", formal.name),
                         callee.location(formal.span)});
    return nullptr;
  };
  if (actual->type.control()) {
    return refuse("E-C06", fmt::format("{} is {}, but `{}` is {}", place.text(), describe(formal),
                                       cx.text(text), describe(actual->type)));
  }
  if (actual->type.rank != formal.rank()) {
    return refuse("E-C07", fmt::format("{} has rank {}, but `{}` has rank {}", place.text(), formal.rank(),
                                       cx.text(text), actual->type.rank));
  }
  const auto* read = std::get_if<ir::Read>(&actual->node);
  const bool config = std::holds_alternative<ir::ConfigRead>(actual->node);
  if (formal.shape.empty() && !config && (!read || !read->index.empty())) {
    return refuse("E-C08",
                  fmt::format("{} is a scalar passed by reference: pass the name of a scalar variable, not "
                              "`{}`",
                              place.text(), cx.text(text)));
  }
  semantics::ensure(config || read != nullptr, "a tensor argument is a read");
  if (formal.kind == SymbolKind::data && !formal.shape.empty() && is_window_value(cx, *read)) {
    return refuse("E-C09",
                  fmt::format("{} is a dense tensor, but `{}` is a window; pass a whole tensor, or declare "
                              "the parameter as a window",
                              place.text(), cx.text(text)));
  }
  if (actual->type.precision != formal.precision) {
    return refuse("E-F03",
                  fmt::format("{} has precision {}, but `{}` has {}", place.text(),
                              semantics::name(formal.precision), cx.text(text),
                              actual->type.precision ? semantics::name(*actual->type.precision) : "none"));
  }
  return actual;
}

// Checks the actual arguments against the formal ones. nullopt after an error.
std::optional<std::vector<ExprPtr>> match(Context& cx, const ir::Procedure& callee, const std::string& name,
                                          const Actuals& given) {
  std::vector<ExprPtr> out;
  bool ok = given.ok;
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    if (!given.values[i]) continue;
    const ir::Symbol& formal = callee.symbol(callee.parameters[i]);
    const ArgumentPlace place{name, i, formal.name};
    const ExprPtr checked = formal.control()
                                ? control_argument(cx, formal, given.values[i], *given.text[i], place)
                                : data_argument(cx, callee, formal, given.values[i], *given.text[i], place);
    ok = ok && checked;
    out.push_back(checked);
  }
  if (!ok) return std::nullopt;
  return out;
}

bool check_count(Context& cx, const ast::Expr& e, const std::string& name, std::size_t expected,
                 std::size_t got, std::string_view hint) {
  if (expected == got) return true;
  cx.report(
      "E-C02", e.span,
      fmt::format("{} takes {} argument{}, got {}{}", name, expected, expected == 1 ? "" : "s", got, hint));
  return false;
}

// ----------------------------------------------------------------------- template values

std::optional<MetaValue> template_value(Context& cx, const InstrDefinition& d, const ast::Argument& a) {
  const std::string& name = *a.keyword;
  const auto* variable = std::get_if<ast::Name>(&a.value->node);
  if (variable && cx.scopes.find(variable->text)) {
    cx.report("E-C12", a.span,
              fmt::format("`{}` of {} must be known at compile time, but `{}` is a variable", name, d.name,
                          variable->text));
    return std::nullopt;
  }
  auto v = cx.meta(*a.value, "E-C12");
  if (!v) return std::nullopt;
  const auto listed = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool precision_wanted = listed(d.precisions);
  const bool fits = precision_wanted      ? std::holds_alternative<semantics::Precision>(v->value)
                    : listed(d.templates) ? meta_int(*v).has_value()
                                          : true;
  if (fits) return v;
  cx.report("E-C12", a.span,
            fmt::format("`{}` of {} must be {}, not {}", name, d.name,
                        precision_wanted ? "a precision" : "an integer", meta_kind(*v)));
  return std::nullopt;
}

// In the definition's order. nullopt after E-C10, E-C11, E-C12.
std::optional<TemplateValues> template_values(Context& cx, const ast::Expr& e, const InstrDefinition& d,
                                              const std::vector<const ast::Argument*>& given) {
  const std::vector<std::string> known = d.keywords();
  std::map<std::string, MetaValue> values;
  std::vector<std::string> seen;
  bool ok = true;
  for (const ast::Argument* a : given) {
    const std::string& name = *a->keyword;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const bool runtime = std::find(d.runtime.begin(), d.runtime.end(), name) != d.runtime.end();
      cx.report("E-C11", a->span,
                runtime ? fmt::format("`{}` of {} is passed by position", name, d.name)
                        : fmt::format("{} has no template parameter `{}`{}", d.name, name,
                                      suggestion_text(name, known)));
      ok = false;
      continue;
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      cx.report("E-C11", a->span, fmt::format("`{}` is given twice", name));
      ok = false;
      continue;
    }
    seen.push_back(name);
    auto v = template_value(cx, d, *a);
    ok = ok && v;
    if (v) values.emplace(name, std::move(*v));
  }
  TemplateValues out;
  std::vector<std::string> missing;
  for (const std::string& name : known) {
    const auto extra =
        std::find_if(d.extras.begin(), d.extras.end(), [&](const auto& x) { return x.name == name; });
    const bool has_default = extra != d.extras.end() && extra->default_value;
    const auto v = values.find(name);
    if (v != values.end())
      out.emplace_back(name, std::move(v->second));
    else if (!has_default && std::find(seen.begin(), seen.end(), name) == seen.end())
      missing.push_back(name);
  }
  for (const std::string& name : missing) {
    cx.report("E-C10", e.span, fmt::format("the call of {} lacks the template value `{}=...`", d.name, name));
    ok = false;
  }
  if (!ok) return std::nullopt;
  return out;
}

// ----------------------------------------------------------------------- the two callees

std::optional<ir::Call> procedure_call(Context& cx, const ast::Expr& e, const std::string& name,
                                       std::size_t procedure, const Actuals& given) {
  cx.calls.emplace_back(procedure, e.span);
  for (const ast::Argument* a : given.keywords) {
    cx.report("E-P72", a->span, fmt::format("{} is a procedure and takes no keyword arguments", name));
  }
  const ir::Procedure* callee = cx.file.signature(procedure);
  if (!callee || !given.keywords.empty() || given.spliced) return std::nullopt;
  if (!check_count(cx, e, name, callee->parameters.size(), given.values.size(), "")) return std::nullopt;
  auto arguments = match(cx, *callee, name, given);
  if (!arguments) return std::nullopt;
  ir::Call call;
  call.procedure = procedure;
  call.arguments = std::move(*arguments);
  return call;
}

std::optional<ir::Call> instr_call(Context& cx, const ast::Expr& e, const InstrDefinition& d,
                                   const Actuals& given) {
  if (d.faulty) {
    cx.blocked = true;
    return std::nullopt;
  }
  const std::string_view hint = given.values.size() > d.runtime.size() && !d.keywords().empty()
                                    ? "; template values are passed by keyword"
                                    : "";
  const bool count_ok =
      !given.spliced && check_count(cx, e, d.name, d.runtime.size(), given.values.size(), hint);
  const auto values = template_values(cx, e, d, given.keywords);
  if (!count_ok || !values) return std::nullopt;
  const InstanceResult instance = cx.file.instance(d, *values);
  if (!instance.instr) {
    auto& diagnostic =
        cx.report(d.library ? "E-C13" : "E-I10", e.span,
                  fmt::format("{} does not support these template values: {}", d.name, instance.failure));
    diagnostic.related = instance.related;
    return std::nullopt;
  }
  auto arguments = match(cx, instance.instr->behaviour, d.name, given);
  if (!arguments) return std::nullopt;
  ir::Call call;
  call.instr = instance.instr;
  call.arguments = std::move(*arguments);
  return call;
}

}  // namespace

std::optional<ir::Call> call_statement(Context& cx, const ast::Expr& e, const ast::CallExpr& call,
                                       const std::string& callee,
                                       const std::vector<const ast::Expr*>& trailing) {
  const auto procedure = cx.file.find_procedure(callee);
  const InstrDefinition* instr = procedure ? nullptr : cx.file.find_instr(callee);
  const Actuals given = actuals(cx, call);
  std::optional<ir::Call> out;
  if (procedure) {
    out = procedure_call(cx, e, callee, *procedure, given);
  } else if (instr) {
    out = instr_call(cx, e, *instr, given);
  } else if (cx.file.is_unparsed(callee)) {
    cx.blocked = true;
  } else {
    cx.report("E-N02", call.callee->span,
              fmt::format("`{}` is neither a procedure nor an instruction{}", callee,
                          cx.suggestion(callee, [&] { return cx.file.callable_names(); })));
  }
  if (trailing.size() > 1) {
    cx.report("E-P43", trailing[1]->span,
              fmt::format("a call of {} takes at most one trailing barrier", callee));
    return std::nullopt;
  }
  if (trailing.size() == 1) {
    auto barrier = barrier_expr(cx, *trailing[0], false);
    if (!barrier) return std::nullopt;
    if (out) out->trailing = std::move(*barrier);
  }
  return out;
}

}  // namespace exocheck::frontend
