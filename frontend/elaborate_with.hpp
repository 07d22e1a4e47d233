// Contexts of `with` statements: CudaDeviceFunction, CudaWarps (language.md 2.6).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// The node without its body; nullopt after an error (E-P45, E-P61, E-P65, E-P70, E-W20).
std::optional<decltype(ir::Stmt::node)> with_context(Context& cx, const ast::WithStmt& with, Span span);

}  // namespace exocheck::frontend
