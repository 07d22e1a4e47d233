// GPU IR -> canonical text (language.md 3.2). Loading the output gives an equivalent program, and printing
// that gives the same text again.
#pragma once

#include <string>

#include "frontend/ast.hpp"
#include "semantics/ir.hpp"

namespace exocheck::frontend {

// The whole file: the dialect pragma if a procedure needs it, verbatim definitions, configs, procedures with
// their size comments. Lines are not broken.
std::string print(const semantics::ir::Program& program);
// One procedure; shadowed names get suffixes _1, _2, ... so that every name is unambiguous.
std::string print(const semantics::ir::Procedure& procedure, const semantics::ir::Program& program);

// The whole file in source order with its comments, imports and docstrings. `file` is the tree that `program`
// was elaborated from. Comment lines stand before the statement that followed them, or after the one before
// them if they were indented with it; comments behind code stay behind it, those inside brackets go there,
// too.
std::string print_with_comments(const semantics::ir::Program& program, const ast::File& file);

// Fragments for messages, with the symbols' own names.
std::string print(const semantics::ir::Expr& e, const semantics::ir::Procedure& procedure);
std::string print(const semantics::ir::Access& a, const semantics::ir::Procedure& procedure);
std::string print(const semantics::ir::BarrierExpr& b, const semantics::ir::Procedure& procedure);

// Equality up to ids, spans, names of local symbols, an empty block against `pass`, and `-3` as a constant
// against the negation of 3.
bool equivalent(const semantics::ir::Program& a, const semantics::ir::Program& b);
bool equivalent(const semantics::ir::Procedure& a, const semantics::ir::Procedure& b);

}  // namespace exocheck::frontend
