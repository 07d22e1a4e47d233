// Surface syntax tree. GPU IR text is written in Python's syntax, so the tree is Python-shaped: the grammar
// (frontend/grammar) decides only what is an expression or a statement; frontend/elaborate decides what it
// means and gives the targeted errors (E-P20 .. E-P76) for forms that are no GPU IR.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/source.hpp"

namespace exocheck::frontend::ast {

using semantics::Span;

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Int {
  std::int64_t value = 0;
  bool too_big = false;  // does not fit 64 bits
};
struct Float {
  double value = 0;
};
struct String {
  std::string value;
};  // escapes resolved
struct Bool {
  bool value = false;
};
struct None {};
struct Name {
  std::string text;
};
struct Attribute {
  ExprPtr base;
  std::string name;
  Span name_span;
};
struct Argument {
  std::optional<std::string> keyword;
  ExprPtr value;
  bool star = false;  // `*t`: splat
  Span span;
};
struct CallExpr {
  ExprPtr callee;
  std::vector<Argument> arguments;
};
// One subscript: an expression (slice false, lo set) or a slice with optional ends.
struct Item {
  bool slice = false;
  ExprPtr lo, hi;
  bool has_step = false;  // a third ':' part: E-P42
  Span span;
};
struct Subscript {
  ExprPtr base;
  std::vector<Item> items;
};
// op: "-" "+" "~" "not"
struct Unary {
  std::string op;
  ExprPtr operand;
};
// op: "+" "-" "*" "/" "%" "@" "//" "**" "<<" ">>" "|" "&" "^" "and" "or"
struct Binary {
  std::string op;
  ExprPtr left, right;
  Span op_span;
};
// a < b <= c; ops: "<" ">" "<=" ">=" "==" "!=" "is" "in" "is not" "not in"
struct Compare {
  ExprPtr first;
  std::vector<std::pair<std::string, ExprPtr>> rest;
};
struct Conditional {
  ExprPtr value, condition, otherwise;
};  // a if c else b
struct Tuple {
  std::vector<Argument> items;
};
struct List {
  std::vector<ExprPtr> items;
};
struct Dict {
  std::vector<std::pair<ExprPtr, ExprPtr>> items;
};  // second empty: a set
struct Unparsed {
  std::string text;
};  // `<class ...>`, `...`: E-P69

struct Expr {
  Span span;  // with its parentheses, if any
  bool parenthesized = false;
  std::variant<Int, Float, String, Bool, None, Name, Attribute, CallExpr, Subscript, Unary, Binary, Compare,
               Conditional, Tuple, List, Dict, Unparsed>
      node;
  int height =
      1;  // of the tree; at most ParseLimits::max_expression_height, so that recursion over it is safe
};

struct Stmt;
using Block = std::vector<Stmt>;

struct PassStmt {};
struct ExprStmt {
  ExprPtr value;
};
struct AssignStmt {
  std::vector<ExprPtr> targets;  // more than one: a = b = e, E-P55
  ExprPtr value;
};
struct AugAssignStmt {
  std::string op;  // "+=", "-=", ...
  ExprPtr target, value;
};
struct AnnotatedStmt {  // x: T, x: T = e
  ExprPtr target, annotation, value;
};
struct ForStmt {
  ExprPtr target, range;
  Block body;
  std::optional<Span> else_span;
};
struct IfStmt {  // `elif` is an else block with one IfStmt
  ExprPtr condition;
  Block then_body, else_body;
};
struct WithItem {
  ExprPtr context, as;
};
struct WithStmt {
  std::vector<WithItem> items;
  Block body;  // empty under `with python:` (E-P65)
};
struct AssertStmt {
  ExprPtr condition, message;
};
struct Param {
  std::string name;
  Span span;
  ExprPtr annotation;        // empty: E-P24
  bool has_default = false;  // E-P22
  bool star = false;         // *args, **kwargs, lone * or /: E-P22
};
struct Decorator {
  ExprPtr value;  // NAME or NAME(...)
  Span span;
};
struct DefStmt {
  std::string name;
  Span name_span;
  std::vector<Decorator> decorators;
  std::vector<Param> params;
  bool has_return_type = false;  // E-P23
  Span return_span;
  std::vector<std::string>
      instr_comment;  // `# @instr ...` lines of a printed old-style instruction (language.md 2.8)
  Block body;
};
struct ClassStmt {
  std::string name;
  Span name_span;
  std::vector<Decorator> decorators;
  Block body;  // read only for `@config` classes: anything may stand in others (E-P64)
};
struct ImportStmt {};
// Any other Python statement: while, return, del, ... (E-P71).
struct OtherStmt {
  std::string keyword;
};

struct Stmt {
  Span span;  // compound statements: the header line up to and including ':'
  std::variant<PassStmt, ExprStmt, AssignStmt, AugAssignStmt, AnnotatedStmt, ForStmt, IfStmt, WithStmt,
               AssertStmt, DefStmt, ClassStmt, ImportStmt, OtherStmt>
      node;
  int height = 1;  // of the statement tree; at most ParseLimits::max_nesting
};

// A `#` comment; text without the '#' and surrounding blanks.
struct Comment {
  Span span;
  std::string text;
  bool own_line = false;
};

struct File {
  semantics::SourcePtr source;
  Block statements;
  std::vector<Comment> comments;
};

}  // namespace exocheck::frontend::ast
