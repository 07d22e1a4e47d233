// Memory that tasks share (all-sizes.md 5): do two tasks, or two accesses of one task, touch a common
// element? And the host statements around the kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "amir/machine_record.hpp"
#include "amir/proof_program.hpp"

namespace exocheck::amir::slices {

// One pair of statements that may meet.
struct Encounter {
  FormulaId condition = FormulaId::no;  // over parameters and the iterators of both; not given to the solver
  NodeId record{}, check{};
  VarId var{};
};

struct MemoryResult {
  std::vector<Encounter> across_tasks;
  // Within one task, by different threads or out of order.
  std::vector<Encounter> within_task;
  std::uint64_t queries = 0;
};

// `bindings` holds the parameters, `assumptions` the preconditions. Throws GiveUp.
MemoryResult compare_accesses(const Program& program, const Tasks& tasks, const Bindings& bindings,
                              FormulaId assumptions, const working::Rules& rules, Formulas& formulas);

// Are all accesses of the host, and those of every kernel to what earlier kernels and the host did, in order?
// Iterations and branches may or may not happen. nullopt: yes; otherwise what may be out of order.
std::optional<std::string> compare_host(const Program& program, const Tasks& tasks,
                                        const working::Rules& rules);

}  // namespace exocheck::amir::slices
