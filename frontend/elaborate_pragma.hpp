// `# exocheck: ...` comments and the dialect of a procedure (decisions.md B1, B2, C15, E2).
#pragma once

#include <optional>

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// A definition's place in the file: [begin, end) from its first decorator to the end of its body.
struct DefRange {
  const ast::DefStmt* def = nullptr;
  Span span;    // with decorators
  Span header;  // the `def` line
  Span first;   // the first statement of the body, doc string aside
};
DefRange def_range(const ast::Stmt& stmt);

// `N=256, M=128` with its place.
struct SizesComment {
  Span span;
  std::string text;
};

struct Pragmas {
  std::optional<semantics::Dialect> dialect;
  std::vector<std::vector<SizesComment>> sizes;  // one list per element of `defs`
};
// Reads the comments; `defs` are the definitions in file order. Errors (E-P77): an unknown directive,
// `dialect` behind the first definition, `sizes` in no definition's reach. `# exocheck: ignore` is the
// driver's.
Pragmas read_pragmas(const ast::File& file, const std::vector<DefRange>& defs, semantics::Diagnostics& out);

// Adds the size sets of the comments to cx.procedure. Precondition: its parameters are declared. Errors
// (E-P77): an unknown parameter, a stride, a value that is no integer (0, 1, true, false for a bool), a
// negative size.
void apply_size_comments(Context& cx, const std::vector<SizesComment>& comments);

// The dialect by the marks that a definition carries (decisions.md B1); P without marks. E-P60 for marks of
// both.
semantics::Dialect infer_dialect(Context& cx, const ast::DefStmt& def);

}  // namespace exocheck::frontend
