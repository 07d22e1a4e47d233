// The naive machine's own conventions: its dump, order of records, and what does not change a verdict.
#include <catch2/catch.hpp>

#include "property/support/machine_runs.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using testing::AccessMode;

namespace {
const amir::ModeRules standard = amir::rules_of(analysis::Mode::standard);
const amir::ModeRules paper = amir::rules_of(analysis::Mode::paper_exact);
}  // namespace

TEST_CASE("dump: levels, thread ranges, tasks, everyone, atomics, pending arrivals") {
  AmirBuilder b(4);
  const VarId x = b.parameter("x"), z = b.barrier("z", {2});
  b.alloc(z);
  b.scope(everyone());
  b.record(at(x), {.mode = AccessMode::write, .initial = Qual::strm});
  const SymId task = b.symbol();
  b.loop(task, num(0), num(2), [&] {
    b.scope({false, {{2, 0, {}, 2}, {2, 1, {}, 1}}});  // threads 1 and 3
    b.record(at(x), {.mode = AccessMode::read, .initial = Qual::rmem});
    b.inc_task();
  });
  b.scope(threads(0, 2, 4));
  b.record(at(x), {.mode = AccessMode::atomic,
                   .initial = Qual::s2g,
                   .in_order = false,
                   .convergent = true,
                   .atomic = {Qual::s2g},
                   .trailing = {at(z, {range(0, 2)})}});
  CHECK(history(b.finish(), standard, x, {}) ==
        std::vector<std::string>{
            "M<strm; *:F{strm}>",
            "M<strm; *:F{strm}> R<rmem; 1:F{rmem}, 3:F{rmem}>",
            "M<strm; *:F{strm}> R<rmem; 1:F{rmem}, 3:F{rmem}> R<rmem; 1/1:F{rmem}, 1/3:F{rmem}>",
            "M<strm; *:F{strm}> M<s2g; *:A{s2g}, 2/0-1:U{s2g}; P(z[0])=0; P(z[1])=0> "
            "R<rmem; 1:F{rmem}, 3:F{rmem}> R<rmem; 1/1:F{rmem}, 1/3:F{rmem}>",
        });
  CHECK(history(b.finish(), standard, VarId{1}, {0}).empty());
}

TEST_CASE("new records: one per thread, one for a convergent access, one for a TMA load") {
  const auto dump = [](Access how) {
    AmirBuilder b(2);
    const VarId x = b.parameter("x");
    b.record(at(x), how);
    return history(b.finish(), standard, x, {}).back();
  };
  CHECK(dump({.mode = AccessMode::write}) == "M<ram; 0:F{ram}> M<ram; 1:F{ram}>");
  CHECK(dump({.mode = AccessMode::write, .convergent = true}) == "M<ram; 0-1:F{ram}>");
  CHECK(dump({.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false}) == "M<g2s; 0-1:U{g2s}>");
  CHECK(dump({.mode = AccessMode::read, .initial = Qual::s2g, .in_order = false}) ==
        "R<s2g; 0:U{s2g}> R<s2g; 1:U{s2g}>");
}

TEST_CASE("an ordinary mutate replaces all records, an atomic one none") {
  const auto build = [](AccessMode last) {
    AmirBuilder b(1);
    const VarId x = b.parameter("x");
    b.record(at(x), {.mode = AccessMode::write});
    b.record(at(x), {.mode = AccessMode::read});
    b.record(at(x), {.mode = last,
                     .initial = Qual::cp80,
                     .atomic = last == AccessMode::atomic ? QualSet{Qual::cp80} : QualSet{}});
    return b.finish();
  };
  CHECK(history(build(AccessMode::write), standard, VarId{0}, {}).back() == "M<cp80; 0:F{cp80}>");
  CHECK(history(build(AccessMode::atomic), standard, VarId{0}, {}).back() ==
        "M<ram; 0:F{ram}> M<cp80; *:A{cp80}, 0:F{cp80}> R<ram; 0:F{ram}>");
  CHECK(history(build(AccessMode::atomic), paper, VarId{0}, {}).back() ==
        "M<ram; 0:F{ram}> M<cp80; *:A{cp80}, 0:F{cp80}>");
}

TEST_CASE("reports name the level held and the smallest thread without it") {
  AmirBuilder b(4);
  const VarId x = b.parameter("x", {2, 2});
  b.access(at(x, {range(0, 2), range(0, 2)}),
           {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false});
  b.fence(false, {Qual::g2s}, {}, {Qual::ram});
  b.scope(threads(2, 4, 4));
  b.access(at(x, {point(1), range(0, 2)}), {.mode = AccessMode::read});
  const Program p = b.finish();
  const amir::Outcome o = amir::run_naive(p, amir::Sizes(0), standard, {});
  REQUIRE(o.violation);
  CHECK(o.violation->code == "E-Y30");
  CHECK(o.violation->element == std::vector<std::int64_t>{1, 0});
  CHECK(o.violation->missing == amir::Thread{0, 2});
  CHECK(o.violation->required == Level::full);
  CHECK(o.violation->held == Level::temporal);
  CHECK(o.violation->quals == QualSet{Qual::ram});
}

TEST_CASE("the deterministic run: the same outcome twice") {
  AmirBuilder b(2);
  const VarId x = b.parameter("x", {3});
  b.access(at(x, {range(0, 3)}), {.mode = AccessMode::write});
  CHECK(verdict(b.finish(), standard) == verdict(b.finish(), standard));
  const amir::Outcome o = amir::run_naive(b.finish(), amir::Sizes(0), standard, {});
  CHECK(o.records_peak == 6);  // two threads, three elements
  CHECK(o.nodes_executed == 3);
  CHECK_FALSE(o.executed_task);
}
