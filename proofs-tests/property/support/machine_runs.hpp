// Running one AMIR program on all machines, and looking into the naive one.
#pragma once

#include <string>
#include <vector>

#include "amir/naive_machine.hpp"
#include "amir/proof.hpp"
#include "property/support/amir_builder.hpp"

namespace exocheck::testing {

// "accepted", or e.g. "E-Y31 B[0] node 12 missing 0/1": rule, variable, element, node, task and local index
// of the thread that lacks visibility. "; W-Y21 s[3]" is appended per warning, "limit ..." if a limit stopped
// the run.
std::string verdict_text(const Program& program, const amir::Outcome& outcome);

// The same for comparisons with a proof: rule, variable, element and node only; "accepted" or "limit ..."
// otherwise.
std::string short_text(const Program& program, const amir::Outcome& outcome);
// Of the failures that a proof kept (ProofOptions::keep_failures), the first in execution order.
std::string short_text(const Program& program, const amir::ProofResult& result);

// Was a rule broken in memory that tasks share?
bool in_shared_memory(const Program& program, const amir::Outcome& outcome);
// Of the failures that a proof kept: is any more than a warning? If not, what it refutes lies in shared
// memory.
bool broken_in_a_slice(const amir::ProofResult& result);
// Are they all in execution order, on paths that exist?
bool in_execution_order(const amir::ProofResult& result);

// The common verdict of the naive machine, the working machine and the trace graph. If they differ, a text
// that names all three.
std::string verdict(const Program& program, const amir::ModeRules& rules);
std::string verdict(const Program& program, analysis::Mode mode);

// The contents of one element over a run of the naive machine: its dump whenever it changed, from the first
// on.
std::vector<std::string> history(const Program& program, const amir::ModeRules& rules, VarId var,
                                 const std::vector<std::int64_t>& element);

}  // namespace exocheck::testing
