#include "smt/formula.hpp"

#include <catch2/catch.hpp>

using namespace exocheck::smt;

namespace {

struct Setting {
  Formulas f;
  Linear k = f.declare("K", VariableRole::size), j = f.declare("J", VariableRole::size);
  Linear i = f.declare("i", VariableRole::iterator);

  static Linear number(std::int64_t n) { return {{}, n}; }
  FormulaId at_least(const Linear& a, std::int64_t n) { return f.negate(f.less(a, number(n))); }
};

}  // namespace

TEST_CASE("equal conditions are one formula") {
  Setting s;
  CHECK(s.f.less(s.i, s.k) == s.f.negate(s.f.negate(s.f.less(s.i, s.k))));
  // 2 i < 2 K, and i + 1 <= K
  CHECK(s.f.less(combine(2, s.i, 0, {}), combine(2, s.k, 0, {})) == s.f.less(s.i, s.k));
  CHECK(s.f.conj(s.f.less(s.i, s.k), s.f.negate(s.f.less(s.i, s.k))) == FormulaId::no);
  CHECK(s.f.disj(s.f.less(s.i, s.k), s.f.negate(s.f.less(s.i, s.k))) == FormulaId::yes);
  CHECK(s.f.less(s.number(3), s.number(4)) == FormulaId::yes);
}

TEST_CASE("what a path says decides a condition") {
  Setting s;
  const FormulaId path = s.f.conj(s.at_least(s.k, 4), s.f.less(s.i, s.k));
  CHECK(s.f.decide(path, s.at_least(s.k, 3)) == true);
  CHECK(s.f.decide(path, s.f.less(s.k, s.number(2))) == false);
  CHECK(s.f.decide(path, s.f.less(s.i, s.j)) == std::nullopt);
  // floor(K / 2) >= 2 follows from K >= 4.
  CHECK(s.f.decide(path, s.at_least(s.f.quotient(s.k, 2), 2)) == true);
}

TEST_CASE("a condition is simpler where some of its parts are known") {
  Setting s;
  const FormulaId path = s.at_least(s.k, 1);
  const FormulaId never = s.f.less(s.k, s.number(1)), open = s.f.less(s.i, s.k), always = s.at_least(s.k, 0);
  CHECK(s.f.under(path, s.f.disj(never, open)) == open);
  CHECK(s.f.under(path, s.f.conj(always, open)) == open);
  CHECK(s.f.under(path, s.f.disj(always, open)) == FormulaId::yes);
  CHECK(s.f.under(path, s.f.conj(never, open)) == FormulaId::no);
  const FormulaId other = s.f.less(s.i, s.j);
  CHECK(s.f.under(path, s.f.conj(other, s.f.disj(never, open))) == s.f.conj(other, open));
}

TEST_CASE("joined paths keep what they have in common") {
  Setting s;
  const FormulaId common = s.at_least(s.k, 1), a = s.f.less(s.i, s.k), b = s.f.less(s.i, s.j);
  CHECK(s.f.join(s.f.conj(common, a), s.f.conj(common, s.f.negate(a))) == common);
  CHECK(s.f.join(s.f.conj(common, a), s.f.conj(common, b)) == s.f.conj(common, s.f.disj(a, b)));
  CHECK(s.f.join(s.f.conj(common, a), common) == common);
  CHECK(s.f.size(s.f.join(s.f.conj(common, a), s.f.conj(common, b))) == 3);
  CHECK(s.f.without(s.f.conj(common, a), a) == common);
}

TEST_CASE("models are small, and there is none of a contradiction") {
  Setting s;
  const FormulaId f = s.f.conj(s.at_least(s.k, 1), s.f.less(combine(7, s.k, 0, {}), s.j));
  const Answer answer = s.f.solve(f);
  REQUIRE(std::holds_alternative<Model>(answer));
  const auto& values = std::get<Model>(answer).values;
  REQUIRE(values.size() == 2);
  CHECK(values[0].second == 1);
  CHECK(values[1].second == 8);
  // K = 2 q and K = 2 r + 1
  const Linear q = s.f.declare("q", VariableRole::iterator), r = s.f.declare("r", VariableRole::iterator);
  Linear odd = combine(1, s.k, -2, r);
  odd.constant -= 1;
  const FormulaId both = s.f.conj(s.f.zero(combine(1, s.k, -2, q)), s.f.zero(odd));
  CHECK(s.f.satisfiable(both) == Formulas::Satisfiable::no);
  CHECK(std::holds_alternative<Proved>(s.f.solve(both)));
}

TEST_CASE("a satisfiable condition is often seen without the solver") {
  Setting s;
  const Linear other = s.f.declare("i2", VariableRole::iterator);
  // Two different iterations.
  const FormulaId f = s.f.conj(
      s.f.less(s.i, s.k), s.f.conj(s.f.less(other, s.k), s.f.negate(s.f.zero(combine(1, s.i, -1, other)))));
  CHECK(s.f.satisfiable(f) == Formulas::Satisfiable::yes);
  CHECK(s.f.solver_calls() == 0);
}
