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

  // Trip counts: each class but `more` up to `twice_the_ring` is one number or a half-line. Rings are those
  // used in the loop's body; the last four classes exist for loops with a ring only.
  enum Trips : int { none, one, two, more, beyond_the_ring, twice_the_ring, as_the_ring, ring_and_one };

  // `what`: a statement or a division (numbered after the statements); `value`: its class of behaviour: Trips
  // of a loop, the truth of a branch's condition, 0 for a division without remainder and 1 for one with.
  struct Feature {
    std::size_t what = 0;
    int value = 0;
    friend auto operator<=>(const Feature&, const Feature&) = default;
  };
  struct Profile {
    std::set<Feature> features;
    double cost = 0;  // estimate: statements that the machine executes
  };
  // Iterators take their first and last values only.
  Profile of(const semantics::ir::Environment& sizes) const;

  // Deepest ring, largest lag or modulus that is used with the loop's iterations; 0: none.
  std::int64_t ring(semantics::ir::StmtId loop) const;
  // Remainders over parameters only, exact where they are 0. Feature::what is the number of statements plus
  // the position here.
  const std::vector<semantics::ir::ExprPtr>& divisions() const { return divisions_; }

  // Values of a parameter near the constants that it meets in the procedure, and multiples of its tiles.
  std::vector<std::int64_t> interesting_values(semantics::ir::SymId parameter) const;

 private:
  void collect(const semantics::ir::Block& block);
  void collect(const semantics::ir::Expr& e);
  void note_division(const semantics::ir::ExprPtr& dividend, const semantics::ir::ExprPtr& divisor);
  // Returns the cost of one execution of the block.
  double walk(const semantics::ir::Block& block, semantics::ir::Environment& env, std::set<Feature>& out,
              int& budget) const;

  const semantics::ir::Procedure& procedure_;
  std::map<semantics::ir::SymId, std::set<std::int64_t>> tiles_;      // divisors applied to the parameter
  std::map<semantics::ir::SymId, std::set<std::int64_t>> constants_;  // compared with it
  std::map<semantics::ir::StmtId, std::int64_t> depth_;  // of a loop: ring depths, lags and moduli inside
  std::vector<semantics::ir::ExprPtr> divisions_;        // over parameters only
  std::int64_t deepest_ = 0;
};

}  // namespace exocheck::amir
