#include <fmt/format.h>

#include "analysis/memory_rules.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::MemoryKind;
using semantics::MemoryType;

MemoryType formal_memory(const ir::Symbol& formal) {
  return formal.memory ? *formal.memory : MemoryType{MemoryKind::DRAM, {}, {}};
}

void check_argument(MemoryReporter& out, const std::string& callee, const ir::Symbol& formal, std::size_t i,
                    const ir::Expr& e) {
  const MemoryType wanted = formal_memory(formal);
  const auto* read = std::get_if<ir::Read>(&e.node);
  if (read == nullptr) {
    // A numeric config field lives in host memory.
    if (std::holds_alternative<ir::ConfigRead>(e.node) && !wanted.is(MemoryKind::DRAM)) {
      out.report("E-M01", e.span,
                 fmt::format("argument {} of `{}` is a config field, but `{}` must lie in {}", i + 1, callee,
                             formal.name, wanted.text()));
    }
    return;
  }
  const ir::Symbol& actual = out.procedure.symbol(read->var);
  if (actual.kind != ir::SymbolKind::data && actual.kind != ir::SymbolKind::window) return;
  const MemoryType given = out.buffers.memory(read->var);
  if (!semantics::derives_from(given, wanted)) {
    const bool maps = given.is(MemoryKind::Sm90_tensorMap) && wanted.is(MemoryKind::Sm90_tensorMap);
    out.report(
        "E-M01", e.span,
        maps ? fmt::format("argument {} of `{}`: the tensor map `{}` is {}, but `{}` must be exactly {}",
                           i + 1, callee, actual.name, given.text(), formal.name, wanted.text())
             : fmt::format("argument {} of `{}`: `{}` lies in {}, but `{}` must lie in {}", i + 1, callee,
                           actual.name, given.text(), formal.name, wanted.text()),
        read->var);
    return;
  }
  if (!read->index.empty()) check_window_accesses(out, read->var, read->index, e.span);
}

void check_trailing(MemoryReporter& out, const ir::Stmt& stmt, const ir::Call& call) {
  const ir::Instr* instr = call.instr.get();
  if (instr == nullptr || !instr->barrier) {
    if (!call.trailing) return;
    const std::string& callee =
        instr != nullptr ? instr->name : out.context.program.procedures[*call.procedure].name;
    out.report("E-C20", call.trailing->span,
               fmt::format("`{}` does not take a trailing barrier, but `>> {}` is given", callee,
                           out.procedure.symbol(call.trailing->var).name),
               call.trailing->var);
    return;
  }
  const std::string wanted(semantics::kind_name(*instr->barrier));
  if (!call.trailing) {
    out.report(
        "E-C21", stmt.span,
        fmt::format("`{}` requires a trailing barrier of mechanism {}: write `>> z[..]` after the call",
                    instr->name, wanted));
    return;
  }
  const ir::Symbol& barrier = out.procedure.symbol(call.trailing->var);
  if (barrier.kind != ir::SymbolKind::barrier || !barrier.mechanism) return;  // E-U03
  if (semantics::derives_from(*barrier.mechanism, *instr->barrier)) return;
  out.report("E-C21", call.trailing->span,
             fmt::format("`{}` requires a trailing barrier of mechanism {}, but `{}` is a {}", instr->name,
                         wanted, barrier.name, barrier.mechanism->text()),
             call.trailing->var);
}

}  // namespace

void check_call_memories(MemoryReporter& out, const ir::Stmt& stmt, const ir::Call& call) {
  const bool instruction = call.instr != nullptr;
  const ir::Procedure& callee =
      instruction ? call.instr->behaviour : out.context.program.procedures[*call.procedure];
  const std::string& name = instruction ? call.instr->name : callee.name;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ir::Symbol& formal = callee.symbol(callee.parameters[i]);
    if (!formal.control()) check_argument(out, name, formal, i, *call.arguments[i]);
  }
  check_trailing(out, stmt, call);
}

}  // namespace exocheck::analysis
