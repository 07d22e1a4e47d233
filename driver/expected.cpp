#include "driver/expected.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "driver/directives.hpp"

namespace exocheck::driver {
namespace {

using semantics::Related;
using semantics::Role;
using semantics::Severity;

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<int> parse_line_number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1) return std::nullopt;
  return value;
}

// Sets one KEY=VALUE; false if it is not understood.
bool set_key(Expectation& e, std::string_view key, std::string_view value) {
  if (value.empty()) return false;
  if (key == "line") {
    e.line = parse_line_number(value);
    return e.line.has_value();
  }
  if (key == "earlier") {
    e.earlier = parse_line_number(value);
    return e.earlier.has_value();
  }
  if (key == "variable") {
    e.variable = value;
    return true;
  }
  if (key == "proc") {
    e.procedure = value;
    return true;
  }
  if (key == "all_sizes" && value == "no") {
    e.not_all_sizes = true;
    return true;
  }
  return false;
}

std::variant<Expectation, std::string> parse_expectation(std::string_view text, int source_line) {
  const auto wrong = [&](std::string_view what) {
    return fmt::format("line {}: '# expect: {}': {}.", source_line, text, what);
  };
  Expectation e;
  e.source_line = source_line;
  e.text = text;
  const auto words = split_words(text);
  if (words.empty()) return wrong("a verdict, 'error' or 'warning' is missing");
  if (words[0] == "error") {
    e.kind = Expectation::Kind::error;
  } else if (words[0] == "warning") {
    e.kind = Expectation::Kind::warning;
  } else if (const auto verdict = verdict_named(words[0])) {
    e.verdict = *verdict;
  } else {
    return wrong(fmt::format("'{}' is no verdict", words[0]));
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto equals = word.find('=');
    if (equals != std::string_view::npos) {
      if (!set_key(e, word.substr(0, equals), word.substr(equals + 1))) {
        return wrong(fmt::format("'{}' is not understood", word));
      }
    } else if (e.rule != nullptr) {
      return wrong("only one rule can be expected per line");
    } else {
      e.rule = semantics::find_rule(word);
      if (e.rule == nullptr) return wrong(fmt::format("'{}' is no rule", word));
    }
  }
  return e;
}

bool has_line(const semantics::Location& location, int line) {
  return location.known() && location.begin().line == line;
}

bool earlier_matches(const Diagnostic& finding, int line) {
  const bool has_first_access = std::any_of(finding.related.begin(), finding.related.end(),
                                            [](const Related& r) { return r.role == Role::first_access; });
  return std::any_of(finding.related.begin(), finding.related.end(), [&](const Related& r) {
    return (!has_first_access || r.role == Role::first_access) && has_line(r.location, line);
  });
}

bool needs_finding(const Expectation& e) {
  return e.kind != Expectation::Kind::verdict || e.rule != nullptr || e.line || e.earlier ||
         !e.variable.empty();
}

// `procedure` is empty for a finding of the file.
bool matches(const Expectation& e, const Diagnostic& finding, std::string_view procedure) {
  const Severity severity = e.kind == Expectation::Kind::warning ? Severity::warning : Severity::error;
  return finding.severity == severity && (e.rule == nullptr || e.rule == finding.rule) &&
         (!e.line || has_line(finding.location, *e.line)) &&
         (!e.earlier || earlier_matches(finding, *e.earlier)) &&
         (e.variable.empty() || e.variable == finding.variable) &&
         (e.procedure.empty() || e.procedure == procedure);
}

bool verdict_meets(const Expectation& e, const ProcedureResult& procedure) {
  if (e.not_all_sizes && procedure.all_sizes) return false;
  return procedure.verdict == e.verdict ||
         (e.verdict == Verdict::checked && procedure.verdict == Verdict::proved);
}

bool met(const Expectation& e, const FileResult& result) {
  switch (e.kind) {
    case Expectation::Kind::error:
      return std::any_of(result.findings.begin(), result.findings.end(),
                         [&](const Diagnostic& d) { return matches(e, d, ""); });
    case Expectation::Kind::warning:
      if (e.procedure.empty() && std::any_of(result.findings.begin(), result.findings.end(),
                                             [&](const Diagnostic& d) { return matches(e, d, ""); })) {
        return true;
      }
      return std::any_of(result.procedures.begin(), result.procedures.end(), [&](const ProcedureResult& p) {
        return std::any_of(p.findings.begin(), p.findings.end(),
                           [&](const Diagnostic& d) { return matches(e, d, p.name); });
      });
    case Expectation::Kind::verdict:
      return std::any_of(result.procedures.begin(), result.procedures.end(), [&](const ProcedureResult& p) {
        if (!verdict_meets(e, p) || (!e.procedure.empty() && e.procedure != p.name)) return false;
        return !needs_finding(e) || std::any_of(p.findings.begin(), p.findings.end(),
                                                [&](const Diagnostic& d) { return matches(e, d, p.name); });
      });
  }
  return false;
}

std::string show(const Diagnostic& finding) {
  const std::string where =
      finding.location.known() ? fmt::format(" at line {}", finding.location.begin().line) : std::string();
  return fmt::format("{} {}{}: {}", finding.rule->name, finding.rule->code, where, finding.message);
}

// What there is instead of an unmet expectation.
std::string situation(const FileResult& result) {
  std::string text;
  for (const ProcedureResult& p : result.procedures) {
    text += fmt::format("{}{} is {}{}{}", text.empty() ? "" : ", ", p.name, name(p.verdict),
                        p.reason.empty() ? "" : ": ", p.reason);
  }
  return text.empty() ? "no procedure was checked" : text;
}

// Whether a procedure that is as expected may have an error.
bool allows_errors(const Expectation& e) {
  if (e.kind != Expectation::Kind::verdict) return false;
  switch (e.verdict) {
    case Verdict::defect:
    case Verdict::unknown:
    case Verdict::unsupported:
      return true;
    case Verdict::proved:
    case Verdict::checked:
    case Verdict::vacuous:
      return false;
  }
  return false;
}

void report_unexpected(const ExpectedRun& run, const Diagnostics& findings, std::string_view procedure,
                       std::vector<std::string>& differences) {
  for (const Diagnostic& finding : findings) {
    if (finding.severity != Severity::error) continue;
    const bool expected =
        std::any_of(run.expectations.begin(), run.expectations.end(), [&](const Expectation& e) {
          const bool right_kind = procedure.empty() ? e.kind == Expectation::Kind::error : allows_errors(e);
          return right_kind && matches(e, finding, procedure);
        });
    if (!expected) differences.push_back(fmt::format("unexpected error {}", show(finding)));
  }
}

}  // namespace

std::variant<std::vector<ExpectedRun>, std::string> parse_expected(const semantics::SourceFile& source) {
  std::vector<ExpectedRun> runs;
  int expected_line = 1;
  bool any = false;
  for (const CommentLine& comment : comment_lines(source)) {
    // Only the top of the file speaks: stop at the first line that holds something else.
    bool only_blank = true;
    for (int line = expected_line; line < comment.line && only_blank; ++line) {
      only_blank = source.line_text(line).find_first_not_of(" \t") == std::string_view::npos;
    }
    if (!only_blank || !comment.own_line) break;
    expected_line = comment.line + 1;

    const std::string_view text = comment.text;
    if (text.starts_with("run:")) {
      ExpectedRun run;
      run.source_line = comment.line;
      run.words = split_words(text.substr(4));
      if (run.words.empty() || run.words[0] != "check") {
        return fmt::format("line {}: only 'check' can be run here, as in '# run: check --size N=64'.",
                           comment.line);
      }
      runs.push_back(std::move(run));
    } else if (text.starts_with("expect:")) {
      any = true;
      if (runs.empty()) runs.push_back({comment.line, {"check"}, {}});
      std::string_view rest = text.substr(7);
      rest = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
      auto expectation = parse_expectation(rest, comment.line);
      if (auto* message = std::get_if<std::string>(&expectation)) return std::move(*message);
      runs.back().expectations.push_back(std::get<Expectation>(std::move(expectation)));
    }
  }
  if (!any) return "The file has no '# expect:' line at its top.";
  for (const ExpectedRun& run : runs) {
    if (run.expectations.empty())
      return fmt::format("line {}: no '# expect:' line follows.", run.source_line);
  }
  return runs;
}

std::vector<std::string> compare(const ExpectedRun& run, const FileResult& result) {
  std::vector<std::string> differences;
  if (!result.failure.empty()) differences.push_back(result.failure);
  if (!result.internal_error.empty()) {
    differences.push_back(fmt::format("internal error: {}", result.internal_error));
  }
  report_unexpected(run, result.findings, "", differences);
  for (const ProcedureResult& p : result.procedures) {
    report_unexpected(run, p.findings, p.name, differences);
    const bool expected =
        std::any_of(run.expectations.begin(), run.expectations.end(), [&](const Expectation& e) {
          return e.kind == Expectation::Kind::verdict && verdict_meets(e, p) &&
                 (e.procedure.empty() || e.procedure == p.name);
        });
    if (!expected) {
      differences.push_back(fmt::format("{} is {}{}{}, which no line expects", p.name, name(p.verdict),
                                        p.reason.empty() ? "" : ": ", p.reason));
    }
  }
  for (const Expectation& e : run.expectations) {
    if (!met(e, result)) {
      differences.push_back(
          fmt::format("expected '{}' (line {}), but {}", e.text, e.source_line, situation(result)));
    }
  }
  return differences;
}

}  // namespace exocheck::driver
