// What a second, watched run saw of one element, and how synchronization treated the offending access
// (abstract-machine.md 5, items 3-5).
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "amir/observer.hpp"

namespace exocheck::amir {

// Collects the events of one element. Synchronization that met no live record of it is kept only for the
// barrier itself.
class TraceLog : public Observer {
 public:
  using Event = std::variant<CheckEvent, RecordEvent, SyncEvent>;

  explicit TraceLog(ElementFilter filter) : filter_(std::move(filter)) {}
  std::optional<ElementFilter> filter() const override { return filter_; }
  void on_check(const CheckEvent& event) override;
  void on_record(const RecordEvent& event) override;
  void on_sync(const SyncEvent& event) override;

  const std::vector<Event>& events() const { return events_; }

 private:
  void add(Event event);

  ElementFilter filter_;
  std::vector<Event> events_;
  std::set<std::uint64_t> live_;  // records of the element
};

// Why one sync instance did not give the second access what it needs.
enum class Miss : std::uint8_t {
  time_only,    // ordered in time, but memory effects may stay invisible: second timeline has it in its
                // temporal set only
  weak_chain,   // the collective itself had the access in time only, so that it cannot pass on more (repair
                // H1)
  withheld,     // strict rule S1: a proxy fence by threads that do not own the access
  not_covered,  // Await: the arrival that publishes the access is newer than what this Await waits for
  wrong_timeline,    // second timeline lacks every timeline of the second access
  not_waited_for,    // first timeline does not wait for the kind of access that its threads know
  not_transitive,    // its threads know the access on other timelines than its own, and the first timeline is
                     // not transitive
  never_awaited,     // Arrive: picked it up, but no Await on its barrier covered that arrival
  other_threads,     // ordered it for threads that do not make the second access
  not_known,         // Fence, Arrive: none of its threads knows the access
  nothing_attached,  // Await: no arrival on the barrier carries the access
};

struct NearMiss {
  SyncEvent event;
  std::size_t sequence = 0;  // position in the log
  SyncEffect effect;
  Miss reason{};
  int repetitions = 1;  // instances of the same statement that failed for the same reason
};

// One hazard: the failing check's result for the offending record and what happened to that record in
// between.
struct Hazard {
  CheckEvent check;
  CheckEvent::Result result;            // the first failing one
  std::optional<RecordEvent> creation;  // of the offending record
  std::vector<NearMiss> steps;          // sync instances that took effect, in order (`reason` unused)
  std::vector<NearMiss> misses;         // the most telling ones, in order of execution
};

// nullopt if the log has no failing check (other kinds of violations).
std::optional<Hazard> find_hazard(const TraceLog& log);

}  // namespace exocheck::amir
