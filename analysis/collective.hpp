// Collective algebra: types, domains, tilings, thread maps, scope queries (collective.md 1-5).
// Thread indices are natural local indices t = cluster_ctarank * blockDim + threadIdx.x, 0 <= t < clusterDim
// * blockDim.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/collective_index.hpp"
#include "semantics/ir.hpp"
#include "semantics/units.hpp"

namespace exocheck::analysis {

using semantics::CollUnit;
using semantics::ir::SymId;

// Threads of one cluster.
struct Geometry {
  std::int64_t cluster_dim = 1;
  std::int64_t block_dim = 32;
  std::int64_t threads() const { return cluster_dim * block_dim; }
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

// collective.md 2.1. Every extent is >= 2 and their product is Geometry::threads(); box nullopt = no
// requirement (`*`).
struct CollType {
  std::vector<std::int64_t> domain;
  std::vector<std::optional<std::int64_t>> box;
  std::string text() const;  // "domain (2, 384), box (1, *)"
};

// Why an algebraic step failed; names of collective.md 9. `culprit` is the tiling operation (a loop iterator,
// or the hidden iterator of a CudaWarps block) that has to change.
enum class Reason {
  unit_nonint,
  unit_range,
  unit_partial,
  unit_unalignable,
  domain_incompatible,
  box_misalign,
  reshape_misalign,
  reshape_straddle,
  tile_ambiguous,
  tile_trivial,
  tile_too_many,
  scope_mismatch,
};
struct Failure {
  Reason reason{};
  std::string text;  // a clause with the numbers, without a full stop
  std::optional<SymId>
      culprit;  // scope_mismatch: the innermost operation on the first dimension that differs
  std::optional<std::int64_t> maximum;  // tile_too_many: the largest admissible count
};
template <class T>
using Result = std::variant<T, Failure>;

// One narrowing of one tiling dimension by a loop or a CudaWarps block.
struct DimOp {
  SymId iter{};         // CudaWarps: a hidden symbol, whose value is always 0
  bool hidden = false;  // from CudaWarps
  std::int64_t offset = 0;
  std::int64_t box = 0;
  std::int64_t tile_count = 1;
  int depth = 0;   // of the tiling that created it; > allocation's depth: created after the allocation
  IndexExpr leaf;  // coordinate inside the box, for generated code
};

struct DimDescription {
  std::int64_t extent = 0;
  std::vector<DimOp> ops;
  IndexExpr root;  // coordinate along the whole dimension
  std::int64_t box() const { return ops.empty() ? extent : ops.back().box; }
};

struct CollTiling;
using TilingPtr = std::shared_ptr<const CollTiling>;

// How a tiling came from its parent (needed for code generation, collective.md 5).
struct Derivation {
  std::optional<SymId> iter;
  std::optional<int> dim;  // none: trivial tiling
  std::int64_t pitch = 0;  // thread pitch of `iter`
  std::int64_t offset = 0, box = 0, tile_count = 1;
  IndexExpr index;                           // loop: the iterator's value; CudaWarps: the tested coordinate
  std::optional<std::int64_t> lower, upper;  // tests `index >= lower`, `index < upper`; none: always true
};

// collective.md 3. Immutable.
struct CollTiling {
  Geometry geometry;
  std::vector<DimDescription> dims;
  int depth = 0;
  Derivation how;
  TilingPtr parent;

  std::int64_t pitch(std::size_t dim) const;  // product of the less significant extents
  std::int64_t threads() const;               // product of the boxes
  std::vector<std::int64_t> domain() const;
  std::vector<std::int64_t> box() const;
  CollType type() const;     // domain and box
  std::string text() const;  // "domain (2, 384), box (1, 128)"
};

// Evaluated thread set: per dimension an interval of coordinates; a "thread cuboid"
// (abstract-machine.md 1.3). The map keeps the interval's start as constant + sum(coefficient * iterator).
struct ThreadMap {
  struct Dim {
    std::int64_t extent = 1;
    std::int64_t offset = 0;
    std::vector<std::pair<SymId, std::int64_t>> terms;
    std::int64_t box = 1;
  };
  std::vector<Dim> dims;  // most significant first
};

// The tiling at the top of a device function (collective.md 4.2).
TilingPtr device_tiling(const Geometry& geometry);

// pad1/aligned flavours of collective.md 2.2.
enum class Unpack { loop, query };
Result<CollType> unpack(const CollUnit& unit, const Geometry& geometry, Unpack flavour);

// Common refinement of two domains (collective.md 2.3), most significant extent first.
Result<std::vector<std::int64_t>> common_domain(const std::vector<std::int64_t>& a,
                                                const std::vector<std::int64_t>& b);

// A tiling and a type over the same domain (collective.md 2.6).
struct Completed {
  TilingPtr tiling;
  CollType type;
};
Result<Completed> complete(const TilingPtr& tiling, const CollType& type);
// A tiling refined to a finer domain; the thread map does not change.
Result<TilingPtr> refine(const TilingPtr& tiling, const std::vector<std::int64_t>& domain);

// collective.md 4.1: body tiling of `for iter in cuda_threads(0, hi, unit)` with lo = 0, tile_count = hi, and
// of CudaWarps with tile_count = 1.
Result<TilingPtr> derive(const TilingPtr& tiling, SymId iter, bool hidden, const CollUnit& unit,
                         std::int64_t lo, std::int64_t hi, std::int64_t tile_count);

// Scope query (collective.md 4.5): nullopt = the tiling is at `unit` scope, else why not.
std::optional<Failure> mismatch(const TilingPtr& tiling, const CollUnit& unit);
inline bool matches(const TilingPtr& tiling, const CollUnit& unit) { return !mismatch(tiling, unit); }

// Thread pitch of an iterator of the tiling: f(y := j) = f(y := 0) + j * pitch; 0 if it has no operation.
std::int64_t thread_pitch(const CollTiling& tiling, SymId iter);
// Sum over all operations of pitch * offset: the first thread with every iterator 0.
std::int64_t base_thread(const CollTiling& tiling);

ThreadMap thread_map(const CollTiling& tiling);

}  // namespace exocheck::analysis
