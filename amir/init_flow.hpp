// Which elements the sequential behaviour of an instruction reads and writes, for reads of elements that
// nobody wrote (decisions.md E8, N20).
#pragma once

#include <optional>
#include <vector>

#include "amir/translate_builder.hpp"

namespace exocheck::amir {

// What stands for one parameter of the behaviour at a call.
struct InitActual {
  std::optional<semantics::amir::VarId> var;  // data whose initialisation is followed; none: of no interest
  std::vector<semantics::ir::Access> index;   // its elements, one subscript per dimension of the variable
  semantics::ir::ExprPtr control;             // actual of a control parameter
};

// Appends InitRead and InitWrite nodes of one call, in the behaviour's order and exact to the element: as
// whole windows where the behaviour sweeps a box, as loops over points elsewhere.
void emit_call_flow(Builder& builder, semantics::amir::Body& body, const Site& site,
                    const semantics::ir::Instr& instr, const std::vector<InitActual>& actuals);

}  // namespace exocheck::amir
