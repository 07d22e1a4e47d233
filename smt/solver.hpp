// Queries to Z3. Everything of Z3 stays behind this header; each query uses a fresh solver with fixed seeds,
// so that the answer depends on it, the limits and what the same Solver was asked before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "smt/query.hpp"

namespace exocheck::smt {

struct Limits {
  unsigned milliseconds = 10'000;       // wall clock per query: a backstop
  unsigned resource_units = 5'000'000;  // Z3's deterministic step counter per query
  unsigned megabytes = 2'048;           // memory of the solver
};

// Validity: the goal holds. Satisfiability: there is no model.
struct Proved {};
// A model of the assumptions (and of the negated goal), restricted to relevant_variables and made small:
// variable by variable in ascending id, the value nearest to zero, non-negative first. Booleans are 0 and 1.
struct Model {
  std::vector<std::pair<Variable, std::int64_t>> values;
};
// Nothing is known; `reason` completes the sentence "the solver gave up: ...".
struct Unknown {
  std::string reason;
};
using Answer = std::variant<Proved, Model, Unknown>;

// Answers one query after another; making one costs more than a small query.
class Solver {
 public:
  Solver();
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  // A model is re-checked with plain integers before it is returned. Never throws for solver trouble.
  Answer solve(const Query& query, const Limits& limits = {});

 private:
  struct Context;
  std::unique_ptr<Context> context_;  // made when it is needed
};

}  // namespace exocheck::smt
