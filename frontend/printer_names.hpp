// Names under which the symbols of a procedure are printed.
#pragma once

#include <string>
#include <vector>

#include "semantics/ir.hpp"

namespace exocheck::frontend {

// One name per symbol. A symbol keeps its own name unless that is taken where it is declared; then it gets
// _1, _2, ... (language.md 3.3 Q2). Never a name that the repair of printed synchronization statements would
// take for another symbol's.
std::vector<std::string> printed_names(const semantics::ir::Procedure& procedure);

}  // namespace exocheck::frontend
