#include "driver/input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <system_error>

namespace exocheck::driver {
namespace {

namespace fs = std::filesystem;

void collect_folder(const std::string& folder, InputList& list, std::vector<std::string>& found) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == ".exo" && !it->is_directory(ignored)) {
      // Paths are shown as the user would write them: without a leading "./".
      found.push_back(it->path().lexically_normal().generic_string());
    }
  }
  if (error)
    list.failures.push_back({folder, fmt::format("The folder cannot be listed: {}.", error.message())});
  std::sort(found.begin(), found.end());
}

// Reads at most `limit` bytes.
std::string read_stream(std::istream& in, std::size_t limit) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (text.size() < limit && in) {
    in.read(buffer.data(), static_cast<std::streamsize>(std::min(buffer.size(), limit - text.size())));
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

}  // namespace

InputList collect_inputs(const std::vector<std::string>& paths) {
  InputList list;
  std::set<std::string> seen;
  const auto add = [&](const std::string& file) {
    if (seen.insert(file).second) list.files.push_back(file);
  };
  for (const std::string& path : paths.empty() ? std::vector<std::string>{"."} : paths) {
    std::error_code error;
    if (path == "-") {
      add(path);
    } else if (fs::is_directory(path, error)) {
      std::vector<std::string> found;
      collect_folder(path, list, found);
      for (const std::string& file : found) add(file);
    } else if (fs::exists(path, error)) {
      add(path);
    } else {
      list.failures.push_back({path, "There is no such file or folder."});
    }
  }
  return list;
}

std::variant<semantics::SourcePtr, InputFailure> read_source(const std::string& path, std::size_t max_bytes) {
  const std::size_t limit = max_bytes + 1;
  if (path == "-") {
    return std::make_shared<const semantics::SourceFile>("<stdin>", read_stream(std::cin, limit));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return InputFailure{path, fmt::format("The file cannot be opened: {}.", std::strerror(errno))};
  std::string text = read_stream(in, limit);
  if (in.bad()) return InputFailure{path, fmt::format("The file cannot be read: {}.", std::strerror(errno))};
  return std::make_shared<const semantics::SourceFile>(path, std::move(text));
}

}  // namespace exocheck::driver
