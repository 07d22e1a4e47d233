// A main program around an emitted procedure, for running it: on the emulator or on a GPU.
#pragma once

#include <string>

#include "semantics/ir.hpp"

namespace exocheck::codegen {

// `main FOLDER VALUE...`: one VALUE per control parameter, in order. Every data parameter X is read from
// FOLDER/X.in, raw elements in row-major order, and written to FOLDER/X.out after the run. The parameters are
// those of the original procedure; the precisions those that emit() accepts.
std::string main_text(const semantics::ir::Procedure& procedure);

}  // namespace exocheck::codegen
