#include "frontend/elaborate_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace exocheck::frontend {

using semantics::ir::SymId;

void Scopes::declare(const std::string& name, SymId symbol) {
  Scope& scope = scopes_.back();
  scope.names[name] = symbol;
  scope.aliases.erase(name);
}

std::optional<SymId> Scopes::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return it->second;
  }
  return std::nullopt;
}

std::vector<std::string> Scopes::visible() const {
  std::vector<std::string> names;
  for (const Scope& scope : scopes_) {
    for (const auto& [name, symbol] : scope.names) names.push_back(name);
  }
  return names;
}

void Scopes::alias_in_sync(const std::string& name, std::int64_t suffix, SymId symbol) {
  auto& aliases = scopes_.back().aliases;
  const auto it = aliases.find(name);
  if (it != aliases.end() && it->second.suffix > suffix) return;
  aliases[name] = Alias{suffix, symbol};
}

std::optional<Scopes::SyncName> Scopes::find_in_sync(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto alias = scope->aliases.find(name);
    if (alias != scope->aliases.end()) return SyncName{alias->second.symbol, true};
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return SyncName{it->second, false};
  }
  return std::nullopt;
}

std::optional<std::pair<std::string, std::int64_t>> split_suffix(const std::string& name) {
  const std::size_t underscore = name.rfind('_');
  if (underscore == std::string::npos || underscore == 0 || underscore + 1 == name.size())
    return std::nullopt;
  std::int64_t suffix = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + underscore + 1, end, suffix);
  if (error != std::errc{} || stop != end || suffix < 1) return std::nullopt;
  return std::pair(name.substr(0, underscore), suffix);
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  // Levenshtein distance; names longer than this are no typing slips of one another.
  constexpr std::size_t longest = 64;
  if (name.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = name.size() / 3 + 1;  // "x" has no near names, "cuda_wrap" has
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest || candidate == name) continue;
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t substitute = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string suggestion_text(std::string_view name, const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? fmt::format(", did you mean `{}`?", *nearest) : std::string();
}

}  // namespace exocheck::frontend
