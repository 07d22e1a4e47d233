// Offside pre-pass: indentation and newlines become marks, comments and joined lines disappear (language.md
// 1).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "frontend/ast.hpp"
#include "frontend/parse.hpp"
#include "semantics/diagnostic.hpp"

namespace exocheck::frontend {

// Private code points in Prepass::text; the pre-pass admits no such byte from the source.
inline constexpr char newline_mark = '\x01';
inline constexpr char indent_mark = '\x02';
inline constexpr char dedent_mark = '\x03';

// Where a stretch of Prepass::text came from: text[out + i] is source[src + i] up to the next segment.
struct Segment {
  std::size_t out = 0;
  std::size_t src = 0;
};

// One top-level statement with its decorators and `elif`/`else` branches.
struct Chunk {
  std::size_t begin = 0, end = 0;  // in Prepass::text
  bool broken = false;             // has a lexical error: not to be parsed
};

struct Prepass {
  std::string text;
  std::size_t source_size = 0;
  std::vector<Segment> segments;
  std::vector<ast::Comment> comments;
  std::vector<Chunk> chunks;
  semantics::Diagnostics diagnostics;  // E-L01 .. E-L05, L-01, L-02; at most one per chunk

  // The bytes of the source file behind text[begin, end).
  ast::Span source_span(std::size_t begin, std::size_t end) const;
};

// Never throws. After E-L01 .. E-L05 it goes on with the next line; after L-01, L-02 it stops.
Prepass run_prepass(const semantics::SourcePtr& source, const ParseLimits& limits);

}  // namespace exocheck::frontend
