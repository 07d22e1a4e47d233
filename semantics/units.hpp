// Collective units: the shapes of thread sets a program can name (collective.md 1).
// Unpacking a unit for concrete clusterDim/blockDim is analysis/collective's work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exocheck::semantics {

// numerator/denominator * clusterDim^cluster_power * blockDim^block_power; kept in lowest terms.
struct SizeExpr {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
  int cluster_power = 0;
  int block_power = 0;

  friend bool operator==(const SizeExpr&, const SizeExpr&) = default;
};

SizeExpr size_constant(std::int64_t value);
SizeExpr cluster_dim();
SizeExpr block_dim();
SizeExpr operator*(const SizeExpr& a, const SizeExpr& b);
// Precondition: divisor > 0.
SizeExpr operator/(const SizeExpr& a, std::int64_t divisor);
// Value in threads (or CTAs); nullopt if it is not an integer or overflows (UNIT-NONINT).
std::optional<std::int64_t> evaluate(const SizeExpr& e, std::int64_t cluster, std::int64_t block);
std::string to_string(const SizeExpr& e);

// domain: extents, most significant first; box: same length, nullopt = agnostic (printed `*`).
struct CollUnit {
  std::vector<SizeExpr> domain;
  std::vector<std::optional<SizeExpr>> box;
  std::string name;               // of the unscaled unit, with its arguments: "cuda_threads_strided(1, 8)"
  std::optional<int> scaled_dim;  // the box coordinate that scaling multiplies; none: not scalable
  std::int64_t repeat = 1;        // product of all scalings

  bool agnostic() const;
  // Every box coordinate is the constant 1.
  bool single_thread() const;
  // As the program writes it: "8 * cuda_warp", "cuda_thread".
  std::string text() const;
  // Structure only; names are ignored (collective.md 1.1).
  friend bool operator==(const CollUnit& a, const CollUnit& b) {
    return a.domain == b.domain && a.box == b.box;
  }
};

enum class ScaleError { none, bad_scale, not_scalable };  // UNIT-BADSCALE (E-H07), UNIT-NOSCALE (E-H08)
struct ScaleResult {
  ScaleError error = ScaleError::none;
  CollUnit unit;
};
ScaleResult scale(std::int64_t factor, const CollUnit& unit);

// Units without parameters: cuda_thread, cuda_warp, ..., including the two agnostic ones of
// collective.md 1.3.
std::span<const CollUnit> all_units();
std::optional<CollUnit> find_unit(std::string_view name);
// Parametrised units: cuda_threads_strided(n, s), cuda_cta_in_cluster_strided(s),
// cuda_warp_in_cluster_strided(s). nullopt if the name or the number of arguments is wrong, or an argument is
// not positive.
std::optional<CollUnit> make_unit(std::string_view name, const std::vector<std::int64_t>& arguments);
bool is_parametrised_unit(std::string_view name);

const CollUnit& unit_thread();
const CollUnit& unit_warp();
const CollUnit& unit_warpgroup();
const CollUnit& unit_cta();
const CollUnit& unit_cluster();
const CollUnit& unit_standalone_thread();
const CollUnit& unit_agnostic_sub_cta();
const CollUnit& unit_agnostic_intact_cta();

}  // namespace exocheck::semantics
