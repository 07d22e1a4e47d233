// Comments in a source file that speak to the driver: suppressions (`# exocheck: ignore RULE -- reason`) and
// expected results (`# run:`, `# expect:`; see expected.hpp).
#pragma once

#include <string>
#include <vector>

#include "driver/result.hpp"
#include "semantics/source.hpp"

namespace exocheck::driver {

// One comment line as text after the '#', with its line number (from 1).
struct CommentLine {
  int line = 0;
  bool own_line = false;             // nothing but blanks before the '#'
  std::uint32_t begin = 0, end = 0;  // bytes, from the '#'
  std::string text;                  // trimmed
};

// The comments of a text, found without parsing it, so that a file with errors has them too. A '#' inside a
// string literal on the same line begins no comment.
std::vector<CommentLine> comment_lines(const semantics::SourceFile& source);

struct Suppression {
  int line = 0;           // the line whose findings it silences
  std::string_view code;  // of the rule
  std::string reason;
};

struct Suppressions {
  std::vector<Suppression> entries;
  Diagnostics problems;  // W-P04: malformed ones, which silence nothing
};

// A directive behind code is about its own line, one on a line of its own about the next line with code. The
// rule is a code or a name; a missing reason and an unknown rule are W-P04.
Suppressions find_suppressions(const semantics::SourcePtr& source);

// Moves the findings that `suppressions` names to `suppressed`. A procedure whose errors were all silenced is
// `unknown` and not `checked`: the analysis stopped at the silenced error, so nobody looked at what comes
// after it.
void apply_suppressions(FileResult& file, const Suppressions& suppressions);

}  // namespace exocheck::driver
