// The fast path in front of the solver: proves most index obligations by eliminating variables with known
// bounds. It is sound by construction (every step adds a non-negative multiple of an assumption, with integer
// rounding) and incomplete: "not proved" means nothing.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "smt/linear.hpp"
#include "smt/query.hpp"

namespace exocheck::smt {

// Do the facts `L <= 0` imply `goal <= 0`? Gives up (false) on overflow.
bool implied(const Atoms& atoms, const std::vector<Linear>& facts, const Linear& goal);

class QuickProver {
 public:
  // Do the assumptions imply the goal? Never throws on overflow; gives up instead.
  bool proves(const Assumptions& assumptions, const Term& goal);
  // A small assignment that satisfies every assumption, if guessing finds one: the assumptions are
  // satisfiable.
  static bool satisfiable_by_guess(const Assumptions& assumptions);

 private:
  // What an assumption says in linear form: every entry is `L <= 0`. Other literals are kept as terms.
  struct Facts {
    std::vector<Linear> linear;
    std::vector<Term> literals;
  };
  struct CachedFacts {
    std::shared_ptr<const Assumptions::Link> owner;  // keeps the key's address unique
    Facts facts;
  };

  void add_facts(const Term& condition, Facts& out);
  const Facts& facts_of(const std::shared_ptr<const Assumptions::Link>& link);
  bool proves(const Facts& known, const Term& goal, int depth);
  bool proves_linear(const Facts& known, const Linear& goal);

  Atoms atoms_;
  std::unordered_map<const Assumptions::Link*, CachedFacts> cache_;
};

}  // namespace exocheck::smt
