#include "amir/machine_records.hpp"

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::amir::working {

void RecordTable::summarise(Node& node) {
  const RecordValue& r = node.value;
  node.known = r.visibility.summary().known();
  const auto& segments = r.visibility.segments();
  node.lo = segments.empty() ? no_thread_above : segments.front().lo;
  node.hi = segments.empty() ? 0 : segments.back().hi;
  if (r.family()) {
    node.known = node.known | QualSet{r.original};
    node.lo = std::min(node.lo, r.members.min());
    node.hi = std::max(node.hi, r.members.end());
  }
  node.hash = r.hash();
}

RecordId RecordTable::fresh(RecordValue value, std::uint32_t provenance) {
  RecordId id;
  if (unused_.empty()) {
    semantics::ensure(nodes_.size() < std::numeric_limits<RecordId>::max(), "record ids");
    id = static_cast<RecordId>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Node& node = nodes_[id];
  node.kind = Kind::value;
  node.provenance = provenance;
  node.value = std::move(value);
  summarise(node);
  active_.push_back(id);
  return id;
}

void RecordTable::unlink(RecordId id) {
  const auto [first, last] = by_hash_.equal_range(nodes_[id].hash);
  for (auto at = first; at != last; ++at) {
    if (at->second == id) {
      by_hash_.erase(at);
      return;
    }
  }
}

void RecordTable::link(RecordId id) {
  Node& node = nodes_[id];
  const auto [first, last] = by_hash_.equal_range(node.hash);
  for (auto at = first; at != last && !observed_; ++at) {
    if (nodes_[at->second].value != node.value) continue;
    node.kind = Kind::forward;
    node.first = at->second;
    node.value = {};
    return;
  }
  by_hash_.emplace(node.hash, id);
}

void RecordTable::index_pending(RecordId id) {
  for (const Pending& p : nodes_[id].value.pending) by_barrier_[p.barrier].push_back(id);
}

RecordId RecordTable::insert(RecordValue value, const std::function<Provenance()>& provenance) {
  if (!observed_) {
    const auto [first, last] = by_hash_.equal_range(value.hash());
    for (auto at = first; at != last; ++at) {
      if (nodes_[at->second].value == value) return at->second;
    }
  } else {
    provenance_.push_back(provenance());
    provenance_.back().lineage = ++lineages_;
  }
  const auto last_provenance = static_cast<std::uint32_t>(provenance_.size()) - (observed_ ? 1u : 0u);
  const RecordId id = fresh(std::move(value), last_provenance);
  link(id);
  index_pending(id);
  return id;
}

void RecordTable::resolve(RecordId start, std::vector<RecordId>& out) const {
  // Chains of links may be long: no recursion.
  std::vector<RecordId> stack{start};
  while (!stack.empty()) {
    const RecordId id = stack.back();
    stack.pop_back();
    const Node& node = nodes_[id];
    switch (node.kind) {
      case Kind::value:
        if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
        break;
      case Kind::forward:
        stack.push_back(node.first);
        break;
      case Kind::split:
        stack.push_back(node.second);
        stack.push_back(node.first);
        break;
      case Kind::unused:
        throw semantics::InternalError("id of a freed record");
    }
  }
}

void RecordTable::change(RecordId id, RecordValue value) {
  unlink(id);
  Node& node = nodes_[id];
  for (const Pending& p : value.pending) {
    if (node.value.find_pending(p.barrier) == nullptr) by_barrier_[p.barrier].push_back(id);
  }
  node.value = std::move(value);
  summarise(node);
  changed_.push_back(id);
}

std::pair<RecordId, RecordId> RecordTable::split(RecordId id, RecordValue rest, RecordValue part,
                                                 const ThreadSet& part_threads) {
  unlink(id);
  std::uint32_t rest_provenance = 0, part_provenance = 0;
  if (observed_) {
    Provenance piece = provenance_[nodes_[id].provenance];
    Provenance remainder = piece;
    remainder.threads = piece.threads.minus(part_threads);
    remainder.per_thread = rest.family();
    piece.split_from = piece.lineage;
    piece.lineage = ++lineages_;
    piece.threads = part_threads;
    piece.per_thread = part.family();
    rest_provenance = static_cast<std::uint32_t>(provenance_.size());
    part_provenance = rest_provenance + 1;
    provenance_.push_back(std::move(remainder));
    provenance_.push_back(std::move(piece));
  }
  // The records of the lowest threads come first, as if every thread had its own.
  const bool part_first = part_threads.min() < nodes_[id].value.members.minus(part_threads).min();
  const RecordId rest_id = fresh(std::move(rest), rest_provenance);
  const RecordId part_id = fresh(std::move(part), part_provenance);
  Node& node = nodes_[id];
  node.kind = Kind::split;
  node.first = part_first ? part_id : rest_id;
  node.second = part_first ? rest_id : part_id;
  node.value = {};
  for (const RecordId piece : {rest_id, part_id}) {
    index_pending(piece);
    changed_.push_back(piece);
  }
  return {rest_id, part_id};
}

void RecordTable::settle() {
  if (changed_.empty()) return;
  for (const RecordId id : changed_) link(id);
  changed_.clear();
  std::erase_if(active_, [this](RecordId id) { return nodes_[id].kind != Kind::value; });
}

std::vector<RecordId> RecordTable::pending_on(BarrierUid barrier) {
  const auto entry = by_barrier_.find(barrier);
  if (entry == by_barrier_.end()) return {};
  std::vector<RecordId> resolved;
  ++visit_;
  std::vector<RecordId> stack(entry->second.rbegin(), entry->second.rend());
  while (!stack.empty()) {
    const RecordId id = stack.back();
    stack.pop_back();
    Node& node = nodes_[id];
    if (node.visit == visit_) continue;
    node.visit = visit_;
    if (node.kind == Kind::value) {
      if (node.value.find_pending(barrier) != nullptr) resolved.push_back(id);
    } else {
      if (node.kind == Kind::split) stack.push_back(node.second);
      if (node.kind != Kind::unused) stack.push_back(node.first);
    }
  }
  entry->second = resolved;
  return resolved;
}

void RecordTable::collect(const std::vector<bool>& marked,
                          const std::function<void(RecordValue&)>& simplify) {
  by_hash_.clear();
  by_barrier_.clear();
  active_.clear();
  unused_.clear();
  for (RecordId id = 0; id < nodes_.size(); ++id) {
    Node& node = nodes_[id];
    if (!marked[id]) {
      node = {};
      unused_.push_back(id);
      continue;
    }
    simplify(node.value);
    summarise(node);
    link(id);
    if (node.kind != Kind::value) continue;
    active_.push_back(id);
    index_pending(id);
  }
}

std::size_t RecordTable::memory_bytes() const {
  std::size_t bytes = nodes_.size() * (sizeof(Node) + 64) + provenance_.size() * (sizeof(Provenance) + 256);
  for (const RecordId id : active_) {
    const RecordValue& r = nodes_[id].value;
    bytes += r.visibility.segments().size() * sizeof(Visibility::Segment) +
             r.pending.size() * 2 * sizeof(Pending) +
             (r.members.ranges().size() + r.issuers.ranges().size()) * sizeof(ThreadRange);
  }
  return bytes;
}

}  // namespace exocheck::amir::working
