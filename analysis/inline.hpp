// Procedure calls expanded in place (decisions.md N3): calls are acyclic and occur at CPU scope only.
#pragma once

#include "semantics/ir.hpp"

namespace exocheck::analysis {

// `procedure` with every procedure call replaced by the callee's body. Callee symbols are appended under
// fresh ids; a data formal becomes a window statement on its actual (a scalar formal becomes the actual
// itself), a control formal is substituted. Statement ids are new; spans stay. Without calls the result
// equals the input.
semantics::ir::Procedure inline_calls(const semantics::ir::Procedure& procedure,
                                      const semantics::ir::Program& program);

}  // namespace exocheck::analysis
