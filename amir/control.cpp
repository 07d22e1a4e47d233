#include "amir/control.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::amir {

using semantics::ensure;
using semantics::ir::checked_add;
using semantics::ir::checked_mul;
using semantics::ir::overloaded;
namespace prog = semantics::amir;

bool Box::empty() const {
  for (std::size_t d = 0; d < lo.size(); ++d) {
    if (lo[d] >= hi[d]) return true;
  }
  return false;
}

Box evaluate(const prog::Target& target, const Sizes& env) {
  Box box;
  box.lo.reserve(target.index.size());
  box.hi.reserve(target.index.size());
  for (const prog::Window& w : target.index) {
    const std::int64_t lo = semantics::ir::evaluate(*w.lo, env);
    box.lo.push_back(lo);
    box.hi.push_back(w.interval() ? semantics::ir::evaluate(*w.hi, env) : checked_add(lo, 1));
  }
  return box;
}

std::optional<std::vector<std::int64_t>> first_outside(const Box& box,
                                                       const std::vector<std::int64_t>& extents) {
  ensure(box.rank() == extents.size(), "rank of an AMIR access");
  if (box.empty()) return std::nullopt;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    if (box.lo[d] < 0 || box.lo[d] >= extents[d]) return box.lo;
  }
  // The first element is inside; going row-major, the last dimension leaves the allocation first.
  for (std::size_t d = box.rank(); d-- > 0;) {
    if (box.hi[d] > extents[d]) {
      std::vector<std::int64_t> element = box.lo;
      element[d] = extents[d];
      return element;
    }
  }
  return std::nullopt;
}

Box clip(Box box, const std::vector<std::int64_t>& extents) {
  ensure(box.rank() == extents.size(), "rank of an AMIR access");
  for (std::size_t d = 0; d < box.rank(); ++d) {
    box.lo[d] = std::max<std::int64_t>(box.lo[d], 0);
    box.hi[d] = std::min(box.hi[d], extents[d]);
  }
  return box;
}

std::vector<std::int64_t> extents(const prog::Variable& variable, const Sizes& env) {
  std::vector<std::int64_t> out;
  out.reserve(variable.shape.size());
  for (const auto& e : variable.shape)
    out.push_back(std::max<std::int64_t>(semantics::ir::evaluate(*e, env), 0));
  return out;
}

void for_each_element(const Box& box, const std::function<bool(const std::vector<std::int64_t>&)>& visit) {
  if (box.empty()) return;
  std::vector<std::int64_t> element = box.lo;
  for (;;) {
    if (!visit(element)) return;
    std::size_t d = box.rank();
    while (d > 0 && ++element[d - 1] == box.hi[d - 1]) {
      element[d - 1] = box.lo[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

Interval evaluate(const prog::ThreadMap::Dim& dim, const Sizes& env) {
  std::int64_t lo = dim.offset;
  for (const auto& [iter, coefficient] : dim.terms) {
    const auto& value = env[iter];
    ensure(value.has_value(), "unbound iterator in a thread map");
    lo = checked_add(lo, checked_mul(coefficient, *value));
  }
  const std::int64_t hi = checked_add(lo, dim.box);
  ensure(0 <= lo && lo < hi && hi <= dim.extent, "thread map outside its domain");
  return {lo, hi};
}

Control::Control(const Program& program, const Sizes& sizes, const Limits& limits)
    : program_(program), limits_(limits), env_(sizes) {
  ensure(env_.size() >= program.symbol_count, "environment smaller than the program's symbols");
}

ThreadSet Control::threads(const prog::Node& node) const {
  return ThreadSet::of(program_.maps[node.map], env_, task_, program_.threads);
}

Instance Control::instance(const prog::Node& node) const { return {node.id, iterators_, task_}; }

void Control::run(const Leaf& leaf, Outcome& outcome) {
  try {
    run(program_.body, leaf);
  } catch (const semantics::OverflowError& error) {
    limit_ = fmt::format("limit.overflow {}", error.what());
  }
  outcome.nodes_executed = nodes_;
  outcome.steps = steps_;
  outcome.executed_task = executed_task_;
  outcome.limit = limit_;
}

bool Control::run(const prog::Body& body, const Leaf& leaf) {
  for (const prog::Node& node : body) {
    if (!run(node, leaf)) return false;
  }
  return true;
}

bool Control::run(const prog::Node& node, const Leaf& leaf) {
  ++nodes_;
  ++steps_;
  if (!within_limits()) return false;
  return std::visit(overloaded{
                        [&](const prog::Loop& loop) {
                          const std::int64_t lo = semantics::ir::evaluate(*loop.lo, env_);
                          const std::int64_t hi = semantics::ir::evaluate(*loop.hi, env_);
                          for (std::int64_t i = lo; i < hi; ++i) {
                            env_.set(loop.iter, i);
                            iterators_.emplace_back(loop.iter, i);
                            ++steps_;
                            const bool go_on = within_limits() && run(loop.body, leaf);
                            if (!go_on) return false;
                            iterators_.pop_back();
                          }
                          env_.clear(loop.iter);
                          return true;
                        },
                        [&](const prog::Branch& branch) {
                          return run(semantics::ir::evaluate(*branch.condition, env_) != 0 ? branch.then_body
                                                                                           : branch.else_body,
                                     leaf);
                        },
                        [&](const prog::IncTask&) {
                          const bool go_on = leaf(node);
                          task_ = checked_add(task_, 1);
                          executed_task_ = true;
                          return go_on;
                        },
                        [&](const auto&) { return leaf(node); },
                    },
                    node.node);
}

bool Control::spend(std::uint64_t steps) {
  steps_ = steps > limits_.max_steps ? limits_.max_steps + 1 : steps_ + steps;
  return within_limits();
}

bool Control::within_limits() {
  if (limit_) return false;
  if (steps_ > limits_.max_steps) {
    limit_ = fmt::format("limit.steps The run needs more than {} steps.", limits_.max_steps);
  } else if (memory_ > limits_.max_memory_bytes) {
    limit_ =
        fmt::format("limit.memory The run needs more than {} MB of memory.", limits_.max_memory_bytes >> 20);
  } else if (steps_ >= next_clock_check_) {
    next_clock_check_ = steps_ + 4096;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    if (elapsed.count() > limits_.max_seconds) {
      limit_ = fmt::format("limit.time The run needs more than {} seconds.", limits_.max_seconds);
    }
  }
  return !limit_.has_value();
}

}  // namespace exocheck::amir
