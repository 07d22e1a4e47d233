// exocheck rules: the catalogue, one line per rule.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "driver/command.hpp"
#include "driver/rule_page.hpp"

namespace exocheck::driver {
namespace {

int list_rules(const Console& console) {
  std::size_t widest = 0;
  for (const semantics::Rule& rule : semantics::all_rules()) widest = std::max(widest, rule.name.size());
  for (const semantics::Rule& rule : semantics::all_rules()) {
    console.out << fmt::format("{:<6} {:<{}} {:<11} {}\n", rule.code, rule.name, widest,
                               name(rule.rule_class), rule.summary);
  }
  return 0;
}

}  // namespace

void add_rules_command(CLI::App& app, const Console& console, Action& action) {
  CLI::App* command = app.add_subcommand("rules", "List every rule: code, name, class, when it fires");
  command->callback([&console, &action] { action = [&console] { return list_rules(console); }; });
}

}  // namespace exocheck::driver
