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

struct Characters {
  std::vector<std::string> shown;   // one printable character each
  std::vector<std::size_t> offset;  // byte at which it starts
};

Characters split(std::string_view text) {
  Characters result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    result.offset.push_back(i);
    const auto first = static_cast<unsigned char>(text[i]);
    if (text[i] == '\t') {
      result.shown.emplace_back(" ");
    } else if (length == 0 || first < 0x20 || first == 0x7F ||
               (first == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0)) {
      result.shown.emplace_back("?");
    } else {
      result.shown.emplace_back(text.substr(i, length));
    }
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (const std::string& character : split(text).shown) result += character;
  return result;
}

Excerpt excerpt(const semantics::Location& location) {
  const auto begin = location.begin();
  const auto end = location.end();
  const std::string_view text = location.source->line_text(begin.line);
  const auto first_byte = static_cast<std::size_t>(begin.column - 1);
  const std::size_t last_byte =
      end.line == begin.line ? static_cast<std::size_t>(end.column - 1) : text.size();

  const Characters characters = split(text);
  const auto character_at = [&](std::size_t byte) {
    return static_cast<std::size_t>(
        std::lower_bound(characters.offset.begin(), characters.offset.end(), byte) -
        characters.offset.begin());
  };
  const std::size_t first = character_at(first_byte);
  const std::size_t last = std::max(character_at(std::max(first_byte, last_byte)), first + 1);

  const std::size_t count = characters.shown.size();
  const std::size_t start = count <= max_width || first < max_width / 2 ? 0 : first - max_width / 2;
  const std::size_t stop = std::min(count, start + max_width);

  Excerpt result;
  result.gutter = fmt::format("{:>5}", begin.line);
  const std::string lead = start > 0 ? "..." : "";
  result.line = lead;
  for (std::size_t i = start; i < stop; ++i) result.line += characters.shown[i];
  if (stop < count) result.line += "...";
  result.underline = std::string(lead.size() + (first - start), ' ') + '^';
  if (last > first + 1)
    result.underline += std::string(std::min(last, std::max(stop, first + 1)) - first - 1, '~');
  return result;
}

}  // namespace exocheck::driver
