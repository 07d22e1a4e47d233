// Visibility records of the naive machine and the rules that concern one record:
// abstract-machine.md 1.9, 4.3, 4.5, 4.6 in the flag form of 4.9. Nothing here is optimised; it is meant to
// be read next to the specification.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "amir/flags.hpp"

namespace exocheck::amir::naive {

// The collective of one statement instance: the listed threads, or the infinite set G of all threads of all
// tasks.
struct Collective {
  bool everyone = false;
  std::vector<Thread> threads;  // sorted
};

// Stands for every thread in the maps below.
inline constexpr Thread everyone{-1, -1};

struct BarrierElement {
  VarId var{};
  std::vector<std::int64_t> element;
  friend auto operator<=>(const BarrierElement&, const BarrierElement&) = default;
};

// P(z[i]) of a record: the smallest pending arrival per tier; nullopt is infinity. `own` (strict rule S1):
// among the strong ones, those whose Arrive owned the record.
struct Pending {
  std::optional<std::int64_t> strong, weak, own;
  friend bool operator==(const Pending&, const Pending&) = default;
};

struct Record {
  Qual original{};
  std::set<Thread> issuers;                        // {everyone} for a CPU access
  std::map<std::pair<Thread, Qual>, Flags> flags;  // V
  QualSet atomic;                                  // every thread has the atomic flag on these
  std::map<BarrierElement, Pending> pending;       // P
};

// NewRec(K, q, L, Qa, ..) without pending awaits.
Record new_record(const Collective& threads, Qual q, bool in_order, QualSet atomic, const FlagTable& table);

// V(g, q).
Flags visibility(const Record& r, Thread g, Qual q);
// Union of V(g, q) over the collective's threads; for G over every thread that has an entry.
Flags visibility_of_some(const Record& r, const Collective& c, Qual q);

// Does the record meet the demand for some (convergent) or every thread of the collective?
struct Failure {
  std::optional<Thread>
      missing;  // smallest thread that lacks it; none if no thread of a convergent collective has it
  Level held =
      Level::invisible;  // the best that this thread, or any of them, holds on the demanded timelines
};
std::optional<Failure> check(const Record& r, const Collective& c, bool convergent, const Demand& demanded,
                             const ModeRules& rules);

// W(tr, C, Q1, r) with its strength.
Strength witness(const Record& r, const Collective& c, bool transitive, QualSet first);
// own(r, C) of strict rule S1: a thread of C issued r, or holds FULL on an async-proxy timeline.
bool own(const Record& r, const Collective& c);

// A(C, F, T, r). Strong augmentation includes the weak one (decisions.md N26).
void augment_strong(Record& r, const Collective& c, QualSet full, QualSet temporal, const FlagTable& table);
void augment_weak(Record& r, const Collective& c, QualSet temporal, const FlagTable& table);

}  // namespace exocheck::amir::naive
