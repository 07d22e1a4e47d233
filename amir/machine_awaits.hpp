// What the Awaits of a barrier can still do, known before the run: which arrivals every one of them covers,
// and to whom they grant what. A pending arrival that can grant nothing new need not be kept.
#pragma once

#include <optional>
#include <vector>

#include "amir/machine_record.hpp"

namespace exocheck::amir::working {

// The flags that a Fence or Await with these second-timeline sets grants.
struct Grants {
  FlagSets strong, withheld, weak;  // `withheld`: strong without what strict rule S1 withholds

  static Grants of(QualSet full, QualSet temporal, const FlagTable& table);
  const FlagSets& to(const RecordValue& r, Strength strength, bool owned, const Rules& rules) const {
    if (strength == Strength::weak) return weak;
    return rules.withholds(r.original, owned) ? withheld : this->strong;
  }
};

// All Awaits on one barrier variable.
class AwaitSummary {
 public:
  // One per variable of the program.
  static std::vector<AwaitSummary> of(const Program& program, const Rules& rules);

  bool any() const { return largest_n_ || largest_lag_; }
  // Arrivals up to the returned index are covered by every later Await on an element with these counters. It
  // never decreases. Precondition: any().
  std::int64_t always_covered(std::int64_t arrivals, std::int64_t awaits) const;
  // True if no Await, as long as the present allocation lives, can tell the record anything through an
  // arrival of this strength. Says false if in doubt.
  bool pointless(const RecordValue& r, Strength strength, std::int64_t task, std::int64_t stride);

 private:
  struct Use {
    semantics::amir::ThreadMap map;  // for all values of its iterators
    FlagSets strong, weak;
    ThreadSet threads;  // in task `task_`
  };
  void add(const semantics::amir::Await& await, const semantics::amir::ThreadMap& map, const Rules& rules);
  static void find(const Program& program, const semantics::amir::Body& body, const Rules& rules,
                   std::vector<AwaitSummary>& out);
  // Allocations that outlive their task, or are awaited by all threads, are not judged.
  bool inside_task_ = true;
  std::optional<std::int64_t> largest_n_;    // among Awaits with n >= 0
  std::optional<std::int64_t> largest_lag_;  // among those with n < 0
  std::vector<Use> uses_;
  std::int64_t task_ = -1;
};

}  // namespace exocheck::amir::working
