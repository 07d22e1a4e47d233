// Parts of check_memories, one file each (language.md 6.3, 6.4, 7.2; decisions.md F).
#pragma once

#include <string>

#include "analysis/buffers.hpp"
#include "analysis/passes.hpp"

namespace exocheck::analysis {

// Shared by the parts: reports at most one error per statement (decisions.md C14).
class MemoryReporter {
 public:
  explicit MemoryReporter(PassContext& pass)
      : context(pass), procedure(pass.procedure), buffers(pass.procedure) {}

  void start_statement() { reported_ = false; }
  void report(const char* code, semantics::Span span, std::string message, semantics::ir::SymId var);
  void report(const char* code, semantics::Span span, std::string message);
  bool reported() const { return reported_; }

  PassContext& context;
  const semantics::ir::Procedure& procedure;
  Buffers buffers;

 private:
  bool reported_ = false;
};

// E-M02, E-M04, E-M06 .. E-M08, E-M13, E-M15 .. E-M17 for a declared data symbol, `span` being the
// declaration.
void check_declaration(MemoryReporter& out, semantics::ir::SymId var, semantics::Span span, bool allocation);
// E-M03, E-M04, E-M05, E-M19 for a window statement.
void check_window_statement(MemoryReporter& out, const semantics::ir::Stmt& stmt,
                            const semantics::ir::WindowStmt& w);
// E-M05 (packed dimensions taken whole) and E-M19 (points of a tensor map) for accesses on `var`.
void check_window_accesses(MemoryReporter& out, semantics::ir::SymId var,
                           const std::vector<semantics::ir::Access>& index, semantics::Span span);
// E-M01, E-M05, E-M19, E-C20, E-C21 for a call.
void check_call_memories(MemoryReporter& out, const semantics::ir::Stmt& stmt,
                         const semantics::ir::Call& call);
// E-M20 .. E-M22: plain accesses.
void check_plain_accesses(MemoryReporter& out, const semantics::ir::Stmt& stmt);

}  // namespace exocheck::analysis
