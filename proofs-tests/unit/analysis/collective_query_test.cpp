// Scope queries: collective.md 11.2.
#include <catch2/catch.hpp>

#include "proofs-tests/unit/analysis/nest_builder.hpp"

using namespace exocheck::analysis;
using namespace exocheck::test;

namespace {

bool at(const Nest& nest, const CollUnit& unit) {
  REQUIRE_FALSE(nest.failure);
  return matches(nest.tiling, unit);
}
void check_refused(const Nest& nest, const CollUnit& unit, Reason reason, const std::string& culprit = "") {
  REQUIRE_FALSE(nest.failure);
  const auto f = mismatch(nest.tiling, unit);
  REQUIRE(f);
  CHECK(f->reason == reason);
  if (!culprit.empty()) CHECK(nest.names[exocheck::semantics::ir::index(f->culprit.value())] == culprit);
}

}  // namespace

TEST_CASE("M1-M2 a warpgroup must be aligned") {
  const Nest n = Nest(1, 256).warps(0, 4).loop("g", 1, WG);
  CHECK(at(n, WG));
  CHECK_FALSE(at(n, WP));
  CHECK(at(n, SUB_CTA));
  CHECK_FALSE(at(n, INTACT_CTA));
  CHECK_FALSE(at(n, CTA));
  CHECK_FALSE(at(n, CLUSTER));
  check_refused(Nest(1, 256).warps(1, 5).loop("g", 1, WG), WG, Reason::reshape_misalign, "<warps>");
}

TEST_CASE("M3-M4 alignment of named warps and of loops between") {
  check_refused(Nest(1, 1024).warps(7, 32).loop("g", 2, WG), WG, Reason::reshape_misalign, "<warps>");
  CHECK(at(Nest(1, 1024).warps(8, 32).loop("g", 2, WG), WG));
  check_refused(Nest(1, 1024).warps(8, 32).loop("e", 2, scaled(9, WP)).loop("g", 2, WG), WG,
                Reason::reshape_misalign, "e");
  CHECK(at(Nest(1, 1024).warps(8, 32).loop("e", 2, scaled(8, WP)).loop("g", 2, WG), WG));
}

TEST_CASE("M5 128 threads in another shape are no warpgroup") {
  const Nest n = Nest(1, 512).loop("a", 2, custom({4, 128}, {4, 64})).loop("b", 2, custom({4, 128}, {2, 64}));
  CHECK(n.tiling->threads() == 128);
  check_refused(n, WG, Reason::scope_mismatch);
  CHECK(mismatch(n.tiling, WG)->text.find("box (2, 64)") != std::string::npos);
}

TEST_CASE("M6-M7 the device function itself") {
  const Nest one(1, 128);
  for (const CollUnit& u : {CLUSTER, CTA, WG, INTACT_CTA, SUB_CTA}) CHECK(at(one, u));
  CHECK_FALSE(at(one, STANDALONE));
  const Nest two(2, 128);
  for (const CollUnit& u : {CLUSTER, scaled(2, CTA), INTACT_CTA}) CHECK(at(two, u));
  for (const CollUnit& u : {CTA, WG, SUB_CTA}) CHECK_FALSE(at(two, u));
}

TEST_CASE("M8-M10 warps and threads") {
  const Nest w = Nest(4, 128).loop("w", 4, WP);
  CHECK_FALSE(at(w, WP));
  CHECK_FALSE(at(w, SUB_CTA));
  CHECK(at(w, scaled(4, WC)));
  const Nest t = Nest(1, 128).loop("t", 66, T);
  for (const CollUnit& u : {STANDALONE, T, SUB_CTA}) CHECK(at(t, u));
  CHECK_FALSE(at(t, WP));
  const Nest warp(1, 32);
  for (const CollUnit& u : {WP, CTA, CLUSTER}) CHECK(at(warp, u));
}

TEST_CASE("M11-M13 strided units; one long loop does not make them") {
  const Nest strided = Nest(4, 384).loop("n", 2, scaled(2, CS(2))).warps(0, 1);
  CHECK(at(strided, scaled(2, WCS(2))));
  CHECK_FALSE(at(strided, WP));
  const Nest single = Nest(4, 384).loop("c", 4, CTA).warps(0, 1);
  CHECK(at(single, WP));
  check_refused(single, scaled(2, WCS(2)), Reason::reshape_straddle, "c");
  const Nest w = Nest(1, 64).loop("w", 2, WP);
  CHECK(at(w.loop("k", 16, scaled(2, TS(1, 16))), scaled(2, TS(1, 16))));
  check_refused(w.loop("t", 32, T), scaled(2, TS(1, 16)), Reason::reshape_straddle, "t");
}

TEST_CASE("M14-M16 quad pairs, warp pairs, warpgroups of two CTAs") {
  CHECK(at(Nest(1, 64).loop("w", 2, WP).loop("q", 4, QP), QP));
  CHECK_FALSE(at(Nest(1, 128).warps(1, 3), scaled(2, WP)));
  CHECK(at(Nest(1, 128).warps(2, 4), scaled(2, WP)));
  const Nest g = Nest(2, 384).warps(4, 12).loop("g", 2, WG);
  check_refused(g, WG, Reason::scope_mismatch);
  CHECK(at(g.loop("c", 2, CTA), WG));
}

TEST_CASE("a mismatch names the numbers") {
  const Nest g = Nest(2, 384).warps(4, 12).loop("g", 2, WG);
  const std::string text = mismatch(g.tiling, WG)->text;
  CHECK(text.find("256 threads execute it, with domain (2, 3, 128), box (2, 1, 128)") != std::string::npos);
  CHECK(text.find("unit `cuda_warpgroup` needs domain (2, 3, 128), box (1, 1, 128)") != std::string::npos);
}
