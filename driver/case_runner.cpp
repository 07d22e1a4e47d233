#include "driver/case_runner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include "driver/excerpt.hpp"
#include "driver/expected.hpp"
#include "driver/input.hpp"
#include "driver/parallel.hpp"
#include "driver/text_format.hpp"

namespace exocheck::driver {
namespace {

std::string command_of(const ExpectedRun& run) {
  std::string text;
  for (const std::string& word : run.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What one file gave.
struct CaseResult {
  std::string text;  // one line per difference
  bool readable = true, as_expected = false;
  std::vector<FileResult> runs;
};

// The differences of one run; its result is appended to `runs`.
std::vector<std::string> run_one(const ExpectedRun& run, const LoadedFile& file,
                                 std::vector<FileResult>& runs) {
  auto arguments = parse_run_line({run.words.begin() + 1, run.words.end()});
  if (const auto* error = std::get_if<UsageError>(&arguments)) return {error->message};
  auto request = make_request(std::get<CheckArguments>(arguments));
  if (const auto* error = std::get_if<UsageError>(&request)) return {error->message};
  const RunRequest& r = std::get<RunRequest>(request);
  if (const auto errors = validate(r, {file}); !errors.empty()) return {errors.front().message};
  FileResult result = check_file(file, r);
  std::vector<std::string> differences = compare(run, result);
  runs.push_back(std::move(result));
  return differences;
}

CaseResult run_case(const std::string& path) {
  CaseResult out;
  const auto source = read_source(path, frontend::ParseLimits{}.max_bytes);
  if (const auto* failure = std::get_if<InputFailure>(&source)) {
    out.text = fmt::format("{}: {}\n", printable(path), failure->message);
    out.readable = false;
    return out;
  }
  const auto& text = std::get<semantics::SourcePtr>(source);
  const auto expected = parse_expected(*text);
  if (const auto* problem = std::get_if<std::string>(&expected)) {
    out.text = fmt::format("{}: {}\n", printable(path), *problem);
    return out;
  }
  const LoadedFile file = load_file(text);
  for (const ExpectedRun& run : std::get<std::vector<ExpectedRun>>(expected)) {
    for (const std::string& difference : run_one(run, file, out.runs)) {
      out.text += fmt::format("{}:{}: {}: {}\n", printable(path), run.source_line, command_of(run),
                              printable(difference));
    }
  }
  out.as_expected = out.text.empty();
  return out;
}

}  // namespace

int run_cases(const CheckArguments& arguments, const Console& console) {
  const InputList inputs = collect_inputs(arguments.paths);
  bool unreadable = !inputs.failures.empty();
  for (const InputFailure& failure : inputs.failures) {
    console.out << fmt::format("{}: {}\n", printable(failure.path), failure.message);
  }
  std::vector<CaseResult> results(inputs.files.size());
  for_each_index(results.size(), arguments.jobs,
                 [&](std::size_t i) { results[i] = run_case(inputs.files[i]); });

  RunResult all;
  std::size_t cases = 0, as_expected = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    CaseResult& r = results[i];
    console.out << r.text;
    if (arguments.verbose && r.as_expected) {
      console.out << fmt::format("{}: as expected\n", printable(inputs.files[i]));
    }
    unreadable = unreadable || !r.readable;
    cases += r.readable;
    as_expected += r.as_expected;
    std::move(r.runs.begin(), r.runs.end(), std::back_inserter(all.files));
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
