// Which repair or strict rule a finding depends on, found by switching it off (decisions.md O1, O8).
#pragma once

#include <string>
#include <vector>

#include "amir/run.hpp"

namespace exocheck::amir {

// Do the two violations name the same statement instance and element?
bool same_finding(const Violation& a, const Violation& b);

// "repair H1", "strict S2", ...: the switches without which `violation` is not found. Empty for a finding of
// the plain machine.
std::vector<std::string> attribution(const Program& program, const Sizes& sizes, const ModeRules& rules,
                                     const Violation& violation, const Limits& limits);

}  // namespace exocheck::amir
