#include <cmath>
#include <limits>

#include "semantics/errors.hpp"
#include "semantics/interpreter_run.hpp"
#include "semantics/numeric.hpp"

namespace exocheck::semantics {

using namespace ir;

namespace {

Arithmetic arithmetic(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return Arithmetic::add;
    case BinaryOp::sub:
      return Arithmetic::sub;
    case BinaryOp::mul:
      return Arithmetic::mul;
    case BinaryOp::div:
      return Arithmetic::div;
    case BinaryOp::mod:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  throw InternalError("an operator that data does not have");
}

std::int64_t combine(BinaryOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case BinaryOp::add:
      return checked_add(a, b);
    case BinaryOp::sub:
      return checked_sub(a, b);
    case BinaryOp::mul:
      return checked_mul(a, b);
    case BinaryOp::div:
      return floor_div(a, b);
    case BinaryOp::mod:
      return floor_mod(a, b);
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::gt:
      return a > b;
    case BinaryOp::ge:
      return a >= b;
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::logical_and:
      return a != 0 && b != 0;
    case BinaryOp::logical_or:
      return a != 0 || b != 0;
  }
  throw InternalError("unknown operator");
}

}  // namespace

std::int64_t Interpreter::control(const Expr& e, const Frame& frame) {
  if (const auto* x = std::get_if<VarRef>(&e.node)) return frame.control[index(x->var)];
  if (const auto* x = std::get_if<IntConst>(&e.node)) return x->value;
  if (const auto* x = std::get_if<Binary>(&e.node)) {
    const std::int64_t left = control(*x->left, frame);
    // The right side of `and` and `or` may be meaningless where the left decides.
    if (x->op == BinaryOp::logical_and && left == 0) return 0;
    if (x->op == BinaryOp::logical_or && left != 0) return 1;
    return combine(x->op, left, control(*x->right, frame));
  }
  if (const auto* x = std::get_if<Unary>(&e.node)) {
    const std::int64_t operand = control(*x->operand, frame);
    return x->op == UnaryOp::neg ? checked_sub(0, operand) : (operand == 0 ? 1 : 0);
  }
  if (const auto* x = std::get_if<BoolConst>(&e.node)) return x->value ? 1 : 0;
  if (const auto* x = std::get_if<StrideOf>(&e.node)) {
    return frame.data[index(x->var)].view.dimensions.at(static_cast<std::size_t>(x->dim)).stride;
  }
  if (const auto* x = std::get_if<ConfigRead>(&e.node)) {
    return static_cast<std::int64_t>(config_[{x->config, x->field}]);
  }
  throw InternalError("a data expression in a control position");
}

double Interpreter::data(const Expr& e, const Frame& frame) {
  const Precision precision = e.type.precision.value_or(Precision::f32);
  if (const auto* x = std::get_if<Read>(&e.node)) return read(*x, e, frame);
  if (const auto* x = std::get_if<Binary>(&e.node)) {
    if (frame.matrix && x->op == BinaryOp::mul) return multiply(*x, e, frame);
    const double left = data(*x->left, frame);
    return apply(arithmetic(x->op), precision, left, data(*x->right, frame));
  }
  if (const auto* x = std::get_if<RealConst>(&e.node)) return round_to(precision, x->value);
  if (const auto* x = std::get_if<Unary>(&e.node)) {
    return apply(Arithmetic::sub, precision, is_integer(precision) ? 0 : -0.0, data(*x->operand, frame));
  }
  if (const auto* x = std::get_if<ExternCall>(&e.node)) return external(*x, precision, frame);
  if (const auto* x = std::get_if<ConfigRead>(&e.node)) return config_[{x->config, x->field}];
  if (const auto* x = std::get_if<IntConst>(&e.node))
    return round_to(precision, static_cast<double>(x->value));
  throw InternalError("a control expression in a data position");
}

double Interpreter::multiply(const Binary& product, const Expr& e, const Frame& frame) {
  const Precision precision = e.type.precision.value_or(Precision::f32);
  double left = data(*product.left, frame), right = data(*product.right, frame);
  if (precision == Precision::f32) {
    left = truncate_to_tf32(left);
    right = truncate_to_tf32(right);
  }
  return left * right;
}

double Interpreter::read(const Read& read, const Expr& e, const Frame& frame) {
  index_.clear();
  for (const Access& a : read.index) index_.push_back(control(*a.lo, frame));
  const Frame::Data& source = frame.data[index(read.var)];
  const std::int64_t position = element(source, read.var, e.span, frame);
  return position < 0 ? 0 : source.view.tensor->values[static_cast<std::size_t>(position)];
}

double Interpreter::external(const ExternCall& call, Precision precision, const Frame& frame) {
  const auto argument = [&](std::size_t i) { return data(*call.arguments.at(i), frame); };
  const double x = argument(0);
  switch (call.function) {
    case Extern::sin:
      return round_to(precision, std::sin(x));
    case Extern::relu:
      return std::isnan(x) ? x : (x > 0 ? x : 0);
    case Extern::expf:
      return round_to(precision, std::exp(x));
    case Extern::exp2f:
      return round_to(precision, std::exp2(x));
    case Extern::logf:
      return round_to(precision, std::log(x));
    case Extern::log2f:
      return round_to(precision, std::log2(x));
    case Extern::fabsf:
      return round_to(precision, std::abs(x));
    case Extern::sigmoid:
      return round_to(precision, 1 / (1 + std::exp(-x)));
    case Extern::sqrt:
      return round_to(precision, std::sqrt(x));
    case Extern::fmaxf:
      return std::fmax(x, argument(1));
    case Extern::fminf:
      return std::fmin(x, argument(1));
    case Extern::select: {
      const double bound = argument(1);
      if (std::isnan(x) || std::isnan(bound)) return std::numeric_limits<double>::quiet_NaN();
      return x < bound ? argument(2) : argument(3);
    }
  }
  throw InternalError("unknown extern");
}

}  // namespace exocheck::semantics
