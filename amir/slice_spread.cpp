#include "amir/slice_spread.hpp"

#include <set>

namespace exocheck::amir::slices {

namespace prog = semantics::amir;

namespace {

// Who may know of the element's accesses, and where arrivals may publish them, followed through the slice.
class Spread {
 public:
  Spread(const Slice& slice, const BarrierGroups& groups)
      : slice_(slice), groups_(groups), relevant_(slice.leaves.size(), 0) {}

  std::vector<char> run() {
    follow(slice_.items);
    for (std::size_t i = 0; i < slice_.leaves.size(); ++i) {
      const prog::Node& node = *slice_.leaves[i].node;
      if (std::holds_alternative<prog::Fence>(node.node)) continue;
      const bool counts =
          std::holds_alternative<prog::Arrive>(node.node) || std::holds_alternative<prog::Await>(node.node);
      if (!counts) {
        relevant_[i] = 1;
        continue;
      }
      // Indices of arrivals are relative: of a group that publishes something all arrivals and awaits count.
      if (any_pending(slice_.leaves[i].barriers.front())) relevant_[i] = 1;
    }
    return std::move(relevant_);
  }

 private:
  using Place = std::pair<VarId, std::uint32_t>;  // a multicast group

  std::vector<Place> places(const BarrierPart& part) {
    std::vector<Place> out;
    if (part.elements) {
      for (const std::int64_t flat : *part.elements)
        out.emplace_back(part.var, groups_.at(part.var)[static_cast<std::size_t>(flat)]);
    } else {
      out.emplace_back(part.var, ~0u);  // any
    }
    return out;
  }
  bool any_pending(const BarrierPart& part) {
    for (const auto& place : places(part)) {
      if (pending_.contains(place) || pending_.contains({place.first, ~0u})) return true;
      if (place.second != ~0u) continue;
      const auto first = pending_.lower_bound({place.first, 0});
      if (first != pending_.end() && first->first == place.first) return true;
    }
    return false;
  }
  void know(const ThreadSet& threads) {
    if (known_.contains(threads)) return;
    known_ = known_.unite(threads);
    ++changes_;
  }
  void publish(const BarrierPart& part) {
    for (const auto& place : places(part)) changes_ += pending_.insert(place).second ? 1 : 0;
  }
  void follow(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::loop) {
        for (;;) {
          const std::uint64_t before = changes_;
          follow(item.block->body);
          if (changes_ == before) break;
        }
        continue;
      }
      if (item.kind == Item::Kind::branch) {
        follow(item.block->body);
        follow(item.block->otherwise);
        continue;
      }
      const SliceLeaf& leaf = slice_.leaves[item.leaf];
      if (std::holds_alternative<prog::Record>(leaf.node->node)) {
        know(leaf.threads);
        for (const BarrierPart& part : leaf.barriers) publish(part);
      } else if (std::holds_alternative<prog::Fence>(leaf.node->node)) {
        if (!known_.meets(leaf.threads)) continue;
        relevant_[item.leaf] = 1;
        know(leaf.threads);
      } else if (std::holds_alternative<prog::Arrive>(leaf.node->node)) {
        if (!known_.meets(leaf.threads)) continue;
        for (std::size_t i = 1; i < leaf.barriers.size(); ++i) publish(leaf.barriers[i]);
      } else if (std::holds_alternative<prog::Await>(leaf.node->node)) {
        if (any_pending(leaf.barriers.front())) know(leaf.threads);
      }
    }
  }

  const Slice& slice_;
  const BarrierGroups& groups_;
  std::vector<char> relevant_;
  ThreadSet known_;
  std::set<Place> pending_;
  std::uint64_t changes_ = 0;
};

}  // namespace

std::vector<char> relevant_leaves(const Slice& slice, const BarrierGroups& groups) {
  return Spread(slice, groups).run();
}

}  // namespace exocheck::amir::slices
