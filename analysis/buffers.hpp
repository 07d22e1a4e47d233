// Names and the storage behind them: window statements followed to the buffer they view (language.md 6.3),
// and what a statement mentions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/ir.hpp"
#include "semantics/memories.hpp"

namespace exocheck::analysis {

// Windows of one procedure. Holds references into the procedure.
class Buffers {
 public:
  explicit Buffers(const semantics::ir::Procedure& procedure);

  // The allocation or parameter that `symbol` views; `symbol` itself if no window statement defines it.
  semantics::ir::SymId base(semantics::ir::SymId symbol) const;
  // The window statement that defines `symbol`; null for allocations and parameters.
  const semantics::ir::WindowStmt* definition(semantics::ir::SymId symbol) const;
  // The memory an access through `symbol` has: its own annotation (special windows), else that of what it
  // views. DRAM where nothing is written.
  semantics::MemoryType memory(semantics::ir::SymId symbol) const;
  // The memory that holds the elements: a special window's source memory (language.md 6.3).
  semantics::MemoryType storage(semantics::ir::SymId symbol) const;

 private:
  const semantics::ir::Procedure& procedure_;
  std::unordered_map<semantics::ir::SymId, const semantics::ir::WindowStmt*> windows_;
};

// Every data, window or barrier symbol that the statement itself mentions (not its sub-blocks), with
// repetition, in no particular order; declarations do not mention what they declare.
void for_each_mention(const semantics::ir::Stmt& stmt,
                      const std::function<void(semantics::ir::SymId)>& visit);

// Reads of data elements by plain code: the value of an assignment or of a config write.
void for_each_plain_read(
    const semantics::ir::Stmt& stmt,
    const std::function<void(const semantics::ir::Expr&, const semantics::ir::Read&)>& visit);

// Extents as the program writes them, "[n, 256]"; "a scalar" without any.
std::string shape_text(const semantics::ir::Procedure& procedure, const semantics::ir::Symbol& symbol);
// An expression as the program writes it, or the value of a literal the frontend made.
std::string expression_text(const semantics::ir::Procedure& procedure, const semantics::ir::Expr& e);

}  // namespace exocheck::analysis
