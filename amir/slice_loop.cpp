// Loops of a slice: what their iterations depend on, where that changes, and when their states repeat
// (all-sizes.md 4).
#include <algorithm>
#include <numeric>
#include <set>

#include "amir/slice_explorer.hpp"

namespace exocheck::amir::slices {

using semantics::ir::checked_add;
using semantics::ir::checked_mul;
using smt::combine;

namespace {

constexpr std::size_t most_layers = 240;        // of one segment of a loop whose length is not constant
constexpr std::int64_t most_iterations = 4096;  // of a constant loop whose iterations differ
constexpr std::int64_t longest_period = 4096;
constexpr std::uint64_t most_approximations = 2000;
constexpr std::uint64_t largest_condition = 200;  // of a state after some iterations, in comparisons

}  // namespace

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
      note(c.a, y, out, false);
      if (mixes) {
        out.irregular = "a condition compares the iterators of two loops";
      } else if (std::find(out.comparisons.begin(), out.comparisons.end(), c) == out.comparisons.end()) {
        out.comparisons.push_back(std::move(c));
      }
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
        for (const Linear* bound : {&item.block->lo, &item.block->hi}) {
          if (!formulas_.mentions(*bound, y)) continue;
          out.irregular = "the bounds of an inner loop depend on an outer iterator";
          note(*bound, y, out, false);
        }
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
  const auto cuts = thresholds(item, known);
  s.irregular = cuts ? known.irregular : "a condition is not monotone in an iterator";
  if (budget_.approximate_all && s.irregular.empty()) s.irregular = "every loop is approximated";
  const bool plain = !s.irregular.empty() || !budget_.fast_forward;
  if (plain && constant && hi.constant - lo.constant <= most_iterations) {
    s.cycles = false;
    s.irregular = {};
  } else if (cuts) {
    s.thresholds = *cuts;
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
  if (!s.irregular.empty()) return approximate(s, start, end, path, last, s.irregular);
  // Usually the body's own forks tell the comparisons apart; where they do not (a disjunction), the path is
  // split.
  const auto open = open_comparison(s, start, path);
  const std::size_t failures = failures_.size();
  const std::size_t patience = open ? 3 * static_cast<std::size_t>(s.facts->period) + 12 : most_layers;
  if (iterate(s, start, end, path, last, patience)) return;
  failures_.resize(failures);
  if (!open) return approximate(s, start, end, path, last, "the states of a loop do not repeat");
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
    const bool grows = std::any_of(layers[i].begin(), layers[i].end(), [&](const auto& entry) {
      return formulas_.size(entry.second) > largest_condition;
    });
    if (i > patience || grows) return false;
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
    const std::int64_t residue = (start.residue + static_cast<std::int64_t>(i)) % period;
    for (const auto& [state, f] : layers[i]) {
      const auto settled = always_from.find({state, f});
      const bool whole = s.facts->period == 1 || last;
      if (whole && settled != always_from.end()) {
        if (i == settled->second) leave(s, end, residue, state, fork(f, enough).first, last);
        if (i >= settled->second) continue;
      }
      if (here != FormulaId::no) leave(s, end, residue, state, fork(f, here).first, last);
    }
  }
  return true;
}

void Explorer::approximate(Segmentation& s, const Start& start, const Linear& end, FormulaId path, bool last,
                           std::string_view reason) {
  if (!approximate_) approximate_ = formulas_.declare("approximate", smt::VariableRole::iterator);
  if (approximated_.empty()) approximated_ = reason;
  const auto [quotient, fresh] = quotients_.try_emplace(s.item);
  if (fresh) quotient->second = formulas_.declare("iteration", smt::VariableRole::iterator);
  path = formulas_.conj(path, formulas_.zero(*approximate_));

  using At = std::pair<std::int64_t, StateId>;  // the iterator's residue
  const std::int64_t period = s.facts->period;
  std::set<At> known{{start.residue, start.state}}, reached;
  std::vector<At> open(known.begin(), known.end());
  while (!open.empty()) {
    const auto [residue, state] = open.back();
    open.pop_back();
    const Linear y = plus(combine(period, quotient->second, 0, Linear{}), residue);
    FormulaId runs = fork(path, formulas_.negate(formulas_.less(y, start.at))).first;
    if (runs != FormulaId::no) runs = fork(runs, formulas_.less(y, end)).first;
    if (runs == FormulaId::no) continue;
    environment_.emplace_back(s.item->block->iterator, y);
    loops_.emplace_back(s.item->leaf, y);
    ++budget_.layers;
    if (++budget_.approximations > most_approximations)
      throw GiveUp("too many iterations differ in the loops that are followed approximately");
    for (const auto& [after, f] : block(s.item->block->body, {{state, runs}})) {
      const At next{(residue + 1) % period, after};
      if (reached.contains(next) || formulas_.satisfiable(f) == Formulas::Satisfiable::no) continue;
      reached.insert(next);
      if (known.insert(next).second) open.push_back(next);
    }
    environment_.pop_back();
    loops_.pop_back();
    if (known.size() > most_states) throw GiveUp("one element has too many states at one place");
  }
  // What an iteration says of itself is forgotten.
  const Linear remainder = formulas_.remainder(end, period);
  for (const auto& [residue, state] : reached) {
    const FormulaId ends_here = fork(path, formulas_.zero(plus(remainder, -residue))).first;
    leave(s, end, residue, state, ends_here, last);
  }
}

void Explorer::leave(Segmentation& s, const Linear& end, std::int64_t residue, StateId state, FormulaId path,
                     bool last) {
  if (path == FormulaId::no) return;
  if (last) return put(*s.out, state, path);
  const std::int64_t period = s.facts->period;
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

}  // namespace exocheck::amir::slices
