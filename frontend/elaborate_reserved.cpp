#include "frontend/elaborate_reserved.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace exocheck::frontend {
namespace {

constexpr auto words = std::to_array<std::string_view>({
    "alignas",
    "alignof",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "blockDim",
    "blockIdx",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "clusterDim",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "ctxt",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "far",
    "float",
    "friend",
    "goto",
    "gridDim",
    "inline",
    "int",
    "long",
    "max",
    "min",
    "mutable",
    "namespace",
    "near",
    "new",
    "noexcept",
    "not_eq",
    "nullptr",
    "operator",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "threadIdx",
    "thread_local",
    "throw",
    "true",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "xor",
    "xor_eq",
});

bool upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool is_reserved_in_c(std::string_view name) {
  if (std::find(words.begin(), words.end(), name) != words.end()) return true;
  if (name.size() > 1 && name[0] == '_' && upper(name[1])) return true;
  std::string lower(name.substr(0, 5));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return lower.starts_with("__") || lower.starts_with("exo_") || lower == "_exo_";
}

}  // namespace exocheck::frontend
