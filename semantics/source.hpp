// Source text and places in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace exocheck::semantics {

// Half-open byte range [begin, end) of one source file.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that contains both.
Span cover(Span a, Span b);

// A line and a column, both counted from 1; columns count bytes.
struct Position {
  int line = 1;
  int column = 1;
  friend bool operator==(const Position&, const Position&) = default;
};

// Immutable text of one file with its line table. Shared by everything that points into it.
class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const;
  int line_count() const { return static_cast<int>(line_starts_.size()); }
  // Offsets past the end are clamped to the end.
  Position position(std::uint32_t offset) const;
  // The line without its terminator; `line` counts from 1.
  std::string_view line_text(int line) const;
  std::uint32_t line_start(int line) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

using SourcePtr = std::shared_ptr<const SourceFile>;

struct Location {
  SourcePtr source;
  Span span;

  bool known() const { return source != nullptr; }
  Position begin() const { return source->position(span.begin); }
  Position end() const { return source->position(span.end); }
};

}  // namespace exocheck::semantics
