#include "amir/thread_set.hpp"

#include <algorithm>

#include "amir/control.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

using semantics::ensure;
using semantics::ir::checked_add;
using semantics::ir::checked_mul;

ThreadSet ThreadSet::all() { return range(0, no_thread_above); }

ThreadSet ThreadSet::range(ThreadId lo, ThreadId hi) {
  ThreadSet out;
  out.append(lo, hi);
  return out;
}

ThreadSet ThreadSet::of(const semantics::amir::ThreadMap& map, const Sizes& env, std::int64_t task,
                        std::int64_t stride) {
  if (map.all_threads) return all();
  // From the least significant dimension on: full dimensions are merged into one run, the first partial one
  // ends it.
  std::vector<Interval> intervals;
  intervals.reserve(map.dims.size());
  for (const auto& dim : map.dims) intervals.push_back(evaluate(dim, env));
  std::int64_t pitch = 1;
  std::vector<ThreadRange> ranges{{0, 1}};
  for (std::size_t d = map.dims.size(); d-- > 0;) {
    const auto [lo, hi] = intervals[d];
    std::vector<ThreadRange> next;
    const bool one_run = ranges.size() == 1 && ranges[0].lo == 0 && ranges[0].hi == pitch;
    if (one_run) {
      next.push_back({checked_mul(lo, pitch), checked_mul(hi, pitch)});
    } else {
      for (std::int64_t c = lo; c < hi; ++c) {
        for (const ThreadRange& r : ranges) {
          next.push_back({checked_add(c * pitch, r.lo), checked_add(c * pitch, r.hi)});
        }
      }
    }
    ranges = std::move(next);
    pitch = checked_mul(pitch, map.dims[d].extent);
  }
  ensure(pitch <= stride, "thread map larger than the cluster");
  const ThreadId base = checked_mul(task, stride);
  ThreadSet out;
  for (const ThreadRange& r : ranges) out.append(checked_add(base, r.lo), checked_add(base, r.hi));
  return out;
}

bool ThreadSet::is_all() const {
  return ranges_.size() == 1 && ranges_[0].lo == 0 && ranges_[0].hi == no_thread_above;
}

void ThreadSet::append(ThreadId lo, ThreadId hi) {
  if (lo >= hi) return;
  if (!ranges_.empty() && ranges_.back().hi >= lo) {
    ranges_.back().hi = std::max(ranges_.back().hi, hi);
  } else {
    ranges_.push_back({lo, hi});
  }
}

bool ThreadSet::contains(ThreadId id) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), id,
                                      [](ThreadId value, const ThreadRange& r) { return value < r.hi; });
  return after != ranges_.end() && after->lo <= id;
}

bool ThreadSet::contains(const ThreadSet& other) const {
  auto mine = ranges_.begin();
  for (const ThreadRange& r : other.ranges_) {
    while (mine != ranges_.end() && mine->hi < r.hi) ++mine;
    if (mine == ranges_.end() || mine->lo > r.lo) return false;
  }
  return true;
}

bool ThreadSet::meets(const ThreadSet& other) const {
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    if (a->hi <= b->lo) {
      ++a;
    } else if (b->hi <= a->lo) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

ThreadSet ThreadSet::intersect(const ThreadSet& other) const {
  ThreadSet out;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    out.append(std::max(a->lo, b->lo), std::min(a->hi, b->hi));
    if (a->hi < b->hi) {
      ++a;
    } else {
      ++b;
    }
  }
  return out;
}

ThreadSet ThreadSet::minus(const ThreadSet& other) const {
  ThreadSet out;
  auto b = other.ranges_.begin();
  for (const ThreadRange& r : ranges_) {
    ThreadId at = r.lo;
    while (b != other.ranges_.end() && b->hi <= at) ++b;
    for (auto hole = b; hole != other.ranges_.end() && hole->lo < r.hi; ++hole) {
      out.append(at, std::min(hole->lo, r.hi));
      at = std::max(at, hole->hi);
    }
    out.append(at, r.hi);
  }
  return out;
}

ThreadSet ThreadSet::unite(const ThreadSet& other) const {
  ThreadSet out;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() || b != other.ranges_.end()) {
    const bool take_a = b == other.ranges_.end() || (a != ranges_.end() && a->lo <= b->lo);
    const ThreadRange& r = take_a ? *a++ : *b++;
    out.append(r.lo, r.hi);
  }
  return out;
}

}  // namespace exocheck::amir
