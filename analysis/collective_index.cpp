#include "analysis/collective_index.hpp"

#include <fmt/format.h>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

using semantics::ir::floor_div;
using semantics::ir::floor_mod;

std::int64_t apply(IndexOp op, std::int64_t value, std::int64_t operand) {
  switch (op) {
    case IndexOp::minus:
      return value - operand;
    case IndexOp::divide:
      return floor_div(value, operand);
    case IndexOp::modulo:
      return floor_mod(value, operand);
  }
  throw semantics::InternalError("unknown index operator");
}

bool constant(const IndexExpr& e) { return e.base == IndexBase::constant; }

}  // namespace

std::string IndexExpr::text() const {
  std::string out;
  switch (base) {
    case IndexBase::constant:
      out = std::to_string(value);
      break;
    case IndexBase::thread:
      out = "threadIdx.x";
      break;
    case IndexBase::rank:
      out = "cluster_ctarank";
      break;
  }
  bool sum = false;
  for (const auto& [op, operand] : ops) {
    if (op == IndexOp::minus) {
      out = operand < 0 ? fmt::format("{} + {}", out, -operand) : fmt::format("{} - {}", out, operand);
      sum = true;
      continue;
    }
    if (sum) out = "(" + out + ")";
    sum = false;
    out = fmt::format("{} {} {}", out, op == IndexOp::divide ? '/' : '%', operand);
  }
  return out;
}

std::int64_t IndexExpr::evaluate(std::int64_t thread, std::int64_t rank) const {
  std::int64_t v = constant(*this) ? value : base == IndexBase::thread ? thread : rank;
  for (const auto& [op, operand] : ops) v = apply(op, v, operand);
  return v;
}

IndexExpr index_base(IndexBase base, std::int64_t extent) {
  return {base, 0, std::pair{std::int64_t{0}, extent}, {}};
}

IndexExpr index_minus(IndexExpr e, std::int64_t v) {
  if (v == 0) return e;
  if (constant(e)) {
    e.value -= v;
    e.range = std::pair{e.value, e.value + 1};
    return e;
  }
  if (e.range) e.range = std::pair{e.range->first - v, e.range->second - v};
  if (!e.ops.empty() && e.ops.back().first == IndexOp::minus) {
    e.ops.back().second += v;
    if (e.ops.back().second == 0) e.ops.pop_back();
  } else {
    e.ops.emplace_back(IndexOp::minus, v);
  }
  return e;
}

IndexExpr index_divide(IndexExpr e, std::int64_t v) {
  if (v == 1) return e;
  if (constant(e)) {
    e.value = floor_div(e.value, v);
    e.range = std::pair{e.value, e.value + 1};
    return e;
  }
  if (e.range) e.range = std::pair{floor_div(e.range->first, v), -floor_div(-e.range->second, v)};
  if (!e.ops.empty() && e.ops.back().first == IndexOp::divide) {
    e.ops.back().second *= v;
  } else {
    e.ops.emplace_back(IndexOp::divide, v);
  }
  return e;
}

IndexExpr index_modulo(IndexExpr e, std::int64_t v) {
  if (v == 1) return {IndexBase::constant, 0, std::pair{std::int64_t{0}, std::int64_t{1}}, {}};
  if (constant(e)) {
    e.value = floor_mod(e.value, v);
    e.range = std::pair{e.value, e.value + 1};
    return e;
  }
  if (e.range && e.range->first >= 0 && e.range->second <= v) return e;
  while (!e.ops.empty() && e.ops.back().first != IndexOp::divide && e.ops.back().second % v == 0)
    e.ops.pop_back();
  e.ops.emplace_back(IndexOp::modulo, v);
  e.range = std::pair{std::int64_t{0}, v};
  return e;
}

}  // namespace exocheck::analysis
