// Calls of procedures (language.md 6.4) and the call graph.
#include "elaborate_checks.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::frontend::test;
namespace ir = exocheck::semantics::ir;

namespace {

// A callee on lines 1-2, and a caller whose only statement stands on line 4.
std::string calling(const std::string& parameters, const std::string& call) {
  return "def f(" + parameters + "):\n    pass\n" + host(call);
}

}  // namespace

TEST_CASE("arguments of procedures") {
  check_rows({
      {calling("a: size, c: index, d: bool, e: stride", "f(n, i + 1, n > 3, s)"), ""},
      {calling("a: size, c: index, d: bool, e: stride", "f(4, 4, b, 1)"), ""},
      {calling("a: size", "f(n, n)"), "E-C02 4"},
      {calling("a: size", "f()"), "E-C02 4"},
      {calling("a: size", "f(*n)"), "E-C02 4"},
      {calling("a: size", "f(q)"), "E-C03 4"},
      {calling("a: index", "f(b)"), "E-C03 4"},
      {calling("a: bool", "f(n)"), "E-C04 4"},
      {calling("a: stride", "f(b)"), "E-C05 4"},
      {calling("a: f32", "f(n)"), "E-C06 4"},
      {calling("a: f32[4]", "f(3)"), "E-C06 4"},
      {calling("a: f32[4]", "f(y)"), "E-C07 4"},
      {calling("a: [f32][4]", "f(y[0:4, :])"), "E-C07 4"},
      {calling("a: [f32][4]", "f(y[0, :])"), ""},
      {calling("a: [f32][4]", "f(y[0])"), ""},
      {calling("a: f32", "f(x)"), "E-C07 4"},
      {calling("a: f32", "f(q)"), ""},
      {calling("a: f32", "f(x[0])"), "E-C08 4"},
      {calling("a: f32", "f(q + 1.0)"), "E-C08 4"},
      {calling("a: f32", "f(2.0)"), "E-C08 4"},
      {calling("a: [f32][1]", "f(x[0:1])"), ""},
      {calling("a: f32[n0], n0: size", "f(x, n)"), "E-N01 1"},
      {calling("n0: size, a: f32[n0]", "f(n, x)"), ""},
      {calling("n0: size, a: f32[n0]", "f(n, w)"), "E-C09 4"},
      {calling("n0: size, a: f32[n0]", "f(4, x[0:4])"), "E-C09 4"},
      {calling("n0: size, a: [f32][n0]", "f(n, x)"), ""},
      {calling("n0: size, a: [f32][n0]", "f(n, w)"), ""},
      {calling("a: [f32][4]", "f(h[0:4])"), "E-F03 4"},
      {calling("a: f32", "f(k)"), "E-F03 4"},
      {calling("a: size", "f(a=n)"), "E-P72 4"},
      {calling("a: size", "f(nobody)"), "E-N01 4"},
      {calling("a: size", "g(n)"), "E-N02 4"},
      {calling("a: size", "x(n)"), "E-N02 4"},
      {calling("a: size", "f(n) >> nobody"), "E-N01 4"},
      {calling("a: size", "f(n) >> z >> z"), "E-P43 4"},
  });
}

TEST_CASE("a numeric config field may stand for a scalar") {
  check_rows(
      {{"@config\nclass Cfg:\n    scale: f32\ndef f(a: f32):\n    pass\n" + host("f(Cfg.scale)"), ""}});
}

TEST_CASE("the call graph has no cycles") {
  check_rows({
      {"def a():\n    b()\ndef b():\n    c()\ndef c():\n    pass\n", ""},
      {"def a():\n    a()\n", "E-C01 2"},
      {"def a():\n    b()\ndef b():\n    a()\n", "E-C01 2, E-C01 4"},
      // Only the members of the cycle are at fault.
      {"def top():\n    a()\ndef a():\n    b()\n    leaf()\ndef b():\n    a()\ndef leaf():\n    pass\n",
       "E-C01 4, E-C01 7"},
  });
}

TEST_CASE("procedures beside a faulty one are loaded, its callers are not") {
  const auto loaded = load_text(
      "def good():\n    pass\n"
      "def caller():\n    bad()\n"
      "def bad():\n    nobody()\n"
      "def other():\n    good()\n");
  CHECK(joined(findings("def bad():\n    nobody()\n")) == "E-N02 2");
  CHECK(loaded.rejected == std::vector<std::string>{"caller", "bad"});
  REQUIRE(loaded.program.procedures.size() == 2);
  CHECK(loaded.program.procedures[0].name == "good");
  CHECK(loaded.program.procedures[1].name == "other");
  CHECK(std::get<ir::Call>(loaded.program.procedures[1].body.at(0).node).procedure == 0u);
}

TEST_CASE("calls of a definition that does not parse are not reported again") {
  const auto loaded = load_text("def broken(:\n    pass\ndef caller():\n    broken()\n");
  CHECK(loaded.diagnostics.size() == 1);
  CHECK(loaded.rejected == std::vector<std::string>{"caller", "broken"});
}

TEST_CASE("one name, two definitions") {
  check_rows({
      {"def a():\n    pass\ndef b():\n    pass\n", ""},
      {"def a():\n    pass\ndef a():\n    pass\n", ""},  // the same contents
      {"def a():\n    pass\ndef a(n: size):\n    pass\n", "E-N05 3"},
      {"@config\nclass C:\n    n: size\n@config\nclass C:\n    n: size\n", "E-N05 5"},
  });
}

TEST_CASE("all errors of a procedure are collected") {
  check_rows({{host("x[b] = 1.0\nn = 3\nq = nobody\nfor t in seq(0, q):\n    x[t] = i\nif n:\n    m = 1.0"),
               "E-T23 2, E-T41 3, E-N01 4, E-T46 5, E-T44 6, E-T47 7, E-T41 8"}});
}

TEST_CASE("long call chains and cycles take linear time") {
  std::string chain;
  std::string cycle;
  constexpr int length = 2000;
  for (int i = 0; i < length; ++i) {
    chain += "def f" + std::to_string(i) + "():\n    f" + std::to_string(i + 1) + "()\n";
    cycle += "def f" + std::to_string(i) + "():\n    f" + std::to_string((i + 1) % length) + "()\n";
  }
  CHECK(load_text(chain + "def f2000():\n    pass\n").program.procedures.size() == length + 1);
  const auto loaded = load_text(cycle);
  CHECK(loaded.rejected.size() == length);
  CHECK(loaded.diagnostics.size() == length);
}
