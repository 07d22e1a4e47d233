// Tilings, thread maps and index code: collective.md 10 and 11.1.
#include <catch2/catch.hpp>

#include "proofs-tests/unit/analysis/nest_builder.hpp"

using namespace exocheck::analysis;
using namespace exocheck::test;

namespace {

void check_fails(const Nest& nest, Reason reason, const std::string& culprit = "") {
  REQUIRE(nest.failure);
  CHECK(nest.failure->reason == reason);
  if (!culprit.empty()) CHECK(nest.culprit() == culprit);
}
void check_too_many(const Nest& nest, std::int64_t maximum) {
  check_fails(nest, Reason::tile_too_many);
  CHECK(nest.failure->maximum == maximum);
}
void check_trivial(const Nest& nest, const std::string& iter) {
  REQUIRE_FALSE(nest.failure);
  CHECK(nest.pitch(iter) == 0);
  CHECK(nest.code() == "0");
}

}  // namespace

TEST_CASE("A1 a thread loop may leave threads idle") {
  const Nest n = Nest(1, 128).loop("y", 66, T);
  CHECK(n.threads({{"y", 65}}) == Threads{65});
  CHECK(n.code() == "threadIdx.x ; < 66");
}

TEST_CASE("A2 boxes of any size") {
  const Nest x = Nest(1, 256).loop("x", 10, scaled(23, T));
  CHECK(x.code() == "threadIdx.x / 23 ; < 10");
  const Nest n = x.loop("y", 20, T);
  CHECK(n.threads({{"x", 9}, {"y", 19}}) == Threads{226});
  CHECK(n.code() == "threadIdx.x % 23 ; < 20");
}

TEST_CASE("A3 warps of a warp range") {
  const Nest w = Nest(1, 384).warps(4, 12).loop("w", 7, WP);
  CHECK(w.code() == "(threadIdx.x - 128) / 32 ; < 7");
  const Nest n = w.loop("t", 32, T);
  CHECK(n.threads({{"w", 6}, {"t", 31}}) == Threads{351});
  CHECK(n.code() == "threadIdx.x % 32");
}

TEST_CASE("A4 boxes of 40 threads in warpgroups") {
  const Nest s = Nest(1, 384).warps(4, 12).loop("g", 2, WG).loop("s", 3, scaled(40, T));
  CHECK(s.code() == "threadIdx.x % 128 / 40 ; < 3");
  const Nest n = s.loop("t", 40, T);
  CHECK(n.threads({{"g", 1}, {"s", 2}, {"t", 39}}) == Threads{375});
  CHECK(n.code() == "threadIdx.x % 128 % 40");
}

TEST_CASE("A5 one iteration that narrows the collective") {
  const Nest n = Nest(1, 384).warps(4, 12).loop("g", 1, WG);
  CHECK(n.threads({{"g", 0}}) == span(128, 255));
  CHECK(n.pitch("g") == 0);
  CHECK(n.code() == "(threadIdx.x - 128) / 128 ; < 1");
}

TEST_CASE("A6-A8 too many boxes") {
  const Nest g = Nest(1, 512).loop("g", 4, WG);
  check_too_many(g.loop("s", 4, scaled(40, T)), 3);
  check_too_many(g.loop("s", 4, scaled(2, WG)), 0);
  check_too_many(Nest(1, 128).loop("w", 5, WP), 4);
}

TEST_CASE("A9-A10 quad pairs are ambiguous outside a warp") {
  const Nest s = Nest(1, 512).loop("g", 4, WG).loop("s", 4, QP);
  check_fails(s, Reason::tile_ambiguous, "s");
  CHECK(s.failure->text.find("domain (32, 16), box (8, 16)") != std::string::npos);
  CHECK(s.failure->text.find("domain (32, 16), box (2, 4)") != std::string::npos);
  check_fails(Nest(1, 64).loop("q", 4, QP), Reason::tile_ambiguous, "q");
  CHECK_FALSE(Nest(1, 64).loop("w", 2, WP).loop("q", 4, QP).failure);
}

TEST_CASE("A11-A13 warps across the CTAs of a cluster") {
  check_fails(Nest(4, 128).loop("w", 4, WC), Reason::tile_ambiguous);
  CHECK(Nest(4, 128).loop("c", 4, CTA).loop("w", 4, WC).threads({{"c", 3}, {"w", 1}}) == span(416, 447));
  const Threads second = span(32, 63) + span(160, 191) + span(288, 319) + span(416, 447);
  const Nest four = Nest(4, 128).loop("w", 4, scaled(4, WC));
  CHECK(four.threads({{"w", 1}}) == second);
  CHECK(four.pitch("w") == 32);
  CHECK(four.code() == "threadIdx.x / 32");
  const Nest two = Nest(4, 128).loop("w", 2, WP);
  CHECK(two.threads({{"w", 1}}) == second);
  CHECK(two.code() == "threadIdx.x / 32 ; < 2");
}

TEST_CASE("A14-A16 a unit equal to the collective divides nothing") {
  const Nest w = Nest(1, 128).loop("w", 4, WP);
  check_trivial(w.loop("v", 1, WP), "v");
  check_fails(w.loop("v", 2, WP), Reason::tile_trivial);
  const Nest w2 = Nest(1, 256).loop("w", 2, WP);
  check_fails(w2.warps(2, 4), Reason::tile_trivial);
  CHECK_FALSE(w2.warps(0, 1).failure);
}

TEST_CASE("A17-A20 CudaWarps ranges") {
  check_too_many(Nest(1, 256).warps(6, 10), 8);
  const Nest nested = Nest(1, 256).warps(2, 6).warps(1, 3);
  CHECK(nested.threads({}) == span(96, 159));
  CHECK(nested.threads({}) == Nest(1, 256).warps(3, 5).threads({}));
  CHECK(Nest(2, 128).warps(1, 2).threads({}) == span(32, 63) + span(160, 191));
  check_too_many(Nest(1, 256).loop("x", 10, scaled(23, T)).warps(0, 1), 0);
}

TEST_CASE("A21-A23 whole-dimension and agnostic units") {
  const Nest c = Nest(1, 128).loop("h", 2, scaled(64, T)).loop("c", 1, CTA);
  check_trivial(c, "c");
  CHECK(c.threads({{"h", 1}, {"c", 0}}) == span(64, 127));
  const Nest r = Nest(4, 128).warps(1, 3).loop("r", 4, SUB_CTA);
  REQUIRE_FALSE(r.failure);
  CHECK(r.pitch("r") == 128);
  CHECK(r.threads({{"r", 2}}) == span(288, 351));
  check_trivial(Nest(4, 128).loop("r", 1, INTACT_CTA), "r");
  check_fails(Nest(4, 128).loop("r", 2, INTACT_CTA), Reason::tile_trivial);
}

TEST_CASE("A24-A27 domains that do not fit together") {
  check_fails(Nest(1, 384).loop("y", 2, custom({3}, {1})).loop("x", 2, custom({8}, {1})),
              Reason::domain_incompatible);
  check_fails(Nest(1, 256).loop("x", 10, scaled(23, T)).loop("y", 2, custom({8}, {1})),
              Reason::reshape_misalign, "x");
  check_fails(Nest(1, 256).loop("t", 256, T).loop("z", 1, custom({8}, {1})), Reason::reshape_straddle, "t");
  const Nest w = Nest(1, 256).loop("x", 2, custom({128}, {64})).warps(0, 1);
  check_fails(w, Reason::tile_ambiguous);
  CHECK(w.failure->text.find("domain (2, 128), box (2, 64)") != std::string::npos);
  CHECK(w.failure->text.find("box (1, 32)") != std::string::npos);
}

TEST_CASE("A28 strided outside, consecutive inside") {
  const Nest n = Nest(1, 128).loop("n", 8, scaled(16, TS(1, 8)));
  CHECK(n.code() == "threadIdx.x % 8");
  const Nest m = n.loop("m", 16, T);
  CHECK(m.threads({{"n", 3}, {"m", 2}}) == Threads{19});
  CHECK(m.code() == "threadIdx.x / 8");
  CHECK(m.pitch("n") == 1);
  CHECK(m.pitch("m") == 8);
}

TEST_CASE("A29-A30 CTA loops") {
  const Nest p = Nest(8, 128).loop("p", 4, scaled(2, CTA));
  CHECK(p.threads({{"p", 3}}) == span(768, 1023));
  CHECK(p.code() == "cluster_ctarank / 2");
  const Nest q = p.loop("q", 2, CTA);
  CHECK(q.threads({{"p", 3}, {"q", 1}}) == span(896, 1023));
  CHECK(q.code() == "cluster_ctarank % 2");
  CHECK(q.pitch("p") == 256);
  CHECK(q.pitch("q") == 128);
  const Nest a30 = Nest(8, 384)
                       .warps(4, 12)
                       .warps(0, 8)
                       .loop("wg", 2, WG)
                       .loop("n", 2, scaled(4, CS(2)))
                       .loop("m", 4, CTA);
  CHECK(a30.threads({{"wg", 1}, {"n", 1}, {"m", 2}}) == span(2176, 2303));
}

TEST_CASE("A31-A33 small and odd blocks") {
  const Nest w = Nest(1, 32).loop("w", 1, WP);
  check_trivial(w, "w");
  CHECK(w.loop("t", 32, T).threads({{"w", 0}, {"t", 4}}) == Threads{4});
  check_fails(Nest(1, 96).loop("g", 1, WG), Reason::unit_range);
  CollUnit part;
  part.domain = {exocheck::semantics::block_dim() / 64, exocheck::semantics::size_constant(64)};
  part.box = {exocheck::semantics::block_dim() / 64, exocheck::semantics::size_constant(1)};
  part.name = "part";
  const Nest odd = Nest(1, 96).loop("t", 1, part);
  check_fails(odd, Reason::unit_nonint);
  CHECK(odd.failure->text.find("blockDim / 64") != std::string::npos);
  CHECK_FALSE(Nest(1, 256).loop("t", 1, part).failure);
}

TEST_CASE("units unpack in two flavours") {
  const auto type = [](const CollUnit& u, Geometry g, Unpack f) {
    return std::get<CollType>(unpack(u, g, f)).text();
  };
  CHECK(type(WG, {2, 256}, Unpack::loop) == "domain (2, 256), box (*, 128)");
  CHECK(type(WG, {2, 256}, Unpack::query) == "domain (2, 2, 128), box (1, 1, 128)");
  CHECK(type(SUB_CTA, {1, 128}, Unpack::query) == "domain (128), box (*)");
  CollUnit wide = custom({8, 384}, {2, 128});
  CHECK(type(wide, {8, 384}, Unpack::query) == "domain (4, 2, 3, 128), box (1, 2, 1, 128)");
  const auto failure = [](const CollUnit& u, Geometry g, Unpack f) {
    return std::get<Failure>(unpack(u, g, f)).reason;
  };
  CHECK(failure(WG, {1, 96}, Unpack::query) == Reason::unit_range);
  CHECK(failure(custom({5}, {1}), {1, 128}, Unpack::loop) == Reason::unit_partial);
  CHECK(failure(custom({1024}, {1}), {1, 128}, Unpack::loop) == Reason::unit_partial);
  CHECK(failure(scaled(48, T), {1, 128}, Unpack::query) == Reason::unit_unalignable);
}

TEST_CASE("common domains") {
  const auto common = [](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    return std::get<0>(common_domain(a, b));
  };
  CHECK(common({6, 128}, {24, 32}) == std::vector<std::int64_t>{6, 4, 32});
  CHECK(std::holds_alternative<Failure>(common_domain({128, 3}, {48, 8})));
}

TEST_CASE("a misaligned box is refused where the unit is refined") {
  // 48-thread boxes against a collective already cut into blocks of 32.
  const Nest n = Nest(1, 192).loop("x", 2, custom({32}, {16}));
  check_fails(n.loop("y", 2, scaled(48, T)), Reason::box_misalign);
}

TEST_CASE("E1-E2 worked examples") {
  Nest n = Nest(1, 384).warps(4, 12);
  CHECK(n.code() == "threadIdx.x ; >= 128");
  n = n.loop("g", 2, WG);
  CHECK(n.code() == "(threadIdx.x - 128) / 128");
  CHECK(n.threads({{"g", 1}}) == span(256, 383));
  n = n.loop("t", 128, T);
  CHECK(n.code() == "threadIdx.x % 128");
  CHECK(n.threads({{"g", 1}, {"t", 5}}) == Threads{261});

  Nest e2 = Nest(2, 384).warps(4, 12).loop("g", 2, WG);
  CHECK(e2.threads({{"g", 0}}) == span(128, 255) + span(512, 639));
  CHECK(e2.tiling->text() == "domain (2, 384), box (2, 128)");
  e2 = e2.loop("c", 2, CTA);
  CHECK(e2.code() == "cluster_ctarank");
  CHECK(e2.pitch("c") == 384);
  e2 = e2.loop("t", 128, T);
  CHECK(e2.threads({{"g", 1}, {"c", 1}, {"t", 7}}) == Threads{647});
  const Nest other = Nest(2, 384).loop("c", 2, CTA).warps(4, 12).loop("g", 2, WG).loop("t", 128, T);
  CHECK(other.threads({{"g", 1}, {"c", 1}, {"t", 7}}) == Threads{647});
}

TEST_CASE("E3 strange domains") {
  const CollUnit u8 = custom({8}, {1});
  const CollUnit u3 = custom({3}, {1});
  const CollUnit half = custom({128}, {64});
  Nest a = Nest(1, 384).loop("x", 8, u8);
  CHECK(a.code() == "threadIdx.x % 8");
  CHECK(a.tiling->text() == "domain (48, 8), box (48, 1)");
  a = a.loop("y", 3, scaled(128, T));
  CHECK(a.code() == "threadIdx.x / 128");
  a = a.loop("z", 16, T);
  CHECK(a.code() == "threadIdx.x / 8 % 16");
  CHECK(a.threads({{"x", 5}, {"y", 2}, {"z", 3}}) == Threads{285});

  Nest b = Nest(1, 384).loop("x", 8, scaled(48, T)).loop("y", 2, u3);
  CHECK(b.code() == "threadIdx.x % 3 ; < 2");
  b = b.loop("z", 16, T);
  CHECK(b.code() == "threadIdx.x % 48 / 3");
  CHECK(b.pitch("z") == 3);
  CHECK(b.threads({{"x", 2}, {"y", 1}, {"z", 4}}) == Threads{109});

  Nest c = Nest(1, 384).loop("x", 2, half);
  CHECK(c.code() == "threadIdx.x % 128 / 64");
  c = c.loop("y", 3, scaled(2, WP));
  CHECK(c.code() == "threadIdx.x / 128");
  CHECK(c.threads({{"x", 1}, {"y", 2}}) == span(320, 383));
  CHECK(c.loop("z", 64, T).code() == "threadIdx.x % 64");
  c = c.warps(1, 2);
  CHECK(c.code() == "threadIdx.x % 64 ; >= 32");
  c = c.loop("z", 32, T);
  CHECK(c.code() == "threadIdx.x % 64 - 32");
  CHECK(c.threads({{"x", 1}, {"y", 2}, {"z", 3}}) == Threads{355});

  Nest d = Nest(1, 384).loop("w", 2, WP).loop("x", 4, QP);
  CHECK(d.code() == "threadIdx.x % 16 / 4");
  CHECK(d.tiling->text() == "domain (24, 16), box (2, 4)");
  CHECK(d.threads({{"w", 1}, {"x", 2}}) == span(40, 43) + span(56, 59));
  d = d.loop("y", 2, scaled(4, T));
  CHECK(d.code() == "threadIdx.x % 32 / 16");
  CHECK(d.pitch("y") == 16);
  d = d.loop("z", 4, T);
  CHECK(d.code() == "threadIdx.x % 4");
  CHECK(d.threads({{"w", 1}, {"x", 2}, {"y", 1}, {"z", 3}}) == Threads{59});
}

TEST_CASE("E4-E5 offsets of named warps add up") {
  const Nest m = Nest(8, 384).loop("n", 2, scaled(4, CS(2))).loop("m", 4, CTA);
  CHECK(m.code() == "cluster_ctarank / 2");
  const Nest e4 = m.warps(4, 12).warps(0, 8).loop("wg", 2, WG).loop("t", 128, T);
  CHECK(e4.threads({{"n", 1}, {"m", 2}, {"wg", 1}, {"t", 10}}) == Threads{2186});

  const Nest xyz = Nest(1, 640).warps(16, 20).warps(1, 4);
  CHECK(xyz.code() == "threadIdx.x - 512 ; >= 32");
  const Nest t = xyz.loop("t", 32, T);
  CHECK(t.code() == "threadIdx.x - 544 ; < 32");
  CHECK(t.threads({{"t", 31}}) == Threads{575});

  Nest abc = Nest(1, 640).warps(0, 16).warps(0, 16).warps(2, 10);
  CHECK(abc.code() == "threadIdx.x ; >= 64 ; < 320");
  abc = abc.loop("w2", 4, scaled(2, WP));
  CHECK(abc.code() == "(threadIdx.x - 64) / 64");
  abc = abc.warps(1, 2);
  CHECK(abc.code() == "threadIdx.x % 64 ; >= 32");
  abc = abc.loop("t", 17, T);
  CHECK(abc.code() == "threadIdx.x % 64 - 32 ; < 17");
  CHECK(abc.threads({{"w2", 3}, {"t", 16}}) == Threads{304});
}

TEST_CASE("conformance nests with given thread sets") {
  // CO-06
  const Nest g = Nest(1, 512).loop("g", 4, WG).warps(2, 4);
  CHECK(g.loop("t", 64, T).threads({{"g", 3}, {"t", 5}}) == Threads{3 * 128 + 64 + 5});
  CHECK(g.warps(1, 2).loop("t", 32, T).threads({{"g", 2}, {"t", 7}}) == Threads{2 * 128 + 96 + 7});
  const Nest b = Nest(1, 512).warps(8, 16).loop("g", 2, WG);
  CHECK(b.warps(0, 2).loop("t", 64, T).threads({{"g", 1}, {"t", 1}}) == Threads{256 + 128 + 1});
  CHECK(b.warps(2, 4).loop("t", 42, T).threads({{"g", 1}, {"t", 41}}) == Threads{256 + 128 + 64 + 41});
  // CO-29
  const Nest cta = Nest(2, 384).loop("c", 2, CTA);
  CHECK(cta.threads({{"c", 1}}) == span(384, 767));
  CHECK(cta.loop("w", 12, WP).threads({{"c", 1}, {"w", 3}}) == span(480, 511));
}
