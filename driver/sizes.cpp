#include "driver/sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace exocheck::driver {
namespace {

std::optional<std::int64_t> parse_value(std::string_view text) {
  if (text == "true" || text == "True") return 1;
  if (text == "false" || text == "False") return 0;
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool contains(const SizeSet& set, std::string_view name) {
  return std::any_of(set.begin(), set.end(), [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

std::variant<std::vector<SizeSet>, std::string> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<SizeSet> sets;
  for (const std::string& whole : texts) {
    std::string_view rest = whole;
    while (true) {
      const auto comma = rest.find(',');
      const std::string_view item = trim(rest.substr(0, comma));
      const auto equals = item.find('=');
      const std::string_view name = trim(item.substr(0, equals));
      if (equals == std::string_view::npos || name.empty()) {
        return fmt::format("'{}' is not of the form NAME=VALUE.", item);
      }
      const std::string_view value_text = trim(item.substr(equals + 1));
      const auto value = parse_value(value_text);
      if (!value) {
        return fmt::format("'{}' is no value for {}: an integer of 64 bits, true or false is expected.",
                           value_text, name);
      }
      if (sets.empty() || contains(sets.back(), name)) sets.emplace_back();
      sets.back().emplace_back(std::string(name), *value);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return sets;
}

std::string show(const SizeSet& sizes) {
  if (sizes.empty()) return "no sizes";
  std::string text;
  for (const auto& [name, value] : sizes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace exocheck::driver
