// Order of the static passes (language.md 11; decisions.md C14, D11).
#include <algorithm>
#include <array>

#include "analysis/aliasing.hpp"
#include "analysis/passes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;

bool beyond_paper(const ir::Expr& e) {
  if (const auto* b = std::get_if<ir::Binary>(&e.node)) {
    return b->op == ir::BinaryOp::gt || b->op == ir::BinaryOp::ge || b->op == ir::BinaryOp::ne;
  }
  const auto* u = std::get_if<ir::Unary>(&e.node);
  return u != nullptr && u->op == ir::UnaryOp::logical_not;
}

// `!=`, `>`, `>=` and `not` are extensions of the paper's language: a warning in paper-exact mode
// (decisions.md D8).
void warn_extensions(PassContext& context) {
  const ir::Procedure& procedure = context.procedure;
  const auto visit = [&](const ir::Expr& top) {
    ir::for_each_subexpr(top, [&](const ir::Expr& e) {
      if (!beyond_paper(e)) return;
      auto d =
          semantics::make_diagnostic("E-P52", procedure.location(e.span),
                                     "the paper's language has only ==, < and <= in control expressions");
      d.severity = semantics::Severity::warning;
      context.diagnostics.push_back(std::move(d));
    });
  };
  for (const ir::Assertion& a : procedure.assertions) visit(*a.condition);
  ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) { ir::for_each_expr(s, visit); });
}

// Launch parameters come first: the reference rejects them where the device function is built. The kernel's
// structure is settled before the collectives, so that a statement beside the task nest is reported as such
// (language.md 12.9).
constexpr std::array passes{
    check_launch,      check_bounds,        check_aliasing,         check_memories,    check_device_scopes,
    compute_lifetimes, check_barrier_usage, check_kernel_structure, check_collectives, check_sync_legality,
};

// An undecided obligation leaves the verdict open but the facts complete, so that later passes can still find
// defects.
bool blocks(const semantics::Diagnostic& d, const Facts& facts) {
  if (d.severity != semantics::Severity::error) return false;
  return d.rule->rule_class != semantics::RuleClass::limit || !facts.unknown_reason;
}

}  // namespace

AnalysisResult analyse(const ir::Procedure& procedure, const ir::Program& program,
                       const AnalysisOptions& options) {
  AnalysisResult result;
  result.facts.symbol_limit = static_cast<std::uint32_t>(procedure.symbols.size());
  PassContext context{
      procedure, program, options.mode, result.facts, result.diagnostics, options.solver_seconds};
  result.unsupported = find_parallel_loop(procedure);
  if (options.mode == Mode::paper_exact) warn_extensions(context);
  for (const auto pass : passes) {
    const std::size_t before = result.diagnostics.size();
    pass(context);
    if (pass == check_bounds && options.bounds_open) {
      result.diagnostics.resize(before);
      result.facts.unknown_reason.reset();
    }
    if (std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                    [&](const auto& d) { return blocks(d, result.facts); })) {
      break;
    }
  }
  return result;
}

}  // namespace exocheck::analysis
