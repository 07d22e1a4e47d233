#include "amir/machine_visibility.hpp"

#include <algorithm>

namespace exocheck::amir::working {
namespace {

void emit(std::vector<Visibility::Segment>& out, ThreadId lo, ThreadId hi, const FlagSets& flags) {
  if (lo >= hi || flags.empty()) return;
  if (!out.empty() && out.back().hi == lo && out.back().flags == flags) {
    out.back().hi = hi;
  } else {
    out.push_back({lo, hi, flags});
  }
}

}  // namespace

FlagSets FlagSets::of(QualSet quals, Flags flags) {
  const auto where = [&](Flags flag) { return flags.contains(flag) ? quals : QualSet{}; };
  return {where(Flags::issue), where(Flags::weak), where(Flags::atomic), where(Flags::temporal),
          where(Flags::full)};
}

bool FlagSets::contains(const FlagSets& other) const {
  return issue.contains(other.issue) && weak.contains(other.weak) && atomic.contains(other.atomic) &&
         temporal.contains(other.temporal) && full.contains(other.full);
}

QualSet FlagSets::with(Flags flag) const {
  if (flag == Flags::issue) return issue;
  if (flag == Flags::weak) return weak;
  if (flag == Flags::atomic) return atomic;
  if (flag == Flags::temporal) return temporal;
  if (flag == Flags::full) return full;
  return QualSet::from_bits(0xffff);
}

Level FlagSets::level(QualSet quals) const {
  if (full.meets(quals)) return Level::full;
  if (temporal.meets(quals)) return Level::temporal;
  if (known().meets(quals)) return Level::unordered;
  return atomic.meets(quals) ? Level::atomic : Level::invisible;
}

FlagSets operator|(const FlagSets& a, const FlagSets& b) {
  return {a.issue | b.issue, a.weak | b.weak, a.atomic | b.atomic, a.temporal | b.temporal, a.full | b.full};
}

bool Visibility::has(const ThreadSet& threads, const FlagSets& flags) const {
  if (flags.empty()) return true;
  auto s = segments_.begin();
  for (const ThreadRange& r : threads.ranges()) {
    ThreadId at = r.lo;
    while (at < r.hi) {
      while (s != segments_.end() && s->hi <= at) ++s;
      if (s == segments_.end() || s->lo > at || !s->flags.contains(flags)) return false;
      at = s->hi;
    }
  }
  return true;
}

void Visibility::add(const ThreadSet& threads, const FlagSets& flags) {
  if (flags.empty()) return;
  const auto& ranges = threads.ranges();
  std::vector<Segment> out;
  out.reserve(segments_.size() + 2 * ranges.size());
  std::size_t i = 0, j = 0;
  ThreadId at = 0;
  while (i < segments_.size() || j < ranges.size()) {
    const ThreadId segment_lo = i < segments_.size() ? segments_[i].lo : no_thread_above;
    const ThreadId range_lo = j < ranges.size() ? ranges[j].lo : no_thread_above;
    at = std::max(at, std::min(segment_lo, range_lo));
    const bool in_segment = segment_lo <= at, in_range = range_lo <= at;
    const bool more_segments = i < segments_.size(), more_ranges = j < ranges.size();
    const ThreadId next = std::min(in_segment && more_segments ? segments_[i].hi : segment_lo,
                                   in_range && more_ranges ? ranges[j].hi : range_lo);
    FlagSets here = in_segment && more_segments ? segments_[i].flags : FlagSets{};
    if (in_range && more_ranges) here = here | flags;
    emit(out, at, next, here);
    at = next;
    if (more_segments && segments_[i].hi <= at) ++i;
    if (more_ranges && ranges[j].hi <= at) ++j;
  }
  segments_ = std::move(out);
}

void Visibility::join_below(ThreadId end) {
  FlagSets joined;
  for (const Segment& s : segments_) {
    if (s.lo < end) joined = joined | s.flags;
  }
  if (joined.empty()) return;
  std::vector<Segment> out;
  emit(out, 0, end, joined);
  for (const Segment& s : segments_) emit(out, std::max(s.lo, end), s.hi, s.flags);
  segments_ = std::move(out);
}

FlagSets Visibility::at(ThreadId thread) const { return some_of(ThreadSet::single(thread)); }

FlagSets Visibility::some_of(const ThreadSet& threads) const {
  FlagSets out;
  auto r = threads.ranges().begin();
  const auto end = threads.ranges().end();
  for (const Segment& s : segments_) {
    while (r != end && r->hi <= s.lo) ++r;
    if (r == end) break;
    if (r->lo < s.hi) out = out | s.flags;
  }
  return out;
}

FlagSets Visibility::summary() const {
  FlagSets out;
  for (const Segment& s : segments_) out = out | s.flags;
  return out;
}

ThreadSet Visibility::lacking(const ThreadSet& threads, Flags flag, QualSet quals) const {
  ThreadSet out;
  auto s = segments_.begin();
  for (const ThreadRange& r : threads.ranges()) {
    ThreadId at = r.lo;
    while (at < r.hi) {
      while (s != segments_.end() && s->hi <= at) ++s;
      if (s == segments_.end() || s->lo >= r.hi) {
        out.append(at, r.hi);
        break;
      }
      out.append(at, s->lo);
      const ThreadId from = std::max(at, s->lo), to = std::min(s->hi, r.hi);
      if (!s->flags.with(flag).meets(quals)) out.append(from, to);
      at = to;
    }
  }
  return out;
}

std::size_t Visibility::hash() const {
  std::size_t h = segments_.size();
  for (const Segment& s : segments_) {
    h = mix(h, static_cast<std::uint64_t>(s.lo));
    h = mix(h, static_cast<std::uint64_t>(s.hi));
    h = mix(h, (std::uint64_t{s.flags.issue.bits()} << 32) | (std::uint64_t{s.flags.weak.bits()} << 16) |
                   s.flags.atomic.bits());
    h = mix(h, (std::uint64_t{s.flags.temporal.bits()} << 16) | s.flags.full.bits());
  }
  return h;
}

}  // namespace exocheck::amir::working
