// Declarations: parameters and allocations (language.md 2.2, 2.3, 4.3).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// What an annotation stands for: a memory, a barrier mechanism, or nothing (no annotation).
struct Storage {
  std::optional<semantics::MemoryType> memory;
  std::optional<semantics::MechanismType> mechanism;
};
// `e` of `@ e`. nullopt after E-P73, E-N03 or an error of the template arguments (E-M04, E-M13, E-M16, ...).
std::optional<Storage> storage(Context& cx, const ast::Expr& e);

// Declares one parameter and appends it to the parameter list. Errors: E-P22, E-P24 .. E-P26, E-N03, E-N04,
// E-T72.
void declare_parameter(Context& cx, const ast::Param& param);

// The symbol of `x: T[...] @ M` or `z: barrier[...] @ B`, not declared yet. `span`: of the name.
// Errors: E-P30 .. E-P32, E-P34 .. E-P36, E-N03, E-T70 .. E-T72, W-P02.
std::optional<ir::Symbol> allocation_symbol(Context& cx, const std::string& name, Span span,
                                            const ast::Expr& annotation);

// `f32`, `R`, ...; nullopt for another name. `R` is what the instruction instance gives to `parameter`, else
// f32.
std::optional<semantics::Precision> precision_name(const Context& cx, const std::string& name,
                                                   const std::string& parameter);

}  // namespace exocheck::frontend
