// Distributed memory: which leading dimensions of a device variable are spread over thread collectives,
// deduced from its uses (collective.md 6, 7.2, 7.3; decisions.md K4, K5, K7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/collective_constructs.hpp"
#include "analysis/facts.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::analysis {

struct DistributedVariable {
  SymId symbol{};
  std::string name;
  std::vector<std::optional<std::int64_t>> extents;  // nullopt: not constant
  // The collective that owns one shard. None (barriers of dialect P): every dimension is distributed, and
  // every iterator newer than the allocation must index.
  std::optional<CollUnit> native;
  TilingPtr allocation;  // tiling at the allocation
  semantics::Location location;
};

// One use, followed through window variables: subscripts on the variable itself.
struct DistributedUse {
  TilingPtr tiling;
  std::vector<semantics::ir::Access> index;  // one per dimension
  std::vector<std::size_t> written;          // per dimension: position among the subscripts as written
  std::vector<CollUnit> units;               // of the callee's parameter
  std::string callee;                        // "argument 'dst' of 'shfl'", for the implied loops
  std::string text;                          // "v[m, n, s]"
  semantics::Location location;
};

struct Deduction {
  std::vector<std::int64_t> pitches;  // the thread pitch tuple
  std::vector<SymId> iterators;       // that gave the pitches
  std::int64_t base = 0;              // offsets on subdivided dimensions; 0 without a native unit
  TilingPtr tiling;                   // inside the implied loops
  std::vector<ImpliedLoop> implied;
};

// A violated rule: code, message, notes.
struct Refusal {
  std::string_view code;
  std::string message;
  std::vector<semantics::Related> related;
};

// collective.md 6.3: why the allocation lacks threads of the native unit (E-X01).
std::optional<Refusal> check_allocation(const DistributedVariable& variable, const Constructs& constructs);

// Steps 1 and 2 of collective.md 6.5 that need no native unit: the loops implied around a use of a variable
// with these extents. `use.index` gets points where the loops are.
std::variant<Deduction, Refusal> imply_loops(std::string_view name,
                                             const std::vector<std::optional<std::int64_t>>& extents,
                                             DistributedUse& use, Constructs& constructs);

// collective.md 6.5 for one use. Allocates the symbols of the implied loops.
std::variant<Deduction, Refusal> deduce(const DistributedVariable& variable, DistributedUse use,
                                        Constructs& constructs);

// collective.md 6.6: how a later use disagrees with the first one (E-X11 .. E-X13).
std::optional<Refusal> disagreement(const DistributedVariable& variable, const DistributedUse& first_use,
                                    const Deduction& first, const Deduction& later,
                                    const Constructs& constructs);

}  // namespace exocheck::analysis
