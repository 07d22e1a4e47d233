// What makes a choice of sizes different from another one: trip counts, exact and ragged divisions, ways
// through branches.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <vector>

#include "semantics/ir.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

class SizeFeatures {
 public:
  explicit SizeFeatures(const semantics::ir::Procedure& procedure);

  // `what`: a statement or a division (numbered after the statements); `value`: its class of behaviour.
  struct Feature {
    std::size_t what = 0;
    int value = 0;
    friend auto operator<=>(const Feature&, const Feature&) = default;
  };
  // Trip count classes 0, 1, 2, more, longer than the rings used in the body, twice as long; remainders zero
  // or not; branch conditions. Iterators take their first and last values only.
  std::set<Feature> of(const semantics::ir::Environment& sizes) const;

  // Values of a parameter near the constants that it meets in the procedure, and multiples of its tiles.
  std::vector<std::int64_t> interesting_values(semantics::ir::SymId parameter) const;

 private:
  void collect(const semantics::ir::Block& block);
  void collect(const semantics::ir::Expr& e);
  void walk(const semantics::ir::Block& block, semantics::ir::Environment& env, std::set<Feature>& out,
            int& budget) const;

  const semantics::ir::Procedure& procedure_;
  std::map<semantics::ir::SymId, std::set<std::int64_t>> tiles_;      // divisors applied to the parameter
  std::map<semantics::ir::SymId, std::set<std::int64_t>> constants_;  // compared with it
  std::map<semantics::ir::StmtId, std::int64_t> depth_;  // of a loop: ring depths, lags and moduli inside
  std::vector<semantics::ir::ExprPtr> divisions_;        // over parameters only
  std::int64_t deepest_ = 0;
};

}  // namespace exocheck::amir
