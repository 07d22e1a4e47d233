#include "amir/init_flow.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "semantics/ir_util.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
namespace am = semantics::amir;

namespace {

struct Guard {
  ExprPtr condition;
  bool negated = false;
};

// One access of the behaviour to one of its parameters.
struct Touch {
  std::size_t parameter = 0;
  bool write = false;
  std::vector<ExprPtr> index;
  std::vector<const For*> loops;  // outermost first
  std::vector<Guard> guards;
};

// An access as a box: per subscript either a sweep over a loop or a point.
struct Sweep {
  struct Dim {
    const For* loop = nullptr;  // null: point
    ExprPtr point;
  };
  std::vector<Dim> dims;
  std::vector<std::pair<const For*, ExprPtr>> limits;  // iterator < limit
  std::vector<ExprPtr> conditions;                     // free of loop iterators
};

bool mentions(const Expr& e, const std::vector<const For*>& loops) {
  bool found = false;
  for_each_subexpr(e, [&](const Expr& sub) {
    const auto* ref = std::get_if<VarRef>(&sub.node);
    found = found || (ref != nullptr && std::any_of(loops.begin(), loops.end(),
                                                    [&](const For* loop) { return loop->iter == ref->var; }));
  });
  return found;
}

const For* swept(const Expr& e, const std::vector<const For*>& loops) {
  const auto* ref = std::get_if<VarRef>(&e.node);
  if (ref == nullptr) return nullptr;
  const auto it =
      std::find_if(loops.begin(), loops.end(), [&](const For* loop) { return loop->iter == ref->var; });
  return it == loops.end() ? nullptr : *it;
}

bool split_guard(const ExprPtr& condition, const Touch& touch, Sweep& out) {
  if (!mentions(*condition, touch.loops)) {
    out.conditions.push_back(condition);
    return true;
  }
  const auto* b = std::get_if<Binary>(&condition->node);
  if (b == nullptr) return false;
  if (b->op == BinaryOp::logical_and)
    return split_guard(b->left, touch, out) && split_guard(b->right, touch, out);
  const bool less = b->op == BinaryOp::lt;
  if (!less && b->op != BinaryOp::gt) return false;
  const ExprPtr& small = less ? b->left : b->right;
  const ExprPtr& limit = less ? b->right : b->left;
  const For* loop = swept(*small, touch.loops);
  if (loop == nullptr || mentions(*limit, touch.loops)) return false;
  out.limits.emplace_back(loop, limit);
  return true;
}

std::optional<Sweep> as_sweep(const Touch& touch) {
  Sweep out;
  std::vector<const For*> used;
  for (const For* loop : touch.loops) {
    if (mentions(*loop->lo, touch.loops) || mentions(*loop->hi, touch.loops)) return std::nullopt;
  }
  for (const ExprPtr& e : touch.index) {
    const For* loop = swept(*e, touch.loops);
    if (loop == nullptr && mentions(*e, touch.loops)) return std::nullopt;
    if (loop != nullptr && std::find(used.begin(), used.end(), loop) != used.end()) return std::nullopt;
    if (loop != nullptr) used.push_back(loop);
    out.dims.push_back({loop, loop == nullptr ? e : nullptr});
  }
  for (const Guard& guard : touch.guards) {
    if (guard.negated || !split_guard(guard.condition, touch, out)) return std::nullopt;
  }
  return out;
}

bool same_place(const Touch& a, const Touch& b) {
  if (a.loops != b.loops || a.index.size() != b.index.size() || a.guards.size() != b.guards.size())
    return false;
  for (std::size_t i = 0; i < a.index.size(); ++i) {
    if (!same(*a.index[i], *b.index[i])) return false;
  }
  for (std::size_t i = 0; i < a.guards.size(); ++i) {
    if (a.guards[i].negated != b.guards[i].negated || !same(*a.guards[i].condition, *b.guards[i].condition))
      return false;
  }
  return true;
}

class CallFlow {
 public:
  CallFlow(Builder& builder, am::Body& body, const Site& site, const Instr& instr,
           const std::vector<InitActual>& actuals)
      : builder_(builder), body_(body), site_(site), instr_(instr), actuals_(actuals) {
    for (std::size_t i = 0; i < instr.parameters.size() && i < actuals.size(); ++i) {
      positions_[instr.parameters[i].var] = i;
    }
  }

  void run() {
    if (std::none_of(actuals_.begin(), actuals_.end(), [](const InitActual& a) { return a.var.has_value(); }))
      return;
    collect(instr_.behaviour.body);
    if (opaque_) {
      write_everything();
    } else if (boxes()) {
      for (std::size_t i = 0; i < touches_.size(); ++i) {
        if (!repeated(i)) emit_sweep(touches_[i], sweeps_[i]);
      }
    } else {
      emit_points(instr_.behaviour.body, body_);
    }
  }

 private:
  void collect(const Block& block);
  void touch(SymId var, const std::vector<ExprPtr>& index, bool write);
  bool boxes();
  bool repeated(std::size_t i) const;
  void write_everything();
  void emit_sweep(const Touch& touch, const Sweep& sweep);
  void emit_points(const Block& block, am::Body& out);
  void emit(am::Body& out, std::size_t parameter, bool write, const std::vector<Access>& index) const;
  void reads_of(const Expr& value, const std::function<void(const Read&)>& visit) const;
  ExprPtr actual(const ExprPtr& e) const;

  Builder& builder_;
  am::Body& body_;
  const Site& site_;
  const Instr& instr_;
  const std::vector<InitActual>& actuals_;
  std::unordered_map<SymId, std::size_t> positions_;
  std::unordered_map<SymId, SymId> iterators_;  // of the behaviour -> fresh ones
  std::vector<Touch> touches_;
  std::vector<Sweep> sweeps_;
  std::vector<const For*> loops_;
  std::vector<Guard> guards_;
  bool opaque_ = false;  // the behaviour uses something whose accesses we do not follow
};

void CallFlow::reads_of(const Expr& value, const std::function<void(const Read&)>& visit) const {
  for_each_subexpr(value, [&visit](const Expr& e) {
    if (const auto* read = std::get_if<Read>(&e.node)) visit(*read);
  });
}

std::vector<ExprPtr> points_of(const std::vector<Access>& index) {
  std::vector<ExprPtr> out;
  for (const Access& a : index) out.push_back(a.lo);
  return out;
}

void CallFlow::touch(SymId var, const std::vector<ExprPtr>& index, bool write) {
  const auto position = positions_.find(var);
  if (position == positions_.end() || !actuals_[position->second].var) return;
  touches_.push_back({position->second, write, index, loops_, guards_});
}

void CallFlow::collect(const Block& block) {
  for (const Stmt& s : block) {
    for_each_expr(s, [this](const Expr& e) {
      for_each_subexpr(
          e, [this](const Expr& sub) { opaque_ = opaque_ || std::holds_alternative<StrideOf>(sub.node); });
    });
    std::visit(overloaded{
                   [&](const Assign& a) {
                     reads_of(*a.value, [this](const Read& r) { touch(r.var, points_of(r.index), false); });
                     if (a.reduce) touch(a.target, a.index, false);
                     touch(a.target, a.index, true);
                   },
                   [&](const For& loop) {
                     loops_.push_back(&loop);
                     collect(loop.body);
                     loops_.pop_back();
                   },
                   [&](const If& branch) {
                     guards_.push_back({branch.condition, false});
                     collect(branch.then_body);
                     guards_.back().negated = true;
                     collect(branch.else_body);
                     guards_.pop_back();
                   },
                   [](const Pass&) {},
                   [](const Alloc&) {},
                   [&](const auto&) { opaque_ = true; },
               },
               s.node);
  }
}

// Whole windows say the same as the loops if no parameter is read at one place and written at another: then
// the first access of an element is of the same kind for all of them.
bool CallFlow::boxes() {
  for (const Touch& t : touches_) {
    auto sweep = as_sweep(t);
    if (!sweep) return false;
    sweeps_.push_back(std::move(*sweep));
  }
  for (const Touch& w : touches_) {
    if (!w.write) continue;
    for (const Touch& other : touches_) {
      const bool alias = actuals_[w.parameter].var == actuals_[other.parameter].var;
      if (!alias || (other.write && other.parameter == w.parameter)) continue;
      if (other.parameter != w.parameter || !same_place(w, other)) return false;
    }
  }
  return true;
}

// A read of what an earlier statement of the same iteration wrote.
bool CallFlow::repeated(std::size_t i) const {
  return std::any_of(
      touches_.begin(), touches_.begin() + static_cast<std::ptrdiff_t>(i), [&](const Touch& earlier) {
        const Touch& t = touches_[i];
        return earlier.parameter == t.parameter && (earlier.write || !t.write) && same_place(earlier, t);
      });
}

// Lenient: what the behaviour does is not followed, so nothing is called unwritten because of it.
void CallFlow::write_everything() {
  for (std::size_t i = 0; i < actuals_.size(); ++i) {
    if (actuals_[i].var && instr_.parameters[i].mode != AccessMode::read_only) {
      builder_.add(body_, site_, "behaviour",
                   am::InitWrite{{*actuals_[i].var, to_windows(actuals_[i].index), true}});
    }
  }
}

ExprPtr CallFlow::actual(const ExprPtr& e) const {
  return substitute(e, [this](SymId var) -> ExprPtr {
    if (const auto fresh = iterators_.find(var); fresh != iterators_.end()) return var_ref(fresh->second);
    const auto position = positions_.find(var);
    return position == positions_.end() ? nullptr : actuals_[position->second].control;
  });
}

void CallFlow::emit(am::Body& out, std::size_t parameter, bool write,
                    const std::vector<Access>& index) const {
  const InitActual& a = actuals_[parameter];
  const am::Target target{*a.var, to_windows(compose(a.index, index)), true};
  const std::string role = "argument " + instr_.behaviour.symbol(instr_.parameters[parameter].var).name;
  if (write) {
    builder_.add(out, site_, role, am::InitWrite{target});
  } else {
    builder_.add(out, site_, role, am::InitRead{target});
  }
}

void CallFlow::emit_sweep(const Touch& touch, const Sweep& sweep) {
  // Innermost first: the access, wrapped in "the sweep is not empty" and in a case split per limit.
  using Bounds = std::unordered_map<const For*, ExprPtr>;
  const std::function<am::Body(std::size_t, Bounds)> build = [&](std::size_t limit, Bounds hi) -> am::Body {
    am::Body out;
    if (limit < sweep.limits.size()) {
      const auto& [loop, bound] = sweep.limits[limit];
      const ExprPtr tighter = actual(bound);
      Bounds inner = hi;
      inner[loop] = tighter;
      const auto known = constant_value(*tighter);
      const auto known_hi = constant_value(*hi[loop]);
      if (known && known_hi) return build(limit + 1, *known < *known_hi ? inner : hi);
      am::Branch branch{binary(BinaryOp::lt, tighter, hi[loop], TypeKind::boolean), build(limit + 1, inner),
                        build(limit + 1, hi)};
      builder_.add(out, site_, "behaviour", std::move(branch));
      return out;
    }
    std::vector<Access> index;
    for (const Sweep::Dim& dim : sweep.dims) {
      if (dim.loop == nullptr) {
        index.push_back({actual(dim.point), nullptr});
      } else {
        index.push_back({actual(dim.loop->lo), hi.at(dim.loop)});
      }
    }
    emit(out, touch.parameter, touch.write, index);
    for (const For* loop : touch.loops) {
      const ExprPtr lo = actual(loop->lo);
      const auto from = constant_value(*lo);
      const auto to = constant_value(*hi.at(loop));
      if (from && to && *from < *to) continue;
      am::Body guarded;
      builder_.add(guarded, site_, "behaviour",
                   am::Branch{binary(BinaryOp::lt, lo, hi.at(loop), TypeKind::boolean), std::move(out), {}});
      out = std::move(guarded);
    }
    return out;
  };
  Bounds hi;
  for (const For* loop : touch.loops) hi[loop] = actual(loop->hi);
  am::Body nodes = build(0, hi);
  for (const ExprPtr& condition : sweep.conditions) {
    am::Body guarded;
    builder_.add(guarded, site_, "behaviour", am::Branch{actual(condition), std::move(nodes), {}});
    nodes = std::move(guarded);
  }
  std::move(nodes.begin(), nodes.end(), std::back_inserter(body_));
}

void CallFlow::emit_points(const Block& block, am::Body& out) {
  const auto point = [&](SymId var, const std::vector<ExprPtr>& index, bool write) {
    const auto position = positions_.find(var);
    if (position == positions_.end() || !actuals_[position->second].var) return;
    std::vector<Access> access;
    for (const ExprPtr& e : index) access.push_back({actual(e), nullptr});
    emit(out, position->second, write, access);
  };
  for (const Stmt& s : block) {
    if (const auto* assign = std::get_if<Assign>(&s.node)) {
      reads_of(*assign->value, [&](const Read& r) { point(r.var, points_of(r.index), false); });
      if (assign->reduce) point(assign->target, assign->index, false);
      point(assign->target, assign->index, true);
    } else if (const auto* loop = std::get_if<For>(&s.node)) {
      const ExprPtr lo = actual(loop->lo);
      const ExprPtr hi = actual(loop->hi);
      const SymId iter = builder_.fresh_iterator(instr_.behaviour.symbol(loop->iter).name);
      iterators_[loop->iter] = iter;
      am::Body inner;
      emit_points(loop->body, inner);
      iterators_.erase(loop->iter);
      builder_.add(out, site_, "behaviour", am::Loop{iter, lo, hi, std::move(inner)});
    } else if (const auto* branch = std::get_if<If>(&s.node)) {
      am::Branch node{actual(branch->condition), {}, {}};
      emit_points(branch->then_body, node.then_body);
      emit_points(branch->else_body, node.else_body);
      builder_.add(out, site_, "behaviour", std::move(node));
    }
  }
}

}  // namespace

void emit_call_flow(Builder& builder, am::Body& body, const Site& site, const Instr& instr,
                    const std::vector<InitActual>& actuals) {
  CallFlow(builder, body, site, instr, actuals).run();
}

}  // namespace exocheck::amir
