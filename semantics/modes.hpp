// What an event adds to the visibility of a past access, and how the modes of the checker differ
// (abstract-machine.md 4.9, 7.4; decisions.md N26, O1). The machines and the exports read the same tables.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "semantics/amir_program.hpp"
#include "semantics/timelines.hpp"

namespace exocheck::semantics {

// Visibility of one past access for one (thread, QualTL). `issue` and `weak` make an access witnessable:
// `issue` (I) by an unbroken chain of full hand-overs, `weak` (i) also by temporal ones. `atomic`, `temporal`
// and `full` are what checks ask for.
class Flags {
 public:
  constexpr Flags() = default;
  static const Flags issue, weak, atomic, temporal, full;

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains(Flags other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr std::uint8_t bits() const { return bits_; }
  friend constexpr Flags operator|(Flags a, Flags b) {
    return Flags(static_cast<std::uint8_t>(a.bits_ | b.bits_));
  }
  friend constexpr bool operator==(Flags, Flags) = default;
  friend constexpr auto operator<=>(Flags, Flags) = default;

 private:
  explicit constexpr Flags(std::uint8_t bits) : bits_(bits) {}
  std::uint8_t bits_ = 0;
};
inline constexpr Flags Flags::issue{1}, Flags::weak{2}, Flags::atomic{4}, Flags::temporal{8}, Flags::full{16};

struct FlagRecord {
  Flags flag;
  std::string_view symbol;  // "I"
  std::string_view name;    // "issue"
  std::string_view meaning;
};
std::span<const FlagRecord> all_flags();

// What each event adds.
struct FlagTable {
  Flags in_order;      // new record, issuing threads, in-order access
  Flags out_of_order;  // the same, out of order
  Flags full;          // strong augmentation, timelines of the full set
  Flags temporal;      // strong augmentation, timelines of the temporal set only
  Flags weak;          // weak augmentation, timelines of the temporal set; empty: there are no tiers
};

enum class Mode : std::uint8_t { paper_exact, standard, strict };  // users call `standard` "default"
std::string_view name(Mode mode);

// Which rules are active. Each switch is one repair or strict rule, so that a finding can be attributed to it
// by toggling.
struct ModeRules {
  bool tiers = true;                               // H1, H2: strong and weak issue
  bool atomics_keep_reads = true;                  // H3
  bool forward_progress = true;                    // H6: E-Y04, E-Y06
  bool zero_keeps = true;                          // H9: a mutate on `zero_quals` clears nothing
  amir::Level free_level = amir::Level::temporal;  // of CheckMutates at a free
  bool uninitialised = true;                       // E-Y21, W-Y21
  bool proxy_fence_owner = false;                  // S1
  bool generic_before_async = false;               // S2
};
ModeRules rules_of(Mode mode);
FlagTable flag_table(const ModeRules& rules);

// Timelines whose mutates clear no record (repair H9).
inline constexpr QualSet zero_quals{Qual::wg0};
// Timelines whose accesses make one record for the whole collective even if they are not convergent
// (abstract-machine.md 1.10).
inline constexpr QualSet shared_record_quals{Qual::g2s};

}  // namespace exocheck::semantics
