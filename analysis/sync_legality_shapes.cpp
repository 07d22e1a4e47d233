#include <fmt/format.h>

#include "analysis/buffers.hpp"
#include "analysis/ring.hpp"
#include "analysis/sync_legality.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::MemoryKind;

class Shapes {
 public:
  explicit Shapes(PassContext& context) : context_(context), procedure_(context.procedure) {}

  void parameter(ir::SymId var) {
    const ir::Symbol& symbol = procedure_.symbol(var);
    if (symbol.kind == ir::SymbolKind::data) constant(var, symbol.span);
  }

  void allocation(const ir::Stmt& s, ir::SymId var) {
    const ir::Symbol& symbol = procedure_.symbol(var);
    if (symbol.kind == ir::SymbolKind::barrier) {
      single(s, var);
      return;
    }
    if (symbol.memory && symbol.memory->is(MemoryKind::CudaGmemLinear) && symbol.shape.empty()) {
      report("E-M11", s.span, var,
             fmt::format("`{}` is a scalar in CudaGmemLinear, which holds only tensors; allocate a tensor of "
                         "one element",
                         symbol.name));
      return;
    }
    constant(var, s.span);
  }

 private:
  std::size_t distributed(ir::SymId var) const {
    const auto it = context_.facts.distribution.find(var);
    return it == context_.facts.distribution.end() ? 0 : static_cast<std::size_t>(it->second.distributed);
  }

  void report(const char* code, semantics::Span span, ir::SymId var, std::string message) {
    auto d = semantics::make_diagnostic(code, procedure_.location(span), std::move(message));
    const ir::Symbol& symbol = procedure_.symbol(var);
    d.variable = symbol.name;
    d.memory = symbol.memory ? symbol.memory->text() : symbol.mechanism ? symbol.mechanism->text() : "";
    context_.diagnostics.push_back(std::move(d));
  }

  // E-M10, E-M12, E-M14: what is laid out at compile time has constant extents.
  void constant(ir::SymId var, semantics::Span span) {
    const ir::Symbol& symbol = procedure_.symbol(var);
    if (!symbol.memory) return;
    const semantics::MemoryRecord record = semantics::memory_record(*symbol.memory, symbol.precision);
    if (!record.constant_shape) return;
    const auto ring = ring_dimension(symbol);
    for (std::size_t i = distributed(var); i < symbol.shape.size(); ++i) {
      // A managed ring takes its depth, whatever its logical extent is.
      if (i == ring || ir::constant_value(*symbol.shape[i])) continue;
      const char* code = record.shared ? "E-M12" : record.registers ? "E-M14" : "E-M10";
      report(code, span, var,
             fmt::format("`{}` has shape {}, but {} requires constant shape: extent {} is `{}`", symbol.name,
                         shape_text(procedure_, symbol), symbol.memory->text(), i,
                         expression_text(procedure_, *symbol.shape[i])));
      return;
    }
  }

  // E-U21: a solitary barrier is one element per collective.
  void single(const ir::Stmt& s, ir::SymId var) {
    const auto facts = context_.facts.barrier.find(var);
    if (facts == context_.facts.barrier.end() || !semantics::solitary(facts->second.lowered)) return;
    const ir::Symbol& symbol = procedure_.symbol(var);
    for (std::size_t i = distributed(var); i < symbol.shape.size(); ++i) {
      if (ir::constant_value(*symbol.shape[i]) == 1) continue;
      report(
          "E-U21", s.span, var,
          fmt::format(
              "`{}` is an array of {}s: extent {} is `{}` and not distributed over collectives, but there is "
              "only one such barrier for each of them",
              symbol.name, symbol.mechanism->text(), i, expression_text(procedure_, *symbol.shape[i])));
      return;
    }
  }

  PassContext& context_;
  const ir::Procedure& procedure_;
};

}  // namespace

void check_shapes(PassContext& context) {
  Shapes shapes(context);
  for (const ir::SymId var : context.procedure.parameters) shapes.parameter(var);
  ir::for_each_stmt(context.procedure.body, [&shapes](const ir::Stmt& s) {
    if (const auto* alloc = std::get_if<ir::Alloc>(&s.node)) shapes.allocation(s, alloc->var);
  });
}

}  // namespace exocheck::analysis
