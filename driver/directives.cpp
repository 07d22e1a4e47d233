#include "driver/directives.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "semantics/rules.hpp"

namespace exocheck::driver {
namespace {

using semantics::Severity;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Offset of the '#' that begins a comment, or npos.
std::size_t comment_start(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return i;
    }
  }
  return std::string_view::npos;
}

// The first line after `line` that holds more than a comment; 0 if there is none.
int next_code_line(const semantics::SourceFile& source, int line) {
  for (int l = line + 1; l <= source.line_count(); ++l) {
    const std::string_view text = trim(source.line_text(l));
    if (!text.empty() && text.front() != '#') return l;
  }
  return 0;
}

std::string_view take_word(std::string_view& rest) {
  rest = trim(rest);
  const auto end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trim(rest.substr(end));
  return word;
}

// What is no verdict on the program (a syntax error, a limit) cannot be silenced.
bool can_be_silenced(const Diagnostic& finding) {
  return finding.severity == Severity::warning || finding.rule->rule_class == semantics::RuleClass::defect;
}

void silence(Diagnostics& findings, std::vector<Suppressed>& suppressed, const Suppressions& suppressions) {
  Diagnostics kept;
  for (Diagnostic& finding : findings) {
    const int line = finding.location.known() ? finding.location.begin().line : 0;
    const auto match =
        std::find_if(suppressions.entries.begin(), suppressions.entries.end(),
                     [&](const Suppression& s) { return s.line == line && s.code == finding.rule->code; });
    if (match == suppressions.entries.end() || !can_be_silenced(finding)) {
      kept.push_back(std::move(finding));
    } else {
      suppressed.push_back({std::move(finding), match->reason});
    }
  }
  findings = std::move(kept);
}

}  // namespace

std::vector<CommentLine> comment_lines(const semantics::SourceFile& source) {
  std::vector<CommentLine> comments;
  for (int line = 1; line <= source.line_count(); ++line) {
    std::string_view text = source.line_text(line);
    std::uint32_t begin = source.line_start(line);
    if (line == 1 && text.starts_with(byte_order_mark)) {
      text.remove_prefix(byte_order_mark.size());
      begin += static_cast<std::uint32_t>(byte_order_mark.size());
    }
    const std::size_t start = comment_start(text);
    if (start == std::string_view::npos) continue;
    comments.push_back({line, trim(text.substr(0, start)).empty(), begin + static_cast<std::uint32_t>(start),
                        begin + static_cast<std::uint32_t>(text.size()),
                        std::string(trim(text.substr(start + 1)))});
  }
  return comments;
}

Suppressions find_suppressions(const semantics::SourcePtr& source) {
  constexpr std::string_view prefix = "exocheck:";
  Suppressions result;
  for (const CommentLine& comment : comment_lines(*source)) {
    std::string_view rest = comment.text;
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    const auto problem = [&](std::string message) {
      result.problems.push_back(
          semantics::make_diagnostic("W-P04", {source, {comment.begin, comment.end}}, std::move(message)));
    };
    const std::string_view directive = take_word(rest);
    if (!directive.starts_with("ignore")) continue;  // the frontend's
    if (directive != "ignore") {
      problem(fmt::format("'{}' is no directive: write 'ignore RULE -- reason'.", directive));
      continue;
    }
    const std::string_view rule_name = take_word(rest);
    const semantics::Rule* rule = semantics::find_rule(rule_name);
    if (rule == nullptr) {
      problem(fmt::format("'{}' is no rule, so the comment silences nothing.", rule_name));
      continue;
    }
    const std::string_view reason = rest.starts_with("--") ? trim(rest.substr(2)) : std::string_view{};
    if (reason.empty()) {
      problem(
          fmt::format("The comment gives no reason, so it does not silence {}: write 'ignore {} -- reason'.",
                      rule->name, rule_name));
      continue;
    }
    const int line = comment.own_line ? next_code_line(*source, comment.line) : comment.line;
    result.entries.push_back({line, rule->code, std::string(reason)});
  }
  return result;
}

void apply_suppressions(FileResult& file, const Suppressions& suppressions) {
  silence(file.findings, file.suppressed, suppressions);
  for (ProcedureResult& procedure : file.procedures) {
    silence(procedure.findings, procedure.suppressed, suppressions);
    const auto silenced_error =
        std::find_if(procedure.suppressed.begin(), procedure.suppressed.end(),
                     [](const Suppressed& s) { return s.finding.severity == Severity::error; });
    if (procedure.verdict == Verdict::defect && !semantics::has_errors(procedure.findings) &&
        silenced_error != procedure.suppressed.end()) {
      procedure.verdict = Verdict::unknown;
      procedure.graph.reset();
      procedure.reason =
          fmt::format("{} is suppressed at line {}, and nothing after it was checked",
                      silenced_error->finding.rule->name, silenced_error->finding.location.begin().line);
    }
  }
}

}  // namespace exocheck::driver
