#include "frontend/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "frontend/grammar.hpp"
#include "frontend/grammar_tokens.hpp"
#include "frontend/prepass.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace grammar {

ast::Span State::span(Iterator begin, Iterator end) const {
  const char* base = prepass.text.data();
  return prepass.source_span(static_cast<std::size_t>(begin - base), static_cast<std::size_t>(end - base));
}

bool State::fail(std::string_view code, ast::Span where, std::string message) {
  if (!failure) failure = semantics::make_diagnostic(code, {source, where}, std::move(message));
  return false;
}

}  // namespace grammar

namespace {

using semantics::Diagnostic;
using semantics::make_diagnostic;
using semantics::ir::overloaded;

// `_` where a name is declared: E-L06. As an expression it is a hole (E-P67), which elaboration reports.
class NameCheck {
 public:
  NameCheck(const semantics::SourcePtr& source, semantics::Diagnostics& out) : source_(source), out_(out) {}

  bool check(const ast::Stmt& stmt) {
    const std::size_t before = out_.size();
    visit(stmt);
    return out_.size() == before;
  }

 private:
  void name(const std::string& text, ast::Span span) {
    if (text == "_")
      out_.push_back(make_diagnostic("E-L06", {source_, span}, "'_' is not an identifier; choose a name"));
  }
  void target(const ast::ExprPtr& e) {
    if (const auto* n = std::get_if<ast::Name>(&e->node)) name(n->text, e->span);
  }
  void visit(const ast::Block& block) {
    for (const ast::Stmt& s : block) visit(s);
  }
  void visit(const ast::Stmt& stmt) {
    std::visit(overloaded{
                   [&](const ast::AssignStmt& s) {
                     for (const ast::ExprPtr& t : s.targets) target(t);
                   },
                   [&](const ast::AugAssignStmt& s) { target(s.target); },
                   [&](const ast::AnnotatedStmt& s) { target(s.target); },
                   [&](const ast::ForStmt& s) {
                     target(s.target);
                     visit(s.body);
                   },
                   [&](const ast::IfStmt& s) {
                     visit(s.then_body);
                     visit(s.else_body);
                   },
                   [&](const ast::WithStmt& s) { visit(s.body); },
                   [&](const ast::DefStmt& s) {
                     name(s.name, s.name_span);
                     for (const ast::Param& p : s.params) name(p.name, p.span);
                     visit(s.body);
                   },
                   [&](const ast::ClassStmt& s) {
                     name(s.name, s.name_span);
                     visit(s.body);
                   },
                   [](const ast::PassStmt&) {},
                   [](const ast::ExprStmt&) {},
                   [](const ast::AssertStmt&) {},
                   [](const ast::ImportStmt&) {},
                   [](const ast::OtherStmt&) {},
               },
               stmt.node);
  }

  const semantics::SourcePtr& source_;
  semantics::Diagnostics& out_;
};

Diagnostic syntax_error(const grammar::SyntaxError& error, grammar::Iterator first, grammar::Iterator last,
                        const grammar::State& state) {
  grammar::Iterator where = error.where;
  grammar::skip_blanks(where, last);
  ast::Span span = state.span(where, grammar::token_end(where, last));
  if (where == last) {
    // What is missing at the end of a block is missing behind its last line.
    grammar::Iterator end = last;
    while (end != first && (end[-1] == newline_mark || end[-1] == indent_mark || end[-1] == dedent_mark))
      --end;
    if (end != first) span = {state.span(end - 1, end).end, state.span(end - 1, end).end};
  }
  if (where != last && *where == indent_mark) {
    return make_diagnostic("E-P01", {state.source, span},
                           "unexpected indentation: no block begins before this line");
  }
  return make_diagnostic(
      "E-P01", {state.source, span},
      fmt::format("expected {}, found {}", error.expected, grammar::describe_token(where, last)));
}

// The name behind the chunk's own `def` or `class`, if it has one.
std::string definition_name(grammar::Iterator first, grammar::Iterator last) {
  while (first != last) {
    grammar::Iterator it = first;
    const std::string_view word = grammar::scan_word(it, last);
    if (word == "def" || word == "class") return std::string(grammar::scan_word(it, last));
    if (first == last || *first != '@') return {};
    // Over the decorator's line.
    while (first != last && *first != newline_mark) ++first;
    if (first != last) ++first;
  }
  return {};
}

// `# @instr ...` and the comment lines after it, directly behind the header of a `def` (language.md 2.8).
void attach_instr_comments(ast::File& file) {
  for (ast::Stmt& stmt : file.statements) {
    auto* def = std::get_if<ast::DefStmt>(&stmt.node);
    if (def == nullptr || def->body.empty()) continue;
    const auto behind = [&stmt](const ast::Comment& c) { return c.span.begin >= stmt.span.end; };
    const auto first = std::partition_point(file.comments.begin(), file.comments.end(),
                                            [&behind](const ast::Comment& c) { return !behind(c); });
    for (auto c = first; c != file.comments.end() && c->span.begin < def->body.front().span.begin; ++c) {
      constexpr std::string_view marker = "@instr";
      if (def->instr_comment.empty()) {
        if (!c->own_line || c->text.compare(0, marker.size(), marker) != 0) break;
        const std::size_t text = std::min(c->text.find_first_not_of(' ', marker.size()), c->text.size());
        def->instr_comment.push_back(c->text.substr(text));
      } else {
        def->instr_comment.push_back(c->text);
      }
    }
  }
}

}  // namespace

ParseResult parse(const semantics::SourcePtr& source, const ParseLimits& limits) {
  ParseResult result;
  result.file.source = source;
  Prepass prepass = run_prepass(source, limits);
  result.diagnostics = std::move(prepass.diagnostics);
  for (const Chunk& chunk : prepass.chunks) {
    const grammar::Iterator first = prepass.text.data() + chunk.begin;
    const grammar::Iterator last = prepass.text.data() + chunk.end;
    bool ok = !chunk.broken;
    if (ok) {
      grammar::State state{prepass, source, limits, std::nullopt};
      ast::Block statements;
      const auto error = grammar::parse_statements(first, last, state, statements);
      ok = !state.failure && !error;
      if (state.failure) {
        result.diagnostics.push_back(std::move(*state.failure));
      } else if (error) {
        result.diagnostics.push_back(syntax_error(*error, first, last, state));
      } else {
        NameCheck names(source, result.diagnostics);
        for (ast::Stmt& s : statements) {
          if (names.check(s))
            result.file.statements.push_back(std::move(s));
          else
            ok = false;
        }
      }
    }
    if (!ok) {
      std::string name = definition_name(first, last);
      if (!name.empty()) result.broken.push_back(std::move(name));
    }
  }
  std::stable_sort(
      result.diagnostics.begin(), result.diagnostics.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.location.span.begin < b.location.span.begin; });
  result.file.comments = std::move(prepass.comments);
  attach_instr_comments(result.file);
  return result;
}

}  // namespace exocheck::frontend
