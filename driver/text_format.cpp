#include "driver/text_format.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "driver/excerpt.hpp"
#include "driver/sizes.hpp"

namespace exocheck::driver {
namespace {

using semantics::AccessDetail;
using semantics::Location;
using semantics::Related;
using semantics::Severity;

enum class Style : std::uint8_t { plain, bold, red, magenta, cyan, green };

std::string paint(std::string_view text, Style style, const TextOptions& options) {
  if (!options.color || style == Style::plain) return std::string(text);
  std::string_view code;
  switch (style) {
    case Style::plain:
    case Style::bold:
      code = "1";
      break;
    case Style::red:
      code = "1;31";
      break;
    case Style::magenta:
      code = "1;35";
      break;
    case Style::cyan:
      code = "1;36";
      break;
    case Style::green:
      code = "1;32";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return Style::red;
    case Severity::warning:
      return Style::magenta;
    case Severity::note:
      return Style::cyan;
  }
  return Style::plain;
}

// "file:line:col: ", nothing if the place is unknown.
std::string place(const Location& location) {
  if (!location.known()) return "";
  const auto begin = location.begin();
  return fmt::format("{}:{}:{}: ", printable(location.source->path()), begin.line, begin.column);
}

// Places of one finding whose source line is shown already.
using Shown = std::vector<std::pair<int, int>>;  // line, column

std::string headed(const Location& location, Severity severity, std::string_view message,
                   std::string_view tail, Shown& shown, const TextOptions& options) {
  std::string text = paint(place(location), Style::bold, options) +
                     paint(fmt::format("{}: ", name(severity)), style_of(severity), options) +
                     printable(message) + std::string(tail) + "\n";
  if (!location.known()) return text;
  const std::pair<int, int> where{location.begin().line, location.begin().column};
  if (std::find(shown.begin(), shown.end(), where) != shown.end()) return text;
  shown.push_back(where);
  const Excerpt e = excerpt(location);
  const std::string blank(e.gutter.size(), ' ');
  text += fmt::format("{} | {}\n{} | {}\n", e.gutter, e.line, blank,
                      paint(e.underline, style_of(severity), options));
  return text;
}

std::string detail(std::string_view title, const AccessDetail& access) {
  std::string how = fmt::format("{}: {}", title, access.mode);
  if (!access.timeline.empty()) how += fmt::format(" on {}", access.timeline);
  if (!access.collective.empty()) how += fmt::format(" by {}", access.collective);
  for (std::size_t i = 0; i < access.iterators.size(); ++i) {
    how += fmt::format("{}{}={}", i == 0 ? ", " : " ", access.iterators[i].first, access.iterators[i].second);
  }
  std::string text = fmt::format("        {}\n", printable(how));
  if (!access.required.empty()) {
    const std::string by = access.missing_thread.empty() ? "" : " by " + access.missing_thread;
    text += fmt::format("        {}\n",
                        printable(fmt::format("needed: {}; held: {}{}", access.required, access.held, by)));
  }
  return text;
}

std::string verdict_line(const FileResult& file, const ProcedureResult& procedure,
                         const TextOptions& options) {
  Style style = Style::bold;
  switch (procedure.verdict) {
    case Verdict::proved:
    case Verdict::checked:
      style = Style::green;
      break;
    case Verdict::defect:
      style = Style::red;
      break;
    case Verdict::unknown:
    case Verdict::unsupported:
    case Verdict::vacuous:
      style = Style::magenta;
      break;
  }
  std::string text = fmt::format("{}: {}: {}", printable(file.path), procedure.name,
                                 paint(name(procedure.verdict), style, options));
  if (procedure.verdict == Verdict::proved) {
    text += " for all sizes";
  } else if (!procedure.sizes.empty() && std::any_of(procedure.sizes.begin(), procedure.sizes.end(),
                                                     [](const SizeSet& s) { return !s.empty(); })) {
    text += procedure.sizes_chosen ? ", sizes chosen: " : " for ";
    for (std::size_t i = 0; i < procedure.sizes.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : "; ", show(procedure.sizes[i]));
    }
    if (const std::size_t n = procedure.behaviours_left_out; n > 0)
      text += fmt::format(" ({} behaviour{} left out: too costly, or undecided)", n, n == 1 ? "" : "s");
  }
  if (!procedure.not_proved.empty())
    text += fmt::format("; not proved for all sizes: {}", printable(procedure.not_proved));
  if (!procedure.reason.empty()) text += fmt::format(": {}", printable(procedure.reason));
  if (options.stats) {
    const CheckStats& s = procedure.stats;
    text += fmt::format(
        "\n    {:.3f} s, {} statements executed, at most {} records, {} obligations, {} by the solver",
        s.seconds, s.statements, s.records_peak, s.obligations, s.obligations_solver);
    if (const auto& p = procedure.proof) {
      text += fmt::format(
          "\n    {} classes of elements in {} different slices, {} transitions, {} iterations before loops "
          "repeated, {} "
          "pairs of accesses to global memory",
          p->element_classes, p->slices, p->steps, p->iterations, p->memory_queries);
    }
  }
  for (const CertificateResult& c : procedure.certificates) {
    text += fmt::format("\n    certificate: {}", c.status == CertificateResult::Status::checked
                                                     ? "accepted by the kernel"
                                                     : name(c.status));
    if (options.stats && c.status == CertificateResult::Status::checked)
      text += fmt::format(" in {:.1f} s", c.seconds);
    if (!c.says.empty()) text += ": " + printable(c.says);
    if (!c.reason.empty()) text += ": " + printable(c.reason);
  }
  return text + "\n";
}

}  // namespace

std::string format_text(const Diagnostic& finding, const TextOptions& options) {
  const std::string tail = fmt::format(" [{} {}]", finding.rule->name, finding.rule->code);
  Shown shown;
  std::string text = headed(finding.location, finding.severity, finding.message, tail, shown, options);
  if (options.verbose && finding.access) text += detail("failing access", *finding.access);
  for (const Related& related : finding.related) {
    text += headed(related.location, Severity::note, related.message, "", shown, options);
    if (options.verbose && related.role == semantics::Role::first_access && finding.first_access) {
      text += detail("first access", *finding.first_access);
    }
  }
  if (finding.suggestion) text += fmt::format("      suggestion: {}\n", printable(*finding.suggestion));
  return text;
}

std::string summary_line(const RunResult& result) {
  std::string text =
      fmt::format("checked {} of {} procedures", result.procedures_checked(), result.procedures_total());
  if (const std::size_t n = result.suppressed_total(); n > 0) {
    text += fmt::format(", {} finding{} suppressed", n, n == 1 ? "" : "s");
  }
  return text + "\n";
}

std::string stats_lines(const RunResult& result) {
  const ProofStats s = proof_stats(result);
  const double share = s.obligations == 0 ? 100.0
                                          : 100.0 * static_cast<double>(s.obligations - s.solver) /
                                                static_cast<double>(s.obligations);
  std::string text = fmt::format("obligations: {}, {:.1f} % without the solver\n", s.obligations, share);
  text += fmt::format("solver: {} quer{} for obligations, {} for sizes, {:.3f} s", s.solver,
                      s.solver == 1 ? "y" : "ies", s.size_queries_solver, s.solver_seconds);
  if (s.slowest) {
    const CheckStats::Query& query = s.slowest->query;
    text += fmt::format(", slowest {:.3f} s: {}{} in {}", query.seconds, place(query.location), query.code,
                        printable(s.slowest->procedure));
  }
  return text + "\n";
}

std::string format_text(const RunResult& result, const TextOptions& options) {
  std::string text;
  for (const FileResult& file : result.files) {
    if (!file.failure.empty()) {
      text += fmt::format("{}: {}: {}\n", printable(file.path), paint("error", Style::red, options),
                          printable(file.failure));
    }
    if (!file.internal_error.empty()) {
      text += fmt::format("{}: {}: {}\n", printable(file.path), paint("internal error", Style::red, options),
                          printable(file.internal_error));
    }
    for (const Diagnostic& finding : file.findings) text += format_text(finding, options);
    for (const ProcedureResult& procedure : file.procedures) {
      for (const Diagnostic& finding : procedure.findings) text += format_text(finding, options);
      if (!options.quiet) text += verdict_line(file, procedure, options);
    }
  }
  if (options.stats) text += stats_lines(result);
  if (!options.quiet) text += fmt::format("mode {}\n", result.mode);
  return text + summary_line(result);
}

}  // namespace exocheck::driver
