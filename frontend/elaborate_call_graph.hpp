// The calls among the procedures of a file (language.md 6.4.1).
#pragma once

#include <cstddef>
#include <vector>

namespace exocheck::frontend {

// callees[i]: the procedures that procedure i calls. All functions take time linear in the number of calls.
using CallGraph = std::vector<std::vector<std::size_t>>;

// For each procedure the number of its strongly connected component; callees have smaller numbers than their
// callers.
std::vector<std::size_t> components(const CallGraph& callees);

// A cycle of calls through `start` and other members of its component: start, ..., start. Precondition: there
// is one.
std::vector<std::size_t> cycle_through(const CallGraph& callees, const std::vector<std::size_t>& component,
                                       std::size_t start);

// Adds to `marked` every procedure that calls a marked one, directly or not.
void mark_callers(const CallGraph& callees, std::vector<bool>& marked);

}  // namespace exocheck::frontend
