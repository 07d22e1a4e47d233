#include "semantics/source.hpp"

#include <algorithm>

namespace exocheck::semantics {

Span cover(Span a, Span b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

std::string_view SourceFile::text(Span span) const {
  const auto size = static_cast<std::uint32_t>(text_.size());
  const std::uint32_t begin = std::min(span.begin, size);
  const std::uint32_t end = std::clamp(span.end, begin, size);
  return std::string_view(text_).substr(begin, end - begin);
}

Position SourceFile::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = next - line_starts_.begin();
  return {static_cast<int>(line), static_cast<int>(offset - *(next - 1)) + 1};
}

std::uint32_t SourceFile::line_start(int line) const {
  const auto index = static_cast<std::size_t>(std::clamp(line, 1, line_count()) - 1);
  return line_starts_[index];
}

std::string_view SourceFile::line_text(int line) const {
  const std::uint32_t begin = line_start(line);
  std::size_t end = text_.find('\n', begin);
  if (end == std::string::npos) end = text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace exocheck::semantics
