#include "amir/check_size_features.hpp"

#include <algorithm>
#include <limits>

#include "semantics/errors.hpp"

namespace exocheck::amir {

using namespace semantics::ir;

namespace {

constexpr std::int64_t largest_ring =
    64;  // deeper rings and larger moduli are tile sizes, not pipeline depths

bool mentions_parameters_only(const Procedure& procedure, const Expr& e) {
  bool only = true;
  for_each_subexpr(e, [&](const Expr& sub) {
    if (const auto* ref = std::get_if<VarRef>(&sub.node)) only = only && procedure.symbol(ref->var).parameter;
    only = only && sub.type.control() && !std::holds_alternative<StrideOf>(sub.node) &&
           !std::holds_alternative<ConfigRead>(sub.node);
  });
  return only;
}

std::vector<SymId> variables(const Expr& e) {
  std::vector<SymId> out;
  for_each_subexpr(e, [&out](const Expr& sub) {
    if (const auto* ref = std::get_if<VarRef>(&sub.node)) out.push_back(ref->var);
  });
  return out;
}

bool evaluable(const Expr& e) {
  bool ok = true;
  for_each_subexpr(e, [&ok](const Expr& sub) {
    ok = ok && !std::holds_alternative<StrideOf>(sub.node) && !std::holds_alternative<ConfigRead>(sub.node);
  });
  return ok;
}

}  // namespace

SizeFeatures::SizeFeatures(const Procedure& procedure) : procedure_(procedure) {
  for (const Assertion& a : procedure.assertions) collect(*a.condition);
  for (const SymId p : procedure.parameters) {
    for (const ExprPtr& extent : procedure.symbol(p).shape) collect(*extent);
  }
  collect(procedure.body);
}

void SizeFeatures::collect(const Expr& e) {
  for_each_subexpr(e, [this](const Expr& sub) {
    const auto* b = std::get_if<Binary>(&sub.node);
    if (b == nullptr || !b->left->type.control()) return;
    const auto constant = constant_value(*b->right);
    const auto other = constant_value(*b->left);
    if ((b->op == BinaryOp::div || b->op == BinaryOp::mod) && constant && *constant > 1) {
      for (const SymId v : variables(*b->left)) tiles_[v].insert(*constant);
      if (mentions_parameters_only(procedure_, *b->left)) note_division(b->left, b->right);
    }
    const bool comparison = b->op >= BinaryOp::lt && b->op <= BinaryOp::ne;
    if (comparison && constant) {
      for (const SymId v : variables(*b->left)) constants_[v].insert(*constant);
    }
    if (comparison && other) {
      for (const SymId v : variables(*b->right)) constants_[v].insert(*other);
    }
  });
}

// (n + 31) / 32 rounds n / 32 up: what matters is whether 32 divides n.
void SizeFeatures::note_division(const ExprPtr& dividend, const ExprPtr& divisor) {
  ExprPtr exact = dividend;
  const auto* sum = std::get_if<Binary>(&dividend->node);
  if (sum != nullptr && sum->op == BinaryOp::add) {
    const auto rounding = constant_value(*sum->right);
    if (rounding && *rounding == *constant_value(*divisor) - 1) exact = sum->left;
  }
  const bool known = std::any_of(divisions_.begin(), divisions_.end(), [&](const ExprPtr& d) {
    return same(*std::get<Binary>(d->node).left, *exact) && same(*std::get<Binary>(d->node).right, *divisor);
  });
  if (!known && divisions_.size() < 32) divisions_.push_back(binary(BinaryOp::mod, exact, divisor));
}

std::int64_t SizeFeatures::ring(StmtId loop) const {
  const auto found = depth_.find(loop);
  return found == depth_.end() ? 0 : found->second;
}

void SizeFeatures::collect(const Block& block) {
  for_each_stmt(block, [this](const Stmt& s) {
    for_each_expr(s, [this](const Expr& e) { collect(e); });
    const auto* loop = std::get_if<For>(&s.node);
    if (loop == nullptr || loop->mode != LoopMode::seq) return;
    std::int64_t depth = 0;
    for_each_stmt(loop->body, [&](const Stmt& inner) {
      if (const auto* await = std::get_if<Await>(&inner.node))
        depth = std::max(depth, await->n < 0 ? -1 - await->n : await->n);
      for_each_expr(inner, [&](const Expr& e) {
        for_each_subexpr(e, [&](const Expr& sub) {
          const auto* b = std::get_if<Binary>(&sub.node);
          if (b == nullptr || b->op != BinaryOp::mod) return;
          const auto used = variables(*b->left);
          const auto modulus = constant_value(*b->right);
          if (modulus && *modulus <= largest_ring &&
              std::find(used.begin(), used.end(), loop->iter) != used.end()) {
            depth = std::max(depth, *modulus);
          }
        });
      });
    });
    depth = std::min(depth, largest_ring);
    depth_[s.id] = depth;
    deepest_ = std::max(deepest_, depth);
  });
}

std::vector<std::int64_t> SizeFeatures::interesting_values(SymId parameter) const {
  std::set<std::int64_t> out;
  const auto add = [&out](std::int64_t v) {
    if (v <= (1ll << 40)) out.insert(v);
  };
  for (std::int64_t k = 6; k <= 2 * deepest_ + 1; ++k) {
    if (k <= deepest_ + 2 || k == 2 * deepest_ + 1) add(k);
  }
  if (const auto constants = constants_.find(parameter); constants != constants_.end()) {
    for (const std::int64_t c : constants->second) {
      for (const std::int64_t v : {c - 1, c, c + 1}) add(v);
    }
  }
  if (const auto tiles = tiles_.find(parameter); tiles != tiles_.end()) {
    for (const std::int64_t tile : tiles->second) {
      if (tile > (1ll << 32)) continue;
      for (const std::int64_t k :
           std::set<std::int64_t>{1, 2, 3, deepest_, deepest_ + 1, deepest_ + 2, 2 * deepest_ + 1}) {
        if (k > 0) add(k * tile);
      }
      for (const std::int64_t v : {tile - 1, tile + 1, 2 * tile + 1}) add(v);
    }
  }
  return {out.begin(), out.end()};
}

SizeFeatures::Profile SizeFeatures::of(const Environment& sizes) const {
  Profile out;
  Environment env = sizes;
  int budget = 4000;
  try {
    out.cost = walk(procedure_.body, env, out.features, budget);
    for (std::size_t i = 0; i < divisions_.size(); ++i) {
      out.features.insert({procedure_.statement_count + i, evaluate(*divisions_[i], env) == 0 ? 0 : 1});
    }
  } catch (const semantics::OverflowError&) {
    // Too large to be worth a choice; the features found so far count.
    out.cost = std::numeric_limits<double>::infinity();
  }
  return out;
}

double SizeFeatures::walk(const Block& block, Environment& env, std::set<Feature>& out, int& budget) const {
  double cost = 0;
  for (const Stmt& s : block) {
    if (--budget < 0) return cost;
    cost += 1;
    if (const auto* loop = std::get_if<For>(&s.node)) {
      if (!evaluable(*loop->lo) || !evaluable(*loop->hi)) continue;
      const std::int64_t lo = evaluate(*loop->lo, env);
      const std::int64_t hi = evaluate(*loop->hi, env);
      const std::int64_t trips = hi > lo ? checked_sub(hi, lo) : 0;
      if (loop->mode != LoopMode::cuda_threads) {
        const std::size_t what = semantics::ir::index(s.id);
        out.insert({what, static_cast<int>(std::min<std::int64_t>(trips, more))});
        if (const std::int64_t depth = ring(s.id); depth > 0) {
          if (trips == depth) out.insert({what, as_the_ring});
          if (trips == depth + 1) out.insert({what, ring_and_one});
          if (trips > depth + 1) out.insert({what, beyond_the_ring});
          if (trips > 2 * depth) out.insert({what, twice_the_ring});
        }
      }
      if (trips == 0) continue;
      const std::set<std::int64_t> sampled{lo, hi - 1};
      double bodies = 0;
      for (const std::int64_t value : sampled) {
        env.set(loop->iter, value);
        bodies += walk(loop->body, env, out, budget);
      }
      cost += static_cast<double>(trips) * (1 + bodies / static_cast<double>(sampled.size()));
      env.clear(loop->iter);
    } else if (const auto* branch = std::get_if<If>(&s.node)) {
      if (!evaluable(*branch->condition)) continue;
      const bool taken = evaluate(*branch->condition, env) != 0;
      out.insert({semantics::ir::index(s.id), taken ? 1 : 0});
      cost += walk(taken ? branch->then_body : branch->else_body, env, out, budget);
    } else {
      for (const Block* inner : sub_blocks(s)) cost += walk(*inner, env, out, budget);
    }
  }
  return cost;
}

}  // namespace exocheck::amir
