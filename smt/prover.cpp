#include "smt/prover.hpp"

#include <algorithm>
#include <utility>

namespace exocheck::smt {

Term Prover::declare(std::string name, Sort sort, VariableRole role) {
  return variable(Variable{next_variable_++, sort, role, std::move(name)});
}

Answer Prover::prove(const Assumptions& assumptions, const Term& goal) {
  ++statistics_.queries;
  last_used_solver_ = false;
  last_seconds_ = 0;
  if (quick_.proves(assumptions, goal)) return Proved{};
  return ask_solver({assumptions, goal});
}

Answer Prover::contradictory(const Assumptions& assumptions) {
  ++statistics_.queries;
  last_used_solver_ = false;
  last_seconds_ = 0;
  // Without a solver's model nothing is shown, but none is needed: the question is answered.
  if (quick_.satisfiable_by_guess(assumptions)) return Model{};
  return ask_solver({assumptions, std::nullopt});
}

Answer Prover::ask_solver(const Query& query) {
  const double left = total_seconds_ - statistics_.solver_seconds;
  if (left <= 0) return Unknown{"the solver time for this procedure is used up"};
  Limits limits = limits_;
  limits.milliseconds = static_cast<unsigned>(std::clamp(left * 1000, 1.0, double(limits_.milliseconds)));
  const auto start = std::chrono::steady_clock::now();
  Answer answer = solver_.solve(query, limits);
  last_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  last_used_solver_ = true;
  ++statistics_.solver_calls;
  statistics_.solver_seconds += last_seconds_;
  statistics_.slowest_seconds = std::max(statistics_.slowest_seconds, last_seconds_);
  return answer;
}

}  // namespace exocheck::smt
