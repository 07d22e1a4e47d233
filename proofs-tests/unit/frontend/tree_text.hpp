// Syntax trees as text, for tests: every operator application in its own brackets.
#pragma once

#include <string>

#include "frontend/ast.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend::test {

inline std::string tree(const ast::ExprPtr& e);

inline std::string trees(const std::vector<ast::Argument>& arguments) {
  std::string out;
  for (const ast::Argument& a : arguments) {
    out += (out.empty() ? "" : ", ") + (a.keyword ? *a.keyword + "=" : std::string()) + (a.star ? "*" : "") +
           tree(a.value);
  }
  return out;
}

inline std::string tree(const ast::ExprPtr& e) {
  if (!e) return "";
  return std::visit(
      semantics::ir::overloaded{
          [](const ast::Int& x) { return x.too_big ? std::string("BIG") : std::to_string(x.value); },
          [](const ast::Float& x) { return std::to_string(x.value); },
          [](const ast::String& x) { return "'" + x.value + "'"; },
          [](const ast::Bool& x) { return std::string(x.value ? "True" : "False"); },
          [](const ast::None&) { return std::string("None"); },
          [](const ast::Name& x) { return x.text; },
          [](const ast::Attribute& x) { return tree(x.base) + "." + x.name; },
          [](const ast::CallExpr& x) { return tree(x.callee) + "(" + trees(x.arguments) + ")"; },
          [](const ast::Subscript& x) {
            std::string out;
            for (const ast::Item& i : x.items) {
              out += (out.empty() ? "" : ", ") + tree(i.lo) + (i.slice ? ":" : "") + tree(i.hi) +
                     (i.has_step ? ":" : "");
            }
            return tree(x.base) + "[" + out + "]";
          },
          [](const ast::Unary& x) { return "{" + x.op + " " + tree(x.operand) + "}"; },
          [](const ast::Binary& x) { return "{" + tree(x.left) + " " + x.op + " " + tree(x.right) + "}"; },
          [](const ast::Compare& x) {
            std::string out = tree(x.first);
            for (const auto& [op, operand] : x.rest) out += " " + op + " " + tree(operand);
            return "{" + out + "}";
          },
          [](const ast::Conditional& x) {
            return "{" + tree(x.value) + " if " + tree(x.condition) + " else " + tree(x.otherwise) + "}";
          },
          [](const ast::Tuple& x) { return "(" + trees(x.items) + ",)"; },
          [](const ast::List& x) {
            std::string out;
            for (const ast::ExprPtr& i : x.items) out += (out.empty() ? "" : ", ") + tree(i);
            return "[" + out + "]";
          },
          [](const ast::Dict& x) {
            std::string out;
            for (const auto& [key, value] : x.items) {
              out += (out.empty() ? "" : ", ") + tree(key) + (value ? ": " : "") + tree(value);
            }
            return "<" + out + ">";
          },
          [](const ast::Unparsed& x) { return "?" + x.text + "?"; },
      },
      e->node);
}

inline std::string tree(const ast::Block& block);

inline std::string tree(const ast::Stmt& stmt) {
  return std::visit(
      semantics::ir::overloaded{
          [](const ast::PassStmt&) { return std::string("pass"); },
          [](const ast::ExprStmt& s) { return tree(s.value); },
          [](const ast::AssignStmt& s) {
            std::string out;
            for (const ast::ExprPtr& t : s.targets) out += tree(t) + " = ";
            return out + tree(s.value);
          },
          [](const ast::AugAssignStmt& s) { return tree(s.target) + " " + s.op + " " + tree(s.value); },
          [](const ast::AnnotatedStmt& s) {
            return tree(s.target) + ": " + tree(s.annotation) +
                   (s.value ? " = " + tree(s.value) : std::string());
          },
          [](const ast::ForStmt& s) {
            return "for " + tree(s.target) + " in " + tree(s.range) + tree(s.body) +
                   (s.else_span ? " else" : "");
          },
          [](const ast::IfStmt& s) {
            return "if " + tree(s.condition) + tree(s.then_body) +
                   (s.else_body.empty() ? "" : " else" + tree(s.else_body));
          },
          [](const ast::WithStmt& s) {
            std::string out = "with ";
            for (const ast::WithItem& i : s.items)
              out += tree(i.context) + (i.as ? " as " + tree(i.as) : std::string()) + ";";
            return out + tree(s.body);
          },
          [](const ast::AssertStmt& s) {
            return "assert " + tree(s.condition) + (s.message ? ", " + tree(s.message) : "");
          },
          [](const ast::DefStmt& s) {
            std::string out;
            for (const ast::Decorator& d : s.decorators) out += "@" + tree(d.value) + " ";
            out += "def " + s.name + "(";
            for (const ast::Param& p : s.params) {
              out +=
                  (p.star ? "*" : "") + p.name + ":" + tree(p.annotation) + (p.has_default ? "=" : "") + ", ";
            }
            return out + ")" + (s.has_return_type ? " ->" : "") + tree(s.body);
          },
          [](const ast::ClassStmt& s) { return "class " + s.name + tree(s.body); },
          [](const ast::ImportStmt&) { return std::string("import"); },
          [](const ast::OtherStmt& s) { return "other " + s.keyword; },
      },
      stmt.node);
}

inline std::string tree(const ast::Block& block) {
  std::string out = " {";
  for (const ast::Stmt& s : block) out += (out.size() > 2 ? "; " : "") + tree(s);
  return out + "}";
}

}  // namespace exocheck::frontend::test
