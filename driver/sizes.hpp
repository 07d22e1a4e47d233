// The `--size` option (cli.md, decisions.md E1, E2).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "semantics/ir.hpp"

namespace exocheck::driver {

using semantics::ir::SizeSet;

// Each text is one value of `--size`: `N=256` or `N=256,M=128`; values are integers, `true` or `false`. All
// of them form one size set; naming a parameter again begins the next set. On a malformed text the sentence
// that says so.
std::variant<std::vector<SizeSet>, std::string> parse_sizes(const std::vector<std::string>& texts);

// "N=256, M=128"; "no sizes" for an empty set.
std::string show(const SizeSet& sizes);

}  // namespace exocheck::driver
