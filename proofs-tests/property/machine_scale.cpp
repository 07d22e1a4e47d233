// The working machine on kernels of real size: its work must depend on statements, not on elements or
// threads.
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "amir/machine.hpp"
#include "property/support/amir_builder.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using semantics::LoweredBarrier;
using semantics::amir::Purpose;
using semantics::ir::BinaryOp;
using semantics::ir::TypeKind;

namespace {

ExprPtr times(ExprPtr a, std::int64_t factor) {
  return semantics::ir::binary(BinaryOp::mul, std::move(a), num(factor));
}
ExprPtr modulo(ExprPtr a, std::int64_t n) {
  return semantics::ir::binary(BinaryOp::mod, std::move(a), num(n));
}
ExprPtr divided(ExprPtr a, std::int64_t n) {
  return semantics::ir::binary(BinaryOp::div, std::move(a), num(n));
}
ExprPtr at_least(ExprPtr a, std::int64_t n) {
  return semantics::ir::binary(BinaryOp::le, num(n), std::move(a), TypeKind::boolean);
}
Window tile(ExprPtr from, std::int64_t length) { return {from, semantics::ir::add(from, num(length))}; }

amir::Outcome measure(const std::string& what, const Program& p) {
  const auto start = std::chrono::steady_clock::now();
  amir::Outcome out = amir::run(p, amir::Sizes(p.symbol_count), amir::rules_of(analysis::Mode::standard), {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << what << ": " << seconds.count() << " s, " << out.nodes_executed << " nodes, " << out.steps
            << " steps, at most " << out.records_peak << " records\n";
  if (out.violation) {
    std::cout << "  " << out.violation->code << " " << p.variables[index(out.violation->var)].name << " node "
              << index(out.violation->at.node) << "\n";
  }
  return out;
}

// Uses of an mbarrier object by a sync statement (abstract-machine.md 3.4).
void use_barrier(AmirBuilder& b, const Target& z, Qual q = Qual::ram) {
  b.check(z, false, true, Level::full, {q}, Purpose::read);
  b.record(z, {.mode = AccessMode::read, .initial = q, .convergent = true});
}

// Hopper GEMM: cluster of 2 CTAs of 384 threads (one producer warp, two consumer warpgroups), tile 128x256
// per CTA, ring of TMA loads with multicast of B, wgmma, mbarriers in both directions.
Program hopper_gemm(std::int64_t tasks, std::int64_t iterations, std::int64_t ring, std::int64_t late) {
  constexpr std::int64_t block = 384, cluster = 2 * block;
  AmirBuilder b(cluster);
  const VarId c = b.parameter("C", {tasks, 256, 256});
  const VarId as = b.shared("A_smem", {2, ring, 128, 32}), bs = b.shared("B_smem", {2, ring, 256, 32});
  const VarId d = b.registers("D", {2, 2, 64, 256});
  const VarId raw = b.barrier("raw", {2}), war = b.barrier("war", {2});
  const VarId cg = b.barrier("cg", {2, 2}, LoweredBarrier::wgmma_commit_group);
  const SymId task = b.symbol(), k = b.symbol(), m = b.symbol(), w = b.symbol(), i = b.symbol();
  const ThreadMap all = threads(0, cluster, cluster);
  const ThreadMap producer{false, {{2, 0, {{m, 1}}, 1}, {block, 0, {}, 32}}};
  const ThreadMap producers{false, {{2, 0, {}, 2}, {block, 0, {}, 32}}};
  const ThreadMap consumers{false, {{2, 0, {{m, 1}}, 1}, {block, 128, {}, 256}}};
  const ThreadMap warpgroup{false, {{2, 0, {{m, 1}}, 1}, {3, 1, {{w, 1}}, 1}, {128, 0, {}, 128}}};
  const auto slot = [&] { return point(modulo(ref(k), ring)); };
  const auto cta = [&] { return point(ref(m)); };
  const auto per_cta = [&](const ThreadMap& map, const std::function<void()>& body) {
    b.loop(m, num(0), num(2), [&] {
      b.scope(map);
      body();
    });
  };
  b.loop(task, num(0), num(tasks), [&] {
    b.scope(all);
    for (const VarId v : {as, bs, d, raw, war, cg}) b.alloc(v);
    per_cta(warpgroup, [&] {
      b.loop(w, num(0), num(2), [&] {
        b.access(at(d, {cta(), point(ref(w)), range(0, 64), range(0, 256)}),
                 {.mode = AccessMode::write, .initial = Qual::wg0, .extended = {Qual::wgD}});
      });
    });
    b.loop(k, num(0), num(iterations), [&] {
      per_cta(producer, [&] {
        use_barrier(b, at(war, {cta()}));
        b.await(at(war, {cta()}), SyncTl::cuda_temporal, -ring);
        b.access(at(as, {cta(), slot(), range(0, 128), range(0, 32)}), {.mode = AccessMode::write,
                                                                        .initial = Qual::g2s,
                                                                        .in_order = false,
                                                                        .trailing = {at(raw, {cta()})}});
        use_barrier(b, at(raw, {cta()}), Qual::g2s);
      });
      per_cta(producers, [&] {
        b.access(at(bs, {range(0, 2), slot(), tile(times(ref(m), 128), 128), range(0, 32)}),
                 {.mode = AccessMode::write,
                  .initial = Qual::g2s,
                  .in_order = false,
                  .trailing = {at(raw, {range(0, 2)})}});
        use_barrier(b, at(raw, {range(0, 2)}), Qual::g2s);
      });
      per_cta(producer, [&] {
        use_barrier(b, at(raw, {cta()}));
        b.arrive(SyncTl::cuda_temporal, at(raw, {cta()}));
      });
      per_cta(consumers, [&] {
        use_barrier(b, at(raw, {cta()}));
        b.await(at(raw, {cta()}), SyncTl::cuda_generic_and_async_proxy, -1);
      });
      per_cta(warpgroup, [&] {
        b.loop(w, num(0), num(2), [&] {
          b.fence(SyncTl::wgmma_fence_1, SyncTl::wgmma_fence_2);
          b.loop(i, num(0), num(4), [&] {
            const Access operand{.mode = AccessMode::read, .initial = Qual::wgS, .in_order = false};
            b.access(at(as, {cta(), slot(), tile(times(ref(w), 64), 64), tile(times(ref(i), 8), 8)}),
                     operand);
            b.access(at(bs, {cta(), slot(), range(0, 256), tile(times(ref(i), 8), 8)}), operand);
            b.access(at(d, {cta(), point(ref(w)), range(0, 64), range(0, 256)}),
                     {.mode = AccessMode::read_write, .initial = Qual::wgD, .extended = {Qual::wg0}});
          });
          b.arrive(SyncTl::wgmma_async, at(cg, {cta(), point(ref(w))}));
          b.branch(at_least(ref(k), late), [&] {
            b.await(at(cg, {cta(), point(ref(w))}), SyncTl::cuda_in_order, late);
          });
        });
      });
      per_cta(consumers, [&] {
        use_barrier(b, at(war, {range(0, 2)}));
        b.arrive(SyncTl::cuda_in_order, at(war, {cta()}), {at(war, {range(0, 2)})});
      });
    });
    per_cta(warpgroup, [&] {
      b.loop(w, num(0), num(2), [&] {
        b.await(at(cg, {cta(), point(ref(w))}), SyncTl::cuda_in_order, 0);
        b.access(at(d, {cta(), point(ref(w)), range(0, 64), range(0, 256)}),
                 {.mode = AccessMode::read, .initial = Qual::rmem});
        const ExprPtr row = semantics::ir::add(times(ref(m), 128), times(ref(w), 64));
        b.access(at(c, {point(ref(task)), tile(row, 64), range(0, 256)}), {.mode = AccessMode::write});
      });
    });
    b.scope(all);
    b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    b.check_barrier(cg);
    for (const VarId v : {d, cg}) b.free(v);
    for (const VarId v : {as, bs}) b.free_checked(v);
    b.inc_task();
  });
  return b.finish();
}

// Ampere GEMM: 256 threads, `copies` cp.async of 16 bytes per thread and stage, one commit group per thread,
// ring of 3.
Program ampere_gemm(std::int64_t tasks, std::int64_t iterations, std::int64_t copies) {
  constexpr std::int64_t block = 256, ring = 3;
  const std::int64_t rows = 64 * copies;  // of 16 elements
  AmirBuilder b(block);
  const VarId c = b.parameter("C", {tasks, 8, 64, 32});
  const VarId s = b.shared("S", {ring, rows, 16});
  const VarId d = b.registers("D", {8, 64, 32});
  const VarId cg = b.barrier("cg", {block}, LoweredBarrier::sm80_commit_group);
  const SymId task = b.symbol(), k = b.symbol(), t = b.symbol(), j = b.symbol(), w = b.symbol();
  const ThreadMap all = threads(0, block, block);
  const ThreadMap one{false, {{block, 0, {{t, 1}}, 1}}};
  const ThreadMap warp{false, {{8, 0, {{w, 1}}, 1}, {32, 0, {}, 32}}};
  b.loop(task, num(0), num(tasks), [&] {
    b.scope(all);
    for (const VarId v : {s, d, cg}) b.alloc(v);
    b.loop(w, num(0), num(8), [&] {
      b.scope(warp);
      b.access(at(d, {point(ref(w)), range(0, 64), range(0, 32)}),
               {.mode = AccessMode::write, .initial = Qual::rmem});
    });
    b.loop(k, num(0), num(iterations + ring - 1), [&] {
      b.branch(semantics::ir::binary(BinaryOp::lt, ref(k), num(iterations), TypeKind::boolean), [&] {
        b.loop(t, num(0), num(block), [&] {
          b.scope(one);
          b.loop(j, num(0), num(copies), [&] {
            const ExprPtr row = semantics::ir::add(times(ref(j), 64), divided(ref(t), 4));
            b.access(at(s, {point(modulo(ref(k), ring)), point(row), tile(times(modulo(ref(t), 4), 4), 4)}),
                     {.mode = AccessMode::write, .initial = Qual::cp80, .in_order = false});
          });
        });
      });
      b.loop(t, num(0), num(block), [&] {
        b.scope(one);
        b.arrive(SyncTl::Sm80_cp_async, at(cg, {point(ref(t))}));
      });
      b.branch(at_least(ref(k), ring - 1), [&] {
        b.loop(t, num(0), num(block), [&] {
          b.scope(one);
          b.await(at(cg, {point(ref(t))}), SyncTl::Sm80_generic, ring - 1);
        });
        b.scope(all);
        b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
        b.loop(w, num(0), num(8), [&] {
          b.scope(warp);
          b.loop(j, num(0), num(rows / 16), [&] {
            b.access(at(s, {point(modulo(semantics::ir::sub(ref(k), num(ring - 1)), ring)),
                            tile(times(ref(j), 16), 16), range(0, 8)}),
                     {.mode = AccessMode::read});
          });
          b.access(at(d, {point(ref(w)), range(0, 64), range(0, 32)}),
                   {.mode = AccessMode::read_write, .initial = Qual::rmem});
        });
        b.scope(all);
        b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
      });
    });
    b.loop(t, num(0), num(block), [&] {
      b.scope(one);
      b.await(at(cg, {point(ref(t))}), SyncTl::cuda_in_order, 0);
    });
    b.loop(w, num(0), num(8), [&] {
      b.scope(warp);
      b.access(at(c, {point(ref(task)), point(ref(w)), range(0, 64), range(0, 32)}),
               {.mode = AccessMode::write});
    });
    b.scope(all);
    b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    b.free_checked(cg);
    b.free_checked(s);
    b.free(d);
    b.inc_task();
  });
  return b.finish();
}

}  // namespace

TEST_CASE("Hopper GEMM, 768 threads, ring 4, 4 tasks x 16 iterations") {
  const amir::Outcome out = measure("Hopper GEMM", hopper_gemm(4, 16, 4, 1));
  CHECK_FALSE(out.violation);
  CHECK_FALSE(out.limit);
  CHECK(out.records_peak < 2000);
  CHECK(out.steps < 20 * out.nodes_executed);

  // Linear in the number of iterations, tasks do not add up.
  const amir::Outcome longer = measure("  256 iterations", hopper_gemm(4, 256, 4, 1));
  CHECK_FALSE(longer.violation);
  CHECK(longer.steps < 32 * out.steps);
  CHECK(longer.records_peak < 3 * out.records_peak);
  const amir::Outcome wider = measure("  128 tasks", hopper_gemm(128, 16, 4, 1));
  CHECK_FALSE(wider.violation);
  CHECK(wider.steps < 40 * out.steps);
  CHECK(wider.records_peak < 3 * out.records_peak);
}

TEST_CASE("Hopper GEMM that waits one commit group too late") {
  const amir::Outcome out = measure("Hopper GEMM, late wait", hopper_gemm(4, 16, 4, 4));
  REQUIRE(out.violation);
  CHECK(out.violation->code == "E-Y31");
  CHECK(out.violation->var == VarId{1});
}

TEST_CASE("Ampere GEMM, 256 threads, 1792 copies per stage, 4 tasks x 32 iterations") {
  const amir::Outcome out = measure("Ampere GEMM", ampere_gemm(4, 32, 7));
  CHECK_FALSE(out.violation);
  CHECK_FALSE(out.limit);
  CHECK(out.records_peak < 10000);
}
