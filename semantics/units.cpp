#include "semantics/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace exocheck::semantics {
namespace {

SizeExpr reduce(SizeExpr e) {
  const std::int64_t g = std::gcd(e.numerator, e.denominator);
  if (g > 1) {
    e.numerator /= g;
    e.denominator /= g;
  }
  return e;
}

CollUnit unit(std::string name, std::vector<SizeExpr> domain, std::vector<std::optional<SizeExpr>> box,
              std::optional<int> scaled_dim) {
  return CollUnit{std::move(domain), std::move(box), std::move(name), scaled_dim, 1};
}

// Constant-initialised: units may be asked for during the initialisation of other files.
constexpr SizeExpr one{1, 1, 0, 0};

}  // namespace

SizeExpr size_constant(std::int64_t value) { return SizeExpr{value, 1, 0, 0}; }
SizeExpr cluster_dim() { return SizeExpr{1, 1, 1, 0}; }
SizeExpr block_dim() { return SizeExpr{1, 1, 0, 1}; }

SizeExpr operator*(const SizeExpr& a, const SizeExpr& b) {
  return reduce({a.numerator * b.numerator, a.denominator * b.denominator, a.cluster_power + b.cluster_power,
                 a.block_power + b.block_power});
}

SizeExpr operator/(const SizeExpr& a, std::int64_t divisor) {
  return reduce({a.numerator, a.denominator * divisor, a.cluster_power, a.block_power});
}

std::optional<std::int64_t> evaluate(const SizeExpr& e, std::int64_t cluster, std::int64_t block) {
  std::int64_t value = e.numerator;
  for (int i = 0; i < e.cluster_power; ++i) {
    if (__builtin_mul_overflow(value, cluster, &value)) return std::nullopt;
  }
  for (int i = 0; i < e.block_power; ++i) {
    if (__builtin_mul_overflow(value, block, &value)) return std::nullopt;
  }
  if (value % e.denominator != 0) return std::nullopt;
  return value / e.denominator;
}

std::string to_string(const SizeExpr& e) {
  std::string out;
  const auto append = [&out](std::string_view factor) {
    if (!out.empty()) out += " * ";
    out += factor;
  };
  if (e.numerator != 1 || (e.cluster_power == 0 && e.block_power == 0)) append(std::to_string(e.numerator));
  for (int i = 0; i < e.cluster_power; ++i) append("clusterDim");
  for (int i = 0; i < e.block_power; ++i) append("blockDim");
  if (e.denominator != 1) out += " / " + std::to_string(e.denominator);
  return out;
}

bool CollUnit::agnostic() const {
  return std::any_of(box.begin(), box.end(), [](const auto& b) { return !b.has_value(); });
}

bool CollUnit::single_thread() const {
  return std::all_of(box.begin(), box.end(), [](const auto& b) { return b == one; });
}

std::string CollUnit::text() const {
  if (repeat == 1) return name;
  return fmt::format("{} * {}", repeat, name);
}

ScaleResult scale(std::int64_t factor, const CollUnit& u) {
  if (factor <= 0) return {ScaleError::bad_scale, {}};
  if (!u.scaled_dim) return {ScaleError::not_scalable, {}};
  ScaleResult result{ScaleError::none, u};
  auto& coordinate = result.unit.box[static_cast<std::size_t>(*u.scaled_dim)];
  if (__builtin_mul_overflow(result.unit.repeat, factor, &result.unit.repeat) ||
      __builtin_mul_overflow(coordinate->numerator, factor, &coordinate->numerator)) {
    return {ScaleError::bad_scale, {}};
  }
  coordinate = reduce(*coordinate);
  return result;
}

const CollUnit& unit_standalone_thread() {
  static const CollUnit u = unit("standalone_thread", {one}, {one}, 0);
  return u;
}
const CollUnit& unit_thread() {
  static const CollUnit u = unit("cuda_thread", {block_dim()}, {one}, 0);
  return u;
}
const CollUnit& unit_warp() {
  static const CollUnit u = unit("cuda_warp", {block_dim()}, {size_constant(32)}, 0);
  return u;
}
const CollUnit& unit_warpgroup() {
  static const CollUnit u = unit("cuda_warpgroup", {block_dim()}, {size_constant(128)}, 0);
  return u;
}
const CollUnit& unit_cta() {
  static const CollUnit u = unit("cuda_cta_in_cluster", {cluster_dim() * block_dim()}, {block_dim()}, 0);
  return u;
}
const CollUnit& unit_cluster() {
  static const CollUnit u =
      unit("cuda_cluster", {cluster_dim() * block_dim()}, {cluster_dim() * block_dim()}, 0);
  return u;
}
const CollUnit& unit_agnostic_sub_cta() {
  static const CollUnit u =
      unit("cuda_agnostic_sub_cta", {cluster_dim(), block_dim()}, {one, std::nullopt}, std::nullopt);
  return u;
}
const CollUnit& unit_agnostic_intact_cta() {
  static const CollUnit u = unit("cuda_agnostic_intact_cta", {cluster_dim(), block_dim()},
                                 {std::nullopt, block_dim()}, std::nullopt);
  return u;
}

std::span<const CollUnit> all_units() {
  static const std::vector<CollUnit> named{
      unit_standalone_thread(),
      unit_thread(),
      unit("cuda_quadpair", {block_dim() / 16, size_constant(16)}, {size_constant(2), size_constant(4)},
           std::nullopt),
      unit_warp(),
      unit_warpgroup(),
      unit("cuda_warp_in_cluster", {cluster_dim(), block_dim()}, {one, size_constant(32)}, 0),
      unit_cta(),
      unit_cluster(),
      unit_agnostic_sub_cta(),
      unit_agnostic_intact_cta(),
  };
  return named;
}

std::optional<CollUnit> find_unit(std::string_view name) {
  const auto named = all_units();
  const auto it =
      std::find_if(named.begin(), named.end(), [name](const CollUnit& u) { return u.name == name; });
  if (it == named.end()) return std::nullopt;
  return *it;
}

bool is_parametrised_unit(std::string_view name) {
  return name == "cuda_threads_strided" || name == "cuda_cta_in_cluster_strided" ||
         name == "cuda_warp_in_cluster_strided";
}

std::optional<CollUnit> make_unit(std::string_view name, const std::vector<std::int64_t>& arguments) {
  if (std::any_of(arguments.begin(), arguments.end(), [](std::int64_t a) { return a <= 0; }))
    return std::nullopt;
  if (name == "cuda_threads_strided" && arguments.size() == 2) {
    const std::int64_t n = arguments[0];
    const std::int64_t s = arguments[1];
    return unit(fmt::format("{}({}, {})", name, n, s), {block_dim() / s, size_constant(s)},
                {one, size_constant(n)}, 0);
  }
  if (name == "cuda_threads_strided" || !is_parametrised_unit(name) || arguments.size() != 1)
    return std::nullopt;
  const std::int64_t s = arguments[0];
  const SizeExpr threads = name == "cuda_cta_in_cluster_strided" ? block_dim() : size_constant(32);
  return unit(fmt::format("{}({})", name, s), {cluster_dim() / s, size_constant(s), block_dim()},
              {one, one, threads}, 0);
}

}  // namespace exocheck::semantics
