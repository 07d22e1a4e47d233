// The page about one rule: what `exocheck explain` prints and docs/rules/ holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "semantics/rules.hpp"

namespace exocheck::driver {

// A file of proofs-tests/cases/rules, embedded in the binary: X07.bad.exo, X07.good.exo.
struct RuleExample {
  std::string_view name;
  std::string_view text;
};
std::vector<RuleExample> rule_examples();

// What a finding of the rule means for the verdict, in one sentence.
std::string_view consequence(semantics::RuleClass rule_class);
// "input", "defect", ...
std::string_view name(semantics::RuleClass rule_class);

// Markdown: title, summary, advice, and the failing and the corrected program where the examples have them.
// The
// `# run:` and `# expect:` lines of an example become the line that says how it is checked.
std::string rule_page(const semantics::Rule& rule, const std::vector<RuleExample>& examples);

}  // namespace exocheck::driver
