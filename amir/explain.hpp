// From a violation to a report: both accesses, the history of the first one, near misses and a suggestion
// (abstract-machine.md 5; decisions.md C10, C12, C16).
#pragma once

#include <optional>

#include "amir/explain_trace.hpp"
#include "amir/explain_words.hpp"
#include "amir/run.hpp"
#include "semantics/diagnostic.hpp"

namespace exocheck::amir {

struct Explanation {
  semantics::Diagnostic diagnostic;
  std::optional<Hazard> hazard;  // of E-Y30, E-Y31, E-Y32 and E-Y12
  std::vector<SyncEvent>
      barrier_events;  // of E-Y04, E-Y06 and E-Y14: what happened on the barrier element, in order
};

// Runs the program a second time, watching only the element that failed; throws InternalError if that run
// ends otherwise. `sizes` and `rules` are those of the first run.
Explanation explain(const Words& words, const Violation& violation, const Sizes& sizes,
                    const ModeRules& rules, const Limits& limits);

// The report of a violation that needs no second run: W-Y21.
semantics::Diagnostic describe_warning(const Words& words, const Violation& warning);

}  // namespace exocheck::amir
