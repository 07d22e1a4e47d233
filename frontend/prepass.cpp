#include "frontend/prepass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace exocheck::frontend {
namespace {

using semantics::Diagnostic;
using semantics::make_diagnostic;

constexpr std::size_t max_reports = 100;
constexpr std::size_t tab_stop = 8;
constexpr std::string_view bom = "\xEF\xBB\xBF";

char closer_of(char opener) { return opener == '(' ? ')' : opener == '[' ? ']' : '}'; }

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r' && c != '\n' && c != '\f';
}

bool is_token_character(char c) {
  constexpr std::string_view punctuation = "()[]{},:;.@=+-*/%~<>|&^_'\"";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         punctuation.find(c) != std::string_view::npos;
}

bool starts_word(std::string_view text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  const char next = text.size() > word.size() ? text[word.size()] : '\n';
  return !((next >= '0' && next <= '9') || (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
           next == '_');
}

class Scanner {
 public:
  Scanner(const semantics::SourcePtr& source, const ParseLimits& limits)
      : source_(source), limits_(limits), in_(source->text()) {}

  Prepass run() {
    out_.source_size = in_.size();
    if (in_.size() > limits_.max_bytes) {
      report("L-01", 0, 0,
             fmt::format("the file has {} bytes; at most {} are read", in_.size(), limits_.max_bytes));
      return std::move(out_);
    }
    out_.text.reserve(in_.size() + in_.size() / 8 + 16);
    if (in_.substr(0, bom.size()) == bom) pos_ = bom.size();
    while (pos_ < in_.size() && !stopped_) {
      if (at_line_start_ && brackets_.empty()) {
        start_line();
      } else if (at_line_start_ && starts_definition()) {
        unclosed_bracket();
      } else {
        at_line_start_ = false;
        scan_one();
      }
    }
    finish();
    return std::move(out_);
  }

 private:
  struct Indent {
    std::size_t column;
    std::string_view blanks;
  };
  struct Bracket {
    char opener;
    std::size_t pos;
  };

  // ---------------------------------------------------------------------------------------------- output

  void emit(char c, std::size_t src) {
    if (out_.segments.empty() ||
        src - out_.segments.back().src != out_.text.size() - out_.segments.back().out) {
      out_.segments.push_back({out_.text.size(), src});
    }
    out_.text.push_back(c);
  }

  void report(std::string_view code, std::size_t begin, std::size_t end, std::string message) {
    if (!out_.chunks.empty()) {
      Chunk& chunk = out_.chunks.back();
      if (chunk.broken) return;
      chunk.broken = true;
    }
    if (out_.diagnostics.size() >= max_reports) return;
    out_.diagnostics.push_back(make_diagnostic(code, {source_, span(begin, end)}, std::move(message)));
  }

  static ast::Span span(std::size_t begin, std::size_t end) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }

  // ---------------------------------------------------------------------------------------------- lines

  // At the first byte of a physical line, outside brackets: blank line, or indentation of a logical line.
  void start_line() {
    const std::size_t line = pos_;
    std::size_t column = 0;
    while (pos_ < in_.size()) {
      const char c = in_[pos_];
      if (c == ' ') {
        ++column;
      } else if (c == '\t') {
        column = (column / tab_stop + 1) * tab_stop;
      } else if (c != '\r' && c != '\f') {
        break;
      }
      ++pos_;
    }
    if (pos_ == in_.size()) return;
    if (in_[pos_] == '\n') {
      ++pos_;
      return;
    }
    if (in_[pos_] == '#') {
      comment(true);
      return;
    }
    at_line_start_ = false;
    indent(column, in_.substr(line, pos_ - line));
    if (column == 0)
      start_chunk();
    else if (out_.chunks.empty())
      out_.chunks.push_back({0, 0, false});
  }

  void indent(std::size_t column, std::string_view blanks) {
    if (column > indents_.back().column) {
      if (blanks.substr(0, indents_.back().blanks.size()) != indents_.back().blanks)
        mixed_blanks(blanks.size());
      // The first statement of a file may be indented by mistake; the mark makes the grammar say so.
      if (out_.chunks.empty()) out_.chunks.push_back({0, 0, false});
      indents_.push_back({column, blanks});
      check_nesting();
      emit(indent_mark, pos_);
      return;
    }
    while (column < indents_.back().column) {
      indents_.pop_back();
      emit(dedent_mark, pos_);
    }
    if (column != indents_.back().column) {
      report("E-L02", pos_ - blanks.size(), pos_,
             fmt::format("this line is indented to column {}, but no open block starts there; the enclosing "
                         "block starts "
                         "at column {}",
                         column + 1, indents_.back().column + 1));
    } else if (column > 0 && blanks != indents_.back().blanks) {
      mixed_blanks(blanks.size());
    }
  }

  void mixed_blanks(std::size_t width) {
    report("E-L01", pos_ - width, pos_,
           "this line is indented with another mix of tabs and blanks than its block");
  }

  // A logical line at column 0: a new top-level statement, unless it continues the previous one.
  void start_chunk() {
    const std::string_view rest = in_.substr(pos_);
    const bool continues =
        !out_.chunks.empty() && (after_decorator_ || starts_word(rest, "elif") || starts_word(rest, "else"));
    after_decorator_ = rest.front() == '@';
    if (continues) return;
    if (!out_.chunks.empty()) out_.chunks.back().end = out_.text.size();
    out_.chunks.push_back({out_.text.size(), out_.text.size(), false});
  }

  // Inside brackets, at the start of a line that can only begin a new definition?
  bool starts_definition() const {
    const std::string_view rest = in_.substr(pos_);
    return starts_word(rest, "def") || starts_word(rest, "class") || starts_word(rest, "@proc") ||
           starts_word(rest, "@instr") || starts_word(rest, "@config");
  }

  void unclosed_bracket() {
    const Bracket& b = brackets_.back();
    report("E-L03", b.pos, b.pos + 1,
           fmt::format("'{}' is never closed; '{}' is missing", b.opener, closer_of(b.opener)));
    brackets_.clear();
    emit(newline_mark, pos_);
  }

  void finish() {
    if (!brackets_.empty() && !stopped_) unclosed_bracket();
    if (!out_.text.empty() && !at_line_start_) emit(newline_mark, in_.size());
    for (; indents_.size() > 1; indents_.pop_back()) emit(dedent_mark, in_.size());
    if (!out_.chunks.empty()) out_.chunks.back().end = out_.text.size();
    if (stopped_ && !out_.chunks.empty()) out_.chunks.back().broken = true;
  }

  void check_nesting() {
    const std::size_t depth = indents_.size() - 1 + brackets_.size();
    if (depth <= static_cast<std::size_t>(limits_.max_nesting)) return;
    report(
        "L-02", pos_, pos_ + 1,
        fmt::format("blocks and brackets are nested more than {} deep here; the rest of the file is not read",
                    limits_.max_nesting));
    stopped_ = true;
  }

  // ---------------------------------------------------------------------------------------------- inside a
  // line

  void scan_one() {
    const char c = in_[pos_];
    switch (c) {
      case '\n':
        emit(brackets_.empty() ? newline_mark : ' ', pos_);
        ++pos_;
        at_line_start_ = true;
        return;
      case ' ':
      case '\t':
      case '\r':
      case '\f':
        emit(' ', pos_);
        ++pos_;
        return;
      case '#':
        comment(false);
        return;
      case '\'':
      case '"':
        string();
        return;
      case '\\':
        backslash();
        return;
      case '(':
      case '[':
      case '{':
        brackets_.push_back({c, pos_});
        check_nesting();
        break;
      case ')':
      case ']':
      case '}':
        close(c);
        break;
      case '!':
        if (in_.substr(pos_, 2) != "!=") {
          illegal();
          return;
        }
        break;
      default:
        if (!is_token_character(c)) {
          illegal();
          return;
        }
    }
    emit(c, pos_);
    ++pos_;
  }

  // `own_line` also for comment lines inside brackets.
  void comment(bool own_line) {
    const std::size_t begin = pos_;
    std::size_t end = in_.find('\n', pos_);
    if (end == std::string_view::npos) end = in_.size();
    pos_ = end;
    if (end > begin && in_[end - 1] == '\r') --end;
    std::string_view text = in_.substr(begin + 1, end - begin - 1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    if (!own_line) {
      const std::size_t line = begin == 0 ? 0 : in_.rfind('\n', begin - 1) + 1;
      own_line = in_.substr(line, begin - line).find_first_not_of(" \t") == std::string_view::npos;
    }
    out_.comments.push_back({span(begin, end), std::string(text), own_line});
    // The line break of a full-line comment outside brackets ends nothing.
    if (at_line_start_ && brackets_.empty() && pos_ < in_.size()) ++pos_;
  }

  void close(char c) {
    if (brackets_.empty()) {
      report("E-L03", pos_, pos_ + 1, fmt::format("'{}' closes nothing", c));
      return;
    }
    const Bracket b = brackets_.back();
    brackets_.pop_back();
    if (closer_of(b.opener) == c) return;
    const auto line = source_->position(static_cast<std::uint32_t>(pos_)).line;
    report("E-L03", b.pos, b.pos + 1, fmt::format("'{}' is closed by '{}' in line {}", b.opener, c, line));
  }

  void backslash() {
    std::size_t next = pos_ + 1;
    if (next < in_.size() && in_[next] == '\r') ++next;
    if (next < in_.size() && in_[next] != '\n') {
      illegal();
      return;
    }
    emit(' ', pos_);
    pos_ = std::min(next + 1, in_.size());
  }

  void illegal() {
    const std::size_t begin = pos_;
    const auto c = static_cast<unsigned char>(in_[pos_]);
    ++pos_;
    if (c < 0x80) {
      report("E-L04", begin, pos_,
             c < 0x20 || c == 0x7F ? fmt::format("illegal control character (byte {})", static_cast<int>(c))
                                   : fmt::format("illegal character '{}'", static_cast<char>(c)));
      return;
    }
    // One report for the whole UTF-8 sequence.
    while (pos_ < in_.size() && (static_cast<unsigned char>(in_[pos_]) & 0xC0u) == 0x80u) ++pos_;
    report("E-L04", begin, pos_,
           "illegal character: only ASCII characters may stand outside comments and strings");
  }

  void string() {
    const std::size_t begin = pos_;
    const char quote = in_[pos_];
    const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
    const bool is_triple = in_.substr(pos_, 3) == triple;
    const std::string_view end = is_triple ? triple : triple.substr(0, 1);
    for (std::size_t i = 0; i < end.size(); ++i) emit(quote, pos_++);
    while (pos_ < in_.size()) {
      if (in_.substr(pos_, end.size()) == end) {
        for (std::size_t i = 0; i < end.size(); ++i) emit(quote, pos_++);
        return;
      }
      char c = in_[pos_];
      if (c == '\\' && pos_ + 1 < in_.size()) {
        emit(c, pos_++);
        c = in_[pos_];
      } else if (c == '\n' && !is_triple) {
        break;
      }
      if (is_control(c))
        report("E-L04", pos_, pos_ + 1,
               fmt::format("illegal control character (byte {}) in a string", static_cast<int>(c)));
      emit(is_control(c) ? ' ' : c, pos_++);
    }
    const std::size_t line_end = std::min(in_.find('\n', begin), in_.size());
    report("E-L05", begin, line_end,
           fmt::format("this string is not closed; the closing {} is missing", end));
  }

  semantics::SourcePtr source_;
  ParseLimits limits_;
  std::string_view in_;
  std::size_t pos_ = 0;
  bool at_line_start_ = true;
  bool after_decorator_ = false;
  bool stopped_ = false;
  std::vector<Indent> indents_{{0, {}}};
  std::vector<Bracket> brackets_;
  Prepass out_;
};

}  // namespace

ast::Span Prepass::source_span(std::size_t begin, std::size_t end) const {
  const auto map = [this](std::size_t out) -> std::size_t {
    const auto next = std::upper_bound(segments.begin(), segments.end(), out,
                                       [](std::size_t value, const Segment& s) { return value < s.out; });
    if (next == segments.begin()) return 0;
    return (next - 1)->src + (out - (next - 1)->out);
  };
  // The marks at the end of the file, and the end of the text, stand behind the last byte of the source.
  const std::size_t first = std::min(map(begin), source_size);
  // The last byte decides where the range ends: what follows it may come from elsewhere.
  const std::size_t last = end > begin ? std::min(map(end - 1) + 1, source_size) : first;
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

Prepass run_prepass(const semantics::SourcePtr& source, const ParseLimits& limits) {
  return Scanner(source, limits).run();
}

}  // namespace exocheck::frontend
