// Random programs in the form that translations have: host statements, kernels of tasks, loops and guards
// over a size T. For differential tests of results for all sizes (all-sizes.md 8, 9).
#pragma once

#include "property/support/random_amir.hpp"
#include "semantics/ir.hpp"

namespace exocheck::testing {

struct SizedProgram {
  Program program;
  semantics::ir::Procedure procedure;  // its one parameter and assert; no statements
  SymId size{};                        // T >= 0
  bool one_task = false;               // every kernel has exactly one task
};

// The same seed always gives the same program.
SizedProgram random_tasks(std::uint64_t seed);

}  // namespace exocheck::testing
