// What a run of `exocheck check` found, as data; text_format and json_format turn it into output (cli.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amir/check.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::driver {

using semantics::Diagnostic;
using semantics::Diagnostics;
using semantics::ir::SizeSet;

using amir::CheckStats;
using amir::Verdict;

std::string_view name(Verdict verdict);
std::string_view name(semantics::Severity severity);
std::optional<Verdict> verdict_named(std::string_view word);

// A finding that a comment in the source silences (cli.md, `exocheck: ignore`).
struct Suppressed {
  Diagnostic finding;
  std::string reason;
};

// What Rocq's kernel said to a certificate of a verdict (`--certify`).
struct CertificateResult {
  enum class Status : std::uint8_t {
    checked,  // the kernel accepted the theorem
    none,     // there is no certificate: `reason`
    not_run,  // coqc is missing, or the time was over: `reason`
    refused,  // the kernel refused the theorem: `reason`
  };
  Status status = Status::none;
  std::string says;         // the theorem in words; empty for `none`
  bool every_size = false;  // it is about every value of one size
  std::string reason;
  double seconds = 0;
};
std::string_view name(CertificateResult::Status status);

struct ProcedureResult {
  std::string name;
  Verdict verdict = Verdict::unknown;
  std::string reason;      // why the verdict is no better; empty for proved, checked, defect
  std::string not_proved;  // checked: what stands in the way of a result for all sizes; may be empty
  std::optional<amir::ProofSummary> proof;  // set if the verdict comes from following one symbolic task
  bool all_sizes = false;               // the verdict holds for every size that satisfies the preconditions
  std::vector<SizeSet> sizes;           // the complete size sets that were run
  bool sizes_chosen = false;            // some of their values were chosen by exocheck
  std::size_t behaviours_left_out = 0;  // by the chosen sizes: too costly, or undecided
  Diagnostics findings;                 // errors and warnings, in the order found
  std::vector<Suppressed> suppressed;
  std::optional<amir::HbGraph> graph;             // of the first machine finding
  std::vector<analysis::Obligation> obligations;  // on request, in the order they were checked
  std::vector<CertificateResult> certificates;    // on request
  CheckStats stats;
};

struct FileResult {
  std::string path;
  std::string failure;         // the file could not be read: why; nothing else is set then
  std::string internal_error;  // a broken invariant of ours while this file was checked
  Diagnostics findings;        // parse and type findings
  std::vector<Suppressed> suppressed;
  std::vector<std::string> rejected;  // procedures that did not parse or type-check
  std::vector<ProcedureResult> procedures;
};

struct RunResult {
  std::string mode = "default";
  std::vector<FileResult> files;

  std::size_t procedures_total() const;    // every procedure of every file, also those that did not parse
  std::size_t procedures_checked() const;  // those with verdict proved, checked or defect
  std::size_t suppressed_total() const;
};

// The proof obligations of a whole run (`--stats`).
struct ProofStats {
  std::uint64_t obligations = 0;
  std::uint64_t solver = 0;        // of them, not decided by the fast path
  std::uint64_t size_queries = 0;  // asked to choose sizes
  std::uint64_t size_queries_solver = 0;
  double solver_seconds = 0;  // of the solver's queries together
  struct Slowest {
    std::string path, procedure;
    CheckStats::Query query;
  };
  std::optional<Slowest> slowest;  // query to the solver; the first of equals
};
ProofStats proof_stats(const RunResult& result);

// decisions.md C6; `table` is the exit table of cli.md.
enum class FailOn : std::uint8_t { table, defect, unknown, warning, never };

// cli.md "Exit codes", decisions.md C3, C6: the worst of 4, 2, 1, 3, 0 over all files and procedures. A run
// without a single procedure is 3 whatever --fail-on says, so that an empty folder never passes a gate.
int exit_code(const RunResult& result, FailOn fail_on);

}  // namespace exocheck::driver
