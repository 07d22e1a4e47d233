// Statements (language.md 2.4, 6).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// The statements of one block in a scope of their own. Faulty statements are reported and left out.
ir::Block block(Context& cx, const ast::Block& statements);

// The body of a `def`: doc string, assertions, statements (language.md 2.2), in the scope of the parameters.
void procedure_body(Context& cx, const ast::Block& statements);

}  // namespace exocheck::frontend
