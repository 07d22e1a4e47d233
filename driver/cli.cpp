#include "driver/cli.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <ostream>

#include "driver/input.hpp"
#include "driver/text_format.hpp"
#include "driver/version.hpp"

namespace exocheck::driver {
namespace {

int run_unguarded(const std::vector<std::string>& arguments, const Console& console) {
  CLI::App app{"Checks that a GPU program behaves in parallel exactly as it reads sequentially.", "exocheck"};
  app.set_version_flag("--version", std::string("exocheck ") + std::string(version));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 checked, 1 defect, 2 bad input or command line, 3 unknown or nothing checked, 4 "
      "internal error.");

  Action action;
  add_check_command(app, console, action);
  add_fmt_command(app, console, action);
  add_emit_command(app, console, action);
  add_run_command(app, console, action);
  add_rules_command(app, console, action);
  add_explain_command(app, console, action);
  add_export_command(app, console, action);

  try {
    // CLI11 takes the arguments last one first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {
    return app.exit(success, console.out, console.err);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return bad_command_line(console, error.what());
  }
  return action();
}

}  // namespace

std::variant<LoadedFile, int> load_named(const std::string& path, const Console& console) {
  auto read = read_source(path, frontend::ParseLimits{}.max_bytes);
  if (const auto* failure = std::get_if<InputFailure>(&read)) {
    console.err << fmt::format("{}: error: {}\n", failure->path, failure->message);
    return 2;
  }
  LoadedFile file = load_file(std::get<semantics::SourcePtr>(read));
  if (file.internal_error.empty()) return file;
  console.err << fmt::format("exocheck: internal error: {}\n", file.internal_error);
  return 4;
}

bool report_load_errors(const LoadedFile& file, const Console& console) {
  if (!file.load.failed()) return false;
  for (const Diagnostic& finding : file.load.all_findings()) console.err << format_text(finding, {});
  return true;
}

int bad_command_line(const Console& console, const std::string& message) {
  console.err << "exocheck: " << message
              << "\n`exocheck --help` and `exocheck COMMAND --help` list what is possible.\n";
  return 2;
}

int run(const std::vector<std::string>& arguments, const Console& console) {
  try {
    return run_unguarded(arguments, console);
  } catch (const std::exception& error) {
    console.err << "exocheck: internal error: " << error.what() << "\n";
  } catch (...) {
    console.err << "exocheck: internal error\n";
  }
  return 4;
}

}  // namespace exocheck::driver
