// Everything before the machine runs: static passes, inlining, translation.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "amir/translate.hpp"
#include "analysis/facts.hpp"

namespace exocheck::amir {

// A procedure ready to run. Not movable once `translation` refers to `procedure`, hence handed out by
// unique_ptr.
struct Prepared {
  semantics::ir::Procedure procedure;  // calls of procedures expanded
  analysis::Facts facts;               // of `procedure`
  Translation translation;
};

struct Preparation {
  semantics::Diagnostics findings;         // of every static pass, and E-Y40
  std::optional<std::string> unsupported;  // the construct that cannot be judged
  std::optional<std::string> unknown;      // an obligation was not decided: at best `unknown`
  std::vector<analysis::Obligation> obligations;
  bool cpu_only = false;                     // no device function, not even in a callee
  std::unique_ptr<const Prepared> prepared;  // null if there is nothing to run
};

// Errors in `findings` of class `defect` settle the verdict.
Preparation prepare(const semantics::ir::Procedure& procedure, const semantics::ir::Program& program,
                    const analysis::AnalysisOptions& options = {});

}  // namespace exocheck::amir
