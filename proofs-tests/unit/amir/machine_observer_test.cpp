// What an observer of the working machine sees (abstract-machine.md 5).
#include <algorithm>
#include <catch2/catch.hpp>

#include "amir/machine.hpp"
#include "property/support/machine_runs.hpp"
#include "property/support/random_amir.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using namespace exocheck::testing;
using testing::AccessMode;

namespace {

const ModeRules standard = rules_of(analysis::Mode::standard);

struct Log : Observer {
  std::optional<ElementFilter> wanted;
  std::vector<CheckEvent> checks;
  std::vector<RecordEvent> records;
  std::vector<SyncEvent> syncs;

  std::optional<ElementFilter> filter() const override { return wanted; }
  void on_check(const CheckEvent& e) override { checks.push_back(e); }
  void on_record(const RecordEvent& e) override { records.push_back(e); }
  void on_sync(const SyncEvent& e) override { syncs.push_back(e); }
};

Outcome observe(const Program& p, const ModeRules& rules, Log& log) {
  return run(p, Sizes(p.symbol_count), rules, {}, &log);
}

}  // namespace

TEST_CASE("history and near misses of a read that nothing orders") {
  AmirBuilder b(4);
  const VarId x = b.parameter("x", {8}), z = b.barrier("z"), y = b.barrier("y");
  b.alloc(z);
  b.alloc(y);
  b.scope(threads(0, 1, 4));
  b.access(at(x, {point(3)}), {.mode = AccessMode::read, .initial = Qual::wgS, .in_order = false});
  b.access(at(x, {point(5)}), {.mode = AccessMode::read});
  b.arrive(SyncTl::cuda_in_order, at(z));  // does not wait for wgmma reads
  b.arrive(SyncTl::wgmma_async, at(y));
  b.arrive(SyncTl::wgmma_async, at(y));
  b.scope(threads(1, 2, 4));
  b.arrive(SyncTl::wgmma_async, at(z));  // other threads
  b.await(at(z), SyncTl::cuda_in_order, -1);
  b.await(at(y), SyncTl::cuda_in_order, -2);  // covers nothing yet
  b.access(at(x, {range(0, 8)}), {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false});
  const Program p = b.finish();
  const Outcome plain = run(p, Sizes(0), standard, {});
  REQUIRE(plain.violation);
  CHECK(plain.violation->element == std::vector<std::int64_t>{3});

  Log log;
  log.wanted = ElementFilter{plain.violation->var, plain.violation->element};
  const Outcome observed = observe(p, standard, log);
  CHECK(verdict_text(p, observed) == verdict_text(p, plain));

  REQUIRE(log.records.size() == 1);  // the access to x[5] is skipped
  const RecordView& read = log.records[0].created[0];
  CHECK(read.original == Qual::wgS);
  CHECK_FALSE(read.mutate);
  CHECK(read.threads == ThreadSet::single(0));
  REQUIRE(read.visibility.size() == 1);
  CHECK(read.visibility[0].level(Qual::wgS) == Level::unordered);
  CHECK(read.visibility[0].level(Qual::ram) == Level::invisible);

  REQUIRE(log.syncs.size() == 6);
  const auto effect = [&](std::size_t i) { return log.syncs[i].effects.at(0); };
  CHECK(log.syncs[0].kind == SyncKind::arrive);
  CHECK_FALSE(effect(0).changed);
  CHECK(effect(0).known_on == QualSet{Qual::wgS});  // threads meet, but not on a timeline of cuda_in_order
  CHECK_FALSE(effect(0).first_set_met);
  CHECK(effect(1).changed);
  CHECK(effect(1).strength == Strength::strong);
  REQUIRE(effect(1).after.pending.size() == 1);
  CHECK(effect(1).after.pending[0].barrier == y);
  CHECK(effect(1).after.pending[0].strong == 0);
  CHECK_FALSE(effect(2).changed);  // the older arrival counts
  CHECK(log.syncs[2].arrival == 1);
  CHECK(effect(3).known_on.empty());
  CHECK(log.syncs[4].kind == SyncKind::await);
  CHECK(effect(4).pending == std::nullopt);
  CHECK(effect(5).pending == 0);
  CHECK(log.syncs[5].arrival == -1);
  CHECK(log.syncs[5].arrivals_before == 2);
  CHECK(log.syncs[5].awaits_after == 1);
  CHECK_FALSE(effect(5).changed);

  const auto& results = log.checks.back().results;
  REQUIRE(results.size() == 1);
  CHECK(log.checks.back().reads);
  CHECK_FALSE(results[0].ok);
  CHECK(results[0].record.id == read.id);
  CHECK(results[0].missing == 1);
  CHECK(results[0].demanded.level == Level::temporal);
}

TEST_CASE("a first timeline that is not transitive names the original timeline") {
  AmirBuilder b(2);
  const VarId x = b.parameter("x");
  b.scope(threads(0, 1, 2));
  b.access(at(x), {.mode = AccessMode::write, .initial = Qual::cp80, .in_order = false});
  b.fence(SyncTl::Sm80_generic, SyncTl::cuda_in_order);
  b.fence(false, {Qual::ram}, {Qual::ram}, {Qual::ram});
  Log log;
  log.wanted = ElementFilter{x, {}};
  observe(b.finish(), standard, log);
  REQUIRE(log.syncs.size() == 2);
  CHECK(log.syncs[0].effects[0].changed);
  CHECK(log.syncs[0].effects[0].after.visibility[0].level(Qual::ram) == Level::full);
  CHECK(log.syncs[1].effects[0].first_set_met);
  CHECK(log.syncs[1].effects[0].original_required);
  CHECK(log.syncs[1].effects[0].strength == Strength::none);
}

TEST_CASE("a family that is cut keeps its history in both parts") {
  AmirBuilder b(4);
  const VarId x = b.parameter("x");
  b.access(at(x), {.mode = AccessMode::read});
  b.scope(threads(1, 3, 4));
  b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
  b.scope(threads(0, 1, 4));
  b.access(at(x), {.mode = AccessMode::write});
  Log log;
  log.wanted = ElementFilter{x, {}};
  const Outcome outcome = observe(b.finish(), standard, log);
  REQUIRE(log.records.size() == 1);
  const RecordView& family = log.records[0].created[0];
  CHECK(family.per_thread);
  CHECK(family.threads == ThreadSet::range(0, 4));
  CHECK(family.self.level(Qual::ram) == Level::full);
  REQUIRE(log.syncs[0].effects.size() == 2);
  const RecordView &rest = log.syncs[0].effects[0].after, &part = log.syncs[0].effects[1].after;
  CHECK(rest.id == family.id);
  CHECK(rest.threads.ranges() == std::vector<ThreadRange>{{0, 1}, {3, 4}});
  CHECK(part.split_from == family.id);
  CHECK(part.threads == ThreadSet::range(1, 3));
  CHECK_FALSE(log.syncs[0].effects[0].changed);
  CHECK(log.syncs[0].effects[1].changed);
  REQUIRE(outcome.violation);
  CHECK(outcome.violation->missing == Thread{0, 0});
}

TEST_CASE("strict rule S1 shows what it withheld") {
  AmirBuilder b(2);
  const VarId x = b.parameter("x");
  b.scope(threads(0, 1, 2));
  b.access(at(x), {.mode = AccessMode::write});
  b.scope(threads(0, 2, 2));
  b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
  b.scope(threads(1, 2, 2));
  b.fence(SyncTl::cuda_in_order, SyncTl::tma_to_gmem_async);
  Log log;
  log.wanted = ElementFilter{x, {}};
  observe(b.finish(), rules_of(analysis::Mode::strict), log);
  REQUIRE(log.syncs.size() == 2);
  CHECK(log.syncs[0].effects[0].withheld.empty());
  CHECK(log.syncs[1].effects[0].withheld == QualSet{Qual::s2g});
}

TEST_CASE("an observed run ends like the plain one") {
  std::uint64_t violations = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Program p = random_program(seed);
    for (const auto mode : {analysis::Mode::paper_exact, analysis::Mode::standard, analysis::Mode::strict}) {
      const ModeRules rules = rules_of(mode);
      const Outcome plain = run(p, Sizes(p.symbol_count), rules, {});
      if (!plain.violation) continue;
      ++violations;
      INFO("seed " << seed);
      Log filtered;
      filtered.wanted = ElementFilter{plain.violation->var, plain.violation->element};
      const Outcome observed = observe(p, rules, filtered);
      REQUIRE(observed.violation);
      CHECK(observed.violation->code == plain.violation->code);
      CHECK(observed.violation->element == plain.violation->element);
      CHECK(observed.violation->at.node == plain.violation->at.node);
      CHECK(observed.violation->at.iterators == plain.violation->at.iterators);
      const std::string_view code = plain.violation->code;
      if (code == "E-Y30" || code == "E-Y31" || code == "E-Y32" || code == "E-Y12") {
        REQUIRE_FALSE(filtered.checks.empty());
        const auto& results = filtered.checks.back().results;
        CHECK(std::any_of(results.begin(), results.end(), [](const auto& r) { return !r.ok; }));
      }
      Log everything;
      CHECK(verdict_text(p, observe(p, rules, everything)) == verdict_text(p, plain));
    }
  }
  CHECK(violations > 500);
}
