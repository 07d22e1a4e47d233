// Units to types, and common domains (collective.md 2.2, 2.3).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/collective.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

using semantics::SizeExpr;
using Box = std::vector<std::optional<std::int64_t>>;

Failure failure(Reason reason, std::string text) {
  return {reason, std::move(text), std::nullopt, std::nullopt};
}

std::string geometry_text(const Geometry& g) {
  return fmt::format("clusterDim = {} and blockDim = {}", g.cluster_dim, g.block_dim);
}

// Evaluates one size of a unit; nullopt if it is no integer.
std::optional<std::int64_t> size(const SizeExpr& e, const Geometry& g) {
  return semantics::evaluate(e, g.cluster_dim, g.block_dim);
}

Failure not_integer(const CollUnit& unit, const SizeExpr& e, const Geometry& g) {
  return failure(Reason::unit_nonint, fmt::format("the size {} of unit `{}` is not an integer for {}",
                                                  to_string(e), unit.text(), geometry_text(g)));
}

Failure out_of_range(const CollUnit& unit, std::int64_t extent, std::optional<std::int64_t> box,
                     const Geometry& g) {
  if (extent < 1) {
    return failure(Reason::unit_range, fmt::format("unit `{}` has a dimension of extent {} for {}",
                                                   unit.text(), extent, geometry_text(g)));
  }
  return failure(Reason::unit_range,
                 fmt::format("unit `{}` needs {} of {} positions along one dimension for {}", unit.text(),
                             *box, extent, geometry_text(g)));
}

// Cuts every coordinate whose box is neither free, 1 nor full, so that the result is in aligned form.
std::optional<Failure> align(const CollUnit& unit, CollType& type) {
  CollType out;
  for (std::size_t i = 0; i < type.domain.size(); ++i) {
    const std::int64_t extent = type.domain[i];
    const auto& box = type.box[i];
    if (!box || *box == 1 || *box == extent) {
      out.domain.push_back(extent);
      out.box.push_back(box);
      continue;
    }
    if (extent % *box != 0) {
      return failure(
          Reason::unit_unalignable,
          fmt::format("unit `{}` of size {} does not divide the extent {}", unit.text(), *box, extent));
    }
    out.domain.insert(out.domain.end(), {extent / *box, *box});
    out.box.insert(out.box.end(), {1, *box});
  }
  type = std::move(out);
  return std::nullopt;
}

std::vector<std::int64_t> pitches(const std::vector<std::int64_t>& domain) {
  std::vector<std::int64_t> out(domain.size());
  std::int64_t p = 1;
  for (std::size_t i = domain.size(); i-- > 0;) {
    out[i] = p;
    p *= domain[i];
  }
  return out;
}

std::int64_t product(const std::vector<std::int64_t>& domain) {
  std::int64_t p = 1;
  for (const std::int64_t d : domain) p = semantics::ir::checked_mul(p, d);
  return p;
}

}  // namespace

Result<CollType> unpack(const CollUnit& unit, const Geometry& geometry, Unpack flavour) {
  const std::int64_t threads = semantics::ir::checked_mul(geometry.cluster_dim, geometry.block_dim);
  semantics::ensure(unit.box.size() == unit.domain.size(), "a unit has one box coordinate per dimension");
  CollType type;
  std::int64_t covered = 1;
  for (std::size_t i = 0; i < unit.domain.size(); ++i) {
    const auto extent = size(unit.domain[i], geometry);
    if (!extent) return not_integer(unit, unit.domain[i], geometry);
    std::optional<std::int64_t> box;
    if (unit.box[i]) {
      box = size(*unit.box[i], geometry);
      if (!box) return not_integer(unit, *unit.box[i], geometry);
    }
    if (*extent < 1 || (box && (*box < 1 || *box > *extent)))
      return out_of_range(unit, *extent, box, geometry);
    // Saturates: what matters is only that it does not divide `threads`.
    if (covered > threads || __builtin_mul_overflow(covered, *extent, &covered)) covered = threads + 1;
    if (*extent == 1) continue;
    type.domain.push_back(*extent);
    type.box.push_back(box);
  }
  if (covered > threads) {
    return failure(Reason::unit_partial,
                   fmt::format("the domain of unit `{}` has more positions than the {} threads of "
                               "the cluster",
                               unit.text(), threads));
  }
  if (threads % covered != 0) {
    return failure(Reason::unit_partial,
                   fmt::format("the {} positions of unit `{}` do not divide the {} threads of the "
                               "cluster",
                               covered, unit.text(), threads));
  }
  if (threads != covered) {
    type.domain.insert(type.domain.begin(), threads / covered);
    type.box.insert(type.box.begin(),
                    flavour == Unpack::query ? std::optional<std::int64_t>(1) : std::nullopt);
  }
  if (flavour == Unpack::query) {
    if (auto f = align(unit, type)) return *f;
  }
  return type;
}

Result<std::vector<std::int64_t>> common_domain(const std::vector<std::int64_t>& a,
                                                const std::vector<std::int64_t>& b) {
  const std::int64_t threads = product(a);
  semantics::ensure(threads == product(b), "domains of different sizes");
  std::vector<std::int64_t> cuts = pitches(a);
  const std::vector<std::int64_t> more = pitches(b);
  cuts.insert(cuts.end(), more.begin(), more.end());
  cuts.push_back(threads);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<std::int64_t> domain;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] % cuts[i - 1] != 0) {
      return failure(
          Reason::domain_incompatible,
          fmt::format("the domains ({}) and ({}) cannot be refined to a common one: {} does not divide {}",
                      fmt::join(a, ", "), fmt::join(b, ", "), cuts[i - 1], cuts[i]));
    }
    domain.insert(domain.begin(), cuts[i] / cuts[i - 1]);
  }
  return domain;
}

}  // namespace exocheck::analysis
