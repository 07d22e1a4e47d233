// From the PATH arguments of a command to texts: files, folders (recursive, *.exo, sorted), `-` for standard
// input.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "semantics/source.hpp"

namespace exocheck::driver {

// Something the user named and we could not read.
struct InputFailure {
  std::string path;
  std::string message;  // a complete sentence
};

struct InputList {
  std::vector<std::string> files;      // each once, in the order named; a folder's files sorted by path
  std::vector<InputFailure> failures;  // paths that do not exist, folders that cannot be listed
};

// No path at all means the current folder. Never throws.
InputList collect_inputs(const std::vector<std::string>& paths);

// The text of a file, or of standard input for "-" (which is shown as "<stdin>"). Reads a little more than
// `max_bytes` at most: a longer text is the parser's to refuse (limit.file-size), not ours to hold in memory.
std::variant<semantics::SourcePtr, InputFailure> read_source(const std::string& path, std::size_t max_bytes);

}  // namespace exocheck::driver
