#include "frontend/grammar_chain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::frontend::grammar {
namespace {

using semantics::cover;
using semantics::ensure;

constexpr int not_level = 3;
constexpr int comparison_level = 4;
constexpr int sign_level = 11;
constexpr int power_level = 12;

int level(const std::string& op) {
  if (op == "or") return 1;
  if (op == "and") return 2;
  if (op == "|") return 5;
  if (op == "^") return 6;
  if (op == "&") return 7;
  if (op == "<<" || op == ">>") return 8;
  if (op == "+" || op == "-") return 9;
  if (op == "*" || op == "/" || op == "%" || op == "//" || op == "@") return 10;
  if (op == "**") return power_level;
  return comparison_level;
}

int prefix_level(const std::string& op) { return op == "not" ? not_level : sign_level; }

int height_of(const ast::ExprPtr& e) { return e ? e->height : 0; }

int height_of(const std::vector<ast::Argument>& arguments) {
  int h = 0;
  for (const ast::Argument& a : arguments) h = std::max(h, height_of(a.value));
  return h;
}

struct HeightOfChildren {
  int operator()(const ast::Attribute& e) const { return height_of(e.base); }
  int operator()(const ast::CallExpr& e) const {
    return std::max(height_of(e.callee), height_of(e.arguments));
  }
  int operator()(const ast::Subscript& e) const {
    int h = height_of(e.base);
    for (const ast::Item& i : e.items) h = std::max({h, height_of(i.lo), height_of(i.hi)});
    return h;
  }
  int operator()(const ast::Unary& e) const { return height_of(e.operand); }
  int operator()(const ast::Binary& e) const { return std::max(height_of(e.left), height_of(e.right)); }
  int operator()(const ast::Compare& e) const {
    int h = height_of(e.first);
    for (const auto& [op, operand] : e.rest) h = std::max(h, height_of(operand));
    // A chain becomes a conjunction of its comparisons.
    return h + static_cast<int>(e.rest.size()) - 1;
  }
  int operator()(const ast::Conditional& e) const {
    return std::max({height_of(e.value), height_of(e.condition), height_of(e.otherwise)});
  }
  int operator()(const ast::Tuple& e) const { return height_of(e.items); }
  int operator()(const ast::List& e) const {
    int h = 0;
    for (const ast::ExprPtr& i : e.items) h = std::max(h, height_of(i));
    return h;
  }
  int operator()(const ast::Dict& e) const {
    int h = 0;
    for (const auto& [key, value] : e.items) h = std::max({h, height_of(key), height_of(value)});
    return h;
  }
  template <class Leaf>
  int operator()(const Leaf&) const {
    return 0;
  }
};

// Operator precedence with an explicit stack: the chain may be long.
class Folder {
 public:
  explicit Folder(State& state) : state_(state) {}

  bool push(Operand operand) {
    for (Operator& op : operand.prefixes) {
      // `a + not b` is no expression: `not` binds more loosely than what stands before it.
      if (op.text == "not" && !stack_.empty() && stack_.back().level > not_level) {
        return state_.fail("E-P01", op.span,
                           "'not' binds more loosely than the operator before it; put it in parentheses");
      }
      const int l = prefix_level(op.text);
      stack_.push_back({std::move(op), l, true});
    }
    values_.push_back(std::move(operand.value));
    return true;
  }

  // Builds everything that binds at least as tightly as a binary operator of this level.
  bool reduce(int min_level) {
    while (!stack_.empty() && (stack_.back().level > min_level ||
                               (stack_.back().level == min_level && min_level != power_level))) {
      if (!build()) return false;
    }
    return true;
  }

  void push(Operator op) {
    const int l = level(op.text);
    stack_.push_back({std::move(op), l, false});
  }

  Node result() {
    ensure(values_.size() == 1 && stack_.empty(), "expression chain");
    return std::move(values_.back());
  }

 private:
  struct Pending {
    Operator op;
    int level;
    bool prefix;
  };

  bool build() {
    Pending p = std::move(stack_.back());
    stack_.pop_back();
    Node right = std::move(values_.back());
    values_.pop_back();
    if (p.prefix) {
      const ast::Span span = cover(p.op.span, right->span);
      return add(make_node(span, ast::Unary{std::move(p.op.text), std::move(right)}));
    }
    Node left = std::move(values_.back());
    values_.pop_back();
    const ast::Span span = cover(left->span, right->span);
    if (p.level != comparison_level) {
      return add(
          make_node(span, ast::Binary{std::move(p.op.text), std::move(left), std::move(right), p.op.span}));
    }
    if (auto* chain = std::get_if<ast::Compare>(&left->node); chain != nullptr && !left->parenthesized) {
      chain->rest.emplace_back(std::move(p.op.text), std::move(right));
      left->span = span;
      left->height += 1;
      left->height =
          std::max(left->height, chain->rest.back().second->height + static_cast<int>(chain->rest.size()));
      return add(std::move(left));
    }
    ast::Compare compare{std::move(left), {}};
    compare.rest.emplace_back(std::move(p.op.text), std::move(right));
    return add(make_node(span, std::move(compare)));
  }

  bool add(Node node) {
    values_.push_back(std::move(node));
    return check_height(*values_.back(), state_);
  }

  State& state_;
  std::vector<Pending> stack_;
  std::vector<Node> values_;
};

}  // namespace

Node make_node(ast::Span span, decltype(ast::Expr::node) node) {
  const int height = 1 + std::visit(HeightOfChildren{}, node);
  return std::make_shared<ast::Expr>(ast::Expr{span, false, std::move(node), height});
}

Node parenthesize(const ast::ExprPtr& node) {
  Node copy = std::make_shared<ast::Expr>(*node);
  copy->parenthesized = true;
  return copy;
}

bool check_height(const ast::Expr& node, State& state) {
  if (node.height <= state.limits.max_expression_height) return true;
  return state.fail("L-07", node.span,
                    fmt::format("this expression has more than {} operators inside one another; split it",
                                state.limits.max_expression_height));
}

Node fold_chain(Chain chain, State& state) {
  ensure(chain.operands.size() == chain.operators.size() + 1, "expression chain");
  Folder folder(state);
  for (std::size_t i = 0; i < chain.operands.size(); ++i) {
    if (!folder.push(std::move(chain.operands[i]))) return nullptr;
    const bool more = i < chain.operators.size();
    if (!folder.reduce(more ? level(chain.operators[i].text) : 0)) return nullptr;
    if (more) folder.push(std::move(chain.operators[i]));
  }
  return folder.result();
}

Node fold_conditional(std::vector<Node> parts, State& state) {
  ensure(parts.size() % 2 == 1, "conditional chain");
  Node result = std::move(parts.back());
  for (std::size_t i = parts.size() - 1; i >= 2; i -= 2) {
    const ast::Span span = cover(parts[i - 2]->span, result->span);
    result = make_node(span,
                       ast::Conditional{std::move(parts[i - 2]), std::move(parts[i - 1]), std::move(result)});
    if (!check_height(*result, state)) return nullptr;
  }
  return result;
}

}  // namespace exocheck::frontend::grammar
