// The built-in instruction library as definitions (semantics/library/*.exo).
#pragma once

#include <map>

#include "frontend/instr_definition.hpp"

namespace exocheck::frontend {

// Instruction definitions by name.
using InstrTable = std::map<std::string, InstrDefinition, std::less<>>;

// Loaded once per process. Throws InternalError if the library has an error.
const InstrTable& instr_library();

}  // namespace exocheck::frontend
