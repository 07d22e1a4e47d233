// The parts of the rule catalogue; each table stands in its own file. Included by rules.cpp only.
#pragma once

#include <span>

#include "semantics/rules.hpp"

namespace exocheck::semantics::detail {

std::span<const Rule> syntax_rules();   // L, P, N: text, forms, names
std::span<const Rule> type_rules();     // T, C, F, A, V, B: types, calls, precision, aliasing, bounds
std::span<const Rule> kernel_rules();   // M, D, K, W, H, X: memories, device scopes, launch, collectives
std::span<const Rule> barrier_rules();  // U, G, R, S, I: barriers, guards, rings, legality, instructions
std::span<const Rule> machine_rules();  // Y, all warnings, limits

}  // namespace exocheck::semantics::detail
