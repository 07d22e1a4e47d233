// The sequential meaning of a GPU IR program: read top to bottom by one thread, on numbers of the declared
// precisions. Synchronization does nothing, a cuda_tasks or cuda_threads loop runs its iterations in order,
// an instruction does what its behaviour in semantics/library says. What a correct parallel execution must
// compute, bit for bit where no rounding depends on the order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "semantics/diagnostic.hpp"
#include "semantics/interpreter_views.hpp"
#include "semantics/ir.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::semantics {

struct InterpreterLimits {
  std::uint64_t max_steps = 100'000'000'000;  // statements and iterations
  double max_seconds = 600;
  std::uint64_t max_memory_bytes = 8ull << 30;  // of all tensors together; an element takes 8 bytes
};

// Multiplications of two f32 operands inside a matrix instruction read them as tf32 (semantics/numeric.hpp),
// and products inside one are exact; sums round to the precision of the accumulator after every term, in the
// order of the behaviour.
bool matrix_instruction(const ir::Instr& instr);

// What a data parameter starts as: its own contents on entry, and on return what the program left there. The
// extents and the precision are the parameter's (parameter_tensor).
using Arguments = std::map<ir::SymId, Tensor>;

// A tensor of the right shape for a data or window parameter, nothing in it defined. `sizes` as for
// interpret. Throws OverflowError; a shape that needs more than `limits` allow gives a tensor without values.
Tensor parameter_tensor(const ir::Procedure& procedure, ir::SymId parameter, const ir::Environment& sizes,
                        const InterpreterLimits& limits);

// Runs `procedure`, which belongs to `program`. `sizes` has a value for every control parameter, strides
// included; `arguments` has every data and window parameter. Config fields start as 0. Window parameters are
// dense. The finding that stopped the run: E-Y20 for an element outside its tensor, L-03 to L-06 for limits,
// E-V01 for a `par` loop, which has no order of its own.
std::optional<Diagnostic> interpret(const ir::Procedure& procedure, const ir::Program& program,
                                    const ir::Environment& sizes, Arguments& arguments,
                                    const InterpreterLimits& limits = {});

}  // namespace exocheck::semantics
