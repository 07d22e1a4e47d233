// What is asked of the prover: assumptions in force at a place of the program, and a goal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smt/term.hpp"

namespace exocheck::smt {

struct Assumption {
  std::string label;  // unique within a query: "size.n", "pre.1", "loop.k", "guard.2"
  Term condition;
  // The variable whose range this is (size > 0, lo <= i < hi). A counterexample shows the other variables of
  // such an assumption only if it shows this one.
  std::optional<std::uint32_t> range_of;
};

// An immutable list of assumptions; extending it shares the rest, so a walk keeps one value per scope and
// needs no stack discipline.
class Assumptions {
 public:
  struct Link {
    Assumption assumption;
    std::shared_ptr<const Link> parent;
  };

  // Labels that occur already get a suffix "!2", "!3", ...
  Assumptions with(std::string label, const Term& condition,
                   std::optional<std::uint32_t> range_of = {}) const;
  // Oldest first.
  std::vector<const Assumption*> in_order() const;
  const std::shared_ptr<const Link>& last() const { return last_; }

 private:
  std::shared_ptr<const Link> last_;
};

struct Query {
  Assumptions assumptions;
  // Validity: do the assumptions imply the goal? Without a goal: are the assumptions satisfiable?
  std::optional<Term> goal;
};

// Variables that a counterexample of the query should show: those of the goal, and those that limit them.
// In ascending id.
std::vector<Variable> relevant_variables(const Query& query);

}  // namespace exocheck::smt
