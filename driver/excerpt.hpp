// A source line with the place of a finding underlined, safe to print on a terminal.
#pragma once

#include <string>

#include "semantics/source.hpp"

namespace exocheck::driver {

struct Excerpt {
  std::string gutter;  // the line number, or as many blanks
  std::string line;    // the text: tabs as blanks, control characters as '?', long lines cut around the place
  std::string underline;  // blanks, '^' and '~'; at least one '^'
};

// Of the first line that the location touches. Columns count bytes, the underline counts characters, so that
// it stays below the text when a comment or string contains UTF-8.
Excerpt excerpt(const semantics::Location& location);

// Replaces what must not reach a terminal (control characters) by '?', tabs by a blank, and what is no UTF-8
// by '?'.
std::string printable(std::string_view text);

}  // namespace exocheck::driver
