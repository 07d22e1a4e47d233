// Terms of the inference rules, written as S-expressions and printed in the notation of each export.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace exocheck::semantics {

// An application `head arguments...`; without arguments a variable, a constant or a number. A binder
// (`forall`, `exists`) has a first argument with an empty head, whose arguments are the bound variables.
struct Term {
  std::string head;
  std::vector<Term> arguments;
};

// "(and (In p es) (V r g q f))". Throws InternalError for text that is no S-expression: the rules are ours.
Term parse_term(std::string_view text);

enum class Notation : std::uint8_t { rocq, text, latex };
// As one line, without outer parentheses. LaTeX: the inside of a formula; macros are those of latex_macros().
std::string print(const Term& term, Notation notation);

}  // namespace exocheck::semantics
