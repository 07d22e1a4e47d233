#include "semantics/modes.hpp"

#include <array>

#include "semantics/errors.hpp"

namespace exocheck::semantics {
namespace {

constexpr std::array flag_records{
    FlagRecord{Flags::atomic, "a", "atomic", "ordered as one atomic is with another"},
    FlagRecord{Flags::temporal, "t", "temporal", "the access has completed"},
    FlagRecord{Flags::full, "f", "full", "the access has completed and its effects are visible"},
    FlagRecord{Flags::weak, "i", "weak issue",
               "a synchronization may pick the access up and pass on its time"},
    FlagRecord{Flags::issue, "I", "strong issue",
               "a synchronization may pick the access up and pass on its effects"},
};

}  // namespace

std::span<const FlagRecord> all_flags() { return flag_records; }

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::paper_exact:
      return "paper-exact";
    case Mode::standard:
      return "default";
    case Mode::strict:
      return "strict";
  }
  throw InternalError("unknown mode");
}

ModeRules rules_of(Mode mode) {
  ModeRules rules;
  switch (mode) {
    case Mode::paper_exact:
      rules.tiers = rules.atomics_keep_reads = rules.forward_progress = rules.zero_keeps =
          rules.uninitialised = false;
      rules.free_level = amir::Level::full;
      return rules;
    case Mode::standard:
      return rules;
    case Mode::strict:
      rules.proxy_fence_owner = rules.generic_before_async = true;
      return rules;
  }
  throw InternalError("unknown mode");
}

FlagTable flag_table(const ModeRules& rules) {
  constexpr Flags I = Flags::issue, i = Flags::weak, a = Flags::atomic, t = Flags::temporal, f = Flags::full;
  if (rules.tiers) {
    return {.in_order = I | i | a | t | f,
            .out_of_order = I | i,
            .full = I | i | a | t | f,
            .temporal = i | t,
            .weak = i | t};
  }
  return {.in_order = I | a | t | f,
          .out_of_order = I | a,
          .full = I | a | t | f,
          .temporal = I | a | t,
          .weak = {}};
}

}  // namespace exocheck::semantics
