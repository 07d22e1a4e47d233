// The naive machine, the working machine, the trace graph and the slices of proofs agree on random programs
// in all three modes, and the verdicts move as they must when a program changes
// (abstract-machine.md 10.2, 10.3).
//
// EXOCHECK_SEED=n starts at seed n; EXOCHECK_PROGRAMS=n runs n programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "amir/machine.hpp"
#include "amir/machine_core.hpp"
#include "amir/naive_machine.hpp"
#include "amir/proof.hpp"
#include "amir/trace_graph.hpp"
#include "property/support/machine_runs.hpp"
#include "property/support/random_amir.hpp"
#include "property/support/setting.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck;
using exocheck::testing::setting;
using namespace exocheck::amir;
using exocheck::testing::Random;

namespace {

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

// With the thread that lacks visibility and the level it holds.
std::string full_text(const Program& p, const Violation& v) {
  std::string out = text(p, v) + " held " + std::string(semantics::amir::name(v.held));
  if (v.missing)
    out += " missing " + std::to_string(v.missing->task) + "/" + std::to_string(v.missing->local);
  return out;
}

std::string text(const Program& p, const Outcome& o, bool full = true) {
  std::string out = !o.violation ? "accepted" : full ? full_text(p, *o.violation) : text(p, *o.violation);
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

namespace {

struct Tally {
  std::map<std::string, std::uint64_t> verdicts;
  std::uint64_t nodes = 0;
};

void print(const Tally& tally, std::uint64_t first, std::uint64_t count) {
  std::cout << "seeds " << first << " to " << first + count - 1 << ", " << tally.nodes << " nodes\n";
  for (const auto& [verdict, times] : tally.verdicts) std::cout << "  " << verdict << ": " << times << "\n";
}

void compare(const Program& p, const std::string& mode, const ModeRules& rules, std::uint64_t seed,
             Tally& tally) {
  const Outcome naive = run_naive(p, environment(p), rules, {});
  const std::string expected = text(p, naive);
  ++tally.verdicts[mode + " " + (naive.violation ? std::string(naive.violation->code) : "accepted")];
  tally.nodes += naive.nodes_executed;
  const std::string fast = text(p, run(p, environment(p), rules, {}));
  const std::string forgetful = text(p, run_forgetful(p, rules));
  const std::string graph = text(p, run_trace_graph(p, environment(p), rules, {}));
  if (fast == expected && forgetful == expected && graph == expected) return;
  INFO("seed " << seed << ", mode " << mode);
  CHECK(fast == expected);
  CHECK(forgetful == expected);
  CHECK(graph == expected);
}

}  // namespace

TEST_CASE("three machines agree on random programs") {
  const std::uint64_t first = setting("EXOCHECK_SEED", 1), count = setting("EXOCHECK_PROGRAMS", 20000);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program p = testing::random_program(seed);
    for (const auto& [mode, rules] : modes()) compare(p, mode, rules, seed, tally);

    // Further into the program: few checks, and counters that stop nothing.
    Random random(seed);
    const Program open = testing::with_few_checks(p, random);
    for (auto [mode, rules] : modes()) {
      rules.forward_progress = rules.forward_progress && random.percent(30);
      compare(open, mode + ", few checks,", rules, seed, tally);
    }
  }
  print(tally, first, count);
  // The programs reach every rule.
  if (count >= 20000) {
    for (const char* code :
         {"E-Y04", "E-Y06", "E-Y12", "E-Y14", "E-Y20", "E-Y21", "E-Y30", "E-Y31", "E-Y32"}) {
      CHECK(tally.verdicts[std::string("default ") + code] >= 20);
    }
    CHECK(tally.verdicts["default accepted"] >= count / 50);
    // Each mode has verdicts of its own.
    CHECK(tally.verdicts["default accepted"] < tally.verdicts["paper-exact accepted"]);
    CHECK(tally.verdicts["strict accepted"] < tally.verdicts["default accepted"]);
  }
}

namespace {

// The element-by-element engine at the one size that these programs have. It presupposes that no index leaves
// its array, and looks for violations in one task, on paths of its own, and between tasks.
void compare_slices(const Program& p, const std::string& mode, const ModeRules& rules, std::uint64_t seed,
                    Tally& tally) {
  const Outcome naive = run_naive(p, environment(p), rules, {});
  tally.nodes += naive.nodes_executed;
  const std::string expected = testing::short_text(p, naive);
  if (naive.violation && (naive.violation->code == "E-Y20" || naive.violation->code == "E-Y21")) return;
  ProofOptions options;
  options.keep_failures = true;
  const semantics::ir::Procedure without_parameters;
  const ProofResult r = prove(p, without_parameters, {}, rules, options);
  const std::string found = testing::short_text(p, r);
  if (mode.starts_with("default")) {
    // Taken apart for the strict rules, the tasks serve these as well.
    const ModeRules& strict = modes().back().second;
    Proof shared(p, without_parameters, {}, strict, options);
    shared.look(strict);
    const ProofResult again = shared.look(rules);
    const bool out_of_time = again.reason.find("solver") != std::string::npos ||
                             r.reason.find("solver") != std::string::npos;  // on a starved computer
    const bool same = again.kind == r.kind && testing::short_text(p, again) == found;
    if (!same && !out_of_time)
      FAIL_CHECK("seed " << seed << ", mode " << mode << ": " << found << " " << r.reason << ", but "
                         << testing::short_text(p, again) << " " << again.reason);
  }
  INFO("seed " << seed << ", mode " << mode << ", " << r.reason);
  switch (r.kind) {
    case ProofResult::Kind::open:
      ++tally.verdicts[mode + " open: " + r.reason];
      return;
    case ProofResult::Kind::proved:
      ++tally.verdicts[mode + " proved"];
      if (expected != "accepted") CHECK(expected == "accepted");
      return;
    case ProofResult::Kind::refuted:
      break;
  }
  ++tally.verdicts[mode + " refuted"];
  const bool global = testing::in_shared_memory(p, naive);
  if (!testing::broken_in_a_slice(r)) {
    // Accesses to what tasks share may meet, and need not.
    if (!global && expected != "accepted") CHECK(found == expected);
    return;
  }
  // What tasks share is compared without its order, and which of several tasks fails first is not said.
  const auto* tasks = std::get_if<semantics::amir::Loop>(&p.body[1].node);
  const bool one_task = tasks != nullptr && semantics::ir::constant_value(*tasks->hi) == 1;
  if (one_task && !global && testing::in_execution_order(r)) {
    ++tally.verdicts[mode + " refuted, the same violation first"];
    if (found != expected) CHECK(found == expected);
  } else if (expected == "accepted") {
    CHECK(found == expected);
  }
}

}  // namespace

TEST_CASE("slices agree with the naive machine on random programs") {
  const std::uint64_t first = setting("EXOCHECK_SEED", 1), count = setting("EXOCHECK_PROGRAMS", 2500);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::optional<Program> p = testing::as_kernel(testing::random_program(seed));
    if (!p) continue;
    Random random(seed);
    const Program open = testing::with_few_checks(*p, random);
    const auto& [mode, rules] = modes()[seed % modes().size()];
    compare_slices(*p, mode, rules, seed, tally);
    compare_slices(open, mode + ", few checks,", rules, seed, tally);
  }
  print(tally, first, count);
  if (count >= 2500) {
    for (const char* what : {"proved", "refuted, the same violation first"})
      CHECK(tally.verdicts[std::string("default ") + what] >= count / 200);
  }
}

TEST_CASE("verdicts move as they must when a program changes") {
  const std::uint64_t first = setting("EXOCHECK_SEED", 1), count = setting("EXOCHECK_PROGRAMS", 20000) / 4;
  std::uint64_t hazards = 0, fenced = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program p = testing::random_program(seed);
    Random random(seed);
    const Program stronger = testing::with_strong_fence(p, random);
    const Program weaker = testing::without_await(p, random);
    const Program reversed = testing::with_reversed_threads(p);
    for (const auto& [mode, rules] : modes()) {
      INFO("seed " << seed << ", mode " << mode);
      const Outcome original = run(p, environment(p), rules, {});
      hazards += hazard(original) ? 1 : 0;
      // A Fence that orders everything introduces no violation and no earlier one.
      const Outcome with_fence = run(stronger, environment(p), rules, {});
      fenced += original.violation && !with_fence.violation ? 1 : 0;
      if (with_fence.violation) {
        if (!original.violation || with_fence.nodes_executed < original.nodes_executed) {
          FAIL_CHECK("a strong fence introduced " << text(stronger, with_fence)
                                                  << ", before: " << text(p, original));
        }
      }
      // Without an Await a hazard stays, or something goes wrong earlier.
      if (hazard(original)) {
        const Outcome without = run(weaker, environment(p), rules, {});
        if (!without.violation || without.nodes_executed > original.nodes_executed) {
          FAIL_CHECK("removing an Await turned " << text(p, original) << " into " << text(weaker, without));
        }
      }
      // Names of threads do not matter.
      const std::string renamed = text(p, run(reversed, environment(p), rules, {}), false);
      if (renamed != text(p, original, false)) CHECK(renamed == text(p, original, false));
    }
    // With one level at a free, the repairs only add reports (abstract-machine.md 10).
    const auto with_full_free = [&](std::size_t mode) {
      ModeRules rules = modes()[mode].second;
      rules.free_level = Level::full;
      return run(p, environment(p), rules, {});
    };
    const Outcome exact = with_full_free(0);
    const Outcome repaired = with_full_free(1);
    const Outcome strict = with_full_free(2);
    for (const auto& [weak, strong] : {std::pair{&exact, &repaired}, {&repaired, &strict}}) {
      if (weak->violation && (!strong->violation || strong->nodes_executed > weak->nodes_executed)) {
        FAIL_CHECK("seed " << seed << ": a stricter mode misses " << text(p, *weak) << ": "
                           << text(p, *strong));
      }
    }
  }
  std::cout << "seeds " << first << " to " << first + count - 1 << ": " << hazards << " hazards, " << fenced
            << " repaired by a strong fence\n";
  CHECK(hazards >= count / 10);
  CHECK(fenced >= count / 100);
}
