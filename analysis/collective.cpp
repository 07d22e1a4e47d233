#include "analysis/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

std::string box_text(const std::vector<std::optional<std::int64_t>>& box) {
  std::vector<std::string> parts;
  parts.reserve(box.size());
  for (const auto& b : box) parts.push_back(b ? std::to_string(*b) : "*");
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace

std::string CollType::text() const {
  return fmt::format("domain ({}), box {}", fmt::join(domain, ", "), box_text(box));
}

std::int64_t CollTiling::pitch(std::size_t dim) const {
  std::int64_t p = 1;
  for (std::size_t i = dim + 1; i < dims.size(); ++i) p *= dims[i].extent;
  return p;
}

std::int64_t CollTiling::threads() const {
  std::int64_t n = 1;
  for (const DimDescription& d : dims) n *= d.box();
  return n;
}

std::vector<std::int64_t> CollTiling::domain() const {
  std::vector<std::int64_t> out;
  out.reserve(dims.size());
  for (const DimDescription& d : dims) out.push_back(d.extent);
  return out;
}

std::vector<std::int64_t> CollTiling::box() const {
  std::vector<std::int64_t> out;
  out.reserve(dims.size());
  for (const DimDescription& d : dims) out.push_back(d.box());
  return out;
}

CollType CollTiling::type() const {
  CollType out{domain(), {}};
  for (const std::int64_t b : box()) out.box.emplace_back(b);
  return out;
}

std::string CollTiling::text() const { return type().text(); }

TilingPtr device_tiling(const Geometry& geometry) {
  // Every product of extents below is at most this one, so checking it once is enough.
  semantics::ir::checked_mul(geometry.cluster_dim, geometry.block_dim);
  CollTiling t;
  t.geometry = geometry;
  if (geometry.cluster_dim > 1) {
    t.dims.push_back({geometry.cluster_dim, {}, index_base(IndexBase::rank, geometry.cluster_dim)});
  }
  t.dims.push_back({geometry.block_dim, {}, index_base(IndexBase::thread, geometry.block_dim)});
  return std::make_shared<const CollTiling>(std::move(t));
}

std::int64_t thread_pitch(const CollTiling& tiling, SymId iter) {
  for (std::size_t i = 0; i < tiling.dims.size(); ++i) {
    for (const DimOp& op : tiling.dims[i].ops) {
      if (op.iter == iter) return op.tile_count > 1 ? tiling.pitch(i) * op.box : 0;
    }
  }
  return 0;
}

std::int64_t base_thread(const CollTiling& tiling) {
  std::int64_t base = 0;
  for (std::size_t i = 0; i < tiling.dims.size(); ++i) {
    for (const DimOp& op : tiling.dims[i].ops) base += tiling.pitch(i) * op.offset;
  }
  return base;
}

ThreadMap thread_map(const CollTiling& tiling) {
  ThreadMap map;
  map.dims.reserve(tiling.dims.size());
  for (const DimDescription& d : tiling.dims) {
    ThreadMap::Dim dim{d.extent, 0, {}, d.box()};
    for (const DimOp& op : d.ops) {
      dim.offset += op.offset;
      // Hidden iterators are always 0; so is the iterator of a single-iteration loop.
      if (!op.hidden && op.tile_count > 1) dim.terms.emplace_back(op.iter, op.box);
    }
    map.dims.push_back(std::move(dim));
  }
  return map;
}

}  // namespace exocheck::analysis
