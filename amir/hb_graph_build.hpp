// Counterexample -> happens-before graph (abstract-machine.md 8.3).
#pragma once

#include <string>

#include "amir/explain.hpp"
#include "amir/hb_graph.hpp"

namespace exocheck::amir {

// Events are both accesses, the sync instances that passed knowledge of the first one on, and the near
// misses, one row each in order of execution; at most about 20. Empty for findings that are not about
// ordering (E-Y20, E-Y21). `sizes` is for the title.
HbGraph make_graph(const Words& words, const Explanation& explanation, const std::string& sizes);

}  // namespace exocheck::amir
