// Launch parameters (language.md 8.2, decisions.md K8, K9; conformance PA-15 .. PA-21).
#include "analysis/launch_registers.hpp"
#include "programs.hpp"

namespace exocheck::analysis::test {
namespace {

std::string launched(const std::string& launch) { return task(launch, "", "pass"); }
std::string warps(const std::string& entries) { return launched("warp_config=[" + entries + "]"); }

TEST_CASE("launch parameters: one rule at a time", "[analysis][launch]") {
  check({
      {"E-W01", launched("blockDim=32, clusterDim=3"), launched("blockDim=32, clusterDim=8")},
      {"E-W01", launched("blockDim=32, clusterDim=0"), launched("blockDim=32, clusterDim=1")},
      {"E-W01", launched("blockDim=32, clusterDim=-2"), ""},
      {"E-W01", launched("blockDim=32, clusterDim=0.5"), ""},
      {"E-W02", launched("blockDim=48"), launched("blockDim=96")},
      {"E-W02", launched("blockDim=0"), launched("blockDim=1024")},
      {"E-W02", launched("blockDim=-64"), ""},
      {"E-W02", launched("blockDim=0.5"), ""},
      {"E-W02", launched("warp_config=[]"), ""},
      {"E-W03", launched("blockDim=32, warp_config=[CudaWarpConfig(\"a\", 1)]"),
       warps("CudaWarpConfig(\"a\", 1)")},
      {"E-W03", launched(""), ""},
      {"E-W04", launched("blockDim=32, blocks_per_sm=0"), launched("blockDim=32, blocks_per_sm=2")},
      {"E-W04", launched("blockDim=32, blocks_per_sm=1.5"), ""},
      {"E-W05", warps("CudaWarpConfig(\"a\", 0)"), warps("CudaWarpConfig(\"a\", 1)")},
      {"E-W06", warps("CudaWarpConfig(\"a\", 4, setmaxnreg_dec=40, setmaxnreg_inc=232)"),
       warps("CudaWarpConfig(\"a\", 4, setmaxnreg_dec=40)")},
      {"E-W07", warps("CudaWarpConfig(\"a\", 4), CudaWarpConfig(\"b\", 4), CudaWarpConfig(\"a\", 8)"),
       warps("CudaWarpConfig(\"a\", 4), CudaWarpConfig(\"b\", 4), CudaWarpConfig(\"c\", 8)")},
      {"E-W08", warps("CudaWarpConfig(\"hello world\", 1)"), warps("CudaWarpConfig(\"hello_world1\", 1)")},
      {"E-W08", warps("CudaWarpConfig(\"***\", 1)"), warps("CudaWarpConfig(\"\", 1)")},
      {"L-07", launched("blockDim=1048576, clusterDim=2"), ""},
  });
}

TEST_CASE("launch parameters: register counts", "[analysis][launch]") {
  const std::string low = "setmaxnreg_dec=40";
  const std::string high = "setmaxnreg_inc=232";
  const auto pair = [&](int a, const std::string& ra, int b, const std::string& rb) {
    return warps("CudaWarpConfig(\"a\", " + std::to_string(a) + ", " + ra + "), CudaWarpConfig(\"b\", " +
                 std::to_string(b) + ", " + rb + ")");
  };
  check({
      {"E-W09", pair(4, high, 6, low), pair(8, high, 4, low)},
      {"E-W10", pair(5, high, 7, low), ""},
      {"E-W11", pair(8, high, 4, "setmaxnreg_dec=16"), pair(8, high, 4, "setmaxnreg_dec=24")},
      {"E-W11", pair(8, high, 4, "setmaxnreg_dec=100"), ""},
      {"E-W11", pair(8, high, 4, "setmaxnreg_dec=320"), ""},
      {"E-W12", pair(8, high, 4, "setmaxnreg_dec=232"), ""},
      {"E-W13", pair(8, "setmaxnreg_inc=240", 4, low), ""},
  });
  // A group without a request next to one with a request is a change, at the true offset.
  CHECK(codes(warps("CudaWarpConfig(\"a\", 2), CudaWarpConfig(\"b\", 6, setmaxnreg_dec=40)")) ==
        Codes{"E-W10"});
  CHECK(codes(warps("CudaWarpConfig(\"a\", 4), CudaWarpConfig(\"b\", 4, setmaxnreg_dec=40)")) == Codes{});
}

TEST_CASE("register budget: warnings and modes", "[analysis][launch]") {
  CHECK(launch_registers(384, 1) == 168);
  CHECK(launch_registers(128, 1) == 248);
  CHECK(launch_registers(1024, 1) == 64);
  CHECK(launch_registers(384, 2) == 80);
  const std::string over = warps("CudaWarpConfig(\"a\", 4, setmaxnreg_inc=232), CudaWarpConfig(\"b\", 8)");
  CHECK(codes(over) == Codes{"E-W13"});
  CHECK(codes(over, Mode::strict) == Codes{"E-W13"});
  CHECK(codes(over, Mode::paper_exact) == Codes{});
  // 168 registers at launch: 176 is not a decrease, 24 not an increase.
  CHECK(codes(warps(
            "CudaWarpConfig(\"a\", 4, setmaxnreg_dec=176), CudaWarpConfig(\"b\", 8, setmaxnreg_dec=40)")) ==
        Codes{"W-W13"});
  CHECK(codes(warps("CudaWarpConfig(\"a\", 4, setmaxnreg_inc=24), CudaWarpConfig(\"b\", 8)")) ==
        Codes{"W-W13"});
}

TEST_CASE("launch parameters beyond the hardware are a warning", "[analysis][launch]") {
  CHECK(codes(launched("blockDim=1056")) == Codes{"W-W02"});
  CHECK(codes(launched("blockDim=32, clusterDim=32")) == Codes{"W-W02"});
  CHECK(codes(launched("blockDim=1024, clusterDim=16")) == Codes{});
}

TEST_CASE("launch facts", "[analysis][launch]") {
  const auto loaded = load(warps("CudaWarpConfig(\"a\", 1), CudaWarpConfig(\"b\", 3)"));
  REQUIRE(loaded.program.procedures.size() == 1);
  const auto result = analyse(loaded.program.procedures[0], loaded.program, Mode::standard);
  REQUIRE(result.facts.launch.size() == 1);
  const LaunchFacts& facts = result.facts.launch.begin()->second;
  CHECK(facts.geometry == Geometry{1, 128});
  REQUIRE(facts.warp_groups.size() == 2);
  CHECK(facts.warp_groups[1].name == "b");
  CHECK(facts.warp_groups[1].first_warp == 1);
  CHECK(facts.warp_groups[1].count == 3);
}

}  // namespace
}  // namespace exocheck::analysis::test
