// Other programs, started without a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace exocheck::driver {

struct Ended {
  int code = 0;    // exit code; 127: the program cannot be started
  int signal = 0;  // that ended it, 0: none
};

// Runs `words` in the folder and waits for its end. Standard output goes to the file `out` of the folder,
// standard error to `err`; both may be the same file.
Ended run_process(const std::vector<std::string>& words, const std::filesystem::path& folder,
                  const std::string& out, const std::string& err);

std::string contents(const std::filesystem::path& file);

// A new folder that only this user can see; it goes with the object.
class TemporaryFolder {
 public:
  // In `parent`; `what` names its purpose.
  TemporaryFolder(const std::filesystem::path& parent, const std::string& what);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  bool made() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// "ccache g++ -O1" -> its words, separated by blanks.
std::vector<std::string> split_words(const std::string& text);

}  // namespace exocheck::driver
