#include "codegen/smem_plan.hpp"

#include <catch2/catch.hpp>

using namespace exocheck::codegen;

TEST_CASE("a freed block leaves a gap that the next one takes") {
  // allocate A, allocate B, free A, allocate C
  const std::vector<SmemBlock> blocks{{1024, 128}, {512, 128}, {256, 128}};
  const SmemPlan plan = plan_smem(blocks, {{true, 0}, {true, 1}, {false, 0}, {true, 2}}, 0);
  CHECK(plan.offsets == std::vector<std::int64_t>{0, 1024, 0});
  CHECK(plan.bytes == 1536);
}

TEST_CASE("a block that does not fit into the gap goes behind") {
  const std::vector<SmemBlock> blocks{{128, 128}, {512, 128}, {256, 128}};
  const SmemPlan plan = plan_smem(blocks, {{true, 0}, {true, 1}, {false, 0}, {true, 2}}, 0);
  CHECK(plan.offsets[2] == 640);
  CHECK(plan.bytes == 896);
}

TEST_CASE("mbarriers keep their place at the start, and alignment is honoured behind them") {
  const SmemPlan plan = plan_smem({{65536, 1024}}, {{true, 0}, {false, 0}}, 48);
  CHECK(plan.offsets[0] == 1024);
  CHECK(plan.bytes == 66560);
  CHECK(plan_smem({}, {}, 48).bytes == 48);
}

TEST_CASE("a block allocated again while alive keeps its place") {
  const SmemPlan plan = plan_smem({{64, 4}, {64, 4}}, {{true, 0}, {true, 1}, {true, 0}}, 0);
  CHECK(plan.offsets == std::vector<std::int64_t>{0, 64});
}

TEST_CASE("the natural alignment divides the size") {
  CHECK(natural_alignment(4224, 4) == 128);
  CHECK(natural_alignment(12, 4) == 4);
  CHECK(natural_alignment(65536, 1024) == 1024);
  CHECK(natural_alignment(24, 4) == 8);
}
