// Numbers that C++ lacks: f16, bf16, e4m3, e5m2, e8m0. Part of xrt.h. They are stored in 16 or 8 bits and computed in float, which
// after rounding gives the correctly rounded + - * / and square root. Conversions round to nearest even.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace xrt_number {

template <class To, class From>
XRT_HOST_DEV inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  ::memcpy(&to, &from, sizeof to);
  return to;
}

// `Exponent` and `Fraction` bits and a sign. IEEE: the largest exponent means infinity and NaN, otherwise all ones NaN alone.
template <int Exponent, int Fraction, bool Ieee>
struct Format {
  using Bits = std::conditional_t<1 + Exponent + Fraction == 16, uint16_t, uint8_t>;
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr uint32_t sign = 1u << (Exponent + Fraction), nan = sign - 1, infinity = Ieee ? ((1u << Exponent) - 1) << Fraction : nan;

  // From the bits of a float or double: `Word` unsigned, `Wide` fraction bits, `Bias` of its exponent.
  template <class Word, int Wide, int Bias>
  XRT_HOST_DEV static Bits round(Word word) {
    constexpr int total = int(sizeof(Word)) * 8;
    const uint32_t s = uint32_t(word >> (total - 1)) << (Exponent + Fraction);
    const Word magnitude = word & ~(Word(1) << (total - 1));
    const int exponent = int(magnitude >> Wide), top = (1 << (total - 1 - Wide)) - 1;
    Word fraction = magnitude & ((Word(1) << Wide) - 1);
    if (exponent == top) return Bits(s | (fraction != 0 ? nan : infinity));
    if (exponent == 0 && Bias != bias) return Bits(s);  // far below the format
    if (exponent != 0) fraction |= Word(1) << Wide;
    int e = (exponent == 0 ? 1 : exponent) - Bias + bias, drop = Wide - Fraction;
    if (e <= 0) {
      drop += 1 - e;
      e = 1;
      if (drop > Wide + 1) return Bits(s);
    }
    Word kept = fraction >> drop;
    const Word rest = fraction & ((Word(1) << drop) - 1), half = Word(1) << (drop - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    // A carry moves into the exponent by itself.
    const int64_t result = (int64_t(e - 1) << Fraction) + int64_t(kept);
    return Bits(s | uint32_t(result < int64_t(infinity) ? result : int64_t(infinity)));
  }
  XRT_HOST_DEV static Bits from(float x) {
#if defined(__CUDA_ARCH__)
    if constexpr (Exponent == 5 && Fraction == 10) return xrt_f16_bits(x);
    if constexpr (Exponent == 8) return xrt_bf16_bits(x);
#endif
    return round<uint32_t, 23, 127>(bits_as<uint32_t>(x));
  }
  XRT_HOST_DEV static Bits from(double x) { return round<uint64_t, 52, 1023>(bits_as<uint64_t>(x)); }

  XRT_HOST_DEV static float to_float(Bits bits) {
    if constexpr (Exponent == 8) return bits_as<float>(uint32_t(bits) << 16);
#if defined(__CUDA_ARCH__)
    if constexpr (Exponent == 5 && Fraction == 10) return xrt_f16_value(bits);
#endif
    const uint32_t magnitude = bits & (sign - 1), s = uint32_t(bits & sign) << (31 - Exponent - Fraction);
    if (Ieee ? magnitude >= infinity : magnitude == nan) return bits_as<float>(s | 0x7F800000u | (magnitude == infinity && Ieee ? 0u : 0x400000u));
    const uint32_t e = magnitude >> Fraction, f = magnitude & ((1u << Fraction) - 1);
    if (e != 0) return bits_as<float>(s | (e + 127 - bias) << 23 | f << (23 - Fraction));
    const float least = bits_as<float>(uint32_t(127 + 1 - bias - Fraction) << 23);
    const float value = float(f) * least;
    return s != 0 ? -value : value;
  }
};

// Powers of two from 2^-127 to 2^127; values in between round up; what is not positive has no value (NaN).
struct Scale {
  using Bits = uint8_t;
  XRT_HOST_DEV static Bits from(double x) {
    if (!(x > 0)) return 255;
    const uint64_t word = bits_as<uint64_t>(x);
    const int e = int(word >> 52) - 1023 + ((word & 0xFFFFFFFFFFFFF) != 0 ? 1 : 0);
    if (int(word >> 52) == 2047) return 255;
    return Bits(e < -127 ? 0 : e > 127 ? 254 : e + 127);
  }
  XRT_HOST_DEV static float to_float(Bits bits) {
    return bits_as<float>(bits == 255 ? 0x7FC00000u : bits == 0 ? 0x400000u : uint32_t(bits) << 23);
  }
};

}  // namespace xrt_number

template <class Format>
struct XrtNumber {
  typename Format::Bits bits;

  XrtNumber() = default;
  XRT_HOST_DEV explicit XrtNumber(float x) : bits(Format::from(x)) {}
  XRT_HOST_DEV explicit XrtNumber(double x) : bits(Format::from(x)) {}
  XRT_HOST_DEV explicit XrtNumber(int x) : bits(Format::from(double(x))) {}
  XRT_HOST_DEV operator float() const { return Format::to_float(bits); }
};
using xrt_f16 = XrtNumber<xrt_number::Format<5, 10, true>>;
using xrt_bf16 = XrtNumber<xrt_number::Format<8, 7, true>>;
using xrt_e4m3 = XrtNumber<xrt_number::Format<4, 3, false>>;
using xrt_e5m2 = XrtNumber<xrt_number::Format<5, 2, true>>;
using xrt_e8m0 = XrtNumber<xrt_number::Scale>;

// Conversion to another precision: integers truncate and saturate.
template <class To, class From>
XRT_HOST_DEV To xrt_to(From from) {
  if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const double least = std::is_signed_v<To> ? -double(uint64_t(1) << (8 * sizeof(To) - 1)) : 0;
    const double most = double((uint64_t(1) << (8 * sizeof(To) - (std::is_signed_v<To> ? 1 : 0))) - 1);
    const double x = double(from);
    return x >= most ? To(most) : x > least ? To(x) : To(least);
  } else if constexpr (std::is_integral_v<To>) {
    const int64_t least = std::is_signed_v<To> ? -(int64_t(1) << (8 * sizeof(To) - 1)) : 0;
    const int64_t most = (int64_t(1) << (8 * sizeof(To) - (std::is_signed_v<To> ? 1 : 0))) - 1;
    return To(from < least ? least : from > most ? most : int64_t(from));
  } else {
    return To(from);
  }
}
