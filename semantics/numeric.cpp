#include "semantics/numeric.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "semantics/errors.hpp"

namespace exocheck::semantics {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// A binary float format: significand bits after the leading one, exponent of the least normal number,
// greatest finite value, and what lies above it.
struct FloatFormat {
  int fraction_bits;
  int least_exponent;
  double greatest;
  double beyond;
};

double round_float(const FloatFormat& format, double value) {
  if (std::isnan(value) || value == 0) return value;
  if (std::isinf(value)) return std::copysign(format.beyond, value);
  // The spacing of the format's numbers around `value`; scaling by powers of two is exact.
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const int shift = format.fraction_bits - exponent;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
  return std::abs(rounded) > format.greatest ? std::copysign(format.beyond, value) : rounded;
}

double round_scale(double value) {
  if (!(value > 0) || std::isinf(value)) return nan_value;
  const int exponent = std::ilogb(value);
  const double below = std::ldexp(1.0, exponent);
  const double power = value == below ? below : 2 * below;
  return std::clamp(power, std::ldexp(1.0, -127), std::ldexp(1.0, 127));
}

struct IntegerRange {
  std::int64_t least, greatest;
};

IntegerRange range_of(Precision p) {
  switch (p) {
    case Precision::i8:
      return {-128, 127};
    case Precision::i32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case Precision::ui8:
      return {0, 255};
    case Precision::ui16:
      return {0, 65535};
    case Precision::f16:
    case Precision::bf16:
    case Precision::f32:
    case Precision::f64:
    case Precision::e4m3:
    case Precision::e5m2:
    case Precision::e8m0:
      break;
  }
  throw InternalError("range of a precision that is no integer");
}

double round_integer(Precision p, double value) {
  if (std::isnan(value)) return value;
  const IntegerRange range = range_of(p);
  return std::clamp(std::trunc(value), static_cast<double>(range.least), static_cast<double>(range.greatest));
}

double wrap(Precision p, std::int64_t value) {
  const IntegerRange range = range_of(p);
  const std::int64_t count = range.greatest - range.least + 1;
  std::int64_t offset = (value - range.least) % count;
  if (offset < 0) offset += count;
  return static_cast<double>(range.least + offset);
}

double apply_integer(Arithmetic operation, Precision p, double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return nan_value;
  const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
  switch (operation) {
    case Arithmetic::add:
      return wrap(p, a + b);
    case Arithmetic::sub:
      return wrap(p, a - b);
    case Arithmetic::mul:
      return wrap(p, a * b);
    case Arithmetic::div:
      return b == 0 ? nan_value : wrap(p, a / b);
  }
  throw InternalError("unknown arithmetic operation");
}

}  // namespace

bool is_integer(Precision p) {
  return p == Precision::i8 || p == Precision::i32 || p == Precision::ui8 || p == Precision::ui16;
}

double round_to(Precision p, double value) {
  switch (p) {
    case Precision::f64:
      return value;
    case Precision::f32:
      return static_cast<double>(static_cast<float>(value));
    case Precision::f16:
      return round_float({10, -14, 65504, infinity}, value);
    case Precision::bf16:
      return round_float({7, -126, 0x1.FEp127, infinity}, value);
    case Precision::e4m3:
      return round_float({3, -6, 448, nan_value}, value);
    case Precision::e5m2:
      return round_float({2, -14, 57344, infinity}, value);
    case Precision::e8m0:
      return round_scale(value);
    case Precision::i8:
    case Precision::i32:
    case Precision::ui8:
    case Precision::ui16:
      return round_integer(p, value);
  }
  throw InternalError("unknown precision");
}

double truncate_to_tf32(double value) {
  if (std::isnan(value)) return value;
  const auto pattern = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<double>(std::bit_cast<float>(pattern & ~std::uint32_t{0x1FFF}));
}

double apply(Arithmetic operation, Precision p, double left, double right) {
  if (is_integer(p)) return apply_integer(operation, p, left, right);
  switch (operation) {
    case Arithmetic::add:
      return round_to(p, left + right);
    case Arithmetic::sub:
      return round_to(p, left - right);
    case Arithmetic::mul:
      return round_to(p, left * right);
    case Arithmetic::div:
      return round_to(p, left / right);
  }
  throw InternalError("unknown arithmetic operation");
}

}  // namespace exocheck::semantics
