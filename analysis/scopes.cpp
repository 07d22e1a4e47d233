#include "analysis/scopes.hpp"

#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

namespace ir = semantics::ir;

void for_each_scoped_stmt(const ir::Block& block,
                          const std::function<void(const ir::Stmt&, DeviceScope)>& visit, DeviceScope scope) {
  for (const ir::Stmt& s : block) {
    visit(s, scope);
    const bool enters = std::holds_alternative<ir::DeviceFunction>(s.node);
    for (const ir::Block* b : ir::sub_blocks(s))
      for_each_scoped_stmt(*b, visit, enters ? DeviceScope::cuda : scope);
  }
}

}  // namespace exocheck::analysis
