#include "amir/check_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "amir/check_size_goals.hpp"
#include "amir/translate_windows.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {

using namespace semantics::ir;

namespace {

constexpr std::size_t max_choices = 16;
constexpr std::size_t max_enumerated = 40'000;         // size sets
constexpr std::size_t max_enumerated_cells = 400'000;  // values in them: fewer sets of many parameters
constexpr std::size_t max_examined = 300;
// Statements that the machine executes, as SizeFeatures estimates them: a few seconds in all.
constexpr double max_choice_cost = 400'000;
constexpr double max_total_cost = 1'000'000;
constexpr double fixed_cost = 500;  // of one more run
constexpr double solver_seconds = 10;
constexpr smt::Limits solver_limits{2'000, 1'000'000, 2'048};

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
  void complete(const SizeSet& set, SizePlan& plan);

 private:
  SizeChoice make(const std::vector<std::int64_t>& values) const;
  void set_strides(Environment& env) const;
  bool admissible(const Environment& env) const;
  std::vector<std::int64_t> candidates(SymId p) const;
  struct Candidate {
    SizeChoice choice;
    SizeFeatures::Profile profile;
  };
  std::vector<std::vector<std::int64_t>> enumerate(std::vector<std::vector<std::int64_t>> options) const;
  std::vector<Candidate> examine(const std::vector<std::vector<std::int64_t>>& rows) const;
  void add_solved(const Environment& fixed, std::vector<Candidate>& candidates, SizePlan& plan) const;
  Candidate shrink(Candidate candidate, const std::set<SizeFeatures::Feature>& needed,
                   const Environment& fixed) const;
  std::vector<SizeChoice> select(std::vector<Candidate> candidates, const Environment& fixed,
                                 SizePlan& plan) const;

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

// Bounded, so that sums of them fit.
std::int64_t weight(std::int64_t value) {
  return std::min<std::int64_t>(value < 0 ? -value : value, 1ll << 40);
}

std::int64_t weight(const std::vector<std::int64_t>& row) {
  std::int64_t sum = 0;
  for (const std::int64_t v : row) sum += weight(v);
  return sum;
}

std::int64_t weight(const SizeSet& values) {
  std::int64_t sum = 0;
  for (const auto& [name, v] : values) sum += weight(v);
  return sum;
}

// Every combination of the options, the smallest sums first; fewer options per parameter where the product
// would explode.
std::vector<std::vector<std::int64_t>> Planner::enumerate(
    std::vector<std::vector<std::int64_t>> options) const {
  const std::size_t max_rows = std::clamp<std::size_t>(
      max_enumerated_cells / std::max<std::size_t>(options.size(), 1), 16, max_enumerated);
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
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return weight(a) < weight(b); });
  return rows;
}

// The admissible rows, thinned out evenly so that large interesting values are examined, too.
std::vector<Planner::Candidate> Planner::examine(const std::vector<std::vector<std::int64_t>>& rows) const {
  std::vector<SizeChoice> admissible_choices;
  for (const auto& row : rows) {
    SizeChoice choice = make(row);
    if (choice.admissible) admissible_choices.push_back(std::move(choice));
  }
  std::vector<Candidate> out;
  const std::size_t n = admissible_choices.size();
  const std::size_t count = std::min(n, max_examined);
  for (std::size_t i = 0; i < count; ++i) {
    SizeChoice& choice = admissible_choices[n == count ? i : i * (n - 1) / (count - 1)];
    SizeFeatures::Profile profile = features_.of(choice.environment);
    out.push_back({std::move(choice), std::move(profile)});
  }
  return out;
}

// Asks the solver for what the candidates leave out.
void Planner::add_solved(const Environment& fixed, std::vector<Candidate>& candidates, SizePlan& plan) const {
  SizeGoals questions(procedure_, windows_, features_, fixed);
  smt::QuickProver quick;
  smt::Solver solver;
  std::set<SizeFeatures::Feature> covered;
  for (const Candidate& c : candidates) {
    if (c.profile.cost <= max_choice_cost)
      covered.insert(c.profile.features.begin(), c.profile.features.end());
  }
  const auto ask = [&](const smt::Assumptions& path, const smt::Term& condition, semantics::Span span,
                       std::string meaning) {
    SizeQuery query{
        {path.with("goal", condition), std::nullopt}, span, std::move(meaning), smt::Unknown{}, false, 0};
    if (quick.proves(path, negate(condition))) {
      query.answer = smt::Proved{};
    } else if (plan.solver_seconds >= solver_seconds) {
      query.answer = smt::Unknown{"the solver time for choosing sizes is used up"};
    } else {
      const auto start = std::chrono::steady_clock::now();
      query.answer = solver.solve(query.query, solver_limits);
      query.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      query.solver = true;
      plan.solver_seconds += query.seconds;
    }
    plan.queries.push_back(std::move(query));
    return plan.queries.back().answer;
  };
  const auto add_model = [&](const smt::Model& model, const SizeFeatures::Feature* feature) {
    std::vector<std::int64_t> row;
    for (const SymId p : controls_) row.push_back(questions.value(p, model.values));
    SizeChoice choice = make(row);
    if (!choice.admissible) return false;  // an assert without a linear form
    SizeFeatures::Profile profile = features_.of(choice.environment);
    // Iterators between the first and the last value count, too.
    if (feature != nullptr) profile.features.insert(*feature);
    if (profile.cost <= max_choice_cost) covered.insert(profile.features.begin(), profile.features.end());
    candidates.push_back({std::move(choice), std::move(profile)});
    return true;
  };

  if (candidates.empty()) {
    const smt::Answer any =
        ask(questions.preconditions(), smt::boolean(true), procedure_.name_span, "sizes exist");
    const auto* model = std::get_if<smt::Model>(&any);
    if (std::holds_alternative<smt::Proved>(any)) return;  // vacuous
    if (model == nullptr || !add_model(*model, nullptr)) {
      plan.unknown = "no sizes were found that satisfy the asserts, but there may be some";
      return;
    }
  }
  for (const SizeGoal& goal : questions.goals()) {
    if (covered.contains(goal.feature)) continue;
    const smt::Answer answer = ask(goal.path, goal.condition, goal.span, goal.meaning);
    if (std::holds_alternative<smt::Proved>(answer)) continue;  // out of reach
    const auto* model = std::get_if<smt::Model>(&answer);
    if (model == nullptr || !add_model(*model, &goal.feature)) ++plan.left_out;
  }
}

// The candidate with smaller values, parameter by parameter, as long as it keeps these features and costs no
// more.
Planner::Candidate Planner::shrink(Candidate candidate, const std::set<SizeFeatures::Feature>& needed,
                                   const Environment& fixed) const {
  int tries = 200;
  for (std::size_t i = 0; i < controls_.size() && tries > 0; ++i) {
    if (fixed[controls_[i]]) continue;
    for (const std::int64_t smaller : this->candidates(controls_[i])) {
      if (smaller < 0 || smaller >= candidate.choice.values[i].second || --tries < 0) continue;
      std::vector<std::int64_t> row;
      for (const auto& [name, v] : candidate.choice.values) row.push_back(v);
      row[i] = smaller;
      SizeChoice choice = make(row);
      if (!choice.admissible) continue;
      SizeFeatures::Profile profile = features_.of(choice.environment);
      if (profile.cost > candidate.profile.cost ||
          !std::includes(profile.features.begin(), profile.features.end(), needed.begin(), needed.end()))
        continue;
      candidate = {std::move(choice), std::move(profile)};
      break;
    }
  }
  return candidate;
}

// Greedy: again and again the candidate with the most new features for its cost; then those that later ones
// made superfluous go, and the others shrink. At least one is chosen, whatever it costs.
std::vector<SizeChoice> Planner::select(std::vector<Candidate> candidates, const Environment& fixed,
                                        SizePlan& plan) const {
  if (candidates.empty()) return {};
  const auto cheaper = [](const Candidate& a, const Candidate& b) {
    return std::pair{a.profile.cost, weight(a.choice.values)} <
           std::pair{b.profile.cost, weight(b.choice.values)};
  };
  std::stable_sort(candidates.begin(), candidates.end(), cheaper);
  std::set<SizeFeatures::Feature> wanted;
  for (const Candidate& c : candidates) wanted.insert(c.profile.features.begin(), c.profile.features.end());

  std::map<SizeFeatures::Feature, int> count;
  std::vector<const Candidate*> chosen;
  double total = 0;
  while (chosen.size() < max_choices) {
    const Candidate* best = nullptr;
    double best_ratio = 0;
    for (const Candidate& c : candidates) {
      const bool affordable = c.profile.cost <= max_choice_cost && total + c.profile.cost <= max_total_cost;
      if (!affordable && !(chosen.empty() && best == nullptr)) continue;
      const auto fresh = std::count_if(c.profile.features.begin(), c.profile.features.end(),
                                       [&](const auto& f) { return !count.contains(f); });
      const double ratio = static_cast<double>(fresh) / (fixed_cost + c.profile.cost);
      if (best == nullptr ? fresh > 0 || chosen.empty() : ratio > best_ratio) {
        best = &c;
        best_ratio = ratio;
      }
    }
    if (best == nullptr) break;
    for (const auto& f : best->profile.features) ++count[f];
    total += best->profile.cost;
    chosen.push_back(best);
  }
  for (const auto& f : wanted) plan.left_out += count.contains(f) ? 0 : 1;

  std::vector<SizeChoice> out;
  for (const Candidate* c : chosen) {
    std::set<SizeFeatures::Feature> needed;
    for (const auto& f : c->profile.features) {
      if (--count[f] == 0) needed.insert(f);
    }
    if (needed.empty() && chosen.size() > 1) continue;
    Candidate small = shrink(*c, needed, fixed);
    for (const auto& f : small.profile.features) ++count[f];
    out.push_back(std::move(small.choice));
  }
  std::stable_sort(out.begin(), out.end(), [](const SizeChoice& a, const SizeChoice& b) {
    return std::pair{weight(a.values), a.values} < std::pair{weight(b.values), b.values};
  });
  return out;
}

void Planner::complete(const SizeSet& set, SizePlan& plan) {
  std::vector<std::vector<std::int64_t>> options;
  Environment fixed_values(procedure_.symbols.size());
  bool all_fixed = true;
  for (const SymId p : controls_) {
    const std::string& name = procedure_.symbol(p).name;
    const auto fixed =
        std::find_if(set.begin(), set.end(), [&](const auto& entry) { return entry.first == name; });
    if (fixed == set.end()) {
      all_fixed = false;
      options.push_back(candidates(p));
    } else {
      fixed_values.set(p, fixed->second);
      options.push_back({fixed->second});
    }
  }
  std::vector<SizeChoice> choices;
  if (all_fixed) {
    std::vector<std::int64_t> row;
    for (const auto& o : options) row.push_back(o.front());
    choices.push_back(make(row));
  } else {
    plan.chosen_here = true;
    std::vector<Candidate> candidates = examine(enumerate(std::move(options)));
    add_solved(fixed_values, candidates, plan);
    choices = select(std::move(candidates), fixed_values, plan);
  }
  for (SizeChoice& choice : choices) {
    const bool known = std::any_of(plan.choices.begin(), plan.choices.end(),
                                   [&](const SizeChoice& c) { return c.values == choice.values; });
    if (!known) plan.choices.push_back(std::move(choice));
  }
}

}  // namespace

semantics::ir::Environment environment_of(const SizeChoice& choice, std::size_t symbols) {
  semantics::ir::Environment out(symbols);
  for (std::size_t s = 0; s < choice.environment.size(); ++s) {
    const semantics::ir::SymId symbol{static_cast<std::uint32_t>(s)};
    if (choice.environment[symbol]) out.set(symbol, *choice.environment[symbol]);
  }
  return out;
}

SizePlan plan_sizes(const Procedure& procedure, const std::vector<SizeSet>& requested) {
  SizePlan plan;
  std::vector<SizeSet> sets = requested.empty() ? procedure.size_sets : requested;
  plan.errors = size_errors(procedure, sets);
  if (!plan.errors.empty()) return plan;
  if (sets.empty()) sets.emplace_back();
  Planner planner(procedure);
  for (const SizeSet& set : sets) planner.complete(set, plan);
  return plan;
}

std::vector<std::string> size_errors(const Procedure& procedure, const std::vector<SizeSet>& sets) {
  std::vector<std::string> errors;
  for (const SizeSet& set : sets) {
    for (const SymId p : procedure.parameters) {
      const Symbol& symbol = procedure.symbol(p);
      const auto given =
          std::find_if(set.begin(), set.end(), [&](const auto& entry) { return entry.first == symbol.name; });
      if (given == set.end()) continue;
      if (symbol.kind == SymbolKind::size && given->second < 0) {
        errors.push_back(fmt::format("size {} of procedure {} cannot be negative ({})", symbol.name,
                                     procedure.name, given->second));
      }
      if (symbol.kind == SymbolKind::boolean && given->second != 0 && given->second != 1) {
        errors.push_back(fmt::format("bool parameter {} of procedure {} must be 0 or 1, not {}", symbol.name,
                                     procedure.name, given->second));
      }
    }
  }
  return errors;
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
