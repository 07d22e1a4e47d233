// The smallest change that would order the two accesses of a hazard, where one is clear (abstract-machine.md
// 5, item 6).
#pragma once

#include <optional>
#include <string>

#include "amir/explain_trace.hpp"
#include "amir/explain_words.hpp"

namespace exocheck::amir {

std::optional<std::string> suggest(const Words& words, const Hazard& hazard);

}  // namespace exocheck::amir
