// The one entry to proofs: fast path first, then the solver. Owns the variables of one procedure's
// obligations.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "smt/query.hpp"
#include "smt/quick.hpp"
#include "smt/solver.hpp"

namespace exocheck::smt {

struct Statistics {
  std::uint64_t queries = 0;
  std::uint64_t solver_calls = 0;
  double solver_seconds = 0;
  double slowest_seconds = 0;
};

class Prover {
 public:
  // `total_seconds` bounds the solver time of all queries together; beyond it the answer is Unknown.
  explicit Prover(const Limits& limits = {}, double total_seconds = 120)
      : limits_(limits), total_seconds_(total_seconds) {}

  // A fresh variable; names need not be unique.
  Term declare(std::string name, Sort sort, VariableRole role);

  // The fast path alone, not counted: false means nothing.
  bool obvious(const Assumptions& assumptions, const Term& goal) { return quick_.proves(assumptions, goal); }
  // Do the assumptions imply the goal? Proved, a counterexample, or Unknown.
  Answer prove(const Assumptions& assumptions, const Term& goal);
  // Proved here means: the assumptions contradict each other.
  Answer contradictory(const Assumptions& assumptions);

  const Statistics& statistics() const { return statistics_; }
  // Did the last query reach the solver, and how long did that take?
  bool last_used_solver() const { return last_used_solver_; }
  double last_seconds() const { return last_seconds_; }

 private:
  Answer ask_solver(const Query& query);

  Limits limits_;
  double total_seconds_;
  QuickProver quick_;
  Solver solver_;
  Statistics statistics_;
  std::uint32_t next_variable_ = 0;
  bool last_used_solver_ = false;
  double last_seconds_ = 0;
};

}  // namespace exocheck::smt
