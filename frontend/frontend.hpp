// Text -> GPU IR in one call: parse, elaborate (names, kinds, types, scoping), instantiate instructions.
#pragma once

#include "frontend/parse.hpp"
#include "semantics/ir.hpp"

namespace exocheck::frontend {

struct LoadResult {
  semantics::ir::Program program;      // the procedures without errors
  std::vector<std::string> rejected;   // names of procedures with errors, in file order
  semantics::Diagnostics diagnostics;  // errors and warnings, in file order; all errors of a procedure (decisions.md D11)
};

// Loads a user's file. The instruction library (semantics/library/*.exo) is loaded once per process.
LoadResult load(const semantics::SourcePtr& source, const ParseLimits& limits = {});

}  // namespace exocheck::frontend
