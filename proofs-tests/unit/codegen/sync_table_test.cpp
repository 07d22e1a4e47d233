// The tables of codegen.md 11 with decisions.md M and P3-P6, row by row: every pair of timelines of dialect P
// at every collective unit and on every kind of barrier is rejected by its rule or becomes the least
// instructions. The expectations are written out here; nothing of the checker's own tables is used.
#include <fmt/format.h>

#include "sync_rows.hpp"

using namespace exocheck;
using namespace exocheck::testing;

namespace {

using Names = std::set<std::string>;

const std::vector<std::string> timelines{
    "empty_sync_tl",     "cpu_in_order",     "cuda_stream_sync",       "cuda_in_order",
    "cuda_temporal",     "Sm80_cp_async",    "Sm80_generic",           "tma_to_smem_async",
    "tma_to_gmem_async", "wgmma_async_smem", "wgmma_fence_1",          "wgmma_fence_2",
    "wgmma_async",       "cuda_async_proxy", "cuda_async_proxy_wgmma", "cuda_generic_and_async_proxy"};

// M5.
const Names seconds{"empty_sync_tl",     "cuda_in_order",
                    "cuda_temporal",     "Sm80_cp_async",
                    "Sm80_generic",      "tma_to_smem_async",
                    "tma_to_gmem_async", "wgmma_async_smem",
                    "cuda_async_proxy",  "cuda_generic_and_async_proxy"};
const Names plain_firsts{"empty_sync_tl", "cuda_in_order", "cuda_temporal"};
const Names draining_firsts{"Sm80_cp_async", "Sm80_generic"};

// M9: from ordinary or cp.async accesses to the asynchronous proxy.
bool proxy(const std::string& first, const std::string& second) {
  return Names{"cuda_in_order", "Sm80_cp_async", "Sm80_generic"}.contains(first) &&
         Names{"tma_to_smem_async", "tma_to_gmem_async", "wgmma_async_smem", "cuda_async_proxy",
               "cuda_generic_and_async_proxy"}
             .contains(second);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += w.empty() ? "" : (text.empty() ? "" : " ") + w;
  return text;
}

// A place and what the execution barrier is there; nullopt: none (E-S05).
struct FencePlace {
  SyncPlace place;
  std::optional<std::string> barrier;
  bool warpgroup = false;  // exactly one aligned warpgroup
};

const std::string threads = "for t in cuda_threads(0, 64, unit=cuda_thread):";
const std::string warps = "for w in cuda_threads(0, 2, unit=cuda_warp):";

const std::vector<FencePlace> fence_places{
    {{"one thread", "blockDim=64", {threads}}, ""},
    {{"one warp", "blockDim=64", {warps}}, "syncwarp"},
    {{"warp 3", "blockDim=256", {"with CudaWarps(3, 4):"}}, "syncwarp"},
    {{"a CTA of one warp", "blockDim=32"}, "syncwarp"},
    {{"the CTA", "blockDim=64"}, "bar_cta"},
    {{"a CTA of one warpgroup", "blockDim=128"}, "bar_cta", true},
    {{"each CTA of a cluster",
      "blockDim=64, clusterDim=2",
      {"for c in cuda_threads(0, 2, unit=cuda_cta_in_cluster):"}},
     "bar_cta"},
    {{"the cluster", "blockDim=64, clusterDim=2"}, "cluster_arrive cluster_wait"},
    {{"a cluster of CTAs of one warp", "blockDim=32, clusterDim=4"}, "cluster_arrive cluster_wait"},
    {{"half a warp", "blockDim=64", {"for h in cuda_threads(0, 4, unit=16 * cuda_thread):"}}, std::nullopt},
    {{"two warps of four", "blockDim=128", {"with CudaWarps(0, 2):"}}, std::nullopt},
    {{"a warpgroup of two", "blockDim=256", {"with CudaWarps(4, 8):"}}, std::nullopt, true},
    {{"each warpgroup", "blockDim=256", {"for g in cuda_threads(0, 2, unit=cuda_warpgroup):"}},
     std::nullopt,
     true},
    {{"four warps across warpgroups", "blockDim=256", {"with CudaWarps(2, 6):"}}, std::nullopt},
    {{"two CTAs of four",
      "blockDim=32, clusterDim=4",
      {"for c in cuda_threads(0, 2, unit=2 * cuda_cta_in_cluster):"}},
     std::nullopt},
    {{"a warp in each of two CTAs",
      "blockDim=64, clusterDim=2",
      {"for w in cuda_threads(0, 2, unit=2 * cuda_warp_in_cluster_strided(1)):"}},
     std::nullopt},
};

SyncRow fence_row(const FencePlace& at, const std::string& first, const std::string& second) {
  SyncRow row{{}, {fmt::format("Fence({}, {})", first, second)}, "", ""};
  if (first == "wgmma_fence_1") {
    if (second != "wgmma_fence_2")
      row.rule = "E-S04";
    else if (!at.warpgroup)
      row.rule = "E-S06";
    else
      row.emitted = "wgmma_fence";
    return row;
  }
  if (!plain_firsts.contains(first) && !draining_firsts.contains(first)) {
    row.rule = "E-S01";
    return row;
  }
  if (!seconds.contains(second)) {
    row.rule = "E-S02";
    return row;
  }
  std::string barrier = at.barrier.value_or("");
  if (!at.barrier) {
    // M7: the warpgroup's special case.
    if (!at.warpgroup || !Names{"wgmma_async_smem", "empty_sync_tl"}.contains(second)) {
      row.rule = "E-S05";
      return row;
    }
    barrier = "bar_named(1 + tid / 128, 128)";
  }
  const std::string drain = draining_firsts.contains(first) ? "cp_async_wait_all" : "";
  const std::string fence = proxy(first, second) ? "fence_proxy_async" : "";
  // P4: by the writers before the barrier and, where there are other threads, after it.
  row.emitted = joined({drain, fence, barrier, barrier.empty() ? "" : fence});
  return row;
}

// One row per pair of timelines; `name` is a barrier of the row's own.
template <class Row>
std::vector<SyncRow> rows(const Row& row) {
  std::vector<SyncRow> all;
  for (const std::string& first : timelines) {
    for (const std::string& second : timelines)
      all.push_back(row(first, second, fmt::format("z{}", all.size())));
  }
  return all;
}

const std::vector<SyncPlace> mbarrier_places{
    {"one thread", "blockDim=64", {threads}, "[64]", "[t]"},
    {"one warp", "blockDim=64", {warps}, "[2]", "[w]"},
    {"half a warp", "blockDim=64", {"for h in cuda_threads(0, 4, unit=16 * cuda_thread):"}, "[4]", "[h]"},
    {"two warps of four", "blockDim=128", {"with CudaWarps(1, 3):"}},
    {"the CTA", "blockDim=64"},
    {"each CTA of a cluster",
     "blockDim=64, clusterDim=2",
     {"for c in cuda_threads(0, 2, unit=cuda_cta_in_cluster):"},
     "[2]",
     "[c]"}};

std::string both(const std::string& rule, const std::string& other) {
  return joined({std::min(rule, other), std::max(rule, other)});
}

// M1, M3.
std::string mbarrier_arrival(const std::string& first) {
  if (plain_firsts.contains(first) || first == "Sm80_cp_async") return "";
  return first == "tma_to_smem_async" ? "E-S11" : "E-S10";
}

// One mbarrier per instance of the place, inside a CTA.
SyncRow mbarrier_row(const SyncPlace& at, const std::string& first, const std::string& second,
                     const std::string& name) {
  SyncRow row{{name + ": barrier" + at.extents + " @ CudaMbarrier"},
              {fmt::format("Arrive({}, 1) >> {}{}", first, name, at.index),
               fmt::format("Await({}{}, {}, ~0)", name, at.index, second)},
              both(mbarrier_arrival(first), seconds.contains(second) ? "" : "E-S12"),
              ""};
  const std::string fence = proxy(first, second) ? "fence_proxy_async" : "";
  row.emitted = joined({fence, first == "Sm80_cp_async" ? "mbar_arrive_cp_async" : "mbar_arrive<false>",
                        "ring_advance", "ring_wait<false>", fence});
  return row;
}

// The mbarriers of two CTAs, each signalled by both.
SyncRow multicast_row(const std::string& first, const std::string& second, const std::string& name) {
  const std::string loop = "in cuda_threads(0, 2, unit=cuda_cta_in_cluster):";
  SyncRow row{{name + ": barrier[2] @ CudaMbarrier"},
              {"for c " + loop, fmt::format("    Arrive({0}, 1) >> {1}[c] >> {1}[:]", first, name),
               "for d " + loop, fmt::format("    Await({}[d], {}, ~0)", name, second)},
              both(first == "Sm80_cp_async" ? "E-S14" : mbarrier_arrival(first),
                   seconds.contains(second) ? "" : "E-S12"),
              ""};
  const std::string fence = proxy(first, second) ? "fence_proxy_async" : "";
  row.emitted = joined({fence, "mbar_arrive<true> mbar_arrive_remote ring_advance ring_wait<true>", fence});
  return row;
}

SyncRow cluster_sync_row(const std::string& first, const std::string& second, const std::string& name) {
  const bool drained = draining_firsts.contains(first);
  SyncRow row{
      {},
      {name + ": barrier @ CudaClusterSync", fmt::format("Arrive({}, 1) >> {}", first, name),
       fmt::format("Await({}, {}, 0)", name, second)},
      both(plain_firsts.contains(first) || drained ? "" : "E-S01", seconds.contains(second) ? "" : "E-S02"),
      ""};
  const std::string fence = proxy(first, second) ? "fence_proxy_async" : "";
  row.emitted = joined({drained ? "cp_async_wait_all" : "", fence, "cluster_arrive cluster_wait", fence});
  return row;
}

// A kind of commit group: its first timelines (M1, M2), its second ones (M5) and its instructions.
struct CommitGroup {
  SyncPlace place;
  Names firsts, seconds;
  std::string emitted;
};

const std::vector<CommitGroup> commit_groups{
    {{"commit groups of cp.async", "blockDim=64", {threads}},
     {"Sm80_cp_async"},
     {"empty_sync_tl", "cuda_in_order", "cuda_temporal", "Sm80_cp_async", "Sm80_generic"},
     "cp_async_commit cp_async_wait<1>"},
    {{"commit groups of TMA stores", "blockDim=64", {warps}},
     {"tma_to_gmem_async"},
     seconds,
     "bulk_commit bulk_wait<1>"},
    {{"commit groups of wgmma", "blockDim=256", {"for g in cuda_threads(0, 2, unit=cuda_warpgroup):"}},
     {"wgmma_async", "wgmma_async_smem", "wgmma_fence_2"},
     seconds,
     "wgmma_commit wgmma_wait<1>"},
};

std::vector<std::string> commit_group_lines(const std::string& first, const std::string& second,
                                            const std::string& name) {
  return {name + ": barrier @ CudaCommitGroup", fmt::format("Arrive({}, 1) >> {}", first, name),
          fmt::format("Await({}, {}, 1)", name, second)};
}

}  // namespace

TEST_CASE("sync tables: Fence, every pair of timelines at every collective unit") {
  for (const FencePlace& at : fence_places) {
    check_rows(at.place, rows([&](const std::string& first, const std::string& second, const std::string&) {
                 return fence_row(at, first, second);
               }));
  }
}

TEST_CASE("sync tables: mbarriers, every pair of timelines inside a CTA and across CTAs") {
  for (const SyncPlace& at : mbarrier_places) {
    check_rows(at, rows([&](const std::string& first, const std::string& second, const std::string& name) {
                 return mbarrier_row(at, first, second, name);
               }));
  }
  check_rows({"a cluster", "blockDim=64, clusterDim=2"}, rows(multicast_row));
}

TEST_CASE("sync tables: cluster syncs, every pair of timelines") {
  check_rows({"the cluster", "blockDim=64, clusterDim=2"}, rows(cluster_sync_row));
  check_rows({"a cluster of one CTA", "blockDim=64"}, rows(cluster_sync_row));
}

TEST_CASE("sync tables: commit groups, every pair of timelines of every kind") {
  for (const CommitGroup& kind : commit_groups) {
    check_rows(
        kind.place, rows([&](const std::string& first, const std::string& second, const std::string& name) {
          SyncRow row{{}, commit_group_lines(first, second, name), "", kind.emitted};
          const bool other = std::any_of(commit_groups.begin(), commit_groups.end(),
                                         [&](const CommitGroup& g) { return g.firsts.contains(first); });
          if (!other)
            row.rule = "E-S20";
          else if (!kind.firsts.contains(first))
            row.rule = "E-U18";  // the kind follows from the timeline, and its unit is another one
          else if (!kind.seconds.contains(second))
            row.rule = "E-S21";
          return row;
        }));
  }
}

TEST_CASE("sync tables: units of barriers") {
  const auto rejected = [&](const SyncPlace& at, const std::string& barrier, const std::string& first) {
    check_rows(
        at,
        {SyncRow{{"z: barrier" + at.extents + " @ " + barrier},
                 {"Arrive(" + first + ", 1) >> z" + at.index,
                  "Await(z" + at.index + ", cuda_in_order, " + (barrier == "CudaMbarrier" ? "~0)" : "0)")},
                 "E-U18",
                 ""}});
  };
  const SyncPlace cta{"the CTA", "blockDim=64"}, cluster{"the cluster", "blockDim=64, clusterDim=2"},
      each_cta = mbarrier_places.back(), warp{"one warp", "blockDim=256", {"with CudaWarps(0, 1):"}},
      straddling{"four warps across warpgroups", "blockDim=256", {"with CudaWarps(2, 6):"}};
  rejected(cluster, "CudaMbarrier", "cuda_in_order");
  rejected(each_cta, "CudaClusterSync", "cuda_in_order");
  rejected(warp, "CudaClusterSync", "cuda_in_order");
  rejected(cta, "CudaCommitGroup", "Sm80_cp_async");
  rejected(warp, "CudaCommitGroup", "Sm80_cp_async");
  rejected(cta, "CudaCommitGroup", "tma_to_gmem_async");
  rejected(cta, "CudaCommitGroup", "wgmma_async");
  rejected(straddling, "CudaCommitGroup", "wgmma_async");
}

TEST_CASE("sync tables: an mbarrier expects the threads that arrive, from every CTA that signals it") {
  const auto expected = [](const SyncPlace& at, const SyncRow& row) {
    INFO(at.name);
    const std::string source = source_of(program_of(at, {row}).first);
    const auto init = source.find("xrt_mbar_init(");
    REQUIRE(init != std::string::npos);
    const std::string line = source.substr(init, source.find('\n', init) - init);
    return line.substr(line.rfind(' ') + 1);
  };
  const std::vector<std::string> counts{"1);", "32);", "16);", "64);", "64);", "64);"};
  for (std::size_t i = 0; i < counts.size(); ++i)
    CHECK(expected(mbarrier_places[i],
                   mbarrier_row(mbarrier_places[i], "cuda_in_order", "cuda_in_order", "z")) == counts[i]);
  const std::string row = "for m in cuda_threads(0, 2, unit=2 * cuda_cta_in_cluster):",
                    column = "    for n in cuda_threads(0, 2, unit=cuda_cta_in_cluster):";
  const auto cluster = [&](const std::string& targets) {
    return expected({"a cluster of 2 x 2", "blockDim=64, clusterDim=4"},
                    {{"z: barrier[2, 2] @ CudaMbarrier"},
                     {row, column, "        Arrive(cuda_in_order, 1) >> " + targets, row, column,
                      "        Await(z[m, n], cuda_in_order, ~0)"},
                     "",
                     ""});
  };
  CHECK(cluster("z[m, n]") == "64);");
  CHECK(cluster("z[m, n] >> z[m, :]") == "128);");
  CHECK(cluster("z[m, :] >> z[:, n]") == "192);");
  CHECK(cluster("z[m, n] >> z[:, :]") == "256);");
}

TEST_CASE("sync tables: fences of host code") {
  for (const std::string& first : timelines) {
    for (const std::string& second : timelines) {
      const std::string text = fmt::format(
          "def k(y: f32[1] @ CudaGmemLinear):\n"
          "    with CudaDeviceFunction(blockDim=32):\n"
          "        for task in cuda_tasks(0, 1):\n"
          "            pass\n"
          "    Fence({}, {})\n",
          first, second);
      INFO(first << ", " << second);
      const bool waits = first == "cuda_stream_sync" && second == "cpu_in_order";
      if (waits || (first == "cpu_in_order" && second == "cuda_stream_sync")) {
        CHECK((source_of(text).find("xrt_stream_sync(stream);") != std::string::npos) == waits);
        continue;
      }
      const auto loaded = frontend::load(std::make_shared<const semantics::SourceFile>("test.exo", text));
      const auto prepared =
          amir::prepare(loaded.program.procedures.back(), loaded.program, analysis::Mode::standard);
      REQUIRE(prepared.findings.size() == 1);
      CHECK(prepared.findings.front().rule->code == "E-U10");
    }
  }
}
