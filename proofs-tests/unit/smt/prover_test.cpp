#include "smt/prover.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

#include "smt/smtlib.hpp"

using namespace exocheck::smt;

namespace {

using Values = std::map<std::string, std::int64_t>;

Values values(const Answer& answer) {
  Values out;
  for (const auto& [variable, value] : std::get<Model>(answer).values) out[variable.name] = value;
  return out;
}

bool proved(const Answer& answer) { return std::holds_alternative<Proved>(answer); }

// A loop variable with its range as an assumption.
Term loop(Prover& prover, Assumptions& gamma, const std::string& name, const Term& lo, const Term& hi) {
  const Term i = prover.declare(name, Sort::integer, VariableRole::iterator);
  gamma = gamma.with("loop." + name, conj(le(lo, i), lt(i, hi)), Origin::range, i.variable().id);
  return i;
}

Term size_parameter(Prover& prover, Assumptions& gamma, const std::string& name) {
  const Term n = prover.declare(name, Sort::integer, VariableRole::size);
  gamma = gamma.with("size." + name, lt(integer(0), n));
  return n;
}

Term in_range(const Term& index, const Term& extent) {
  return conj(le(integer(0), index), lt(index, extent));
}

}  // namespace

TEST_CASE("obligations of ordinary kernels need no solver") {
  Prover prover;
  Assumptions gamma;
  const Term n = size_parameter(prover, gamma, "n");
  Term index = integer(0);

  SECTION("exact tiles") {
    const Term blk = loop(prover, gamma, "blk", integer(0), floor_div(n, 128));
    index = scale(128, blk) + loop(prover, gamma, "t", integer(0), integer(128));
  }
  SECTION("guarded ragged tile") {
    const Term blk = loop(prover, gamma, "blk", integer(0), floor_div(n + integer(127), 128));
    const Term t = loop(prover, gamma, "t", integer(0), integer(32));
    index = scale(128, blk) + scale(4, t) + loop(prover, gamma, "j", integer(0), integer(4));
    gamma = gamma.with("guard.1", lt(index, n), Origin::guard);
  }
  SECTION("prefetch under a guard") {
    const Term k = loop(prover, gamma, "k", integer(0), floor_div(n, 4));
    gamma = gamma.with("guard.1", lt(k + integer(1), floor_div(n, 4)), Origin::guard);
    index = scale(4, k) + integer(4) + loop(prover, gamma, "i", integer(0), integer(4));
  }
  SECTION("guard that is stronger than needed") {
    const Term t = loop(prover, gamma, "t", integer(0), integer(32));
    const Term j = loop(prover, gamma, "j", integer(0), integer(4));
    gamma = gamma.with("guard.1", lt(t + j, n), Origin::guard);
    index = t;
  }
  CHECK(proved(prover.prove(gamma, in_range(index, n))));
  CHECK(prover.statistics().solver_calls == 0);
}

TEST_CASE("ring indices, halves and divisibility need no solver") {
  Prover prover;
  Assumptions gamma;
  const Term k = loop(prover, gamma, "k", integer(0), integer(1000));
  CHECK(proved(prover.prove(gamma, in_range(floor_mod(k + integer(1), 2), integer(2)))));
  CHECK(proved(prover.prove(gamma, in_range(floor_div(k, 4), integer(250)))));
  CHECK(proved(prover.prove(gamma, eq(floor_mod(scale(24, k) + integer(16), 8), integer(0)))));
  CHECK(proved(prover.prove(
      gamma, in_range(scale(16, floor_mod(k, 4)) + floor_div(floor_mod(k, 64), 4), integer(64)))));
  CHECK(prover.statistics().solver_calls == 0);
}

TEST_CASE("what the fast path cannot do goes to the solver") {
  Prover prover;
  Assumptions gamma;
  const Term n = size_parameter(prover, gamma, "n");
  gamma = gamma.with("pre.1", eq(floor_mod(n, 128), integer(0)));
  CHECK(proved(prover.prove(gamma, eq(floor_mod(n, 32), integer(0)))));
  CHECK(prover.last_used_solver());
  CHECK(prover.statistics().solver_calls == 1);
}

TEST_CASE("a counterexample is small, complete and in the user's names") {
  Prover prover;
  Assumptions gamma;
  const Term n = size_parameter(prover, gamma, "n");
  const Term m = size_parameter(prover, gamma, "m");
  const Term blk = loop(prover, gamma, "blk", integer(0), floor_div(n + integer(31), 32));
  const Term t = loop(prover, gamma, "t", integer(0), integer(32));
  CHECK(values(prover.prove(gamma, in_range(scale(32, blk) + t, n))) ==
        Values{{"n", 1}, {"blk", 0}, {"t", 1}});
  // A guard and a loop that may be empty belong to the counterexample; the constant loop over t does not.
  CHECK(values(prover.prove(gamma.with("guard.1", lt(m, n)), lt(n, integer(3)))) ==
        Values{{"n", 3}, {"m", 1}, {"blk", 0}});
}

TEST_CASE("models minimise from both sides and handle booleans") {
  Prover prover;
  Assumptions gamma;
  const Term x = prover.declare("x", Sort::integer, VariableRole::index);
  const Term b = prover.declare("b", Sort::boolean, VariableRole::boolean);
  gamma = gamma.with("pre.1", disj(b, lt(integer(70), x)));
  CHECK(values(prover.prove(gamma, boolean(false))) == Values{});
  CHECK(proved(prover.prove(gamma, disj(le(integer(-100), x), b))));
  CHECK(values(prover.prove(gamma, disj(lt(x, integer(-5)), lt(integer(5), x)))) ==
        Values{{"b", 1}, {"x", 0}});
  CHECK(values(prover.prove(gamma, le(integer(-100), x))) == Values{{"b", 1}, {"x", -101}});
}

TEST_CASE("contradictions are found, satisfiable preconditions are not") {
  Prover prover;
  Assumptions gamma;
  const Term n = size_parameter(prover, gamma, "n");
  CHECK_FALSE(proved(prover.contradictory(gamma)));
  CHECK_FALSE(proved(prover.contradictory(gamma.with("pre.1", eq(floor_mod(n, 128), integer(0))))));
  CHECK(prover.statistics().solver_calls == 0);
  CHECK_FALSE(proved(prover.contradictory(gamma.with("pre.1", eq(n, integer(77))))));
  const Term m = size_parameter(prover, gamma, "m");
  CHECK_FALSE(proved(
      prover.contradictory(gamma.with("pre.1", eq(n, m + integer(1))).with("pre.2", eq(m, integer(9))))));
  CHECK(prover.statistics().solver_calls == 0);
  // Equations that go round in a circle end, too.
  CHECK(proved(
      prover.contradictory(gamma.with("pre.1", eq(n, m + integer(1))).with("pre.2", eq(m, n + integer(1))))));
  CHECK_FALSE(proved(prover.contradictory(gamma.with("pre.1", lt(m + integer(4000), n)))));
  CHECK(prover.statistics().solver_calls == 2);
  CHECK(proved(prover.contradictory(gamma.with("pre.1", lt(scale(2, n), integer(2))))));
}

TEST_CASE("limits make the answer unknown, never an exception") {
  Assumptions gamma;
  Limits tiny;
  tiny.resource_units = 1;
  Prover prover(tiny);
  const Term n = size_parameter(prover, gamma, "n");
  gamma = gamma.with("pre.1", eq(floor_mod(n, 12), integer(0)));
  const Answer answer = prover.prove(gamma, eq(floor_mod(n, 6), integer(0)));
  REQUIRE(std::holds_alternative<Unknown>(answer));
  CHECK_FALSE(std::get<Unknown>(answer).reason.empty());

  Prover no_time({}, 0);
  Assumptions delta;
  const Term m = size_parameter(no_time, delta, "m");
  CHECK(std::holds_alternative<Unknown>(no_time.prove(delta, lt(m, integer(5)))));
  CHECK(proved(no_time.prove(delta, lt(integer(-1), m))));
}

TEST_CASE("counterexamples beyond 64 bits are unknown") {
  Prover prover;
  Assumptions gamma;
  const Term n = size_parameter(prover, gamma, "n");
  const Term big = scale(INT64_MAX, n) + scale(INT64_MAX, n);
  CHECK(std::holds_alternative<Unknown>(prover.prove(gamma, le(big, integer(INT64_MAX)))));
  CHECK(proved(prover.prove(gamma, lt(integer(0), big))));
}

TEST_CASE("the SMT-LIB text of a query is complete and readable") {
  Prover prover;
  Assumptions gamma;
  const Term n = size_parameter(prover, gamma, "n");
  const Term i = loop(prover, gamma, "i", integer(0), floor_div(n, 4));
  const Term inner = loop(prover, gamma, "i", integer(0), integer(4));
  const Term s = prover.declare("stride(a, 0)", Sort::integer, VariableRole::stride);
  const Query query{gamma, lt(scale(4, i) + inner, n + s)};
  CHECK(smtlib(query, {"1", "E-B04", "a.exo:3:4", "a inside n", "sat"}) ==
        "; exocheck-obligation/1\n"
        "; id: 1\n"
        "; rule: E-B04\n"
        "; source: a.exo:3:4\n"
        "; meaning: a inside n\n"
        "(set-logic QF_LIA)\n"
        "(set-info :status sat)\n"
        "(declare-const n Int)\n"
        "(declare-const i Int)\n"
        "(declare-const q.1 Int)\n"
        "(declare-const i!1 Int)\n"
        "(declare-const |stride(a, 0)| Int)\n"
        "(assert (! (and (<= (* 4 q.1) n) (< n (+ (* 4 q.1) 4))) :named def.1))\n"
        "(assert (! (< 0 n) :named size.n))\n"
        "(assert (! (and (<= 0 i) (< i q.1)) :named loop.i))\n"
        "(assert (! (and (<= 0 i!1) (< i!1 4)) :named loop.i!2))\n"
        "(assert (! (not (< (+ (* 4 i) i!1) (+ n |stride(a, 0)|))) :named goal))\n"
        "(check-sat)\n");
}

// ------------------------------------------------------------------------------------------------ random
// comparison

namespace {

class RandomQueries {
 public:
  explicit RandomQueries(unsigned seed) : random_(seed) {}

  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }

  Term integer_term(const std::vector<Term>& vars, int depth) {
    switch (depth == 0 ? pick(0, 1) : pick(0, 6)) {
      case 0:
        return integer(pick(-4, 9));
      case 1:
        return vars[static_cast<std::size_t>(pick(0, int(vars.size()) - 1))];
      case 2:
        return integer_term(vars, depth - 1) + integer_term(vars, depth - 1);
      case 3:
        return integer_term(vars, depth - 1) - integer_term(vars, depth - 1);
      case 4:
        return scale(pick(-3, 5), integer_term(vars, depth - 1));
      case 5:
        return floor_div(integer_term(vars, depth - 1), pick(1, 5));
      default:
        return floor_mod(integer_term(vars, depth - 1), pick(1, 5));
    }
  }

  Term boolean_term(const std::vector<Term>& vars, int depth) {
    switch (depth == 0 ? pick(0, 2) : pick(0, 5)) {
      case 0:
        return le(integer_term(vars, 2), integer_term(vars, 2));
      case 1:
        return lt(integer_term(vars, 2), integer_term(vars, 2));
      case 2:
        return eq(integer_term(vars, 2), integer_term(vars, 2));
      case 3:
        return conj(boolean_term(vars, depth - 1), boolean_term(vars, depth - 1));
      case 4:
        return disj(boolean_term(vars, depth - 1), boolean_term(vars, depth - 1));
      default:
        return negate(boolean_term(vars, depth - 1));
    }
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("the fast path never proves what the solver refutes") {
  RandomQueries random(20260101);
  int quick_proofs = 0;
  for (int round = 0; round < 1500; ++round) {
    Prover prover;
    QuickProver quick;
    Assumptions gamma;
    std::vector<Term> vars{size_parameter(prover, gamma, "n")};
    for (int k = random.pick(1, 3); k > 0; --k) {
      const Term hi = random.pick(0, 1) == 0 ? integer(random.pick(1, 9)) : random.integer_term(vars, 2);
      vars.push_back(loop(prover, gamma, "i" + std::to_string(k), integer(random.pick(-1, 1)), hi));
    }
    if (random.pick(0, 1) == 0) gamma = gamma.with("guard", random.boolean_term(vars, 2));
    const Term goal = random.boolean_term(vars, 1);
    if (!quick.proves(gamma, goal)) continue;
    ++quick_proofs;
    const Answer answer = Solver().solve({gamma, goal});
    INFO(smtlib({gamma, goal}, {}));
    REQUIRE(proved(answer));
  }
  CHECK(quick_proofs > 150);
}
