#include "semantics/units.hpp"

#include <catch2/catch.hpp>

using namespace exocheck::semantics;

TEST_CASE("scaling composes and keeps the domain") {
  const CollUnit twice = scale(2, scale(4, unit_warp()).unit).unit;
  CHECK(twice.text() == "8 * cuda_warp");
  CHECK(twice.domain == unit_warp().domain);
  CHECK(evaluate(*twice.box[0], 1, 256) == 256);
}

TEST_CASE("units are equal by structure, not by name") {
  CHECK(unit_warp() == scale(32, unit_thread()).unit);
  CHECK(unit_warpgroup() == scale(4, unit_warp()).unit);
  CHECK_FALSE(unit_thread() == unit_warp());
}

TEST_CASE("wrong scalings are refused") {
  CHECK(scale(0, unit_thread()).error == ScaleError::bad_scale);
  CHECK(scale(-2, unit_thread()).error == ScaleError::bad_scale);
  CHECK(scale(4, *find_unit("cuda_quadpair")).error == ScaleError::not_scalable);
}

TEST_CASE("size expressions evaluate exactly or not at all") {
  CHECK(evaluate(block_dim() / 64, 1, 256) == 4);
  CHECK(evaluate(block_dim() / 64, 1, 96) == std::nullopt);
  CHECK(evaluate(cluster_dim() * block_dim(), 4, 128) == 512);
}
