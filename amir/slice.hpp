// Slices: the program of one task as one element of one variable sees it (all-sizes.md 1, 2). Elements do not
// influence each other, so the elements of a variable are checked one by one, those with equal slices once.
// One more kind of slice holds the arrivals and awaits of barrier elements that one Arrive can reference
// together, and carries the checks of their counters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "amir/slice_unit.hpp"

namespace exocheck::amir::slices {

struct SliceLeaf {
  std::uint32_t unit_leaf = 0;
  const semantics::amir::Node* node = nullptr;
  ThreadSet threads;                      // renumbered
  FormulaId hit = FormulaId::yes;         // accesses: does the window contain the element?
  std::span<const BarrierPart> barriers;  // of the unit's leaf
};

// A barrier element that occurs in the slice.
struct SliceBarrier {
  VarId var{};
  std::int64_t flat = 0;
  std::uint32_t group = 0;  // the first element of its multicast group
};

struct Slice {
  std::optional<VarId> var;         // none: counters
  std::vector<std::int64_t> first;  // coordinates of the smallest element of the class
  std::vector<SliceLeaf> leaves;
  std::vector<Item> items;  // Item::leaf of a leaf: index into leaves; of a loop: as in the unit
  std::vector<SliceBarrier> barriers;
  std::vector<std::int64_t> text;  // equal texts behave alike

  // Index into `barriers`; nullopt if the element does not occur.
  std::optional<std::uint32_t> find(VarId barrier, std::int64_t flat) const;
};

struct SliceSet {
  std::vector<Slice> slices;  // distinct ones, in deterministic order
  std::uint64_t classes = 0;  // element classes looked at, and barrier groups
};

// All slices of the unit's local variables; equal ones once, unless `merge` is false. Throws GiveUp.
SliceSet make_slices(const Unit& unit, Formulas& formulas, const ModeRules& rules, bool merge = true);

}  // namespace exocheck::amir::slices
