// A result as JSON, format `exocheck-result/1` (cli.md "JSON form"; docs/exocheck-result-1.schema.json).
#pragma once

#include <string>

#include "driver/result.hpp"

namespace exocheck::driver {

struct JsonOptions {
  int exit_code = 0;
  bool stats = false;  // with times; without them the bytes are the same on every run
};

// Ends with a newline. Text that is no UTF-8 is replaced, never an error.
std::string format_json(const RunResult& result, const JsonOptions& options);

}  // namespace exocheck::driver
