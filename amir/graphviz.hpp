// Drawing of happens-before graphs with Graphviz, in memory (abstract-machine.md 8.3).
#pragma once

#include <string>

#include "amir/hb_graph.hpp"

namespace exocheck::amir {

// The graph in the DOT language, without a layout; the same bytes for the same graph.
std::string write_dot(const HbGraph& graph);

// The drawn graph as an SVG document. Throws InternalError if the layout library fails.
std::string write_svg(const HbGraph& graph);

}  // namespace exocheck::amir
