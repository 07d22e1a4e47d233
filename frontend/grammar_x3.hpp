// Spirit X3 primitives over the token scanners. Internal to the two grammar_*.cpp files that hold X3 rules.
#pragma once

#include <boost/spirit/home/x3.hpp>
#include <functional>
#include <string>
#include <utility>

#include "frontend/grammar.hpp"
#include "frontend/grammar_chain.hpp"
#include "frontend/grammar_tokens.hpp"

namespace exocheck::frontend::grammar {

namespace x3 = boost::spirit::x3;

struct state_tag;

template <class Context>
State& state_of(const Context& context) {
  return x3::get<state_tag>(context).get();
}

// A token without a value; `scan(first, last)` says whether it is there. `expected` completes "expected ...".
template <class Scan>
struct TokenParser : x3::parser<TokenParser<Scan>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;

  TokenParser(std::string what, Scan fn) : expected(std::move(what)), scan(std::move(fn)) {}

  template <class It, class Context, class Attribute>
  bool parse(It& first, const It& last, const Context&, x3::unused_type, Attribute&) const {
    return scan(first, last);
  }

  std::string expected;
  Scan scan;
};

// A token with a value: `scan(first, last, value)`.
template <class Value, class Scan>
struct ValueParser : x3::parser<ValueParser<Value, Scan>> {
  using attribute_type = Value;
  static constexpr bool has_attribute = true;

  ValueParser(std::string what, Scan fn) : expected(std::move(what)), scan(std::move(fn)) {}

  template <class It, class Context, class Attribute>
  bool parse(It& first, const It& last, const Context& context, x3::unused_type, Attribute& attribute) const {
    Value value{};
    if constexpr (std::is_invocable_v<Scan, It&, const It&, State&, Value&>) {
      if (!scan(first, last, state_of(context), value)) return false;
    } else {
      if (!scan(first, last, value)) return false;
    }
    x3::traits::move_to(std::move(value), attribute);
    return true;
  }

  std::string expected;
  Scan scan;
};

template <class Value, class Scan>
ValueParser<Value, Scan> value_token(std::string expected, Scan scan) {
  return {std::move(expected), std::move(scan)};
}

template <class Scan>
TokenParser<Scan> token(std::string expected, Scan scan) {
  return {std::move(expected), std::move(scan)};
}

// A single punctuation character.
inline auto sign(char c, std::string expected) {
  return token(std::move(expected), [c](Iterator& first, Iterator last) {
    Iterator it = first;
    skip_blanks(it, last);
    if (it == last || *it != c) return false;
    first = it + 1;
    return true;
  });
}
inline auto sign(char c) { return sign(c, std::string("'") + c + "'"); }

inline auto keyword(std::string word) {
  std::string expected = "'" + word + "'";
  return token(std::move(expected), [w = std::move(word)](Iterator& first, Iterator last) {
    return scan_keyword(first, last, w);
  });
}

inline void set_span(Node& node, ast::Span span) { node->span = span; }
template <class Value>
void set_span(Value& value, ast::Span span) {
  value.span = span;
}

// `spanned[p]`: p, which must be a whole rule body; stores the matched range as the span of the rule's value.
template <class Subject>
struct SpannedDirective : x3::unary_parser<Subject, SpannedDirective<Subject>> {
  using base = x3::unary_parser<Subject, SpannedDirective<Subject>>;
  static constexpr bool is_pass_through_unary = true;
  static constexpr bool handles_container = Subject::handles_container;

  explicit SpannedDirective(const Subject& s) : base(s) {}

  template <class It, class Context, class RuleValue, class Attribute>
  bool parse(It& first, const It& last, const Context& context, RuleValue& value,
             Attribute& attribute) const {
    It begin = first;
    skip_blanks(begin, last);
    if (!this->subject.parse(first, last, context, value, attribute)) return false;
    set_span(value, state_of(context).span(begin, first));
    return true;
  }
};

struct SpannedGenerator {
  template <class Subject>
  SpannedDirective<typename x3::extension::as_parser<Subject>::value_type> operator[](
      const Subject& subject) const {
    return SpannedDirective<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
  }
};
inline constexpr SpannedGenerator spanned{};

}  // namespace exocheck::frontend::grammar

namespace boost::spirit::x3 {

template <class Scan>
struct get_info<exocheck::frontend::grammar::TokenParser<Scan>> {
  using result_type = std::string;
  std::string operator()(const exocheck::frontend::grammar::TokenParser<Scan>& p) const { return p.expected; }
};
template <class Value, class Scan>
struct get_info<exocheck::frontend::grammar::ValueParser<Value, Scan>> {
  using result_type = std::string;
  std::string operator()(const exocheck::frontend::grammar::ValueParser<Value, Scan>& p) const {
    return p.expected;
  }
};

// What an expectation names when its parser carries an action, is a list, or has several forms.
template <class Subject, class Action>
struct get_info<action<Subject, Action>> {
  using result_type = std::string;
  std::string operator()(const action<Subject, Action>& p) const { return what(p.subject); }
};
template <class Subject>
struct get_info<exocheck::frontend::grammar::SpannedDirective<Subject>> {
  using result_type = std::string;
  std::string operator()(const exocheck::frontend::grammar::SpannedDirective<Subject>& p) const {
    return what(p.subject);
  }
};
template <class Left, class Right>
struct get_info<list<Left, Right>> {
  using result_type = std::string;
  std::string operator()(const list<Left, Right>& p) const { return what(p.left); }
};
template <class Left, class Right>
struct get_info<sequence<Left, Right>> {
  using result_type = std::string;
  std::string operator()(const sequence<Left, Right>& p) const { return what(p.left); }
};
template <class Left, class Right>
struct get_info<alternative<Left, Right>> {
  using result_type = std::string;
  std::string operator()(const alternative<Left, Right>& p) const { return what(p.right); }
};

}  // namespace boost::spirit::x3
