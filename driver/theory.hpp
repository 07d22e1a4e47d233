// The Rocq theory (proofs-tests/rocq/theory), which travels inside the binary.
#pragma once

#include <string_view>
#include <vector>

namespace exocheck::driver {

struct TheoryFile {
  std::string_view name;  // "Rules.v"
  std::string_view text;
};
// In an order in which they compile.
std::vector<TheoryFile> theory_files();

}  // namespace exocheck::driver
