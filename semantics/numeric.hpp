// Arithmetic of the scalar precisions on the host (language.md 5.2; instructions.md 4.2, 4.10). Every value
// of every precision is exact in a double; an operation is done in double and rounded once, which for the
// float formats gives the correctly rounded result of + - * / and sqrt. NaN stands for "undefined", in
// integer precisions too.
#pragma once

#include "semantics/types.hpp"

namespace exocheck::semantics {

bool is_integer(Precision p);

// The value of `p` nearest to `value`: floats round to nearest even; f16, bf16, f32 and e5m2 overflow to
// infinity, e4m3 to NaN; e8m0 is the next power of two upward. Integers truncate toward zero and saturate.
double round_to(Precision p, double value);

// `value` with the 13 low bits of its f32 significand cleared: what a tensor core reads of an f32 operand.
double truncate_to_tf32(double value);

enum class Arithmetic : std::uint8_t { add, sub, mul, div };
// Both operands are values of `p`, and so is the result. Integers wrap around; an integer division by zero is
// undefined (NaN), as is every operation on NaN.
double apply(Arithmetic operation, Precision p, double left, double right);

}  // namespace exocheck::semantics
