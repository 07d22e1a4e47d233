// Results for all sizes (all-sizes.md): every task is followed symbolically, element class by element class, and global
// memory is compared across tasks, so that the cost depends neither on sizes nor on the number of tasks.
#pragma once

#include <cstdint>
#include <functional>
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
  std::size_t most_candidates = 8;
  // Called with each candidate for sizes at which a rule is broken; true: it is, look no further.
  std::function<bool(const ParameterValues&)> confirm;
  // For tests: false runs loops with constant bounds to their end, looks at equal slices one by one.
  bool fast_forward = true, merge_slices = true;
  bool keep_failures = false;  // fill ProofResult::failures
};

// Values of control parameters.
using ParameterValues = std::vector<std::pair<SymId, std::int64_t>>;

// A rule that some path of one task breaks.
struct ProofFailure {
  std::string_view code;
  bool warning = false;
  NodeId node{};
  VarId var{};
  std::vector<std::int64_t> element;  // the smallest of its class
  // Compared as lists, failures are in execution order; empty if an iteration is not constant.
  std::vector<std::int64_t> order;
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
  bool confirmed = false;               // by ProofOptions::confirm
  std::optional<ProofFailure> failure;  // refuted: the first suspect
  std::vector<ProofFailure> failures;   // on request: of every path that the solver did not exclude
  bool reaches_task = false;            // for some sizes a task is executed
  bool asserts_complete = true;         // false: one has no linear form and was left out, so perhaps no sizes are admitted

  std::uint64_t element_classes = 0, slices = 0, steps = 0, layers = 0, memory_queries = 0;
  std::uint64_t solver_calls = 0, records_peak = 0;
  double solver_seconds = 0, seconds = 0;
};

// `fixed` gives parameters their values; the others range over everything that the asserts admit (sizes: at least 1).
// The procedure passed all static passes, and all its index obligations were proved.
ProofResult prove(const Program& program, const semantics::ir::Procedure& procedure, const ParameterValues& fixed,
                  const ModeRules& rules, const ProofOptions& options = {});

}  // namespace exocheck::amir
