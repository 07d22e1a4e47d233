// exocheck check: files in, findings and verdicts out.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>

#include "driver/case_runner.hpp"
#include "driver/certify.hpp"
#include "driver/check_arguments.hpp"
#include "driver/command.hpp"
#include "driver/graph_files.hpp"
#include "driver/input.hpp"
#include "driver/json_format.hpp"
#include "driver/parallel.hpp"
#include "driver/smt_files.hpp"
#include "driver/text_format.hpp"

namespace exocheck::driver {
namespace {

bool use_color(const std::string& when, const Console& console) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return console.out_is_terminal && (no_color == nullptr || *no_color == '\0');
}

// Shown while more than one file is checked on a terminal, and wiped out at the end.
class Progress {
 public:
  Progress(const Console& console, std::size_t total) : console_(console), total_(total) {}
  ~Progress() {
    if (shown_) console_.err << "\r\x1b[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (!console_.err_is_terminal || total_ < 2) return;
    console_.err << fmt::format("\r\x1b[Kchecking {} of {}: {}", done_, total_, path.substr(0, 60))
                 << std::flush;
    shown_ = true;
  }

 private:
  const Console& console_;
  std::mutex mutex_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_ = false;
};

// The files of the command line, after the frontend; what cannot be read is in `result` already.
std::vector<LoadedFile> load_all(const CheckArguments& arguments, RunResult& result) {
  std::vector<LoadedFile> loaded;
  InputList inputs = collect_inputs(arguments.paths);
  const auto fail = [&](const InputFailure& failure) {
    FileResult file;
    file.path = failure.path;
    file.failure = failure.message;
    result.files.push_back(std::move(file));
  };
  for (const InputFailure& failure : inputs.failures) fail(failure);
  for (const std::string& path : inputs.files) {
    auto source = read_source(path, frontend::ParseLimits{}.max_bytes);
    if (const auto* failure = std::get_if<InputFailure>(&source)) {
      fail(*failure);
    } else {
      loaded.push_back(load_file(std::get<semantics::SourcePtr>(source)));
    }
  }
  return loaded;
}

// false if a file could not be written.
bool write_outputs(const RunResult& result, int code, const std::vector<OutputRequest>& outputs,
                   const CheckArguments& arguments, const Console& console) {
  bool text_shown = false;
  for (const OutputRequest& request : outputs) {
    const bool to_console = request.file.empty();
    const TextOptions text_options{to_console && use_color(arguments.color, console), arguments.quiet,
                                   arguments.verbose, arguments.stats};
    const std::string content = request.format == Format::json ? format_json(result, {code, arguments.stats})
                                                               : format_text(result, text_options);
    if (to_console) {
      console.out << content << std::flush;
      text_shown = request.format == Format::text;
      continue;
    }
    std::ofstream file(request.file, std::ios::binary);
    file << content << std::flush;
    if (!file) {
      console.err << fmt::format("exocheck: {} cannot be written.\n", request.file);
      return false;
    }
  }
  // The count is always shown; beside a machine-readable standard output it goes to the other stream.
  if (!text_shown) console.err << summary_line(result);
  return true;
}

int check(const CheckArguments& arguments, const std::vector<OutputRequest>& outputs,
          const Console& console) {
  auto request = make_request(arguments);
  if (const auto* error = std::get_if<UsageError>(&request)) return bad_command_line(console, error->message);
  const RunRequest& run = std::get<RunRequest>(request);

  RunResult result;
  result.mode = run.mode;
  const std::vector<LoadedFile> loaded = load_all(arguments, result);
  if (const auto errors = validate(run, loaded); !errors.empty()) {
    return bad_command_line(console, errors.front().message);
  }
  std::optional<std::variant<Kernel, std::string>> kernel;
  if (arguments.certify) kernel = Kernel::start();
  {
    Progress progress(console, loaded.size());
    const std::size_t first = result.files.size();
    result.files.resize(first + loaded.size());
    for_each_index(loaded.size(), arguments.jobs, [&](std::size_t i) {
      progress.step(loaded[i].source->path());
      FileResult& file = result.files[first + i];
      file = check_file(loaded[i], run);
      if (kernel) certify(file, loaded[i], run.mode, *kernel);
    });
  }
  int code = exit_code(result, parse_fail_on(arguments.fail_on));
  if (const std::string problem = write_graphs(result, arguments.dot, arguments.svg, console);
      !problem.empty()) {
    console.err << fmt::format("exocheck: {}\n", problem);
    if (code != 4) code = 2;
  }
  if (const std::string problem = write_smt_files(result, arguments.dump_smt); !problem.empty()) {
    console.err << fmt::format("exocheck: {}\n", problem);
    if (code != 4) code = 2;
  }
  if (!write_outputs(result, code, outputs, arguments, console) && code != 4) code = 2;
  return code;
}

}  // namespace

void add_check_command(CLI::App& app, const Console& console, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Check procedures: static rules, then the abstract machine");
  const auto arguments = std::make_shared<CheckArguments>();
  add_check_options(*command, *arguments);
  command->callback([command, arguments, &console, &action] {
    action = [command, arguments, &console] {
      auto outputs = pair_outputs(*command, *arguments);
      if (const auto* error = std::get_if<UsageError>(&outputs))
        return bad_command_line(console, error->message);
      if (arguments->expected) return run_cases(*arguments, console);
      return check(*arguments, std::get<std::vector<OutputRequest>>(outputs), console);
    };
  });
}

}  // namespace exocheck::driver
