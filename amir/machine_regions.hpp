// A partition of a variable's index space into boxes, each with one payload (abstract-machine.md 9.3): a
// binary tree of cuts. Boxes are cut only where an access ends, and neighbours that become equal are joined
// again.
#pragma once

#include <functional>
#include <vector>

#include "amir/control.hpp"

namespace exocheck::amir::working {

class RegionMap {
 public:
  using Payload = std::uint32_t;

  // One region covering [0, extents).
  void reset(const std::vector<std::int64_t>& extents, Payload payload);

  // Calls `visit(payload, lo)` for every region that meets the box; `lo` is the row-major smallest common
  // element. The box must be inside the extents. Regions come in no particular order.
  void visit(const Box& box,
             const std::function<void(Payload, const std::vector<std::int64_t>&)>& visit) const;
  // Replaces the payload of every element in the box by `change(payload)`. Returns the number of regions
  // touched.
  std::uint64_t update(const Box& box, const std::function<Payload(Payload)>& change);
  // Replaces every payload, joining regions that become equal.
  void rewrite(const std::function<Payload(Payload)>& change);

  std::size_t nodes() const { return nodes_.size() - unused_.size(); }

 private:
  struct Node {
    std::int32_t dim = -1;  // -1: a leaf with `payload`; else [.., cut) is in left, [cut, ..) in right
    Payload payload = 0;
    std::int64_t cut = 0;
    std::uint32_t left = 0, right = 0;
  };
  struct Cut {
    std::size_t dim = 0;
    std::int64_t at = 0;
  };

  void visit(std::uint32_t node, Box& part,
             const std::function<void(Payload, const std::vector<std::int64_t>&)>& visit) const;
  void update(std::uint32_t node, const Box& box, const std::function<Payload(Payload)>& change);
  void rewrite(std::uint32_t node, const std::function<Payload(Payload)>& change);
  Cut choose_cut(const Box& box) const;
  std::uint32_t make_leaf(Payload payload);
  void join(std::uint32_t node);

  bool nothing_ = true;  // no elements at all
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> unused_;
  Box space_;  // of the node that is being updated
  std::vector<std::int64_t> extents_;
  std::uint64_t touched_ = 0;
};

}  // namespace exocheck::amir::working
