// Instruction calls (collective.md 8).
#include <fmt/format.h>

#include "analysis/collective_pass.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

using namespace semantics::ir;

void CollectivePass::call(const Stmt& stmt, const Call& c, const Scope& scope) {
  if (!c.instr) return;  // procedures are not callable in device code (E-D03)
  if (follows_error(stmt)) return;
  if (const auto f = mismatch(scope.tiling, c.instr->unit)) {
    report(code_of(f->reason, Where::instruction), location(stmt),
           fmt::format("instruction `{}` must be executed by one `{}`, not by {}: {}", c.instr->name,
                       c.instr->unit.text(), constructs_.path(*scope.tiling), constructs_.text(*f)),
           constructs_.notes(*f));
    return;
  }
  CallFacts facts;
  facts.implied.resize(c.arguments.size());
  facts.inner_tiling.resize(c.arguments.size());
  bool distributed = false;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    argument(stmt, c, i, scope, facts);
    distributed = distributed || !c.instr->parameters[i].distributed.empty();
  }
  if (distributed) context_.facts.call[stmt.id] = std::move(facts);
  if (c.trailing) trailing(stmt, c, scope);
}

void CollectivePass::argument(const Stmt& stmt, const Call& c, std::size_t position, const Scope& scope,
                              CallFacts& facts) {
  const InstrParameter& parameter = c.instr->parameters[position];
  const Expr& actual = *c.arguments[position];
  const auto* read = std::get_if<Read>(&actual.node);
  if (read == nullptr || actual.type.control()) return;
  const Resolved resolved = resolve(read->var, read->index);
  auto use = make_use(resolved, read->var, read->index, scope.tiling, location(actual, stmt));
  use.units = parameter.distributed;
  use.callee =
      fmt::format("argument `{}` of `{}`", c.instr->behaviour.symbol(parameter.var).name, c.instr->name);
  const auto result = table_.use(resolved.base, std::move(use));
  if (!result.deduction || parameter.distributed.empty()) return;
  facts.implied[position] = result.deduction->implied;
  facts.inner_tiling[position] = result.deduction->tiling;
}

void CollectivePass::trailing(const Stmt& stmt, const Call& c, const Scope& scope) {
  const BarrierExpr& b = *c.trailing;
  std::size_t intervals = 0;
  for (const Access& a : b.index) intervals += a.interval() ? 1 : 0;
  if (intervals != c.instr->barrier_units.size()) {
    report("E-C22", context_.procedure.location(b.span.begin < b.span.end ? b.span : stmt.span),
           fmt::format("the trailing barrier `{}` of `{}` has {} intervals, but must have {}",
                       text(b.var, b.index), c.instr->name, intervals, c.instr->barrier_units.size()),
           {}, b.var);
    return;
  }
  auto use = make_use(resolve(b.var, b.index), b.var, b.index, scope.tiling, location(stmt));
  use.units = c.instr->barrier_units;
  use.callee = fmt::format("the trailing barrier of `{}`", c.instr->name);
  table_.use(b.var, std::move(use), "E-U30");
}

}  // namespace exocheck::analysis
