// The canonical print as lines that remember which statement they show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/printer_expr.hpp"
#include "semantics/ir.hpp"

namespace exocheck::frontend {

struct Line {
  int indent = 0;  // levels
  std::string text;
  std::optional<semantics::Span> source;  // of the statement or header shown; none: made by the printer
};
using Lines = std::vector<Line>;

inline constexpr int columns_per_level = 4;
std::string to_text(const Lines& lines);

// `def ...:` and the body; no comments.
Lines procedure_lines(const semantics::ir::Procedure& procedure, const semantics::ir::Program& program);
// `@config class ...`.
Lines config_lines(const semantics::ir::Config& config);
// A piece of the source text, as it is.
Lines verbatim_lines(const semantics::SourceFile& source, semantics::Span span);
// `# exocheck: sizes ...`, one line per size set.
Lines size_lines(const semantics::ir::Procedure& procedure);
// `# exocheck: dialect=...` if some procedure does not have the dialect its marks say; else empty.
Lines pragma_lines(const semantics::ir::Program& program);

}  // namespace exocheck::frontend
