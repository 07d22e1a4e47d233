// Canonical text of the smallest things: numbers, strings, collective units (language.md 3.2).
#pragma once

#include <string>

#include "semantics/units.hpp"

namespace exocheck::frontend {

// Shortest decimal that reads back as the same double, always with a '.' or an exponent: `0.5`, `3.0`,
// `1e-07`; `inf`, `-inf`. `nan` for a value no program can write.
std::string real_text(double value);
// In single quotes, with escapes.
std::string string_text(const std::string& value);
// A library unit by its name, any other one as `CollUnit(domain, box, 'name', scaled)`; scaled units as `2 *
// cuda_warp`.
std::string unit_text(const semantics::CollUnit& unit);

}  // namespace exocheck::frontend
