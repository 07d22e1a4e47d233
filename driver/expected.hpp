// Expected results inside a file (cli.md): `# run:` and `# expect:` lines, and their comparison with a
// result.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "driver/result.hpp"

namespace exocheck::driver {

// # expect: checked | proved | unknown | unsupported | vacuous | defect | error | warning  [RULE] [KEY=VALUE
// ...] Keys: line (of the primary location), earlier (of the first access, of the access for a free, else of
// any note), variable, proc. `checked` is also met by `proved`, unless all_sizes=no asks for exactly that.
struct Expectation {
  enum class Kind : std::uint8_t { verdict, error, warning };
  int source_line = 0;
  std::string text;  // as written, for messages
  Kind kind = Kind::verdict;
  Verdict verdict = Verdict::checked;     // Kind::verdict
  const semantics::Rule* rule = nullptr;  // none: any
  std::optional<int> line, earlier;
  std::string variable, procedure;
  bool not_all_sizes = false;
};

struct ExpectedRun {
  int source_line = 0;
  std::vector<std::string> words;  // of the command, without the program's name: "check", "--size", "N=64"
  std::vector<Expectation> expectations;
};

// The leading comment lines of a file. Expectations before any `run:` belong to plain `check`. A malformed
// line, a `run:` without expectations and a file without `expect:` give the sentence that says so.
std::variant<std::vector<ExpectedRun>, std::string> parse_expected(const semantics::SourceFile& source);

// What differs, one sentence each; empty: as expected. Every expectation must be met, every error must be
// expected, and every verdict must be one of those expected; warnings count only where they are expected
// (decisions.md C2).
std::vector<std::string> compare(const ExpectedRun& run, const FileResult& result);

}  // namespace exocheck::driver
