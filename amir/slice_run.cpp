#include "amir/slice_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;
using semantics::ir::checked_add;
using semantics::ir::checked_mul;
using smt::combine;

namespace {

constexpr std::size_t most_layers = 240;        // of one segment of a loop whose length is not constant
constexpr std::int64_t most_iterations = 4096;  // of a constant loop whose iterations differ
constexpr std::int64_t longest_period = 4096;
constexpr std::size_t most_states = 3000;  // at one place

// state -> condition under which it is reached
using Configuration = std::map<StateId, FormulaId>;

// How a quantity changes with an iterator: `period` iterations add `rise`.
struct Slope {
  std::int64_t period = 1, rise = 0;
};

Linear plus(Linear a, std::int64_t n) {
  a.constant = checked_add(a.constant, n);
  return a;
}

class Explorer {
 public:
  Explorer(const Unit& unit, const Slice& slice, Formulas& formulas, const Rules& rules, Budget& budget)
      : unit_(unit), slice_(slice), formulas_(formulas), budget_(budget), transitions_(unit, slice, rules) {}

  std::vector<Failure> run(FormulaId assumptions) {
    block(slice_.items, {{transitions_.initial(), assumptions}});
    budget_.steps += transitions_.steps();
    return std::move(failures_);
  }
  std::uint64_t records_peak() const { return transitions_.records_peak(); }

 private:
  struct LoopFacts {
    std::int64_t period = 1;
    // Those that mention the iterator, closed over outer loops later.
    std::vector<Formulas::Comparison> comparisons;
    const char* irregular = nullptr;  // why iterations cannot be told apart by their residue
  };
  struct Choice {  // a path on which every barrier index is constant
    FormulaId condition;
    std::vector<std::vector<std::uint32_t>> parts;
  };
  // A state at the beginning of a segment of a loop: the iterator is `at`, which is `residue` modulo the
  // period.
  struct Start {
    Linear at;
    std::int64_t residue = 0;
    StateId state = 0;
    FormulaId condition = FormulaId::no;
  };
  struct Segmentation {
    const Item* item = nullptr;
    const LoopFacts* facts = nullptr;
    std::vector<Linear> thresholds;
    Linear hi;
    bool cycles = true;
    std::vector<Start> pending;
    Configuration* out = nullptr;
  };

  void put(Configuration& out, StateId s, FormulaId f) const {
    if (f == FormulaId::no) return;
    const auto [at, fresh] = out.try_emplace(s, f);
    if (!fresh) at->second = formulas_.join(at->second, f);
    if (out.size() > most_states) throw GiveUp("one element has too many states at one place");
  }
  void check_time() {
    if ((++clock_ & 255) == 0 && std::chrono::steady_clock::now() > budget_.deadline)
      throw GiveUp("the time for the proof is used up");
  }

  Linear close(Linear a) const {
    for (const auto& [atom, value] : environment_) a = formulas_.substitute(a, atom, value);
    return a;
  }
  FormulaId close(FormulaId f) const {
    for (const auto& [atom, value] : environment_) f = formulas_.substitute(f, atom, value);
    return f;
  }

  Configuration block(const std::vector<Item>& items, Configuration in);
  // (with the condition, without it)
  std::pair<FormulaId, FormulaId> fork(FormulaId path, FormulaId condition);
  void leaf(const Item& item, const Configuration& in, Configuration& out);
  std::vector<Choice> choices(const SliceLeaf& leaf, FormulaId path);
  void loop(const Item& item, StateId state, FormulaId path, Configuration& out);
  void segment(Segmentation& s, const Start& start);
  // The iterations from `start` to `end`, between which no threshold lies.
  void follow(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last);
  // false: no cycle after `patience` layers, nothing is done.
  bool iterate(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last,
               std::size_t patience);
  // A comparison in one of the first `period` iterations that the path leaves open.
  std::optional<FormulaId> open_comparison(const Segmentation& s, const Start& start, FormulaId path);
  FormulaId comparison(const Segmentation& s, const Start& start, const Formulas::Comparison& c,
                       std::size_t iteration);

  // Between two thresholds a comparison holds in all iterations of one residue, or in none: what those in the
  // first `period` iterations, as far as `path` decides them, say of this one.
  FormulaId uniform(const Segmentation& s, const Start& start, std::size_t iteration, FormulaId path);
  // Ends the segment after so many iterations.
  void leave(Segmentation& s, const Start& start, const Linear& end, std::size_t iterations, StateId state,
             FormulaId path, bool last);
  const LoopFacts& facts(const Item& item);
  void collect(const std::vector<Item>& items, AtomId y, LoopFacts& out, std::vector<AtomId>& inner);
  void note(const Linear& a, AtomId y, LoopFacts& out, bool must_repeat);
  Slope slope(const Linear& a, AtomId y) const;
  // Values of the iterator at which some comparison changes its truth; nullopt: irregular.
  std::optional<std::vector<Linear>> thresholds(const Item& item, const LoopFacts& facts);

  const Unit& unit_;
  const Slice& slice_;
  Formulas& formulas_;
  Budget& budget_;
  Transitions transitions_;
  std::vector<std::pair<AtomId, Linear>> environment_;
  std::vector<std::pair<std::uint32_t, Linear>> loops_;
  std::map<const Item*, LoopFacts> facts_;
  std::optional<Linear> probe_;
  std::vector<Failure> failures_;
  std::uint64_t clock_ = 0;
};

Configuration Explorer::block(const std::vector<Item>& items, Configuration in) {
  for (const Item& item : items) {
    if (in.empty()) return in;
    check_time();
    Configuration out;
    switch (item.kind) {
      case Item::Kind::leaf:
        leaf(item, in, out);
        break;
      case Item::Kind::loop:
        for (const auto& [state, path] : in) loop(item, state, path, out);
        break;
      case Item::Kind::branch: {
        const FormulaId condition = close(item.block->condition);
        Configuration with, without;
        for (const auto& [state, path] : in) {
          const auto [yes, no] = fork(path, condition);
          put(with, state, yes);
          put(without, state, no);
        }
        for (const auto& [state, path] : block(item.block->body, std::move(with))) put(out, state, path);
        for (const auto& [state, path] : block(item.block->otherwise, std::move(without)))
          put(out, state, path);
        break;
      }
    }
    in = std::move(out);
  }
  return in;
}

std::pair<FormulaId, FormulaId> Explorer::fork(FormulaId path, FormulaId condition) {
  const FormulaId open = formulas_.under(path, condition);
  if (open == FormulaId::yes) return {path, FormulaId::no};
  if (open == FormulaId::no) return {FormulaId::no, path};
  return {formulas_.conj(path, open), formulas_.conj(path, formulas_.negate(open))};
}

void Explorer::leaf(const Item& item, const Configuration& in, Configuration& out) {
  const SliceLeaf& l = slice_.leaves[item.leaf];
  const FormulaId hit = close(l.hit);
  for (const auto& [state, path] : in) {
    const auto [yes, no] = fork(path, hit);
    put(out, state, no);
    if (yes == FormulaId::no) continue;
    for (const Choice& choice : choices(l, yes)) {
      const Transitions::Step step = transitions_.step(item.leaf, state, choice.parts);
      if (!step.code.empty()) {
        failures_.push_back({choice.condition, step.code, step.warning, l.unit_leaf, step.barrier, loops_});
        if (!step.warning) continue;
      }
      put(out, step.next, choice.condition);
    }
  }
}

std::vector<Explorer::Choice> Explorer::choices(const SliceLeaf& leaf, FormulaId path) {
  std::vector<Choice> out{{path, {}}};
  for (const BarrierPart& part : leaf.barriers) {
    const auto& extents = unit_.locals[index(part.var)]->extents;
    for (Choice& c : out) c.parts.push_back({0});
    for (std::size_t d = 0; d < part.index.size(); ++d) {
      const std::optional<Linear> i = part.index[d] ? std::optional(close(*part.index[d])) : std::nullopt;
      if (i && i->is_constant() && (i->constant < 0 || i->constant >= extents[d]))
        throw GiveUp("a barrier index leaves its array");
      std::vector<Choice> next;
      for (const Choice& c : out) {
        const auto add = [&](std::int64_t lo, std::int64_t hi, FormulaId condition) {
          if (condition == FormulaId::no) return;
          Choice n{condition, c.parts};
          n.parts.back().clear();
          for (const std::uint32_t flat : c.parts.back()) {
            for (std::int64_t v = lo; v < hi; ++v)
              n.parts.back().push_back(static_cast<std::uint32_t>(flat * extents[d] + v));
          }
          next.push_back(std::move(n));
        };
        if (!i) {
          add(0, extents[d], c.condition);
        } else if (i->is_constant()) {
          add(i->constant, i->constant + 1, c.condition);
        } else {
          for (std::int64_t v = 0; v < extents[d]; ++v)
            add(v, v + 1, fork(c.condition, formulas_.zero(plus(*i, -v))).first);
        }
      }
      out = std::move(next);
    }
    for (Choice& c : out) {
      for (std::uint32_t& flat : c.parts.back()) {
        const auto b = slice_.find(part.var, flat);
        if (!b) throw semantics::InternalError("a barrier element that the slice does not know");
        flat = *b;
      }
    }
  }
  return out;
}

// ------------------------------------------------------------------------------------------- loops

Slope Explorer::slope(const Linear& a, AtomId y) const {
  Slope out;
  for (const auto& [id, factor] : a.terms) {
    Slope term;
    if (id == y) {
      term = {1, 1};
    } else if (const auto& q = formulas_.atoms().quotient(id); q && formulas_.mentions(q->numerator, y)) {
      const Slope inner = slope(q->numerator, y);
      // floor(x / n) repeats, up to a constant rise, as soon as x has risen by a multiple of n.
      const std::int64_t repeats = q->divisor / std::gcd(q->divisor, inner.rise);
      term.period = checked_mul(inner.period, repeats);
      term.rise = checked_mul(inner.rise, repeats) / q->divisor;
    } else {
      continue;
    }
    const std::int64_t period = std::lcm(out.period, term.period);
    if (period > longest_period) throw GiveUp("a loop's indices repeat after too many iterations");
    out = {period, checked_add(checked_mul(out.rise, period / out.period),
                               checked_mul(factor, checked_mul(term.rise, period / term.period)))};
  }
  return out;
}

void Explorer::note(const Linear& a, AtomId y, LoopFacts& out, bool must_repeat) {
  if (!formulas_.mentions(a, y)) return;
  const Slope s = slope(a, y);
  out.period = std::lcm(out.period, s.period);
  if (out.period > longest_period) throw GiveUp("a loop's indices repeat after too many iterations");
  if (must_repeat && s.rise != 0) out.irregular = "a barrier index grows with the iterations";
}

void Explorer::collect(const std::vector<Item>& items, AtomId y, LoopFacts& out, std::vector<AtomId>& inner) {
  const auto condition = [&](FormulaId f) {
    std::vector<Formulas::Comparison> all;
    formulas_.comparisons(f, all);
    for (Formulas::Comparison& c : all) {
      if (!formulas_.mentions(c.a, y)) continue;
      const bool mixes =
          std::any_of(inner.begin(), inner.end(), [&](AtomId i) { return formulas_.mentions(c.a, i); });
      if (mixes) out.irregular = "a condition compares the iterators of two loops";
      note(c.a, y, out, false);
      if (std::find(out.comparisons.begin(), out.comparisons.end(), c) == out.comparisons.end())
        out.comparisons.push_back(std::move(c));
    }
  };
  for (const Item& item : items) {
    switch (item.kind) {
      case Item::Kind::leaf: {
        const SliceLeaf& l = slice_.leaves[item.leaf];
        condition(l.hit);
        for (const BarrierPart& part : l.barriers) {
          for (const auto& i : part.index) {
            if (!i) continue;
            note(*i, y, out, true);
            const bool mixes =
                formulas_.mentions(*i, y) &&
                std::any_of(inner.begin(), inner.end(), [&](AtomId n) { return formulas_.mentions(*i, n); });
            if (mixes) out.irregular = "a barrier index depends on the iterators of two loops";
          }
        }
        break;
      }
      case Item::Kind::loop:
        if (formulas_.mentions(item.block->lo, y) || formulas_.mentions(item.block->hi, y))
          out.irregular = "the bounds of an inner loop depend on an outer iterator";
        inner.push_back(item.block->iterator);
        collect(item.block->body, y, out, inner);
        inner.pop_back();
        break;
      case Item::Kind::branch:
        condition(item.block->condition);
        collect(item.block->body, y, out, inner);
        collect(item.block->otherwise, y, out, inner);
        break;
    }
  }
}

const Explorer::LoopFacts& Explorer::facts(const Item& item) {
  const auto [at, fresh] = facts_.try_emplace(&item);
  if (fresh) {
    std::vector<AtomId> inner;
    collect(item.block->body, item.block->iterator, at->second, inner);
  }
  return at->second;
}

std::optional<std::vector<Linear>> Explorer::thresholds(const Item& item, const LoopFacts& facts) {
  if (!probe_) probe_ = formulas_.declare("probe", smt::VariableRole::iterator);
  const AtomId q = Formulas::atom(*probe_);
  std::vector<Linear> out;
  const auto add = [&](std::int64_t period, const Linear& quotient, std::int64_t residue) {
    Linear t = plus(combine(period, quotient, 0, Linear{}), residue);
    if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(std::move(t));
  };
  for (const Formulas::Comparison& c : facts.comparisons) {
    const std::int64_t period = slope(c.a, item.block->iterator).period;
    for (std::int64_t r = 0; r < period; ++r) {
      // y = period * q + r
      const Linear y = plus(combine(period, *probe_, 0, Linear{}), r);
      Linear a = close(formulas_.substitute(c.a, item.block->iterator, y));
      std::int64_t factor = a.coefficient(q);
      Linear rest = combine(1, a, -factor, *probe_);
      if (formulas_.mentions(rest, q)) return std::nullopt;
      if (factor == 0) continue;
      const Linear minus = combine(-1, rest, 0, Linear{});
      if (!c.equality) {
        // factor * q + rest <= 0
        if (factor > 0) {
          add(period, plus(formulas_.quotient(minus, factor), 1), r);
        } else {
          add(period, combine(-1, formulas_.quotient(minus, -factor), 0, Linear{}), r);
        }
        continue;
      }
      if (factor < 0) {
        factor = -factor;
        rest = minus;
      }
      add(period, combine(-1, formulas_.quotient(rest, factor), 0, Linear{}), r);
      add(period, plus(formulas_.quotient(combine(-1, rest, 0, Linear{}), factor), 1), r);
    }
  }
  return out;
}

void Explorer::loop(const Item& item, StateId state, FormulaId path, Configuration& out) {
  const Linear lo = close(item.block->lo), hi = close(item.block->hi);
  const auto [runs, skipped] = fork(path, formulas_.less(lo, hi));
  put(out, state, skipped);
  if (runs == FormulaId::no) return;
  const LoopFacts& known = facts(item);
  Segmentation s;
  s.item = &item;
  s.facts = &known;
  s.hi = hi;
  s.out = &out;
  const bool constant = lo.is_constant() && hi.is_constant();
  const auto cuts = known.irregular != nullptr ? std::nullopt : thresholds(item, known);
  if (cuts) s.thresholds = *cuts;
  const bool plain = !cuts || !budget_.fast_forward;
  if (plain && constant && hi.constant - lo.constant <= most_iterations) {
    s.cycles = false;
    s.thresholds.clear();
  } else if (!cuts) {
    throw GiveUp(known.irregular != nullptr ? known.irregular : "a condition is not monotone in an iterator");
  }
  const std::int64_t period = known.period;
  const Linear start = combine(period, formulas_.quotient(lo, period), 0, Linear{});
  const Linear residue = combine(1, lo, -1, start);
  if (residue.is_constant()) {
    s.pending.push_back({lo, residue.constant, state, runs});
  } else {
    for (std::int64_t r = 0; r < period; ++r) {
      const FormulaId f = fork(runs, formulas_.zero(plus(residue, -r))).first;
      if (f != FormulaId::no) s.pending.push_back({plus(start, r), r, state, f});
    }
  }
  while (!s.pending.empty()) {
    // Equal places and states are continued once.
    Start next = std::move(s.pending.front());
    s.pending.erase(s.pending.begin());
    segment(s, next);
  }
}

// From `start` to the next threshold, whichever that is, or to the end of the loop.
void Explorer::segment(Segmentation& s, const Start& start) {
  std::vector<Linear> ends;
  for (const Linear& t : s.thresholds) {
    const bool inside =
        formulas_.less(start.at, t) != FormulaId::no && formulas_.less(t, s.hi) != FormulaId::no;
    if (inside) ends.push_back(t);
  }
  ends.push_back(s.hi);
  for (std::size_t j = 0; j < ends.size(); ++j) {
    const bool last = j + 1 == ends.size();
    FormulaId path = start.condition;
    const auto require = [&](FormulaId f) { path = path == FormulaId::no ? path : fork(path, f).first; };
    require(formulas_.less(start.at, ends[j]));
    if (!last) require(formulas_.less(ends[j], s.hi));
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      if (i == j) continue;
      // Not between the start and this end; of equal ones the first.
      const FormulaId behind = formulas_.negate(formulas_.less(start.at, ends[i]));
      const FormulaId beyond = i < j && !last ? formulas_.less(ends[j], ends[i])
                                              : formulas_.negate(formulas_.less(ends[i], ends[j]));
      require(formulas_.disj(behind, beyond));
    }
    if (path == FormulaId::no) continue;
    follow(s, start, ends[j], path, last);
  }
}

FormulaId Explorer::uniform(const Segmentation& s, const Start& start, std::size_t iteration,
                            FormulaId path) {
  const auto period = static_cast<std::size_t>(s.facts->period);
  FormulaId out = FormulaId::yes;
  if (!s.cycles || iteration < period) return out;
  for (const Formulas::Comparison& c : s.facts->comparisons) {
    const auto first = formulas_.decide(path, comparison(s, start, c, iteration % period));
    if (!first) continue;
    // What the path says itself (perhaps in the same words as of the first iterations) stays there.
    const FormulaId now = comparison(s, start, c, iteration);
    if (formulas_.decide(path, now)) continue;
    out = formulas_.conj(out, *first ? now : formulas_.negate(now));
  }
  return out;
}

FormulaId Explorer::comparison(const Segmentation& s, const Start& start, const Formulas::Comparison& c,
                               std::size_t iteration) {
  const Linear y = plus(start.at, static_cast<std::int64_t>(iteration));
  Linear a = close(formulas_.substitute(c.a, s.item->block->iterator, y));
  return c.equality ? formulas_.zero(std::move(a)) : formulas_.at_most_zero(std::move(a));
}

std::optional<FormulaId> Explorer::open_comparison(const Segmentation& s, const Start& start,
                                                   FormulaId path) {
  if (!s.cycles) return std::nullopt;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.facts->period); ++i) {
    for (const Formulas::Comparison& c : s.facts->comparisons) {
      const FormulaId f = comparison(s, start, c, i);
      if (!formulas_.decide(path, f)) return f;
    }
  }
  return std::nullopt;
}

void Explorer::follow(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last) {
  // Usually the body's own forks tell the comparisons apart; where they do not (a disjunction), the path is
  // split.
  const auto open = open_comparison(s, start, path);
  const std::size_t failures = failures_.size();
  const std::size_t patience = open ? 3 * static_cast<std::size_t>(s.facts->period) + 12 : most_layers;
  if (iterate(s, start, end, path, last, patience)) return;
  if (!open) throw GiveUp("the states of a loop do not repeat");
  failures_.resize(failures);
  const auto [holds, fails] = fork(path, *open);
  for (const FormulaId half : {holds, fails}) {
    if (half != FormulaId::no) follow(s, start, end, half, last);
  }
}

bool Explorer::iterate(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last,
                       std::size_t patience) {
  const std::int64_t period = s.facts->period;
  const Linear length = combine(1, end, -1, start.at);
  std::vector<Configuration> layers{{{start.state, path}}};
  std::optional<std::pair<std::size_t, std::size_t>> cycle;  // first layer, length
  const auto equal = [&](const Configuration& a, const Configuration& b) {
    if (a.size() != b.size()) return false;
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
      if (x->first != y->first) return false;
    }
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
      const auto same = formulas_.equivalent(x->second, y->second);
      if (!same || !*same) return false;
    }
    return true;
  };
  for (std::size_t i = 0;;) {
    if (length.is_constant() && static_cast<std::int64_t>(i) >= length.constant) break;
    const FormulaId runs = formulas_.less(plus(start.at, static_cast<std::int64_t>(i)), end);
    // By what is known of the comparisons in this iteration.
    std::map<FormulaId, Configuration> in;
    for (const auto& [state, f] : layers[i]) {
      const FormulaId g = fork(f, runs).first;
      if (g == FormulaId::no) continue;
      const FormulaId known = uniform(s, start, i, g);
      put(in[known], state, formulas_.conj(g, known));
    }
    if (in.empty()) break;
    const Linear y = plus(start.at, static_cast<std::int64_t>(i));
    environment_.emplace_back(s.item->block->iterator, y);
    loops_.emplace_back(s.item->leaf, y);
    Configuration layer;
    for (auto& [known, configuration] : in) {
      const Configuration done = block(s.item->block->body, std::move(configuration));
      // That the iteration took place is added again where a layer is left; from that and the first
      // iterations follows what is known of the comparisons.
      const FormulaId added = formulas_.without(formulas_.conj(runs, known), path);
      for (const auto& [state, f] : done) put(layer, state, formulas_.without(f, added));
    }
    environment_.pop_back();
    loops_.pop_back();
    layers.push_back(std::move(layer));
    ++i;
    ++budget_.layers;
    if (layers[i].empty()) break;
    if (!s.cycles) continue;
    for (std::size_t back = static_cast<std::size_t>(period); back <= i;
         back += static_cast<std::size_t>(period)) {
      if (!equal(layers[i - back], layers[i])) continue;
      std::size_t first = i - back;
      while (first >= back && equal(layers[first - back], layers[i])) first -= back;
      cycle = {first, back};
      break;
    }
    if (cycle) break;
    if (i > patience) return false;
  }
  const std::size_t count = layers.size() - (cycle ? 1 : 0);
  // A state that is there after any number of iterations from some on needs one condition.
  std::map<std::pair<StateId, FormulaId>, std::size_t> always_from;
  if (cycle) {
    for (const auto& [state, f] : layers[count - 1]) {
      std::size_t from = count;
      while (from > 0) {
        const auto at = layers[from - 1].find(state);
        if (at == layers[from - 1].end() || at->second != f) break;
        --from;
      }
      if (from <= cycle->first) always_from.emplace(std::pair{state, f}, from);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Linear missing = plus(length, -static_cast<std::int64_t>(i));
    const FormulaId enough = formulas_.at_most_zero(combine(-1, missing, 0, Linear{}));
    FormulaId here = formulas_.zero(missing);
    if (cycle && i >= cycle->first)
      here = formulas_.conj(
          enough, formulas_.zero(formulas_.remainder(missing, static_cast<std::int64_t>(cycle->second))));
    for (const auto& [state, f] : layers[i]) {
      const auto settled = always_from.find({state, f});
      const bool whole = s.facts->period == 1 || last;
      if (whole && settled != always_from.end()) {
        if (i == settled->second) leave(s, start, end, i, state, fork(f, enough).first, last);
        if (i >= settled->second) continue;
      }
      if (here != FormulaId::no) leave(s, start, end, i, state, fork(f, here).first, last);
    }
  }
  return true;
}

void Explorer::leave(Segmentation& s, const Start& start, const Linear& end, std::size_t iterations,
                     StateId state, FormulaId path, bool last) {
  if (path == FormulaId::no) return;
  if (last) return put(*s.out, state, path);
  const std::int64_t period = s.facts->period;
  const std::int64_t residue = (start.residue + static_cast<std::int64_t>(iterations)) % period;
  Linear next = end;
  if (period > 1) {
    next = plus(combine(period, formulas_.quotient(end, period), 0, Linear{}), residue);
    path = fork(path, formulas_.zero(combine(1, end, -1, next))).first;
    if (path == FormulaId::no) return;
  }
  const auto known = std::find_if(s.pending.begin(), s.pending.end(), [&](const Start& p) {
    return p.at == next && p.residue == residue && p.state == state;
  });
  if (known != s.pending.end()) {
    known->condition = formulas_.join(known->condition, path);
  } else {
    s.pending.push_back({next, residue, state, path});
  }
  if (s.pending.size() > most_states) throw GiveUp("a loop has too many cases");
}

}  // namespace

std::vector<Failure> explore(const Unit& unit, const Slice& slice, Formulas& formulas, const Rules& rules,
                             FormulaId assumptions, Budget& budget, std::uint64_t& records_peak) {
  Explorer explorer(unit, slice, formulas, rules, budget);
  auto out = explorer.run(assumptions);
  records_peak = std::max(records_peak, explorer.records_peak());
  return out;
}

}  // namespace exocheck::amir::slices
