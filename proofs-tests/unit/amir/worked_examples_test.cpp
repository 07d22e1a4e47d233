// The worked examples of abstract-machine.md 6: record contents step by step, and verdicts of all three
// machines.
#include <catch2/catch.hpp>

#include "property/support/machine_runs.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using amir::ModeRules;
using amir::rules_of;
using analysis::Mode;
using History = std::vector<std::string>;
using semantics::LoweredBarrier;

namespace {

const ModeRules standard = rules_of(Mode::standard);
// What a cuda_in_order second timeline gives: everything that is not full is temporal.
const std::string in_order = "F{rmem,ram} T{strm,cp80,g2s,s2g,wgA,wgD,wgS,wg0}";

std::string in_every_mode(const Program& p) {
  const std::string a = verdict(p, Mode::paper_exact), b = verdict(p, Mode::standard),
                    c = verdict(p, Mode::strict);
  return a == b && b == c ? a : "paper-exact: " + a + "\ndefault: " + b + "\nstrict: " + c;
}

}  // namespace

TEST_CASE("6.1: two threads exchange values through shared memory") {
  const auto build = [](bool fence) {
    AmirBuilder b(2);
    const VarId smem = b.shared("smem", {2});
    b.alloc(smem);
    for (std::int64_t t = 0; t < 2; ++t) {
      b.scope(threads(t, t + 1, 2));
      b.access(at(smem, {point(t)}), {.mode = AccessMode::write});
    }
    b.scope(threads(0, 2, 2));
    if (fence) b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    for (std::int64_t t = 0; t < 2; ++t) {
      b.scope(threads(t, t + 1, 2));
      b.access(at(smem, {point(1 - t)}), {.mode = AccessMode::read});
    }
    return b.finish();
  };
  const VarId smem{0};
  CHECK(in_every_mode(build(false)) == "E-Y30 smem[1] node 7 missing 0/0");
  CHECK(history(build(false), standard, smem, {1}) == History{"M<ram; 1:F{ram}>"});
  CHECK(in_every_mode(build(true)) == "accepted");
  CHECK(history(build(true), standard, smem, {0}) ==
        History{"M<ram; 0:F{ram}>", "M<ram; 0-1:" + in_order + ">",
                "M<ram; 0-1:" + in_order + "> R<ram; 1:F{ram}>"});
  CHECK(history(build(true), standard, smem, {1}) ==
        History{"M<ram; 1:F{ram}>", "M<ram; 0-1:" + in_order + ">",
                "M<ram; 0-1:" + in_order + "> R<ram; 0:F{ram}>"});
}

TEST_CASE("6.2: a wgmma result is read before it is waited for") {
  const auto build = [](bool wait) {
    AmirBuilder b(4);
    const VarId d = b.registers("D"), tile = b.shared("B"),
                cg = b.barrier("cg", {}, LoweredBarrier::wgmma_commit_group);
    for (const VarId v : {d, tile, cg}) b.alloc(v);
    b.fence(SyncTl::wgmma_fence_1, SyncTl::wgmma_fence_2);
    b.access(at(d), {.mode = AccessMode::write, .initial = Qual::wg0, .extended = {Qual::wgD}});
    b.access(at(tile), {.mode = AccessMode::read, .initial = Qual::wgS, .in_order = false});
    b.access(at(d), {.mode = AccessMode::read_write, .initial = Qual::wgD, .extended = {Qual::wg0}});
    if (wait) {
      b.arrive(SyncTl::wgmma_async, at(cg));
      b.await(at(cg), SyncTl::cuda_in_order, 0);
    }
    b.access(at(d), {.mode = AccessMode::read, .initial = Qual::rmem});
    return b.finish();
  };
  const VarId d{0}, tile{1};
  // Convergent: no thread of the warpgroup has it, so that no single one is missing.
  CHECK(in_every_mode(build(false)) == "E-Y30 D[] node 12");
  CHECK(history(build(false), standard, d, {}) == History{"M<wg0; 0-3:F{wg0}>", "M<wgD; 0-3:F{wgD}>"});
  CHECK(history(build(false), standard, tile, {}) ==
        History{"R<wgS; 0:U{wgS}> R<wgS; 1:U{wgS}> R<wgS; 2:U{wgS}> R<wgS; 3:U{wgS}>"});
  CHECK(in_every_mode(build(true)) == "accepted");
  const std::string known = "F{rmem,ram,wgD} T{strm,cp80,g2s,s2g,wgA,wgS,wg0}";
  CHECK(history(build(true), standard, d, {}) ==
        History{"M<wg0; 0-3:F{wg0}>", "M<wgD; 0-3:F{wgD}>", "M<wgD; 0-3:F{wgD}; P(cg)=0>",
                "M<wgD; 0-3:" + known + "; P(cg)=0>",
                "M<wgD; 0-3:" + known + "; P(cg)=0> R<rmem; 0-3:F{rmem}>"});
  CHECK(history(build(true), standard, tile, {}).back().starts_with("R<wgS; 0-3:" + in_order + "; P(cg)=0>"));
}

TEST_CASE("6.3: a cluster sync does not publish a wgmma that was waited for too late") {
  // One thread per CTA stands for all of them.
  const auto build = [](bool wait_first) {
    AmirBuilder b(2);
    const VarId tile = b.shared("B", {2}), d = b.registers("D", {2}), raw = b.barrier("raw", {2});
    const VarId cg = b.barrier("cg", {2}, LoweredBarrier::wgmma_commit_group);
    const VarId cs = b.barrier("cs", {}, LoweredBarrier::cluster_sync);
    for (const VarId v : {tile, d, raw, cg, cs}) b.alloc(v);
    const auto per_cta = [&b](auto body) {
      for (std::int64_t c = 0; c < 2; ++c) {
        b.scope(threads(c, c + 1, 2));
        body(point(c));
      }
      b.scope(threads(0, 2, 2));
    };
    const auto wait = [&] { per_cta([&](Window c) { b.await(at(cg, {c}), SyncTl::cuda_in_order, 0); }); };
    per_cta([&](Window c) { b.access(at(tile, {c}), {.mode = AccessMode::read}); });
    per_cta([&](Window c) {
      b.access(at(tile, {c}), {.mode = AccessMode::read, .initial = Qual::wgS, .in_order = false});
      b.access(at(d, {c}), {.mode = AccessMode::read_write, .initial = Qual::wgD, .extended = {Qual::wg0}});
      b.arrive(SyncTl::wgmma_async, at(cg, {c}));
    });
    if (wait_first) wait();
    b.arrive(SyncTl::cuda_in_order, at(cs));
    if (!wait_first) wait();
    per_cta([&](Window c) { b.access(at(d, {c}), {.mode = AccessMode::read, .initial = Qual::rmem}); });
    b.await(at(cs), SyncTl::cuda_in_order, 0);
    b.access(at(tile, {range(0, 2)}), {.mode = AccessMode::write,
                                       .initial = Qual::g2s,
                                       .in_order = false,
                                       .trailing = {at(raw, {range(0, 2)})}});
    return b.finish();
  };
  const VarId tile{0};
  const std::string r1 = "R<ram; 1:F{ram}>", r2 = "R<wgS; 1:U{wgS}>", cg = "; P(cg[1])=0", cs = "; P(cs)=0";
  const std::string r1_all = "R<ram; 0-1:" + in_order + cs + ">";
  CHECK(history(build(false), standard, tile, {1}) ==
        History{
            r1, r1 + " " + r2, r1 + " R<wgS; 1:U{wgS}" + cg + ">",
            "R<ram; 1:F{ram}" + cs + "> R<wgS; 1:U{wgS}" + cg + ">",       // cs does not witness the wgmma
            "R<ram; 1:F{ram}" + cs + "> R<wgS; 1:" + in_order + cg + ">",  // cg awaited
            r1_all + " R<wgS; 1:" + in_order + cg + ">",                   // cs awaited: r2 unchanged
        });
  const Program late = build(false);
  CHECK(verdict(late, Mode::standard).starts_with("E-Y31 B[0] node "));
  CHECK(verdict(late, Mode::standard).ends_with(" missing 0/1"));
  CHECK(verdict(late, Mode::paper_exact) == verdict(late, Mode::standard));

  CHECK(verdict(build(true), Mode::standard) == "accepted");
  CHECK(verdict(build(true), Mode::paper_exact) == "accepted");
  CHECK(history(build(true), standard, tile, {1}).back() == "M<g2s; 0-1:U{g2s}; P(raw[0])=0; P(raw[1])=0>");
  // The in-order reads need a proxy fence before the TMA write.
  CHECK(verdict(build(true), Mode::strict).starts_with("E-Y31 B[0] node "));
}

namespace {

// Examples 6.4 and 6.5: thread 0 is the producer, thread 1 the consumer. `lag` of the consumer's commit
// group: its Await(cg, .., lag) starts at iteration `lag`.
Program ring_pipeline(std::int64_t iterations, std::int64_t lag) {
  AmirBuilder b(2);
  const VarId a = b.shared("A", {2}), d = b.registers("D");
  const VarId raw = b.barrier("raw"), war = b.barrier("war");
  const VarId cg = b.barrier("cg", {}, LoweredBarrier::wgmma_commit_group);
  for (const VarId v : {a, d, raw, war, cg}) b.alloc(v);
  b.scope(threads(1, 2, 2));
  b.access(at(d), {.mode = AccessMode::write, .initial = Qual::wg0, .extended = {Qual::wgD}});
  const SymId k = b.symbol();
  const auto slot = point(semantics::ir::binary(semantics::ir::BinaryOp::mod, ref(k), num(2)));
  b.loop(k, num(0), num(iterations), [&] {
    b.scope(threads(0, 1, 2));
    b.await(at(war), SyncTl::cuda_temporal, -2);
    b.access(at(a, {slot}),
             {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false, .trailing = {at(raw)}});
    b.arrive(SyncTl::cuda_temporal, at(raw));
    b.scope(threads(1, 2, 2));
    b.await(at(raw), SyncTl::cuda_generic_and_async_proxy, -1);
    b.fence(SyncTl::wgmma_fence_1, SyncTl::wgmma_fence_2);
    b.access(at(a, {slot}), {.mode = AccessMode::read, .initial = Qual::wgS, .in_order = false});
    b.access(at(d), {.mode = AccessMode::read_write, .initial = Qual::wgD, .extended = {Qual::wg0}});
    b.arrive(SyncTl::wgmma_async, at(cg));
    b.branch(semantics::ir::binary(semantics::ir::BinaryOp::le, num(lag), ref(k),
                                   semantics::ir::TypeKind::boolean),
             [&] { b.await(at(cg), SyncTl::cuda_in_order, lag); });
    b.arrive(SyncTl::cuda_in_order, at(war));
  });
  b.await(at(cg), SyncTl::cuda_in_order, 0);
  b.check_barrier(cg);
  return b.finish();
}

}  // namespace

TEST_CASE("6.4: ring buffer from TMA over mbarriers to wgmma") {
  const std::string generic = "1:F{rmem,ram,cp80,g2s,s2g,wgS} T{strm,wgA,wgD,wg0}";
  const std::string temporal = "0:T{strm,rmem,ram,cp80,g2s,s2g,wgA,wgD,wgS,wg0}";
  const auto mutate = [](const std::string& visibility, const std::string& pending) {
    return "M<g2s; " + visibility + pending + ">";
  };
  const auto read = [](const std::string& visibility, const std::string& pending) {
    return "R<wgS; " + visibility + pending + ">";
  };
  // The purely temporal barrier `war` hands the copy on weakly only where its Arrive is strong: the consumer
  // knows it fully.
  const std::string m = mutate("0:U{g2s}, " + generic, "; P(raw)=0; P(war)=0");
  const std::string m_back = mutate(temporal + ", " + generic, "; P(raw)=0; P(war)=0");
  const std::string r_late = "1:" + in_order;
  const History expected{
      mutate("0:U{g2s}", "; P(raw)=0"),                                           // k=0 TMA
      mutate("0:U{g2s}, " + generic, "; P(raw)=0"),                               // k=0 Await raw
      mutate("0:U{g2s}, " + generic, "; P(raw)=0") + " " + read("1:U{wgS}", ""),  // wgmma
      mutate("0:U{g2s}, " + generic, "; P(raw)=0") + " " + read("1:U{wgS}", "; P(cg)=0"),
      m + " " + read("1:U{wgS}", "; P(cg)=0"),             // Arrive war: only M is witnessed
      m_back + " " + read("1:U{wgS}", "; P(cg)=0"),        // k=1 Await war
      m_back + " " + read(r_late, "; P(cg)=0"),            // k=1 Await cg
      m_back + " " + read(r_late, "; P(war)=1; P(cg)=0"),  // k=1 Arrive war
      m_back + " " + read(temporal + ", " + r_late, "; P(war)=1; P(cg)=0"),  // k=2 Await war
      mutate("0:U{g2s}", "; P(raw)=2"),                                      // k=2 TMA
  };
  History got = history(ring_pipeline(3, 1), standard, VarId{0}, {0});
  REQUIRE(got.size() >= expected.size());
  got.resize(expected.size());
  CHECK(got == expected);
  for (const std::int64_t iterations : {0, 1, 2, 3, 7, 40}) {
    CHECK(in_every_mode(ring_pipeline(iterations, 1)) == "accepted");
  }
}

TEST_CASE("6.5: the consumer waits one commit group too late") {
  CHECK(in_every_mode(ring_pipeline(2, 2)) == "accepted");
  const Program p = ring_pipeline(3, 2);
  const std::string expected = verdict(p, Mode::standard);
  CHECK(expected.starts_with("E-Y31 A[0] node "));
  CHECK(expected.ends_with(" missing 0/0"));
  CHECK(in_every_mode(p) == expected);
  CHECK(history(p, standard, VarId{0}, {0}).back().ends_with("R<wgS; 1:U{wgS}; P(cg)=0>"));
}

TEST_CASE("6.6: temporal against full order, and free") {
  const auto build = [](SyncTl second, int closing_fences) {
    AmirBuilder b(2);
    const VarId s = b.shared("s", {2}), tcg = b.barrier("tcg", {}, LoweredBarrier::tma_commit_group);
    b.alloc(s);
    b.alloc(tcg);
    for (std::int64_t t = 0; t < 2; ++t) {
      b.scope(threads(t, t + 1, 2));
      b.access(at(s, {point(t)}), {.mode = AccessMode::write});
    }
    b.scope(threads(0, 2, 2));
    b.fence(SyncTl::cuda_in_order, second);
    b.scope(threads(0, 1, 2));
    b.access(at(s, {range(0, 2)}), {.mode = AccessMode::read, .initial = Qual::s2g, .in_order = false});
    b.arrive(SyncTl::tma_to_gmem_async, at(tcg));
    b.await(at(tcg), SyncTl::cuda_in_order, 0);
    b.scope(threads(0, 2, 2));
    for (int i = 0; i < closing_fences; ++i) b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    b.free_checked(tcg);
    b.free_checked(s);
    return b.finish();
  };
  const VarId s{0};
  CHECK(in_every_mode(build(SyncTl::cuda_in_order, 1)) == "E-Y30 s[0] node 9 missing 0/0");
  CHECK(history(build(SyncTl::cuda_in_order, 1), standard, s, {1}).back() == "M<ram; 0-1:" + in_order + ">");

  const History fenced = history(build(SyncTl::tma_to_gmem_async, 0), standard, s, {1});
  CHECK(fenced == History{"M<ram; 1:F{ram}>", "M<ram; 0:F{s2g}, 1:F{ram,s2g}>",
                          "M<ram; 0:F{s2g}, 1:F{ram,s2g}> R<s2g; 0:U{s2g}>",
                          "M<ram; 0:F{s2g}, 1:F{ram,s2g}> R<s2g; 0:U{s2g}; P(tcg)=0>",
                          "M<ram; 0:F{s2g}, 1:F{ram,s2g}> R<s2g; 0:" + in_order + "; P(tcg)=0>",
                          "M<ram; 0:F{s2g}, 1:F{ram,s2g}> R<s2g; 0:" + in_order + ">"});
  // Freeing tcg has removed the pending arrival. s[0] was written by thread 0 and is unknown to thread 1 on
  // ram.
  CHECK(in_every_mode(build(SyncTl::tma_to_gmem_async, 0)) == "E-Y12 s[0] node 15 missing 0/1");
  CHECK(in_every_mode(build(SyncTl::tma_to_gmem_async, 1)) == "accepted");
}
