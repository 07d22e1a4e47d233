#include "amir/machine_regions.hpp"

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::amir::working {

void RegionMap::reset(const std::vector<std::int64_t>& extents, Payload payload) {
  extents_ = extents;
  nothing_ = std::any_of(extents.begin(), extents.end(), [](std::int64_t n) { return n <= 0; });
  nodes_.assign(1, Node{-1, payload});
  unused_.clear();
}

std::uint32_t RegionMap::make_leaf(Payload payload) {
  if (!unused_.empty()) {
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    nodes_[id] = Node{-1, payload};
    return id;
  }
  semantics::ensure(nodes_.size() < std::numeric_limits<std::uint32_t>::max(), "regions");
  nodes_.push_back(Node{-1, payload});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

void RegionMap::visit(const Box& box,
                      const std::function<void(Payload, const std::vector<std::int64_t>&)>& visitor) const {
  if (nothing_ || box.empty()) return;
  Box part = box;
  visit(0, part, visitor);
}

void RegionMap::visit(std::uint32_t id, Box& part,
                      const std::function<void(Payload, const std::vector<std::int64_t>&)>& visitor) const {
  const Node& node = nodes_[id];
  if (node.dim < 0) {
    visitor(node.payload, part.lo);
    return;
  }
  const auto d = static_cast<std::size_t>(node.dim);
  const std::int64_t lo = part.lo[d], hi = part.hi[d];
  if (lo < node.cut) {
    part.hi[d] = std::min(hi, node.cut);
    visit(node.left, part, visitor);
    part.hi[d] = hi;
  }
  if (hi > node.cut) {
    part.lo[d] = std::max(lo, node.cut);
    visit(node.right, part, visitor);
    part.lo[d] = lo;
  }
}

std::uint64_t RegionMap::update(const Box& box, const std::function<Payload(Payload)>& change) {
  if (nothing_ || box.empty()) return 0;
  touched_ = 0;
  space_.lo.assign(extents_.size(), 0);
  space_.hi = extents_;
  update(0, box, change);
  return touched_;
}

void RegionMap::update(std::uint32_t id, const Box& box, const std::function<Payload(Payload)>& change) {
  if (nodes_[id].dim < 0) {
    ++touched_;
    const Payload old = nodes_[id].payload;
    const Payload changed = change(old);
    if (changed == old) return;
    bool covered = true;
    for (std::size_t d = 0; d < box.rank() && covered; ++d) {
      covered = box.lo[d] <= space_.lo[d] && space_.hi[d] <= box.hi[d];
    }
    if (covered) {
      nodes_[id].payload = changed;
      return;
    }
    const Cut cut = choose_cut(box);
    const std::uint32_t left = make_leaf(old), right = make_leaf(old);
    nodes_[id] = Node{static_cast<std::int32_t>(cut.dim), 0, cut.at, left, right};
  }
  const Node node = nodes_[id];
  const auto d = static_cast<std::size_t>(node.dim);
  if (box.lo[d] < node.cut) {
    const std::int64_t hi = std::exchange(space_.hi[d], node.cut);
    update(node.left, box, change);
    space_.hi[d] = hi;
  }
  if (box.hi[d] > node.cut) {
    const std::int64_t lo = std::exchange(space_.lo[d], node.cut);
    update(node.right, box, change);
    space_.lo[d] = lo;
  }
  join(id);
}

// Prefers the end of the box that divides the region most evenly. If both are close to a side, the region is
// halved near its middle, at a multiple of the box's length, so that the tree stays shallow and tiles of one
// size stay whole.
RegionMap::Cut RegionMap::choose_cut(const Box& box) const {
  Cut best;
  double balance = -1;
  std::int64_t longest = 0;
  Cut middle;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    const std::int64_t lo = space_.lo[d], hi = space_.hi[d], length = hi - lo;
    for (const std::int64_t at : {box.lo[d], box.hi[d]}) {
      if (at <= lo || at >= hi) continue;
      const double here = static_cast<double>(std::min(at - lo, hi - at)) / static_cast<double>(length);
      if (here > balance) {
        balance = here;
        best = {d, at};
      }
      const std::int64_t tile = std::min(box.hi[d], hi) - std::max(box.lo[d], lo);
      if (length <= longest || tile <= 0) continue;
      longest = length;
      const std::int64_t half = lo + length / 2;
      const std::int64_t from = std::max(box.lo[d], lo);
      middle = {d, from + semantics::ir::floor_div(half - from + tile / 2, tile) * tile};
      if (middle.at <= lo || middle.at >= hi) middle.at = half;
    }
  }
  semantics::ensure(balance >= 0, "a region that needs no cut");
  return balance >= 1.0 / 16 || longest < 16 ? best : middle;
}

void RegionMap::join(std::uint32_t id) {
  Node& node = nodes_[id];
  const Node& left = nodes_[node.left];
  const Node& right = nodes_[node.right];
  if (left.dim >= 0 || right.dim >= 0 || left.payload != right.payload) return;
  unused_.push_back(node.left);
  unused_.push_back(node.right);
  node = Node{-1, left.payload};
}

void RegionMap::rewrite(const std::function<Payload(Payload)>& change) {
  if (!nodes_.empty()) rewrite(0, change);
}

void RegionMap::rewrite(std::uint32_t id, const std::function<Payload(Payload)>& change) {
  if (nodes_[id].dim < 0) {
    nodes_[id].payload = change(nodes_[id].payload);
    return;
  }
  rewrite(nodes_[id].left, change);
  rewrite(nodes_[id].right, change);
  join(id);
}

}  // namespace exocheck::amir::working
