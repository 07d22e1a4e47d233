// Refining boxes and tilings to a finer domain (collective.md 2.4 - 2.6).
#include <fmt/format.h>

#include "analysis/collective.hpp"
#include "semantics/errors.hpp"

namespace exocheck::analysis {
namespace {

// The extents of `fine` that together make up each extent of `coarse`, most significant first.
std::vector<std::vector<std::int64_t>> factors(const std::vector<std::int64_t>& coarse,
                                               const std::vector<std::int64_t>& fine) {
  std::vector<std::vector<std::int64_t>> out;
  std::size_t next = 0;
  for (const std::int64_t extent : coarse) {
    std::vector<std::int64_t> parts;
    std::int64_t product = 1;
    while (product < extent && next < fine.size()) {
      parts.push_back(fine[next]);
      product *= fine[next++];
    }
    semantics::ensure(product == extent, "not a refinement of the domain");
    out.push_back(std::move(parts));
  }
  semantics::ensure(next == fine.size(), "not a refinement of the domain");
  return out;
}

// collective.md 2.4, one coordinate: boxes of `parts`, or the part size that does not divide the box.
std::variant<std::vector<std::optional<std::int64_t>>, std::int64_t> split_box(
    std::optional<std::int64_t> box, const std::vector<std::int64_t>& parts) {
  std::vector<std::optional<std::int64_t>> out(parts.size());
  if (!box) return out;
  for (std::size_t i = parts.size(); i-- > 1;) {
    const std::int64_t f = parts[i];
    if (*box < f) {
      out[i] = box;
      box = 1;
    } else {
      if (*box % f != 0) return f;
      out[i] = f;
      *box /= f;
    }
  }
  out[0] = box;
  return out;
}

Result<CollType> refine_type(const CollType& type, const std::vector<std::int64_t>& domain) {
  const auto parts = factors(type.domain, domain);
  CollType out{domain, {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto split = split_box(type.box[i], parts[i]);
    if (const auto* f = std::get_if<std::int64_t>(&split)) {
      return Failure{Reason::box_misalign,
                     fmt::format("the box {} of the unit's dimension of extent {} is not a multiple of {}",
                                 *type.box[i], type.domain[i], *f),
                     std::nullopt, std::nullopt};
    }
    const auto& boxes = std::get<0>(split);
    out.box.insert(out.box.end(), boxes.begin(), boxes.end());
  }
  return out;
}

struct Halves {
  DimDescription high, low;
};

// collective.md 2.5: cuts the low `f` positions off a dimension whose thread pitch is `pitch`.
Result<Halves> split_dimension(const DimDescription& dim, std::int64_t f, std::int64_t pitch) {
  Halves out{{dim.extent / f, {}, index_divide(dim.root, f)}, {f, {}, index_modulo(dim.root, f)}};
  std::size_t i = 0;
  for (; i < dim.ops.size() && dim.ops[i].box >= f; ++i) {
    DimOp op = dim.ops[i];
    if (op.offset % f != 0 || op.box % f != 0) {
      return Failure{
          Reason::reshape_misalign,
          fmt::format("it takes boxes of {} threads from an offset of {} threads, which are not both "
                      "multiples of {} threads",
                      op.box * pitch, op.offset * pitch, f * pitch),
          op.iter, std::nullopt};
    }
    op.offset /= f;
    op.box /= f;
    op.leaf = index_divide(op.leaf, f);
    out.high.ops.push_back(std::move(op));
  }
  for (; i < dim.ops.size(); ++i) out.low.ops.push_back(dim.ops[i]);
  if (!out.low.ops.empty() && out.high.box() != 1) {
    const DimOp& op = out.low.ops.front();
    return Failure{
        Reason::reshape_straddle,
        fmt::format(
            "its {} boxes of {} threads run across several blocks of {} threads; split it into a loop "
            "over the blocks and a loop inside one block",
            op.tile_count, op.box * pitch, f * pitch),
        op.iter, std::nullopt};
  }
  return out;
}

}  // namespace

Result<TilingPtr> refine(const TilingPtr& tiling, const std::vector<std::int64_t>& domain) {
  if (tiling->domain() == domain) return tiling;
  const auto parts = factors(tiling->domain(), domain);
  CollTiling out = *tiling;
  out.dims.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    DimDescription high = tiling->dims[i];
    std::vector<DimDescription> split;
    std::int64_t pitch = tiling->pitch(i);
    // The smallest pitch first: each cut splits the current high part.
    for (std::size_t k = parts[i].size(); k-- > 1;) {
      auto halves = split_dimension(high, parts[i][k], pitch);
      if (const auto* f = std::get_if<Failure>(&halves)) return *f;
      auto& h = std::get<Halves>(halves);
      split.insert(split.begin(), std::move(h.low));
      high = std::move(h.high);
      pitch *= parts[i][k];
    }
    split.insert(split.begin(), std::move(high));
    out.dims.insert(out.dims.end(), std::make_move_iterator(split.begin()),
                    std::make_move_iterator(split.end()));
  }
  return std::make_shared<const CollTiling>(std::move(out));
}

Result<Completed> complete(const TilingPtr& tiling, const CollType& type) {
  auto domain = common_domain(tiling->domain(), type.domain);
  if (const auto* f = std::get_if<Failure>(&domain)) return *f;
  auto refined_type = refine_type(type, std::get<0>(domain));
  if (const auto* f = std::get_if<Failure>(&refined_type)) return *f;
  auto refined = refine(tiling, std::get<0>(domain));
  if (const auto* f = std::get_if<Failure>(&refined)) return *f;
  return Completed{std::get<TilingPtr>(refined), std::get<CollType>(std::move(refined_type))};
}

}  // namespace exocheck::analysis
