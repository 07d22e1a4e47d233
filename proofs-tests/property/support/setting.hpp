// Numbers that the environment gives to a property test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace exocheck::testing {

// The value of the environment variable, `otherwise` if it is not set.
inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace exocheck::testing
