// The command line as a test calls it, and a folder of its own to work in.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "driver/cli.hpp"

namespace exocheck::driver::test {

struct Answer {
  int code;
  std::string out, err;
};

inline Answer call(const std::vector<std::string>& arguments, bool terminal = false) {
  std::ostringstream out, err;
  const int code = run(arguments, {out, err, terminal, false});
  return {code, out.str(), err.str()};
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Gone with its files when the test ends.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("exocheck-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Writes the file; returns its path.
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string read(const std::string& name) const { return contents(path(name)); }

 private:
  std::filesystem::path path_;
};

}  // namespace exocheck::driver::test
