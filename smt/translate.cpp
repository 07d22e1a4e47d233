#include "smt/translate.hpp"

#include <utility>

#include "semantics/ir_util.hpp"

namespace exocheck::smt {
namespace {

namespace ir = semantics::ir;

class Translator {
 public:
  Translator(const Bindings& bindings, std::uint32_t max_depth, std::uint64_t max_size)
      : bindings_(bindings), max_depth_(max_depth), max_size_(max_size) {}

  // nullopt once `reason` is set.
  std::optional<Term> operator()(const ir::Expr& e) {
    if (++level_ > max_depth_) return fail("an expression nested too deeply");
    auto t = std::visit(
        ir::overloaded{
            [](const ir::IntConst& x) { return std::optional<Term>(integer(x.value)); },
            [](const ir::BoolConst& x) { return std::optional<Term>(boolean(x.value)); },
            [&](const ir::VarRef& x) {
              return bound(bindings_.variable(x.var), "a variable without a value");
            },
            [&](const ir::StrideOf& x) { return bound(bindings_.stride(x.var, x.dim), "an unknown stride"); },
            [&](const ir::ConfigRead& x) { return bound(bindings_.config(x), "an unknown config field"); },
            [&](const ir::Unary& x) { return unary(x); },
            [&](const ir::Binary& x) { return binary(x); },
            [&](const auto&) { return fail("a data value in a control expression"); },
        },
        e.node);
    --level_;
    if (t && (t->depth() > max_depth_ || t->size() > max_size_))
      return fail("an expression that is too large");
    return t;
  }

  std::string reason;

 private:
  std::optional<Term> fail(const char* why) {
    if (reason.empty()) reason = why;
    return std::nullopt;
  }

  std::optional<Term> bound(std::optional<Term> t, const char* why) { return t ? std::move(t) : fail(why); }

  std::optional<Term> unary(const ir::Unary& x) {
    const auto operand = (*this)(*x.operand);
    if (!operand) return std::nullopt;
    const Sort wanted = x.op == ir::UnaryOp::neg ? Sort::integer : Sort::boolean;
    if (operand->sort() != wanted) return fail("an operand of the wrong type");
    return x.op == ir::UnaryOp::neg ? scale(-1, *operand) : negate(*operand);
  }

  std::optional<Term> binary(const ir::Binary& x) {
    const auto left = (*this)(*x.left);
    const auto right = left ? (*this)(*x.right) : std::nullopt;
    if (!right) return std::nullopt;
    const bool booleans = left->sort() == Sort::boolean && right->sort() == Sort::boolean;
    const bool integers = left->sort() == Sort::integer && right->sort() == Sort::integer;
    switch (x.op) {
      case ir::BinaryOp::logical_and:
        return booleans ? conj(*left, *right) : fail("an operand of the wrong type");
      case ir::BinaryOp::logical_or:
        return booleans ? disj(*left, *right) : fail("an operand of the wrong type");
      case ir::BinaryOp::eq:
      case ir::BinaryOp::ne: {
        if (!booleans && !integers) return fail("an operand of the wrong type");
        const Term equal = booleans ? iff(*left, *right) : eq(*left, *right);
        return x.op == ir::BinaryOp::eq ? equal : negate(equal);
      }
      case ir::BinaryOp::add:
      case ir::BinaryOp::sub:
      case ir::BinaryOp::mul:
      case ir::BinaryOp::div:
      case ir::BinaryOp::mod:
      case ir::BinaryOp::lt:
      case ir::BinaryOp::le:
      case ir::BinaryOp::gt:
      case ir::BinaryOp::ge:
        return integers ? arithmetic(x.op, *left, *right) : fail("an operand of the wrong type");
    }
    return fail("an unknown operator");
  }

  std::optional<Term> arithmetic(ir::BinaryOp op, const Term& a, const Term& b) {
    const bool literal = b.op() == Op::int_const;
    switch (op) {
      case ir::BinaryOp::add:
        return a + b;
      case ir::BinaryOp::sub:
        return a - b;
      case ir::BinaryOp::mul:
        if (a.op() == Op::int_const) return scale(a.value(), b);
        return literal ? scale(b.value(), a) : fail("a product of two variables");
      case ir::BinaryOp::div:
      case ir::BinaryOp::mod:
        if (!literal || b.value() <= 0) return fail("a division by something else than a positive number");
        return op == ir::BinaryOp::div ? floor_div(a, b.value()) : floor_mod(a, b.value());
      case ir::BinaryOp::lt:
        return lt(a, b);
      case ir::BinaryOp::le:
        return le(a, b);
      case ir::BinaryOp::gt:
        return lt(b, a);
      case ir::BinaryOp::ge:
        return le(b, a);
      case ir::BinaryOp::eq:
      case ir::BinaryOp::ne:
      case ir::BinaryOp::logical_and:
      case ir::BinaryOp::logical_or:
        break;
    }
    return fail("an unknown operator");
  }

  const Bindings& bindings_;
  std::uint32_t max_depth_;
  std::uint64_t max_size_;
  std::uint32_t level_ = 0;
};

}  // namespace

Translation translate(const ir::Expr& e, const Bindings& bindings, std::uint32_t max_depth,
                      std::uint64_t max_size) {
  Translator translator(bindings, max_depth, max_size);
  auto term = translator(e);
  return {std::move(term), std::move(translator.reason)};
}

}  // namespace exocheck::smt
