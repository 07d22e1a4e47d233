// Results for all sizes (all-sizes.md): every task is followed symbolically, element class by element class,
// and global memory is compared across tasks, so that the cost depends neither on sizes nor on the number of
// tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "amir/run.hpp"
#include "semantics/ir.hpp"
#include "smt/solver.hpp"

namespace exocheck::amir {

// Values of control parameters.
using ParameterValues = std::vector<std::pair<SymId, std::int64_t>>;

struct ProofOptions {
  double max_seconds = 300;  // wall clock; a backstop
  double solver_seconds = 5;
  // For tests: false runs loops with constant bounds to their end, looks at equal slices one by one.
  bool fast_forward = true, merge_slices = true;
  bool approximate_all = false;  // for tests: over-approximates every loop whose length is not constant
  bool keep_failures = false;    // fill ProofResult::failures
};

// What to do with sizes at which a rule may be broken.
struct Candidates {
  std::size_t most = 8;
  // Called with each; true: a rule is broken, look no further.
  std::function<bool(const ParameterValues&)> confirm;
};

// A rule that some path of one task breaks.
struct ProofFailure {
  std::string_view code;
  bool warning = false;
  NodeId node{};
  VarId var{};
  std::vector<std::int64_t> element;  // the smallest of its class
  // Compared as lists, failures are in execution order; empty if an iteration is not constant.
  std::vector<std::int64_t> order;
  // Not empty: some loop was over-approximated, so perhaps no sizes have this path (all-sizes.md 4.5); why.
  std::string_view approximate;
};

struct ProofResult {
  // proved: no rule is broken, for no sizes that satisfy the preconditions.
  // refuted: some rule may be broken; `candidates` are sizes to confirm it at, the smallest first.
  // open: neither could be shown; `reason` completes "not proved for all sizes: ...".
  enum class Kind : std::uint8_t { proved, refuted, open } kind = Kind::open;
  std::vector<ParameterValues> candidates;
  std::string reason;
  // Sizes at which only a warning is due.
  std::vector<ParameterValues> warnings;
  bool confirmed = false;               // by Candidates::confirm
  std::optional<ProofFailure> failure;  // refuted: the first suspect
  std::vector<ProofFailure> failures;   // on request: of every path that the solver did not exclude
  bool reaches_task = false;            // for some sizes a task is executed
  bool asserts_complete =
      true;  // false: one has no linear form and was left out, so perhaps no sizes are admitted

  std::uint64_t element_classes = 0, slices = 0, steps = 0, layers = 0, memory_queries = 0;
  std::uint64_t solver_calls = 0, records_peak = 0;
  double solver_seconds = 0, seconds = 0;
};

// The tasks of a program, taken apart once and looked at with one or more sets of rules.
// `fixed` gives parameters their values; the others range over everything that the asserts admit (sizes: at
// least 1). The procedure passed all static passes, and all its index obligations were proved. Both outlive
// the proof.
class Proof {
 public:
  // `strictest` finds everything that the rules of any look find.
  Proof(const Program& program, const semantics::ir::Procedure& procedure, ParameterValues fixed,
        const ModeRules& strictest, const ProofOptions& options = {});
  Proof(const Program&, semantics::ir::Procedure&&, ParameterValues, const ModeRules&,
        const ProofOptions& = {}) = delete;
  ~Proof();
  Proof(const Proof&) = delete;
  Proof& operator=(const Proof&) = delete;

  // The numbers of the result (steps, queries, seconds) are those of this look.
  ProofResult look(const ModeRules& rules, const Candidates& candidates = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

// One look.
ProofResult prove(const Program& program, const semantics::ir::Procedure& procedure,
                  const ParameterValues& fixed, const ModeRules& rules, const ProofOptions& options = {});

}  // namespace exocheck::amir
