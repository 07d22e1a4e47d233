#include "semantics/diagnostic.hpp"

#include <algorithm>

namespace exocheck::semantics {

Diagnostic make_diagnostic(std::string_view code, Location location, std::string message) {
  Diagnostic d;
  d.rule = &rule(code);
  d.severity = d.rule->rule_class == RuleClass::warning ? Severity::warning : Severity::error;
  d.location = std::move(location);
  d.message = std::move(message);
  return d;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace exocheck::semantics
