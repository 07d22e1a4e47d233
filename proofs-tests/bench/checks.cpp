// How long a check takes, as Google Benchmark cases: each engine on the kernels at growing sizes. A case
// whose verdict is not the expected one reports an error instead of a time.
//
//   proof/KERNEL/SIZES    amir::prove: all sizes, or the sizes named, without running the machine
//   check/KERNEL/SIZES    text to verdict: parse, type-check, static passes, amir::check_procedure
//   machine/KERNEL/SIZES  amir::run, the machine that executes every task and iteration
//   naive/KERNEL/SIZES    amir::run_naive, the same over single elements and threads
//
// bench.py runs every case in a process of its own and makes the table.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "amir/check.hpp"
#include "amir/check_prepare.hpp"
#include "amir/check_sizes.hpp"
#include "amir/machine.hpp"
#include "amir/naive_machine.hpp"
#include "amir/proof.hpp"
#include "frontend/frontend.hpp"

using namespace exocheck;
using semantics::ir::SizeSet;

namespace {

constexpr analysis::Mode mode = analysis::Mode::standard;

// One warp fills a ring of `ring` tiles of `rows` x 32 by TMA, another one reads a column of each.
std::string ring_text(std::int64_t rows, std::int64_t ring) {
  constexpr const char* text = R"(
def tma_ring(K: size, A: f32[{rows}, 32 * K] @ CudaGmemLinear, C: f32[K, 32] @ CudaGmemLinear):
    A_map = A[:, :] @ Sm90_tensorMap(128, {rows}, 32)
    with CudaDeviceFunction(warp_config=[CudaWarpConfig("math", 1), CudaWarpConfig("tma", 1)]):
        for task in cuda_tasks(0, 1):
            full: barrier @ CudaMbarrier
            empty: barrier(full) @ CudaMbarrier
            A_s: f32[{ring}, {rows}, 32] @ Sm90_SmemSwizzled(128)
            for k in seq(0, K):
                with CudaWarps(name="tma"):
                    Await(empty, cuda_temporal, ~{ring})
                    Sm90_copy_tensor_to_smem_swizzled_2f32(A_s[k % {ring}, :, :], A_map[0:{rows}, 32 * k:32 * k + 32], size0={rows}, size1=32) >> full
                    Arrive(cuda_temporal, 1) >> full
                with CudaWarps(name="math"):
                    Await(full, cuda_in_order, ~0)
                    for t in cuda_threads(0, 32, unit=cuda_thread):
                        C[k, t] = A_s[k % {ring}, t, 0]
                    Arrive(cuda_in_order, 1) >> empty
            Fence(cuda_in_order, cuda_in_order)
)";
  return fmt::format(text, fmt::arg("rows", rows), fmt::arg("ring", ring));
}

semantics::SourcePtr source(const std::string& kernel) {
  std::int64_t rows = 0, ring = 0;
  if (std::sscanf(kernel.c_str(), "generated/tma_ring_of_%ld_x_%ld", &ring, &rows) == 2)
    return std::make_shared<const semantics::SourceFile>(kernel, ring_text(rows, ring));
  const std::string path = EXOCHECK_SOURCE_DIR "/kernels/" + kernel + ".exo";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::make_shared<const semantics::SourceFile>(path, text.str());
}

semantics::ir::Program load(const semantics::SourcePtr& text) {
  frontend::LoadResult loaded = frontend::load(text);
  if (loaded.failed()) throw std::runtime_error(text->path() + " does not load");
  return std::move(loaded.program);
}

// A kernel behind its static passes, with its sizes; no sizes: all.
struct Subject {
  Subject(const std::string& kernel, const SizeSet& sizes) : program(load(source(kernel))) {
    preparation = amir::prepare(program.procedures.back(), program, analysis::AnalysisOptions(mode));
    if (!preparation.prepared) throw std::runtime_error(kernel + " is not accepted by the static passes");
    if (sizes.empty()) return;
    const amir::SizePlan plan = amir::plan_sizes(prepared().procedure, {sizes});
    environment = amir::Sizes(amir().symbol_count);
    for (const auto p : prepared().procedure.parameters) {
      const auto& value = plan.choices.at(0).environment[p];
      if (!value) continue;
      environment.set(p, *value);
      if (prepared().procedure.symbol(p).kind != semantics::ir::SymbolKind::stride)
        fixed.emplace_back(p, *value);
    }
  }
  const amir::Prepared& prepared() const { return *preparation.prepared; }
  const amir::Program& amir() const { return prepared().translation.program; }

  semantics::ir::Program program;
  amir::Preparation preparation;
  amir::Sizes environment{0};
  amir::ParameterValues fixed;
};

void proof(benchmark::State& state, const std::string& kernel, const SizeSet& sizes) {
  const Subject subject(kernel, sizes);
  amir::ProofResult result;
  for (auto _ : state) {
    result = amir::prove(subject.amir(), subject.prepared().procedure, subject.fixed, amir::rules_of(mode));
    if (result.kind != amir::ProofResult::Kind::proved)
      return state.SkipWithError(("not proved: " + result.reason).c_str());
  }
  state.counters["slices"] = static_cast<double>(result.slices);
  state.counters["statements"] = static_cast<double>(result.steps);
  state.counters["solver_calls"] = static_cast<double>(result.solver_calls);
}

void check(benchmark::State& state, const std::string& kernel, const SizeSet& sizes) {
  const semantics::SourcePtr text = source(kernel);
  amir::CheckOptions options;
  options.mode = mode;
  if (!sizes.empty()) options.sizes = {sizes};
  amir::ProcedureResult result;
  for (auto _ : state) {
    const semantics::ir::Program program = load(text);
    result = amir::check_procedure(program.procedures.back(), program, options);
    const bool expected =
        sizes.empty() ? result.verdict == amir::Verdict::proved : result.verdict == amir::Verdict::checked;
    if (!expected) return state.SkipWithError(("not accepted: " + result.reason).c_str());
  }
  state.counters["statements"] = static_cast<double>(result.stats.statements);
}

using Machine = std::function<amir::Outcome(const amir::Program&, const amir::Sizes&)>;

void execute(benchmark::State& state, const std::string& kernel, const SizeSet& sizes,
             const Machine& machine) {
  const Subject subject(kernel, sizes);
  amir::Outcome outcome;
  for (auto _ : state) {
    outcome = machine(subject.amir(), subject.environment);
    if (outcome.limit || outcome.violation || !outcome.executed_task)
      return state.SkipWithError("not accepted");
  }
  state.counters["statements"] = static_cast<double>(outcome.nodes_executed);
}

amir::Outcome working(const amir::Program& p, const amir::Sizes& s) {
  return amir::run(p, s, amir::rules_of(mode), {});
}
amir::Outcome naive(const amir::Program& p, const amir::Sizes& s) {
  return amir::run_naive(p, s, amir::rules_of(mode), {});
}

void add(const std::string& engine, const std::string& kernel, const SizeSet& sizes) {
  std::string name = engine + "/" + kernel + "/";
  for (const auto& [parameter, value] : sizes)
    name += (name.back() == '/' ? "" : ",") + parameter + "=" + std::to_string(value);
  if (sizes.empty()) name += "all";
  const auto body = [=](benchmark::State& state) {
    if (engine == "proof") return proof(state, kernel, sizes);
    if (engine == "check") return check(state, kernel, sizes);
    execute(state, kernel, sizes, engine == "machine" ? working : naive);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond);
}

SizeSet gemm(std::int64_t m, std::int64_t n, std::int64_t k) { return {{"M", m}, {"N", n}, {"K", k}}; }

void add_all() {
  const std::string cluster = "sm90/gemm_2x1_direct";
  for (const std::int64_t k : {512, 1024, 4096, 65536}) add("proof", cluster, gemm(512, 512, k));
  for (const std::int64_t mn : {4096, 512'000}) {
    for (const std::int64_t k : {512, 4096}) add("proof", cluster, gemm(mn, mn, k));
  }
  for (const char* shape : {"1x1_direct", "1x2_direct", "2x1_direct", "2x2_direct", "1x1_tma", "1x2_tma",
                            "2x1_tma", "2x2_tma", "2x1_splitk", "pingpong"}) {
    add("proof", std::string("sm90/gemm_") + shape, {});
  }
  for (const char* kernel : {"gemm_fence", "gemm_mbarrier", "gemm_commit_groups"})
    add("proof", std::string("sm80/") + kernel, {});

  using Ring = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [ring, rows] : {Ring{4, 32}, {4, 64}, {4, 256}, {2, 64}, {8, 64}, {16, 64}})
    add("proof", fmt::format("generated/tma_ring_of_{}_x_{}", ring, rows), {});

  for (const SizeSet& sizes :
       {gemm(512, 512, 512), gemm(512, 512, 65536), gemm(4096, 4096, 4096), gemm(512'000, 512'000, 4096), {}})
    add("check", cluster, sizes);

  for (const std::int64_t k : {512, 1024, 2048}) add("machine", cluster, gemm(512, 512, k));
  add("machine", cluster, gemm(1024, 1024, 1024));

  // Small enough for the naive machine.
  const std::string tiny = "basic/staged_reverse";
  for (const std::int64_t n : {128, 256, 512}) {
    for (const char* engine : {"naive", "machine", "proof"}) add(engine, tiny, {{"n", n}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    add_all();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
  return 0;
}
