// Results for all sizes mean what the naive machine does at every size (all-sizes.md 7, 8): on random
// programs over a size T, what is proved runs without a violation for T = 0..24, what is refuted fails where
// it says, and at a fixed T the slices find the very violation of the naive machine, whether loops are cut
// short or not.
//
// EXOCHECK_SEED=n starts at seed n; EXOCHECK_PROGRAMS=n runs n programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <string>

#include "amir/machine.hpp"
#include "amir/naive_machine.hpp"
#include "amir/proof.hpp"
#include "amir/trace_graph.hpp"
#include "property/support/machine_runs.hpp"
#include "property/support/random_tasks.hpp"
#include "property/support/setting.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using exocheck::testing::setting;
using exocheck::testing::short_text;
using exocheck::testing::SizedProgram;
using Kind = ProofResult::Kind;

namespace {

constexpr std::int64_t largest = 24;

Sizes at(const SizedProgram& p, std::int64_t t) {
  Sizes env(p.program.symbol_count);
  env.set(p.size, t);
  return env;
}

struct Tally {
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t runs = 0;
};

// Found on paths that exist, not on approximate ones.
bool exact(const ProofResult& r) { return !r.failure || r.failure->approximate.empty(); }

void compare(const SizedProgram& p, std::uint64_t seed, analysis::Mode mode, Tally& tally) {
  const ModeRules rules = rules_of(mode);
  std::vector<Outcome> naive;
  for (std::int64_t t = 0; t <= largest; ++t) {
    naive.push_back(run_naive(p.program, at(p, t), rules, {.max_steps = 200'000, .max_seconds = 1}));
    if (!naive.back().limit) continue;
    naive.back() = run(p.program, at(p, t), rules, {});
    ++tally.counts["too long for the naive machine"];
  }
  tally.runs += naive.size();
  INFO("seed " << seed << " mode " << static_cast<int>(mode));

  const ProofResult all = prove(p.program, p.procedure, {}, rules);
  const bool any =
      std::any_of(naive.begin(), naive.end(), [](const Outcome& o) { return o.violation.has_value(); });
  const auto all_accepted = [&] {
    for (std::int64_t t = 0; t <= largest; ++t) {
      if (!naive[static_cast<std::size_t>(t)].violation) continue;
      INFO("T = " << t << ": " << short_text(p.program, naive[static_cast<std::size_t>(t)]));
      CHECK(false);
    }
  };
  ProofOptions roughly;
  roughly.approximate_all = true;
  roughly.max_seconds = 5;
  roughly.solver_seconds = 0.5;
  if (seed % 2 == 0 && prove(p.program, p.procedure, {}, rules, roughly).kind == Kind::proved) {
    ++tally.counts["proved with every loop approximated"];
    all_accepted();
  }
  if (all.kind == Kind::proved) {
    ++tally.counts["proved"];
    all_accepted();
  } else if (all.kind == Kind::refuted) {
    bool confirmed = false;
    for (const ParameterValues& sizes : all.candidates) {
      const std::int64_t t = sizes.front().second;
      if (run(p.program, at(p, t), rules, {}).violation) confirmed = true;
    }
    ++tally.counts[confirmed ? "refuted, confirmed" : "refuted, not confirmed"];
    // Only what tasks share is compared without its order, and only approximate paths may not exist.
    if (!all.failure->order.empty() && exact(all)) CHECK(confirmed);
    if (!exact(all)) ++tally.counts["refuted approximately"];
    if (!any && confirmed) ++tally.counts["refuted beyond the sizes run"];
  } else {
    ++tally.counts["open: " + all.reason];
  }
  if (any) ++tally.counts["violated for some T"];

  // At a fixed size.
  for (const std::int64_t t : {seed % 25, (seed / 25) % 25}) {
    const Outcome& outcome = naive[static_cast<std::size_t>(t)];
    const std::string expected = short_text(p.program, outcome);
    ProofOptions options;
    options.keep_failures = true;
    options.merge_slices = false;
    const ProofResult fast = prove(p.program, p.procedure, {{p.size, t}}, rules, options);
    options.fast_forward = false;
    const ProofResult slow = prove(p.program, p.procedure, {{p.size, t}}, rules, options);
    const ProofResult merged = prove(p.program, p.procedure, {{p.size, t}}, rules);
    INFO("T = " << t << " reason " << fast.reason << " / " << slow.reason);
    if (fast.kind == Kind::proved || slow.kind == Kind::proved || merged.kind == Kind::proved)
      CHECK(expected == "accepted");
    if (fast.kind != Kind::open && slow.kind != Kind::open && exact(fast) && exact(slow)) {
      CHECK(fast.kind == slow.kind);
      CHECK(fast.kind == merged.kind);
      CHECK(short_text(p.program, fast) == short_text(p.program, slow));
    }
    ++tally.counts[std::string("fixed ") + (fast.kind == Kind::open     ? "open"
                                            : fast.kind == Kind::proved ? "proved"
                                                                        : "refuted")];
    const bool global = testing::in_shared_memory(p.program, outcome);
    if (fast.kind == Kind::refuted && !testing::broken_in_a_slice(fast)) {
      // Accesses to what tasks share may meet, and need not.
      CHECK((global || expected == "accepted"));
    } else if (fast.kind == Kind::refuted && exact(fast)) {
      // Unless tasks meet in global memory first; which of several tasks fails first is not said.
      if (p.one_task && !global && testing::in_execution_order(fast)) {
        CHECK(short_text(p.program, fast) == expected);
        ++tally.counts["fixed: first violation compared"];
      } else {
        CHECK(expected != "accepted");
      }
    }
    if (fast.kind == Kind::proved && t == static_cast<std::int64_t>(seed % 25)) {
      CHECK(short_text(p.program, run_trace_graph(p.program, at(p, t), rules, {})) == "accepted");
    }
  }
}

}  // namespace

TEST_CASE("results for all sizes agree with the naive machine at every size") {
  const std::uint64_t begin = setting("EXOCHECK_SEED", 1), count = setting("EXOCHECK_PROGRAMS", 600);
  Tally tally;
  const analysis::Mode modes[]{analysis::Mode::standard, analysis::Mode::strict, analysis::Mode::paper_exact};
  for (std::uint64_t seed = begin; seed < begin + count; ++seed)
    compare(testing::random_tasks(seed), seed, modes[seed % 3], tally);
  std::cout << "seeds " << begin << " to " << begin + count - 1 << ", " << tally.runs
            << " runs of the naive machine\n";
  for (const auto& [what, times] : tally.counts) std::cout << "  " << what << ": " << times << "\n";
  if (count >= 600) {
    CHECK(tally.counts["proved"] >= count / 10);
    CHECK(tally.counts["proved with every loop approximated"] >= count / 20);
    CHECK(tally.counts["refuted, confirmed"] >= count / 10);
    CHECK(tally.counts["fixed: first violation compared"] >= count / 10);
  }
}
