// Register counts of warp groups (setmaxnreg).
#pragma once

#include <optional>

#include "analysis/passes.hpp"

namespace exocheck::analysis {

// E-W09 .. E-W12, in default and strict mode E-W13 and the warning W-W13 (language.md 8.2; decisions.md K8,
// K9). `facts` holds the warp groups already. Warnings go to the context, the first error is returned.
std::optional<semantics::Diagnostic> check_registers(PassContext& context, const semantics::ir::Stmt& stmt,
                                                     const semantics::ir::LaunchConfig& config,
                                                     const LaunchFacts& facts);

// Registers a thread has at launch: a CTA's share of the register file of an SM, in steps of 8 (decisions.md
// K8).
std::int64_t launch_registers(std::int64_t block_dim, std::int64_t blocks_per_sm);

}  // namespace exocheck::analysis
