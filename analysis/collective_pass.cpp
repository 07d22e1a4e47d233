#include "analysis/collective_pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/buffers.hpp"
#include "analysis/scopes.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

using namespace semantics::ir;
using semantics::Location;
using semantics::Related;

void check_collectives(PassContext& context) { CollectivePass(context).run(); }

CollectivePass::CollectivePass(PassContext& context)
    : context_(context),
      constructs_(context.procedure, context.facts),
      table_(context, constructs_),
      consistency_(context, constructs_) {}

void CollectivePass::run() {
  walk(context_.procedure.body, {});
  table_.finish();
  warn_unused();
}

void CollectivePass::walk(const Block& block, const Scope& scope) {
  for (const Stmt& stmt : block) {
    if (scope.tiling) context_.facts.tiling[stmt.id] = scope.tiling;
    visit(stmt, scope);
  }
}

void CollectivePass::visit(const Stmt& stmt, const Scope& scope) {
  const auto inside = [&](const auto& body) {
    path_.push_back(&stmt);
    body();
    path_.pop_back();
  };
  std::visit(overloaded{
                 [&](const DeviceFunction& f) { inside([&] { device_function(stmt, f); }); },
                 [&](const For& f) { inside([&] { loop(stmt, f, scope); }); },
                 [&](const Warps& w) { inside([&] { warps(stmt, w, scope); }); },
                 [&](const If& f) {
                   inside([&] {
                     walk(f.then_body, scope);
                     walk(f.else_body, scope);
                   });
                 },
                 [&](const WindowStmt& w) { window(w); },
                 [&](const Alloc& a) {
                   if (scope.tiling) table_.declare(a.var, scope.tiling, location(stmt));
                 },
                 [&](const Assign& a) {
                   if (scope.tiling) assign(stmt, a, scope);
                 },
                 [&](const Call& c) {
                   if (scope.tiling) call(stmt, c, scope);
                 },
                 [&](const Arrive& a) {
                   if (scope.tiling) arrive(stmt, a, scope);
                 },
                 [&](const Await& a) {
                   if (scope.tiling) await(stmt, a, scope);
                 },
                 [](const Pass&) {},
                 [](const ConfigWrite&) {},
                 [](const Fence&) {},
             },
             stmt.node);
}

void CollectivePass::window(const WindowStmt& w) { windows_[w.result] = resolve(w.base, w.index); }

// An access through a window is an access to what the window views (language.md 6.3).
CollectivePass::Resolved CollectivePass::resolve(SymId var, const std::vector<Access>& index) const {
  std::vector<Access> inner = index;
  if (inner.empty()) {
    for (const ExprPtr& extent : symbol(var).shape) inner.push_back({int_const(0), extent});
  }
  Resolved out;
  const auto it = windows_.find(var);
  if (it == windows_.end()) {
    out.base = var;
    for (std::size_t i = 0; i < inner.size(); ++i) out.written.push_back(i);
    out.index = std::move(inner);
    return out;
  }
  out.base = it->second.base;
  out.index = compose(it->second.index, inner);
  std::size_t next = 0;
  for (const Access& a : it->second.index) out.written.push_back(a.interval() ? next++ : 0);
  return out;
}

DistributedUse CollectivePass::make_use(const Resolved& resolved, SymId named,
                                        const std::vector<Access>& index, const TilingPtr& tiling,
                                        Location where) const {
  DistributedUse use;
  use.tiling = tiling;
  use.index = resolved.index;
  use.written = resolved.written;
  use.text = text(named, index);
  if (resolved.base != named) use.text += fmt::format(" (a window of `{}`)", symbol(resolved.base).name);
  use.location = std::move(where);
  return use;
}

bool CollectivePass::follows_error(const Stmt& stmt) {
  std::vector<SymId> used;
  bool failed = false;
  for_each_mention(stmt, [&](SymId var) {
    if (symbol(var).kind == SymbolKind::barrier) return;
    const auto it = windows_.find(var);
    used.push_back(it == windows_.end() ? var : it->second.base);
    failed = failed || table_.failed(used.back());
  });
  if (!failed) return false;
  for (const SymId var : used) table_.silence(var);
  return true;
}

bool CollectivePass::reads(const Expr& expr, const Stmt& stmt, const Scope& scope) {
  bool failed = false;
  for_each_subexpr(expr, [&](const Expr& sub) {
    const auto* read = std::get_if<Read>(&sub.node);
    if (read == nullptr) return;
    const Resolved resolved = resolve(read->var, read->index);
    auto use = make_use(resolved, read->var, read->index, scope.tiling, location(sub, stmt));
    failed = table_.use(resolved.base, std::move(use)).reported || failed;
  });
  return failed;
}

void CollectivePass::assign(const Stmt& stmt, const Assign& a, const Scope& scope) {
  if (follows_error(stmt)) return;
  bool failed = reads(*a.value, stmt, scope);
  std::vector<Access> index;
  for (const ExprPtr& e : a.index) index.push_back({e, nullptr});
  const Resolved resolved = resolve(a.target, index);
  auto use = make_use(resolved, a.target, index, scope.tiling, location(stmt));
  failed = table_.use(resolved.base, std::move(use)).reported || failed;
  const Symbol& base = symbol(resolved.base);
  if (failed || !base.memory) return;
  const CollUnit unit = semantics::memory_record(*base.memory, base.precision).mutate_unit;
  if (const auto f = mismatch(scope.tiling, unit)) {
    const std::string needed =
        unit.single_thread() ? "exactly one thread" : fmt::format("one `{}`", unit.text());
    report("E-H10", location(stmt),
           fmt::format("a plain write to `{}` in {} must be executed by {}, not by {}: {}",
                       text(a.target, index), base.memory->text(), needed, constructs_.path(*scope.tiling),
                       constructs_.text(*f)),
           constructs_.notes(*f), resolved.base);
  }
}

void CollectivePass::warn_unused() {
  std::unordered_set<SymId> mentioned;
  for_each_stmt(context_.procedure.body,
                [&](const Stmt& s) { for_each_mention(s, [&](SymId var) { mentioned.insert(var); }); });
  for_each_scoped_stmt(context_.procedure.body, [&](const Stmt& s, DeviceScope scope) {
    const auto* alloc = std::get_if<Alloc>(&s.node);
    if (alloc == nullptr || scope != DeviceScope::cuda || symbol(alloc->var).kind != SymbolKind::data) return;
    if (mentioned.contains(alloc->var)) return;
    report("W-X01", location(s), fmt::format("`{}` is allocated but never used", symbol(alloc->var).name), {},
           alloc->var);
  });
}

void CollectivePass::report(std::string_view code, Location where, std::string message,
                            std::vector<Related> related, SymId variable) {
  auto d = semantics::make_diagnostic(code, std::move(where), std::move(message));
  d.related = std::move(related);
  if (variable != none) {
    if (symbol(variable).kind == SymbolKind::barrier) failed_barriers_.insert(variable);
    d.variable = symbol(variable).name;
    if (symbol(variable).memory) d.memory = symbol(variable).memory->text();
  }
  context_.diagnostics.push_back(std::move(d));
}

Location CollectivePass::location(const Stmt& stmt) const { return context_.procedure.location(stmt.span); }

Location CollectivePass::location(const Expr& expr, const Stmt& stmt) const {
  const bool known = expr.span.begin < expr.span.end;
  return context_.procedure.location(known ? expr.span : stmt.span);
}

std::string CollectivePass::text(SymId var, const std::vector<Access>& index) const {
  if (index.empty()) return symbol(var).name;
  std::vector<std::string> parts;
  for (const Access& a : index) {
    std::string part = expression_text(context_.procedure, *a.lo);
    // Both ends of a bare `:` stand for it as a whole.
    if (a.interval() && a.hi->span != a.lo->span) part += ":" + expression_text(context_.procedure, *a.hi);
    parts.push_back(std::move(part));
  }
  return fmt::format("{}[{}]", symbol(var).name, fmt::join(parts, ", "));
}

}  // namespace exocheck::analysis
