// Index expressions of generated code: an iterator's value as a function of threadIdx.x or the CTA's rank in
// its cluster (collective.md 5.2). Simplified while they are built; the simplified value equals the plain one
// for every thread that is still active where the expression is evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace exocheck::analysis {

enum class IndexBase : std::uint8_t {
  constant,
  thread,  // threadIdx.x, in [0, blockDim)
  rank,    // cluster_ctarank, in [0, clusterDim)
};

enum class IndexOp : std::uint8_t { minus, divide, modulo };

struct IndexExpr {
  IndexBase base = IndexBase::constant;
  std::int64_t value = 0;                                      // IndexBase::constant
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  // known half-open range of the value
  std::vector<std::pair<IndexOp, std::int64_t>> ops;           // applied left to right

  // "(threadIdx.x - 128) / 128"
  std::string text() const;
  // Value for one thread; floor division and non-negative remainder.
  std::int64_t evaluate(std::int64_t thread, std::int64_t rank) const;
};

// threadIdx.x or the rank, with range [0, extent).
IndexExpr index_base(IndexBase base, std::int64_t extent);
IndexExpr index_minus(IndexExpr e, std::int64_t v);
// Precondition: v > 0.
IndexExpr index_divide(IndexExpr e, std::int64_t v);
IndexExpr index_modulo(IndexExpr e, std::int64_t v);

}  // namespace exocheck::analysis
