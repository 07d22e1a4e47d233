// A program as tasks, the kernels they belong to, and the host statements around them (all-sizes.md 5).
#pragma once

#include <vector>

#include "amir/slice_unit.hpp"

namespace exocheck::amir::slices {

// What surrounds a statement.
struct Enclosing {
  enum class Kind : std::uint8_t { loop, holds, fails } kind = Kind::loop;
  SymId iterator{};                  // loop
  semantics::ir::ExprPtr lo, hi;     // loop
  semantics::ir::ExprPtr condition;  // holds, fails
  bool task = false;                 // loop over tasks
};
using Path = std::vector<Enclosing>;

// A path whose iterators are symbols: they lie in their ranges, and the conditions hold.
struct Entered {
  FormulaId condition = FormulaId::yes;
  std::vector<Linear> iterators;  // outermost first
};
// Binds the iterators, to fresh symbols or to those given. Throws GiveUp.
Entered enter(const Path& path, Formulas& formulas, Bindings& bindings,
              const std::vector<Linear>* given = nullptr);

struct Task {
  const semantics::amir::Body* body = nullptr;  // of the innermost cuda_tasks loop
  Path path;
  std::size_t kernel = 0;
};

// A kernel is a maximal run of tasks between two host statements.
struct Tasks {
  std::vector<Task> tasks;
  std::size_t kernels = 0;
};

// Throws GiveUp for statements of a kernel outside its tasks.
Tasks find_tasks(const Program& program);

// What a kernel's entry and exit order: the timelines of device code and of the stream.
QualSet device_quals();

// Does the subtree run tasks and nothing at CPU scope?
bool is_device(const Program& program, const semantics::amir::Node& node);

}  // namespace exocheck::amir::slices
