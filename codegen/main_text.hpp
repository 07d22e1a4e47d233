// A main program around an emitted procedure, for running it: on the emulator or on a GPU.
#pragma once

#include <string>

#include "semantics/ir.hpp"

namespace exocheck::codegen {

// `main SECONDS VALUE...`: one VALUE per control parameter, in order; at most SECONDS per run. In its folder:
// NAME.cu and its headers; X.in for every data parameter X, raw elements in row-major order; `schedules`, one
// line `SEED POLICY` per run (a GPU ignores both). A dot on standard output is a run whose results are those
// in X.accepted; at the first other result it writes X.out and ends with exit code 10. The parameters are
// those of the original procedure; the precisions those that emit() accepts.
std::string main_text(const semantics::ir::Procedure& procedure);

}  // namespace exocheck::codegen
