// Built-in names and functions of compile-time expressions (language.md 2.6, 2.7).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/meta_eval.hpp"
#include "semantics/errors.hpp"

namespace exocheck::frontend {

using semantics::CollUnit;
using semantics::MechanismKind;
using semantics::MechanismType;
using semantics::MemoryKind;
using semantics::MemoryType;
using semantics::SizeExpr;

namespace {

std::optional<semantics::Qual> find_qual(std::string_view name) {
  for (const semantics::QualRecord& r : semantics::all_quals()) {
    if (r.short_name == name || r.long_name == name) return r.qual;
  }
  return std::nullopt;
}

// Names that stand for a value without arguments.
std::optional<MetaValue> builtin(std::string_view name) {
  if (name == "inf") return MetaValue{std::numeric_limits<double>::infinity()};
  // The default precision (decisions.md I7).
  if (name == "R") return MetaValue{semantics::Precision::f32};
  if (name == "blockDim") return MetaValue{semantics::block_dim()};
  if (name == "clusterDim") return MetaValue{semantics::cluster_dim()};
  if (name == "same" || name == "required") return MetaValue{MetaWord{std::string(name)}};
  if (const auto p = semantics::find_precision(name)) return MetaValue{*p};
  if (auto u = semantics::find_unit(name)) return MetaValue{std::move(*u)};
  if (const auto t = semantics::find_sync_timeline(name)) return MetaValue{*t};
  if (const auto t = semantics::find_instr_timeline(name)) return MetaValue{*t};
  if (const auto q = find_qual(name)) return MetaValue{*q};
  return std::nullopt;
}

}  // namespace

std::optional<MetaValue> MetaEvaluator::name(const ast::Expr& e, const std::string& name) {
  if (const auto it = env_.find(name); it != env_.end()) return it->second;
  if (name == "_") return fail("E-P67", e.span, "'_' is a hole of a pattern, not a value");
  if (auto v = builtin(name)) return v;
  if (const auto kind = semantics::find_memory_kind(name)) return memory(e, *kind, {});
  if (const auto kind = semantics::find_mechanism_kind(name)) return mechanism(e, *kind, {});
  return fail("E-N03", e.span,
              fmt::format("'{}' is neither a constant of this file nor a name the checker knows", name));
}

std::optional<MetaValue> MetaEvaluator::call(const ast::Expr& e, const ast::CallExpr& c) {
  const auto* callee = std::get_if<ast::Name>(&c.callee->node);
  if (callee == nullptr) return fail(e, fmt::format("'{}' cannot be called", text(*c.callee)));
  const std::string& f = callee->text;
  if (const auto kind = semantics::find_memory_kind(f)) return memory(e, *kind, c.arguments);
  if (const auto kind = semantics::find_mechanism_kind(f)) return mechanism(e, *kind, c.arguments);
  if (f == "CollUnit") return custom_unit(e, c);
  if (f == "CudaWarpConfig") return warp_config(e, c);
  if (f == "bits") return bits_of(e, c.arguments);
  if (f == "minimal") return minimal(e, c.arguments);
  if (!semantics::is_parametrised_unit(f)) {
    return fail("E-N03", e.span,
                fmt::format("'{}' is not a memory, unit or function of compile-time values", f));
  }
  const auto values = items(c.arguments);
  if (!values) return std::nullopt;
  std::vector<std::int64_t> arguments;
  for (const MetaValue& v : *values) {
    const auto i = meta_int(v);
    if (!i) return fail(e, fmt::format("the arguments of {} must be integers, not {}", f, meta_kind(v)));
    arguments.push_back(*i);
  }
  auto unit = semantics::make_unit(f, arguments);
  if (!unit) {
    return fail(e,
                fmt::format("{} takes {}", f,
                            f == "cuda_threads_strided" ? "two positive integers" : "one positive integer"));
  }
  return MetaValue{std::move(*unit)};
}

std::optional<MetaValue> MetaEvaluator::memory(const ast::Expr& e, MemoryKind kind,
                                               const std::vector<ast::Argument>& arguments) {
  MemoryType type{kind, {}, {}};
  const bool has_layout = kind == MemoryKind::CudaTkWarpTile || kind == MemoryKind::CudaTkWarpVec;
  for (const ast::Argument& a : arguments) {
    if (a.keyword && *a.keyword != "layout") {
      return fail(e, fmt::format("{} has no template argument '{}'", semantics::kind_name(kind), *a.keyword));
    }
  }
  const auto values = items(arguments);
  if (!values) return std::nullopt;
  for (const MetaValue& v : *values) {
    if (const auto i = meta_int(v)) {
      type.arguments.push_back(*i);
    } else if (const auto* s = std::get_if<std::string>(&v.value);
               s != nullptr && has_layout && type.layout.empty()) {
      type.layout = *s;
    } else {
      return fail(e, fmt::format("the template arguments of {} must be integers, not {}",
                                 semantics::kind_name(kind), meta_kind(v)));
    }
  }
  if (kind == MemoryKind::CudaTkWarpTile && type.layout.empty()) type.layout = "row";
  if (const auto error = semantics::check_arguments(type)) return fail(error->code, e.span, error->message);
  return MetaValue{std::move(type)};
}

std::optional<MetaValue> MetaEvaluator::mechanism(const ast::Expr& e, MechanismKind kind,
                                                  const std::vector<ast::Argument>& arguments) {
  MechanismType type{kind, 0};
  const auto values = items(arguments);
  if (!values) return std::nullopt;
  if (kind != MechanismKind::CudaMbarrierPreArrive) {
    if (!values->empty()) return fail(e, fmt::format("{} takes no arguments", semantics::kind_name(kind)));
    return MetaValue{type};
  }
  const auto count = values->size() == 1 ? meta_int(values->front()) : std::nullopt;
  if (!count || *count <= 0)
    return fail(e, "CudaMbarrierPreArrive takes one positive integer: the arrivals it starts with");
  type.pre_arrive = *count;
  return MetaValue{type};
}

std::optional<SizeExpr> MetaEvaluator::size(const ast::Expr& e, const MetaValue& v) {
  if (const auto* s = std::get_if<SizeExpr>(&v.value)) return *s;
  if (const auto i = meta_int(v); i && *i > 0) return semantics::size_constant(*i);
  fail(e, fmt::format("'{}' is not a size: expected a positive integer, blockDim or clusterDim", text(e)));
  return std::nullopt;
}

// CollUnit(domain, box [, name [, scaled dimension]])
std::optional<MetaValue> MetaEvaluator::custom_unit(const ast::Expr& e, const ast::CallExpr& c) {
  const auto values = items(c.arguments);
  if (!values) return std::nullopt;
  const bool keywords =
      std::any_of(c.arguments.begin(), c.arguments.end(), [](const auto& a) { return a.keyword; });
  if (keywords || values->size() < 2 || values->size() > 4) {
    return fail(
        e,
        "CollUnit takes a domain, a box, and optionally a name and the number of the dimension that scales");
  }
  const auto list = [](const MetaValue& v) -> const std::vector<MetaValue>* {
    if (const auto* t = std::get_if<MetaTuple>(&v.value)) return &t->items;
    if (const auto* l = std::get_if<MetaList>(&v.value)) return &l->items;
    return nullptr;
  };
  const auto* domain = list((*values)[0]);
  const auto* box = list((*values)[1]);
  if (domain == nullptr || box == nullptr || domain->empty() || domain->size() != box->size()) {
    return fail(
        e,
        "the domain and the box of a CollUnit must be tuples of the same length, with at least one element");
  }
  CollUnit unit;
  for (const MetaValue& v : *domain) {
    const auto s = size(e, v);
    if (!s) return std::nullopt;
    unit.domain.push_back(*s);
  }
  for (const MetaValue& v : *box) {
    if (std::holds_alternative<MetaNone>(v.value)) {
      unit.box.emplace_back();
      continue;
    }
    const auto s = size(e, v);
    if (!s) return std::nullopt;
    unit.box.emplace_back(*s);
  }
  unit.name = text(e);
  for (std::size_t i = 2; i < values->size(); ++i) {
    const MetaValue& v = (*values)[i];
    const auto position = meta_int(v);
    if (const auto* n = std::get_if<std::string>(&v.value); n != nullptr && i == 2) {
      unit.name = *n;
    } else if (position && *position >= 0 && *position < static_cast<std::int64_t>(box->size()) &&
               unit.box[static_cast<std::size_t>(*position)]) {
      unit.scaled_dim = static_cast<int>(*position);
    } else if (!std::holds_alternative<MetaNone>(v.value)) {
      return fail(e, fmt::format("the dimension that scales must be one of the box's, not {}", meta_text(v)));
    }
  }
  return MetaValue{std::move(unit)};
}

std::optional<MetaValue> MetaEvaluator::warp_config(const ast::Expr& e, const ast::CallExpr& c) {
  constexpr std::string_view names[] = {"name", "count", "setmaxnreg_dec", "setmaxnreg_inc"};
  constexpr std::size_t count = std::size(names);
  std::optional<MetaValue> fields[count];
  std::size_t next = 0;
  for (const ast::Argument& a : c.arguments) {
    std::size_t slot = next;
    if (a.keyword) {
      slot = static_cast<std::size_t>(std::find(std::begin(names), std::end(names), *a.keyword) -
                                      std::begin(names));
      if (slot == count) return fail(e, fmt::format("CudaWarpConfig has no argument '{}'", *a.keyword));
    } else {
      ++next;
    }
    if (a.star || slot >= count)
      return fail(e, "CudaWarpConfig takes a name, a count, setmaxnreg_dec and setmaxnreg_inc");
    if (fields[slot]) return fail(e, fmt::format("CudaWarpConfig: '{}' is given twice", names[slot]));
    fields[slot] = evaluate(*a.value);
    if (!fields[slot]) return std::nullopt;
  }
  if (!fields[0] || !fields[1]) return fail(e, "CudaWarpConfig needs a name and a number of warps");
  MetaWarpConfig config{{}, e.span};
  for (auto& f : fields) config.fields.push_back(f ? std::move(*f) : MetaValue{MetaNone{}});
  return MetaValue{std::move(config)};
}

std::optional<MetaValue> MetaEvaluator::bits_of(const ast::Expr& e,
                                                const std::vector<ast::Argument>& arguments) {
  const auto values = items(arguments);
  if (!values) return std::nullopt;
  const auto* p = values->size() == 1 ? std::get_if<semantics::Precision>(&values->front().value) : nullptr;
  if (p == nullptr)
    return fail(e, "bits(p) takes one precision, or a parameter whose precision is a template argument");
  return MetaValue{static_cast<std::int64_t>(semantics::bits(*p))};
}

// The tuple without its ones: shapes that differ only by extents of 1 have the same.
std::optional<MetaValue> MetaEvaluator::minimal(const ast::Expr& e,
                                                const std::vector<ast::Argument>& arguments) {
  auto values = items(arguments);
  if (!values) return std::nullopt;
  MetaTuple tuple;
  if (values->size() == 1) {
    if (auto* t = std::get_if<MetaTuple>(&values->front().value))
      tuple = std::move(*t);
    else if (auto* l = std::get_if<MetaList>(&values->front().value))
      tuple.items = std::move(l->items);
    else
      return fail(e, fmt::format("'{}' must be a tuple, not {}", text(*arguments[0].value),
                                 meta_kind(values->front())));
  } else {
    return fail(e, "minimal(t) takes one tuple");
  }
  std::erase_if(tuple.items, [](const MetaValue& v) { return meta_int(v) == 1; });
  return MetaValue{std::move(tuple)};
}

}  // namespace exocheck::frontend
