// Parallel CPU loops, which the checker cannot judge.
#pragma once

#include <optional>

#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::analysis {

// The first `par` loop of the procedure as an E-V01 note: such a procedure has verdict `unsupported`
// (decisions.md D10). `par` in device code is E-K07, found by check_device_scopes.
std::optional<semantics::Diagnostic> find_parallel_loop(const semantics::ir::Procedure& procedure);

}  // namespace exocheck::analysis
