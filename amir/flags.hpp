// How checks and synchronization use the visibility flags of semantics/modes.hpp
// (abstract-machine.md 4.4, 4.5, 4.9).
#pragma once

#include <cstdint>

#include "amir/run.hpp"

namespace exocheck::amir {

using semantics::flag_table;
using semantics::Flags;
using semantics::FlagTable;

// How a sync statement picks up an access. Weak exists with tiers only.
enum class Strength : std::uint8_t { none, weak, strong };

// The flag a check at `level` asks for. `unordered` is not a level of checks; it asks for `weak`, or `issue`
// without tiers.
Flags required_flag(Level level, const ModeRules& rules);
// The strongest level that the flags amount to.
Level level_of(Flags flags);

// Timelines of accesses to which the strict rules apply (decisions.md O3).
inline constexpr QualSet generic_quals{Qual::ram, Qual::cp80};

// Strict rule S1: a strong augmentation whose collective does not own the record gives the async-proxy
// timelines only temporal order. Returns the full set that is really given.
constexpr QualSet granted_full(QualSet full, Qual original, bool own, const ModeRules& rules) {
  const bool withheld = rules.proxy_fence_owner && generic_quals.contains(original) && !own;
  return withheld ? full - semantics::async_proxy_quals : full;
}

// The demand of a check on one record (abstract-machine.md 4.5 and strict rule S2): one of `quals` at
// `level`.
struct Demand {
  Level level = Level::full;
  QualSet quals;
  friend bool operator==(const Demand&, const Demand&) = default;
};
// Rule S2 raises the level to FULL on the async-proxy timelines for records of generic accesses.
Demand demand(const semantics::amir::Check& check, Qual original, const ModeRules& rules);

// Does a mutate keep the mutate records (reads) of its elements? abstract-machine.md 4.4, repairs H3 and H9.
bool keeps_mutates(const semantics::amir::Record& mutate, const ModeRules& rules);
bool keeps_reads(const semantics::amir::Record& mutate, const ModeRules& rules);

// "E-Y30", "E-Y31", "E-Y32" or "E-Y12": the rule that a failed check breaks.
std::string_view code_of(const semantics::amir::Check& check);

// One record for the whole collective: convergent accesses, TMA loads (abstract-machine.md 1.10) and CPU
// accesses.
bool one_record(const semantics::amir::Record& record, bool all_threads);

}  // namespace exocheck::amir
