// Tilings of loop and CudaWarps bodies, and scope queries (collective.md 4.1, 4.5).
#include <fmt/format.h>

#include "analysis/collective.hpp"

namespace exocheck::analysis {
namespace {

std::string against(const CollTiling& tiling, const CollType& type, const CollUnit& unit) {
  return fmt::format("the current collective has {}; unit `{}` has {}", tiling.text(), unit.text(),
                     type.text());
}

std::optional<SymId> innermost(const DimDescription& dim) {
  if (dim.ops.empty()) return std::nullopt;
  return dim.ops.back().iter;
}

}  // namespace

Result<TilingPtr> derive(const TilingPtr& tiling, SymId iter, bool hidden, const CollUnit& unit,
                         std::int64_t lo, std::int64_t hi, std::int64_t tile_count) {
  auto type = unpack(unit, tiling->geometry, Unpack::loop);
  if (const auto* f = std::get_if<Failure>(&type)) return *f;
  auto completed = complete(tiling, std::get<CollType>(type));
  if (const auto* f = std::get_if<Failure>(&completed)) return *f;
  const auto& [refined, delta] = std::get<Completed>(completed);

  std::optional<std::size_t> k;
  for (std::size_t i = 0; i < refined->dims.size(); ++i) {
    const auto& box = delta.box[i];
    if (!box || *box == refined->dims[i].box() || *box == refined->dims[i].extent) continue;
    if (k) {
      return Failure{Reason::tile_ambiguous,
                     "more than one dimension could be divided: " + against(*refined, delta, unit), iter,
                     std::nullopt};
    }
    k = i;
  }

  CollTiling out = *refined;
  out.depth = tiling->depth + 1;
  out.parent = tiling;
  out.how = {};
  out.how.iter = iter;
  if (!k) {
    if (lo != 0 || hi != 1) {
      return Failure{
          Reason::tile_trivial,
          fmt::format("the current collective already is one `{}`, so the only legal range is (0, 1), not "
                      "({}, {}): {}",
                      unit.text(), lo, hi, against(*refined, delta, unit)),
          iter, std::nullopt};
    }
    return std::make_shared<const CollTiling>(std::move(out));
  }

  DimDescription& dim = out.dims[*k];
  const std::int64_t present = dim.box();
  const std::int64_t b = *delta.box[*k];
  const std::int64_t maximum = present / b;
  if (hi > maximum) {
    return Failure{Reason::tile_too_many,
                   fmt::format("{} boxes of `{}` are needed, but the current collective has room for {}: {}",
                               hi, unit.text(), maximum, against(*refined, delta, unit)),
                   iter, maximum};
  }
  const IndexExpr parent_leaf = dim.ops.empty() ? dim.root : dim.ops.back().leaf;
  const bool whole = hi * b == present;
  DimOp op{iter, hidden, lo * b, (hi - lo) * b / tile_count, tile_count, out.depth, {}};
  out.how.dim = static_cast<int>(*k);
  out.how.offset = op.offset;
  out.how.box = op.box;
  out.how.tile_count = tile_count;
  out.how.pitch = tile_count > 1 ? out.pitch(*k) * op.box : 0;
  if (hidden) {
    out.how.index = parent_leaf;
    if (lo != 0) out.how.lower = lo * b;
    if (!whole) out.how.upper = hi * b;
    op.leaf = index_minus(parent_leaf, lo * b);
  } else {
    out.how.index = index_divide(parent_leaf, b);
    if (!whole) out.how.upper = hi;
    op.leaf = tile_count > 1 ? index_modulo(parent_leaf, b) : parent_leaf;
  }
  dim.ops.push_back(std::move(op));
  return std::make_shared<const CollTiling>(std::move(out));
}

std::optional<Failure> mismatch(const TilingPtr& tiling, const CollUnit& unit) {
  auto type = unpack(unit, tiling->geometry, Unpack::query);
  if (const auto* f = std::get_if<Failure>(&type)) return *f;
  auto completed = complete(tiling, std::get<CollType>(type));
  if (const auto* f = std::get_if<Failure>(&completed)) return *f;
  const auto& [refined, delta] = std::get<Completed>(completed);
  for (std::size_t i = 0; i < refined->dims.size(); ++i) {
    if (!delta.box[i] || *delta.box[i] == refined->dims[i].box()) continue;
    return Failure{Reason::scope_mismatch,
                   fmt::format("{} threads execute it, with {}; unit `{}` needs {}", refined->threads(),
                               refined->text(), unit.text(), delta.text()),
                   innermost(refined->dims[i]), std::nullopt};
  }
  return std::nullopt;
}

}  // namespace exocheck::analysis
