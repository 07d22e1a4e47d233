// The rules of the abstract machine as data (abstract-machine.md 4, 8.2): what the exports print, and what
// generated/RuleCheck.v proves to be the rules of the Rocq theory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace exocheck::semantics {

enum class RuleKind : std::uint8_t {
  step,        // what one executed AMIR statement does to the state
  structure,   // loops, branches, sequences
  graph,       // the happens-before graph that answers the same questions
  definition,  // auxiliary: `conclusion` is an equation (eq) or an equivalence (iff)
};
std::string_view name(RuleKind kind);

struct InferenceRule {
  RuleKind kind;
  std::string_view id;       // of the rule in the theory: "S_fence"
  std::string_view section;  // of the description of the machine
  std::string_view title;
  std::string_view variables;              // in the order of the theory, separated by blanks
  std::vector<std::string_view> premises;  // terms (inference_term.hpp)
  std::string_view conclusion;
  std::string_view prose;  // one or two sentences for a newcomer
};

std::span<const InferenceRule> inference_rules();

}  // namespace exocheck::semantics
