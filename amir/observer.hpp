// Watching a run of the working machine: the raw material of race reports, near misses and happens-before
// graphs (abstract-machine.md 5, 8.3). All views are copies made for the call; an observer may keep them.
//
// Usual course: run once without an observer; on a violation run again with a filter for its element.
// Accesses to other elements are then skipped, every synchronization statement and every counter still
// executes, so that the second run ends in the same violation.
#pragma once

#include <optional>
#include <vector>

#include "amir/flags.hpp"
#include "amir/thread_set.hpp"

namespace exocheck::amir {

// Visibility of a record for the threads [first, end), one set of timelines per flag.
struct VisibilityRange {
  ThreadRange threads;
  QualSet issue, weak, atomic, temporal, full;

  Level level(Qual q) const;
};

// An arrival that publishes the record once an Await covers it. Smallest arrival index per tier (decisions.md
// N26, O3); nullopt: none. `always`: the index is so old that every later Await on the element covers it.
struct PendingView {
  VarId barrier{};
  std::vector<std::int64_t> element;
  std::optional<std::int64_t> strong, weak, own;
};

// One past access as the machine knows it at one moment.
struct RecordView {
  std::uint64_t id = 0;                     // stays the same while synchronization changes the record
  std::optional<std::uint64_t> split_from;  // the record whose threads this one was split off from
  Instance created;                         // the RecordRead or RecordMutate, with iterators and task
  bool mutate = false;
  Qual original{};
  ThreadSet threads;        // that made the access
  bool per_thread = false;  // stands for one record per thread of `threads`: each knows its own access only
  std::vector<VisibilityRange> visibility;  // common knowledge; sorted, threads that know nothing left out
  VisibilityRange self;  // per_thread: what each thread of `threads` knows in addition about its own access
  std::vector<PendingView> pending;
};

enum class SyncKind : std::uint8_t { fence, arrive, await };

// What one sync instance did to one live record, and the facts that decided it.
struct SyncEffect {
  RecordView before, after;  // equal (up to the id of a split) if nothing changed
  bool changed = false;
  Strength strength = Strength::none;  // how the record was picked up
  // Fence and Arrive: timelines on which some thread of the collective knows the access (so that it could be
  // picked up).
  QualSet known_on;
  bool first_set_met = false;  // known_on meets the first timeline's set
  bool original_required =
      false;  // it does, but only off the original timeline, and the first timeline is not transitive
  // Await: smallest arrival on this element that publishes the record; nullopt: none was attached. Covered
  // iff <= amax.
  std::optional<std::int64_t> pending;
  QualSet withheld;  // strict rule S1: timelines that got temporal instead of full order
};

struct SyncEvent {
  Instance at;
  SyncKind kind = SyncKind::fence;
  ThreadSet collective;
  QualSet first, full, temporal;  // as far as the statement has them
  bool transitive = false;
  // Arrive (home element) and Await.
  std::optional<VarId> barrier;
  std::vector<std::int64_t> element;
  std::vector<std::vector<std::int64_t>> referenced;  // Arrive: the elements it publishes on
  std::int64_t arrival = 0;  // Arrive: its index k. Await: amax, the newest arrival it covers
  std::int64_t arrivals_before = 0, awaits_before = 0, arrivals_after = 0, awaits_after = 0;
  std::vector<SyncEffect> effects;  // one per live record of the observed elements, oldest first
};

struct CheckEvent {
  Instance at;
  ThreadSet collective;
  bool reads = false;  // CheckReads
  struct Result {
    RecordView record;
    Demand demanded;
    bool ok = true;
    std::optional<ThreadId> missing;  // a thread that lacks it; none for a convergent check
    Level held = Level::invisible;
  };
  std::vector<Result> results;  // oldest record first
};

struct RecordEvent {
  Instance at;
  ThreadSet collective;
  std::vector<RecordView> created;
  std::vector<std::uint64_t> dropped;  // records that the mutate made irrelevant
};

struct ElementFilter {
  VarId var{};
  std::vector<std::int64_t> element;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // nullopt: observe every element (small programs only).
  virtual std::optional<ElementFilter> filter() const = 0;
  virtual void on_check(const CheckEvent& /*event*/) {}
  virtual void on_record(const RecordEvent& /*event*/) {}
  virtual void on_sync(const SyncEvent& /*event*/) {}
};

}  // namespace exocheck::amir
