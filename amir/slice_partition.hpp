// Threads that the statements of a task do not tell apart (all-sizes.md 2).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "amir/thread_set.hpp"

namespace exocheck::amir::slices {

// The classes of a partition of the cluster's threads.
class Partition {
 public:
  explicit Partition(std::int64_t threads) : class_of_(static_cast<std::size_t>(threads), 0) {}

  // Sets that come again change nothing.
  void refine(const ThreadSet& set) {
    std::vector<std::pair<ThreadId, ThreadId>> key;
    for (const ThreadRange& r : set.ranges()) key.emplace_back(r.lo, r.hi);
    if (!refined_by_.insert(std::move(key)).second) return;
    std::map<std::uint32_t, std::uint32_t> split;
    for (const ThreadRange& r : set.ranges()) {
      for (ThreadId t = r.lo; t < r.hi; ++t) {
        std::uint32_t& c = class_of_[static_cast<std::size_t>(t)];
        const auto [at, fresh] = split.try_emplace(c, next_);
        if (fresh) ++next_;
        c = at->second;
      }
    }
  }
  void refine(const std::vector<std::vector<std::int64_t>>& traces) {
    std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, std::uint32_t> split;
    for (std::size_t t = 0; t < class_of_.size(); ++t) {
      const auto [at, fresh] = split.try_emplace({class_of_[t], traces[t]}, next_);
      if (fresh) ++next_;
      class_of_[t] = at->second;
    }
  }
  std::uint32_t at(ThreadId t) const { return class_of_[static_cast<std::size_t>(t)]; }
  // The threads of each class, in ascending order of their first.
  std::vector<std::vector<ThreadId>> members() const {
    std::map<std::uint32_t, std::size_t> position;
    std::vector<std::vector<ThreadId>> out;
    for (std::size_t t = 0; t < class_of_.size(); ++t) {
      const auto [at, fresh] = position.try_emplace(class_of_[t], out.size());
      if (fresh) out.emplace_back();
      out[at->second].push_back(static_cast<ThreadId>(t));
    }
    return out;
  }
  std::size_t threads() const { return class_of_.size(); }

 private:
  std::vector<std::uint32_t> class_of_;
  std::uint32_t next_ = 1;
  std::set<std::vector<std::pair<ThreadId, ThreadId>>> refined_by_;
};

}  // namespace exocheck::amir::slices
