#include "driver/rule_page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace exocheck::driver {
namespace {

using semantics::RuleClass;

struct Listing {
  std::string program;
  std::string command;  // of the first `# run:` line
};

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

Listing split(std::string_view text) {
  Listing listing;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with("# run: ")) {
      if (listing.command.empty()) listing.command = line.substr(7);
    } else if (!line.starts_with("# expect:") && !(line.empty() && listing.program.empty())) {
      listing.program += std::string(line) + "\n";
    }
  }
  if (listing.command.empty()) listing.command = "check";
  return listing;
}

std::string section(std::string_view title, std::string_view sentence, const semantics::Rule& rule,
                    std::string_view ending, const std::vector<RuleExample>& examples) {
  // Files are named by the bare code: X07.bad.exo for E-X07, W-N01.bad.exo for a warning.
  const std::string_view code = rule.code.starts_with("E-") ? rule.code.substr(2) : rule.code;
  const std::string name = std::string(code) + std::string(ending);
  const auto example =
      std::find_if(examples.begin(), examples.end(), [&](const RuleExample& e) { return e.name == name; });
  if (example == examples.end()) return "";
  const Listing listing = split(example->text);
  return fmt::format("\n## {}\n\n```\n{}```\n\n`exocheck {}` {}\n", title, listing.program, listing.command,
                     sentence);
}

}  // namespace

std::string_view consequence(RuleClass rule_class) {
  switch (rule_class) {
    case RuleClass::input:
      return "The file does not parse or type-check: there is no verdict, and the exit code is 2.";
    case RuleClass::defect:
      return "The program is wrong: the verdict is `defect`, and the exit code is 1.";
    case RuleClass::unsupported:
      return "The checker cannot handle the program: the verdict is `unsupported`, and the exit code is 3.";
    case RuleClass::limit:
      return "The checker gave up: the verdict is `unknown`, and the exit code is 3.";
    case RuleClass::warning:
      return "A warning: it changes no verdict and, without `--fail-on warning`, no exit code.";
  }
  return "";
}

std::string_view name(RuleClass rule_class) {
  switch (rule_class) {
    case RuleClass::input:
      return "input";
    case RuleClass::defect:
      return "defect";
    case RuleClass::unsupported:
      return "unsupported";
    case RuleClass::limit:
      return "limit";
    case RuleClass::warning:
      return "warning";
  }
  return "";
}

std::string rule_page(const semantics::Rule& rule, const std::vector<RuleExample>& examples) {
  std::string page = fmt::format("# {} ({})\n\n{}\n\n{}\n\n{}\n", rule.name, rule.code, rule.summary,
                                 rule.advice, consequence(rule.rule_class));
  page += section("A program that breaks it", "reports the rule.", rule, ".bad.exo", examples);
  page += section("The program corrected", "accepts this one.", rule, ".good.exo", examples);
  return page;
}

}  // namespace exocheck::driver
