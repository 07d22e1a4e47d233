#include "amir/slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "amir/flags.hpp"
#include "amir/rounds.hpp"
#include "amir/slice_partition.hpp"
#include "amir/slice_spread.hpp"
#include "amir/slice_text.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;

std::optional<std::uint32_t> Slice::find(VarId barrier, std::int64_t flat) const {
  for (std::uint32_t i = 0; i < barriers.size(); ++i) {
    if (barriers[i].var == barrier && barriers[i].flat == flat) return i;
  }
  return std::nullopt;
}

namespace {

constexpr std::uint64_t most_touches = 4'000'000;
constexpr std::uint64_t most_slice_leaves = 20'000'000;

class Slicer {
 public:
  Slicer(const Unit& unit, Formulas& formulas, const ModeRules& rules, bool merge)
      : unit_(unit),
        formulas_(formulas),
        rules_(rules),
        merge_(merge),
        sync_classes_(unit.program->threads) {}

  SliceSet run() {
    path_of_.resize(unit_.leaves.size());
    places_.resize(unit_.leaves.size());
    std::vector<Place> places;
    enclosing(unit_.items, {}, places);
    sort_leaves();
    group_barriers();
    if (rules_.forward_progress) {
      Rounds rounds(*unit_.program);
      follow_rounds(unit_.items, rounds);
    }
    classify();
    for (const auto& local : unit_.locals) {
      if (local && local->checked) slice_variable(*local);
    }
    slice_counters();
    return std::move(out_);
  }

 private:
  struct Touch {
    std::uint32_t leaf;
    FormulaId hit;
  };
  struct Cell {
    std::vector<std::int64_t> first;
    std::vector<Touch> touches;
  };

  const prog::Variable& variable(VarId v) const { return unit_.program->variables[index(v)]; }
  // A loop, or one side of a branch.
  struct Place {
    const Item* item = nullptr;
    bool otherwise = false;
    friend bool operator==(const Place&, const Place&) = default;
  };
  void enclosing(const std::vector<Item>& items, const Key& path, std::vector<Place>& places);
  void sort_leaves();
  std::int64_t count(VarId barrier) const { return element_count(*unit_.locals[index(barrier)]); }
  void group_barriers();
  // Throws GiveUp if an Arrive may count in the wrong round.
  void follow_rounds(const std::vector<Item>& items, Rounds& rounds) const;
  void classify();
  // Once, and neither in a loop nor in a branch.
  bool allocated_once(VarId var) const { return by_variable_[index(var)].allocations == 1; }
  void slice_variable(const LocalVariable& x);
  // Initialisations that change nothing and reads of elements that are certainly initialised.
  std::set<std::uint32_t> certainly_initialised(const LocalVariable& x) const;
  std::vector<Cell> cells(const LocalVariable& x, const std::vector<std::uint32_t>& touching);
  bool one_collective(const LocalVariable& x, const Cell& cell) const;
  Key signature(const Cell& cell, const Partition& partition) const;
  // `skeleton`: the leaves, apart from accesses, that can belong to a slice of x.
  void build(const LocalVariable& x, const Cell& cell, const std::vector<std::vector<ThreadId>>& classes,
             const std::vector<std::uint32_t>& skeleton);
  void slice_counters();
  void finish(Slice slice);

  // Without synchronization that cannot change what anybody knows of the element: nobody in its collective
  // can know of an access at that place, and nothing can be pending on its barrier.
  void drop_irrelevant(Slice& slice) const;
  std::vector<Item> assemble(const std::vector<SliceLeaf>& leaves) const;
  void number_barriers(Slice& slice) const;

  const Unit& unit_;
  Formulas& formulas_;
  const ModeRules& rules_;
  const bool merge_;
  // Bounds and conditions around a leaf, as a number; 0: none.
  std::map<Key, std::uint32_t> paths_{{Key{}, 0}};
  std::vector<std::uint32_t> path_of_;      // by leaf
  std::vector<std::vector<Place>> places_;  // by leaf
  BarrierGroups groups_;
  // Leaves, ascending: accesses to a variable; what begins and ends its life; arrivals on it and awaits of
  // it.
  struct Uses {
    std::vector<std::uint32_t> accesses, life, counts;
    int allocations = 0;  // those in loops and branches count twice
  };
  std::vector<Uses> by_variable_;        // by VarId
  std::set<VarId> symbolic_;             // barriers of which an iterator chooses elements
  std::vector<std::uint32_t> skeleton_;  // synchronization, and what begins and ends the life of barriers
  Partition sync_classes_;
  std::set<Key> seen_;
  std::uint64_t built_ = 0;
  SliceSet out_;
};

void Slicer::enclosing(const std::vector<Item>& items, const Key& path, std::vector<Place>& places) {
  const std::uint32_t number =
      paths_.try_emplace(path, static_cast<std::uint32_t>(paths_.size())).first->second;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::leaf) {
      path_of_[item.leaf] = number;
      places_[item.leaf] = places;
      continue;
    }
    Key inner = path;
    places.push_back({&item, false});
    if (item.kind == Item::Kind::loop) {
      put(inner, item.block->lo);
      put(inner, item.block->hi);
      enclosing(item.block->body, inner, places);
    } else {
      inner.insert(inner.end(), {-1, static_cast<std::int64_t>(item.block->condition)});
      enclosing(item.block->body, inner, places);
      inner.back() = -1 - inner.back();
      places.back().otherwise = true;
      enclosing(item.block->otherwise, inner, places);
    }
    places.pop_back();
  }
}

void Slicer::sort_leaves() {
  by_variable_.resize(unit_.program->variables.size());
  for (std::uint32_t i = 0; i < unit_.leaves.size(); ++i) {
    const prog::Node& node = *unit_.leaves[i].node;
    if (const auto var = accessed(node)) by_variable_[index(*var)].accesses.push_back(i);
    if (std::holds_alternative<prog::Arrive>(node.node) || std::holds_alternative<prog::Await>(node.node))
      by_variable_[index(unit_.leaves[i].barriers.front().var)].counts.push_back(i);
    const auto life = lifetime(node);
    if (life) by_variable_[index(*life)].life.push_back(i);
    if (std::holds_alternative<prog::Alloc>(node.node))
      by_variable_[index(*life)].allocations += path_of_[i] == 0 ? 1 : 2;
    const bool of_barrier =
        life && variable(*life).barrier && !std::holds_alternative<prog::CheckBarrier>(node.node);
    if (of_barrier || is_sync(node)) skeleton_.push_back(i);
    for (const BarrierPart& part : unit_.leaves[i].barriers) {
      if (!part.elements) symbolic_.insert(part.var);
    }
  }
}

void Slicer::group_barriers() {
  for (const auto& x : unit_.locals) {
    if (!x || !variable(x->var).barrier) continue;
    std::vector<std::uint32_t> own(static_cast<std::size_t>(count(x->var)));
    std::iota(own.begin(), own.end(), 0u);
    groups_.emplace(x->var, std::move(own));
  }
  const auto root = [](std::vector<std::uint32_t>& parent, std::uint32_t e) {
    while (parent[e] != e) e = parent[e] = parent[parent[e]];
    return e;
  };
  for (const Leaf& leaf : unit_.leaves) {
    if (!std::holds_alternative<prog::Arrive>(leaf.node->node)) continue;
    auto& parent = groups_.at(leaf.barriers.front().var);
    std::set<std::int64_t> together;
    bool symbolic = false;
    for (const BarrierPart& part : leaf.barriers) {
      const auto& flats = part.elements;
      symbolic = symbolic || !flats;
      if (flats) together.insert(flats->begin(), flats->end());
    }
    const bool several =
        leaf.barriers.size() > 2 || std::any_of(leaf.barriers[1].index.begin(), leaf.barriers[1].index.end(),
                                                [](const auto& i) { return !i; });
    if (symbolic && several) {
      for (std::uint32_t e = 0; e < parent.size(); ++e) together.insert(e);
    }
    if (together.empty()) continue;
    for (const std::int64_t e : together) {
      const std::uint32_t a = root(parent, static_cast<std::uint32_t>(*together.begin()));
      const std::uint32_t b = root(parent, static_cast<std::uint32_t>(e));
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  for (auto& [var, parent] : groups_) {
    for (std::uint32_t e = 0; e < parent.size(); ++e) parent[e] = root(parent, e);
  }
}

void Slicer::follow_rounds(const std::vector<Item>& items, Rounds& rounds) const {
  for (const Item& item : items) {
    if (item.kind == Item::Kind::loop) {
      // Not at all, once, or again.
      Rounds inside = rounds;
      for (int round = 0; round < 2; ++round) {
        follow_rounds(item.block->body, inside);
        rounds.unite(inside);
      }
      continue;
    }
    if (item.kind == Item::Kind::branch) {
      Rounds other = rounds;
      follow_rounds(item.block->body, rounds);
      follow_rounds(item.block->otherwise, other);
      rounds.unite(other);
      continue;
    }
    const Leaf& leaf = unit_.leaves[item.leaf];
    if (std::holds_alternative<prog::Arrive>(leaf.node->node)) {
      const BarrierPart& home = leaf.barriers.front();
      // A home that an iterator chooses may be the one before.
      const auto& flat = home.elements;
      std::size_t referenced = 0;
      for (std::size_t i = 1; i < leaf.barriers.size(); ++i) {
        const auto& part = leaf.barriers[i].elements;
        referenced += part ? part->size() : 2;
      }
      if (!rounds.arrive(home.var, flat ? *flat : std::vector<std::int64_t>{}, referenced, *leaf.threads)) {
        throw GiveUp(fmt::format("arrives on {} may count in the wrong round", variable(home.var).name));
      }
    } else if (const auto* await = std::get_if<prog::Await>(&leaf.node->node)) {
      rounds.await(await->barrier.var, await->n, *leaf.threads);
    } else if (std::holds_alternative<prog::Fence>(leaf.node->node)) {
      const auto& ranges = leaf.threads->ranges();
      rounds.fence(ranges.size() == 1 && ranges[0].hi - ranges[0].lo == unit_.program->threads);
    } else if (const auto var = lifetime(*leaf.node);
               var && !std::holds_alternative<prog::CheckBarrier>(leaf.node->node)) {
      rounds.forget(*var);
    }
  }
}

// Threads that take part in the same collectives of several threads and, alone, do the same on barrier
// elements that nobody else uses are interchangeable.
void Slicer::classify() {
  std::map<std::pair<VarId, std::int64_t>, ThreadId> owner;  // -1: shared
  std::set<VarId> shared;
  const auto use = [&](const BarrierPart& part, ThreadId by) {
    const auto& flats = part.elements;
    if (!flats) {
      shared.insert(part.var);
      return;
    }
    for (const std::int64_t flat : *flats) {
      const auto [at, fresh] = owner.try_emplace({part.var, flat}, by);
      if (!fresh && at->second != by) at->second = -1;
    }
  };
  for (const Leaf& leaf : unit_.leaves) {
    const bool alone = leaf.threads->is_single() && is_sync(*leaf.node);
    for (const BarrierPart& part : leaf.barriers) use(part, alone ? leaf.threads->min() : -1);
    if (is_sync(*leaf.node) && !alone) sync_classes_.refine(*leaf.threads);
  }
  const auto is_private = [&](VarId var, std::int64_t flat) {
    return !shared.contains(var) && owner.at({var, flat}) >= 0;
  };
  std::vector<Key> traces(sync_classes_.threads());
  std::map<std::pair<ThreadId, VarId>, std::set<std::int64_t>> owned;
  for (std::uint32_t i = 0; i < unit_.leaves.size(); ++i) {
    const Leaf& leaf = unit_.leaves[i];
    if (!is_sync(*leaf.node) || !leaf.threads->is_single()) continue;
    const ThreadId t = leaf.threads->min();
    Key& trace = traces[static_cast<std::size_t>(t)];
    trace.push_back(leaf.shape);
    trace.push_back(path_of_[i]);
    for (const BarrierPart& part : leaf.barriers) {
      const auto& flats = part.elements;
      const bool own = flats && std::all_of(flats->begin(), flats->end(),
                                            [&](std::int64_t flat) { return is_private(part.var, flat); });
      if (own) owned[{t, part.var}].insert(flats->begin(), flats->end());
      // Not interchangeable with anyone: what it arrives on or waits for is somebody else's, too.
      if (!own || owned[{t, part.var}].size() > 1) trace.insert(trace.begin(), {-2, t});
    }
  }
  sync_classes_.refine(traces);
}

// ------------------------------------------------------------------------------------------- data slices

std::set<std::uint32_t> Slicer::certainly_initialised(const LocalVariable& x) const {
  std::set<std::uint32_t> out;
  if (!variable(x.var).check_initialised) return out;
  std::vector<std::uint32_t> writes;  // unconditional, of constant windows
  std::set<Key> written;              // the same, as numbers
  constexpr std::size_t most_compared = 64;
  if (!allocated_once(x.var)) return out;
  const auto covers = [&](const Leaf& write, const Leaf& leaf) {
    for (std::size_t d = 0; d < x.extents.size(); ++d) {
      const IndexRange& w = write.window[d];
      const Linear& lo = leaf.window[d].lo;
      const Linear& hi = leaf.window[d].hi;
      const std::int64_t first = lo.is_constant() ? std::max<std::int64_t>(lo.constant, 0) : 0;
      const std::int64_t end = hi.is_constant() ? std::min(hi.constant, x.extents[d]) : x.extents[d];
      if (w.lo.constant > first || w.hi.constant < end) return false;
    }
    return true;
  };
  for (const std::uint32_t i : by_variable_[index(x.var)].accesses) {
    const Leaf& leaf = unit_.leaves[i];
    const bool write = std::holds_alternative<prog::InitWrite>(leaf.node->node);
    if (!write && !std::holds_alternative<prog::InitRead>(leaf.node->node)) continue;
    Key window;
    for (const IndexRange& w : leaf.window) {
      put(window, w.lo);
      put(window, w.hi);
    }
    if (written.contains(window) || std::any_of(writes.begin(), writes.end(), [&](std::uint32_t w) {
          return covers(unit_.leaves[w], leaf);
        })) {
      out.insert(i);
      continue;
    }
    const bool constant = std::all_of(leaf.window.begin(), leaf.window.end(), [](const IndexRange& w) {
      return w.lo.is_constant() && w.hi.is_constant();
    });
    if (!write || !constant || path_of_[i] != 0) continue;
    written.insert(std::move(window));
    if (writes.size() < most_compared) writes.push_back(i);
  }
  return out;
}

void Slicer::slice_variable(const LocalVariable& x) {
  const std::set<std::uint32_t> settled = certainly_initialised(x);
  std::vector<std::uint32_t> touching;
  Partition partition = sync_classes_;
  bool mutated = variable(x.var).shared || variable(x.var).barrier;
  for (const std::uint32_t i : by_variable_[index(x.var)].accesses) {
    const Leaf& leaf = unit_.leaves[i];
    if (settled.contains(i)) continue;
    touching.push_back(i);
    if (!std::holds_alternative<prog::Check>(leaf.node->node) &&
        !std::holds_alternative<prog::Record>(leaf.node->node))
      continue;
    mutated = true;
    if (!leaf.threads->is_single()) partition.refine(*leaf.threads);
  }
  if (touching.empty() || (!mutated && !variable(x.var).check_initialised)) return;
  std::vector<std::uint32_t> skeleton;
  const auto& life = by_variable_[index(x.var)].life;
  std::set_union(skeleton_.begin(), skeleton_.end(), life.begin(), life.end(), std::back_inserter(skeleton));
  const std::vector<std::vector<ThreadId>> classes = partition.members();
  std::set<Key> signatures;
  for (const Cell& cell : cells(x, touching)) {
    ++out_.classes;
    if (one_collective(x, cell)) continue;
    if (!merge_ || signatures.insert(signature(cell, partition)).second) build(x, cell, classes, skeleton);
  }
}

// The elements of a variable in classes: boxes between the constant bounds of all windows; where a bound
// depends on an iterator, single coordinates.
std::vector<Slicer::Cell> Slicer::cells(const LocalVariable& x, const std::vector<std::uint32_t>& touching) {
  const std::size_t rank = x.extents.size();
  std::vector<std::vector<std::int64_t>> starts(rank);
  std::vector<std::set<std::int64_t>> cuts(rank, {0});
  std::vector<char> symbolic(rank, 0);
  for (const std::uint32_t i : touching) {
    const std::span<const IndexRange> window = unit_.leaves[i].window;
    for (std::size_t d = 0; d < rank; ++d) {
      for (const Linear* bound : {&window[d].lo, &window[d].hi}) {
        if (!bound->is_constant()) symbolic[d] = 1;
        if (bound->constant > 0 && bound->constant < x.extents[d]) cuts[d].insert(bound->constant);
      }
    }
  }
  for (std::size_t d = 0; d < rank; ++d) {
    if (symbolic[d] != 0) {
      if (x.extents[d] > 65536) throw GiveUp("a large dimension is indexed by an iterator");
      for (std::int64_t c = 0; c < x.extents[d]; ++c) starts[d].push_back(c);
    } else if (x.extents[d] > 0) {
      starts[d].assign(cuts[d].begin(), cuts[d].end());
    }
  }
  std::size_t total = 1;
  for (const auto& s : starts) total *= s.size();
  if (total > 1'000'000)
    throw GiveUp(fmt::format("{} has too many classes of elements", variable(x.var).name));
  std::vector<Cell> out(total);
  for (std::size_t flat = 0; flat < total; ++flat) {
    std::size_t rest = flat;
    out[flat].first.resize(rank);
    for (std::size_t d = rank; d-- > 0;) {
      out[flat].first[d] = starts[d][rest % starts[d].size()];
      rest /= starts[d].size();
    }
  }
  std::uint64_t touches = 0;
  std::vector<std::pair<std::size_t, std::size_t>> ranges(rank);  // candidate positions per dimension
  std::vector<std::size_t> at(rank);
  for (const std::uint32_t i : touching) {
    const Leaf& leaf = unit_.leaves[i];
    bool empty = false;
    for (std::size_t d = 0; d < rank; ++d) {
      const IndexRange& w = leaf.window[d];
      const auto& s = starts[d];
      ranges[d] = {0, s.size()};
      if (w.lo.is_constant())
        ranges[d].first =
            static_cast<std::size_t>(std::lower_bound(s.begin(), s.end(), w.lo.constant) - s.begin());
      if (w.hi.is_constant())
        ranges[d].second =
            static_cast<std::size_t>(std::lower_bound(s.begin(), s.end(), w.hi.constant) - s.begin());
      empty = empty || ranges[d].first >= ranges[d].second;
    }
    if (empty) continue;
    for (std::size_t d = 0; d < rank; ++d) at[d] = ranges[d].first;
    for (;;) {
      if (++touches > most_touches) throw GiveUp("too many accesses of too many elements");
      std::size_t flat = 0;
      FormulaId hit = FormulaId::yes;
      for (std::size_t d = 0; d < rank; ++d) {
        flat = flat * starts[d].size() + at[d];
        const IndexRange& w = leaf.window[d];
        const Linear p{{}, starts[d][at[d]]};
        if (!w.lo.is_constant()) hit = formulas_.conj(hit, formulas_.negate(formulas_.less(p, w.lo)));
        if (!w.hi.is_constant()) hit = formulas_.conj(hit, formulas_.less(p, w.hi));
      }
      if (hit != FormulaId::no) out[flat].touches.push_back({i, hit});
      std::size_t d = rank;
      while (d > 0 && ++at[d - 1] == ranges[d - 1].second) {
        at[d - 1] = ranges[d - 1].first;
        --d;
      }
      if (d == 0) break;
    }
  }
  return out;
}

// One collective touches the element, in order and on one timeline, and nobody asks about it when it is
// freed: no check can fail.
bool Slicer::one_collective(const LocalVariable& x, const Cell& cell) const {
  if (variable(x.var).shared || variable(x.var).barrier) return false;
  const ThreadSet* threads = nullptr;
  std::optional<Qual> qual;
  std::vector<const prog::Check*> checks;
  std::optional<std::uint32_t> definitely_written;
  for (const Touch& touch : cell.touches) {
    const Leaf& leaf = unit_.leaves[touch.leaf];
    if (std::holds_alternative<prog::InitWrite>(leaf.node->node)) {
      if (touch.hit == FormulaId::yes && path_of_[touch.leaf] == 0 && !definitely_written)
        definitely_written = touch.leaf;
      continue;
    }
    if (std::holds_alternative<prog::InitRead>(leaf.node->node)) {
      if (rules_.uninitialised && !definitely_written) return false;
      continue;
    }
    if (threads != nullptr && threads != leaf.threads && *threads != *leaf.threads) return false;
    threads = leaf.threads;
    if (const auto* record = std::get_if<prog::Record>(&leaf.node->node)) {
      if (!record->in_order || (qual && *qual != record->qual)) return false;
      if (!leaf.threads->is_single() && !one_record(*record, false)) return false;
      qual = record->qual;
    } else {
      checks.push_back(&std::get<prog::Check>(leaf.node->node));
    }
  }
  if (!qual) return true;
  // Allocated more than once, its first write of each life may differ.
  if (rules_.uninitialised && variable(x.var).check_initialised && !allocated_once(x.var)) return false;
  return std::all_of(checks.begin(), checks.end(), [&](const prog::Check* check) {
    return demand(*check, *qual, rules_).quals.contains(*qual);
  });
}

Key Slicer::signature(const Cell& cell, const Partition& partition) const {
  Key out;
  std::map<ThreadId, std::int64_t> numbers;
  for (const Touch& touch : cell.touches) {
    const Leaf& leaf = unit_.leaves[touch.leaf];
    out.insert(out.end(), {leaf.shape, static_cast<std::int64_t>(touch.hit), path_of_[touch.leaf]});
    for (const BarrierPart& part : leaf.barriers) {
      for (const auto& i : part.index) put(out, i ? *i : Linear{{}, -1});
    }
    if (!uses_threads(*leaf.node)) continue;
    if (leaf.threads->is_single()) {
      const ThreadId t = leaf.threads->min();
      const auto [at, fresh] = numbers.try_emplace(t, static_cast<std::int64_t>(numbers.size()));
      out.insert(out.end(), {-3, partition.at(t), at->second});
    } else {
      out.push_back(-4);
      for (const ThreadRange& r : leaf.threads->ranges()) out.insert(out.end(), {r.lo, r.hi});
    }
  }
  return out;
}

void Slicer::build(const LocalVariable& x, const Cell& cell,
                   const std::vector<std::vector<ThreadId>>& classes,
                   const std::vector<std::uint32_t>& skeleton) {
  Slice slice;
  slice.var = x.var;
  slice.first = cell.first;

  std::set<ThreadId> alone;
  for (const Touch& touch : cell.touches) {
    const Leaf& leaf = unit_.leaves[touch.leaf];
    if (uses_threads(*leaf.node) && leaf.threads->is_single()) alone.insert(leaf.threads->min());
  }
  // Of interchangeable threads two show everything that many can: the same thread, and another one.
  std::vector<ThreadId> kept(alone.begin(), alone.end());
  for (const auto& members : classes) {
    int others = 0;
    for (const ThreadId t : members) {
      if (alone.contains(t)) continue;
      kept.push_back(t);
      if (++others == 2) break;
    }
  }
  std::sort(kept.begin(), kept.end());
  const auto renumber = [&](const ThreadSet& set) {
    ThreadSet out;
    for (const ThreadRange& r : set.ranges()) {
      const auto lo = std::lower_bound(kept.begin(), kept.end(), r.lo),
                 hi = std::lower_bound(lo, kept.end(), r.hi);
      if (lo != hi) out.append(lo - kept.begin(), hi - kept.begin());
    }
    return out;
  };
  auto touch = cell.touches.begin();
  const auto add = [&](std::uint32_t i, FormulaId hit) {
    const Leaf& leaf = unit_.leaves[i];
    SliceLeaf out;
    if (uses_threads(*leaf.node)) out.threads = renumber(*leaf.threads);
    if (is_sync(*leaf.node) && out.threads.empty()) return;
    out.unit_leaf = i;
    out.node = leaf.node;
    out.hit = hit;
    out.barriers = leaf.barriers;
    slice.leaves.push_back(std::move(out));
  };
  for (const std::uint32_t i : skeleton) {
    for (; touch != cell.touches.end() && touch->leaf < i; ++touch) add(touch->leaf, touch->hit);
    add(i, FormulaId::yes);
  }
  for (; touch != cell.touches.end(); ++touch) add(touch->leaf, touch->hit);
  built_ += slice.leaves.size();
  if (built_ > most_slice_leaves) throw GiveUp("too many different element classes");
  slice.items = assemble(slice.leaves);
  drop_irrelevant(slice);
  finish(std::move(slice));
}

void Slicer::drop_irrelevant(Slice& slice) const {
  const std::vector<char> relevant = relevant_leaves(slice, groups_);
  std::vector<SliceLeaf> leaves;
  std::map<ThreadId, ThreadId> number;
  for (std::size_t i = 0; i < slice.leaves.size(); ++i) {
    if (relevant[i] == 0) continue;
    SliceLeaf leaf = std::move(slice.leaves[i]);
    std::set<ThreadId> threads;
    for (const ThreadRange& r : leaf.threads.ranges()) {
      for (ThreadId t = r.lo; t < r.hi; ++t)
        threads.insert(number.try_emplace(t, static_cast<ThreadId>(number.size())).first->second);
    }
    leaf.threads = {};
    for (const ThreadId t : threads) leaf.threads.append(t, t + 1);
    leaves.push_back(std::move(leaf));
  }
  slice.leaves = std::move(leaves);
  slice.items = assemble(slice.leaves);
}

// The loops and branches of the unit around these leaves.
std::vector<Item> Slicer::assemble(const std::vector<SliceLeaf>& leaves) const {
  std::vector<Item> out;
  std::vector<Place> open;
  const auto inside = [&](std::size_t depth) {
    std::vector<Item>* list = &out;
    for (std::size_t d = 0; d < depth; ++d)
      list = open[d].otherwise ? &list->back().block->otherwise : &list->back().block->body;
    return list;
  };
  for (std::uint32_t i = 0; i < leaves.size(); ++i) {
    const std::vector<Place>& path = places_[leaves[i].unit_leaf];
    std::size_t common = 0;
    while (common < open.size() && common < path.size() && open[common] == path[common]) ++common;
    const bool other_side =
        common < open.size() && common < path.size() && open[common].item == path[common].item;
    open.resize(common);
    if (other_side) open.push_back(path[common]);
    while (open.size() < path.size()) {
      const Place& place = path[open.size()];
      Item header;
      header.kind = place.item->kind;
      header.leaf = place.item->leaf;
      header.block = std::make_unique<Item::Block>();
      header.block->iterator = place.item->block->iterator;
      header.block->lo = place.item->block->lo;
      header.block->hi = place.item->block->hi;
      header.block->condition = place.item->block->condition;
      inside(open.size())->push_back(std::move(header));
      open.push_back(place);
    }
    Item item;
    item.leaf = i;
    inside(open.size())->push_back(std::move(item));
  }
  return out;
}

// ------------------------------------------------------------------------------------------- counters

void Slicer::slice_counters() {
  for (const auto& [var, group_of] : groups_) {
    const bool symbolic = symbolic_.contains(var);
    std::set<std::uint32_t> roots(group_of.begin(), group_of.end());
    std::vector<std::uint32_t> leaves;
    const Uses& uses = by_variable_[index(var)];
    std::merge(uses.life.begin(), uses.life.end(), uses.counts.begin(), uses.counts.end(),
               std::back_inserter(leaves));
    // An element that an iterator chooses can be any: then all of them are followed together.
    if (symbolic) roots = {0};
    for (const std::uint32_t root : roots) {
      ++out_.classes;
      Slice slice;
      for (const std::uint32_t i : leaves) {
        const Leaf& leaf = unit_.leaves[i];
        const bool counts = !leaf.barriers.empty();
        if (counts && !symbolic &&
            group_of[static_cast<std::size_t>(leaf.barriers.front().elements->front())] != root)
          continue;
        SliceLeaf out;
        out.unit_leaf = i;
        out.node = leaf.node;
        out.barriers = leaf.barriers;
        slice.leaves.push_back(std::move(out));
      }
      built_ += slice.leaves.size();
      if (built_ > most_slice_leaves) throw GiveUp("too many different barrier elements");
      slice.items = assemble(slice.leaves);
      finish(std::move(slice));
    }
  }
}

// ------------------------------------------------------------------------------------------- texts

void Slicer::number_barriers(Slice& slice) const {
  std::map<std::pair<VarId, std::int64_t>, std::uint32_t> known;
  const auto add = [&](VarId var, std::int64_t flat) {
    const auto [at, fresh] =
        known.try_emplace({var, flat}, static_cast<std::uint32_t>(slice.barriers.size()));
    if (fresh) slice.barriers.push_back({var, flat, 0});
  };
  for (const SliceLeaf& leaf : slice.leaves) {
    for (const BarrierPart& part : leaf.barriers) {
      if (const auto& flats = part.elements) {
        for (const std::int64_t flat : *flats) add(part.var, flat);
      } else {
        for (std::int64_t flat = 0; flat < count(part.var); ++flat) add(part.var, flat);
      }
    }
  }
  // The first element of each multicast group that occurs stands for it.
  std::map<std::pair<VarId, std::uint32_t>, std::uint32_t> first;
  for (std::uint32_t i = 0; i < slice.barriers.size(); ++i) {
    SliceBarrier& b = slice.barriers[i];
    const std::uint32_t root = groups_.at(b.var)[static_cast<std::size_t>(b.flat)];
    b.group = first.try_emplace({b.var, root}, i).first->second;
  }
}

void Slicer::finish(Slice slice) {
  number_barriers(slice);
  slice.text = text_of(unit_, slice);
  if (seen_.insert(slice.text).second || !merge_) out_.slices.push_back(std::move(slice));
}

}  // namespace

SliceSet make_slices(const Unit& unit, Formulas& formulas, const ModeRules& rules, bool merge) {
  return Slicer(unit, formulas, rules, merge).run();
}

}  // namespace exocheck::amir::slices
