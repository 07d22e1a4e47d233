// The working machine: the semantics of abstract-machine.md 4 (and the repairs of 7.4, decisions.md N and O3)
// at a cost that does not depend on the number of elements or threads. Elements with equal records form
// regions (9.3), the records of a non-convergent access form one family (9.4), and equal records are one
// object, however many regions hold them.
//
// A run is for one size set. A verdict for all sizes (all-sizes.md) is the business of a slice machine beside
// this one; it is not part of this version.
//
// It must agree with the naive machine and the trace graph on (rule, variable, element, node).
#pragma once

#include "amir/observer.hpp"
#include "amir/run.hpp"

namespace exocheck::amir {

// Runs the program to its end or to the first violation in the canonical order of decisions.md N5. Limits and
// overflow become Outcome::limit, never a verdict. With an observer every sync, check and record of the
// observed elements is reported; see observer.hpp. Throws InternalError for a program that the translation
// would never produce.
Outcome run(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits,
            Observer* observer = nullptr);

}  // namespace exocheck::amir
