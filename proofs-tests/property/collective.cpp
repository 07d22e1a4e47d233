// Invariants of the collective algebra on random nests (collective.md 12, numbers in brackets).
#include <catch2/catch.hpp>

#include "proofs-tests/property/random_nest.hpp"

using namespace exocheck::analysis;
using namespace exocheck::test;
namespace ir = exocheck::semantics::ir;

namespace {

constexpr std::uint64_t first_seed = 20260101;
constexpr int nests = 3000;

// Runs `check` on `count` nests; the nest and its seed are in the message of every failure.
void for_nests(int count, const std::function<void(const RandomNest&, Random&)>& check) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    Random random(seed);
    const RandomNest nest = random_nest(random);
    INFO("seed " << seed << ": " << nest.text());
    check(nest, random);
  }
}

bool is_subset(const Threads& a, const Threads& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

std::vector<CollUnit> query_units() {
  return {T,
          WP,
          WG,
          CTA,
          CLUSTER,
          QP,
          WC,
          SUB_CTA,
          INTACT_CTA,
          CS(2),
          WCS(2),
          TS(1, 16),
          STANDALONE,
          scaled(2, WP),
          scaled(2, CTA),
          scaled(2, TS(1, 16)),
          scaled(2, WCS(2)),
          scaled(4, WC),
          custom({8}, {2})};
}

}  // namespace

TEST_CASE("thread sets have the size of the box and are instances of the output type [1, 5]") {
  for_nests(nests, [](const RandomNest& n, Random&) {
    for (const Sigma& sigma : assignments(n.steps, 64)) {
      const Threads t = n.nest().threads(sigma);
      REQUIRE(static_cast<std::int64_t>(t.size()) == n.nest().tiling->threads());
      REQUIRE(t.front() >= 0);
      REQUIRE(t.back() < n.geometry.threads());
      REQUIRE(instance_of(t, n.nest().tiling->type()));
    }
  });
}

TEST_CASE("sets of different iterations are disjoint and lie in the parent's [2, 3]") {
  for_nests(nests, [](const RandomNest& n, Random&) {
    const auto all = assignments(n.steps, 100000);
    if (all.size() > 20000) return;
    std::vector<int> owner(static_cast<std::size_t>(n.geometry.threads()), -1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Threads t = n.nest().threads(all[i]);
      for (const std::int64_t thread : t) {
        REQUIRE(owner[static_cast<std::size_t>(thread)] == -1);
        owner[static_cast<std::size_t>(thread)] = static_cast<int>(i);
      }
      if (i % 37 == 0 && n.steps.size() > 1) {
        REQUIRE(is_subset(t, n.prefixes[n.steps.size() - 1].threads(all[i])));
      }
    }
  });
}

TEST_CASE("an iterator shifts the set by its thread pitch [4]") {
  for_nests(nests, [](const RandomNest& n, Random&) {
    for (const Step& s : n.steps) {
      if (s.warps()) continue;
      for (Sigma sigma : assignments(n.steps, 8)) {
        const std::int64_t at = sigma[s.name];
        Threads moved = n.nest().threads(sigma);
        sigma[s.name] = 0;
        Threads origin = n.nest().threads(sigma);
        for (std::int64_t& t : origin) t += at * n.nest().pitch(s.name);
        REQUIRE(moved == origin);
      }
    }
  });
}

TEST_CASE("refining a tiling changes no thread set, is confluent, and changes no answer [6, 7, 13]") {
  for_nests(nests, [](const RandomNest& n, Random& random) {
    const TilingPtr& tiling = n.nest().tiling;
    auto type = unpack(random_unit(random), n.geometry, Unpack::query);
    auto other = unpack(random_unit(random), n.geometry, Unpack::query);
    if (!std::holds_alternative<CollType>(type) || !std::holds_alternative<CollType>(other)) return;
    const auto& a = std::get<CollType>(type).domain;
    const auto& b = std::get<CollType>(other).domain;
    const auto ab = common_domain(a, b);
    const auto ba = common_domain(b, a);
    REQUIRE(ab.index() == ba.index());
    if (ab.index() == 0) REQUIRE(std::get<0>(ab) == std::get<0>(ba));

    const auto to_a = common_domain(tiling->domain(), a);
    if (std::holds_alternative<Failure>(to_a)) return;
    const auto refined = refine(tiling, std::get<0>(to_a));
    if (std::holds_alternative<Failure>(refined)) return;
    Nest fine = n.nest();
    fine.tiling = std::get<TilingPtr>(refined);
    for (const Sigma& sigma : assignments(n.steps, 64))
      REQUIRE(fine.threads(sigma) == n.nest().threads(sigma));
    for (const CollUnit& u : query_units()) {
      // A refined tiling is cut already where the query would cut it.
      if (matches(tiling, u))
        REQUIRE((matches(fine.tiling, u) || mismatch(fine.tiling, u)->reason != Reason::scope_mismatch));
      if (matches(fine.tiling, u))
        REQUIRE((matches(tiling, u) || mismatch(tiling, u)->reason != Reason::scope_mismatch));
    }

    // a then b equals b then a, and both at once.
    const auto all = common_domain(std::get<0>(to_a), b);
    if (std::holds_alternative<Failure>(all)) return;
    const auto stepwise = refine(fine.tiling, std::get<0>(all));
    const auto direct = refine(tiling, std::get<0>(all));
    REQUIRE(stepwise.index() == direct.index());
    if (stepwise.index() != 0) return;
    const TilingPtr& x = std::get<TilingPtr>(stepwise);
    const TilingPtr& y = std::get<TilingPtr>(direct);
    REQUIRE(x->domain() == y->domain());
    for (std::size_t i = 0; i < x->dims.size(); ++i) {
      REQUIRE(x->dims[i].ops.size() == y->dims[i].ops.size());
      for (std::size_t k = 0; k < x->dims[i].ops.size(); ++k) {
        REQUIRE(x->dims[i].ops[k].offset == y->dims[i].ops[k].offset);
        REQUIRE(x->dims[i].ops[k].box == y->dims[i].ops[k].box);
        REQUIRE(x->dims[i].ops[k].iter == y->dims[i].ops[k].iter);
      }
    }
  });
}

TEST_CASE("the closed-form inverse gives exactly the forward sets [8]") {
  for_nests(nests, [](const RandomNest& n, Random&) {
    for (std::int64_t t = 0; t<n.geometry.threads(); t += n.geometry.threads()> 1024 ? 7 : 1) {
      const auto sigma = inverse(n.nest(), t);
      if (!sigma) continue;
      const Threads set = n.nest().threads(*sigma);
      REQUIRE(std::binary_search(set.begin(), set.end(), t));
    }
    for (const Sigma& sigma : assignments(n.steps, 32)) {
      for (const std::int64_t t : n.nest().threads(sigma)) {
        const auto back = inverse(n.nest(), t);
        REQUIRE(back);
        for (const auto& [name, value] : *back) REQUIRE(value == sigma.at(name));
      }
    }
  });
}

TEST_CASE("generated index code and tests agree with the inverse [9, 10]") {
  for_nests(nests, [](const RandomNest& n, Random&) {
    for (std::int64_t t = 0; t<n.geometry.threads(); t += n.geometry.threads()> 1024 ? 5 : 1) {
      const std::int64_t rank = t / n.geometry.block_dim;
      const std::int64_t thread = t % n.geometry.block_dim;
      bool active = true;
      Sigma sigma{{"<warps>", 0}};
      // Nested: an inner expression is evaluated only where the outer tests hold.
      for (std::size_t k = 0; k < n.steps.size() && active; ++k) {
        const Derivation& how = n.prefixes[k + 1].tiling->how;
        const std::int64_t value = how.index.evaluate(thread, rank);
        active = (!how.lower || value >= *how.lower) && (!how.upper || value < *how.upper);
        if (!n.steps[k].warps()) sigma[n.steps[k].name] = value;
      }
      const auto expected = inverse(n.nest(), t);
      REQUIRE(active == expected.has_value());
      if (!active) continue;
      for (const auto& [name, value] : *expected) REQUIRE(sigma.at(name) == value);
    }
  });
}

TEST_CASE("scope queries are sound, and honest where completion succeeds [11, 12]") {
  int accepted = 0;
  int refused = 0;
  for_nests(nests, [&](const RandomNest& n, Random&) {
    for (const CollUnit& u : query_units()) {
      const auto type = unpack(u, n.geometry, Unpack::query);
      if (std::holds_alternative<Failure>(type)) continue;
      INFO(u.text());
      const auto f = mismatch(n.nest().tiling, u);
      if (f && f->reason != Reason::scope_mismatch) continue;
      bool all = true;
      for (const Sigma& sigma : assignments(n.steps, 64)) {
        all = all && instance_of(n.nest().threads(sigma), std::get<CollType>(type));
      }
      REQUIRE(all == !f);
      (f ? refused : accepted) += 1;
    }
  });
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("CudaWarps compose [14]") {
  int composed = 0;
  for_nests(nests, [&](const RandomNest& n, Random& random) {
    const std::int64_t a = pick(random, {0, 1, 2, 4});
    const std::int64_t b = a + pick(random, {1, 2, 4, 8});
    const std::int64_t c = pick(random, {0, 1, 2});
    const std::int64_t d = c + pick(random, {1, 2, 3});
    if (d > b - a) return;
    for (const Nest& prefix : n.prefixes) {
      const Nest twice = prefix.warps(a, b).warps(c, d);
      const Nest once = prefix.warps(a + c, a + d);
      if (twice.failure || once.failure) continue;
      ++composed;
      for (const Sigma& sigma : assignments(n.steps, 64))
        REQUIRE(twice.threads(sigma) == once.threads(sigma));
    }
  });
  CHECK(composed > 300);
}

TEST_CASE("CTA loops and thread loops commute [15]") {
  int commuted = 0;
  for_nests(nests, [&](const RandomNest& n, Random& random) {
    if (n.geometry.cluster_dim == 1) return;
    const std::int64_t ctas = pick(random, {1, 2, 4});
    const CollUnit cta = pick(random, {0, 1}) == 0 ? scaled(ctas, CTA) : CS(2);
    const std::int64_t count = pick(random, {2, 4, 8});
    const CollUnit inner = scaled(pick(random, {1, 2, 4}), pick(random, {0, 1}) == 0 ? T : WP);
    const Nest x = n.nest().loop("y", 2, cta).loop("z", count, inner);
    const Nest y = n.nest().loop("z", count, inner).loop("y", 2, cta);
    if (x.failure || y.failure) return;
    // Both orders derive, but the roles may differ if the unit happens to divide the other coordinate.
    if (x.pitch("y") % n.geometry.block_dim != 0 || y.pitch("y") % n.geometry.block_dim != 0) return;
    ++commuted;
    for (Sigma sigma : assignments(n.steps, 16)) {
      for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t k = 0; k < count; ++k) {
          sigma["y"] = i;
          sigma["z"] = k;
          REQUIRE(x.threads(sigma) == y.threads(sigma));
        }
      }
    }
  });
  CHECK(commuted > 50);
}

namespace {

// The interpreter's form of collective.md 3.1: a domain, an offset and a box per coordinate, updated on
// entering each loop and reshaped before.
struct Cuboid {
  std::vector<std::int64_t> extent, offset, box;

  void reshape(const std::vector<std::int64_t>& domain) {
    Cuboid out;
    out.extent = domain;
    out.offset.resize(domain.size());
    out.box.resize(domain.size());
    std::size_t next = domain.size();
    for (std::size_t i = extent.size(); i-- > 0;) {
      std::int64_t o = offset[i];
      std::int64_t b = box[i];
      std::int64_t left = extent[i];
      while (left > 1) {
        const std::int64_t e = domain[--next];
        out.offset[next] = o % e;
        o /= e;
        if (b <= e) {
          out.box[next] = b;
          b = 1;
        } else {
          REQUIRE(b % e == 0);
          out.box[next] = e;
          b /= e;
        }
        REQUIRE(out.offset[next] + out.box[next] <= e);
        left /= e;
      }
    }
    *this = std::move(out);
  }

  Threads threads() const {
    Threads out{0};
    for (std::size_t i = 0; i < extent.size(); ++i) {
      Threads next;
      for (const std::int64_t t : out) {
        for (std::int64_t c = offset[i]; c < offset[i] + box[i]; ++c) next.push_back(t * extent[i] + c);
      }
      out = std::move(next);
    }
    return out;
  }
};

}  // namespace

TEST_CASE("the incremental cuboid enumerates the thread sets [16]") {
  for_nests(nests, [](const RandomNest& n, Random&) {
    for (const Sigma& sigma : assignments(n.steps, 16)) {
      Cuboid c{n.prefixes[0].tiling->domain(),
               std::vector<std::int64_t>(n.prefixes[0].tiling->dims.size(), 0), n.prefixes[0].tiling->box()};
      for (std::size_t k = 0; k < n.steps.size(); ++k) {
        const CollTiling& tiling = *n.prefixes[k + 1].tiling;
        if (tiling.domain() != c.extent) c.reshape(tiling.domain());
        if (tiling.how.dim) {
          const auto dim = static_cast<std::size_t>(*tiling.how.dim);
          const std::int64_t y = n.steps[k].warps() ? 0 : sigma.at(n.steps[k].name);
          c.offset[dim] += tiling.how.offset + y * tiling.how.box;
          c.box[dim] = tiling.how.box;
        }
        REQUIRE(c.threads() == n.prefixes[k + 1].threads(sigma));
      }
    }
  });
}
