// The options of `exocheck check`, shared by the command itself and by the `# run:` lines of expected
// results.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "driver/engine.hpp"
#include "driver/result.hpp"

namespace CLI {
class App;
}

namespace exocheck::driver {

enum class Format : std::uint8_t { text, json };

// One `--format` with its `--output`; an empty file means standard output.
struct OutputRequest {
  Format format = Format::text;
  std::string file;
};

struct CheckArguments;
// --size, --proc, --mode and --timeout of commands that check a file before they do something else with it.
void add_check_before_options(CLI::App& command, CheckArguments& arguments);

// As CLI11 fills them.
struct CheckArguments {
  std::vector<std::string> paths;
  std::vector<std::string> sizes;
  std::string procedure;
  std::string mode = "default";
  std::vector<std::string> formats, outputs;
  std::string dot, svg, dump_smt;
  double timeout = 600;
  std::int64_t memory_limit_mb = 8192;
  std::string fail_on;
  unsigned jobs = 1;
  bool stats = false, quiet = false, verbose = false;
  std::string color = "auto";
  bool expected = false;
  bool certify = false;
};

void add_check_options(CLI::App& command, CheckArguments& arguments);

// The pairs of --format and --output, in the order of the command line: an --output belongs to the --format
// before it. `command` has parsed its arguments. Two outputs to one place are refused.
std::variant<std::vector<OutputRequest>, UsageError> pair_outputs(const CLI::App& command,
                                                                  const CheckArguments& arguments);

std::variant<RunRequest, UsageError> make_request(const CheckArguments& arguments);

// none for an empty text.
FailOn parse_fail_on(const std::string& text);

// The arguments of one `# run:` line (without the word "check"). It names no files: the file it stands in is
// meant.
std::variant<CheckArguments, UsageError> parse_run_line(const std::vector<std::string>& words);

}  // namespace exocheck::driver
