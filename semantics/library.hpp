// The built-in instruction library: GPU IR text (semantics/library/*.exo), embedded in the binary.
#pragma once

#include <string_view>
#include <vector>

namespace exocheck::semantics {

struct LibraryFile {
  std::string_view name;  // "tma.exo"
  std::string_view text;
};
std::vector<LibraryFile> library_files();

}  // namespace exocheck::semantics
