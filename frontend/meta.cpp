#include "frontend/meta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/meta_eval.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {

using semantics::CollUnit;
using semantics::SizeExpr;
using semantics::ir::checked_add;
using semantics::ir::checked_mul;
using semantics::ir::checked_sub;
using semantics::ir::overloaded;

namespace {

constexpr std::size_t longest_quote = 60;

const std::vector<MetaValue>* sequence(const MetaValue& v) {
  if (const auto* t = std::get_if<MetaTuple>(&v.value)) return &t->items;
  if (const auto* l = std::get_if<MetaList>(&v.value)) return &l->items;
  if (const auto* s = std::get_if<MetaSet>(&v.value)) return &s->items;
  return nullptr;
}

}  // namespace

// ----------------------------------------------------------------------------------------------------
// evaluator

std::nullopt_t MetaEvaluator::fail(std::string_view code, ast::Span where, std::string message) {
  if (!error_) error_ = semantics::make_diagnostic(code, {source_, where}, std::move(message));
  return std::nullopt;
}

std::nullopt_t MetaEvaluator::fail(const ast::Expr& e, std::string message) {
  return fail(code_, e.span, std::move(message));
}

std::string MetaEvaluator::text(const ast::Expr& e) const {
  std::string out(source_->text(e.span));
  for (char& c : out) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  if (out.size() > longest_quote) out = out.substr(0, longest_quote) + "...";
  return out;
}

std::optional<MetaValue> MetaEvaluator::evaluate(const ast::Expr& e) {
  return std::visit(
      overloaded{
          [&](const ast::Int& x) { return integer(e, x); },
          [&](const ast::Float& x) { return std::optional(MetaValue{x.value}); },
          [&](const ast::String& x) { return std::optional(MetaValue{x.value}); },
          [&](const ast::Bool& x) { return std::optional(MetaValue{x.value}); },
          [&](const ast::None&) { return std::optional(MetaValue{MetaNone{}}); },
          [&](const ast::Name& x) { return name(e, x.text); },
          [&](const ast::Attribute&) -> std::optional<MetaValue> {
            return fail(e, fmt::format("'{}' is not a compile-time value", text(e)));
          },
          [&](const ast::CallExpr& x) { return call(e, x); },
          [&](const ast::Subscript& x) { return subscript(e, x); },
          [&](const ast::Unary& x) { return unary(e, x); },
          [&](const ast::Binary& x) { return binary(e, x); },
          [&](const ast::Compare& x) { return compare(e, x); },
          [&](const ast::Conditional& x) { return conditional(x); },
          [&](const ast::Tuple& x) -> std::optional<MetaValue> {
            auto values = items(x.items);
            if (!values) return std::nullopt;
            return MetaValue{MetaTuple{std::move(*values)}};
          },
          [&](const ast::List& x) -> std::optional<MetaValue> {
            MetaList list;
            for (const ast::ExprPtr& item : x.items) {
              auto v = evaluate(*item);
              if (!v) return std::nullopt;
              list.items.push_back(std::move(*v));
            }
            return MetaValue{std::move(list)};
          },
          [&](const ast::Dict& x) { return braces(e, x); },
          [&](const ast::Unparsed& x) -> std::optional<MetaValue> {
            return fail(
                "E-P69", e.span,
                fmt::format("'{}' is the print of a Python object; define the value in the file", x.text));
          },
      },
      e.node);
}

std::optional<MetaValue> MetaEvaluator::integer(const ast::Expr& e, const ast::Int& i) {
  if (i.too_big) return fail("L-03", e.span, fmt::format("the integer {} does not fit 64 bits", text(e)));
  return MetaValue{i.value};
}

std::optional<MetaValue> MetaEvaluator::unary(const ast::Expr& e, const ast::Unary& u) {
  const auto v = evaluate(*u.operand);
  if (!v) return std::nullopt;
  if (u.op == "not") {
    if (const bool* b = std::get_if<bool>(&v->value)) return MetaValue{!*b};
    return fail(*u.operand, fmt::format("'not' needs True or False, not {}", meta_kind(*v)));
  }
  if (u.op == "-") {
    if (const auto i = meta_int(*v)) return MetaValue{checked_sub(0, *i)};
    if (const double* d = std::get_if<double>(&v->value)) return MetaValue{-*d};
  }
  // ~k is the bitwise complement.
  if (u.op == "~") {
    if (const auto i = meta_int(*v)) return MetaValue{~*i};
  }
  return fail(e, fmt::format("'{}' cannot be applied to {}", u.op, meta_kind(*v)));
}

std::optional<bool> MetaEvaluator::boolean(const ast::Expr& e) {
  const auto v = evaluate(e);
  if (!v) return std::nullopt;
  if (const bool* b = std::get_if<bool>(&v->value)) return *b;
  fail(e, fmt::format("expected True or False, not {}", meta_kind(*v)));
  return std::nullopt;
}

std::optional<MetaValue> MetaEvaluator::logical(const ast::Binary& b) {
  const auto left = boolean(*b.left);
  if (!left) return std::nullopt;
  if (*left == (b.op == "or")) return MetaValue{*left};
  const auto right = boolean(*b.right);
  if (!right) return std::nullopt;
  return MetaValue{*right};
}

std::optional<MetaValue> MetaEvaluator::arithmetic(const ast::Expr& e, const std::string& op, std::int64_t a,
                                                   std::int64_t b) {
  if (op == "+") return MetaValue{checked_add(a, b)};
  if (op == "-") return MetaValue{checked_sub(a, b)};
  if (op == "*") return MetaValue{checked_mul(a, b)};
  if (b <= 0) return fail(e, fmt::format("the divisor in '{}' must be positive, not {}", text(e), b));
  if (op == "%") return MetaValue{semantics::ir::floor_mod(a, b)};
  if (a % b != 0) return fail(e, fmt::format("'{}' is not an integer: {} / {}", text(e), a, b));
  return MetaValue{a / b};
}

std::optional<MetaValue> MetaEvaluator::multiply_size(const ast::Expr& e, const SizeExpr& a,
                                                      const MetaValue& b) {
  constexpr int max_power = 8;
  const auto factor = size(e, b);
  if (!factor) return std::nullopt;
  if (a.cluster_power + factor->cluster_power > max_power ||
      a.block_power + factor->block_power > max_power) {
    return fail(e, fmt::format("'{}' multiplies too many block and cluster sizes", text(e)));
  }
  checked_mul(a.numerator, factor->numerator);
  checked_mul(a.denominator, factor->denominator);
  return MetaValue{a * *factor};
}

std::optional<MetaValue> MetaEvaluator::scaled_unit(const ast::Expr& e, const MetaValue& factor,
                                                    const CollUnit& unit) {
  const auto k = meta_int(factor);
  if (!k) {
    return fail("E-H07", e.span,
                fmt::format("the unit {} is scaled by {}, but the factor must be a positive integer",
                            unit.text(), meta_text(factor)));
  }
  semantics::ScaleResult scaled = semantics::scale(*k, unit);
  switch (scaled.error) {
    case semantics::ScaleError::none:
      return MetaValue{std::move(scaled.unit)};
    case semantics::ScaleError::bad_scale:
      return fail("E-H07", e.span,
                  *k > 0
                      ? fmt::format("{} * {} is too large a unit", *k, unit.text())
                      : fmt::format("the unit {} is scaled by {}, but the factor must be a positive integer",
                                    unit.text(), *k));
    case semantics::ScaleError::not_scalable:
      return fail("E-H08", e.span, fmt::format("the unit {} cannot be scaled", unit.text()));
  }
  throw semantics::InternalError("unknown scaling error");
}

std::optional<MetaValue> MetaEvaluator::binary(const ast::Expr& e, const ast::Binary& b) {
  if (b.op == "and" || b.op == "or") return logical(b);
  const auto left = evaluate(*b.left);
  if (!left) return std::nullopt;
  const auto right = evaluate(*b.right);
  if (!right) return std::nullopt;
  if (b.op != "+" && b.op != "-" && b.op != "*" && b.op != "/" && b.op != "%") {
    return fail(e, fmt::format("the operator '{}' does not exist for compile-time values{}", b.op,
                               b.op == "//" ? "; write '/', which must be exact" : ""));
  }
  const auto x = meta_int(*left);
  const auto y = meta_int(*right);
  if (x && y) return arithmetic(e, b.op, *x, *y);
  if (b.op == "*") {
    if (const auto* unit = std::get_if<CollUnit>(&left->value)) return scaled_unit(e, *right, *unit);
    if (const auto* unit = std::get_if<CollUnit>(&right->value)) return scaled_unit(e, *left, *unit);
    if (const auto* s = std::get_if<SizeExpr>(&left->value)) return multiply_size(e, *s, *right);
    if (const auto* s = std::get_if<SizeExpr>(&right->value)) return multiply_size(e, *s, *left);
  }
  if (const auto* s = std::get_if<SizeExpr>(&left->value); s != nullptr && b.op == "/" && y && *y > 0) {
    checked_mul(s->denominator, *y);
    return MetaValue{*s / *y};
  }
  return fail(e, fmt::format("'{}' cannot combine {} and {}", b.op, meta_kind(*left), meta_kind(*right)));
}

std::optional<bool> MetaEvaluator::compare_once(const ast::Expr& e, const std::string& op, const MetaValue& a,
                                                const MetaValue& b) {
  if (op == "==") return a == b;
  if (op == "!=") return !(a == b);
  if (op == "in" || op == "not in") {
    if (const auto* s = sequence(b)) return (std::find(s->begin(), s->end(), a) != s->end()) == (op == "in");
  }
  const auto x = meta_int(a);
  const auto y = meta_int(b);
  if (x && y) {
    if (op == "<") return *x < *y;
    if (op == "<=") return *x <= *y;
    if (op == ">") return *x > *y;
    if (op == ">=") return *x >= *y;
  }
  fail(e, fmt::format("'{}' cannot compare {} and {}", op, meta_kind(a), meta_kind(b)));
  return std::nullopt;
}

std::optional<MetaValue> MetaEvaluator::compare(const ast::Expr& e, const ast::Compare& c) {
  auto left = evaluate(*c.first);
  if (!left) return std::nullopt;
  for (const auto& [op, operand] : c.rest) {
    auto right = evaluate(*operand);
    if (!right) return std::nullopt;
    const auto holds = compare_once(e, op, *left, *right);
    if (!holds) return std::nullopt;
    if (!*holds) return MetaValue{false};
    left = std::move(right);
  }
  return MetaValue{true};
}

std::optional<MetaValue> MetaEvaluator::conditional(const ast::Conditional& c) {
  const auto condition = boolean(*c.condition);
  if (!condition) return std::nullopt;
  return evaluate(*condition ? *c.value : *c.otherwise);
}

std::optional<MetaValue> MetaEvaluator::subscript(const ast::Expr& e, const ast::Subscript& s) {
  const auto base = evaluate(*s.base);
  if (!base) return std::nullopt;
  const auto* values = sequence(*base);
  if (values == nullptr || std::holds_alternative<MetaSet>(base->value)) {
    return fail(*s.base, fmt::format("only tuples and lists have elements, not {}", meta_kind(*base)));
  }
  if (s.items.size() != 1 || s.items[0].slice) return fail(e, "an element is selected by one integer");
  const auto position = evaluate(*s.items[0].lo);
  if (!position) return std::nullopt;
  const auto i = meta_int(*position);
  if (!i)
    return fail(*s.items[0].lo,
                fmt::format("an element is selected by an integer, not {}", meta_kind(*position)));
  const auto count = static_cast<std::int64_t>(values->size());
  if (*i < -count || *i >= count) {
    return fail(e, fmt::format("there is no element {} among {}", *i, count));
  }
  return (*values)[static_cast<std::size_t>(*i < 0 ? *i + count : *i)];
}

std::optional<MetaValue> MetaEvaluator::braces(const ast::Expr& e, const ast::Dict& d) {
  MetaDict dict;
  MetaSet set;
  for (const auto& [key, value] : d.items) {
    if (!value) {
      auto item = evaluate(*key);
      if (!item) return std::nullopt;
      set.items.push_back(std::move(*item));
      continue;
    }
    std::string word;
    if (const auto* n = std::get_if<ast::Name>(&key->node))
      word = n->text;
    else if (const auto* s = std::get_if<ast::String>(&key->node))
      word = s->value;
    else
      return fail(*key, fmt::format("the key '{}' must be a name", text(*key)));
    if (std::any_of(dict.items.begin(), dict.items.end(),
                    [&word](const auto& i) { return i.first == word; })) {
      return fail(*key, fmt::format("the key '{}' occurs twice", word));
    }
    auto item = evaluate(*value);
    if (!item) return std::nullopt;
    dict.items.emplace_back(std::move(word), std::move(*item));
  }
  if (set.items.empty()) return MetaValue{std::move(dict)};
  if (!dict.items.empty()) return fail(e, "braces hold either values or 'name: value' pairs, not both");
  return MetaValue{std::move(set)};
}

std::optional<std::vector<MetaValue>> MetaEvaluator::items(const std::vector<ast::Argument>& arguments) {
  std::vector<MetaValue> out;
  for (const ast::Argument& a : arguments) {
    auto v = evaluate(*a.value);
    if (!v) return std::nullopt;
    if (!a.star) {
      out.push_back(std::move(*v));
      continue;
    }
    const auto* values = sequence(*v);
    if (values == nullptr) {
      fail(*a.value, fmt::format("only a tuple or list can be spread with '*', not {}", meta_kind(*v)));
      return std::nullopt;
    }
    out.insert(out.end(), values->begin(), values->end());
  }
  return out;
}

MetaResult evaluate_meta(const ast::Expr& e, const MetaEnvironment& env, const semantics::SourcePtr& source,
                         std::string_view code) {
  MetaEvaluator evaluator(env, source, code);
  try {
    if (auto value = evaluator.evaluate(e)) return std::move(*value);
    return evaluator.error();
  } catch (const semantics::OverflowError& error) {
    return semantics::make_diagnostic("L-03", {source, e.span}, error.what());
  }
}

// ---------------------------------------------------------------------------------------------------- values

bool operator==(const MetaTuple& a, const MetaTuple& b) { return a.items == b.items; }
bool operator==(const MetaList& a, const MetaList& b) { return a.items == b.items; }
bool operator==(const MetaSet& a, const MetaSet& b) { return a.items == b.items; }
bool operator==(const MetaDict& a, const MetaDict& b) { return a.items == b.items; }
bool operator==(const MetaWarpConfig& a, const MetaWarpConfig& b) { return a.fields == b.fields; }

std::optional<std::vector<std::string>> name_list(const ast::Expr& e) {
  std::vector<std::string> out;
  const auto add = [&out](const ast::ExprPtr& item) {
    const auto* n = item ? std::get_if<ast::Name>(&item->node) : nullptr;
    if (n != nullptr) out.push_back(n->text);
    return n != nullptr;
  };
  const bool ok =
      std::visit(overloaded{
                     [&](const ast::List& x) { return std::all_of(x.items.begin(), x.items.end(), add); },
                     [&](const ast::Tuple& x) {
                       return std::all_of(x.items.begin(), x.items.end(),
                                          [&add](const ast::Argument& a) { return !a.star && add(a.value); });
                     },
                     [&](const ast::Dict& x) {
                       return std::all_of(x.items.begin(), x.items.end(),
                                          [&add](const auto& i) { return !i.second && add(i.first); });
                     },
                     [](const auto&) { return false; },
                 },
                 e.node);
  if (!ok) return std::nullopt;
  return out;
}

}  // namespace exocheck::frontend
