// Flat chains of operands and operators, and their folding into trees by Python's precedence.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.hpp"
#include "frontend/grammar.hpp"

namespace exocheck::frontend::grammar {

// A tree node under construction.
using Node = std::shared_ptr<ast::Expr>;
using DictEntry = std::pair<ast::ExprPtr, ast::ExprPtr>;

struct Operator {
  std::string text;
  ast::Span span;
};
// `- not x[0]`: prefix operators, outermost first, and what they apply to.
struct Operand {
  std::vector<Operator> prefixes;
  Node value;
};
// operands[0] operators[0] operands[1] ...
struct Chain {
  std::vector<Operand> operands;
  std::vector<Operator> operators;
};

Node make_node(ast::Span span, decltype(ast::Expr::node) node);
// A copy of the node, marked as parenthesized.
Node parenthesize(const ast::ExprPtr& node);
// False, with L-07 in the state, if the tree is too high.
bool check_height(const ast::Expr& node, State& state);

// nullptr, with the state's failure set, if the tree is too high or a `not` stands where only a tighter
// operator may.
Node fold_chain(Chain chain, State& state);
// a if c1 else b if c2 else d, as the list a, c1, b, c2, d.
Node fold_conditional(std::vector<Node> parts, State& state);

}  // namespace exocheck::frontend::grammar
