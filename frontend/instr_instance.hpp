// Instances of instructions: template values substituted, conditions on them checked, attributes evaluated
// (language.md 2.8, decisions.md I1).
#pragma once

#include "frontend/instr_definition.hpp"

namespace exocheck::frontend {

// Builds the instance for the values that a call gives: every precision and template, and those extras that
// the call names. Precondition: the definition is not faulty.
InstanceResult build_instance(FileScope& scope, const InstrDefinition& definition,
                              const TemplateValues& given);

}  // namespace exocheck::frontend
