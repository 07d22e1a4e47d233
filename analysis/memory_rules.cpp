#include "analysis/memory_rules.hpp"

#include <fmt/format.h>

#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

namespace ir = semantics::ir;
using semantics::make_diagnostic;

void MemoryReporter::report(const char* code, semantics::Span span, std::string message) {
  if (reported_) return;
  reported_ = true;
  context.diagnostics.push_back(make_diagnostic(code, procedure.location(span), std::move(message)));
}

void MemoryReporter::report(const char* code, semantics::Span span, std::string message, ir::SymId var) {
  if (reported_) return;
  report(code, span, std::move(message));
  const ir::Symbol& symbol = procedure.symbol(var);
  semantics::Diagnostic& d = context.diagnostics.back();
  d.variable = symbol.name;
  if (symbol.kind != ir::SymbolKind::barrier) d.memory = buffers.memory(var).text();
  if (span == symbol.span) return;
  d.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", symbol.name),
                       procedure.location(symbol.span)});
}

void check_plain_accesses(MemoryReporter& out, const ir::Stmt& stmt) {
  const auto record = [&out](ir::SymId var) {
    semantics::MemoryRecord r =
        semantics::memory_record(out.buffers.memory(var), out.procedure.symbol(var).precision);
    // A tensor map is for instructions only (decisions.md F10).
    if (r.special_window) r.plain_read = r.plain_write = r.plain_reduce = false;
    return r;
  };
  for_each_plain_read(stmt, [&](const ir::Expr& e, const ir::Read& read) {
    if (record(read.var).plain_read) return;
    out.report("E-M20", e.span,
               fmt::format("`{}` lies in {}, which only instructions may read",
                           out.procedure.symbol(read.var).name, out.buffers.memory(read.var).text()),
               read.var);
  });
  const auto* assign = std::get_if<ir::Assign>(&stmt.node);
  if (assign == nullptr) return;
  const semantics::MemoryRecord r = record(assign->target);
  if (assign->reduce ? r.plain_reduce : r.plain_write) return;
  out.report(assign->reduce ? "E-M22" : "E-M21", stmt.span,
             fmt::format("`{}` lies in {}, which {}", out.procedure.symbol(assign->target).name,
                         out.buffers.memory(assign->target).text(),
                         assign->reduce ? "has no plain reduction; use an instruction that accumulates"
                                        : "only instructions may write"),
             assign->target);
}

void check_memories(PassContext& context) {
  MemoryReporter out(context);
  const ir::Procedure& procedure = context.procedure;
  for (const ir::SymId var : procedure.parameters) {
    const ir::Symbol& symbol = procedure.symbol(var);
    if (symbol.kind != ir::SymbolKind::data && symbol.kind != ir::SymbolKind::window) continue;
    out.start_statement();
    check_declaration(out, var, symbol.span, false);
  }
  ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) {
    out.start_statement();
    if (const auto* alloc = std::get_if<ir::Alloc>(&s.node)) {
      if (procedure.symbol(alloc->var).kind != ir::SymbolKind::barrier)
        check_declaration(out, alloc->var, s.span, true);
    }
    if (const auto* w = std::get_if<ir::WindowStmt>(&s.node)) check_window_statement(out, s, *w);
  });
  // The other checks look memories up, which is possible only if every declaration is sound.
  if (semantics::has_errors(context.diagnostics)) return;
  ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) {
    out.start_statement();
    if (const auto* call = std::get_if<ir::Call>(&s.node)) check_call_memories(out, s, *call);
    check_plain_accesses(out, s);
  });
}

}  // namespace exocheck::analysis
