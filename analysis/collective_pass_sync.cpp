// Arrive and Await: home barrier, multicast, executing collective (collective.md 7).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "analysis/buffers.hpp"
#include "analysis/collective_pass.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

using namespace semantics::ir;

namespace {

bool power_of_two(std::int64_t v) { return v > 0 && std::has_single_bit(static_cast<std::uint64_t>(v)); }

// The point that occurs at each position; empty if some position has none (E-U06) or the ranks differ.
std::vector<Access> home_index(const std::vector<BarrierExpr>& targets) {
  std::vector<Access> home;
  if (targets.empty()) return home;
  for (std::size_t i = 0; i < targets.front().index.size(); ++i) {
    const auto it = std::find_if(targets.begin(), targets.end(), [i](const BarrierExpr& b) {
      return i < b.index.size() && !b.index[i].interval();
    });
    if (it == targets.end()) return {};
    home.push_back(it->index[i]);
  }
  return home;
}

// Positions at which some expression has an interval.
std::vector<std::size_t> multicast_dimensions(const std::vector<BarrierExpr>& targets) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < targets.front().index.size(); ++i) {
    if (std::any_of(targets.begin(), targets.end(),
                    [i](const BarrierExpr& b) { return b.index[i].interval(); })) {
      out.push_back(i);
    }
  }
  return out;
}

}  // namespace

void CollectivePass::arrive(const Stmt& stmt, const Arrive& a, const Scope& scope) {
  if (a.targets.empty()) return;
  const SymId barrier = a.targets.front().var;
  const std::vector<Access> home = home_index(a.targets);
  if (failed_barriers_.contains(barrier) || home.size() != symbol(barrier).shape.size()) return;
  for (const BarrierExpr& b : a.targets) {
    if (!intervals_complete(b)) return;
  }
  const auto deduction = sync_use(stmt, barrier, home, scope);
  if (!deduction || !multicast(stmt, a, *deduction, home, scope)) return;
  sync_threads(stmt, barrier, BarrierConsistency::Kind::arrive, deduction->pitches, scope);
}

void CollectivePass::await(const Stmt& stmt, const Await& a, const Scope& scope) {
  const BarrierExpr& b = a.barrier;
  if (failed_barriers_.contains(b.var) || b.index.size() != symbol(b.var).shape.size()) return;
  const auto deduction = sync_use(stmt, b.var, b.index, scope);
  if (!deduction) return;
  sync_threads(stmt, b.var, BarrierConsistency::Kind::await, deduction->pitches, scope);
}

std::optional<Deduction> CollectivePass::sync_use(const Stmt& stmt, SymId barrier,
                                                  const std::vector<Access>& home, const Scope& scope) {
  auto use = make_use(resolve(barrier, home), barrier, home, scope.tiling, location(stmt));
  auto result = table_.use(barrier, std::move(use));
  if (!result.deduction) failed_barriers_.insert(barrier);
  return std::move(result.deduction);
}

void CollectivePass::sync_threads(const Stmt& stmt, SymId barrier, BarrierConsistency::Kind kind,
                                  std::vector<std::int64_t> pitches, const Scope& scope) {
  const Symbol& z = symbol(barrier);
  const char* word = kind == BarrierConsistency::Kind::arrive ? "an Arrive" : "an Await";
  if (const auto unit = sync_unit(z, context_.facts, barrier, context_.procedure.dialect)) {
    if (const auto f = mismatch(scope.tiling, *unit)) {
      const std::string needed =
          z.mechanism->mbarrier() ? "threads of one CTA" : fmt::format("exactly one `{}`", unit->text());
      report("E-U18", location(stmt),
             fmt::format("{} on `{}` ({}) must be executed by {}, not by {}: {}", word, z.name,
                         z.mechanism->text(), needed, constructs_.path(*scope.tiling), constructs_.text(*f)),
             constructs_.notes(*f), barrier);
      return;
    }
  }
  if (auto refusal = consistency_.add(barrier, kind, scope.tiling, std::move(pitches), location(stmt))) {
    report(refusal->code, location(stmt), std::move(refusal->message), std::move(refusal->related), barrier);
  }
}

bool CollectivePass::intervals_complete(const BarrierExpr& b) {
  const Symbol& z = symbol(b.var);
  for (std::size_t i = 0; i < b.index.size() && i < z.shape.size(); ++i) {
    const Access& a = b.index[i];
    if (!a.interval()) continue;
    const auto extent = constant_value(*z.shape[i]);
    if (extent && constant_value(*a.lo) == 0 && constant_value(*a.hi) == extent) continue;
    const std::string full = extent ? fmt::format("0:{}", *extent)
                                    : fmt::format("the whole dimension, whose extent {} is not a constant",
                                                  expression_text(context_.procedure, *z.shape[i]));
    report("E-U30", context_.procedure.location(b.span),
           fmt::format("the multicast interval at position {} of `{}` must be {}", i, text(b.var, b.index),
                       full),
           {}, b.var);
    return false;
  }
  return true;
}

bool CollectivePass::multicast(const Stmt& stmt, const Arrive& a, const Deduction& d,
                               const std::vector<Access>& home, const Scope& scope) {
  const SymId barrier = a.targets.front().var;
  const std::vector<std::size_t> dims = multicast_dimensions(a.targets);
  if (dims.empty()) return true;
  const std::string name = symbol(barrier).name;
  for (const std::size_t i : dims) {
    const std::string home_text = expression_text(context_.procedure, *home[i].lo);
    if (i >= d.pitches.size()) {  // dialect R: a physical dimension
      if (constant_value(*symbol(barrier).shape[i]) == 1) continue;
      report("E-U31", location(stmt),
             fmt::format("cannot multicast along dimension {} of `{}`: it is not distributed over CTAs", i,
                         name),
             {}, barrier);
      return false;
    }
    const std::int64_t block = scope.tiling->geometry.block_dim;
    if (d.pitches[i] % block != 0) {
      report("E-U31", location(stmt),
             fmt::format("cannot multicast along dimension {} of `{}`: its elements, indexed by {}, are {} "
                         "threads apart, "
                         "which is no multiple of the {} threads of a CTA",
                         i, name, constructs_.iterator(*scope.tiling, d.iterators[i]), d.pitches[i], block),
             {}, barrier);
      return false;
    }
    const Construct* loop = constructs_.find(d.iterators[i]);
    auto between = std::find(path_.begin(), path_.end(), loop != nullptr ? loop->stmt : nullptr);
    for (; between != path_.end(); ++between) {
      const auto* seq = std::get_if<For>(&(*between)->node);
      const bool branch = std::holds_alternative<If>((*between)->node);
      if (!branch && !(seq != nullptr && seq->mode == LoopMode::seq)) continue;
      report(
          "E-U32", location(stmt),
          fmt::format(
              "the CTAs of {} must all execute this multicast Arrive on `{}` together, but {} stands between "
              "that loop and the Arrive",
              loop->text, name, branch ? "an if" : fmt::format("the seq loop `{}`", symbol(seq->iter).name)),
          {{semantics::Role::context, branch ? "the if" : "the seq loop", location(**between)}}, barrier);
      return false;
    }
  }
  return power_of_two_geometry(stmt, barrier, dims, scope.tiling);
}

bool CollectivePass::power_of_two_geometry(const Stmt& stmt, SymId barrier,
                                           const std::vector<std::size_t>& dims, const TilingPtr& tiling) {
  for (const std::size_t i : dims) {
    const auto extent = constant_value(*symbol(barrier).shape[i]);
    if (!extent || *extent <= 1 || power_of_two(*extent)) continue;
    report("E-U33", location(stmt),
           fmt::format("a multicast Arrive needs powers of two, but dimension {} of `{}` has extent {}", i,
                       symbol(barrier).name, *extent),
           {}, barrier);
    return false;
  }
  for (std::size_t i = 0; i < tiling->dims.size(); ++i) {
    if (tiling->pitch(i) < tiling->geometry.block_dim) continue;
    for (const DimOp& op : tiling->dims[i].ops) {
      if (power_of_two(op.box)) continue;
      report("E-U33", location(stmt),
             fmt::format("a multicast Arrive needs powers of two, but {} takes boxes of {} CTAs",
                         constructs_.text(op.iter), op.box * tiling->pitch(i) / tiling->geometry.block_dim),
             {}, barrier);
      return false;
    }
  }
  return true;
}

}  // namespace exocheck::analysis
