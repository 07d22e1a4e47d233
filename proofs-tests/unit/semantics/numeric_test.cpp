#include "semantics/numeric.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace exocheck::semantics;

TEST_CASE("f16 rounds to nearest even, overflows to infinity and keeps subnormals") {
  CHECK(round_to(Precision::f16, 2049) == 2048);
  CHECK(round_to(Precision::f16, 2051) == 2052);
  CHECK(round_to(Precision::f16, 65519) == 65504);
  CHECK(std::isinf(round_to(Precision::f16, 65520)));
  CHECK(round_to(Precision::f16, std::ldexp(3.0, -25)) == std::ldexp(2.0, -24));
  CHECK(round_to(Precision::f16, std::ldexp(1.0, -25)) == 0);
}

TEST_CASE("bf16 has the exponents of f32 and 8 significant bits") {
  CHECK(round_to(Precision::bf16, 257) == 256);
  CHECK(round_to(Precision::bf16, 259) == 260);
  CHECK(round_to(Precision::bf16, 1e38) == Approx(1e38).epsilon(0.01));
  CHECK(std::isinf(round_to(Precision::bf16, 3.4e38)));
}

TEST_CASE("eight-bit floats") {
  CHECK(round_to(Precision::e4m3, 448) == 448);
  CHECK(round_to(Precision::e4m3, 17) == 16);
  CHECK(std::isnan(round_to(Precision::e4m3, 500)));
  CHECK(round_to(Precision::e5m2, 57344) == 57344);
  CHECK(std::isinf(round_to(Precision::e5m2, 70000)));
  CHECK(round_to(Precision::e8m0, 5) == 8);
  CHECK(round_to(Precision::e8m0, 4) == 4);
  CHECK(std::isnan(round_to(Precision::e8m0, -1)));
}

TEST_CASE("conversion to integers truncates and saturates, arithmetic wraps") {
  CHECK(round_to(Precision::i32, -2.9) == -2);
  CHECK(round_to(Precision::i8, 1000) == 127);
  CHECK(round_to(Precision::ui8, -3) == 0);
  CHECK(apply(Arithmetic::add, Precision::i8, 127, 1) == -128);
  CHECK(apply(Arithmetic::sub, Precision::ui16, 0, 1) == 65535);
  CHECK(apply(Arithmetic::mul, Precision::i32, 65536, 65537) == 65536);
  CHECK(apply(Arithmetic::div, Precision::i32, -7, 2) == -3);
  CHECK(std::isnan(apply(Arithmetic::div, Precision::i32, 1, 0)));
}

TEST_CASE("tf32 drops 13 bits toward zero") {
  const double value = 1 + std::ldexp(1.0, -10) + std::ldexp(1.0, -11);
  CHECK(truncate_to_tf32(value) == 1 + std::ldexp(1.0, -10));
  CHECK(truncate_to_tf32(-value) == -1 - std::ldexp(1.0, -10));
  CHECK(truncate_to_tf32(2047) == 2047);
  CHECK(truncate_to_tf32(2049) == 2048);
}

TEST_CASE("an operation on f32 rounds once") {
  const double third = apply(Arithmetic::div, Precision::f32, 1, 3);
  CHECK(third == static_cast<double>(1.0f / 3.0f));
  CHECK(apply(Arithmetic::add, Precision::f32, 16777216, 1) == 16777216);
}
