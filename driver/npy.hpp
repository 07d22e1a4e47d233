// NumPy's .npy files: one dense tensor each.
#pragma once

#include <string>
#include <variant>

#include "semantics/interpreter_views.hpp"

namespace exocheck::driver {

// The tensor in a file, as numbers of `precision` (rounded to it if the file holds others). Reads
// little-endian f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, b1, in C or Fortran order. On a file that is none, or
// whose shape is not `extents`, a complete sentence that says so. Never reads more than the header promises.
std::variant<semantics::Tensor, std::string> parse_npy(const std::string& bytes,
                                                       semantics::Precision precision,
                                                       const std::vector<std::int64_t>& extents);

// The bytes of a .npy file, version 1.0, C order: f2, f4, f8, i1, i4, u1, u2 by precision; bf16 and the 8-bit
// floats, which NumPy lacks, as f4. Undefined integers become 0.
std::string format_npy(const semantics::Tensor& tensor);

}  // namespace exocheck::driver
