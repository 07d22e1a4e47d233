// Kinds and types of expressions (language.md 4.3-4.5, 5; decisions.md D4).
#include "elaborate_checks.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::frontend::test;
namespace ir = exocheck::semantics::ir;

TEST_CASE("control arithmetic") {
  check_rows({
      {host("x[2 * i + n / 4 - i % 3 + 1] = 0.0"), ""},
      {host("x[b + 1] = 0.0"), "E-T10 2"},
      {host("x[-b] = 0.0"), "E-T10 2"},
      {host("x[s + 1] = 0.0"), "E-T11 2"},
      {host("x[n + x] = 0.0"), "E-T12 2"},
      {host("x[-x] = 0.0"), "E-T12 2"},
      {host("x[n * m] = 0.0"), "E-T13 2"},
      {host("x[(n + 1) * m] = 0.0"), "E-T13 2"},
      {host("x[(2 + 1) * m] = 0.0"), ""},
      {host("x[m * -3] = 0.0"), ""},
      {host("x[n / m] = 0.0"), "E-T14 2"},
      {host("x[n % m] = 0.0"), "E-T14 2"},
      {host("x[n / (2 + 2)] = 0.0"), ""},
      {host("x[n / 0] = 0.0"), "E-T15 2"},
      {host("x[n % -4] = 0.0"), "E-T15 2"},
      {host("x[n / (2 - 2)] = 0.0"), "E-T15 2"},
      {host("x[9223372036854775807 + 1] = 0.0"), "L-03 2"},
      {host("x[9223372036854775808] = 0.0"), "L-03 2"},
      {host("x[i - 9223372036854775807] = 0.0"), ""},
  });
}

TEST_CASE("comparisons and bools") {
  check_rows({
      {host("if n < m and not b or i != 3:\n    pass"), ""},
      {host("if b == b:\n    pass"), ""},
      {host("if s == 1:\n    pass"), ""},
      {host("if s == stride(y, 0):\n    pass"), ""},
      {host("if s < 1:\n    pass"), "E-T16 2"},
      {host("if b < b:\n    pass"), "E-T16 2"},
      {host("if b == n:\n    pass"), "E-T16 2"},
      {host("if n and b:\n    pass"), "E-T17 2"},
      {host("if not n:\n    pass"), "E-T17 2"},
      {host("if q < 0.5:\n    pass"), "E-T22 2"},
      {host("if x == x:\n    pass"), "E-T12 2"},
      {host("if 0 <= i < n:\n    pass"), ""},
      {host("if 0 <= i < q:\n    pass"), "E-T22 2"},
      {host("if b == b == b:\n    pass"), "W-P03 2"},
      {host("if (b == b) == b:\n    pass"), ""},
      {host("if n is m:\n    pass"), "E-P54 2"},
  });
}

TEST_CASE("operators of Python that the language lacks") {
  check_rows({
      {host("x[n // 4] = 0.0"), "E-P54 2"},
      {host("x[n ** 2] = 0.0"), "E-P54 2"},
      {host("x[n << 2] = 0.0"), "E-P54 2"},
      {host("x[n | m] = 0.0"), "E-P54 2"},
      {host("x[+n] = 0.0"), "E-P53 2"},
      {host("x[~n] = 0.0"), "E-P53 2"},
      {host("x[n if b else m] = 0.0"), "E-P54 2"},
      {host("x[n >> m] = 0.0"), "E-P49 2"},
  });
}

TEST_CASE("strides") {
  check_rows({
      {host("assert stride(x, 0) == 1 and stride(y, 1) == 1"), ""},
      {host("assert stride(w, 0) == 1"), ""},
      {host("assert stride(x) == 1"), "E-P74 2"},
      {host("assert stride(x, n) == 1"), "E-P74 2"},
      {host("assert stride(x[0:2], 0) == 1"), "E-P74 2"},
      {host("assert stride(q, 0) == 1"), "E-T18 2"},
      {host("assert stride(n, 0) == 1"), "E-T18 2"},
      {host("assert stride(x, 1) == 1"), "E-T19 2"},
      {host("assert stride(nobody, 0) == 1"), "E-N01 2"},
  });
}

TEST_CASE("data expressions") {
  check_rows({
      {host("q = -x[0] * 2 + y[i, 1] / 3.5 - q"), ""},
      {host("q = x[0] % 2"), "E-T20 2"},
      {host("q = x[0] + n"), "E-T21 2"},
      {host("q = b * x[0]"), "E-T21 2"},
      {host("q = x[0] * (n + 1)"), "E-T21 2"},
      {host("q = x[0] * (2 + 1)"), ""},
      {host("q = x + 1.0"), "E-T12 2"},
      {host("q = x[0] + y[0]"), "E-T12 2"},
      {host("q = x[0, 1]"), "E-T24 2"},
      {host("q = y[0, 1, 2]"), "E-T24 2"},
      {host("q = k[0]"), "E-T25 2"},
      {host("q = n[0]"), "E-T25 2"},
      {host("q = x[0][1]"), "E-T25 2"},
      {host("q = y[q, 1]"), "E-T23 2"},
      {host("q = y[b, 1]"), "E-T23 2"},
      {host("q = inf"), ""},
      {host("q = nobody"), "E-N01 2"},
      {host("q = nobody[1] + nobody[2]"), "E-N01 2, E-N01 2"},
  });
}

TEST_CASE("externs") {
  check_rows({
      {host("q = select(x[0], 1, q, -2.0)"), ""},
      {host("q = fmaxf(expf(q), 0)"), ""},
      {host("q = expf(n)"), "E-T30 2"},
      {host("q = expf(x)"), "E-T30 2"},
      {host("q = expf(q, q)"), "E-T31 2"},
      {host("q = select(q, q, q)"), "E-T31 2"},
      {host("q = expf(x=q)"), "E-P75 2"},
      {host("q = tanh(q)"), "E-N03 2"},
      {host("q = p(q)"), "E-N02 2"},
      {host("q = (q)(q)"), "E-N02 2"},
  });
}

TEST_CASE("precisions") {
  check_rows({
      {host("q = x[0] + h[0]"), "E-F01 2"},
      {host("q = h[0] + h[1]"), ""},
      {host("q = 0.5 + h[1] * 2"), ""},
      {host("q = fmaxf(x[0], h[0])"), "E-F02 2"},
      {host("q = fmaxf(1.0, h[0])"), ""},
      {host("q = (x[0] + h[0]) * h[0]"), "E-F01 2"},
      {"def p(x: R[4], y: f32[4]):\n    x[0] = x[1] + y[1]\n", ""},
  });
}

// The value of the only assignment of the procedure.
static ir::ExprPtr assigned(const exocheck::frontend::LoadResult& loaded) {
  ir::ExprPtr out;
  ir::for_each_stmt(loaded.program.procedures.at(0).body, [&](const ir::Stmt& s) {
    if (const auto* a = std::get_if<ir::Assign>(&s.node)) out = a->value;
  });
  return out;
}

TEST_CASE("literals in data positions are data of the precision they meet") {
  using exocheck::semantics::Precision;
  const auto lone = load_text(host("h[0] = 3"));
  CHECK(std::get<ir::RealConst>(assigned(lone)->node).value == 3.0);
  CHECK(assigned(lone)->type.precision == Precision::f16);

  const auto quotient = load_text(host("q = 1 / 2"));
  CHECK(std::get<ir::Binary>(assigned(quotient)->node).op == ir::BinaryOp::div);
  CHECK(assigned(quotient)->type.kind == ir::TypeKind::data);

  const auto met = load_text(host("q = 2 * h[0]"));  // the assignment converts, the literal is f16
  const auto& product = std::get<ir::Binary>(assigned(met)->node);
  CHECK(product.left->type.precision == Precision::f16);
  CHECK(std::holds_alternative<ir::RealConst>(product.left->node));
}

TEST_CASE("constants are folded in control positions") {
  const auto loaded = load_text(host("x[(200 + 56) / 3 - 1 + i] = 0.0"));
  ir::for_each_stmt(loaded.program.procedures.at(0).body, [&](const ir::Stmt& s) {
    const auto& sum = std::get<ir::Binary>(std::get<ir::Assign>(s.node).index.at(0)->node);
    CHECK(std::get<ir::IntConst>(sum.left->node).value == 84);
  });
}

TEST_CASE("a chain of comparisons is the conjunction of its pairs") {
  const auto loaded = load_text(host("if 0 <= i < n:\n    pass"));
  const auto& procedure = loaded.program.procedures.at(0);
  const auto& condition = std::get<ir::If>(procedure.body.at(0).node).condition;
  const auto& both = std::get<ir::Binary>(condition->node);
  CHECK(both.op == ir::BinaryOp::logical_and);
  const auto& left = std::get<ir::Binary>(both.left->node);
  const auto& right = std::get<ir::Binary>(both.right->node);
  CHECK(left.op == ir::BinaryOp::le);
  CHECK(right.op == ir::BinaryOp::lt);
  CHECK(ir::same(*left.right, *right.left));
  CHECK(left.right->id != right.left->id);
}
