// What every subcommand shares. One file per command defines one add_* function.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <variant>

#include "driver/engine.hpp"

namespace CLI {
class App;
}

namespace exocheck::driver {

// Where a command writes. Results go to `out`, complaints and progress to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Set by the subcommand that was named; returns the exit code (cli.md "Exit codes").
using Action = std::function<int()>;

void add_check_command(CLI::App& app, const Console& console, Action& action);
void add_fmt_command(CLI::App& app, const Console& console, Action& action);
void add_emit_command(CLI::App& app, const Console& console, Action& action);
void add_run_command(CLI::App& app, const Console& console, Action& action);
void add_rules_command(CLI::App& app, const Console& console, Action& action);
void add_explain_command(CLI::App& app, const Console& console, Action& action);
void add_export_command(CLI::App& app, const Console& console, Action& action);

// The file that a command names, after the frontend. Otherwise says on `err` why not, and gives the exit
// code: 2 (it cannot be read) or 4 (a broken invariant of ours).
std::variant<LoadedFile, int> load_named(const std::string& path, const Console& console);

// For commands that need a whole program: says on `err` what is wrong with the file; false if nothing is.
bool report_load_errors(const LoadedFile& file, const Console& console);

// Says on `err` what is wrong with the command line, and gives exit code 2.
int bad_command_line(const Console& console, const std::string& message);

}  // namespace exocheck::driver
