// One device task as slices see it: thread loops and short constant loops unrolled, every index and condition
// a linear form over sizes, task iterators and the iterators of the loops that remain (all-sizes.md 1, 2, 4).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "amir/run.hpp"
#include "amir/thread_set.hpp"
#include "smt/formula.hpp"

namespace exocheck::amir::slices {

using smt::AtomId;
using smt::FormulaId;
using smt::Formulas;
using smt::Linear;

// The argument cannot be carried through; `what()` completes "not proved for all sizes: ...".
struct GiveUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Half-open.
struct IndexRange {
  Linear lo, hi;
};

// Values of control variables, by SymId.
class Bindings {
 public:
  explicit Bindings(std::size_t symbols) : values_(symbols) {}
  void set(SymId symbol, Linear value) { values_[semantics::ir::index(symbol)] = std::move(value); }
  void clear(SymId symbol) { values_[semantics::ir::index(symbol)].reset(); }
  const std::optional<Linear>& operator[](SymId symbol) const {
    return values_[semantics::ir::index(symbol)];
  }

  // Throw GiveUp if the expression has no linear form.
  Linear linear(Formulas& formulas, const semantics::ir::Expr& e) const;
  FormulaId condition(Formulas& formulas, const semantics::ir::Expr& e) const;
  IndexRange range(Formulas& formulas, const semantics::amir::Window& w) const;

 private:
  std::vector<std::optional<Linear>> values_;
};

// Elements of a barrier array; a dimension without a value is taken whole.
struct BarrierPart {
  VarId var{};
  std::vector<std::optional<Linear>> index;
  // Row-major indices of the elements, ascending; none if an index is not constant.
  std::shared_ptr<const std::vector<std::int64_t>> elements;
};

// One statement of the unrolled task.
struct Leaf {
  const semantics::amir::Node* node = nullptr;
  // Equal for the instances that differ in the values of thread iterators only.
  std::uint32_t shape = 0;
  const ThreadSet* threads = nullptr;  // local ids; in Unit::thread_sets
  std::span<const IndexRange> window;  // Check, Record, InitRead, InitWrite; in Unit::windows
  // Record: trailing; Arrive: home, then the referenced ones; Await: its element.
  std::vector<BarrierPart> barriers;
};

struct Item {
  enum class Kind : std::uint8_t { leaf, loop, branch };
  struct Block;
  Kind kind = Kind::leaf;
  std::uint32_t leaf = 0;        // leaf: its index; loop, branch: the index of the first leaf inside
  std::unique_ptr<Block> block;  // loop, branch
};

struct Item::Block {
  AtomId iterator = 0;                   // loop
  Linear lo, hi;                         // loop
  FormulaId condition = FormulaId::yes;  // branch
  std::vector<Item> body, otherwise;
};

struct LocalVariable {
  VarId var{};
  std::vector<std::int64_t> extents;
  bool checked = false;  // has elements with records (data, or storage of a barrier)
};

struct Unit {
  const Program* program = nullptr;
  std::vector<Leaf> leaves;  // in program order
  std::deque<ThreadSet> thread_sets;
  std::deque<std::vector<IndexRange>> windows;
  std::vector<Item> items;
  std::vector<std::optional<LocalVariable>> locals;  // by VarId; empty: not allocated in the task
};

// Variables that some statement of the body allocates.
std::set<VarId> allocated_in(const semantics::amir::Body& body);

// What a statement is about: synchronization; something that depends on who executes it; the variable whose
// elements it accesses; the variable whose life begins, ends, or is checked at its end.
bool is_sync(const semantics::amir::Node& node);
bool uses_threads(const semantics::amir::Node& node);
std::optional<VarId> accessed(const semantics::amir::Node& node);
std::optional<VarId> lifetime(const semantics::amir::Node& node);

// Number of elements. Throws OverflowError.
std::int64_t element_count(const LocalVariable& x);

// `task` is the body of the innermost cuda_tasks loop. Accesses to variables that the task does not allocate
// are left out: tasks share them (proof_memory.hpp). Throws GiveUp.
Unit make_unit(const Program& program, const semantics::amir::Body& task, Formulas& formulas,
               Bindings bindings);

}  // namespace exocheck::amir::slices
