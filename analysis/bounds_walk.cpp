#include "analysis/bounds_walk.hpp"

#include <fmt/format.h>

#include "analysis/bounds_calls.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis::bounds {

namespace ir = semantics::ir;
using semantics::Span;
using smt::Assumptions;
using smt::Sort;
using smt::Term;

namespace {

// Does a thread collective of this unit hold at least one whole CTA?
bool spans_cta(const semantics::CollUnit& unit, std::int64_t cluster_dim, std::int64_t block_dim) {
  std::int64_t threads = 1;
  for (std::size_t k = 0; k < unit.box.size(); ++k) {
    const auto extent = evaluate(unit.box[k] ? *unit.box[k] : unit.domain[k], cluster_dim, block_dim);
    if (!extent || __builtin_mul_overflow(threads, *extent, &threads)) return false;
  }
  return block_dim > 0 && threads >= block_dim;
}

}  // namespace

bool writes_config(const ir::Block& block) {
  bool found = false;
  ir::for_each_stmt(block, [&found](const ir::Stmt& s) {
    const auto* call = std::get_if<ir::Call>(&s.node);
    found = found || std::holds_alternative<ir::ConfigWrite>(s.node) || (call != nullptr && call->procedure);
  });
  return found;
}

Claim Walk::claim(std::string_view code, const ir::Stmt& stmt, Span span, std::string variable,
                  int dimension) const {
  Claim c;
  c.code = code;
  c.location = frame_.procedure().location(span.begin == span.end ? stmt.span : span);
  c.place = stmt.span.begin;
  c.variable = std::move(variable);
  c.dimension = dimension;
  return c;
}

void Walk::block(const ir::Block& block, const Assumptions& gamma) {
  for (const ir::Stmt& s : block) statement(s, gamma);
}

void Walk::statement(const ir::Stmt& stmt, const Assumptions& gamma) {
  std::visit(ir::overloaded{
                 [](const ir::Pass&) {},
                 [](const ir::Fence&) {},
                 [&](const ir::Assign& s) {
                   std::vector<ir::Access> index;
                   for (const ir::ExprPtr& e : s.index) index.push_back({e, nullptr});
                   reads(stmt, *s.value, gamma);
                   access(stmt, stmt.span, s.target, index, s.reduce ? "reduced" : "written", gamma);
                 },
                 [&](const ir::ConfigWrite& s) {
                   reads(stmt, *s.value, gamma);
                   session_.config.forget();
                 },
                 [&](const ir::Alloc& s) { allocation(stmt, s, gamma); },
                 [&](const ir::WindowStmt& s) { window(stmt, s, gamma); },
                 [&](const ir::Call& s) { call(stmt, s, gamma); },
                 [&](const ir::For& s) { loop(stmt, s, gamma); },
                 [&](const ir::If& s) { branch(stmt, s, gamma); },
                 [&](const ir::DeviceFunction& s) { device_function(s, gamma); },
                 [&](const ir::Warps& s) { block(s.body, gamma); },
                 [&](const ir::Arrive& s) {
                   for (const ir::BarrierExpr& b : s.targets) barrier(stmt, b, gamma);
                 },
                 [&](const ir::Await& s) { barrier(stmt, s.barrier, gamma); },
             },
             stmt.node);
}

// O3.
void Walk::allocation(const ir::Stmt& stmt, const ir::Alloc& alloc, const Assumptions& gamma) {
  const ir::Symbol& symbol = frame_.procedure().symbol(alloc.var);
  const std::string unsupported = frame_.declare_data(alloc.var, false, false);
  if (!unsupported.empty()) {
    Claim c = claim("E-B03", stmt, stmt.span, symbol.name);
    c.meaning = fmt::format("the extents of `{}` are positive", symbol.name);
    session_.reporter.undecided(c, unsupported);
    return;
  }
  const auto& extents = frame_.view(alloc.var)->base->extents;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const Term& n = extents[k];
    Claim c = claim("E-B03", stmt, stmt.span, symbol.name, static_cast<int>(k));
    c.meaning = fmt::format("extent {} of `{}` in dimension {} is positive", text(n), symbol.name, k);
    c.message = [&](const Numbers& numbers) {
      return fmt::format("the extent of `{}` in dimension {} must be positive, but it is {}{}", symbol.name,
                         k, numbers.with_value(n), numbers.when());
    };
    session_.reporter.require(gamma, lt(smt::integer(0), n), c);
  }
}

// O2 and A3.
void Walk::loop(const ir::Stmt& stmt, const ir::For& loop, const Assumptions& gamma) {
  const std::string& name = frame_.procedure().symbol(loop.iter).name;
  const auto lo = frame_.translate(*loop.lo, Sort::integer);
  const auto hi = frame_.translate(*loop.hi, Sort::integer);
  Claim c = claim("E-B02", stmt, stmt.span, name);
  c.meaning = fmt::format("the range of loop `{}` is not negative", name);
  Assumptions inner = gamma;
  if (lo.term && hi.term) {
    c.message = [&](const Numbers& numbers) {
      return fmt::format("the range of loop `{}` may be negative: it goes from {} to {}{}", name,
                         numbers.with_value(*lo.term), numbers.with_value(*hi.term), numbers.when());
    };
    session_.reporter.require(gamma, le(*lo.term, *hi.term), c);
    const Term i = frame_.declare(loop.iter);
    inner = gamma.with("loop." + name, conj(le(*lo.term, i), lt(i, *hi.term)), smt::Origin::range,
                       i.variable().id);
  } else {
    session_.reporter.undecided(c, lo.term ? hi.unsupported : lo.unsupported);
    frame_.declare(loop.iter);
  }

  const bool counts_ctas =
      loop.mode == ir::LoopMode::cuda_threads && loop.unit && spans_cta(*loop.unit, cluster_dim_, block_dim_);
  if (counts_ctas) cta_iterators_.push_back(frame_.control(loop.iter)->variable().id);
  const bool config = !session_.context.program.configs.empty() && writes_config(loop.body);
  if (config) session_.config.forget();
  block(loop.body, inner);
  if (config) session_.config.forget();
  if (counts_ctas) cta_iterators_.pop_back();
}

// A4.
void Walk::branch(const ir::Stmt& stmt, const ir::If& branch, const Assumptions& gamma) {
  const auto condition = frame_.translate(*branch.condition, Sort::boolean);
  if (!condition.term) {
    Claim c = claim("E-B04", stmt, stmt.span, "");
    c.meaning = "the accesses under this condition stay in bounds";
    session_.reporter.undecided(c, condition.unsupported);
    block(branch.then_body, gamma);
    block(branch.else_body, gamma);
    return;
  }
  block(branch.then_body, gamma.with("guard", *condition.term, smt::Origin::guard));
  block(branch.else_body, gamma.with("guard", negate(*condition.term), smt::Origin::guard));
}

void Walk::device_function(const ir::DeviceFunction& device, const Assumptions& gamma) {
  cluster_dim_ = device.config.cluster_dim;
  block_dim_ = device.config.block_dim.value_or(0);
  if (device.config.warps) {
    for (const ir::WarpConfig& w : *device.config.warps) {
      std::int64_t threads = 0;
      if (__builtin_mul_overflow(w.count, 32, &threads) ||
          __builtin_add_overflow(block_dim_, threads, &block_dim_))
        return;
    }
  }
  block(device.body, gamma);
}

void Walk::reads(const ir::Stmt& stmt, const ir::Expr& value, const Assumptions& gamma) {
  ir::for_each_subexpr(value, [&](const ir::Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e.node);
    if (read != nullptr) access(stmt, e.span, read->var, read->index, "read", gamma);
  });
}

// O5 .. O8 and O11 of a call.
void Walk::call(const ir::Stmt& stmt, const ir::Call& call, const Assumptions& gamma) {
  CallCheck check(session_, frame_, stmt, call, gamma);
  check.run(cta_iterators_);
  if (call.trailing) barrier(stmt, *call.trailing, gamma);
  if (call.procedure && !session_.context.program.configs.empty()) session_.config.forget();
}

}  // namespace exocheck::analysis::bounds
