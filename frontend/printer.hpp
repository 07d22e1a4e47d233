// GPU IR -> canonical text (language.md 3.2). Parsing the output gives an equal program (up to ids and spans).
#pragma once

#include <string>

#include "semantics/ir.hpp"

namespace exocheck::frontend {

// The whole file: verbatim definitions, configs, procedures.
std::string print(const semantics::ir::Program& program);
// One procedure; shadowed names get suffixes _1, _2, ... so that every name is unambiguous.
std::string print(const semantics::ir::Procedure& procedure, const semantics::ir::Program& program);

// Fragments for messages, with the symbols' own names.
std::string print(const semantics::ir::Expr& e, const semantics::ir::Procedure& procedure);
std::string print(const semantics::ir::Access& a, const semantics::ir::Procedure& procedure);
std::string print(const semantics::ir::BarrierExpr& b, const semantics::ir::Procedure& procedure);

}  // namespace exocheck::frontend
