#include "driver/case_runner.hpp"

#include <fmt/core.h>

#include <ostream>

#include "driver/excerpt.hpp"
#include "driver/expected.hpp"
#include "driver/input.hpp"
#include "driver/text_format.hpp"

namespace exocheck::driver {
namespace {

std::string command_of(const ExpectedRun& run) {
  std::string text;
  for (const std::string& word : run.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The differences of one run; its result is appended to `all`.
std::vector<std::string> run_one(const ExpectedRun& run, const LoadedFile& file, RunResult& all) {
  auto arguments = parse_run_line({run.words.begin() + 1, run.words.end()});
  if (const auto* error = std::get_if<UsageError>(&arguments)) return {error->message};
  auto request = make_request(std::get<CheckArguments>(arguments));
  if (const auto* error = std::get_if<UsageError>(&request)) return {error->message};
  const RunRequest& r = std::get<RunRequest>(request);
  if (const auto errors = validate(r, {file}); !errors.empty()) return {errors.front().message};
  FileResult result = check_file(file, r);
  std::vector<std::string> differences = compare(run, result);
  all.files.push_back(std::move(result));
  return differences;
}

}  // namespace

int run_cases(const CheckArguments& arguments, const Console& console) {
  RunResult all;
  std::size_t cases = 0, as_expected = 0;
  const InputList inputs = collect_inputs(arguments.paths);
  bool unreadable = !inputs.failures.empty();
  for (const InputFailure& failure : inputs.failures) {
    console.out << fmt::format("{}: {}\n", printable(failure.path), failure.message);
  }
  for (const std::string& path : inputs.files) {
    auto source = read_source(path, frontend::ParseLimits{}.max_bytes);
    if (const auto* failure = std::get_if<InputFailure>(&source)) {
      console.out << fmt::format("{}: {}\n", printable(path), failure->message);
      unreadable = true;
      continue;
    }
    ++cases;
    const auto& text = std::get<semantics::SourcePtr>(source);
    auto runs = parse_expected(*text);
    if (const auto* problem = std::get_if<std::string>(&runs)) {
      console.out << fmt::format("{}: {}\n", printable(path), *problem);
      continue;
    }
    const LoadedFile file = load_file(text);
    bool ok = true;
    for (const ExpectedRun& run : std::get<std::vector<ExpectedRun>>(runs)) {
      for (const std::string& difference : run_one(run, file, all)) {
        ok = false;
        console.out << fmt::format("{}:{}: {}: {}\n", printable(path), run.source_line, command_of(run),
                                   printable(difference));
      }
    }
    as_expected += ok;
    if (arguments.verbose && ok) console.out << fmt::format("{}: as expected\n", printable(path));
  }
  console.out << fmt::format("{} of {} cases as expected\n{}", as_expected, cases, summary_line(all))
              << std::flush;

  for (const FileResult& file : all.files) {
    if (!file.internal_error.empty()) return 4;
  }
  if (unreadable) return 2;
  if (as_expected < cases) return 1;
  return cases == 0 ? 3 : 0;
}

}  // namespace exocheck::driver
