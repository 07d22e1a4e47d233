#include "frontend/grammar_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace exocheck::frontend::grammar {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::array keywords{
    std::string_view{"def"},     std::string_view{"for"},      std::string_view{"in"},
    std::string_view{"if"},      std::string_view{"elif"},     std::string_view{"else"},
    std::string_view{"with"},    std::string_view{"assert"},   std::string_view{"pass"},
    std::string_view{"and"},     std::string_view{"or"},       std::string_view{"not"},
    std::string_view{"True"},    std::string_view{"False"},    std::string_view{"None"},
    std::string_view{"import"},  std::string_view{"from"},     std::string_view{"as"},
    std::string_view{"class"},   std::string_view{"return"},   std::string_view{"lambda"},
    std::string_view{"while"},   std::string_view{"del"},      std::string_view{"global"},
    std::string_view{"yield"},   std::string_view{"async"},    std::string_view{"nonlocal"},
    std::string_view{"await"},   std::string_view{"try"},      std::string_view{"except"},
    std::string_view{"finally"}, std::string_view{"raise"},    std::string_view{"break"},
    std::string_view{"is"},      std::string_view{"continue"},
};

// Longest first, so that the first match is the longest.
constexpr std::array binary_operators{
    std::string_view{"//"}, std::string_view{"**"}, std::string_view{"<<"}, std::string_view{">>"},
    std::string_view{"<="}, std::string_view{">="}, std::string_view{"=="}, std::string_view{"!="},
    std::string_view{"+"},  std::string_view{"-"},  std::string_view{"*"},  std::string_view{"/"},
    std::string_view{"%"},  std::string_view{"@"},  std::string_view{"<"},  std::string_view{">"},
    std::string_view{"|"},  std::string_view{"&"},  std::string_view{"^"},
};

std::string_view view(Iterator first, Iterator last) {
  return {first, static_cast<std::size_t>(last - first)};
}

bool is_comparison(std::string_view op) {
  return op == "<=" || op == ">=" || op == "==" || op == "!=" || op == "<" || op == ">";
}

char escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    default:
      return c;
  }
}

bool scan_one_string(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  skip_blanks(it, last);
  if (it == last || (*it != '\'' && *it != '"')) return false;
  const char quote = *it;
  const std::string triple(3, quote);
  const std::string_view end = view(it, last).substr(0, 3) == triple ? std::string_view(triple)
                                                                     : std::string_view(triple).substr(0, 1);
  it += end.size();
  while (it != last && view(it, last).substr(0, end.size()) != end) {
    if (*it == '\\' && it + 1 != last) {
      ++it;
      // Unknown escapes keep their backslash, as in Python; an escaped line break vanishes.
      if (*it == '\n') {
        ++it;
        continue;
      }
      if (std::string_view("\\'\"ntr").find(*it) == std::string_view::npos) out += '\\';
      out += escaped(*it);
    } else {
      out += *it;
    }
    ++it;
  }
  if (it == last) return false;
  first = it + end.size();
  return true;
}

}  // namespace

void skip_blanks(Iterator& first, Iterator last) {
  while (first != last && (*first == ' ' || *first == '\t')) ++first;
}

std::string_view scan_word(Iterator& first, Iterator last) {
  Iterator it = first;
  skip_blanks(it, last);
  const Iterator begin = it;
  if (it == last || !is_letter(*it)) return {};
  while (it != last && (is_letter(*it) || is_digit(*it))) ++it;
  first = it;
  return view(begin, it);
}

bool is_keyword(std::string_view word) {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

bool scan_identifier(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  const std::string_view word = scan_word(it, last);
  if (word.empty() || is_keyword(word)) return false;
  out = word;
  first = it;
  return true;
}

bool scan_keyword(Iterator& first, Iterator last, std::string_view keyword) {
  Iterator it = first;
  if (scan_word(it, last) != keyword) return false;
  first = it;
  return true;
}

bool scan_argument_name(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  if (!scan_identifier(it, last, out)) return false;
  skip_blanks(it, last);
  if (it == last || *it != '=' || (it + 1 != last && it[1] == '=')) return false;
  first = it + 1;
  return true;
}

bool scan_string(Iterator& first, Iterator last, std::string& out) {
  out.clear();
  if (!scan_one_string(first, last, out)) return false;
  while (scan_one_string(first, last, out)) {
  }
  return true;
}

bool scan_number(Iterator& first, Iterator last, ast::Expr& out) {
  Iterator it = first;
  skip_blanks(it, last);
  const Iterator begin = it;
  const auto digits = [&it, last] {
    while (it != last && (is_digit(*it) || (*it == '_' && it + 1 != last && is_digit(it[1])))) ++it;
  };
  if (it == last || !(is_digit(*it) || (*it == '.' && it + 1 != last && is_digit(it[1])))) return false;
  digits();
  bool real = false;
  if (it != last && *it == '.') {
    real = true;
    ++it;
    digits();
  }
  if (it != last && (*it == 'e' || *it == 'E')) {
    Iterator exponent = it + 1;
    if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
    if (exponent != last && is_digit(*exponent)) {
      real = true;
      it = exponent;
      digits();
    }
  }
  std::string text(begin, it);
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  if (real) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    // Out of range: a negative exponent makes it zero, any other number infinite.
    if (result.ec == std::errc::result_out_of_range) {
      value = text.find("e-") == std::string::npos && text.find("E-") == std::string::npos
                  ? std::numeric_limits<double>::infinity()
                  : 0.0;
    }
    out.node = ast::Float{value};
  } else {
    ast::Int value;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value.value);
    if (result.ec == std::errc::result_out_of_range) value = {0, true};
    out.node = value;
  }
  first = it;
  return true;
}

bool scan_unparsed(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  skip_blanks(it, last);
  if (view(it, last).substr(0, 3) == "...") {
    first = it + 3;
    out = "...";
    return true;
  }
  if (it == last || *it != '<') return false;
  const Iterator begin = it;
  while (it != last && *it != '>' && *it != newline_mark) ++it;
  if (it == last || *it != '>') return false;
  first = it + 1;
  out.assign(begin, first);
  return true;
}

bool scan_prefix_operator(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  skip_blanks(it, last);
  if (it == last) return false;
  if (*it == '-' || *it == '+' || *it == '~') {
    out = *it;
    first = it + 1;
    return true;
  }
  if (!scan_keyword(it, last, "not")) return false;
  out = "not";
  first = it;
  return true;
}

bool scan_binary_operator(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  skip_blanks(it, last);
  const std::string_view rest = view(it, last);
  for (const std::string_view op : binary_operators) {
    if (rest.substr(0, op.size()) != op) continue;
    // `+=`, `>>=`: not an operator of an expression.
    if (!is_comparison(op) && rest.substr(op.size(), 1) == "=") return false;
    out = op;
    first = it + op.size();
    return true;
  }
  const std::string_view word = scan_word(it, last);
  if (word == "and" || word == "or" || word == "in") {
    out = word;
  } else if (word == "is") {
    out = scan_keyword(it, last, "not") ? "is not" : "is";
  } else if (word == "not" && scan_keyword(it, last, "in")) {
    out = "not in";
  } else {
    return false;
  }
  first = it;
  return true;
}

bool scan_augmented_assignment(Iterator& first, Iterator last, std::string& out) {
  Iterator it = first;
  skip_blanks(it, last);
  const std::string_view rest = view(it, last);
  for (const std::string_view op : binary_operators) {
    if (is_comparison(op) || rest.substr(0, op.size()) != op || rest.substr(op.size(), 1) != "=") continue;
    out = std::string(op) + "=";
    first = it + op.size() + 1;
    return true;
  }
  return false;
}

bool scan_mark(Iterator& first, Iterator last, char mark) {
  Iterator it = first;
  skip_blanks(it, last);
  if (it == last || *it != mark) return false;
  first = it + 1;
  return true;
}

Iterator token_end(Iterator where, Iterator last) {
  Iterator it = where;
  if (!scan_word(it, last).empty()) return it;
  std::string text;
  if (scan_string(it, last, text) || scan_binary_operator(it, last, text)) return it;
  ast::Expr number;
  if (scan_number(it, last, number)) return it;
  skip_blanks(it, last);
  return it == last ? it : it + 1;
}

std::string describe_token(Iterator where, Iterator last) {
  skip_blanks(where, last);
  if (where == last) return "the end of the block";
  switch (*where) {
    case newline_mark:
      return "the end of the line";
    case indent_mark:
      return "an indented block";
    case dedent_mark:
      return "the end of the block";
    default:
      break;
  }
  constexpr std::size_t longest = 40;
  const std::string_view token = view(where, token_end(where, last));
  return fmt::format("'{}{}'", token.substr(0, longest), token.size() > longest ? "..." : "");
}

}  // namespace exocheck::frontend::grammar
