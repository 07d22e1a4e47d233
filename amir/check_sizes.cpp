#include "amir/check_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "amir/check_size_features.hpp"
#include "amir/translate_windows.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

using namespace semantics::ir;

namespace {

constexpr std::size_t max_choices = 8;
constexpr std::size_t max_enumerated = 40'000;       // size sets
constexpr std::size_t max_enumerated_cells = 400'000;  // values in them: fewer sets of many parameters
constexpr std::size_t max_examined = 300;

bool reads_config(const Expr& e) {
  bool found = false;
  for_each_subexpr(
      e, [&found](const Expr& sub) { found = found || std::holds_alternative<ConfigRead>(sub.node); });
  return found;
}

class Planner {
 public:
  explicit Planner(const Procedure& procedure)
      : procedure_(procedure), windows_(procedure), features_(procedure) {
    for (const SymId p : procedure.parameters) {
      const SymbolKind kind = procedure.symbol(p).kind;
      if (kind == SymbolKind::size || kind == SymbolKind::index || kind == SymbolKind::boolean)
        controls_.push_back(p);
      if (kind == SymbolKind::stride) strides_.push_back(p);
    }
  }

  // Completes a partial set; a complete one stays as it is, admissible or not.
  std::vector<SizeChoice> complete(const SizeSet& set, std::vector<std::string>& errors);

 private:
  SizeChoice make(const std::vector<std::int64_t>& values) const;
  void set_strides(Environment& env) const;
  bool admissible(const Environment& env) const;
  std::vector<std::int64_t> candidates(SymId p) const;
  std::vector<SizeChoice> select(std::vector<SizeChoice> examined) const;

  const Procedure& procedure_;
  WindowTable windows_;
  SizeFeatures features_;
  std::vector<SymId> controls_, strides_;
};

SizeChoice Planner::make(const std::vector<std::int64_t>& values) const {
  SizeChoice choice;
  choice.environment = Environment(procedure_.symbols.size());
  for (std::size_t i = 0; i < controls_.size(); ++i) {
    const Symbol& symbol = procedure_.symbol(controls_[i]);
    choice.values.emplace_back(symbol.name, values[i]);
    choice.environment.set(controls_[i], values[i]);
    choice.zero_size = choice.zero_size || (symbol.kind == SymbolKind::size && values[i] == 0);
  }
  set_strides(choice.environment);
  choice.admissible = admissible(choice.environment);
  return choice;
}

// A stride parameter that an assert equates with the stride of a tensor has that tensor's dense stride,
// else 1.
void Planner::set_strides(Environment& env) const {
  for (const SymId s : strides_) env.set(s, 1);
  for (const Assertion& a : procedure_.assertions) {
    const auto* eq = std::get_if<Binary>(&a.condition->node);
    if (eq == nullptr || eq->op != BinaryOp::eq) continue;
    for (const auto& [left, right] : {std::pair{eq->left, eq->right}, std::pair{eq->right, eq->left}}) {
      const auto* parameter = std::get_if<VarRef>(&left->node);
      if (parameter == nullptr || !std::holds_alternative<StrideOf>(right->node)) continue;
      try {
        env.set(parameter->var, evaluate(*windows_.without_strides(right), env));
      } catch (const semantics::OverflowError&) {
        // The assert is then evaluated with stride 1 and fails.
      }
    }
  }
}

bool Planner::admissible(const Environment& env) const {
  try {
    return std::all_of(procedure_.assertions.begin(), procedure_.assertions.end(), [&](const Assertion& a) {
      return reads_config(*a.condition) || evaluate(*windows_.without_strides(a.condition), env) != 0;
    });
  } catch (const semantics::OverflowError&) {
    return false;
  }
}

std::vector<std::int64_t> Planner::candidates(SymId p) const {
  const SymbolKind kind = procedure_.symbol(p).kind;
  if (kind == SymbolKind::boolean) return {0, 1};
  std::set<std::int64_t> values{1, 2, 3, 4, 5};
  if (kind == SymbolKind::index) values.insert(0);
  for (const std::int64_t value : features_.interesting_values(p)) {
    if (value >= 1 || kind == SymbolKind::index) values.insert(value);
  }
  return {values.begin(), values.end()};
}

// Greedy: the smallest sets first, one for each new feature; then those that later ones made superfluous go.
std::vector<SizeChoice> Planner::select(std::vector<SizeChoice> examined) const {
  std::vector<SizeChoice> chosen;
  std::vector<std::set<SizeFeatures::Feature>> covers;
  std::map<SizeFeatures::Feature, int> count;
  for (SizeChoice& choice : examined) {
    if (chosen.size() == max_choices) break;
    std::set<SizeFeatures::Feature> features = features_.of(choice.environment);
    const bool adds =
        std::any_of(features.begin(), features.end(), [&](const auto& f) { return !count.contains(f); });
    if (!adds && !chosen.empty()) continue;
    for (const auto& f : features) ++count[f];
    chosen.push_back(std::move(choice));
    covers.push_back(std::move(features));
  }
  std::vector<SizeChoice> out;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const bool needed =
        std::any_of(covers[i].begin(), covers[i].end(), [&](const auto& f) { return count[f] == 1; });
    if (needed || chosen.size() == 1) {
      out.push_back(std::move(chosen[i]));
    } else {
      for (const auto& f : covers[i]) --count[f];
    }
  }
  return out;
}

std::vector<SizeChoice> Planner::complete(const SizeSet& set, std::vector<std::string>& errors) {
  std::vector<std::vector<std::int64_t>> options;
  bool all_fixed = true;
  for (const SymId p : controls_) {
    const Symbol& symbol = procedure_.symbol(p);
    const auto fixed =
        std::find_if(set.begin(), set.end(), [&](const auto& entry) { return entry.first == symbol.name; });
    if (fixed == set.end()) {
      all_fixed = false;
      options.push_back(candidates(p));
      continue;
    }
    if (symbol.kind == SymbolKind::size && fixed->second < 0) {
      errors.push_back(fmt::format("size {} of procedure {} cannot be negative ({})", symbol.name,
                                   procedure_.name, fixed->second));
    }
    if (symbol.kind == SymbolKind::boolean && fixed->second != 0 && fixed->second != 1) {
      errors.push_back(fmt::format("bool parameter {} of procedure {} must be 0 or 1, not {}", symbol.name,
                                   procedure_.name, fixed->second));
    }
    options.push_back({fixed->second});
  }
  if (!errors.empty()) return {};
  // Fewer candidates per parameter where the product would explode; the small ones stay.
  const std::size_t max_rows =
      std::clamp<std::size_t>(max_enumerated_cells / std::max<std::size_t>(options.size(), 1), 16, max_enumerated);
  const auto too_many = [&options, max_rows] {
    std::size_t n = 1;
    for (const auto& o : options) {
      n *= o.size();
      if (n > max_rows) return true;
    }
    return false;
  };
  while (too_many()) {
    std::size_t longest = 0;
    for (const auto& o : options) longest = std::max(longest, o.size());
    if (longest <= 2) break;
    // Drops the element in the middle, so that extremes survive.
    for (auto& o : options) {
      if (o.size() != longest) continue;
      o.erase(o.begin() + static_cast<std::ptrdiff_t>(longest / 2));
      if (!too_many()) break;
    }
  }

  std::vector<std::vector<std::int64_t>> rows;
  std::vector<std::size_t> digits(options.size(), 0);
  while (rows.size() < max_rows) {
    std::vector<std::int64_t> row;
    for (std::size_t i = 0; i < options.size(); ++i) row.push_back(options[i][digits[i]]);
    rows.push_back(std::move(row));
    std::size_t i = 0;
    while (i < digits.size() && ++digits[i] == options[i].size()) digits[i++] = 0;
    if (i == digits.size()) break;
  }
  const auto weight = [](const std::vector<std::int64_t>& row) {
    std::int64_t sum = 0;
    for (const std::int64_t v : row) sum += std::min<std::int64_t>(v < 0 ? -v : v, 1ll << 40);
    return sum;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  if (all_fixed) return {make(rows.front())};

  std::vector<SizeChoice> examined;
  for (const auto& row : rows) {
    SizeChoice choice = make(row);
    if (choice.admissible) examined.push_back(std::move(choice));
  }
  if (examined.size() > max_examined) {
    // Evenly spread, so that large interesting values are examined, too.
    std::vector<SizeChoice> spread;
    for (std::size_t i = 0; i < max_examined; ++i) {
      spread.push_back(std::move(examined[i * (examined.size() - 1) / (max_examined - 1)]));
    }
    examined = std::move(spread);
  }
  return select(std::move(examined));
}

}  // namespace

SizePlan plan_sizes(const Procedure& procedure, const std::vector<SizeSet>& requested) {
  SizePlan plan;
  Planner planner(procedure);
  std::vector<SizeSet> sets = requested.empty() ? procedure.size_sets : requested;
  plan.chosen_here = sets.empty();
  if (sets.empty()) sets.emplace_back();
  for (const SizeSet& set : sets) {
    for (SizeChoice& choice : planner.complete(set, plan.errors)) {
      const bool known = std::any_of(plan.choices.begin(), plan.choices.end(),
                                     [&](const SizeChoice& c) { return c.values == choice.values; });
      if (!known) plan.choices.push_back(std::move(choice));
    }
  }
  return plan;
}

std::vector<std::string> unknown_names(const Procedure& procedure, const SizeSet& set) {
  std::vector<std::string> out;
  for (const auto& [name, value] : set) {
    const bool known = std::any_of(procedure.parameters.begin(), procedure.parameters.end(), [&](SymId p) {
      const Symbol& symbol = procedure.symbol(p);
      return symbol.name == name && (symbol.kind == SymbolKind::size || symbol.kind == SymbolKind::index ||
                                     symbol.kind == SymbolKind::boolean);
    });
    if (!known) out.push_back(name);
  }
  return out;
}

}  // namespace exocheck::amir
