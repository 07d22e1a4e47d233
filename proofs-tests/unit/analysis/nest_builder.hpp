// Builds a nest of cuda_threads loops and CudaWarps blocks without a program around it: the shorthand
// "W(4,12) > g:2*WG > t:128*T" of collective.md 11.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/collective.hpp"

namespace exocheck::test {

using namespace exocheck::analysis;
using Threads = std::vector<std::int64_t>;
using Sigma = std::map<std::string, std::int64_t>;

inline CollUnit scaled(std::int64_t k, const CollUnit& u) { return semantics::scale(k, u).unit; }
// One-dimensional custom unit: `box` out of every `domain` consecutive threads.
inline CollUnit custom(std::vector<std::int64_t> domain, std::vector<std::int64_t> box) {
  CollUnit u;
  for (const auto d : domain) u.domain.push_back(semantics::size_constant(d));
  for (const auto b : box) u.box.emplace_back(semantics::size_constant(b));
  u.name = "custom";
  return u;
}

const auto T = semantics::unit_thread();
const auto WP = semantics::unit_warp();
const auto WG = semantics::unit_warpgroup();
const auto CTA = semantics::unit_cta();
const auto CLUSTER = semantics::unit_cluster();
const auto QP = *semantics::find_unit("cuda_quadpair");
const auto WC = *semantics::find_unit("cuda_warp_in_cluster");
const auto SUB_CTA = semantics::unit_agnostic_sub_cta();
const auto INTACT_CTA = semantics::unit_agnostic_intact_cta();
const auto STANDALONE = semantics::unit_standalone_thread();
inline CollUnit CS(std::int64_t s) { return *semantics::make_unit("cuda_cta_in_cluster_strided", {s}); }
inline CollUnit WCS(std::int64_t s) { return *semantics::make_unit("cuda_warp_in_cluster_strided", {s}); }
inline CollUnit TS(std::int64_t n, std::int64_t s) {
  return *semantics::make_unit("cuda_threads_strided", {n, s});
}

// A failed step leaves the tiling as it was and keeps the failure.
class Nest {
 public:
  Nest(std::int64_t cluster_dim, std::int64_t block_dim) : tiling(device_tiling({cluster_dim, block_dim})) {}

  Nest loop(const std::string& name, std::int64_t count, const CollUnit& unit) const {
    return extended(name, false, unit, 0, count, count);
  }
  Nest warps(std::int64_t lo, std::int64_t hi) const { return extended("<warps>", true, WP, lo, hi, 1); }

  SymId iter(const std::string& name) const {
    return SymId{static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin())};
  }
  // Threads of the body for one assignment of the iterators, by the definition of collective.md 3.1.
  Threads threads(const Sigma& sigma) const {
    Threads out{0};
    for (const ThreadMap::Dim& d : thread_map(*tiling).dims) {
      std::int64_t start = d.offset;
      for (const auto& [var, coefficient] : d.terms)
        start += coefficient * sigma.at(names[semantics::ir::index(var)]);
      Threads next;
      for (const std::int64_t t : out) {
        for (std::int64_t c = start; c < start + d.box; ++c) next.push_back(t * d.extent + c);
      }
      out = std::move(next);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  std::int64_t pitch(const std::string& name) const { return thread_pitch(*tiling, iter(name)); }
  // Code of the last step: "index ; tests".
  std::string code() const {
    std::string out = tiling->how.index.text();
    if (tiling->how.lower) out += " ; >= " + std::to_string(*tiling->how.lower);
    if (tiling->how.upper) out += " ; < " + std::to_string(*tiling->how.upper);
    return out;
  }
  std::string culprit() const {
    return failure && failure->culprit ? names[semantics::ir::index(*failure->culprit)] : "";
  }

  TilingPtr tiling;
  std::vector<std::string> names;  // of the iterators, by SymId
  std::optional<Failure> failure;

 private:
  Nest extended(const std::string& name, bool hidden, const CollUnit& unit, std::int64_t lo, std::int64_t hi,
                std::int64_t tile_count) const {
    Nest out = *this;
    if (failure) return out;
    out.names.push_back(name);
    auto result =
        derive(tiling, SymId{static_cast<std::uint32_t>(names.size())}, hidden, unit, lo, hi, tile_count);
    if (auto* f = std::get_if<Failure>(&result)) {
      out.failure = *f;
    } else {
      out.tiling = std::get<TilingPtr>(result);
    }
    return out;
  }
};

// The consecutive threads first..last.
inline Threads span(std::int64_t first, std::int64_t last) {
  Threads out;
  for (std::int64_t t = first; t <= last; ++t) out.push_back(t);
  return out;
}
inline Threads operator+(Threads a, const Threads& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace exocheck::test
