#include "amir/check_attribution.hpp"

#include "amir/machine.hpp"

namespace exocheck::amir {

namespace {

struct Switch {
  bool ModeRules::*member;
  const char* name;
};
constexpr Switch switches[]{
    {&ModeRules::tiers, "repair H1"},
    {&ModeRules::atomics_keep_reads, "repair H3"},
    {&ModeRules::zero_keeps, "repair H9"},
    {&ModeRules::proxy_fence_owner, "strict S1"},
    {&ModeRules::generic_before_async, "strict S2"},
};

}  // namespace

bool same_finding(const Violation& a, const Violation& b) {
  return a.code == b.code && a.var == b.var && a.element == b.element && a.at.node == b.at.node &&
         a.at.iterators == b.at.iterators && a.at.task == b.at.task;
}

std::vector<std::string> attribution(const Program& program, const Sizes& sizes, const ModeRules& rules,
                                     const Violation& violation, const Limits& limits) {
  if (violation.code == "E-Y04" || violation.code == "E-Y06") return {"repair H6"};
  const bool hazard = violation.code == "E-Y12" || violation.code.starts_with("E-Y3");
  if (!hazard) return {};
  const auto still_found = [&](const ModeRules& variant) {
    const Outcome outcome = run(program, sizes, variant, limits);
    return outcome.limit || (outcome.violation && same_finding(*outcome.violation, violation));
  };
  ModeRules plain = rules;
  for (const Switch& s : switches) plain.*s.member = false;
  if (still_found(plain)) return {};
  std::vector<std::string> labels;
  for (const Switch& s : switches) {
    if (!(rules.*s.member)) continue;
    ModeRules variant = rules;
    variant.*s.member = false;
    if (still_found(variant)) continue;
    // The same switch removes H2: an unordered access no longer counts as an atomic one.
    const bool h2 = s.member == &ModeRules::tiers && violation.required == Level::atomic;
    labels.emplace_back(h2 ? "repair H2" : s.name);
  }
  return labels;
}

}  // namespace exocheck::amir
