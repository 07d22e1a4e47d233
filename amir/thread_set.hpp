// Sets of global thread ids (abstract-machine.md 1.2, 9.2): id = task * threads per cluster + local index, 64
// bits. The infinite set of all threads of all tasks (CPU scope) is the interval from 0 to the largest id.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "amir/run.hpp"

namespace exocheck::amir {

using ThreadId = std::int64_t;
inline constexpr ThreadId no_thread_above = std::numeric_limits<ThreadId>::max();

// Half-open, never empty inside a ThreadSet.
struct ThreadRange {
  ThreadId lo = 0, hi = 0;
  friend bool operator==(const ThreadRange&, const ThreadRange&) = default;
};

class ThreadSet {
 public:
  ThreadSet() = default;
  static ThreadSet all();
  // [lo, hi); empty if lo >= hi.
  static ThreadSet range(ThreadId lo, ThreadId hi);
  static ThreadSet single(ThreadId id) { return range(id, id + 1); }
  // The collective of a thread map in one task; `stride` = threads per cluster (abstract-machine.md 1.3).
  // Throws InternalError if the map leaves its domain or the cluster, OverflowError if an id does not fit.
  static ThreadSet of(const semantics::amir::ThreadMap& map, const Sizes& env, std::int64_t task,
                      std::int64_t stride);

  // Sorted, disjoint and not adjacent.
  const std::vector<ThreadRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool is_all() const;
  bool is_single() const { return ranges_.size() == 1 && ranges_[0].hi - ranges_[0].lo == 1; }
  // Preconditions: not empty.
  ThreadId min() const { return ranges_.front().lo; }
  ThreadId end() const { return ranges_.back().hi; }

  bool contains(ThreadId id) const;
  bool contains(const ThreadSet& other) const;
  bool meets(const ThreadSet& other) const;
  ThreadSet intersect(const ThreadSet& other) const;
  ThreadSet minus(const ThreadSet& other) const;
  ThreadSet unite(const ThreadSet& other) const;

  // Builder: appends a range at or above everything already in the set; adjacent ranges are merged.
  void append(ThreadId lo, ThreadId hi);

  friend bool operator==(const ThreadSet&, const ThreadSet&) = default;

 private:
  std::vector<ThreadRange> ranges_;
};

}  // namespace exocheck::amir
