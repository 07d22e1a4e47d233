// The numbers of xrt_types.h against the rounding of the sequential meaning.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "semantics/numeric.hpp"

#define XRT_HOST_DEV
#include "codegen/runtime/xrt_types.h"

using exocheck::semantics::Precision;
using exocheck::semantics::round_to;

namespace {

bool same(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b)
                                        : a == b && std::signbit(a) == std::signbit(b);
}

template <class T>
void check_value(Precision p, double value) {
  if (!same(double(float(T(value))), round_to(p, value)))
    CHECK(double(float(T(value))) == round_to(p, value));
  const auto single = static_cast<float>(value);
  if (!same(double(float(T(single))), round_to(p, double(single))))
    CHECK(double(float(T(single))) == round_to(p, double(single)));
}

template <class T, class Bits>
void check_format(Precision p) {
  constexpr int count = 1 << (8 * sizeof(Bits));
  for (int i = 0; i < count; ++i) {
    T number;
    number.bits = static_cast<Bits>(i);
    const double value = double(float(number));
    // Assertions only where they fail: there are 65536 numbers.
    if (!same(round_to(p, value), value)) CHECK(round_to(p, value) == value);
    if (!std::isnan(value) && T(value).bits != number.bits) CHECK(T(value).bits == number.bits);
    if (!std::isfinite(value)) continue;
    // This number's neighbourhood: halfway to the next one, and one double or float to both sides of it.
    number.bits = static_cast<Bits>(i + 1);
    const double next = double(float(number));
    if (!std::isfinite(next)) continue;
    const double middle = value / 2 + next / 2;
    for (const double near : {middle, std::nextafter(middle, value), std::nextafter(middle, next)})
      check_value<T>(p, near);
    check_value<T>(p, double(std::nextafter(float(middle), float(value))));
    check_value<T>(p, double(std::nextafter(float(middle), float(next))));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    check_value<T>(p, std::bit_cast<double>(random()));
    check_value<T>(p, double(std::bit_cast<float>(static_cast<std::uint32_t>(random()))));
  }
  for (const double v : {0.0,
                         -0.0,
                         1.0,
                         -3.0,
                         448.0,
                         464.0,
                         465.0,
                         480.0,
                         57344.0,
                         61440.0,
                         61439.0,
                         65504.0,
                         65519.0,
                         65520.0,
                         1e300,
                         -1e300,
                         1e-300,
                         std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    check_value<T>(p, v);
  }
}

template <class T>
void check_integers(Precision p) {
  std::mt19937_64 random(2);
  for (const double v :
       {0.0, 0.9, -0.9, -1.0, 127.0, 127.9, 128.0, -128.0, -129.0, 255.5, 256.0, 65535.0, 65536.0,
        2147483647.0, 2147483648.0, -2147483649.0, 1e300, -1e300, std::numeric_limits<double>::infinity()}) {
    INFO(v);
    CHECK(double(xrt_to<T>(v)) == round_to(p, v));
    CHECK(double(xrt_to<T>(float(v))) == round_to(p, double(float(v))));
  }
  for (int i = 0; i < 1000; ++i) {
    const auto v = static_cast<std::int32_t>(random());
    CHECK(double(xrt_to<T>(v)) == round_to(p, double(v)));
  }
}

}  // namespace

TEST_CASE("f16, bf16 and the 8-bit floats round as the sequential meaning does") {
  check_format<xrt_f16, std::uint16_t>(Precision::f16);
  check_format<xrt_bf16, std::uint16_t>(Precision::bf16);
  check_format<xrt_e4m3, std::uint8_t>(Precision::e4m3);
  check_format<xrt_e5m2, std::uint8_t>(Precision::e5m2);
  check_format<xrt_e8m0, std::uint8_t>(Precision::e8m0);
}

TEST_CASE("conversions to integers truncate and saturate") {
  check_integers<std::int8_t>(Precision::i8);
  check_integers<std::uint8_t>(Precision::ui8);
  check_integers<std::uint16_t>(Precision::ui16);
  check_integers<std::int32_t>(Precision::i32);
}
