#include "frontend/elaborate_call_graph.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "semantics/errors.hpp"

namespace exocheck::frontend {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// Tarjan's algorithm with an explicit stack: the call chains of a file can be long.
class Tarjan {
 public:
  explicit Tarjan(const CallGraph& callees)
      : callees_(callees),
        order_(callees.size(), none),
        low_(callees.size()),
        component_(callees.size(), none) {}

  std::vector<std::size_t> run() {
    for (std::size_t i = 0; i < callees_.size(); ++i) {
      if (order_[i] == none) visit(i);
    }
    return std::move(component_);
  }

 private:
  struct Frame {
    std::size_t node = 0;
    std::size_t next = 0;
  };

  void enter(std::size_t node) {
    order_[node] = low_[node] = count_++;
    open_.push_back(node);
    frames_.push_back({node, 0});
  }

  void visit(std::size_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::size_t node = frame.node;
      if (frame.next < callees_[node].size()) {
        const std::size_t callee = callees_[node][frame.next++];
        if (order_[callee] == none)
          enter(callee);
        else if (component_[callee] == none)
          low_[node] = std::min(low_[node], order_[callee]);
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        std::size_t& parent = low_[frames_.back().node];
        parent = std::min(parent, low_[node]);
      }
      if (low_[node] == order_[node]) close(node);
    }
  }

  void close(std::size_t root) {
    for (;;) {
      const std::size_t member = open_.back();
      open_.pop_back();
      component_[member] = components_;
      if (member == root) break;
    }
    ++components_;
  }

  const CallGraph& callees_;
  std::vector<std::size_t> order_, low_, component_, open_;
  std::vector<Frame> frames_;
  std::size_t count_ = 0, components_ = 0;
};

}  // namespace

std::vector<std::size_t> components(const CallGraph& callees) { return Tarjan(callees).run(); }

std::vector<std::size_t> cycle_through(const CallGraph& callees, const std::vector<std::size_t>& component,
                                       std::size_t start) {
  std::vector<std::size_t> parent(callees.size(), none);
  std::vector<std::size_t> queue{start};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const std::size_t callee : callees[queue[next]]) {
      if (callee == start) {
        std::vector<std::size_t> cycle{start};
        for (std::size_t step = queue[next]; step != start; step = parent[step]) cycle.push_back(step);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (component[callee] != component[start] || parent[callee] != none) continue;
      parent[callee] = queue[next];
      queue.push_back(callee);
    }
  }
  throw semantics::InternalError("no cycle of calls");
}

void mark_callers(const CallGraph& callees, std::vector<bool>& marked) {
  CallGraph callers(callees.size());
  std::vector<std::size_t> work;
  for (std::size_t i = 0; i < callees.size(); ++i) {
    for (const std::size_t callee : callees[i]) callers[callee].push_back(i);
    if (marked[i]) work.push_back(i);
  }
  while (!work.empty()) {
    const std::size_t callee = work.back();
    work.pop_back();
    for (const std::size_t caller : callers[callee]) {
      if (marked[caller]) continue;
      marked[caller] = true;
      work.push_back(caller);
    }
  }
}

}  // namespace exocheck::frontend
