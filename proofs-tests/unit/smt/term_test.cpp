#include "smt/term.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"
#include "smt/linear.hpp"
#include "smt/translate.hpp"

using namespace exocheck;
using namespace exocheck::smt;
namespace ir = exocheck::semantics::ir;

namespace {

Term var(std::uint32_t id, std::string name, Sort sort = Sort::integer) {
  return variable(Variable{id, sort, VariableRole::index, std::move(name)});
}

}  // namespace

TEST_CASE("terms print in the language's notation") {
  const Term i = var(0, "i"), n = var(1, "n"), b = var(2, "b", Sort::boolean);
  CHECK(text(scale(32, i) + n - integer(3)) == "32 * i + n - 3");
  CHECK(text(floor_div(n + integer(31), 32)) == "(n + 31) / 32");
  CHECK(text(floor_mod(i, 2) + integer(-1)) == "i % 2 - 1");
  CHECK(text(i - (n - i)) == "i - (n - i)");
  CHECK(text(scale(2, floor_div(i, 2))) == "2 * (i / 2)");
  CHECK(text(conj(le(integer(0), i), disj(lt(i, n), b))) == "0 <= i and (i < n or b)");
  CHECK(text(negate(eq(i, n))) == "i != n");
  CHECK(text(negate(conj(b, lt(i, n)))) == "not (b and i < n)");
  CHECK(text(negate(lt(i, n))) == "n <= i");
}

TEST_CASE("factories fold constants, but never past 64 bits") {
  CHECK((integer(2) + integer(3)).value() == 5);
  CHECK(floor_div(integer(-1), 4).value() == -1);
  CHECK(floor_mod(integer(-1), 4).value() == 3);
  CHECK(lt(integer(1), integer(1)).is_false());
  const Term big = integer(INT64_MAX) + integer(1);
  CHECK(big.op() == Op::add);
  CHECK_THROWS_AS(evaluate(big, [](const Variable&) { return std::int64_t{0}; }), semantics::OverflowError);
}

TEST_CASE("evaluation uses floor division") {
  const Term i = var(0, "i");
  const auto at = [&](std::int64_t value, const Term& t) {
    return evaluate(t, [value](const Variable&) { return value; });
  };
  CHECK(at(-1, floor_div(i, 4)) == -1);
  CHECK(at(-1, floor_mod(i, 4)) == 3);
  CHECK(at(7, conj(lt(i, integer(8)), le(integer(7), i))) == 1);
}

TEST_CASE("shared subterms do not blow up") {
  Term t = var(0, "i");
  for (int k = 0; k < 60; ++k) t = t + t;
  CHECK(evaluate(t, [](const Variable&) { return std::int64_t{1}; }) == (std::int64_t{1} << 60));
  CHECK(variables(t).size() == 1);
  CHECK(text(t) == "...");
}

TEST_CASE("linear forms normalise quotients") {
  Atoms atoms;
  const Term n = var(0, "n"), k = var(1, "k");
  const auto linear = [&](const Term& t) { return atoms.linear(t); };
  CHECK(linear(floor_div(scale(8, n) + integer(3), 8)) == linear(n));
  CHECK(linear(floor_mod(scale(8, n), 8)) == linear(integer(0)));
  CHECK(linear(floor_div(k + integer(2), 2)) == linear(floor_div(k, 2) + integer(1)));
  CHECK(linear(floor_div(scale(4, k) + integer(3), 8)) == linear(floor_div(k, 2)));
  CHECK(linear(scale(3, n) - n - n - n) == linear(integer(0)));
  CHECK(linear(floor_div(k, 2)) != linear(floor_div(k, 3)));
}

TEST_CASE("tightening keeps the integer points") {
  // 4 x - 7 <= 0 iff x <= 1 iff x - 1 <= 0.
  CHECK(tighten(Linear{{{0, 4}}, -7}) == Linear{{{0, 1}}, -1});
  CHECK(tighten(Linear{{{0, -4}}, 7}) == Linear{{{0, -1}}, 2});
}

TEST_CASE("control expressions translate, others say why not") {
  const auto none = [](auto&&...) -> std::optional<Term> { return std::nullopt; };
  const Term n = var(0, "n");
  const Bindings bindings{[&](ir::SymId) { return std::optional<Term>(n); }, none, none};
  const auto v = ir::var_ref(ir::SymId{0});
  const auto sum =
      ir::binary(ir::BinaryOp::add, ir::binary(ir::BinaryOp::mul, v, ir::int_const(4)), ir::int_const(1));
  CHECK(text(*translate(*sum, bindings).term) == "4 * n + 1");
  const auto compare = ir::binary(ir::BinaryOp::ge, v, ir::int_const(2), ir::TypeKind::boolean);
  CHECK(text(*translate(*compare, bindings).term) == "2 <= n");

  const auto square = ir::binary(ir::BinaryOp::mul, v, v);
  CHECK(translate(*square, bindings).unsupported == "a product of two variables");
  const auto by_zero = ir::binary(ir::BinaryOp::mod, v, ir::int_const(0));
  CHECK_FALSE(translate(*by_zero, bindings).term);

  ir::ExprPtr deep = v;
  for (int i = 0; i < 3000; ++i) deep = ir::binary(ir::BinaryOp::add, deep, v);
  CHECK(translate(*deep, bindings).unsupported == "an expression nested too deeply");
}
