// How one slice is followed along all its paths: see slice_run.hpp. Its loops: slice_loop.cpp.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "amir/slice_run.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

constexpr std::size_t most_states = 3000;  // at one place

// state -> condition under which it is reached
using Configuration = std::map<StateId, FormulaId>;

// How a quantity changes with an iterator: `period` iterations add `rise`.
struct Slope {
  std::int64_t period = 1, rise = 0;
};

inline Linear plus(Linear a, std::int64_t n) {
  a.constant = semantics::ir::checked_add(a.constant, n);
  return a;
}

class Explorer {
 public:
  Explorer(const Unit& unit, const Slice& slice, Formulas& formulas, const Rules& rules, Budget& budget)
      : unit_(unit), slice_(slice), formulas_(formulas), budget_(budget), transitions_(unit, slice, rules) {}

  std::vector<Failure> run(FormulaId assumptions);
  std::uint64_t records_peak() const { return transitions_.records_peak(); }

 private:
  struct LoopFacts {
    std::int64_t period = 1;
    // Those that mention the iterator, closed over outer loops later.
    std::vector<Formulas::Comparison> comparisons;
    std::string_view irregular;  // not empty: why the residue does not tell iterations apart
  };
  struct Choice {  // a path on which every barrier index is constant
    FormulaId condition;
    std::vector<std::vector<std::uint32_t>> parts;
  };
  // A state at the beginning of a segment of a loop: the iterator is `at`, which is `residue` modulo the
  // period.
  struct Start {
    Linear at;
    std::int64_t residue = 0;
    StateId state = 0;
    FormulaId condition = FormulaId::no;
  };
  struct Segmentation {
    const Item* item = nullptr;
    const LoopFacts* facts = nullptr;
    std::vector<Linear> thresholds;
    Linear hi;
    bool cycles = true;
    std::string_view irregular;  // not empty: iterations are over-approximated
    std::vector<Start> pending;
    Configuration* out = nullptr;
  };

  void put(Configuration& out, StateId s, FormulaId f) const;
  void check_time();
  // With the values of the iterators of the loops around.
  Linear close(Linear a) const;
  FormulaId close(FormulaId f) const;

  Configuration block(const std::vector<Item>& items, Configuration in);
  // (with the condition, without it)
  std::pair<FormulaId, FormulaId> fork(FormulaId path, FormulaId condition);
  void leaf(const Item& item, const Configuration& in, Configuration& out);
  std::vector<Choice> choices(const SliceLeaf& leaf, FormulaId path);
  void loop(const Item& item, StateId state, FormulaId path, Configuration& out);
  void segment(Segmentation& s, const Start& start);
  // The iterations from `start` to `end`, between which no threshold lies.
  void follow(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last);
  // false: no cycle after `patience` layers, or conditions that grow with each; nothing is done.
  bool iterate(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last,
               std::size_t patience);
  // Any number of iterations, at least one, of which only range and residue are known (all-sizes.md 4.5):
  // more paths than there are, marked by the conjunct `approximate_`.
  void approximate(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last,
                   std::string_view reason);
  // A comparison in one of the first `period` iterations that the path leaves open.
  std::optional<FormulaId> open_comparison(const Segmentation& s, const Start& start, FormulaId path);
  FormulaId comparison(const Segmentation& s, const Start& start, const Formulas::Comparison& c,
                       std::size_t iteration);

  // Between two thresholds a comparison holds in all iterations of one residue, or in none: what those in the
  // first `period` iterations, as far as `path` decides them, say of this one.
  FormulaId uniform(const Segmentation& s, const Start& start, std::size_t iteration, FormulaId path);
  // Ends the segment in an iteration of this residue.
  void leave(Segmentation& s, const Linear& end, std::int64_t residue, StateId state, FormulaId path,
             bool last);
  const LoopFacts& facts(const Item& item);
  void collect(const std::vector<Item>& items, AtomId y, LoopFacts& out, std::vector<AtomId>& inner);
  void note(const Linear& a, AtomId y, LoopFacts& out, bool must_repeat);
  Slope slope(const Linear& a, AtomId y) const;
  // Values of the iterator at which some comparison changes its truth; nullopt: irregular.
  std::optional<std::vector<Linear>> thresholds(const Item& item, const LoopFacts& facts);

  const Unit& unit_;
  const Slice& slice_;
  Formulas& formulas_;
  Budget& budget_;
  Transitions transitions_;
  std::vector<std::pair<AtomId, Linear>> environment_;
  std::vector<std::pair<std::uint32_t, Linear>> loops_;
  std::map<const Item*, LoopFacts> facts_;
  std::optional<Linear> probe_;
  std::map<const Item*, Linear> quotients_;  // of an unknown iteration by the period of its loop
  std::optional<Linear> approximate_;        // zero on over-approximated paths
  std::string_view approximated_;            // why
  std::vector<Failure> failures_;
  std::uint64_t clock_ = 0;
};

}  // namespace exocheck::amir::slices
