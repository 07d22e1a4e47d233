// One program per hole of the paper-time machine (abstract-machine.md 7.3) and per rule of decisions.md N and
// O that distinguishes the modes, with its verdict in each of them.
#include <catch2/catch.hpp>

#include <limits>

#include "amir/machine.hpp"
#include "amir/trace_graph.hpp"
#include "property/support/machine_runs.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using amir::ModeRules;
using analysis::Mode;
using semantics::LoweredBarrier;

namespace {

struct Verdicts {
  std::string paper_exact, standard, strict;
  friend bool operator==(const Verdicts&, const Verdicts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Verdicts& v) {
    return out << "\n  paper-exact: " << v.paper_exact << "\n  default: " << v.standard
               << "\n  strict: " << v.strict;
  }
};

Verdicts verdicts(const Program& p) {
  return {verdict(p, Mode::paper_exact), verdict(p, Mode::standard), verdict(p, Mode::strict)};
}

Verdicts everywhere(const std::string& v) { return {v, v, v}; }
// Found by a repair: not in paper-exact.
Verdicts repaired(const std::string& v) { return {"accepted", v, v}; }
Verdicts strict_only(const std::string& v) { return {"accepted", "accepted", v}; }

constexpr std::int64_t cluster = 4;
ThreadMap thread(std::int64_t n) { return threads(n, n + 1, cluster); }
ThreadMap pair01() { return threads(0, 2, cluster); }

}  // namespace

TEST_CASE("H1: temporal order is not laundered into full order") {
  AmirBuilder b(cluster);
  const VarId a = b.parameter("A"), raw = b.barrier("raw"), x = b.barrier("x");
  b.alloc(raw);
  b.alloc(x);
  b.scope(thread(0));
  b.access(at(a),
           {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false, .trailing = {at(raw)}});
  b.arrive(SyncTl::cuda_temporal, at(raw));
  b.scope(thread(1));
  b.await(at(raw), SyncTl::cuda_temporal, -1);
  b.arrive(SyncTl::cuda_in_order, at(x));
  b.scope(thread(2));
  b.await(at(x), SyncTl::cuda_in_order, -1);
  b.access(at(a), {.mode = AccessMode::read});
  CHECK(verdicts(b.finish()) == repaired("E-Y30 A[] node 9 missing 0/2"));
  CHECK(history(b.finish(), amir::rules_of(Mode::standard), a, {}).back() ==
        "M<g2s; 0:U{g2s}, 1-2:T{strm,rmem,ram,cp80,g2s,s2g,wgA,wgD,wgS,wg0}; P(raw)=0; P(x)=-/0>");
}

TEST_CASE("H1: temporal order may be handed on by a third thread") {
  AmirBuilder b(cluster);
  const VarId a = b.parameter("A"), x = b.barrier("x"), y = b.barrier("y");
  b.alloc(x);
  b.alloc(y);
  b.scope(thread(0));
  b.access(at(a), {.mode = AccessMode::read});
  b.arrive(SyncTl::cuda_in_order, at(x));
  b.scope(thread(1));
  b.await(at(x), SyncTl::cuda_temporal, -1);
  b.arrive(SyncTl::cuda_in_order, at(y));
  b.scope(thread(2));
  b.await(at(y), SyncTl::cuda_temporal, -1);
  b.access(at(a), {.mode = AccessMode::write});
  CHECK(verdicts(b.finish()) == everywhere("accepted"));
}

TEST_CASE("H2: an out-of-order store does not satisfy an atomic") {
  AmirBuilder b(cluster);
  const VarId g = b.parameter("G");
  b.scope(thread(0));
  b.access(at(g), {.mode = AccessMode::write, .initial = Qual::s2g, .in_order = false});
  b.access(at(g),
           {.mode = AccessMode::atomic, .initial = Qual::s2g, .in_order = false, .atomic = {Qual::s2g}});
  CHECK(verdicts(b.finish()) == repaired("E-Y32 G[] node 3 missing 0/0"));
}

TEST_CASE("H3: atomics do not forget reads") {
  AmirBuilder b(cluster);
  const VarId g = b.parameter("G");
  const Access atomic{.mode = AccessMode::atomic, .atomic = {Qual::ram}};
  b.scope(thread(0));
  b.access(at(g), {.mode = AccessMode::read});
  b.scope(pair01());
  b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
  b.scope(thread(1));
  b.access(at(g), atomic);
  b.scope(thread(2));
  b.access(at(g), atomic);
  CHECK(verdicts(b.finish()) == repaired("E-Y31 G[] node 7 missing 0/2"));
}

TEST_CASE("atomics of one timeline tolerate each other, and only each other") {
  const auto build = [](AccessMode last) {
    AmirBuilder b(cluster);
    const VarId g = b.parameter("G");
    for (std::int64_t t = 0; t < 3; ++t) {
      b.scope(thread(t));
      const AccessMode mode = t == 2 ? last : AccessMode::atomic;
      b.access(at(g), {.mode = mode, .atomic = mode == AccessMode::atomic ? QualSet{Qual::ram} : QualSet{}});
    }
    return b.finish();
  };
  CHECK(verdicts(build(AccessMode::atomic)) == everywhere("accepted"));
  CHECK(verdicts(build(AccessMode::read)) == everywhere("E-Y30 G[] node 6 missing 0/2"));
  CHECK(verdicts(build(AccessMode::write)) == everywhere("E-Y32 G[] node 6 missing 0/2"));
}

TEST_CASE("H5: a plain write by many threads is many writes") {
  const auto build = [](std::optional<bool> convergent) {
    AmirBuilder b(cluster);
    const VarId s = b.parameter("s");
    b.scope(pair01());
    b.access(at(s), {.mode = AccessMode::write, .convergent = convergent});
    b.scope(thread(0));
    b.access(at(s), {.mode = AccessMode::write, .convergent = convergent});
    return b.finish();
  };
  CHECK(verdicts(build({})) == everywhere("E-Y32 s[] node 3 missing 0/0"));
  CHECK(verdicts(build(true)) == everywhere("accepted"));
}

TEST_CASE("H6: an Await whose arrival does not come before it") {
  const auto build = [](LoweredBarrier lowered, std::int64_t n, int arrivals, int awaits) {
    AmirBuilder b(cluster);
    const VarId z = b.barrier("z", {}, lowered);
    b.alloc(z);
    for (int i = 0; i < arrivals; ++i) b.arrive(SyncTl::cuda_in_order, at(z));
    for (int i = 0; i < awaits; ++i) b.await(at(z), SyncTl::cuda_in_order, n);
    return b.finish();
  };
  const auto m = LoweredBarrier::mbarrier;
  CHECK(verdicts(build(m, -1, 0, 1)) == repaired("E-Y04 z[] node 1"));
  CHECK(verdicts(build(m, -1, 1, 1)) == everywhere("accepted"));
  CHECK(verdicts(build(m, -1, 1, 2)) == repaired("E-Y04 z[] node 3"));
  // A lag lets the first Awaits pass.
  CHECK(verdicts(build(m, -3, 0, 2)) == everywhere("accepted"));
  CHECK(verdicts(build(m, -3, 0, 3)) == repaired("E-Y04 z[] node 3"));
  // A commit group may be waited for at any time, a cluster sync needs its Arrive.
  CHECK(verdicts(build(LoweredBarrier::wgmma_commit_group, 0, 0, 2)) == everywhere("accepted"));
  CHECK(verdicts(build(LoweredBarrier::cluster_sync, 0, 0, 1)) == repaired("E-Y04 z[] node 1"));
  CHECK(verdicts(build(LoweredBarrier::cluster_sync, 0, 1, 2)) == repaired("E-Y04 z[] node 3"));

  const Program p = build(m, -1, 1, 2);
  const auto outcome = amir::run_naive(p, amir::Sizes(0), amir::rules_of(Mode::standard), {});
  CHECK(outcome.violation->count_a == 1);  // waits for arrival 1
  CHECK(outcome.violation->count_b == 1);  // of one
}

TEST_CASE("H6: a multicast arrival that some partner lacks") {
  const auto build = [](int homes) {
    AmirBuilder b(cluster);
    const VarId z = b.barrier("z", {2});
    b.alloc(z);
    for (std::int64_t h = 0; h < homes; ++h) {
      b.scope(thread(h));
      b.arrive(SyncTl::cuda_in_order, at(z, {point(h)}), {at(z, {range(0, 2)})});
    }
    b.scope(thread(0));
    b.await(at(z, {point(0)}), SyncTl::cuda_in_order, -1);
    return b.finish();
  };
  CHECK(verdicts(build(1)) == repaired("E-Y06 z[0] node 2"));
  CHECK(verdicts(build(2)) == everywhere("accepted"));
  const auto outcome = amir::run_naive(build(1), amir::Sizes(0), amir::rules_of(Mode::standard), {});
  CHECK(outcome.violation->count_a == 1);
  CHECK(outcome.violation->count_b == 2);
}

TEST_CASE("H9: setting scale-d to zero does not make older accesses of D harmless") {
  AmirBuilder b(cluster);
  const VarId d = b.registers("D");
  b.alloc(d);
  b.access(at(d), {.mode = AccessMode::write, .initial = Qual::rmem});
  b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
  b.access(at(d), {.mode = AccessMode::write, .initial = Qual::wg0, .extended = {Qual::wgD}});
  b.access(at(d), {.mode = AccessMode::read_write, .initial = Qual::wgD, .extended = {Qual::wg0}});
  CHECK(verdicts(b.finish()) == repaired("E-Y32 D[] node 8"));
  ModeRules without = amir::rules_of(Mode::standard);
  without.zero_keeps = false;
  CHECK(verdict(b.finish(), without) == "accepted");
}

TEST_CASE("N25: a re-allocated barrier does not publish arrivals of its earlier life") {
  const auto build = [](bool free) {
    AmirBuilder b(cluster);
    const VarId x = b.parameter("x"), z = b.barrier("z");
    const auto hand_over = [&](std::int64_t from, std::int64_t to) {
      b.scope(thread(from));
      b.arrive(SyncTl::cuda_in_order, at(z));
      b.scope(thread(to));
      b.await(at(z), SyncTl::cuda_in_order, -1);
    };
    b.alloc(z);
    b.scope(thread(0));
    b.access(at(x), {.mode = AccessMode::write});
    hand_over(0, 1);
    if (free) b.free(z);
    b.alloc(z);
    hand_over(2, 3);
    b.access(at(x), {.mode = AccessMode::read});
    return b.finish();
  };
  CHECK(verdicts(build(true)) == everywhere("E-Y30 x[] node 10 missing 0/3"));
  CHECK(verdicts(build(false)) == everywhere("E-Y30 x[] node 9 missing 0/3"));
}

TEST_CASE("S1: a proxy fence publishes what its own threads wrote") {
  const auto build = [](SyncTl all, bool consumer_fence) {
    AmirBuilder b(cluster);
    const VarId st = b.parameter("st", {cluster});
    for (std::int64_t t = 0; t < cluster; ++t) {
      b.scope(thread(t));
      b.access(at(st, {point(t)}), {.mode = AccessMode::write});
    }
    b.scope(threads(0, cluster, cluster));
    b.fence(SyncTl::cuda_in_order, all);
    b.scope(thread(0));
    if (consumer_fence) b.fence(SyncTl::cuda_in_order, SyncTl::tma_to_gmem_async);
    b.access(at(st, {range(0, cluster)}),
             {.mode = AccessMode::read, .initial = Qual::s2g, .in_order = false});
    return b.finish();
  };
  // Thread 0 may publish its own element, not those of the others, although it has acquired them.
  CHECK(verdicts(build(SyncTl::cuda_in_order, true)) == strict_only("E-Y30 st[1] node 14 missing 0/0"));
  CHECK(verdicts(build(SyncTl::tma_to_gmem_async, false)) == everywhere("accepted"));
  CHECK(verdicts(build(SyncTl::cuda_generic_and_async_proxy, true)) == everywhere("accepted"));
}

TEST_CASE("S1: arrivals by the writer and by others") {
  // Both threads know the write. `first` and `second` arrive in this order; thread 2 waits for all but the
  // newest `n`.
  const auto build = [](std::int64_t first, std::int64_t second, std::int64_t n) {
    AmirBuilder b(cluster);
    const VarId st = b.parameter("st"), z = b.barrier("z");
    b.alloc(z);
    b.scope(thread(0));
    b.access(at(st), {.mode = AccessMode::write});
    b.scope(pair01());
    b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    for (const std::int64_t t : {first, second}) {
      b.scope(thread(t));
      b.arrive(SyncTl::cuda_in_order, at(z));
    }
    b.scope(thread(2));
    b.await(at(z), SyncTl::tma_to_gmem_async, n);
    b.access(at(st), {.mode = AccessMode::read, .initial = Qual::s2g, .in_order = false});
    return b.finish();
  };
  const std::string raw = "E-Y30 st[] node 8 missing 0/2";
  CHECK(verdicts(build(1, 1, 0)) == strict_only(raw));
  CHECK(verdicts(build(1, 0, 0)) == everywhere("accepted"));
  CHECK(verdicts(build(0, 1, 1)) == everywhere("accepted"));
  CHECK(verdicts(build(1, 0, 1)) == strict_only(raw));  // covers the arrival of thread 1 only
}

TEST_CASE("S1: every writer hands over its own write of the same element") {
  const auto build = [](std::int64_t first, std::int64_t second) {
    AmirBuilder b(cluster);
    const VarId st = b.parameter("st");
    b.scope(pair01());
    b.access(at(st), {.mode = AccessMode::read});
    b.scope(threads(0, cluster, cluster));
    b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    for (const std::int64_t writer : {first, second}) {
      // Threads `writer` and `writer` + 2.
      b.scope({false, {{2, 0, {}, 2}, {2, writer, {}, 1}}});
      b.fence(SyncTl::cuda_in_order, SyncTl::tma_to_smem_async);
    }
    b.scope(thread(2));
    b.access(at(st), {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false});
    b.scope(thread(3));
    b.access(at(st), {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false});
    return b.finish();
  };
  // Thread 2 takes part in the hand-over of thread 0 only, whichever comes first.
  CHECK(verdicts(build(0, 1)).strict == "E-Y31 st[] node 6 missing 0/2");
  CHECK(verdicts(build(1, 0)).strict == "E-Y31 st[] node 6 missing 0/2");

  AmirBuilder b(cluster);
  const VarId st = b.parameter("st");
  b.scope(pair01());
  b.access(at(st), {.mode = AccessMode::read});
  b.scope(threads(0, cluster, cluster));
  b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
  b.scope({false, {{2, 0, {}, 2}, {2, 0, {}, 1}}});  // threads 0 and 2
  b.fence(SyncTl::cuda_in_order, SyncTl::tma_to_smem_async);
  b.scope(threads(1, 3, cluster));  // threads 1 and 2
  b.fence(SyncTl::cuda_in_order, SyncTl::tma_to_smem_async);
  b.scope(thread(2));
  b.access(at(st), {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false});
  CHECK(verdicts(b.finish()) == everywhere("accepted"));
}

TEST_CASE("S2: a generic access before an asynchronous write needs a proxy fence") {
  const auto build = [](AccessMode before, SyncTl second, AccessMode after) {
    AmirBuilder b(cluster);
    const VarId st = b.parameter("st");
    b.scope(thread(0));
    b.access(at(st), {.mode = before});
    b.fence(SyncTl::cuda_in_order, second);
    b.access(at(st), {.mode = after, .initial = Qual::g2s, .in_order = false});
    return b.finish();
  };
  const auto temporal = SyncTl::cuda_temporal, full = SyncTl::cuda_generic_and_async_proxy;
  CHECK(verdicts(build(AccessMode::read, temporal, AccessMode::write)) ==
        strict_only("E-Y31 st[] node 4 missing 0/0"));
  CHECK(verdicts(build(AccessMode::write, temporal, AccessMode::write)) ==
        strict_only("E-Y32 st[] node 4 missing 0/0"));
  CHECK(verdicts(build(AccessMode::read, full, AccessMode::write)) == everywhere("accepted"));
  CHECK(verdicts(build(AccessMode::write, full, AccessMode::write)) == everywhere("accepted"));
  // The rule can be switched on by itself, which is how a finding is attributed to it.
  ModeRules rules = amir::rules_of(Mode::standard);
  rules.generic_before_async = true;
  CHECK(verdict(build(AccessMode::read, temporal, AccessMode::write), rules) ==
        "E-Y31 st[] node 4 missing 0/0");
}

TEST_CASE("E-Y21: elements nobody wrote") {
  const auto build = [](bool registers, std::int64_t written) {
    AmirBuilder b(cluster);
    const VarId v = registers ? b.registers("v", {4, 4}) : b.shared("v", {4, 4});
    const VarId p = b.parameter("p", {4});
    b.alloc(v);
    b.init_read(at(p, {range(0, 4)}));
    b.init_write(at(v, {range(0, 4), range(0, written)}));
    b.init_read(at(v, {range(1, 3), range(0, 4)}));
    b.init_read(at(v, {range(0, 4), range(0, 4)}));
    b.alloc(v);
    b.init_read(at(v, {point(0), point(0)}));
    return b.finish();
  };
  CHECK(verdicts(build(true, 3)) == repaired("E-Y21 v[1,3] node 3"));
  CHECK(verdicts(build(true, 4)) == repaired("E-Y21 v[0,0] node 6"));
  CHECK(verdicts(build(false, 3)) == repaired("accepted; W-Y21 v[1,3]"));
}

TEST_CASE("E-Y20: indices outside an allocation") {
  const auto build = [](Window row, Window column, bool clip) {
    AmirBuilder b(cluster);
    const VarId x = b.parameter("x", {4, 8});
    Target t = at(x, {std::move(row), std::move(column)});
    t.clip = clip;
    b.access(t, {.mode = AccessMode::write, .initial = Qual::g2s});
    return b.finish();
  };
  CHECK(verdicts(build(range(0, 4), range(0, 8), false)) == everywhere("accepted"));
  CHECK(verdicts(build(range(2, 6), range(4, 8), false)) == everywhere("E-Y20 x[4,4] node 0"));
  CHECK(verdicts(build(range(2, 6), range(4, 10), false)) == everywhere("E-Y20 x[2,8] node 0"));
  CHECK(verdicts(build(range(-1, 4), range(4, 10), false)) == everywhere("E-Y20 x[-1,4] node 0"));
  CHECK(verdicts(build(range(-1, 9), range(4, 10), true)) == everywhere("accepted"));
  CHECK(verdicts(build(point(7), range(3, 3), false)) == everywhere("accepted"));  // no element at all

  AmirBuilder b(cluster);
  const VarId z = b.barrier("z", {2, 2});
  b.alloc(z);
  b.arrive(SyncTl::cuda_in_order, at(z, {point(1), point(1)}), {at(z, {point(1), range(0, 3)})});
  CHECK(verdicts(b.finish()) == everywhere("E-Y20 z[1,2] node 1"));
}

TEST_CASE("E-Y14: arrivals and awaits do not match at the free") {
  AmirBuilder b(cluster);
  const VarId z = b.barrier("z", {3});
  b.alloc(z);
  b.arrive(SyncTl::cuda_in_order, at(z, {point(1)}));
  b.free_checked(z);
  CHECK(verdicts(b.finish()) == everywhere("E-Y14 z[1] node 2"));
  const auto outcome = amir::run_naive(b.finish(), amir::Sizes(0), amir::rules_of(Mode::standard), {});
  CHECK(outcome.violation->count_a == 1);
  CHECK(outcome.violation->count_b == 0);
}

TEST_CASE("CPU scope: host accesses are known to every thread, kernels are separated") {
  const QualSet device = sync_timeline(semantics::Dialect::P, SyncTl::cuda_stream_sync).full;
  const auto build = [&](bool entry, bool exit, AccessMode mode) {
    AmirBuilder b(cluster);
    const VarId c = b.parameter("C");
    b.scope(everyone());
    b.access(at(c), {.mode = AccessMode::write, .initial = Qual::strm});
    if (entry) b.fence(true, device | QualSet{Qual::cpu}, device, device);
    const SymId task = b.symbol();
    b.loop(task, num(0), num(3), [&] {
      b.scope(thread(1));
      b.access(at(c), {.mode = mode, .atomic = mode == AccessMode::atomic ? QualSet{Qual::ram} : QualSet{}});
      b.inc_task();
    });
    b.scope(everyone());
    if (exit) b.fence(true, device, device, device);
    b.access(at(c), {.mode = AccessMode::read, .initial = Qual::strm});
    return b.finish();
  };
  CHECK(verdicts(build(true, true, AccessMode::atomic)) == everywhere("accepted"));
  CHECK(verdicts(build(false, true, AccessMode::atomic)) == everywhere("E-Y32 C[] node 4 missing 0/1"));
  CHECK(verdicts(build(true, false, AccessMode::atomic)) == everywhere("E-Y30 C[] node 9"));
  // Tasks are never ordered with each other: the second one fails.
  CHECK(verdicts(build(true, true, AccessMode::write)) == everywhere("E-Y32 C[] node 5 missing 1/1"));
  CHECK(verdicts(build(true, true, AccessMode::read)) == everywhere("accepted"));
}

TEST_CASE("limits and overflow end a run without a verdict") {
  const auto run_all = [](const Program& p, const amir::Limits& limits) {
    const amir::Sizes sizes(p.symbol_count);
    const ModeRules rules = amir::rules_of(Mode::standard);
    const std::string naive = verdict_text(p, amir::run_naive(p, sizes, rules, limits));
    CHECK(verdict_text(p, amir::run(p, sizes, rules, limits)) == naive);
    CHECK(verdict_text(p, amir::run_trace_graph(p, sizes, rules, limits)) == naive);
    return naive;
  };
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  AmirBuilder overflow(cluster);
  const VarId x = overflow.parameter("x", {4});
  const SymId i = overflow.symbol();
  overflow.loop(i, num(2), num(3), [&] {
    const ExprPtr far = semantics::ir::binary(semantics::ir::BinaryOp::mul, num(huge), ref(i));
    overflow.access(at(x, {point(far)}), {.mode = AccessMode::write});
  });
  CHECK(run_all(overflow.finish(), {}).starts_with("accepted; limit limit.overflow "));

  AmirBuilder endless(cluster);
  const SymId k = endless.symbol();
  endless.loop(k, num(0), num(huge), [&] { endless.branch(num(0), [] {}); });
  amir::Limits few;
  few.max_steps = 1000;
  CHECK(run_all(endless.finish(), few) == "accepted; limit limit.steps The run needs more than 1000 steps.");
}
