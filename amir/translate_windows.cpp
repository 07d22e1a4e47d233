#include "amir/translate_windows.hpp"

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
using semantics::ensure;

void WindowTable::define(const WindowStmt& stmt) {
  std::vector<Access> index;
  for (const Access& a : stmt.index) {
    index.push_back({without_strides(a.lo), a.hi ? without_strides(a.hi) : nullptr});
  }
  windows_[stmt.result] = resolve(stmt.base, index);
}

std::vector<Access> WindowTable::whole(SymId var) const {
  std::vector<Access> index;
  for (const ExprPtr& extent : procedure_.symbol(var).shape)
    index.push_back({int_const(0), without_strides(extent)});
  return index;
}

Elements WindowTable::resolve(SymId var, const std::vector<Access>& index) const {
  const Symbol& symbol = procedure_.symbol(var);
  std::vector<Access> inner;
  if (index.empty() && symbol.rank() > 0) {
    inner = whole(var);
  } else {
    for (const Access& a : index)
      inner.push_back({without_strides(a.lo), a.hi ? without_strides(a.hi) : nullptr});
  }
  ensure(inner.size() == symbol.shape.size(), "one subscript per dimension");
  const auto window = windows_.find(var);
  if (window == windows_.end()) return {var, std::move(inner)};
  return {window->second.base, compose(window->second.index, inner)};
}

SymId WindowTable::base(SymId var) const {
  const auto window = windows_.find(var);
  return window == windows_.end() ? var : window->second.base;
}

semantics::MemoryType WindowTable::memory(SymId var) const {
  const Symbol& symbol = procedure_.symbol(base(var));
  ensure(symbol.memory.has_value(), "data without a memory");
  if (symbol.memory->is(semantics::MemoryKind::Sm90_tensorMap))
    return {semantics::MemoryKind::CudaGmemLinear, {}, {}};
  return *symbol.memory;
}

ExprPtr WindowTable::stride(SymId var, int dim) const {
  ensure(dim >= 0 && dim < procedure_.symbol(var).rank(), "stride of a dimension that exists");
  SymId tensor = var;
  int dimension = dim;
  if (const auto window = windows_.find(var); window != windows_.end()) {
    tensor = window->second.base;
    // The dim-th interval of the window is this dimension of the tensor.
    int intervals = -1;
    for (std::size_t i = 0; i < window->second.index.size(); ++i) {
      if (window->second.index[i].interval() && ++intervals == dim) dimension = static_cast<int>(i);
    }
  }
  ExprPtr product = int_const(1);
  const auto& shape = procedure_.symbol(tensor).shape;
  for (std::size_t i = static_cast<std::size_t>(dimension) + 1; i < shape.size(); ++i) {
    product = binary(BinaryOp::mul, product, without_strides(shape[i]));
  }
  return product;
}

ExprPtr WindowTable::without_strides(const ExprPtr& e) const {
  bool found = false;
  for_each_subexpr(
      *e, [&found](const Expr& sub) { found = found || std::holds_alternative<StrideOf>(sub.node); });
  if (!found) return e;
  const auto rebuild = [&e](decltype(Expr::node) node) {
    return std::make_shared<const Expr>(Expr{e->id, e->span, e->type, std::move(node)});
  };
  return std::visit(overloaded{
                        [&](const StrideOf& s) { return stride(s.var, s.dim); },
                        [&](const Binary& b) -> ExprPtr {
                          return rebuild(Binary{b.op, without_strides(b.left), without_strides(b.right)});
                        },
                        [&](const Unary& u) -> ExprPtr {
                          return rebuild(Unary{u.op, without_strides(u.operand)});
                        },
                        [&](const auto&) -> ExprPtr { return e; },
                    },
                    e->node);
}

std::vector<semantics::amir::Window> to_windows(const std::vector<Access>& index) {
  std::vector<semantics::amir::Window> out;
  out.reserve(index.size());
  for (const Access& a : index) out.push_back({a.lo, a.hi});
  return out;
}

}  // namespace exocheck::amir
