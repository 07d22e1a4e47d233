// Text -> GPU IR in one call: parse, elaborate (names, kinds, types, scoping), instantiate instructions.
#pragma once

#include "frontend/parse.hpp"
#include "semantics/ir.hpp"

namespace exocheck::frontend {

// A procedure that parses and type-checks, but breaks a rule that makes it a defect (decisions.md C1, C3:
// arguments of a memory, factors of a unit, template values of an instruction).
struct DefectiveProcedure {
  std::string name;
  semantics::Span name_span;
  semantics::Diagnostics findings;  // errors and warnings, in file order
};

struct LoadResult {
  semantics::ir::Program program;             // the procedures without errors
  std::vector<DefectiveProcedure> defective;  // in file order
  std::vector<std::string> rejected;          // names of the other procedures, in file order
  semantics::Diagnostics diagnostics;  // of the file and of rejected procedures, in file order; all errors of
                                       // a procedure (decisions.md D11)

  // An error anywhere: some procedure is rejected or defective.
  bool failed() const { return !defective.empty() || semantics::has_errors(diagnostics); }
  // Those of defective procedures included, in file order.
  semantics::Diagnostics all_findings() const;
};

// Loads a user's file. The instruction library (semantics/library/*.exo) is loaded once per process.
LoadResult load(const semantics::SourcePtr& source, const ParseLimits& limits = {});

}  // namespace exocheck::frontend
