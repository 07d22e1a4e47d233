// How the behaviour of an instruction touches its parameters (language.md 2.8).
#pragma once

#include <vector>

#include "semantics/ir.hpp"

namespace exocheck::frontend {

// One mode per parameter, in order: read_only (never assigned or reduced), write_only (assigned, never read),
// read_write; a `+=` counts as a read. Accesses through window names count for their base. Control parameters
// and data that the body does not touch: unused.
std::vector<semantics::ir::AccessMode> access_modes(const semantics::ir::Procedure& behaviour);

}  // namespace exocheck::frontend
