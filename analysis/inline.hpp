// Procedure calls expanded in place (decisions.md N3): calls are acyclic and occur at CPU scope only.
#pragma once

#include "semantics/ir.hpp"

namespace exocheck::analysis {

// `procedure` with every procedure call replaced by the callee's body. Callee symbols are appended under
// fresh ids; a window formal becomes a window statement on its actual, a dense tensor or scalar formal the
// actual itself, a control formal is substituted. Statement and expression ids are new; spans stay. The
// dialect is R if that of any part is. Without calls the result equals the input. Throws OverflowError if
// the expansion is too large or too deep.
semantics::ir::Procedure inline_calls(const semantics::ir::Procedure& procedure,
                                      const semantics::ir::Program& program);

}  // namespace exocheck::analysis
