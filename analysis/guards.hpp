// Guards and ring depth of dialect P (language.md 10.6, decisions.md L1-L3, L8).
#pragma once

#include <vector>

#include "analysis/barrier_usage.hpp"

namespace exocheck::analysis {

// E-G01 .. E-G04, E-G10 .. E-G15, E-G20; fills guarded_by and ring_depth of Facts::barrier. Nothing to do in
// R.
void check_guards(BarrierReporter& out, const std::vector<BarrierUses>& barriers);

// Arrive on `z` and Await of its guard `g` alternate in every straight-line body; a guarded barrier starts
// with the Await, a cluster sync with the Arrive (E-G10 .. E-G15). Reports at most one error.
void check_alternation(BarrierReporter& out, const BarrierUses& z, semantics::ir::SymId g);

}  // namespace exocheck::analysis
