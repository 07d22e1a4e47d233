#include "frontend/printer_expr.hpp"

#include <fmt/format.h>

#include <limits>

#include "frontend/printer.hpp"
#include "frontend/printer_text.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

namespace ir = semantics::ir;
using ir::overloaded;

constexpr int level_not = 25;
constexpr int level_compare = 30;
constexpr int level_sign = 60;
constexpr int level_atom = 70;

struct Operator {
  std::string_view text;
  int level;
};

Operator describe(ir::BinaryOp op) {
  switch (op) {
    case ir::BinaryOp::add:
      return {"+", 40};
    case ir::BinaryOp::sub:
      return {"-", 40};
    case ir::BinaryOp::mul:
      return {"*", level_multiply};
    case ir::BinaryOp::div:
      return {"/", level_multiply};
    case ir::BinaryOp::mod:
      return {"%", level_multiply};
    case ir::BinaryOp::lt:
      return {"<", level_compare};
    case ir::BinaryOp::le:
      return {"<=", level_compare};
    case ir::BinaryOp::gt:
      return {">", level_compare};
    case ir::BinaryOp::ge:
      return {">=", level_compare};
    case ir::BinaryOp::eq:
      return {"==", level_compare};
    case ir::BinaryOp::ne:
      return {"!=", level_compare};
    case ir::BinaryOp::logical_and:
      return {"and", 20};
    case ir::BinaryOp::logical_or:
      return {"or", 10};
  }
  throw semantics::InternalError("unknown operator");
}

std::string_view name_of(ir::Extern f) {
  switch (f) {
    case ir::Extern::sin:
      return "sin";
    case ir::Extern::relu:
      return "relu";
    case ir::Extern::expf:
      return "expf";
    case ir::Extern::exp2f:
      return "exp2f";
    case ir::Extern::logf:
      return "logf";
    case ir::Extern::log2f:
      return "log2f";
    case ir::Extern::fabsf:
      return "fabsf";
    case ir::Extern::sigmoid:
      return "sigmoid";
    case ir::Extern::sqrt:
      return "sqrt";
    case ir::Extern::fmaxf:
      return "fmaxf";
    case ir::Extern::fminf:
      return "fminf";
    case ir::Extern::select:
      return "select";
  }
  throw semantics::InternalError("unknown extern");
}

struct Fragment {
  std::string text;
  int level;
};

Fragment integer(std::int64_t value) {
  // The smallest integer has no literal.
  if (value == std::numeric_limits<std::int64_t>::min()) return {fmt::format("{} - 1", value + 1), 40};
  return {std::to_string(value), value < 0 ? level_sign : level_atom};
}

}  // namespace

const std::string& ExprPrinter::name(ir::SymId id) const {
  return names_ != nullptr ? names_->at(ir::index(id)) : procedure_.symbol(id).name;
}

std::string ExprPrinter::access(const ir::Access& a) const {
  return a.interval() ? fmt::format("{}:{}", expr(*a.lo), expr(*a.hi)) : expr(*a.lo);
}

std::string ExprPrinter::indexed(ir::SymId var, const std::vector<ir::Access>& index) const {
  if (index.empty()) return name(var);
  std::string out;
  for (const ir::Access& a : index) out += fmt::format("{}{}", out.empty() ? "" : ", ", access(a));
  return fmt::format("{}[{}]", name(var), out);
}

std::string ExprPrinter::indexed(ir::SymId var, const std::vector<ir::ExprPtr>& index) const {
  if (index.empty()) return name(var);
  std::string out;
  for (const ir::ExprPtr& e : index) out += fmt::format("{}{}", out.empty() ? "" : ", ", expr(*e));
  return fmt::format("{}[{}]", name(var), out);
}

std::string ExprPrinter::barrier(const ir::BarrierExpr& b) const { return indexed(b.var, b.index); }

std::string ExprPrinter::expr(const ir::Expr& e, int required) const {
  Fragment f = std::visit(
      overloaded{
          [](const ir::IntConst& x) { return integer(x.value); },
          [](const ir::BoolConst& x) {
            return Fragment{x.value ? "True" : "False", level_atom};
          },
          [](const ir::RealConst& x) {
            std::string text = real_text(x.value);
            const int level = text.front() == '-' ? level_sign : level_atom;
            return Fragment{std::move(text), level};
          },
          [&](const ir::VarRef& x) {
            return Fragment{name(x.var), level_atom};
          },
          [&](const ir::Read& x) {
            return Fragment{indexed(x.var, x.index), level_atom};
          },
          [&](const ir::Binary& x) {
            const Operator op = describe(x.op);
            // A comparison inside a comparison would read as a chain.
            const int left = op.level == level_compare ? level_compare + 1 : op.level;
            return Fragment{
                fmt::format("{} {} {}", expr(*x.left, left), op.text, expr(*x.right, op.level + 1)),
                op.level};
          },
          [&](const ir::Unary& x) {
            if (x.op == ir::UnaryOp::neg) return Fragment{"-" + expr(*x.operand, level_sign), level_sign};
            return Fragment{"not " + expr(*x.operand, level_not), level_not};
          },
          [&](const ir::StrideOf& x) {
            return Fragment{fmt::format("stride({}, {})", name(x.var), x.dim), level_atom};
          },
          [&](const ir::ExternCall& x) {
            std::string arguments;
            for (const ir::ExprPtr& a : x.arguments)
              arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", expr(*a));
            return Fragment{fmt::format("{}({})", name_of(x.function), arguments), level_atom};
          },
          [](const ir::ConfigRead& x) {
            return Fragment{fmt::format("{}.{}", x.config, x.field), level_atom};
          },
      },
      e.node);
  return f.level < required ? "(" + f.text + ")" : std::move(f.text);
}

std::string print(const ir::Expr& e, const ir::Procedure& procedure) {
  return ExprPrinter(procedure, nullptr).expr(e);
}

std::string print(const ir::Access& a, const ir::Procedure& procedure) {
  return ExprPrinter(procedure, nullptr).access(a);
}

std::string print(const ir::BarrierExpr& b, const ir::Procedure& procedure) {
  return ExprPrinter(procedure, nullptr).barrier(b);
}

}  // namespace exocheck::frontend
