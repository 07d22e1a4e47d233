// GPU IR -> AMIR (abstract-machine.md 3, decisions.md E7, E8, N).
#pragma once

#include <string>
#include <unordered_map>

#include "analysis/facts.hpp"
#include "semantics/amir_program.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::amir {

struct Translation {
  semantics::amir::Program program;
  // E-Y40: constructs that the machine cannot run yet; not empty means that `program` must not be run.
  semantics::Diagnostics unsupported;
  // Iterators that the translation added (instruction behaviours): numbered from Facts::symbol_limit upward.
  std::unordered_map<semantics::ir::SymId, std::string> synthetic_names;
  bool has_device_function = false;
};

// The abstract machine's program of a procedure without procedure calls (analysis::inline_calls) that passed
// every static pass; `facts` are those of this very procedure. Conditions and bounds over strides are
// rewritten to the dense layout. Throws InternalError where a guarantee of the static passes does not hold.
// `bounds_open`: the index obligations may fail, so the machine watches every index: tensors that nobody
// writes are not left out, and arguments of instructions are not clipped to their tensors (but `oob` ones).
Translation translate(const semantics::ir::Procedure& procedure, const analysis::Facts& facts,
                      bool bounds_open = false);

}  // namespace exocheck::amir
