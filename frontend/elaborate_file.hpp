// A whole file: constants, configs, instruction definitions, procedures and the calls among them.
#pragma once

#include "frontend/elaborate_context.hpp"
#include "frontend/frontend.hpp"
#include "frontend/instr_library.hpp"

namespace exocheck::frontend {

// Elaborates a parsed file. `library`: the instructions of the built-in library.
LoadResult elaborate(ParseResult parsed, const InstrTable& library);

// The instruction definitions of one library file; errors go to `out`.
void define_library(ParseResult parsed, InstrTable& table, semantics::Diagnostics& out);

}  // namespace exocheck::frontend
