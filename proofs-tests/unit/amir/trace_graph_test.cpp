// The trace graph: reachability is per access, and a path may lead through several synchronization
// statements.
#include "amir/trace_graph.hpp"

#include <catch2/catch.hpp>

#include "property/support/machine_runs.hpp"

using namespace exocheck;
using namespace exocheck::testing;
using testing::AccessMode;

namespace {

std::string graph_verdict(const Program& p) {
  const amir::Sizes sizes(p.symbol_count);
  return verdict_text(p, amir::run_trace_graph(p, sizes, amir::rules_of(analysis::Mode::standard), {}));
}

ThreadMap thread(std::int64_t n) { return threads(n, n + 1, 4); }

// Thread 0 writes x and y; a chain of hand-overs over z leads to thread `last`, which reads `read`.
Program chain(std::int64_t last, std::int64_t missing_link, bool read_y) {
  AmirBuilder b(4);
  const VarId x = b.parameter("x"), y = b.parameter("y"), z = b.barrier("z", {4});
  b.alloc(z);
  b.scope(thread(0));
  b.access(at(x), {.mode = AccessMode::write});
  b.access(at(y), {.mode = AccessMode::write, .initial = Qual::cp80, .in_order = false});
  for (std::int64_t i = 0; i < last; ++i) {
    b.scope(thread(i));
    b.arrive(SyncTl::cuda_in_order, at(z, {point(i)}));
    b.scope(thread(i == missing_link ? i : i + 1));
    b.await(at(z, {point(i)}), SyncTl::cuda_in_order, -1);
  }
  b.scope(thread(last));
  b.access(at(read_y ? y : x), {.mode = AccessMode::read});
  return b.finish();
}

}  // namespace

TEST_CASE("a path through arrives and awaits of three barriers") {
  CHECK(graph_verdict(chain(3, -1, false)) == "accepted");
  for (std::int64_t link = 0; link < 3; ++link) {
    CHECK(graph_verdict(chain(3, link, false)) == "E-Y30 x[] node 13 missing 0/3");
  }
}

TEST_CASE("the same chain does not carry an access on another timeline") {
  // cuda_in_order does not pick up cp.async: the first Arrive has no edge from y.
  CHECK(graph_verdict(chain(1, -1, true)) == "E-Y30 y[] node 9 missing 0/1");
}

TEST_CASE("a vertex after the access counts, one before it does not") {
  const auto build = [](bool fence_after) {
    AmirBuilder b(4);
    const VarId x = b.parameter("x");
    if (!fence_after) b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    b.scope(thread(1));
    b.access(at(x), {.mode = AccessMode::write});
    b.scope(threads(0, 4, 4));
    if (fence_after) b.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    b.access(at(x), {.mode = AccessMode::read});
    return b.finish();
  };
  CHECK(graph_verdict(build(true)) == "accepted");
  CHECK(graph_verdict(build(false)) == "E-Y30 x[] node 4 missing 0/0");
}

TEST_CASE("an overwritten access is not asked about any more") {
  AmirBuilder b(4);
  const VarId x = b.parameter("x");
  b.scope(thread(0));
  b.access(at(x), {.mode = AccessMode::write});
  b.scope(threads(0, 2, 4));
  b.fence(SyncTl::cuda_in_order, SyncTl::cuda_temporal);
  b.scope(thread(1));
  b.access(at(x), {.mode = AccessMode::write});
  b.access(at(x), {.mode = AccessMode::read});  // knows the first write temporally only
  CHECK(graph_verdict(b.finish()) == "accepted");
}
