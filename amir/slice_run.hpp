// Follows one slice along all its paths: sizes, task iterators and undetermined iterators stay symbols, loops
// end when their states repeat (all-sizes.md 4).
#pragma once

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "amir/slice_state.hpp"

namespace exocheck::amir::slices {

// A rule broken on a path. The path may be impossible: the condition has not been given to the solver.
struct Failure {
  FormulaId condition = FormulaId::yes;
  std::string_view code;
  bool warning = false;
  std::uint32_t unit_leaf = 0;
  std::uint32_t barrier = 0;  // rules about counters: index into Slice::barriers
  // Enclosing loops, outermost first: the index of the first leaf inside, and the iteration.
  std::vector<std::pair<std::uint32_t, Linear>> loops;
  // Not empty: the path may not exist at any sizes, for a loop before it was over-approximated; why.
  std::string_view approximate;
};

// Of all slices of a procedure together.
struct Budget {
  std::chrono::steady_clock::time_point deadline;
  std::uint64_t steps = 0, layers = 0, approximations = 0;
  // false: loops with constant bounds run to their end (to test that cutting them short changes nothing).
  bool fast_forward = true;
  bool approximate_all = false;  // over-approximates every loop whose length is not constant
};

// All failures of the slice under the assumptions, in the order found; a path ends at its first. Throws
// GiveUp.
std::vector<Failure> explore(const Unit& unit, const Slice& slice, Formulas& formulas, const Rules& rules,
                             FormulaId assumptions, Budget& budget, std::uint64_t& records_peak);

}  // namespace exocheck::amir::slices
