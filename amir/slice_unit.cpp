#include "amir/slice_unit.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;
using semantics::ir::overloaded;

Linear Bindings::linear(Formulas& formulas, const semantics::ir::Expr& e) const {
  const auto value = formulas.linear(e, [this](SymId s) { return (*this)[s]; });
  if (!value) throw GiveUp("an index or bound is not linear in sizes and iterators");
  return *value;
}

FormulaId Bindings::condition(Formulas& formulas, const semantics::ir::Expr& e) const {
  const auto f = formulas.condition(e, [this](SymId s) { return (*this)[s]; });
  if (!f) throw GiveUp("a condition is not linear in sizes and iterators");
  return *f;
}

IndexRange Bindings::range(Formulas& formulas, const prog::Window& w) const {
  const Linear lo = linear(formulas, *w.lo);
  Linear hi = w.interval() ? linear(formulas, *w.hi) : lo;
  if (!w.interval()) hi.constant = semantics::ir::checked_add(hi.constant, 1);
  return {lo, hi};
}

std::set<VarId> allocated_in(const prog::Body& body) {
  std::set<VarId> out;
  prog::for_each_node(body, [&](const prog::Node& node) {
    if (const auto* alloc = std::get_if<prog::Alloc>(&node.node)) out.insert(alloc->var);
  });
  return out;
}

bool is_sync(const prog::Node& node) {
  return std::holds_alternative<prog::Fence>(node.node) || std::holds_alternative<prog::Arrive>(node.node) ||
         std::holds_alternative<prog::Await>(node.node);
}

bool uses_threads(const prog::Node& node) {
  return is_sync(node) || std::holds_alternative<prog::Check>(node.node) ||
         std::holds_alternative<prog::Record>(node.node);
}

std::optional<VarId> accessed(const prog::Node& node) {
  return std::visit(overloaded{
                        [](const prog::Check& s) -> std::optional<VarId> { return s.target.var; },
                        [](const prog::Record& s) -> std::optional<VarId> { return s.target.var; },
                        [](const prog::InitRead& s) -> std::optional<VarId> { return s.target.var; },
                        [](const prog::InitWrite& s) -> std::optional<VarId> { return s.target.var; },
                        [](const auto&) -> std::optional<VarId> { return std::nullopt; },
                    },
                    node.node);
}

std::optional<VarId> lifetime(const prog::Node& node) {
  if (const auto* s = std::get_if<prog::Alloc>(&node.node)) return s->var;
  if (const auto* s = std::get_if<prog::Free>(&node.node)) return s->var;
  if (const auto* s = std::get_if<prog::CheckBarrier>(&node.node)) return s->var;
  return std::nullopt;
}

std::int64_t element_count(const LocalVariable& x) {
  std::int64_t n = 1;
  for (const std::int64_t e : x.extents) n = semantics::ir::checked_mul(n, e);
  return n;
}

namespace {

// Longer constant loops stay loops: with synchronization inside, their states repeat; without, unrolling
// keeps indices constant.
constexpr std::int64_t longest_unrolled = 8, longest_unrolled_plain = 64;
constexpr std::size_t most_leaves = 300'000;
constexpr std::int64_t most_barriers = 65'536;

class Builder {
 public:
  Builder(const Program& program, Formulas& formulas, Bindings bindings)
      : formulas_(formulas), bindings_(std::move(bindings)), environment_(program.symbol_count) {
    unit_.program = &program;
    unit_.locals.resize(program.variables.size());
    for (const prog::ThreadMap& map : program.maps) {
      for (const auto& dim : map.dims) {
        for (const auto& [iterator, coefficient] : dim.terms) thread_iterators_.insert(iterator);
      }
    }
  }

  Unit run(const prog::Body& task) {
    find_locals(task);
    block(task, unit_.items);
    return std::move(unit_);
  }

 private:
  void find_locals(const prog::Body& body);
  void block(const prog::Body& body, std::vector<Item>& out);
  void loop(const prog::Loop& s, std::vector<Item>& out);
  void branch(const prog::Branch& s, std::vector<Item>& out);
  void leaf(const prog::Node& node, std::vector<Item>& out, Leaf l);
  bool local(VarId var) const { return unit_.locals[index(var)].has_value(); }
  void target(const prog::Target& t, Leaf& out);
  BarrierPart part(const prog::Target& t);
  // Negative: the whole dimension. Throws GiveUp outside the array.
  std::shared_ptr<const std::vector<std::int64_t>> elements(const LocalVariable& x,
                                                            const std::vector<std::int64_t>& constants) const;
  const ThreadSet& threads(const prog::Node& node);
  void bind(SymId iterator, Linear value) {
    bindings_.set(iterator, std::move(value));
    forget();
  }
  void forget() {
    recent_windows_.clear();
    recent_threads_.clear();
  }
  // Replaces a loop that only touches elements x[.., i, ..] one by one by one statement over all its
  // iterations.
  bool sweep(const prog::Loop& s, const Linear& lo, const Linear& hi, std::vector<Item>& out);

  Formulas& formulas_;
  Bindings bindings_;
  Unit unit_;
  std::set<SymId> thread_iterators_;
  // The values of the unrolled iterators that are no thread iterators, as a number: by the number of the
  // outer ones.
  std::uint32_t sequence_ = 0;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> sequences_;
  std::unordered_map<std::uint64_t, std::uint32_t> shapes_;  // by statement and sequence
  std::map<std::pair<VarId, std::vector<std::int64_t>>, std::shared_ptr<const std::vector<std::int64_t>>>
      parts_;
  Sizes environment_;
  // Since an iterator got its value: what the statements of one loop body have in common.
  std::vector<std::pair<std::vector<const semantics::ir::Expr*>, const std::vector<IndexRange>*>>
      recent_windows_;
  std::vector<std::pair<std::uint32_t, const ThreadSet*>> recent_threads_;
  std::vector<std::pair<SymId, std::pair<Linear, Linear>>> swept_;
};

void Builder::find_locals(const prog::Body& body) {
  for (const VarId var : allocated_in(body)) {
    const prog::Variable& variable = unit_.program->variables[index(var)];
    LocalVariable x{var, {}, !variable.barrier || variable.shared};
    for (const auto& extent : variable.shape) {
      const Linear n = bindings_.linear(formulas_, *extent);
      if (!n.is_constant()) throw GiveUp(fmt::format("the extents of {} depend on sizes", variable.name));
      x.extents.push_back(std::max<std::int64_t>(n.constant, 0));
    }
    if (variable.barrier && element_count(x) > most_barriers)
      throw GiveUp("a barrier array has more than 65536 elements");
    unit_.locals[index(var)] = std::move(x);
  }
}

void Builder::block(const prog::Body& body, std::vector<Item>& out) {
  for (const prog::Node& node : body) {
    std::visit(overloaded{
                   [&](const prog::Loop& s) { loop(s, out); },
                   [&](const prog::Branch& s) { branch(s, out); },
                   [&](const prog::Check& s) {
                     if (!local(s.target.var)) return;
                     Leaf l;
                     target(s.target, l);
                     leaf(node, out, std::move(l));
                   },
                   [&](const prog::Record& s) {
                     if (!local(s.target.var)) return;
                     Leaf l;
                     target(s.target, l);
                     for (const prog::Target& z : s.pending) l.barriers.push_back(part(z));
                     leaf(node, out, std::move(l));
                   },
                   [&](const prog::InitRead& s) {
                     if (!local(s.target.var)) return;
                     Leaf l;
                     target(s.target, l);
                     leaf(node, out, std::move(l));
                   },
                   [&](const prog::InitWrite& s) {
                     if (!local(s.target.var)) return;
                     Leaf l;
                     target(s.target, l);
                     leaf(node, out, std::move(l));
                   },
                   [&](const prog::Fence&) { leaf(node, out, {}); },
                   [&](const prog::Arrive& s) {
                     Leaf l;
                     l.barriers.push_back(part(s.home));
                     for (const prog::Target& z : s.referenced) l.barriers.push_back(part(z));
                     leaf(node, out, std::move(l));
                   },
                   [&](const prog::Await& s) {
                     Leaf l;
                     l.barriers.push_back(part(s.barrier));
                     leaf(node, out, std::move(l));
                   },
                   [&](const prog::IncTask&) {},
                   [&](const auto& s) {
                     if (local(s.var)) leaf(node, out, {});
                   },
               },
               node.node);
  }
}

void Builder::leaf(const prog::Node& node, std::vector<Item>& out, Leaf l) {
  if (unit_.leaves.size() >= most_leaves) throw GiveUp("the program of one task is too large to unroll");
  l.node = &node;
  l.threads = &threads(node);
  const std::uint64_t key = static_cast<std::uint64_t>(index(node.id)) << 32 | sequence_;
  l.shape = shapes_.try_emplace(key, static_cast<std::uint32_t>(shapes_.size())).first->second;
  Item item;
  item.leaf = static_cast<std::uint32_t>(unit_.leaves.size());
  out.push_back(std::move(item));
  unit_.leaves.push_back(std::move(l));
}

bool synchronizes(const prog::Body& body) {
  bool found = false;
  prog::for_each_node(body, [&](const prog::Node& node) {
    found = found || std::holds_alternative<prog::Fence>(node.node) ||
            std::holds_alternative<prog::Arrive>(node.node) || std::holds_alternative<prog::Await>(node.node);
  });
  return found;
}

void Builder::loop(const prog::Loop& s, std::vector<Item>& out) {
  const Linear lo = bindings_.linear(formulas_, *s.lo), hi = bindings_.linear(formulas_, *s.hi);
  const bool over_threads = thread_iterators_.contains(s.iter);
  const bool constant = lo.is_constant() && hi.is_constant();
  if (over_threads && !constant) throw GiveUp("a loop over threads has symbolic bounds");
  if (constant && hi.constant <= lo.constant) return;
  if (!over_threads && sweep(s, lo, hi, out)) return;
  const std::int64_t longest = synchronizes(s.body) ? longest_unrolled : longest_unrolled_plain;
  if (constant && (over_threads || hi.constant - lo.constant <= longest)) {
    for (std::int64_t i = lo.constant; i < hi.constant; ++i) {
      bind(s.iter, Linear{{}, i});
      if (over_threads) {
        block(s.body, out);
        continue;
      }
      const std::uint32_t outer = sequence_;
      sequence_ =
          sequences_.try_emplace({outer, i}, static_cast<std::uint32_t>(sequences_.size() + 1)).first->second;
      block(s.body, out);
      sequence_ = outer;
    }
    bindings_.clear(s.iter);
    return;
  }
  Item item;
  item.kind = Item::Kind::loop;
  item.block = std::make_unique<Item::Block>();
  item.leaf = static_cast<std::uint32_t>(unit_.leaves.size());
  item.block->lo = lo;
  item.block->hi = hi;
  const Linear y =
      formulas_.declare("i" + std::to_string(semantics::ir::index(s.iter)), smt::VariableRole::iterator);
  item.block->iterator = Formulas::atom(y);
  bind(s.iter, y);
  block(s.body, item.block->body);
  bindings_.clear(s.iter);
  if (!item.block->body.empty()) out.push_back(std::move(item));
}

void Builder::branch(const prog::Branch& s, std::vector<Item>& out) {
  const FormulaId condition = bindings_.condition(formulas_, *s.condition);
  if (condition == FormulaId::yes) return block(s.then_body, out);
  if (condition == FormulaId::no) return block(s.else_body, out);
  Item item;
  item.kind = Item::Kind::branch;
  item.block = std::make_unique<Item::Block>();
  item.block->condition = condition;
  item.leaf = static_cast<std::uint32_t>(unit_.leaves.size());
  block(s.then_body, item.block->body);
  block(s.else_body, item.block->otherwise);
  if (!item.block->body.empty() || !item.block->otherwise.empty()) out.push_back(std::move(item));
}

// Does the loop nest touch initialisation only, and every element of a statement once per iteration of each
// loop?
bool only_initialises(const prog::Body& body) {
  return std::all_of(body.begin(), body.end(), [](const prog::Node& node) {
    return std::visit(overloaded{
                          [](const prog::InitRead&) { return true; },
                          [](const prog::InitWrite&) { return true; },
                          [](const prog::Loop& s) { return only_initialises(s.body); },
                          [](const auto&) { return false; },
                      },
                      node.node);
  });
}

bool is_iterator(const semantics::ir::Expr& e, SymId iterator) {
  const auto* ref = std::get_if<semantics::ir::VarRef>(&e.node);
  return ref != nullptr && ref->var == iterator;
}

bool uses(const semantics::ir::Expr& e, SymId iterator) {
  bool found = false;
  semantics::ir::for_each_subexpr(
      e, [&](const semantics::ir::Expr& sub) { found = found || is_iterator(sub, iterator); });
  return found;
}

// Every statement of the body touches, in some dimension, the point `iterator`, and mentions it nowhere else.
bool touches_point(const prog::Body& body, SymId iterator) {
  const auto once = [&](const prog::Target& t) {
    int points = 0;
    for (const prog::Window& w : t.index) {
      if (!w.interval() && is_iterator(*w.lo, iterator)) {
        ++points;
      } else if (uses(*w.lo, iterator) || (w.interval() && uses(*w.hi, iterator))) {
        return false;
      }
    }
    return points == 1;
  };
  return std::all_of(body.begin(), body.end(), [&](const prog::Node& node) {
    return std::visit(overloaded{
                          [&](const prog::InitRead& s) { return once(s.target); },
                          [&](const prog::InitWrite& s) { return once(s.target); },
                          [&](const prog::Loop& s) {
                            return !uses(*s.lo, iterator) && !uses(*s.hi, iterator) &&
                                   touches_point(s.body, iterator);
                          },
                          [](const auto&) { return false; },
                      },
                      node.node);
  });
}

bool Builder::sweep(const prog::Loop& s, const Linear& lo, const Linear& hi, std::vector<Item>& out) {
  // One statement only: the order of several matters.
  if (s.body.size() != 1 || !only_initialises(s.body) || !touches_point(s.body, s.iter)) return false;
  swept_.push_back({s.iter, {lo, hi}});
  forget();
  block(s.body, out);
  swept_.pop_back();
  forget();
  return true;
}

void Builder::target(const prog::Target& t, Leaf& out) {
  std::vector<const semantics::ir::Expr*> key;
  for (const prog::Window& w : t.index) key.insert(key.end(), {w.lo.get(), w.hi.get()});
  const auto known = std::find_if(recent_windows_.begin(), recent_windows_.end(),
                                  [&](const auto& r) { return r.first == key; });
  if (known != recent_windows_.end()) {
    out.window = *known->second;
    return;
  }
  std::vector<IndexRange> window;
  for (const prog::Window& w : t.index) {
    const auto swept = std::find_if(swept_.begin(), swept_.end(), [&](const auto& entry) {
      return !w.interval() && is_iterator(*w.lo, entry.first);
    });
    if (swept != swept_.end()) {
      window.push_back({swept->second.first, swept->second.second});
      continue;
    }
    window.push_back(bindings_.range(formulas_, w));
  }
  unit_.windows.push_back(std::move(window));
  recent_windows_.emplace_back(std::move(key), &unit_.windows.back());
  out.window = unit_.windows.back();
}

BarrierPart Builder::part(const prog::Target& t) {
  if (!local(t.var)) throw GiveUp("a barrier outlives its task");
  BarrierPart out{t.var, {}, nullptr};
  std::vector<std::int64_t> constants;  // whole dimensions: -1
  for (const prog::Window& w : t.index) {
    out.index.push_back(w.interval() ? std::nullopt : std::optional(bindings_.linear(formulas_, *w.lo)));
    const auto& i = out.index.back();
    if (!i || i->is_constant()) constants.push_back(i ? i->constant : -1);
    if (i && i->constant < 0 && i->is_constant()) throw GiveUp("a barrier index leaves its array");
  }
  if (constants.size() < out.index.size()) return out;
  auto& known = parts_[{t.var, constants}];
  if (!known) known = elements(*unit_.locals[index(t.var)], constants);
  out.elements = known;
  return out;
}

std::shared_ptr<const std::vector<std::int64_t>> Builder::elements(
    const LocalVariable& x, const std::vector<std::int64_t>& constants) const {
  std::vector<std::int64_t> out{0};
  for (std::size_t d = 0; d < constants.size(); ++d) {
    const std::int64_t extent = x.extents[d], i = constants[d];
    if (i >= extent) throw GiveUp("a barrier index leaves its array");
    std::vector<std::int64_t> next;
    for (const std::int64_t flat : out) {
      for (std::int64_t v = std::max<std::int64_t>(i, 0); v < (i < 0 ? extent : i + 1); ++v)
        next.push_back(flat * extent + v);
    }
    out = std::move(next);
  }
  return std::make_shared<const std::vector<std::int64_t>>(std::move(out));
}

const ThreadSet& Builder::threads(const prog::Node& node) {
  const auto known = std::find_if(recent_threads_.begin(), recent_threads_.end(),
                                  [&](const auto& r) { return r.first == node.map; });
  if (known != recent_threads_.end()) return *known->second;
  const prog::ThreadMap& map = unit_.program->maps[node.map];
  if (map.all_threads) throw GiveUp("a task contains a statement at CPU scope");
  for (const auto& dim : map.dims) {
    for (const auto& [iterator, coefficient] : dim.terms) {
      const auto& value = bindings_[iterator];
      if (!value || !value->is_constant()) throw GiveUp("a thread map depends on sizes");
      environment_.set(iterator, value->constant);
    }
  }
  unit_.thread_sets.push_back(ThreadSet::of(map, environment_, 0, unit_.program->threads));
  recent_threads_.emplace_back(node.map, &unit_.thread_sets.back());
  return unit_.thread_sets.back();
}

}  // namespace

Unit make_unit(const Program& program, const prog::Body& task, Formulas& formulas, Bindings bindings) {
  return Builder(program, formulas, std::move(bindings)).run(task);
}

}  // namespace exocheck::amir::slices
