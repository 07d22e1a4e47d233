// The live records of a run. Equal records are one object: a sync statement costs per distinct record. A
// record whose value changed into that of another becomes a link to it; a family that was cut in two becomes
// a link to both parts. Holders of ids resolve such links lazily.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "amir/machine_record.hpp"

namespace exocheck::amir::working {

using RecordId = std::uint32_t;

// Where an observed record came from.
struct Provenance {
  std::uint64_t lineage = 0;
  std::optional<std::uint64_t> split_from;
  Instance created;
  bool mutate = false;
  ThreadSet threads;  // that made the access
  bool per_thread = false;
};

class RecordTable {
 public:
  // `observed`: records carry their provenance and are never merged.
  RecordTable(const Rules& rules, bool observed) : rules_(rules), observed_(observed) {}

  const RecordValue& value(RecordId id) const { return nodes_[id].value; }
  const Provenance& provenance(RecordId id) const { return provenance_[nodes_[id].provenance]; }
  bool is_value(RecordId id) const { return nodes_[id].kind == Kind::value; }

  // The record with this value; observed: a new one in any case.
  RecordId insert(RecordValue value, const std::function<Provenance()>& provenance);
  // Appends what `start` stands for now to `out`, oldest first, without repeating an id that is in `out`.
  void resolve(RecordId start, std::vector<RecordId>& out) const;

  // A change of records by one sync statement. Several records may become equal only after all have changed,
  // so the changes are collected and settled together. Replaces the value of `id`.
  void change(RecordId id, RecordValue value);
  // Cuts a family: `rest` keeps the lineage, `part` (of the members `part_threads`) is the piece that the
  // statement treated differently. Returns the ids of both, rest first.
  std::pair<RecordId, RecordId> split(RecordId id, RecordValue rest, RecordValue part,
                                      const ThreadSet& part_threads);
  // Merges what has become equal. Ends the collection.
  void settle();

  // Ids of all records, not in any particular order; valid until the next insert or settle.
  const std::vector<RecordId>& active() const { return active_; }
  // Ids of the records that have a pending arrival on the barrier element.
  std::vector<RecordId> pending_on(BarrierUid barrier);
  // Cheap tests on a record: can a witness over these timelines and threads succeed at all?
  bool may_know(RecordId id, QualSet timelines, const ThreadSet& threads) const {
    const Node& n = nodes_[id];
    return n.known.meets(timelines) && n.lo < threads.end() && threads.min() < n.hi;
  }

  // Frees every record that is not marked, applies `simplify` to the others and merges those that become
  // equal. All ids held outside must be resolved before.
  void collect(const std::vector<bool>& marked, const std::function<void(RecordValue&)>& simplify);
  // Ids are below capacity(); used() of them are records or links.
  std::size_t capacity() const { return nodes_.size(); }
  std::size_t used() const { return nodes_.size() - unused_.size(); }
  // Estimate; looks at every record.
  std::size_t memory_bytes() const;

 private:
  enum class Kind : std::uint8_t { unused, value, forward, split };
  struct Node {
    Kind kind = Kind::unused;
    RecordId first = 0, second = 0;  // forward: first; split: both parts
    std::uint32_t provenance = 0;
    // Summary of the value.
    QualSet known;
    ThreadId lo = 0, hi = 0;
    std::size_t hash = 0;
    std::uint64_t visit = 0;  // mark of pending_on()
    RecordValue value;
  };

  RecordId fresh(RecordValue value, std::uint32_t provenance);
  void summarise(Node& node);
  void unlink(RecordId id);
  // Makes `id` findable by value, or a link to the record that has its value already.
  void link(RecordId id);
  void index_pending(RecordId id);

  const Rules& rules_;
  const bool observed_;
  std::vector<Node> nodes_;
  std::vector<RecordId> unused_;
  std::vector<RecordId> active_;
  std::vector<RecordId> changed_;
  std::unordered_multimap<std::size_t, RecordId> by_hash_;
  std::unordered_map<BarrierUid, std::vector<RecordId>> by_barrier_;
  std::vector<Provenance> provenance_;
  std::uint64_t lineages_ = 0, visit_ = 0;
};

}  // namespace exocheck::amir::working
