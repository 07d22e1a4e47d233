// exocheck fmt FILE: the program in canonical form.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "driver/command.hpp"
#include "driver/engine.hpp"
#include "driver/text_format.hpp"
#include "frontend/printer.hpp"

namespace exocheck::driver {
namespace {

struct FmtArguments {
  std::string file;
  bool check = false;
};

int format_file(const FmtArguments& arguments, const Console& console) {
  const auto loaded = load_named(arguments.file, console);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const LoadedFile& file = std::get<LoadedFile>(loaded);
  if (report_load_errors(file, console)) return 2;  // half a program must not replace a whole one
  const std::string canonical =
      frontend::print_with_comments(file.load.program, frontend::parse(file.source).file);
  if (!arguments.check) {
    console.out << canonical << std::flush;
    return 0;
  }
  if (canonical == file.source->text()) return 0;
  console.err << fmt::format("{}: not in canonical form; `exocheck fmt` prints it\n", file.source->path());
  return 1;
}

}  // namespace

void add_fmt_command(CLI::App& app, const Console& console, Action& action) {
  CLI::App* command = app.add_subcommand("fmt", "Print a file in canonical form");
  const auto arguments = std::make_shared<FmtArguments>();
  command->add_option("FILE", arguments->file, "The file, or - for standard input")->required();
  command->add_flag("--check", arguments->check,
                    "Print nothing; exit code 1 if the file is not in canonical form");
  command->callback([arguments, &console, &action] {
    action = [arguments, &console] { return format_file(*arguments, console); };
  });
}

}  // namespace exocheck::driver
