// Programs as text through the bounds pass alone.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/passes.hpp"
#include "programs.hpp"

namespace exocheck::analysis::test {

struct BoundsResult {
  std::vector<std::string> findings;  // "E-B04@7", sorted; those of the frontend, too
  std::string messages;               // one per line
  std::vector<Obligation> obligations;
  bool unknown = false;

  std::size_t solver_calls() const {
    return static_cast<std::size_t>(
        std::count_if(obligations.begin(), obligations.end(), [](const Obligation& o) { return o.solver; }));
  }
};

// All procedures of the text together.
inline BoundsResult bounds_of(const std::string& text, Mode mode = Mode::standard) {
  const auto loaded = load(text);
  BoundsResult out;
  const auto add = [&out](const semantics::Diagnostic& d) {
    out.findings.push_back(described(d));
    out.messages += d.message + "\n";
  };
  for (const auto& d : loaded.all_findings()) add(d);
  for (const auto& procedure : loaded.program.procedures) {
    Facts facts;
    Diagnostics diagnostics;
    PassContext context{procedure, loaded.program, mode, facts, diagnostics};
    check_bounds(context);
    for (const auto& d : diagnostics) add(d);
    out.obligations.insert(out.obligations.end(), facts.obligations.begin(), facts.obligations.end());
    out.unknown = out.unknown || facts.unknown_reason.has_value();
  }
  std::sort(out.findings.begin(), out.findings.end());
  return out;
}

using Findings = std::vector<std::string>;

inline void check_bounds_of(const std::string& text, const Findings& expected, Mode mode = Mode::standard) {
  const BoundsResult result = bounds_of(text, mode);
  INFO(text);
  INFO(result.messages);
  CHECK(result.findings == expected);
}

}  // namespace exocheck::analysis::test
