// The trace graph: a second, independent oracle (abstract-machine.md 8.2). It keeps no visibility at all:
// events are vertices, and whether an access is visible somewhere is reachability from its vertex, computed
// per access because non-transitive waits depend on the access's original timeline.
#pragma once

#include "amir/run.hpp"

namespace exocheck::amir {

// Same contract as run() and run_naive(). Cost grows with (events)^2: for small programs and differential
// tests.
Outcome run_trace_graph(const Program& program, const Sizes& sizes, const ModeRules& rules,
                        const Limits& limits);

}  // namespace exocheck::amir
