// Control expressions of the IR -> terms (language.md 9, "Translation").
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "semantics/ir.hpp"
#include "smt/term.hpp"

namespace exocheck::smt {

// What the symbols of an expression stand for. A function returns nullopt where it has no meaning for the
// symbol.
struct Bindings {
  std::function<std::optional<Term>(semantics::ir::SymId)> variable;
  std::function<std::optional<Term>(semantics::ir::SymId, int dim)> stride;
  std::function<std::optional<Term>(const semantics::ir::ConfigRead&)> config;
};

// Either a term or the reason why there is none ("a product of two variables"). Never a wrong term.
struct Translation {
  std::optional<Term> term;
  std::string unsupported;
};

// `!=`, `>`, `>=` and `not` are expressed by the others; `==` between booleans becomes iff. Expressions
// deeper than `max_depth` or of more than `max_size` nodes are unsupported, so that nothing downstream
// recurses without bound.
Translation translate(const semantics::ir::Expr& e, const Bindings& bindings, std::uint32_t max_depth = 2000,
                      std::uint64_t max_size = 100'000);

}  // namespace exocheck::smt
