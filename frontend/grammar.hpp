// The Spirit X3 grammar behind parse(): one function per entry point, so that no X3 type leaves the .cpp
// files.
#pragma once

#include <optional>
#include <string>

#include "frontend/ast.hpp"
#include "frontend/prepass.hpp"
#include "semantics/diagnostic.hpp"

namespace exocheck::frontend::grammar {

using Iterator = const char*;

// What the semantic actions share while one chunk is parsed.
struct State {
  const Prepass& prepass;
  const semantics::SourcePtr& source;
  const ParseLimits& limits;
  std::optional<semantics::Diagnostic>
      failure;  // set by an action that makes the parse fail: L-07, L-02, E-P01

  ast::Span span(Iterator begin, Iterator end) const;
  // Remembers the first failure; returns false.
  bool fail(std::string_view code, ast::Span where, std::string message);
};

// Where the grammar stopped and what it wanted there.
struct SyntaxError {
  Iterator where = nullptr;
  std::string expected;
};

// On success advance `first` and fill `out`; throw x3::expectation_failure<Iterator> after a deciding token.
bool parse_expression(Iterator& first, Iterator last, State& state, ast::ExprPtr& out);
// Without binary operators: loop targets, decorators.
bool parse_operand(Iterator& first, Iterator last, State& state, ast::ExprPtr& out);

// The statements of one chunk. nullopt: all of [first, last) was parsed.
std::optional<SyntaxError> parse_statements(Iterator first, Iterator last, State& state, ast::Block& out);

}  // namespace exocheck::frontend::grammar
