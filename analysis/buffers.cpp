#include "analysis/buffers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

namespace ir = semantics::ir;
using semantics::MemoryKind;
using semantics::MemoryType;

Buffers::Buffers(const ir::Procedure& procedure) : procedure_(procedure) {
  ir::for_each_stmt(procedure.body, [this](const ir::Stmt& s) {
    if (const auto* w = std::get_if<ir::WindowStmt>(&s.node)) windows_.emplace(w->result, w);
  });
}

const ir::WindowStmt* Buffers::definition(ir::SymId symbol) const {
  const auto it = windows_.find(symbol);
  return it == windows_.end() ? nullptr : it->second;
}

ir::SymId Buffers::base(ir::SymId symbol) const {
  while (const ir::WindowStmt* w = definition(symbol)) symbol = w->base;
  return symbol;
}

MemoryType Buffers::memory(ir::SymId symbol) const {
  for (;;) {
    const auto& annotation = procedure_.symbol(symbol).memory;
    if (annotation) return *annotation;
    const ir::WindowStmt* w = definition(symbol);
    if (w == nullptr) return MemoryType{MemoryKind::DRAM, {}, {}};
    symbol = w->base;
  }
}

MemoryType Buffers::storage(ir::SymId symbol) const {
  const MemoryType own = memory(base(symbol));
  // A window parameter of a tensor map: its source is not visible, but must be in global memory (E-M03).
  if (own.is(MemoryKind::Sm90_tensorMap)) return MemoryType{MemoryKind::CudaGmemLinear, {}, {}};
  return own;
}

namespace {

void mentions(const ir::Expr& expr, const std::function<void(ir::SymId)>& visit) {
  ir::for_each_subexpr(expr, [&visit](const ir::Expr& e) {
    if (const auto* read = std::get_if<ir::Read>(&e.node)) visit(read->var);
    if (const auto* stride = std::get_if<ir::StrideOf>(&e.node)) visit(stride->var);
  });
}

}  // namespace

void for_each_mention(const ir::Stmt& stmt, const std::function<void(ir::SymId)>& visit) {
  std::visit(ir::overloaded{
                 [&](const ir::Assign& s) { visit(s.target); },
                 [&](const ir::WindowStmt& s) { visit(s.base); },
                 [&](const ir::Arrive& s) {
                   for (const ir::BarrierExpr& b : s.targets) visit(b.var);
                 },
                 [&](const ir::Await& s) { visit(s.barrier.var); },
                 [](const auto&) {},
             },
             stmt.node);
  ir::for_each_expr(stmt, [&visit](const ir::Expr& e) { mentions(e, visit); });
  if (const auto* call = std::get_if<ir::Call>(&stmt.node); call != nullptr && call->trailing) {
    visit(call->trailing->var);
  }
}

void for_each_plain_read(const ir::Stmt& stmt,
                         const std::function<void(const ir::Expr&, const ir::Read&)>& visit) {
  const ir::ExprPtr* value = nullptr;
  if (const auto* assign = std::get_if<ir::Assign>(&stmt.node)) value = &assign->value;
  if (const auto* write = std::get_if<ir::ConfigWrite>(&stmt.node)) value = &write->value;
  if (value == nullptr) return;
  ir::for_each_subexpr(**value, [&visit](const ir::Expr& e) {
    if (const auto* read = std::get_if<ir::Read>(&e.node)) visit(e, *read);
  });
}

std::string expression_text(const ir::Procedure& procedure, const ir::Expr& e) {
  if (e.span.begin < e.span.end) return std::string(procedure.source->text(e.span));
  if (const auto value = ir::constant_value(e)) return fmt::format("{}", *value);
  return "?";
}

std::string shape_text(const ir::Procedure& procedure, const ir::Symbol& symbol) {
  if (symbol.shape.empty()) return "a scalar";
  std::vector<std::string> extents;
  for (const ir::ExprPtr& e : symbol.shape) extents.push_back(expression_text(procedure, *e));
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

}  // namespace exocheck::analysis
