#include "frontend/printer_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace exocheck::frontend {
namespace {

std::string size_list(const std::vector<std::optional<semantics::SizeExpr>>& sizes) {
  std::string out;
  for (const auto& s : sizes) out += fmt::format("{}, ", s ? semantics::to_string(*s) : "None");
  if (sizes.size() > 1)
    out.resize(out.size() - 2);
  else
    out.resize(out.size() - 1);
  return fmt::format("({})", out);
}

// What the built-in tables hold under the unit's own name.
std::optional<semantics::CollUnit> library_unit(const std::string& name) {
  const std::size_t bracket = name.find('(');
  if (bracket == std::string::npos) return semantics::find_unit(name);
  std::vector<std::int64_t> arguments;
  const char* it = name.data() + bracket;
  const char* end = name.data() + name.size();
  while (it != end && *it != ')') {
    ++it;
    while (it != end && *it == ' ') ++it;
    std::int64_t value = 0;
    const auto result = std::from_chars(it, end, value);
    if (result.ec != std::errc{}) return std::nullopt;
    arguments.push_back(value);
    it = result.ptr;
  }
  return semantics::make_unit(std::string_view(name).substr(0, bracket), arguments);
}

bool is_library_unit(const semantics::CollUnit& unit) {
  const auto known = library_unit(unit.name);
  if (!known) return false;
  const semantics::ScaleResult scaled = semantics::scale(unit.repeat, *known);
  return unit.repeat == 1 ? *known == unit
                          : scaled.error == semantics::ScaleError::none && scaled.unit == unit;
}

}  // namespace

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string out(buffer, result.ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string string_text(const std::string& value) {
  std::string out = "'";
  for (const char c : value) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\'':
        out += "\\'";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out + "'";
}

std::string unit_text(const semantics::CollUnit& unit) {
  std::string base = unit.name;
  if (!is_library_unit(unit)) {
    std::vector<std::optional<semantics::SizeExpr>> domain(unit.domain.begin(), unit.domain.end());
    auto box = unit.box;
    if (unit.scaled_dim && unit.repeat != 1) {
      auto& scaled = box[static_cast<std::size_t>(*unit.scaled_dim)];
      scaled = *scaled / unit.repeat;
    }
    base = fmt::format("CollUnit({}, {}, {}", size_list(domain), size_list(box), string_text(unit.name));
    if (unit.scaled_dim) base += fmt::format(", {}", *unit.scaled_dim);
    base += ")";
  }
  return unit.repeat == 1 ? base : fmt::format("{} * {}", unit.repeat, base);
}

}  // namespace exocheck::frontend
