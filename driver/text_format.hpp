// A result as text for people (cli.md "Text form").
#pragma once

#include <string>

#include "driver/result.hpp"

namespace exocheck::driver {

struct TextOptions {
  bool color = false;
  bool quiet = false;    // findings and the last line only
  bool verbose = false;  // how each access was made
  bool stats = false;    // times and counts; without it the text is the same on every run
};

// One finding with its source line and its notes; ends with a newline.
std::string format_text(const Diagnostic& finding, const TextOptions& options);

// Everything: findings, one verdict line per procedure, and the line `checked N of M procedures`.
std::string format_text(const RunResult& result, const TextOptions& options);

// Obligations of the run, how many needed the solver, how long that took, and the slowest query.
std::string stats_lines(const RunResult& result);

// `checked N of M procedures`, with the number of suppressed findings if there are any.
std::string summary_line(const RunResult& result);

}  // namespace exocheck::driver
