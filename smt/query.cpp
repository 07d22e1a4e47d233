#include "smt/query.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace exocheck::smt {

Assumptions Assumptions::with(std::string label, const Term& condition, Origin origin,
                              std::optional<std::uint32_t> range_of) const {
  const auto taken = [this](const std::string& name) {
    for (const Link* link = last_.get(); link != nullptr; link = link->parent.get()) {
      if (link->assumption.label == name) return true;
    }
    return false;
  };
  if (taken(label)) {
    int suffix = 2;
    while (taken(label + "!" + std::to_string(suffix))) ++suffix;
    label += "!" + std::to_string(suffix);
  }
  Assumptions out;
  out.last_ = std::make_shared<const Link>(Link{{std::move(label), condition, origin, range_of}, last_});
  return out;
}

std::vector<const Assumption*> Assumptions::in_order() const {
  std::vector<const Assumption*> out;
  for (const Link* link = last_.get(); link != nullptr; link = link->parent.get())
    out.push_back(&link->assumption);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Variable> relevant_variables(const Query& query) {
  struct Entry {
    const Assumption* assumption;
    std::vector<Variable> variables;
    bool used = false;
  };
  std::vector<Entry> entries;
  for (const Assumption* a : query.assumptions.in_order()) entries.push_back({a, variables(a->condition)});
  // A range that mentions nothing but its own variable is constant; a constant range that is empty would make
  // the place unreachable, so it never matters.
  const auto always_shown = [](const Entry& e) {
    return e.assumption->origin == Origin::guard ||
           (e.assumption->origin == Origin::range && e.variables.size() > 1);
  };

  std::map<std::uint32_t, Variable> shown;
  const auto show = [&shown](const std::vector<Variable>& more) {
    for (const Variable& v : more) shown.emplace(v.id, v);
  };
  if (query.goal) show(variables(*query.goal));
  for (Entry& e : entries) {
    if (query.goal && !always_shown(e)) continue;
    show(e.variables);
    e.used = true;
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (Entry& e : entries) {
      if (e.used) continue;
      const auto is_shown = [&shown](const Variable& v) { return shown.contains(v.id); };
      e.used = e.assumption->range_of ? shown.contains(*e.assumption->range_of)
                                      : std::any_of(e.variables.begin(), e.variables.end(), is_shown);
      if (e.used) {
        show(e.variables);
        grown = true;
      }
    }
  }
  std::vector<Variable> out;
  out.reserve(shown.size());
  for (auto& [id, v] : shown) out.push_back(std::move(v));
  return out;
}

}  // namespace exocheck::smt
