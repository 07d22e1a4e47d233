// Aliasing (language.md 6.5) and parallel CPU loops (decisions.md D10).
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

const std::string q = "def q(x: [f32][4] @ DRAM, y: [f32][4] @ DRAM):\n    y[0] = x[0]\n\n";
const std::string a = "a: f32[8] @ DRAM, b: f32[8] @ DRAM";
const std::string config = "@config\nclass Cfg:\n    f: f32\n    k: index\n\n";

TEST_CASE("one buffer, one argument", "[analysis][aliasing]") {
  check({
      {"E-A01", q + host(a, "q(a[0:4], a[4:8])"), q + host(a, "q(a[0:4], b[4:8])")},
      {"E-A01", q + host(a, "w = a[0:4]\nq(w, a[4:8])"), q + host(a, "w = a[0:4]\nq(w, b[4:8])")},
      {"E-A01", q + host(a, "w = a[:]\nv = w[0:4]\nu = a[4:8]\nq(v, u)"), ""},
      // Instructions as well.
      {"E-A01",
       task("blockDim=32", "",
            "v: f32[32] @ CudaRmem\nfor t in cuda_threads(0, 32):\n    v[t] = 1.0\n"
            "cuda_warp_broadcast_sync_1f32(v[:], v[:], 0, size0=32)\n"),
       task("blockDim=32", "",
            "v: f32[32] @ CudaRmem\nu: f32[32] @ CudaRmem\nfor t in cuda_threads(0, 32):\n    v[t] = 1.0\n"
            "cuda_warp_broadcast_sync_1f32(u[:], v[:], 0, size0=32)\n")},
  });
}

TEST_CASE("config fields by reference", "[analysis][aliasing]") {
  const std::string uses = "def uses(x: f32 @ DRAM):\n    Cfg.f = x\n\n";
  const std::string indirect =
      uses + "def calls(x: f32 @ DRAM):\n    y: f32 @ DRAM\n    y = x\n    uses(y)\n\n";
  const std::string innocent = "def innocent(x: f32 @ DRAM):\n    y: f32 @ DRAM\n    y = x\n\n";
  check({
      {"E-A02", config + uses + host("", "uses(Cfg.f)"), config + innocent + host("", "innocent(Cfg.f)")},
      {"E-A02", config + indirect + host("", "calls(Cfg.f)"), ""},
  });
}

TEST_CASE("a par loop is not judged", "[analysis][aliasing]") {
  const auto verdict = [](const std::string& text) {
    const auto loaded = load(text);
    return analyse(loaded.program.procedures.at(0), loaded.program, Mode::standard);
  };
  const auto result = verdict(host("a: f32[8] @ DRAM", "for i in par(0, 8):\n    a[i] = 1.0"));
  CHECK(result.diagnostics.empty());
  REQUIRE(result.unsupported);
  CHECK(result.unsupported->rule->code == "E-V01");
  CHECK(result.unsupported->location.begin().line == 2);
  CHECK_FALSE(verdict(host("a: f32[8] @ DRAM", "for i in seq(0, 8):\n    a[i] = 1.0")).unsupported);
  // In device code it is an error instead.
  CHECK_FALSE(verdict(task("blockDim=32", "", "for i in par(0, 8):\n    pass")).unsupported);
}

}  // namespace
}  // namespace exocheck::analysis::test
