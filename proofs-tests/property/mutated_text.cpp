// Random byte mutations of every program of the project: parse() and load() neither crash nor hang, and every
// finding points into the text.
//
// EXOCHECK_SEED=n starts at seed n; EXOCHECK_MUTATIONS=n makes n mutations of each file.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "frontend/frontend.hpp"
#include "property/support/setting.hpp"

using namespace exocheck;
using exocheck::testing::setting;

namespace {

std::vector<std::filesystem::path> programs() {
  const std::filesystem::path root = EXOCHECK_SOURCE_DIR;
  std::vector<std::filesystem::path> out;
  for (const char* folder : {"kernels", "proofs-tests/cases", "semantics/library"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".exo") out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (int n = static_cast<int>(below(4)) + 1; n > 0 && !text.empty(); --n) {
      const std::size_t at = below(text.size());
      switch (below(7)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text[at] = interesting();
          break;
        case 2:
          text.insert(at, 1, interesting());
          break;
        case 3:
          text.erase(at, below(1 + std::min<std::size_t>(20, text.size() - at)));
          break;
        case 4: {  // a piece of the file again, somewhere else
          const std::string piece = text.substr(at, below(40));
          text.insert(below(text.size()), piece);
          break;
        }
        case 5:
          text.resize(at);
          break;
        default:
          text.insert(at, word());
          break;
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  char interesting() {
    constexpr std::string_view bytes = "()[]{}<>:;,.@=+-*/%~!#'\"\\ \t\r\n_0919afx\x01\x02\x03\x7f";
    return below(20) == 0 ? '\0' : bytes[below(bytes.size())];
  }
  std::string word() {
    constexpr std::string_view words[] = {"9223372036854775808",
                                          " if ",
                                          " else ",
                                          "not ",
                                          " >> ",
                                          "None",
                                          "\n    ",
                                          "\n",
                                          "seq(",
                                          "barrier",
                                          "@ring_buffer_by(",
                                          "((((((((",
                                          "-----",
                                          "~",
                                          "\"\"\"",
                                          "-9223372036854775807",
                                          "0",
                                          "1e999",
                                          " for x in ",
                                          "lambda"};
    return std::string(words[below(std::size(words))]);
  }

  std::mt19937_64 random_;
};

// Every place of a finding lies in its file.
void check_places(const semantics::Diagnostics& diagnostics) {
  for (const semantics::Diagnostic& d : diagnostics) {
    INFO(d.rule->code << " " << d.message);
    REQUIRE(d.location.known());
    REQUIRE(d.location.span.begin <= d.location.span.end);
    REQUIRE(d.location.span.end <= d.location.source->text().size());
    REQUIRE_FALSE(d.message.empty());
  }
}

}  // namespace

TEST_CASE("mutated files are answered in bounded time", "[property]") {
  const std::uint64_t first = setting("EXOCHECK_SEED", 1);
  const std::uint64_t count = setting("EXOCHECK_MUTATIONS", 100);
  const auto files = programs();
  REQUIRE(files.size() > 10);
  for (const auto& path : files) {
    const std::string text = read(path);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      INFO("file " << path.filename() << ", seed " << seed);
      const auto source =
          std::make_shared<const semantics::SourceFile>("mutated.exo", Mutator(seed).mutate(text));
      const auto start = std::chrono::steady_clock::now();
      check_places(frontend::parse(source).diagnostics);
      check_places(frontend::load(source).all_findings());
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      REQUIRE(spent.count() < 20);
    }
  }
}
