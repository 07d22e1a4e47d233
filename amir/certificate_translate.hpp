// AMIR and sizes -> the program of a certificate.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "amir/certificate_term.hpp"
#include "amir/run.hpp"

namespace exocheck::amir::certificate {

// `sizes` gives every control parameter a value but `symbol`, if that is set. Loops that run once are opened,
// those that never run and branches that are never taken are left out; Free becomes a new generation of its
// tensor, and nothing for a barrier; statements that only follow initialisation are not in the theory and are
// left out. `clip` stays where the indices could not be seen to be inside. A sentence where the theory has no
// word for a construct. Throws OverflowError.
std::variant<Term, std::string> translate(const Program& program, const Sizes& sizes, const ModeRules& rules,
                                          std::optional<SymId> symbol);

// Smallest and largest value, from the ranges of the iterators; nullopt: not known.
std::optional<std::pair<std::int64_t, std::int64_t>> range(const Linear& e, const Term& term);

}  // namespace exocheck::amir::certificate
