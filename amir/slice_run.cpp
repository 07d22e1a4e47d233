#include "amir/slice_run.hpp"

#include <algorithm>

#include "amir/slice_explorer.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir::slices {

namespace {

constexpr std::uint64_t largest_path = 1000;  // comparisons

}  // namespace

std::vector<Failure> Explorer::run(FormulaId assumptions) {
  block(slice_.items, {{transitions_.initial(), assumptions}});
  budget_.steps += transitions_.steps();
  return std::move(failures_);
}

void Explorer::put(Configuration& out, StateId s, FormulaId f) const {
  if (f == FormulaId::no) return;
  const auto [at, fresh] = out.try_emplace(s, f);
  if (!fresh) at->second = formulas_.join(at->second, f);
  if (out.size() > most_states) throw GiveUp("one element has too many states at one place");
  if (formulas_.size(at->second) > largest_path) throw GiveUp("the condition of a path becomes too long");
}

void Explorer::check_time() {
  if ((++clock_ & 255) == 0 && std::chrono::steady_clock::now() > budget_.deadline)
    throw GiveUp("the time for the proof is used up");
}

Linear Explorer::close(Linear a) const {
  for (const auto& [atom, value] : environment_) a = formulas_.substitute(a, atom, value);
  return a;
}

FormulaId Explorer::close(FormulaId f) const {
  for (const auto& [atom, value] : environment_) f = formulas_.substitute(f, atom, value);
  return f;
}

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
        const bool approximate =
            approximate_ && formulas_.mentions(choice.condition, Formulas::atom(*approximate_));
        failures_.push_back({choice.condition, step.code, step.warning, l.unit_leaf, step.barrier, loops_,
                             approximate ? approximated_ : ""});
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

std::vector<Failure> explore(const Unit& unit, const Slice& slice, Formulas& formulas, const Rules& rules,
                             FormulaId assumptions, Budget& budget, std::uint64_t& records_peak) {
  Explorer explorer(unit, slice, formulas, rules, budget);
  auto out = explorer.run(assumptions);
  records_peak = std::max(records_peak, explorer.records_peak());
  return out;
}

}  // namespace exocheck::amir::slices
