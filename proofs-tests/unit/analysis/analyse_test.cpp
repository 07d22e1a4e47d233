// The pass manager: order of the passes, one failing pass, modes (language.md 11; decisions.md C14, O1).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string g = "g: f32[8] @ CudaGmemLinear";

TEST_CASE("only the first failing pass reports", "[analysis][analyse]") {
  // Shared memory of a bad shape (last pass), a store by 32 threads (collectives), a barrier without
  // partners, a read of DRAM in device code, a store out of bounds: each fault hides those behind it.
  const std::string shape = "s: f32[n] @ CudaSmemLinear\n";
  const std::string scope = "g[0] = 1.0\n";
  const std::string barrier = "z: barrier @ CudaMbarrier\n";
  const std::string device_scope = "for t in cuda_threads(0, 1):\n    g[0] = d[0]\n";
  const std::string bounds = "for t in cuda_threads(0, 1):\n    g[8] = 1.0\n";
  const std::string parameters = "n: size, " + g + ", d: f32[8] @ DRAM";
  const auto kernel = [&](const std::string& body) { return codes(task("blockDim=32", parameters, body)); };
  const std::string use = "for t in cuda_threads(0, 32):\n    if t < n:\n        s[t] = 1.0\n";
  CHECK(kernel(shape + use) == Codes{"E-M12"});
  CHECK(kernel(shape + use + scope) == Codes{"E-H10"});
  CHECK(kernel(shape + use + scope + barrier) == Codes{"E-U14"});
  CHECK(kernel(shape + use + scope + barrier + device_scope) == Codes{"E-D02"});
  CHECK(kernel(shape + use + scope + barrier + device_scope + bounds) == Codes{"E-B04"});
}

TEST_CASE("a statement beside the task nest is named before its collective is looked at",
          "[analysis][analyse]") {
  CHECK(codes(device("blockDim=32", g, "g[0] = 1.0\nfor a in cuda_tasks(0, 1):\n    pass")) ==
        Codes{"E-K01"});
}

TEST_CASE("launch parameters come first", "[analysis][analyse]") {
  CHECK(codes(task("blockDim=48", g, "for t in cuda_threads(0, 1):\n    g[8] = 1.0\n")) == Codes{"E-W02"});
}

TEST_CASE("all findings of the failing pass, and the warnings before it", "[analysis][analyse]") {
  CHECK(findings(task(
            "blockDim=1056", "n: size",
            "s: f32[n] @ CudaSmemLinear\nr: f32[1056, n] @ CudaRmem\n"
            "for t in cuda_threads(0, 1056):\n    r[t, 0] = 1.0\n    if t < n:\n        s[t] = 1.0\n")) ==
        Codes{"E-M12@4", "E-M14@5", "W-W02@2"});
}

TEST_CASE("operators beyond the paper are a warning in paper-exact mode", "[analysis][analyse]") {
  const std::string text =
      host("n: size, a: f32[n] @ DRAM", "for i in seq(0, n):\n    if i != 3:\n        a[i] = 1.0");
  CHECK(codes(text) == Codes{});
  CHECK(codes(text, Mode::strict) == Codes{});
  CHECK(codes(text, Mode::paper_exact) == Codes{"E-P52"});
  const auto loaded = load(text);
  const auto result = analyse(loaded.program.procedures.at(0), loaded.program, Mode::paper_exact);
  CHECK_FALSE(semantics::has_errors(result.diagnostics));
}

TEST_CASE("a correct kernel has no findings and all facts", "[analysis][analyse]") {
  const std::string text = task("blockDim=64", "src: f32[64] @ CudaGmemLinear, dst: f32[64] @ CudaGmemLinear",
                                "tile: f32[64] @ CudaSmemLinear\n"
                                "for t in cuda_threads(0, 64, unit=cuda_thread):\n    tile[t] = src[t]\n"
                                "Fence(cuda_in_order, cuda_in_order)\n"
                                "for t in cuda_threads(0, 64, unit=cuda_thread):\n    dst[t] = tile[63 - t]\n"
                                "Fence(cuda_in_order, cuda_in_order)\n");
  CHECK(codes(text) == Codes{});
  const auto loaded = load(text);
  const auto result = analyse(loaded.program.procedures.at(0), loaded.program, Mode::standard);
  CHECK(result.facts.launch.size() == 1);
  CHECK(result.facts.allocation.size() == 1);
  CHECK(result.facts.free_after.size() == 1);
  CHECK_FALSE(result.facts.tiling.empty());
  CHECK_FALSE(result.unsupported);
}

}  // namespace
}  // namespace exocheck::analysis::test
