// Legality of Fence, Arrive and Await (language.md 10.2, 10.5; decisions.md M; conformance BU-15 .. BU-19,
// BU-26 .. BU-28).
#include "analysis/sync_legality.hpp"
#include "analysis/barrier_usage.hpp"
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

using semantics::Dialect;
using semantics::SyncTl;
using enum SyncTl;

template <class Predicate>
std::vector<SyncTl> accepted(Dialect d, Predicate predicate) {
  std::vector<SyncTl> out;
  for (const auto& t : semantics::all_sync_timelines(d)) {
    if (predicate(t.id)) out.push_back(t.id);
  }
  return out;
}
using Set = std::vector<SyncTl>;

TEST_CASE("accepted timelines, as the tables list them", "[analysis][legality]") {
  const auto fence = [](Dialect d) {
    return accepted(d, [d](SyncTl t) { return fence_accepts_first(d, t); });
  };
  const auto mbarrier = [](Dialect d) {
    return accepted(d, [d](SyncTl t) { return mbarrier_accepts_first(d, t); });
  };
  const auto second = [](Dialect d) { return accepted(d, [d](SyncTl t) { return accepts_second(d, t); }); };
  const auto group = [](Dialect d, LoweredBarrier k) {
    return accepted(d, [d, k](SyncTl t) { return commit_group_accepts_second(d, k, t); });
  };
  const Set firsts{empty_sync_tl, cuda_in_order, cuda_temporal, Sm80_cp_async, Sm80_generic};
  const Set p_seconds{
      empty_sync_tl,     cuda_in_order,     cuda_temporal,    Sm80_cp_async,    Sm80_generic,
      tma_to_smem_async, tma_to_gmem_async, wgmma_async_smem, cuda_async_proxy, cuda_generic_and_async_proxy};
  const Set r_seconds{empty_sync_tl, cuda_in_order, cuda_temporal, cuda_generic_and_async_proxy};
  CHECK(fence(Dialect::P) == firsts);
  CHECK(fence(Dialect::R) == firsts);
  CHECK(mbarrier(Dialect::P) == Set{empty_sync_tl, cuda_in_order, cuda_temporal, Sm80_cp_async});
  CHECK(mbarrier(Dialect::R) == Set{empty_sync_tl, cuda_in_order, cuda_temporal, Sm80_cp_async});
  CHECK(second(Dialect::P) == p_seconds);
  CHECK(second(Dialect::R) == r_seconds);
  CHECK(group(Dialect::P, LoweredBarrier::sm80_commit_group) == firsts);
  CHECK(group(Dialect::P, LoweredBarrier::tma_commit_group) == p_seconds);
  CHECK(group(Dialect::P, LoweredBarrier::wgmma_commit_group) == p_seconds);
  CHECK(group(Dialect::R, LoweredBarrier::sm80_commit_group) ==
        Set{empty_sync_tl, cuda_in_order, cuda_temporal});
  CHECK(group(Dialect::R, LoweredBarrier::wgmma_commit_group) == r_seconds);
}

TEST_CASE("kinds of commit groups", "[analysis][legality]") {
  for (const Dialect d : {Dialect::P, Dialect::R}) {
    CHECK(commit_group_kind(d, Sm80_cp_async) == LoweredBarrier::sm80_commit_group);
    CHECK(commit_group_kind(d, tma_to_gmem_async) == LoweredBarrier::tma_commit_group);
    for (const SyncTl t : {wgmma_async, wgmma_async_smem, wgmma_fence_2}) {
      CHECK(commit_group_kind(d, t) == LoweredBarrier::wgmma_commit_group);
    }
    for (const SyncTl t : {empty_sync_tl, cuda_in_order, Sm80_generic, tma_to_smem_async, wgmma_fence_1,
                           cuda_generic_and_async_proxy, cpu_in_order, cuda_stream_sync}) {
      CHECK_FALSE(commit_group_kind(d, t));
    }
  }
  // In R cuda_temporal's full set is the mbarrier's alone, but its temporal set is not cp.async's.
  CHECK_FALSE(commit_group_kind(Dialect::R, cuda_temporal));
  CHECK_FALSE(commit_group_kind(Dialect::R, tcgen05_commit));
}

std::string fenced(const std::string& launch, const std::string& body) { return task(launch, "", body); }
const std::string io = "Fence(cuda_in_order, cuda_in_order)\n";
const std::string wgmma = "Fence(wgmma_fence_1, wgmma_fence_2)\n";
std::string in(const std::string& header, const std::string& body) {
  return header + "\n" + indented(body, 4);
}

TEST_CASE("fences: one rule at a time", "[analysis][legality]") {
  const std::string r = "# exocheck: dialect=R\n";
  const std::string warps = "for w in cuda_threads(0, 2, unit=cuda_warp):";
  const auto at_warp = [&](const std::string& fence) { return fenced("blockDim=64", in(warps, fence)); };
  check({
      {"E-S01", at_warp("Fence(tma_to_smem_async, cuda_in_order)"),
       at_warp("Fence(Sm80_generic, cuda_in_order)")},
      {"E-S01", at_warp("Fence(wgmma_async, cuda_in_order)"), at_warp("Fence(Sm80_cp_async, cuda_in_order)")},
      {"E-S01", at_warp("Fence(cuda_stream_sync, cuda_in_order)"),
       at_warp("Fence(cuda_temporal, cuda_in_order)")},
      {"E-S02", at_warp("Fence(cuda_in_order, cpu_in_order)"),
       at_warp("Fence(cuda_in_order, Sm80_cp_async)")},
      {"E-S02", at_warp("Fence(cuda_in_order, cuda_async_proxy_wgmma)"),
       at_warp("Fence(cuda_in_order, wgmma_async_smem)")},
      // The second timeline is examined whatever the first is (decisions.md M4).
      {"E-S02", at_warp("Fence(cuda_temporal, cuda_stream_sync)"), ""},
      {"E-S03", r + at_warp("Fence(cuda_in_order, Sm80_cp_async)"),
       r + at_warp("Fence(cuda_in_order, cuda_generic_and_async_proxy)")},
      {"E-S02", r + at_warp("Fence(cuda_in_order, tma_to_smem_async)"), ""},
      {"E-S04", fenced("blockDim=128", "Fence(wgmma_fence_1, cuda_temporal)"), fenced("blockDim=128", wgmma)},
      {"E-S06", fenced("blockDim=128", in("with CudaWarps(0, 2):", wgmma)),
       fenced("blockDim=256", in("with CudaWarps(4, 8):", wgmma))},
      {"E-S06", fenced("blockDim=256", in("with CudaWarps(2, 6):", wgmma)), ""},
      {"E-S05", fenced("blockDim=256", in("with CudaWarps(2, 6):", io)),
       fenced("blockDim=256", in("with CudaWarps(2, 3):", io))},
      {"E-S05", fenced("blockDim=32", in("for t in cuda_threads(0, 2, unit=16 * cuda_thread):", io)),
       fenced("blockDim=32", in("for t in cuda_threads(0, 32):", io))},
      {"E-S05",
       fenced("clusterDim=4, blockDim=32",
              in("for c in cuda_threads(0, 2, unit=2 * cuda_cta_in_cluster):", io)),
       fenced("clusterDim=4, blockDim=32",
              io + in("for c in cuda_threads(0, 4, unit=cuda_cta_in_cluster):", io))},
      {"E-S05", fenced("blockDim=256", in("with CudaWarps(0, 4):", io)), fenced("blockDim=128", io)},
  });
}

TEST_CASE("the warpgroup fence of P", "[analysis][legality]") {
  const auto at_warpgroup = [](const std::string& second) {
    return fenced("blockDim=256", in("with CudaWarps(0, 4):", "Fence(cuda_in_order, " + second + ")"));
  };
  CHECK(codes(at_warpgroup("wgmma_async_smem")) == Codes{});
  CHECK(codes(at_warpgroup("empty_sync_tl")) == Codes{});
  CHECK(codes(at_warpgroup("cuda_generic_and_async_proxy")) == Codes{"E-S05"});
}

TEST_CASE("fences at CPU scope", "[analysis][legality]") {
  check({
      {"E-U10", host("", io),
       host("", "Fence(cuda_stream_sync, cpu_in_order)\nFence(cpu_in_order, cuda_stream_sync)")},
      {"E-U10", host("", "Fence(cuda_stream_sync, cuda_stream_sync)"), ""},
      {"E-U10", host("", "Fence(cpu_in_order, cpu_in_order)"), ""},
  });
}

TEST_CASE("mbarriers and cluster syncs: timelines", "[analysis][legality]") {
  const auto mbarrier = [](const std::string& l1, const std::string& l2) {
    return task("blockDim=32", "",
                "z: barrier @ CudaMbarrier\nArrive(" + l1 + ", 1) >> z\nAwait(z, " + l2 + ", ~0)\n");
  };
  const auto cluster = [](const std::string& l1, const std::string& l2) {
    return task("clusterDim=2, blockDim=32", "",
                "z: barrier @ CudaClusterSync\nArrive(" + l1 + ", 1) >> z\nAwait(z, " + l2 + ", 0)\n");
  };
  check({
      {"E-S10", mbarrier("wgmma_async", "cuda_in_order"),
       mbarrier("cuda_temporal", "cuda_generic_and_async_proxy")},
      {"E-S10", mbarrier("cpu_in_order", "cuda_in_order"), mbarrier("Sm80_cp_async", "cuda_temporal")},
      {"E-S10", mbarrier("Sm80_generic", "cuda_in_order"), ""},
      {"E-S11", mbarrier("tma_to_smem_async", "cuda_in_order"), ""},
      {"E-S12", mbarrier("cuda_in_order", "wgmma_async"), mbarrier("cuda_in_order", "wgmma_async_smem")},
      {"E-S12", mbarrier("cuda_in_order", "cpu_in_order"), ""},
      {"E-S01", cluster("tma_to_gmem_async", "cuda_in_order"), cluster("Sm80_generic", "cuda_in_order")},
      {"E-S01", cluster("wgmma_fence_1", "cuda_in_order"), ""},
      {"E-S02", cluster("cuda_in_order", "cpu_in_order"), cluster("cuda_in_order", "cuda_async_proxy")},
  });
  const auto hint = load(mbarrier("cuda_in_order", "wgmma_async"));
  CHECK_THAT(analyse(hint.program.procedures.at(0), hint.program, Mode::standard).diagnostics.at(0).message,
             Catch::Contains("consider cuda_generic_and_async_proxy"));
}

TEST_CASE("cp.async arrivals stay in their CTA", "[analysis][legality]") {
  const auto kernel = [](int ctas, const std::string& l1, const std::string& targets) {
    return task("clusterDim=" + std::to_string(ctas) + ", blockDim=32", "",
                "z: barrier[" + std::to_string(ctas) + "] @ CudaMbarrier\nfor c in cuda_threads(0, " +
                    std::to_string(ctas) + ", unit=cuda_cta_in_cluster):\n    Arrive(" + l1 + ", 1) >> " +
                    targets + "\n    Await(z[c], cuda_temporal, ~0)\n");
  };
  CHECK(codes(kernel(2, "Sm80_cp_async", "z[c] >> z[:]")) == Codes{"E-S14"});
  CHECK(codes(kernel(2, "Sm80_cp_async", "z[c]")) == Codes{});
  CHECK(codes(kernel(2, "cuda_in_order", "z[c] >> z[:]")) == Codes{});
  CHECK(codes(kernel(1, "Sm80_cp_async", "z[c] >> z[:]")) == Codes{});
}

TEST_CASE("commit groups: second timelines", "[analysis][legality]") {
  const auto cp_async = [](const std::string& l2) {
    return task("blockDim=32", "",
                "cg: barrier[32] @ CudaCommitGroup\nfor t in cuda_threads(0, 32):\n"
                "    Arrive(Sm80_cp_async, 1) >> cg[t]\n    Await(cg[t], " +
                    l2 + ", 0)\n");
  };
  const auto wgmma_group = [](const std::string& l2) {
    return task("blockDim=128", "",
                "cg: barrier @ CudaCommitGroup\nArrive(wgmma_async, 1) >> cg\nAwait(cg, " + l2 + ", 0)\n");
  };
  check({
      {"E-S21", cp_async("tma_to_gmem_async"), cp_async("Sm80_generic")},
      {"E-S21", cp_async("cuda_generic_and_async_proxy"), ""},
      {"E-S21", wgmma_group("cpu_in_order"), wgmma_group("tma_to_gmem_async")},
  });
  const std::string r = "# exocheck: dialect=R\n";
  const auto r_group = [&](const std::string& mechanism, const std::string& l1, const std::string& l2) {
    return r +
           task("blockDim=128", "",
                "cg: barrier @ " + mechanism + "\nArrive(" + l1 + ", 1) >> cg\nAwait(cg, " + l2 + ", 0)\n");
  };
  check({
      {"E-S22", r_group("Sm90_WgmmaCommitGroup", "tma_to_gmem_async", "cuda_in_order"),
       r_group("Sm90_WgmmaCommitGroup", "wgmma_async", "cuda_generic_and_async_proxy")},
      {"E-S20", r_group("Sm90_WgmmaCommitGroup", "tma_to_smem_async", "cuda_in_order"), ""},
      {"E-S13",
       r + task("blockDim=32", "",
                "z: barrier[1 @ ring_buffer_by(1)] @ CudaMbarrier\n"
                "Arrive(tcgen05_commit, 1) >> z[0]\nAwait(z[0], cuda_in_order, 0)\n"),
       ""},
  });
}

TEST_CASE("one live solitary barrier of a kind", "[analysis][legality]") {
  // A and B of conformance BU-15: declared, arrived on, awaited.
  const auto both = [](const std::string& launch, const std::string& declared, const std::string& arrived,
                       const std::string& awaited) { return task(launch, "", declared + arrived + awaited); };
  const std::string thread_groups = "for t in cuda_threads(0, 128):\n";
  check({
      {"E-U17",
       both("clusterDim=2, blockDim=64", "a: barrier @ CudaClusterSync\nb: barrier @ CudaClusterSync\n",
            "Arrive(cuda_in_order, 1) >> a\nArrive(cuda_in_order, 1) >> b\n",
            "Await(a, cuda_in_order, 0)\nAwait(b, cuda_in_order, 0)\n"),
       // The first is dead after its last use.
       task("clusterDim=2, blockDim=64", "",
            "a: barrier @ CudaClusterSync\nArrive(cuda_in_order, 1) >> a\nAwait(a, cuda_in_order, 0)\n"
            "b: barrier @ CudaClusterSync\nArrive(cuda_in_order, 1) >> b\nAwait(b, cuda_in_order, 0)\n")},
      {"E-U17",
       both("blockDim=128", "a: barrier @ CudaCommitGroup\nb: barrier @ CudaCommitGroup\n",
            "Arrive(wgmma_async, 1) >> a\nArrive(wgmma_async, 1) >> b\n",
            "Await(a, cuda_in_order, 0)\nAwait(b, cuda_in_order, 0)\n"),
       ""},
      {"E-U17",
       both("blockDim=128", "a: barrier[128] @ CudaCommitGroup\nb: barrier[128] @ CudaCommitGroup\n",
            thread_groups + "    Arrive(Sm80_cp_async, 1) >> a[t]\n    Arrive(Sm80_cp_async, 1) >> b[t]\n",
            thread_groups + "    Await(a[t], cuda_in_order, 0)\n    Await(b[t], cuda_in_order, 0)\n"),
       // Different kinds live together, and a drain of cp.async does not disturb them (decisions.md M10).
       both("blockDim=128", "a: barrier @ CudaCommitGroup\nb: barrier[128] @ CudaCommitGroup\n",
            "Arrive(wgmma_async, 1) >> a\n" + thread_groups + "    Arrive(Sm80_cp_async, 1) >> b[t]\n",
            "Fence(Sm80_generic, cuda_in_order)\nAwait(a, cuda_in_order, 0)\n" + thread_groups +
                "    Await(b[t], cuda_in_order, 0)\n")},
      // The life of a barrier ends after the statement of its own block that contains the last use.
      {"E-U17",
       task("clusterDim=2, blockDim=64", "n: size",
            "a: barrier @ CudaClusterSync\nfor i in seq(0, n):\n    Arrive(cuda_in_order, 1) >> a\n    "
            "Await(a, cuda_in_order, 0)\n"
            "    b: barrier @ CudaClusterSync\n    Arrive(cuda_in_order, 1) >> b\n    Await(b, "
            "cuda_in_order, 0)\n"),
       ""},
  });
}

TEST_CASE("a cluster fence while a cluster sync is live", "[analysis][legality]") {
  const auto kernel = [](int ctas, const std::string& between) {
    return task("clusterDim=" + std::to_string(ctas) + ", blockDim=64", "",
                "a: barrier @ CudaClusterSync\nArrive(cuda_in_order, 1) >> a\n" + between +
                    "Await(a, cuda_in_order, 0)\n" + io);
  };
  CHECK(codes(kernel(1, io)) == Codes{});
  CHECK(findings(kernel(2, io)) == Codes{"E-U17@6"});
  CHECK(codes(kernel(2, "")) == Codes{});
  CHECK(codes(kernel(2, in("for c in cuda_threads(0, 2, unit=cuda_cta_in_cluster):", io))) == Codes{});
}

TEST_CASE("shapes that must be constant", "[analysis][legality]") {
  const std::string one = "for t in cuda_threads(0, 32):\n    ";
  const auto kernel = [](const std::string& body) { return task("blockDim=32", "n: size", body); };
  check({
      {"E-M10", host("n: size", "gc: f32[n] @ CudaGridConstant"),
       host("n: size", "gc: f32[16] @ CudaGridConstant")},
      {"E-M10", host("n: size, gc: f32[n] @ CudaGridConstant", "pass"),
       host("gc: f32[2 + 2] @ CudaGridConstant", "pass")},
      {"E-M11", host("", "g: f32 @ CudaGmemLinear"), host("", "g: f32[1] @ CudaGmemLinear")},
      {"E-M12", kernel("s: f32[n, 256] @ CudaSmemLinear\n" + one + "s[0, t] = 1.0"),
       kernel("s: f32[64] @ CudaSmemLinear\n" + one + "s[t] = 1.0")},
      {"E-M14", kernel("r: f32[32, n] @ CudaRmem\n" + one + "r[t, 0] = 1.0"),
       kernel("r: f32[32, 4] @ CudaRmem\n" + one + "r[t, 0] = 1.0")},
      {"E-U21",
       "# exocheck: dialect=R\n" +
           task("blockDim=32", "",
                "cg: barrier[2] @ Sm90_TmaCommitGroup\n"
                "Arrive(tma_to_gmem_async, 1) >> cg[0]\nAwait(cg[0], cuda_in_order, 0)\n"),
       "# exocheck: dialect=R\n" +
           task("blockDim=32", "",
                "cg: barrier[1] @ Sm90_TmaCommitGroup\n"
                "Arrive(tma_to_gmem_async, 1) >> cg[0]\nAwait(cg[0], cuda_in_order, 0)\n")},
  });
}

TEST_CASE("shared memory beyond the hardware is a warning", "[analysis][legality]") {
  const auto kernel = [](const std::string& body) { return task("blockDim=32", "", body); };
  const std::string one = "for t in cuda_threads(0, 32):\n    ";
  const std::string a = "a: f32[30000] @ CudaSmemLinear\n" + one + "a[t] = 1.0\n";
  const std::string b = "b: f32[29000] @ CudaSmemLinear\n" + one + "b[t] = 1.0\n";
  CHECK(codes(kernel("a: f32[58112] @ CudaSmemLinear\n" + one + "a[t] = 1.0\n")) == Codes{});
  CHECK(codes(kernel("a: f32[58113] @ CudaSmemLinear\n" + one + "a[t] = 1.0\n")) == Codes{"W-M20"});
  // Not live together.
  CHECK(codes(kernel(a + b)) == Codes{});
  CHECK(codes(kernel(a + b + one + "a[t] = 2.0\n")) == Codes{"W-M20"});
}

}  // namespace
}  // namespace exocheck::analysis::test
