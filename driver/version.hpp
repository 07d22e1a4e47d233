// The version of the program, from CMakeLists.txt.
#pragma once

#include <string_view>

namespace exocheck::driver {

inline constexpr std::string_view version = EXOCHECK_VERSION;

}  // namespace exocheck::driver
