// Scalar precisions (language.md 2.2, 4.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace exocheck::semantics {

// `R` of the text is f32 in a procedure and a type variable in an instruction definition; it never reaches
// the IR.
enum class Precision : std::uint8_t { f16, bf16, f32, f64, e4m3, e5m2, e8m0, i8, i32, ui8, ui16 };

std::string_view name(Precision p);
std::optional<Precision> find_precision(std::string_view name);
// Size of one element in bits.
int bits(Precision p);

}  // namespace exocheck::semantics
