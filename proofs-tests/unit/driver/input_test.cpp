#include "driver/input.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace exocheck::driver;
namespace fs = std::filesystem;

namespace {

// A folder that disappears again.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("exocheck-input-test-" + std::to_string(getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path / "sub");
    for (const char* name : {"b.exo", "a.exo", "note.txt", "sub/c.exo"}) std::ofstream(path / name) << "text";
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("folders are searched for *.exo, sorted, each file once") {
  const Folder folder;
  const InputList list = collect_inputs({folder / "b.exo", folder.path.string(), folder / "b.exo"});
  CHECK(list.failures.empty());
  CHECK(list.files == std::vector<std::string>{folder / "b.exo", folder / "a.exo", folder / "sub/c.exo"});
}

TEST_CASE("a file that is named is taken whatever its name") {
  const Folder folder;
  CHECK(collect_inputs({folder / "note.txt"}).files.size() == 1);
}

TEST_CASE("what does not exist is a failure") {
  const Folder folder;
  const InputList list = collect_inputs({folder / "none.exo", folder / "a.exo", "-"});
  REQUIRE(list.failures.size() == 1);
  CHECK(list.failures[0].path == folder / "none.exo");
  CHECK(list.files == std::vector<std::string>{folder / "a.exo", "-"});
}

TEST_CASE("reading stops a little past the limit") {
  const Folder folder;
  std::ofstream(folder.path / "a.exo", std::ios::binary) << std::string(1000, 'x') << '\0' << "y";
  const auto whole = read_source(folder / "a.exo", 5000);
  REQUIRE(std::holds_alternative<exocheck::semantics::SourcePtr>(whole));
  CHECK(std::get<0>(whole)->text().size() == 1002);
  CHECK(std::get<0>(read_source(folder / "a.exo", 100))->text().size() == 101);
  CHECK(std::holds_alternative<InputFailure>(read_source(folder / "none.exo", 100)));
  CHECK(std::holds_alternative<InputFailure>(read_source(folder.path.string(), 100)));
}
