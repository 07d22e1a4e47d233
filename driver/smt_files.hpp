// `--dump-smt`: the proof obligations of a run as SMT-LIB scripts, one file each, for any solver to re-check
// (formal.md 8).
#pragma once

#include <string>

#include "driver/result.hpp"

namespace exocheck::driver {

// Writes PROCEDURE-LINE-RULE-N.smt2 for every obligation (N counts those of the same procedure, line and
// rule; its `:status` is what the script must give) and obligations.json, format exocheck-obligations/1. The
// folder is made if it is missing; an empty name means that nothing is wanted. What the fast path decided is
// written like everything else. Returns the sentence that says what went wrong; empty: nothing did.
std::string write_smt_files(const RunResult& result, const std::string& folder);

}  // namespace exocheck::driver
