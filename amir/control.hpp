// The control part of a run: loops, branches, task ids, limits and concrete windows
// (abstract-machine.md 1.1, 4.1). Control never depends on data, so the interpreters share it; what a leaf
// does to the records is theirs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "amir/run.hpp"
#include "amir/thread_set.hpp"

namespace exocheck::amir {

// A product of half-open intervals of indices. Rank 0: exactly one element, the scalar.
struct Box {
  std::vector<std::int64_t> lo, hi;

  std::size_t rank() const { return lo.size(); }
  bool empty() const;
};

// The elements that `target` denotes before clipping. Throws OverflowError.
Box evaluate(const semantics::amir::Target& target, const Sizes& env);
// The row-major smallest element of the box outside [0, extents); nullopt if there is none.
std::optional<std::vector<std::int64_t>> first_outside(const Box& box,
                                                       const std::vector<std::int64_t>& extents);
// The part of the box inside [0, extents).
Box clip(Box box, const std::vector<std::int64_t>& extents);
// Extents of a variable in the environment; negative ones count as 0.
std::vector<std::int64_t> extents(const semantics::amir::Variable& variable, const Sizes& env);
// Calls `visit` with every element of the box, row-major, until it returns false.
void for_each_element(const Box& box, const std::function<bool(const std::vector<std::int64_t>&)>& visit);

// The interval [lo, hi) of one dimension of a thread map. Throws InternalError if it leaves [0, extent): the
// static analyses exclude that.
struct Interval {
  std::int64_t lo = 0, hi = 0;
};
Interval evaluate(const semantics::amir::ThreadMap::Dim& dim, const Sizes& env);

// Walks the program and hands every executed leaf to a handler.
class Control {
 public:
  // The handler returns false to stop the run (a violation was found).
  using Leaf = std::function<bool(const semantics::amir::Node&)>;

  Control(const Program& program, const Sizes& sizes, const Limits& limits);

  // Runs the body to its end, to a stop, or to a limit; overflow of index arithmetic is a limit, too.
  // Fills nodes_executed, executed_task and limit of `outcome`.
  void run(const Leaf& leaf, Outcome& outcome);

  const Sizes& environment() const { return env_; }
  std::int64_t task() const { return task_; }
  // The threads that execute the node now.
  ThreadSet threads(const semantics::amir::Node& node) const;
  // The node with the current iterators and task.
  Instance instance(const semantics::amir::Node& node) const;
  // Counts work of a leaf against the limits. False: they are exceeded and the run has to stop.
  bool spend(std::uint64_t steps);
  // Bytes the run holds at present, as far as known.
  void set_memory(std::uint64_t bytes) { memory_ = bytes; }
  std::uint64_t memory() const { return memory_; }

 private:
  bool run(const semantics::amir::Body& body, const Leaf& leaf);
  bool run(const semantics::amir::Node& node, const Leaf& leaf);
  bool within_limits();

  const Program& program_;
  const Limits limits_;
  Sizes env_;
  std::int64_t task_ = 0;
  bool executed_task_ = false;
  std::vector<std::pair<SymId, std::int64_t>> iterators_;
  std::uint64_t nodes_ = 0, steps_ = 0, memory_ = 0, next_clock_check_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<std::string> limit_;
};

}  // namespace exocheck::amir
