// The check of one procedure, from GPU IR to a verdict with its findings, as data (cli.md; decisions.md C,
// E1, E2, O).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amir/hb_graph.hpp"
#include "amir/run.hpp"
#include "analysis/facts.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::amir {

// design.md 3; decisions.md C1, C4.
enum class Verdict : std::uint8_t { proved, checked, defect, unknown, unsupported, vacuous };

struct CheckOptions {
  analysis::Mode mode = analysis::Mode::standard;
  std::vector<semantics::ir::SizeSet>
      sizes;                 // of the command line; empty: those of the comments, else chosen
  Limits limits;             // of all runs of the procedure together (time), of one run (the rest)
  bool graph = true;         // make Counterexample::graph
  bool all_sizes = true;     // try for a result without running the machine
  bool obligations = false;  // keep ProcedureResult::obligations
};

struct CheckStats {
  double seconds = 0;
  std::uint64_t statements = 0;  // AMIR statements executed, over all sizes; re-runs for reports do not count
  std::uint64_t records_peak = 0;
  std::uint64_t obligations = 0;
  std::uint64_t obligations_solver = 0;  // that needed the solver
  std::uint64_t size_queries = 0;        // asked to choose sizes, beyond those tried out
  std::uint64_t size_queries_solver = 0;
  double solver_seconds = 0;  // of all queries together
  struct Query {
    std::string_view code;  // of the obligation's rule
    semantics::Location location;
    double seconds = 0;
  };
  std::optional<Query> slowest;  // of the queries to the solver
};

// How a verdict was reached without running the machine (all-sizes.md): by following every class of elements
// through one task, with loops cut short where their states repeat, and by comparing what tasks share.
struct ProofSummary {
  std::uint64_t element_classes = 0, slices = 0, steps = 0, iterations = 0, memory_queries = 0;
};

// What belongs to the first machine finding, beyond its diagnostic.
struct Counterexample {
  semantics::ir::SizeSet sizes;
  HbGraph graph;
};

struct ProcedureResult {
  Verdict verdict = Verdict::unknown;
  std::string reason;                 // why the verdict is no better; empty for proved, checked, defect
  std::optional<ProofSummary> proof;  // proved, or checked without running the machine
  std::string not_proved;  // checked, although a result for all sizes was tried: what stands in the way
  bool all_sizes = false;  // the verdict holds for every size that satisfies the preconditions
  std::vector<semantics::ir::SizeSet> sizes;  // complete size sets that were run
  bool sizes_chosen = false;                  // some of their values were chosen here
  std::size_t behaviours_left_out =
      0;                            // of loops and branches, by the chosen sizes: too costly, or undecided
  semantics::Diagnostics findings;  // errors and warnings, in the order found
  std::optional<Counterexample> counterexample;
  std::vector<analysis::Obligation> obligations;  // on request, in the order they were checked
  CheckStats stats;
};

// `procedure` belongs to `program`. Sizes that the procedure's parameters cannot take (plan_sizes) make the
// verdict unknown; the command line checks its own before. Throws InternalError for a broken invariant of
// ours.
ProcedureResult check_procedure(const semantics::ir::Procedure& procedure,
                                const semantics::ir::Program& program, const CheckOptions& options);

}  // namespace exocheck::amir
