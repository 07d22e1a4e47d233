// AMIR as text, one statement a line, in the notation of abstract-machine.md 2: for teaching, tests and
// debugging.
#pragma once

#include <functional>
#include <string>

#include "semantics/amir_program.hpp"

namespace exocheck::semantics::amir {

// Names of the control variables in expressions.
using NameOf = std::function<std::string(SymId)>;

// The whole program, nested statements indented by two blanks. Each leaf ends in its thread map: per
// dimension the first coordinate, the box and the extent, as in "@(32 * w + t ..+1 of 128)"; "@all" is every
// thread of every task.
std::string print(const Program& program, const NameOf& name);

std::string print(const Target& target, const Program& program, const NameOf& name);
std::string print(const ThreadMap& map, const NameOf& name);

}  // namespace exocheck::semantics::amir
