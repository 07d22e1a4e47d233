// Text -> syntax tree: offside pre-pass, then the Spirit X3 grammar (language.md 1, 2).
#pragma once

#include <optional>

#include "frontend/ast.hpp"
#include "semantics/diagnostic.hpp"

namespace exocheck::frontend {

// Bounds on what the parser accepts; beyond them it reports limit.* instead of running on (design.md 6).
struct ParseLimits {
  std::size_t max_bytes = 16u << 20;  // L-01 limit.file-size
  int max_nesting = 200;  // brackets plus blocks, or branches of one `elif` chain: L-02 limit.nesting
  int max_expression_height =
      300;  // of one expression tree, `a + b + c + ...` included: L-07 limit.expression
};

struct ParseResult {
  ast::File file;                      // the statements that parsed
  semantics::Diagnostics diagnostics;  // E-L.., E-P01, L-..; empty: the whole file parsed
  std::vector<std::string>
      broken;  // names of the top-level definitions that did not parse, as far as readable
};

// Never throws on bad input. After a syntax error it resumes at the next top-level statement, so that one bad
// procedure does not hide the errors of the others (decisions.md D11).
ParseResult parse(const semantics::SourcePtr& source, const ParseLimits& limits = {});

}  // namespace exocheck::frontend
