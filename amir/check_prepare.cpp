#include "amir/check_prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/inline.hpp"
#include "analysis/passes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
using semantics::RuleClass;
using semantics::Severity;

namespace {

bool stops(const semantics::Diagnostics& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const auto& d) {
    return d.severity == Severity::error && d.rule->rule_class != RuleClass::limit;
  });
}

bool any_statement(const Procedure& procedure, const std::function<bool(const Stmt&)>& wanted) {
  bool found = false;
  for_each_stmt(procedure.body, [&](const Stmt& s) { found = found || wanted(s); });
  return found;
}

bool has_calls(const Procedure& procedure) {
  return any_statement(procedure, [](const Stmt& s) {
    const auto* call = std::get_if<Call>(&s.node);
    return call != nullptr && call->procedure.has_value();
  });
}

bool has_kernel(const Procedure& procedure) {
  return any_statement(procedure,
                       [](const Stmt& s) { return std::holds_alternative<DeviceFunction>(s.node); });
}

// Facts of the expanded procedure. Its bounds were proved procedure by procedure, under each one's own
// asserts; what other passes find here is in a callee, which is reported on its own, too.
void analyse_inlined(Prepared& out, const Program& program, analysis::Mode mode,
                     semantics::Diagnostics& findings) {
  constexpr std::array passes{
      analysis::check_launch,           analysis::check_aliasing,    analysis::check_memories,
      analysis::check_device_scopes,    analysis::compute_lifetimes, analysis::check_barrier_usage,
      analysis::check_kernel_structure, analysis::check_collectives, analysis::check_sync_legality,
  };
  out.facts.symbol_limit = static_cast<std::uint32_t>(out.procedure.symbols.size());
  semantics::Diagnostics found;
  analysis::PassContext context{out.procedure, program, mode, out.facts, found};
  for (const auto pass : passes) {
    pass(context);
    if (stops(found)) break;
  }
  for (semantics::Diagnostic& d : found) {
    const bool known = std::any_of(findings.begin(), findings.end(), [&](const semantics::Diagnostic& other) {
      return other.rule == d.rule && other.location.span == d.location.span;
    });
    if (!known) findings.push_back(std::move(d));
  }
}

}  // namespace

Preparation prepare(const Procedure& procedure, const Program& program,
                    const analysis::AnalysisOptions& options) {
  Preparation out;
  analysis::AnalysisResult analysis = analysis::analyse(procedure, program, options);
  out.findings = std::move(analysis.diagnostics);
  out.obligations = std::move(analysis.facts.obligations);
  analysis.facts.obligations.clear();
  out.unknown = analysis.facts.unknown_reason;
  if (stops(out.findings)) return out;
  if (analysis.unsupported) {
    out.unsupported = analysis.unsupported->message;
    out.findings.push_back(std::move(*analysis.unsupported));
    return out;
  }

  auto prepared = std::make_unique<Prepared>();
  if (has_calls(procedure)) {
    prepared->procedure = analysis::inline_calls(procedure, program);
    analyse_inlined(*prepared, program, options.mode, out.findings);
    if (stops(out.findings)) return out;
  } else {
    prepared->procedure = procedure;
    prepared->facts = std::move(analysis.facts);
  }
  if (!has_kernel(prepared->procedure)) {
    out.cpu_only = true;
    return out;
  }
  if (prepared->procedure.dialect == semantics::Dialect::R) {
    out.unsupported = "dialect R: machine rules not implemented";
    return out;
  }
  prepared->translation = translate(prepared->procedure, prepared->facts, options.bounds_open);
  if (!prepared->translation.unsupported.empty()) {
    out.unsupported = prepared->translation.unsupported.front().message;
    for (semantics::Diagnostic& d : prepared->translation.unsupported) out.findings.push_back(std::move(d));
    return out;
  }
  out.prepared = std::move(prepared);
  return out;
}

}  // namespace exocheck::amir
