// The happens-before graph of a counterexample as data (abstract-machine.md 8.3). graphviz.hpp draws it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace exocheck::amir {

enum class EventKind : std::uint8_t { first_access, second_access, fence, arrive, await };

// One event: an executed statement instance, or several of one statement with nothing else in between.
struct HbEvent {
  EventKind kind = EventKind::fence;
  std::size_t lane = 0;              // index into HbGraph::lanes
  int line = 0;                      // source line
  std::string statement;             // source text
  std::string where;                 // "k = 2"; of collapsed events the last one
  std::vector<std::string> details;  // timelines, barrier counters, what it did; one line each
  int repetitions = 1;               // executions that this event stands for
};

enum class EdgeKind : std::uint8_t {
  program_order,  // one event after the other in a lane
  published,      // the first access becomes known through this step
  arrival,        // Arrive -> the Await that covers it
  near_miss,      // would have helped; the label says why it did not
  hazard,         // first access -> second access: the missing edge
};

struct HbEdge {
  std::size_t from = 0, to = 0;  // indices into HbGraph::events
  EdgeKind kind = EdgeKind::program_order;
  std::string label;
};

// One column: the threads that act together.
struct HbLane {
  std::string title;  // "warps 4-7 (consumer) of cta 0, task 0"
};

struct HbGraph {
  std::string title;  // "sync.war E-Y31 on As[0, 0, 24], K = 5"
  std::vector<HbLane> lanes;
  std::vector<HbEvent> events;  // in order of execution
  std::vector<HbEdge> edges;
  bool empty() const { return events.empty(); }
};

}  // namespace exocheck::amir
