// The static passes of one procedure. Each reads the IR and the facts of earlier passes, fills its own part
// of the facts and appends diagnostics. analysis/analyse runs them in the order of language.md 11.
#pragma once

#include "analysis/facts.hpp"
#include "semantics/ir.hpp"

namespace exocheck::analysis {

struct PassContext {
  const semantics::ir::Procedure& procedure;
  const semantics::ir::Program& program;
  Mode mode;
  Facts& facts;
  Diagnostics& diagnostics;
  double solver_seconds = 120;  // AnalysisOptions
};

// E-B01 .. E-B10 by the solver, and E-M18 (language.md 9, decisions.md E, F7).
void check_bounds(PassContext& context);
// E-A01, E-A02 (language.md 6.5).
void check_aliasing(PassContext& context);
// E-M.. except M10-M14 and M18, E-C20, E-C21 (language.md 6.4, 7.2; decisions.md F).
void check_memories(PassContext& context);
// E-D.., E-K07 .. E-K09 (language.md 7.1, 7.3).
void check_device_scopes(PassContext& context);
// Facts::allocation, free_after, free_before (decisions.md L5, L6, N6, N7).
void compute_lifetimes(PassContext& context);
// E-W01 .. E-W13, W-W02, W-W13; Facts::launch (language.md 8.2, decisions.md K8, K9).
void check_launch(PassContext& context);
// E-U01 .. E-U16, E-U20, E-G.., static E-R.. (but the two below), E-S20 in P; Facts::barrier (language.md 10,
// decisions.md L).
void check_barrier_usage(PassContext& context);
// E-W20 .. E-W25, E-H.., E-X.., E-U18, E-U19, E-U30 .. E-U33, E-C22; Facts::tiling, body_tiling, call,
// distribution (collective.md, decisions.md K).
void check_collectives(PassContext& context);
// E-K01 .. E-K06, E-K10 (language.md 8.1).
void check_kernel_structure(PassContext& context);
// E-S.., E-U10, E-U17, E-U21, E-M10 .. E-M12, E-M14, E-R05 and E-R07 where they need the distribution, W-M20
// (language.md 10.2, 10.5; decisions.md M).
void check_sync_legality(PassContext& context);

}  // namespace exocheck::analysis
