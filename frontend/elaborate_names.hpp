// Local scopes of one procedure (language.md 4.1) with the repair of names that printed synchronization
// statements carry un-renamed (language.md 3.3 Q2).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/ir.hpp"

namespace exocheck::frontend {

// Stands for a name whose declaration was faulty: its uses are not reported again.
inline constexpr semantics::ir::SymId poisoned_symbol{0xffffffffu};

class Scopes {
 public:
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

  // From here to the end of the innermost scope `name` is `symbol`; an older alias of the name ends.
  void declare(const std::string& name, semantics::ir::SymId symbol);
  // The innermost declaration.
  std::optional<semantics::ir::SymId> find(std::string_view name) const;
  // Every visible name, for suggestions.
  std::vector<std::string> visible() const;

  // From here to the end of the innermost scope synchronization statements that say `name` mean `symbol`,
  // whose own name is name_`suffix`. Of two aliases in one scope the larger suffix wins.
  void alias_in_sync(const std::string& name, std::int64_t suffix, semantics::ir::SymId symbol);
  struct SyncName {
    semantics::ir::SymId symbol{};
    bool repaired = false;
  };
  // The meaning of a name inside a barrier expression of an Arrive or Await.
  std::optional<SyncName> find_in_sync(std::string_view name) const;

 private:
  struct Alias {
    std::int64_t suffix = 0;
    semantics::ir::SymId symbol{};
  };
  struct Scope {
    std::map<std::string, semantics::ir::SymId, std::less<>> names;
    std::map<std::string, Alias, std::less<>> aliases;
  };
  std::vector<Scope> scopes_{1};
};

// `full_1` is (`full`, 1); nullopt for a name without a decimal suffix.
std::optional<std::pair<std::string, std::int64_t>> split_suffix(const std::string& name);

// The candidate nearest to `name`, if it is near enough to be a likely misspelling.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);
// ", did you mean `x`?" or "".
std::string suggestion_text(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace exocheck::frontend
