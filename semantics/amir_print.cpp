#include "semantics/amir_print.hpp"

#include <fmt/format.h>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::semantics::amir {
namespace {

using ir::overloaded;

std::string_view symbol(ir::BinaryOp op) {
  switch (op) {
    case ir::BinaryOp::add:
      return "+";
    case ir::BinaryOp::sub:
      return "-";
    case ir::BinaryOp::mul:
      return "*";
    case ir::BinaryOp::div:
      return "/";
    case ir::BinaryOp::mod:
      return "%";
    case ir::BinaryOp::lt:
      return "<";
    case ir::BinaryOp::le:
      return "<=";
    case ir::BinaryOp::gt:
      return ">";
    case ir::BinaryOp::ge:
      return ">=";
    case ir::BinaryOp::eq:
      return "==";
    case ir::BinaryOp::ne:
      return "!=";
    case ir::BinaryOp::logical_and:
      return "and";
    case ir::BinaryOp::logical_or:
      return "or";
  }
  throw InternalError("unknown operator");
}

// Operands that are binary themselves stand in parentheses.
std::string text(const ir::Expr& e, const NameOf& name) {
  const auto operand = [&name](const ir::Expr& o) {
    const std::string inner = text(o, name);
    return std::holds_alternative<ir::Binary>(o.node) ? "(" + inner + ")" : inner;
  };
  return std::visit(
      overloaded{
          [](const ir::IntConst& x) { return std::to_string(x.value); },
          [](const ir::BoolConst& x) { return std::string(x.value ? "true" : "false"); },
          [&](const ir::VarRef& x) { return name(x.var); },
          [&](const ir::Binary& x) {
            return fmt::format("{} {} {}", operand(*x.left), symbol(x.op), operand(*x.right));
          },
          [&](const ir::Unary& x) { return (x.op == ir::UnaryOp::neg ? "-" : "not ") + operand(*x.operand); },
          [](const auto&) -> std::string { throw InternalError("not a control expression"); },
      },
      e.node);
}

std::string text(QualSet quals) {
  std::string out;
  for (const Qual q : quals.members())
    out += (out.empty() ? "" : ", ") + std::string(qual_record(q).short_name);
  return "{" + out + "}";
}

class Printer {
 public:
  Printer(const Program& program, const NameOf& name) : program_(program), name_(name) {}

  std::string run() {
    block(program_.body, 0);
    return std::move(out_);
  }

 private:
  void block(const Body& body, std::size_t depth) {
    for (const Node& node : body) statement(node, depth);
  }
  void line(std::size_t depth, const std::string& text) { out_ += std::string(2 * depth, ' ') + text + "\n"; }
  std::string target(const Target& t) const { return print(t, program_, name_); }
  std::string targets(const std::vector<Target>& list) const {
    std::string out;
    for (const Target& t : list) out += (out.empty() ? "" : ", ") + target(t);
    return "{" + out + "}";
  }
  const std::string& variable(VarId v) const { return program_.variables.at(index(v)).name; }
  void statement(const Node& node, std::size_t depth);
  std::string leaf(const Node& node) const;

  const Program& program_;
  const NameOf& name_;
  std::string out_;
};

void Printer::statement(const Node& node, std::size_t depth) {
  if (const auto* loop = std::get_if<Loop>(&node.node)) {
    line(depth, fmt::format("for {} in loop({}, {}):", name_(loop->iter), text(*loop->lo, name_),
                            text(*loop->hi, name_)));
    block(loop->body, depth + 1);
  } else if (const auto* branch = std::get_if<Branch>(&node.node)) {
    line(depth, fmt::format("if {}:", text(*branch->condition, name_)));
    block(branch->then_body, depth + 1);
    if (!branch->else_body.empty()) {
      line(depth, "else:");
      block(branch->else_body, depth + 1);
    }
  } else {
    line(depth, fmt::format("{} @{}", leaf(node), print(program_.maps.at(node.map), name_)));
  }
}

std::string Printer::leaf(const Node& node) const {
  const auto level = [](Level l) { return std::string(name(l)); };
  const auto convergence = [](bool convergent) { return convergent ? "cvg" : "non-cvg"; };
  return std::visit(
      overloaded{
          [&](const Check& s) {
            return fmt::format("{}({}, {}, {}, {})", s.reads ? "CheckReads" : "CheckMutates",
                               convergence(s.convergent), level(s.level), target(s.target), text(s.quals));
          },
          [&](const Record& s) {
            return fmt::format("{}({}, {}, {}, {}, atomic {}, pending {})",
                               s.mutate ? "RecordMutate" : "RecordRead", convergence(s.convergent),
                               level(s.in_order ? Level::full : Level::unordered), target(s.target),
                               qual_record(s.qual).short_name, text(s.atomic), targets(s.pending));
          },
          [&](const CheckBarrier& s) { return fmt::format("CheckBarrier({})", variable(s.var)); },
          [&](const Fence& s) {
            return fmt::format("Fence({}, {}, {}, {})", s.transitive ? "transitive" : "direct", text(s.first),
                               text(s.full), text(s.temporal));
          },
          [&](const Arrive& s) {
            return fmt::format("Arrive({}, {}, home {}, {})", s.transitive ? "transitive" : "direct",
                               text(s.first), target(s.home), targets(s.referenced));
          },
          [&](const Await& s) {
            return fmt::format("Await({}, {}, {}, {})", target(s.barrier), text(s.full), text(s.temporal),
                               s.n < 0 ? fmt::format("~{}", -1 - s.n) : std::to_string(s.n));
          },
          [&](const Alloc& s) { return fmt::format("Alloc({})", variable(s.var)); },
          [&](const Free& s) { return fmt::format("Free({})", variable(s.var)); },
          [](const IncTask&) { return std::string("IncTask"); },
          [&](const InitRead& s) { return fmt::format("InitRead({})", target(s.target)); },
          [&](const InitWrite& s) { return fmt::format("InitWrite({})", target(s.target)); },
          [](const Loop&) -> std::string { throw InternalError("a loop is no leaf"); },
          [](const Branch&) -> std::string { throw InternalError("a branch is no leaf"); },
      },
      node.node);
}

}  // namespace

std::string print(const Target& target, const Program& program, const NameOf& name) {
  std::string out;
  for (const Window& w : target.index) {
    out += (out.empty() ? "" : ", ") + text(*w.lo, name) + (w.interval() ? ":" + text(*w.hi, name) : "");
  }
  return fmt::format("{}{}{}", program.variables.at(index(target.var)).name,
                     out.empty() ? "" : "[" + out + "]", target.clip ? " clipped" : "");
}

std::string print(const ThreadMap& map, const NameOf& name) {
  if (map.all_threads) return "all";
  std::string out;
  for (const ThreadMap::Dim& dim : map.dims) {
    std::string start = dim.offset == 0 && !dim.terms.empty() ? "" : std::to_string(dim.offset);
    for (const auto& [iter, coefficient] : dim.terms) {
      start += start.empty() ? "" : " + ";
      start += coefficient == 1 ? name(iter) : fmt::format("{} * {}", coefficient, name(iter));
    }
    out += fmt::format("{}{}..+{} of {}", out.empty() ? "" : ", ", start, dim.box, dim.extent);
  }
  return "(" + out + ")";
}

std::string print(const Program& program, const NameOf& name) { return Printer(program, name).run(); }

}  // namespace exocheck::semantics::amir
