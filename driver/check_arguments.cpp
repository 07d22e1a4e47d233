#include "driver/check_arguments.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "driver/sizes.hpp"

namespace exocheck::driver {

void add_check_before_options(CLI::App& command, CheckArguments& a) {
  command.add_option("--size", a.sizes, "Check with these sizes: N=256 or N=256,M=128 (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_option("--proc", a.procedure, "Only the procedure of this name")->type_name("NAME");
  command.add_option("--mode", a.mode, "Of the check: default, strict or paper-exact")
      ->check(CLI::IsMember({"default", "strict", "paper-exact"}))
      ->type_name("MODE");
  command.add_option("--timeout", a.timeout, "Seconds for the check of one procedure")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
}

void add_check_options(CLI::App& command, CheckArguments& a) {
  command.add_option("PATH", a.paths,
                     "Files, folders (recursive, *.exo) or - for standard input; default: this folder");
  command.add_option("--size", a.sizes, "Check with these sizes: N=256 or N=256,M=128 (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_option("--proc", a.procedure, "Check only the procedure of this name")->type_name("NAME");
  command
      .add_option("--mode", a.mode,
                  "default: the paper's rules and repairs; strict: also hardware facts; paper-exact")
      ->check(CLI::IsMember({"default", "strict", "paper-exact"}))
      ->type_name("MODE");
  command.add_option("--format", a.formats, "text (default) or json; repeatable, each with an --output")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  command.add_option("--output", a.outputs, "Write the --format before it to this file")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command.add_option("--dot", a.dot, "Write the graph of the first counterexample in DOT")->type_name("FILE");
  command.add_option("--svg", a.svg, "Write the graph of the first counterexample as SVG")->type_name("FILE");
  command
      .add_option("--dump-smt", a.dump_smt,
                  "Write every proof obligation as SMT-LIB into this folder, with an index obligations.json")
      ->type_name("DIR");
  command.add_option("--timeout", a.timeout, "Seconds for one procedure, then its verdict is unknown")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  command.add_option("--memory-limit", a.memory_limit_mb, "Megabytes for the visibility records of one run")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->type_name("MB");
  command.add_option("-j", a.jobs, "Files to check side by side (1)")
      ->check(CLI::Range(1u, 256u))
      ->type_name("N");
  command.add_option("--fail-on", a.fail_on, "defect, unknown (as without the option), warning or never")
      ->check(CLI::IsMember({"defect", "unknown", "warning", "never"}))
      ->type_name("WHAT");
  command.add_flag("--certify", a.certify,
                   "Have Rocq's kernel (coqc) re-check every verdict of the abstract machine");
  command.add_flag("--stats", a.stats, "Times and counts");
  command.add_flag("-q", a.quiet, "Findings and the last line only");
  command.add_flag("-v", a.verbose, "Show how each access was made");
  command.add_option("--color", a.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  command.add_flag("--expected", a.expected,
                   "Run each file as its '# run:' lines say and compare with '# expect:'");
}

std::variant<std::vector<OutputRequest>, UsageError> pair_outputs(const CLI::App& command,
                                                                  const CheckArguments& a) {
  std::vector<OutputRequest> requests;
  std::size_t formats = 0, outputs = 0;
  for (const CLI::Option* option : command.parse_order()) {
    if (option->check_name("--format")) {
      requests.push_back({a.formats[formats++] == "json" ? Format::json : Format::text, ""});
    } else if (option->check_name("--output")) {
      if (requests.empty()) requests.push_back({Format::text, ""});
      if (!requests.back().file.empty()) {
        return UsageError{
            fmt::format("--output {}: the format before it already has a file.", a.outputs[outputs])};
      }
      requests.back().file = a.outputs[outputs++];
      if (requests.back().file.empty()) return UsageError{"--output needs the name of a file."};
    }
  }
  if (requests.empty()) requests.push_back({Format::text, ""});
  std::set<std::string> places;
  for (const OutputRequest& request : requests) {
    if (!places.insert(request.file).second) {
      return UsageError{request.file.empty()
                            ? "Only one format can go to standard output; give the others an --output."
                            : fmt::format("Two formats go to one file, {}.", request.file)};
    }
  }
  return requests;
}

std::variant<RunRequest, UsageError> make_request(const CheckArguments& a) {
  RunRequest request;
  request.mode = a.mode;
  auto sizes = parse_sizes(a.sizes);
  if (auto* message = std::get_if<std::string>(&sizes)) return UsageError{"--size: " + *message};
  request.sizes = std::get<std::vector<SizeSet>>(std::move(sizes));
  request.procedure = a.procedure;
  request.timeout_seconds = a.timeout;
  request.memory_limit_bytes = static_cast<std::uint64_t>(a.memory_limit_mb) << 20;
  request.obligations = !a.dump_smt.empty();
  request.graphs = !a.dot.empty() || !a.svg.empty();
  return request;
}

FailOn parse_fail_on(const std::string& text) {
  if (text == "defect") return FailOn::defect;
  if (text == "unknown") return FailOn::unknown;
  if (text == "warning") return FailOn::warning;
  if (text == "never") return FailOn::never;
  return FailOn::table;
}

std::variant<CheckArguments, UsageError> parse_run_line(const std::vector<std::string>& words) {
  CLI::App command;
  CheckArguments arguments;
  add_check_options(command, arguments);
  try {
    command.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return UsageError{error.what()};
  }
  if (!arguments.paths.empty() || arguments.expected || arguments.certify) {
    return UsageError{"A '# run:' line names no files and does not certify."};
  }
  return arguments;
}

}  // namespace exocheck::driver
