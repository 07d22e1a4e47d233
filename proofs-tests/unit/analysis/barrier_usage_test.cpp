// Rules about barriers and their uses (language.md 10.3, 10.4; conformance BU-01 .. BU-14, PA-31 .. PA-33).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string r = "# exocheck: dialect=R\n";

std::string warp(const std::string& body) { return task("blockDim=32", "x: f32[8] @ CudaGmemLinear", body); }
// Two CTA-level loops of a cluster of four, around the body.
std::string cluster(const std::string& declarations, const std::string& body) {
  return task("clusterDim=4, blockDim=32", "",
              declarations +
                  "for m in cuda_threads(0, 2, unit=2 * cuda_cta_in_cluster):\n"
                  "    for n in cuda_threads(0, 2, unit=cuda_cta_in_cluster):\n" +
                  indented(body, 8));
}

TEST_CASE("barrier statements: one rule at a time", "[analysis][barrier_usage]") {
  const std::string mb = "z: barrier @ CudaMbarrier\n";
  const std::string pair = "Arrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order, ~0)\n";
  const std::string z22 = "z: barrier[2, 2] @ CudaMbarrier\n";
  const std::string y22 = "y: barrier[2, 2] @ CudaMbarrier\n";
  const std::string await = "Await(z[m, n], cuda_in_order, ~0)\n";
  const std::string sync = "c: barrier @ CudaClusterSync\n";
  check({
      {"E-U01", warp(mb + pair + "Arrive(cuda_in_order, 1)\n"), warp(mb + pair)},
      {"E-U02", warp(mb + "Arrive(cuda_in_order, 2) >> z\nAwait(z, cuda_in_order, ~0)\n"), warp(mb + pair)},
      {"E-U06", cluster(z22, "Arrive(cuda_in_order, 1) >> z[m, :]\n" + await),
       cluster(z22, "Arrive(cuda_in_order, 1) >> z[m, :] >> z[:, n]\n" + await)},
      {"E-U07", cluster(z22, "Arrive(cuda_in_order, 1) >> z[m, n] >> z[:, m]\n" + await),
       cluster(z22, "Arrive(cuda_in_order, 1) >> z[m, n] >> z[:, n]\n" + await)},
      {"E-U08", cluster(z22, "Arrive(cuda_in_order, 1) >> z[m, n]\nAwait(z[m, :], cuda_in_order, ~0)\n"),
       cluster(z22, "Arrive(cuda_in_order, 1) >> z[m, n]\n" + await)},
      {"E-U09",
       warp("cg: barrier[32] @ CudaCommitGroup\nfor t in cuda_threads(0, 32):\n"
            "    Arrive(Sm80_cp_async, 1) >> cg[t] >> cg[:]\n    Await(cg[t], cuda_in_order, 0)\n"),
       warp("cg: barrier[32] @ CudaCommitGroup\nfor t in cuda_threads(0, 32):\n"
            "    Arrive(Sm80_cp_async, 1) >> cg[t]\n    Await(cg[t], cuda_in_order, 0)\n")},
      // The lag of an mbarrier of P, the count of a commit group, nothing for a cluster sync.
      {"E-U15", warp(mb + "Arrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order, 0)\n"), ""},
      {"E-U15", warp(mb + "Arrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order)\n"), ""},
      {"E-U15",
       warp("cg: barrier @ CudaCommitGroup\nArrive(tma_to_gmem_async, 1) >> cg\nAwait(cg, cuda_in_order, "
            "~0)\n"),
       warp("cg: barrier @ CudaCommitGroup\nArrive(tma_to_gmem_async, 1) >> cg\nAwait(cg, cuda_in_order, 1)\n"
            "Await(cg, cuda_in_order, 0)\n")},
      {"E-U15", warp(sync + "Arrive(cuda_in_order, 1) >> c\nAwait(c, cuda_in_order, 1)\n"),
       warp(sync + "Arrive(cuda_in_order, 1) >> c\nAwait(c, cuda_in_order, 0)\n")},
      {"E-U15", warp(sync + "Arrive(cuda_in_order, 1) >> c\nAwait(c, cuda_in_order, ~0)\n"), ""},
  });
  // Two variables in one Arrive: the other one then lacks an Arrive of its own.
  const auto mixed = codes(
      cluster(z22 + y22, "Arrive(cuda_in_order, 1) >> z[m, n] >> y[m, n]\n" + await +
                             "Arrive(cuda_in_order, 1) >> y[m, n]\nAwait(y[m, n], cuda_in_order, ~0)\n"));
  CHECK(mixed == Codes{"E-U05"});
  // Found by the frontend already.
  CHECK(codes(warp("z: barrier[2, 4] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z[0]\nAwait(z[0, 0], "
                   "cuda_in_order, ~0)\n")) == Codes{"E-U04"});
  CHECK(codes(warp("Arrive(cuda_in_order, 1) >> x\n")) == Codes{"E-U03"});
}

TEST_CASE("barrier partners: one rule at a time", "[analysis][barrier_usage]") {
  const std::string mb = "z: barrier @ CudaMbarrier\n";
  const auto twice = [&](const std::string& l1, const std::string& l2, const std::string& n) {
    return warp(mb + "Arrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order, ~0)\nArrive(" + l1 +
                ", 1) >> z\nAwait(z, " + l2 + ", " + n + ")\n");
  };
  const std::string z22 = "z: barrier[2, 2] @ CudaMbarrier\n";
  const auto patterns = [&](const std::string& second) {
    return cluster(z22,
                   "Arrive(cuda_in_order, 1) >> z[m, n] >> z[m, :]\nAwait(z[m, n], cuda_in_order, ~0)\n"
                   "Arrive(cuda_in_order, 1) >> " +
                       second + "\nAwait(z[m, n], cuda_in_order, ~0)\n");
  };
  check({
      {"E-U11", twice("cuda_temporal", "cuda_in_order", "~0"), twice("cuda_in_order", "cuda_in_order", "~0")},
      {"E-U12", twice("cuda_in_order", "cuda_temporal", "~0"), ""},
      {"E-U16", twice("cuda_in_order", "cuda_in_order", "~1"), ""},
      {"E-U13", patterns("z[m, n] >> z[:, n]"), patterns("z[m, n] >> z[m, :]")},
      {"E-U14", warp(mb + "Await(z, cuda_in_order, ~0)\n"), ""},
      {"E-U14", warp(mb + "Arrive(cuda_in_order, 1) >> z\n"), ""},
      {"E-U14", warp(mb), ""},
      {"E-U20", warp("e: barrier @ CudaEvent\nArrive(cuda_in_order, 1) >> e\nAwait(e, cuda_in_order, 0)\n"),
       ""},
      {"E-S20",
       warp("cg: barrier @ CudaCommitGroup\nArrive(tma_to_smem_async, 1) >> cg\nAwait(cg, cuda_in_order, "
            "0)\n"),
       ""},
      {"E-S20",
       warp("cg: barrier @ CudaCommitGroup\nArrive(empty_sync_tl, 1) >> cg\nAwait(cg, cuda_in_order, 0)\n"),
       ""},
      {"E-S20",
       warp("cg: barrier @ CudaCommitGroup\nArrive(cuda_in_order, 1) >> cg\nAwait(cg, cuda_in_order, 0)\n"),
       ""},
  });
}

TEST_CASE("at most one error per barrier", "[analysis][barrier_usage]") {
  const auto found = findings(
      warp("z: barrier @ CudaMbarrier\nArrive(cuda_in_order, 2) >> z\nArrive(cuda_temporal, 3) >> z\n"
           "Await(z, cuda_in_order, 0)\ny: barrier @ CudaMbarrier\n"));
  CHECK(found == Codes{"E-U02@5", "E-U14@8"});
}

TEST_CASE("the N of dialect R", "[analysis][barrier_usage]") {
  const auto ring = [](const std::string& n) {
    return r + warp(
                   "z: barrier[1 @ ring_buffer_by(1)] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> "
                   "z[0]\nAwait(z[0], cuda_in_order, " +
                   n + ")\n");
  };
  CHECK(codes(ring("0")) == Codes{});
  CHECK(codes(ring("3")) == Codes{"E-U15"});
  CHECK(codes(ring("~0")) == Codes{"E-U15"});
  // The wrong N is reported before the missing ring.
  CHECK(
      codes(r +
            warp("z: barrier @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z\nAwait(z, cuda_in_order, 1)\n")) ==
      Codes{"E-U15"});
  const auto group = [](const std::string& n) {
    return r + warp(
                   "cg: barrier @ Sm90_TmaCommitGroup\nArrive(tma_to_gmem_async, 1) >> cg\n"
                   "Await(cg, cuda_generic_and_async_proxy, " +
                   n + ")\n");
  };
  CHECK(codes(group("0")) == Codes{});
  CHECK(codes(group("2")) == Codes{});
  CHECK(codes(group("~0")) == Codes{"E-U15"});
}

TEST_CASE("barrier facts", "[analysis][barrier_usage]") {
  const auto loaded = load(warp(
      "full: barrier @ CudaMbarrier\nempty: barrier(full) @ CudaMbarrier\ncg: barrier @ CudaCommitGroup\n"
      "self: barrier @ CudaMbarrier\n"
      "Await(empty, cuda_in_order, ~2)\nArrive(cuda_in_order, 1) >> full\n"
      "Await(full, cuda_in_order, ~1)\nArrive(cuda_in_order, 1) >> empty\n"
      "Arrive(tma_to_gmem_async, 1) >> cg\nAwait(cg, cuda_in_order, 0)\n"
      "Arrive(cuda_in_order, 1) >> self\nAwait(self, cuda_in_order, ~0)\n"));
  const auto& procedure = loaded.program.procedures.at(0);
  const auto result = analyse(procedure, loaded.program, Mode::standard);
  REQUIRE(result.diagnostics.empty());
  const auto facts = [&](const std::string& name) {
    for (const auto& [var, f] : result.facts.barrier) {
      if (procedure.symbol(var).name == name) return f;
    }
    FAIL("no such barrier");
    return BarrierFacts{};
  };
  CHECK(facts("full").ring_depth == 3);
  CHECK(facts("empty").ring_depth == 3);
  CHECK(facts("self").ring_depth == 1);
  CHECK(facts("empty").await_n == -3);
  CHECK(procedure.symbol(facts("full").guarded_by).name == "empty");
  CHECK(procedure.symbol(facts("empty").guarded_by).name == "full");
  CHECK(procedure.symbol(facts("self").guarded_by).name == "self");
  CHECK(facts("cg").lowered == LoweredBarrier::tma_commit_group);
  CHECK_FALSE(facts("full").multicast);
}

}  // namespace
}  // namespace exocheck::analysis::test
