// exocheck explain RULE: one page about a rule.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "driver/command.hpp"
#include "driver/rule_page.hpp"

namespace exocheck::driver {

void add_explain_command(CLI::App& app, const Console& console, Action& action) {
  CLI::App* command = app.add_subcommand("explain", "One page about a rule, given by code or name");
  const auto wanted = std::make_shared<std::string>();
  command->add_option("RULE", *wanted, "Such as E-Y31 or sync.war")->required();
  command->callback([wanted, &console, &action] {
    action = [wanted, &console] {
      const semantics::Rule* rule = semantics::find_rule(*wanted);
      if (rule == nullptr) {
        return bad_command_line(console,
                                fmt::format("'{}' is no rule; `exocheck rules` lists them.", *wanted));
      }
      console.out << rule_page(*rule, rule_examples());
      return 0;
    };
  });
}

}  // namespace exocheck::driver
