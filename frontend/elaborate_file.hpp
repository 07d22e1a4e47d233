// A whole file: constants, configs, instruction definitions, procedures and the calls among them.
#pragma once

#include "frontend/elaborate_context.hpp"
#include "frontend/frontend.hpp"
#include "frontend/instr_definition.hpp"

namespace exocheck::frontend {

// The instructions every file can call, by name.
using InstrTable = std::map<std::string, InstrDefinition, std::less<>>;

// Elaborates a parsed file. `library`: the instructions of the built-in library.
LoadResult elaborate(ParseResult parsed, const InstrTable& library);

// The instruction definitions of one library file; errors go to `out`.
void define_library(ParseResult parsed, InstrTable& table, semantics::Diagnostics& out);

}  // namespace exocheck::frontend
