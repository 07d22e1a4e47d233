#include "driver/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace exocheck::driver {
namespace {

// In the child: the file becomes the stream, or the child ends.
void redirect(const char* file, int stream, int flags) {
  const int opened = open(file, flags, 0600);
  if (opened < 0 || dup2(opened, stream) < 0) _exit(127);
}

}  // namespace

Ended run_process(const std::vector<std::string>& words, const std::filesystem::path& folder,
                  const std::string& out, const std::string& err) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(127);
    redirect("/dev/null", 0, O_RDONLY);
    redirect(out.c_str(), 1, O_WRONLY | O_CREAT | O_TRUNC);
    if (err == out) {
      if (dup2(1, 2) < 0) _exit(127);
    } else {
      redirect(err.c_str(), 2, O_WRONLY | O_CREAT | O_TRUNC);
    }
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  pid_t waited = child;
  if (child > 0) {
    do {
      waited = waitpid(child, &status, 0);
    } while (waited < 0 && errno == EINTR);
  }
  Ended ended;
  if (waited < 0) {
    ended.code = 127;
  } else if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
  } else {
    ended.code = WEXITSTATUS(status);
  }
  return ended;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent, const std::string& what) {
  // mkdtemp replaces the X's.
  std::string pattern = (parent / ("exocheck-" + what + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (made()) std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace exocheck::driver
