// Names that cannot become C identifiers (language.md 1).
#pragma once

#include <string_view>

namespace exocheck::frontend {

// A C or CUDA keyword, a name of the CUDA headers, or a name with a reserved beginning.
bool is_reserved_in_c(std::string_view name);

}  // namespace exocheck::frontend
