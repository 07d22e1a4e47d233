// Chosen sizes: what they cover, that they satisfy the preconditions, and that they end.
#include "amir/check_sizes.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "amir/check_size_goals.hpp"
#include "checked_program.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using amir::SizePlan;
using semantics::ir::SizeSet;
namespace fs = std::filesystem;

namespace {

SizePlan plan_of(const std::string& text, const std::vector<SizeSet>& requested = {}) {
  const auto program = load_program(text);
  return amir::plan_sizes(program.procedures.back(), requested);
}

// The values of one parameter over all choices.
std::set<std::int64_t> values(const SizePlan& plan, const std::string& name) {
  std::set<std::int64_t> out;
  for (const auto& choice : plan.choices) {
    for (const auto& [n, v] : choice.values) {
      if (n == name) out.insert(v);
    }
  }
  return out;
}

template <class F>
bool some(const std::set<std::int64_t>& values, const F& wanted) {
  return std::any_of(values.begin(), values.end(), wanted);
}

std::string host(const std::string& parameters, const std::string& body) {
  std::string text = "def k(" + parameters + "):\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}

}  // namespace

TEST_CASE("exact and ragged tiles, one task and several") {
  const auto n = values(plan_of(host("n: size", "for b in seq(0, (n + 127) / 128):\n    pass")), "n");
  CHECK(some(n, [](auto v) { return v % 128 == 0; }));
  CHECK(some(n, [](auto v) { return v % 128 != 0; }));
  CHECK(some(n, [](auto v) { return v <= 128; }));
  CHECK(some(n, [](auto v) { return v > 128 && v <= 256; }));
  CHECK(some(n, [](auto v) { return v > 256; }));
}

TEST_CASE("trip counts 0, 1, 2 and more, as deep as the ring and one more") {
  const auto plan =
      plan_of(host("n: size, x: f32[5] @ DRAM",
                   "for i in seq(0, n / 4):\n    x[i % 5] = 0.0\nfor i in seq(2, n):\n    pass"));
  std::set<std::int64_t> trips;
  for (const std::int64_t v : values(plan, "n")) trips.insert(v / 4);
  for (const std::int64_t wanted : {0, 1, 2, 5, 6}) {
    INFO(wanted);
    CHECK(trips.contains(wanted));
  }
  CHECK(*trips.rbegin() > 10);
}

TEST_CASE("both ways of a branch on a parameter, and booleans") {
  const auto plan = plan_of(host("n: size, b: bool", "if n == 77 and b:\n    pass\nelse:\n    pass"));
  CHECK(values(plan, "n").contains(77));
  CHECK(values(plan, "b").contains(1));
  CHECK(values(plan, "n").size() > 1);
  CHECK(plan.queries.empty());
}

TEST_CASE("what no small set shows is asked of the solver") {
  const std::string text =
      host("n: size, m: size",
           "assert n % 37 == 5\nassert m == 3 * n + 1000\nfor i in seq(0, n - m / 3 + 340):\n    pass\n"
           "if m % 29 == 11:\n    pass");
  const SizePlan plan = plan_of(text);
  REQUIRE_FALSE(plan.choices.empty());
  CHECK_FALSE(plan.unknown);
  CHECK(some(values(plan, "m"), [](auto v) { return v % 29 == 11; }));
  CHECK(some(values(plan, "m"), [](auto v) { return v % 29 != 11; }));
  CHECK(std::any_of(plan.queries.begin(), plan.queries.end(), [](const auto& q) { return q.solver; }));
  for (const auto& choice : plan.choices) {
    CHECK(choice.admissible);
    CHECK(choice.values[0].second % 37 == 5);
    CHECK(choice.values[1].second == 3 * choice.values[0].second + 1000);
  }
  // The same every time.
  const SizePlan again = plan_of(text);
  REQUIRE(again.choices.size() == plan.choices.size());
  for (std::size_t i = 0; i < plan.choices.size(); ++i)
    CHECK(again.choices[i].values == plan.choices[i].values);
}

TEST_CASE("given values stay, the others fit them") {
  const std::string text =
      host("n: size, m: size", "assert n + m == 5000\nfor i in seq(0, n / 64):\n    pass");
  const SizePlan plan = plan_of(text, {{{"n", 4000}}});
  REQUIRE(plan.choices.size() == 1);
  CHECK(plan.chosen_here);
  CHECK(plan.choices[0].values == SizeSet{{"n", 4000}, {"m", 1000}});
  CHECK_FALSE(plan_of(text, {{{"n", 4000}, {"m", 7}}}).chosen_here);
  CHECK(plan_of(text, {{{"n", -1}}}).errors.size() == 1);

  // No value fits: nothing is chosen, and that is certain.
  const SizePlan none = plan_of(text, {{{"n", 5000}}});
  CHECK(none.choices.empty());
  CHECK_FALSE(none.unknown);
  // An explicit 0 is not excluded by what a size is declared to be.
  CHECK(plan_of(text, {{{"n", 0}}}).choices.size() == 1);
}

TEST_CASE("preconditions without a linear form: unknown rather than vacuous") {
  const std::string text =
      host("n: size, m: size, k: size, a: [f32][n, m, k] @ DRAM", "assert stride(a, 0) == 60000\npass");
  const SizePlan plan = plan_of(text);
  CHECK(plan.choices.empty());
  REQUIRE(plan.unknown);
}

TEST_CASE("no set costs more than a few seconds if there is a cheaper one") {
  const SizePlan cubic =
      plan_of(host("n: size",
                   "for i in seq(0, n):\n    for j in seq(0, n):\n        for l in seq(0, n):\n"
                   "            for t in seq(0, 20000):\n                pass"));
  CHECK(values(cubic, "n") == std::set<std::int64_t>{1, 2});
  CHECK(cubic.left_out == 3);  // three iterations of each of three loops
  const SizePlan plan = plan_of(
      host("n: size", "assert n >= 3\nfor i in seq(0, n):\n    for t in seq(0, 1000000):\n        pass"));
  CHECK(plan.choices.size() == 1);
  CHECK(plan_of(host("n: size", "for i in seq(0, n):\n    pass")).left_out == 0);

  // Nobody knows whether this branch can be reached.
  const SizePlan hard =
      plan_of(host("n: size, m: size, k: size",
                   "if n % 7919 == 3 and n % 7927 == 5 and m % 7933 == 11 and k % 7937 == 17 and "
                   "3 * n + 5 * m == 7 * k + 1:\n    pass"));
  CHECK(hard.left_out == 1);
}

TEST_CASE("whatever the chosen sizes of a kernel do not show is out of reach") {
  int goals = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(EXOCHECK_SOURCE_DIR) / "kernels")) {
    if (entry.path().extension() != ".exo") continue;
    INFO(entry.path().string());
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    const auto program = load_program(text.str());
    const auto& procedure = program.procedures.back();
    const SizePlan plan = amir::plan_sizes(procedure, {});
    REQUIRE_FALSE(plan.choices.empty());
    CHECK(plan.left_out == 0);

    const amir::WindowTable windows(procedure);
    const amir::SizeFeatures features(procedure);
    amir::SizeGoals questions(procedure, windows, features,
                              semantics::ir::Environment(procedure.symbols.size()));
    std::set<amir::SizeFeatures::Feature> shown;
    for (const auto& choice : plan.choices) {
      CHECK(choice.admissible);
      const auto profile = features.of(choice.environment);
      shown.insert(profile.features.begin(), profile.features.end());
    }
    for (const amir::SizeGoal& goal : questions.goals()) {
      ++goals;
      if (shown.contains(goal.feature)) continue;
      INFO(goal.meaning);
      CHECK(std::holds_alternative<smt::Proved>(
          smt::Solver().solve({goal.path.with("goal", goal.condition), std::nullopt})));
    }
  }
  CHECK(goals > 500);
}
