// Accesses through windows, resolved to the tensors they denote (language.md 6.3), and strides of dense
// layouts.
#pragma once

#include <unordered_map>
#include <vector>

#include "semantics/amir_program.hpp"
#include "semantics/ir.hpp"

namespace exocheck::amir {

// Elements of one tensor (or barrier): one subscript per dimension.
struct Elements {
  semantics::ir::SymId base{};
  std::vector<semantics::ir::Access> index;
};

class WindowTable {
 public:
  explicit WindowTable(const semantics::ir::Procedure& procedure) : procedure_(procedure) {}

  void define(const semantics::ir::WindowStmt& stmt);

  // The elements of `var[index]`; an empty index of a tensor or window means all of it.
  Elements resolve(semantics::ir::SymId var, const std::vector<semantics::ir::Access>& index) const;
  // The tensor under a window (or the tensor itself), and its memory; tensor maps count as the memory they
  // lie on.
  semantics::ir::SymId base(semantics::ir::SymId var) const;
  semantics::MemoryType memory(semantics::ir::SymId var) const;
  // `e` with every stride(x, k) replaced by its value in the dense row-major layout of the tensor under x.
  semantics::ir::ExprPtr without_strides(const semantics::ir::ExprPtr& e) const;

 private:
  semantics::ir::ExprPtr stride(semantics::ir::SymId var, int dim) const;
  std::vector<semantics::ir::Access> whole(semantics::ir::SymId var) const;

  const semantics::ir::Procedure& procedure_;
  std::unordered_map<semantics::ir::SymId, Elements> windows_;
};

// Every subscript as a window of an AMIR target.
std::vector<semantics::amir::Window> to_windows(const std::vector<semantics::ir::Access>& index);

}  // namespace exocheck::amir
