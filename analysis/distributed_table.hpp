// The device variables of one procedure while their uses are collected: the first use of each fixes its
// distribution, later ones must agree (collective.md 6.6). At most one error per variable (decisions.md C14).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/distributed.hpp"
#include "analysis/passes.hpp"

namespace exocheck::analysis {

class DistributionTable {
 public:
  DistributionTable(PassContext& context, Constructs& constructs)
      : context_(context), constructs_(constructs) {}

  // Starts a device allocation of data or of a barrier; reports E-X01.
  void declare(SymId var, const TilingPtr& tiling, semantics::Location location);

  struct UseResult {
    bool reported = false;               // this use brought an error
    std::optional<Deduction> deduction;  // the tuple of this use; none for variables that are not distributed
  };
  // One use, already followed through windows. Of a variable that is not a device allocation only the implied
  // loops are analysed. `interval_code` replaces E-X10 where an interval is not the whole dimension.
  UseResult use(SymId var, DistributedUse use, std::string_view interval_code = "E-X10");

  // The variable has an error, or a statement ties it to one that has.
  bool failed(SymId var) const;
  // Reports nothing more about the variable: its uses may only be wrong because another variable's are.
  void silence(SymId var);

  // Facts::distribution of every variable without an error.
  void finish() const;

 private:
  struct State {
    DistributedVariable variable;
    bool failed = false;
    std::optional<DistributedUse> first_use;
    Deduction first;
  };

  std::vector<std::optional<std::int64_t>> extents(SymId var) const;
  void report(SymId var, const DistributedUse* use, Refusal refusal, semantics::Location location);

  PassContext& context_;
  Constructs& constructs_;
  std::unordered_map<SymId, State> states_;
  std::vector<SymId> order_;
};

// The collective that owns one shard of a device variable; none: barriers of dialect P. Precondition: a
// memory with a native unit, or a barrier mechanism of the dialect.
std::optional<CollUnit> native_unit(const semantics::ir::Symbol& symbol, semantics::Dialect dialect);

}  // namespace exocheck::analysis
