// The visibility function V of a record as a sorted list of thread ranges with equal flags
// (abstract-machine.md 9.2).
#pragma once

#include <vector>

#include "amir/flags.hpp"
#include "amir/thread_set.hpp"

namespace exocheck::amir::working {

// For one thread: on which timelines each flag is set.
struct FlagSets {
  QualSet issue, weak, atomic, temporal, full;

  // Every timeline of `quals` carries `flags`.
  static FlagSets of(QualSet quals, Flags flags);
  bool empty() const { return *this == FlagSets{}; }
  bool contains(const FlagSets& other) const;
  // Timelines on which `flag` (a single flag, or none: all timelines) is set.
  QualSet with(Flags flag) const;
  QualSet known() const { return issue | weak; }
  // The best level on one of the timelines.
  Level level(QualSet quals) const;
  friend FlagSets operator|(const FlagSets& a, const FlagSets& b);
  friend bool operator==(const FlagSets&, const FlagSets&) = default;
};

class Visibility {
 public:
  struct Segment {
    ThreadId lo = 0, hi = 0;  // half-open
    FlagSets flags;           // not empty
    friend bool operator==(const Segment&, const Segment&) = default;
  };

  // Sorted, disjoint; adjacent segments differ.
  const std::vector<Segment>& segments() const { return segments_; }

  // Would add() change anything?
  bool has(const ThreadSet& threads, const FlagSets& flags) const;
  void add(const ThreadSet& threads, const FlagSets& flags);
  // Gives all threads below `end` what any of them knows (they belong to tasks that have ended).
  void join_below(ThreadId end);

  FlagSets at(ThreadId thread) const;
  // Union over the threads of the set.
  FlagSets some_of(const ThreadSet& threads) const;
  // Union over all threads.
  FlagSets summary() const;
  // The threads of the set that lack `flag` on every timeline of `quals`.
  ThreadSet lacking(const ThreadSet& threads, Flags flag, QualSet quals) const;

  std::size_t hash() const;
  friend bool operator==(const Visibility&, const Visibility&) = default;

 private:
  std::vector<Segment> segments_;
};

// Mixes `value` into a running hash.
constexpr std::size_t mix(std::size_t hash, std::uint64_t value) {
  return (hash ^ (value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2))) * 0xff51afd7ed558ccdull;
}

}  // namespace exocheck::amir::working
