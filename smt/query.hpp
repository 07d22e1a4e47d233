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

// Where an assumption comes from; decides whether a counterexample mentions its variables.
enum class Origin : std::uint8_t {
  fact,   // a declared property (size > 0, a precondition): mentioned if connected with the rest
  range,  // lo <= i < hi of a loop around the place
  guard,  // the condition of a branch around the place
};

struct Assumption {
  std::string label;  // unique within a query: "size.n", "pre.1", "loop.k", "guard.2"
  Term condition;
  Origin origin = Origin::fact;
  std::optional<std::uint32_t> range_of;  // Origin::range: the loop variable
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
  Assumptions with(std::string label, const Term& condition, Origin origin = Origin::fact,
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

// Variables that a counterexample of the query shows, in ascending id: those of the goal, of the branches
// around the place, of the loops around it that may be empty, and whatever limits these.
std::vector<Variable> relevant_variables(const Query& query);

}  // namespace exocheck::smt
