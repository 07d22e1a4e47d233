// The naive machine, the working machine and the trace graph agree on random programs in all three modes, and
// the verdicts move as they must when a program changes (abstract-machine.md 10.2, 10.3).
//
// EXOCHECK_SEED=n starts at seed n; EXOCHECK_PROGRAMS=n runs n programs.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <map>

#include "amir/machine.hpp"
#include "amir/machine_core.hpp"
#include "amir/naive_machine.hpp"
#include "amir/trace_graph.hpp"
#include "property/support/random_amir.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using exocheck::testing::Random;

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

Sizes environment(const Program& p) { return Sizes(p.symbol_count); }

const std::vector<std::pair<std::string, ModeRules>>& modes() {
  static const std::vector<std::pair<std::string, ModeRules>> all{
      {"paper-exact", rules_of(analysis::Mode::paper_exact)},
      {"default", rules_of(analysis::Mode::standard)},
      {"strict", rules_of(analysis::Mode::strict)},
  };
  return all;
}

std::string text(const Program& p, const Violation& v) {
  std::string out(v.code);
  out += " " + p.variables[index(v.var)].name + "[";
  for (const std::int64_t i : v.element) out += std::to_string(i) + ",";
  out += "] node " + std::to_string(index(v.at.node)) + " task " + std::to_string(v.at.task) + " at";
  for (const auto& [iterator, value] : v.at.iterators) {
    out += " " + std::to_string(index(iterator)) + "=" + std::to_string(value);
  }
  out += " required " + std::string(semantics::amir::name(v.required));
  out += " counts " + std::to_string(v.count_a) + " " + std::to_string(v.count_b);
  if (v.after_mutate) out += " after mutate";
  return out;
}

std::string text(const Program& p, const Outcome& o) {
  std::string out = o.violation ? text(p, *o.violation) : "accepted";
  for (const Violation& w : o.warnings) out += "\n  warning " + text(p, w);
  if (o.limit) out += "\n  limit " + *o.limit;
  if (o.executed_task) out += "\n  executed a task";
  return out;
}

Outcome run_forgetful(const Program& p, const ModeRules& rules) {
  return working::Machine(p, environment(p), rules, {}, nullptr, {0, 0}).run();
}

bool hazard(const Outcome& o) {
  if (!o.violation) return false;
  const std::string_view code = o.violation->code;
  return code == "E-Y30" || code == "E-Y31" || code == "E-Y32";
}

}  // namespace

TEST_CASE("three machines agree on random programs") {
  const std::uint64_t first = setting("EXOCHECK_SEED", 1), count = setting("EXOCHECK_PROGRAMS", 20000);
  std::map<std::string, std::uint64_t> verdicts;
  std::uint64_t leaves = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program p = testing::random_program(seed);
    for (const auto& [mode, rules] : modes()) {
      const Outcome naive = run_naive(p, environment(p), rules, {});
      const std::string expected = text(p, naive);
      ++verdicts[mode + " " + (naive.violation ? std::string(naive.violation->code) : "accepted")];
      leaves += naive.nodes_executed;
      if (text(p, run(p, environment(p), rules, {})) == expected &&
          text(p, run_forgetful(p, rules)) == expected &&
          text(p, run_trace_graph(p, environment(p), rules, {})) == expected) {
        continue;
      }
      INFO("seed " << seed << ", mode " << mode);
      CHECK(text(p, run(p, environment(p), rules, {})) == expected);
      CHECK(text(p, run_forgetful(p, rules)) == expected);
      CHECK(text(p, run_trace_graph(p, environment(p), rules, {})) == expected);
    }
  }
  std::cout << "seeds " << first << " to " << first + count - 1 << ", " << leaves << " nodes\n";
  for (const auto& [verdict, times] : verdicts) std::cout << "  " << verdict << ": " << times << "\n";
  // The programs reach every rule.
  if (count >= 20000) {
    for (const char* code :
         {"E-Y04", "E-Y06", "E-Y12", "E-Y14", "E-Y20", "E-Y21", "E-Y30", "E-Y31", "E-Y32"}) {
      CHECK(verdicts[std::string("default ") + code] >= 20);
    }
    CHECK(verdicts["default accepted"] >= count / 50);
  }
}
