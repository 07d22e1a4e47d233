#include "driver/excerpt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace exocheck::driver {
namespace {

constexpr std::size_t max_width = 140;  // characters of a source line that are shown

// Number of bytes of the UTF-8 character that starts here, 0 if none does.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  std::size_t length = 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// The printable form of the character that starts at `at`; moves `at` behind it.
std::string next_shown(std::string_view text, std::size_t& at) {
  const std::size_t start = at, length = utf8_length(text, at);
  at += std::max<std::size_t>(length, 1);
  const auto first = static_cast<unsigned char>(text[start]);
  if (text[start] == '\t') return " ";
  const bool control = first < 0x20 || first == 0x7F ||
                       (first == 0xC2 && length == 2 && static_cast<unsigned char>(text[start + 1]) < 0xA0);
  if (length == 0 || control) return "?";
  return std::string(text.substr(start, length));
}

// Where the character `count` characters before `at` starts. Counts at most 4 bytes per character back, so
// that a long line costs no more than a short one.
std::size_t back(std::string_view text, std::size_t at, std::size_t count) {
  for (; count > 0 && at > 0; --count) {
    std::size_t length = 1;
    for (std::size_t n = 2; n <= 4 && n <= at; ++n) {
      if (utf8_length(text, at - n) == n) length = n;
    }
    at -= length;
  }
  return at;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) result += next_shown(text, at);
  return result;
}

Excerpt excerpt(const semantics::Location& location) {
  const auto begin = location.begin();
  const auto end = location.end();
  const std::string_view text = location.source->line_text(begin.line);
  const std::size_t first = std::min(static_cast<std::size_t>(begin.column - 1), text.size());
  const std::size_t last = end.line == begin.line ? static_cast<std::size_t>(end.column - 1) : text.size();

  // A line of at most max_width characters has at most 4 * max_width bytes.
  std::size_t start = text.size() <= max_width ? 0 : back(text, first, max_width / 2);
  if (text.size() <= 4 * max_width) {
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++characters) next_shown(text, at);
    if (characters <= max_width) start = 0;
  }

  Excerpt result;
  result.gutter = fmt::format("{:>5}", begin.line);
  if (start > 0) result.line = "...";
  std::size_t before = result.line.size(), under = 0;  // characters in front of the place, and of it
  std::size_t at = start;
  for (std::size_t shown = 0; shown < max_width && at < text.size(); ++shown) {
    if (at < first) ++before;
    if (at >= first && at < last) ++under;
    result.line += next_shown(text, at);
  }
  if (at < text.size()) result.line += "...";
  result.underline = std::string(before, ' ') + '^' + std::string(under > 1 ? under - 1 : 0, '~');
  return result;
}

}  // namespace exocheck::driver
