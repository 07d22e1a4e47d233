#include "semantics/rules.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "semantics/errors.hpp"
#include "semantics/rule_tables.hpp"

namespace exocheck::semantics {
namespace {

std::vector<Rule> collect() {
  std::vector<Rule> all;
  for (const auto part : {detail::syntax_rules(), detail::type_rules(), detail::kernel_rules(),
                          detail::barrier_rules(), detail::machine_rules()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end(), [](const Rule& a, const Rule& b) { return a.code < b.code; });
  return all;
}

}  // namespace

std::span<const Rule> all_rules() {
  static const std::vector<Rule> rules = collect();
  return rules;
}

const Rule* find_rule(std::string_view code_or_name) {
  const auto rules = all_rules();
  const auto it = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) {
    return r.code == code_or_name || r.name == code_or_name;
  });
  return it == rules.end() ? nullptr : &*it;
}

const Rule& rule(std::string_view code) {
  const Rule* r = find_rule(code);
  if (r == nullptr) throw InternalError("unknown rule " + std::string(code));
  return *r;
}

}  // namespace exocheck::semantics
