#include "driver/result.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "semantics/errors.hpp"

namespace exocheck::driver {
namespace {

using semantics::RuleClass;
using semantics::Severity;

constexpr std::array<std::pair<Verdict, std::string_view>, 6> verdict_names{
    {{Verdict::proved, "proved"},
     {Verdict::checked, "checked"},
     {Verdict::defect, "defect"},
     {Verdict::unknown, "unknown"},
     {Verdict::unsupported, "unsupported"},
     {Verdict::vacuous, "vacuous"}}};

// Position in the order of decisions.md C3, best first.
int badness(int code) {
  constexpr std::array<int, 5> order{0, 3, 1, 2, 4};
  return static_cast<int>(std::find(order.begin(), order.end(), code) - order.begin());
}

int worse(int a, int b) { return badness(a) >= badness(b) ? a : b; }

int code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved:
    case Verdict::checked:
      return 0;
    case Verdict::defect:
      return 1;
    case Verdict::unknown:
    case Verdict::unsupported:
    case Verdict::vacuous:
      return 3;
  }
  return 4;
}

// A finding of the file itself.
int code_of(const Diagnostic& finding) {
  if (finding.severity != Severity::error) return 0;
  switch (finding.rule->rule_class) {
    case RuleClass::input:
      return 2;
    case RuleClass::defect:
      return 1;
    case RuleClass::unsupported:
    case RuleClass::limit:
      return 3;
    case RuleClass::warning:
      return 0;
  }
  return 4;
}

bool has_warning(const Diagnostics& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::warning; });
}

int code_of(const FileResult& file) {
  int code = 0;
  if (!file.failure.empty()) code = worse(code, 2);
  if (!file.internal_error.empty()) code = worse(code, 4);
  for (const Diagnostic& finding : file.findings) code = worse(code, code_of(finding));
  for (const ProcedureResult& procedure : file.procedures) code = worse(code, code_of(procedure.verdict));
  return code;
}

bool has_warning(const FileResult& file) {
  return has_warning(file.findings) ||
         std::any_of(file.procedures.begin(), file.procedures.end(),
                     [](const ProcedureResult& p) { return has_warning(p.findings); });
}

}  // namespace

std::string_view name(Verdict verdict) {
  for (const auto& [v, text] : verdict_names) {
    if (v == verdict) return text;
  }
  return "unknown";
}

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "note";
}

std::optional<Verdict> verdict_named(std::string_view word) {
  for (const auto& [v, text] : verdict_names) {
    if (text == word) return v;
  }
  return std::nullopt;
}

std::size_t RunResult::procedures_total() const {
  std::size_t total = 0;
  for (const FileResult& file : files) total += file.procedures.size() + file.rejected.size();
  return total;
}

std::size_t RunResult::procedures_checked() const {
  std::size_t checked = 0;
  for (const FileResult& file : files) {
    for (const ProcedureResult& p : file.procedures) {
      checked +=
          p.verdict == Verdict::proved || p.verdict == Verdict::checked || p.verdict == Verdict::defect;
    }
  }
  return checked;
}

std::size_t RunResult::suppressed_total() const {
  std::size_t total = 0;
  for (const FileResult& file : files) {
    total += file.suppressed.size();
    for (const ProcedureResult& p : file.procedures) total += p.suppressed.size();
  }
  return total;
}

ProofStats proof_stats(const RunResult& result) {
  ProofStats out;
  for (const FileResult& file : result.files) {
    for (const ProcedureResult& p : file.procedures) {
      out.obligations += p.stats.obligations;
      out.solver += p.stats.obligations_solver;
      out.size_queries += p.stats.size_queries;
      out.size_queries_solver += p.stats.size_queries_solver;
      out.solver_seconds += p.stats.solver_seconds;
      if (p.stats.slowest && (!out.slowest || p.stats.slowest->seconds > out.slowest->query.seconds))
        out.slowest = ProofStats::Slowest{file.path, p.name, *p.stats.slowest};
    }
  }
  return out;
}

std::string_view name(CertificateResult::Status status) {
  switch (status) {
    case CertificateResult::Status::checked:
      return "checked";
    case CertificateResult::Status::none:
      return "none";
    case CertificateResult::Status::not_run:
      return "not-run";
    case CertificateResult::Status::refused:
      return "refused";
  }
  throw semantics::InternalError("unknown status");
}

int exit_code(const RunResult& result, FailOn fail_on) {
  int code = 0;
  for (const FileResult& file : result.files) code = worse(code, code_of(file));
  if (result.procedures_total() == 0) return worse(code, 3);
  switch (fail_on) {
    case FailOn::table:
    case FailOn::unknown:
      break;
    case FailOn::defect:
      if (code == 3) code = 0;
      break;
    case FailOn::warning:
      if (std::any_of(result.files.begin(), result.files.end(),
                      [](const FileResult& f) { return has_warning(f); })) {
        code = worse(code, 1);
      }
      break;
    case FailOn::never:
      if (code == 1 || code == 3) code = 0;
      break;
  }
  return code;
}

}  // namespace exocheck::driver
