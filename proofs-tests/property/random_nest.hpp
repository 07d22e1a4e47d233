// Random nests of cuda_threads loops and CudaWarps blocks (collective.md 12, "Generator").
#pragma once

#include <random>

#include "proofs-tests/unit/analysis/nest_builder.hpp"

namespace exocheck::test {

struct Step {
  std::string name;  // of the iterator; CudaWarps: empty
  std::int64_t count = 0;
  CollUnit unit;
  std::int64_t lo = 0, hi = 0;  // CudaWarps
  bool warps() const { return name.empty(); }
  std::string text() const {
    if (warps()) return "W(" + std::to_string(lo) + "," + std::to_string(hi) + ")";
    std::string unit_text = unit.text();
    if (unit.name == "custom") {
      unit_text = "(" + to_string(unit.domain.front()) + ")/(" + to_string(*unit.box.front()) + ")";
    }
    return name + ":" + std::to_string(count) + "*(" + unit_text + ")";
  }
};

using Random = std::mt19937_64;

inline std::int64_t pick(Random& random, const std::vector<std::int64_t>& values) {
  return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

inline CollUnit random_unit(Random& random) {
  const auto scale_factor = [&] { return pick(random, {1, 1, 1, 2, 3, 4, 8, 9, 16, 23, 40, 64}); };
  switch (pick(random, {0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})) {
    case 0:
      return scaled(scale_factor(), T);
    case 1:
      return scaled(pick(random, {1, 1, 1, 2, 3, 4}), WP);
    case 2:
      return scaled(pick(random, {1, 1, 2}), WG);
    case 3:
      return scaled(pick(random, {1, 2, 4}), WC);
    case 4:
      return scaled(pick(random, {1, 1, 2, 3, 4}), CTA);
    case 5:
      return QP;
    case 6:
      return scaled(pick(random, {1, 2, 4, 16}), TS(pick(random, {1, 2, 4}), pick(random, {8, 16, 32})));
    case 7:
      return scaled(pick(random, {1, 2}), CS(pick(random, {2, 4})));
    case 8:
      return scaled(pick(random, {1, 2}), WCS(pick(random, {2, 4})));
    case 9:
      return SUB_CTA;
    case 10:
      return INTACT_CTA;
    case 11:
      return custom({3}, {1});
    case 12:
      return custom({8}, {1});
    case 13:
      return custom({8}, {2});
    default:
      return custom({128}, {64});
  }
}

inline Step random_step(Random& random, int index) {
  Step s;
  if (pick(random, {0, 0, 0, 1}) == 1) {
    s.lo = pick(random, {0, 0, 1, 2, 3, 4});
    s.hi = s.lo + pick(random, {1, 1, 2, 3, 4, 8});
    return s;
  }
  s.name = std::string(1, static_cast<char>('a' + index));
  s.count = pick(random, {1, 2, 2, 3, 4, 4, 7, 8, 16, 32, 66, 128});
  s.unit = random_unit(random);
  return s;
}

inline Nest apply(const Nest& nest, const Step& s) {
  return s.warps() ? nest.warps(s.lo, s.hi) : nest.loop(s.name, s.count, s.unit);
}

struct RandomNest {
  Geometry geometry;
  std::vector<Step> steps;
  std::vector<Nest> prefixes;  // prefixes[k]: after k steps

  const Nest& nest() const { return prefixes.back(); }
  std::string text() const {
    std::string out = std::to_string(geometry.cluster_dim) + "," + std::to_string(geometry.block_dim);
    for (const Step& s : steps) out += " > " + s.text();
    return out;
  }
};

// Draws that do not derive are skipped.
inline RandomNest random_nest(Random& random, int max_depth = 5) {
  RandomNest out;
  out.geometry = {pick(random, {1, 2, 4, 8}), pick(random, {32, 64, 96, 128, 256, 384})};
  out.prefixes.emplace_back(out.geometry.cluster_dim, out.geometry.block_dim);
  const auto depth = pick(random, {1, 2, 3, 3, 4, 5});
  for (int tries = 0;
       tries < 40 && static_cast<std::int64_t>(out.steps.size()) < std::min<std::int64_t>(depth, max_depth);
       ++tries) {
    const Step s = random_step(random, static_cast<int>(out.steps.size()));
    Nest next = apply(out.prefixes.back(), s);
    if (next.failure) continue;
    out.steps.push_back(s);
    out.prefixes.push_back(std::move(next));
  }
  return out;
}

// All assignments of the loop iterators, at most `limit` of them (evenly thinned).
inline std::vector<Sigma> assignments(const std::vector<Step>& steps, std::size_t limit = 4096) {
  std::vector<Sigma> out{{{"<warps>", 0}}};
  for (const Step& s : steps) {
    if (s.warps()) continue;
    std::vector<Sigma> next;
    for (const Sigma& sigma : out) {
      for (std::int64_t v = 0; v < s.count; ++v) {
        next.push_back(sigma);
        next.back()[s.name] = v;
      }
    }
    if (next.size() > limit) {
      std::vector<Sigma> thinned;
      const std::size_t stride = next.size() / limit + 1;
      for (std::size_t i = 0; i < next.size(); i += stride) thinned.push_back(next[i]);
      next = std::move(thinned);
    }
    out = std::move(next);
  }
  return out;
}

// collective.md 5.1: the iterator values of a thread, and whether it is active.
inline std::optional<Sigma> inverse(const Nest& nest, std::int64_t thread) {
  Sigma sigma;
  for (const std::string& name : nest.names) sigma[name] = 0;
  for (std::size_t i = 0; i < nest.tiling->dims.size(); ++i) {
    const auto& dim = nest.tiling->dims[i];
    std::int64_t e = thread / nest.tiling->pitch(i) % dim.extent;
    for (const auto& op : dim.ops) {
      e -= op.offset;
      if (e < 0 || e / op.box >= op.tile_count) return std::nullopt;
      if (!op.hidden) sigma[nest.names[semantics::ir::index(op.iter)]] = e / op.box;
      e %= op.box;
    }
  }
  return sigma;
}

// Is the thread set a product of one set per dimension that is an interval of the given size where one is
// required (collective.md 2.1)?
inline bool instance_of(const Threads& threads, const CollType& type) {
  std::vector<std::set<std::int64_t>> coordinates(type.domain.size());
  for (const std::int64_t t : threads) {
    std::int64_t rest = t;
    for (std::size_t i = type.domain.size(); i-- > 0;) {
      coordinates[i].insert(rest % type.domain[i]);
      rest /= type.domain[i];
    }
  }
  std::size_t product = 1;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    product *= coordinates[i].size();
    if (!type.box[i]) continue;
    const auto size = static_cast<std::int64_t>(coordinates[i].size());
    if (size != *type.box[i] || *coordinates[i].rbegin() - *coordinates[i].begin() + 1 != size) return false;
  }
  return product == threads.size();
}

}  // namespace exocheck::test
