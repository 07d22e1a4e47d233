// The catalogue of rules: every code and name a diagnostic can carry (language.md 12, decisions.md C3, C7,
// C8, Q4).
#pragma once

#include <span>
#include <string_view>

namespace exocheck::semantics {

// What a finding of the rule means for the verdict and the exit code (decisions.md C3).
enum class RuleClass {
  input,        // the file does not parse or type-check: no verdict, exit 2
  defect,       // the program is wrong: verdict `defect`, exit 1
  unsupported,  // the checker cannot handle the construct: verdict `unsupported`, exit 3
  limit,        // a resource limit: verdict `unknown` or file finding, exit 3
  warning,      // never changes a verdict
};

struct Rule {
  std::string_view code;  // "E-Y31"
  std::string_view name;  // "sync.war": group.short-name, one per code
  RuleClass rule_class = RuleClass::defect;
  std::string_view summary;  // one sentence: when the rule fires
  std::string_view advice;   // one sentence: what the author should do
};

// All rules, ordered by code.
std::span<const Rule> all_rules();

// By code or by name; nullptr if there is none.
const Rule* find_rule(std::string_view code_or_name);

// By code; throws InternalError if the catalogue lacks it.
const Rule& rule(std::string_view code);

}  // namespace exocheck::semantics
