// The obligations O1-O4 and O9-O11: each code with a program that breaks it and one that nearly does.
#include "bounds_checks.hpp"

using namespace exocheck::analysis;
using namespace exocheck::analysis::test;

TEST_CASE("vector add needs no assert and no solver") {
  for (const std::string precondition : {"    assert n % 128 == 0\n", "    pass\n"}) {
    const auto result = bounds_of(
        "def vec_add(n: size, a: f32[n] @ CudaGmemLinear, b: f32[n] @ CudaGmemLinear, c: f32[n] @ "
        "CudaGmemLinear):\n" +
        (precondition[4] == 'a' ? precondition : "") +
        "    with CudaDeviceFunction(blockDim=128):\n"
        "        for blk in cuda_tasks(0, n / 128):\n"
        "            for t in cuda_threads(0, 128, unit=cuda_thread):\n"
        "                c[128 * blk + t] = a[128 * blk + t] + b[128 * blk + t]\n");
    CHECK(result.findings == Findings{});
    CHECK(result.solver_calls() == 0);
    CHECK(result.obligations.size() >= 8);
  }
}

TEST_CASE("the counterexample of language.md 13.6(d)") {
  const std::string head =
      "def bad_bounds(n: size, a: f32[n] @ CudaGmemLinear):\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for blk in cuda_tasks(0, (n + 31) / 32):\n"
      "            for t in cuda_threads(0, 32, unit=cuda_thread):\n";
  const auto result = bounds_of(head + "                a[32 * blk + t] = 0.0\n");
  CHECK(result.findings == Findings{"E-B04@5"});
  CHECK(result.messages ==
        "`a` is written out of bounds: in dimension 0 the index 32 * blk + t = 1 is not in 0 <= index < n = "
        "1 when n = 1, "
        "blk = 0, t = 1\n");
  check_bounds_of(head + "                if 32 * blk + t < n:\n                    a[32 * blk + t] = 0.0\n",
                  {});
}

TEST_CASE("O1: contradictory preconditions are reported, and nothing after them") {
  check_bounds_of("def p(n: size, a: f32[n]):\n    assert n % 2 == 0\n    assert n < 2\n    a[n] = 0.0\n",
                  {"E-B01@3"});
  check_bounds_of("def p(n: size, a: f32[n]):\n    assert n % 2 == 0\n    assert n < 3\n    a[n - 1] = 0.0\n",
                  {});
  check_bounds_of("def p(n: size, a: f32[n]):\n    assert stride(a, 0) == 2\n    a[n] = 0.0\n", {"E-B01@2"});
}

TEST_CASE("O2: loop ranges") {
  check_bounds_of(host("n: size", "for i in seq(0, n - 2):\n    pass"), {"E-B02@2"});
  check_bounds_of(host("n: size", "for i in seq(0, n - 1):\n    pass"), {});
  check_bounds_of(host("n: size", "for i in seq(n, 8):\n    pass"), {"E-B02@2"});
  check_bounds_of(host("n: size", "if n <= 8:\n    for i in seq(n, 8):\n        pass"), {});
  check_bounds_of(
      host("k: index", "for i in seq(0, k % 4):\n    for j in seq(-1, k / 4 - k / 4):\n        pass"), {});
  CHECK(bounds_of(host("n: size", "for i in seq(2, n):\n    pass")).messages ==
        "the range of loop `i` may be negative: it goes from 2 to n = 1 when n = 1\n");
}

TEST_CASE("O3: extents of allocations, barriers and parameters") {
  check_bounds_of(host("n: size", "x: f32[4, n - 1]\nx[0, 0] = 1.0"), {"E-B03@2", "E-B04@3"});
  check_bounds_of(host("n: size", "x: f32[4, n + 1]\nx[0, 1] = 1.0"), {});
  check_bounds_of("def p(n: size, a: f32[n - 1]):\n    pass\n", {"E-B03@1"});
  check_bounds_of("def p(n: size, a: f32[n - 1]):\n    assert n > 1\n    pass\n", {});
  // Extents of parameters may be any affine expression (decisions.md E4).
  check_bounds_of("def p(n: size, a: f32[n + 1, (n + 3) / 4]):\n    a[n, 0] = 0.0\n", {});
  check_bounds_of(
      task("blockDim=32", "n: size", "z: barrier[n / 2] @ CudaMbarrier\nArrive(cuda_in_order, 1) >> z[0]"),
      {"E-B03@4", "E-B10@5"});
}

TEST_CASE("O4: reads, writes and reductions, one finding per variable and dimension") {
  check_bounds_of(
      host("n: size, a: f32[n], b: f32[n, n]", "for i in seq(0, n):\n    a[i + 1] += b[i, i - 1] * a[i]"),
      {"E-B04@3", "E-B04@3"});
  check_bounds_of(
      host("n: size, a: f32[n], b: f32[n, n]", "for i in seq(1, n):\n    a[i] += b[i, i - 1] * a[i - 1]"),
      {});
  check_bounds_of(host("a: f32[4, 4]", "a[4, -1] = a[4, 4]"), {"E-B04@2", "E-B04@2"});
  check_bounds_of(host("a: f32[4], s: f32", "s = select(a[0], a[4], s, 2.0)"), {"E-B04@2"});
  CHECK(bounds_of(host("n: size, a: f32[n]", "a[n] += 1.0")).messages ==
        "`a` is reduced out of bounds: in dimension 0 the index n = 1 is not in 0 <= index < n = 1 when n = "
        "1\n");
  CHECK(bounds_of(host("a: f32[4]", "a[4] = 1.0")).messages ==
        "`a` is written out of bounds: in dimension 0 the index 4 is not in 0 <= index < 4\n");
}

TEST_CASE("branches: the condition, its negation, and every connective") {
  const auto guarded = [](const std::string& condition) {
    return host("n: size, m: size, b: bool, a: f32[n]",
                "for i in seq(0, m):\n    if " + condition + ":\n        a[i] = 0.0");
  };
  check_bounds_of(guarded("i < n"), {});
  check_bounds_of(guarded("n > i"), {});
  check_bounds_of(guarded("not n <= i"), {});
  check_bounds_of(guarded("not (n <= i or b)"), {});
  check_bounds_of(guarded("b and i < n"), {});
  check_bounds_of(guarded("b or i < n"), {"E-B04@4"});
  check_bounds_of(guarded("i <= n"), {"E-B04@4"});
  check_bounds_of(guarded("i != n"), {"E-B04@4"});
  check_bounds_of(host("n: size, m: size, a: f32[n]",
                       "for i in seq(0, m):\n    if n <= i:\n        pass\n    else:\n        a[i] = 0.0"),
                  {});
  // A boolean decides which branch protects the access.
  check_bounds_of(host("b: bool, a: f32[4]",
                       "for i in seq(0, 8):\n    if b == (i < 4):\n        if b:\n            a[i] = 0.0"),
                  {});
}

TEST_CASE("quotients and remainders of negative numbers floor") {
  check_bounds_of(host("a: f32[4]", "for i in seq(-8, 8):\n    a[i % 4] = 0.0\n    a[i / 4 + 2] = 0.0"), {});
  check_bounds_of(host("a: f32[4]", "for i in seq(-8, 8):\n    a[i / 4 + 1] = 0.0"), {"E-B04@3"});
  CHECK(bounds_of(host("k: index, a: f32[4]", "if k < 0:\n    a[k / 8 + 1] = 0.0")).messages ==
        "`a` is written out of bounds: in dimension 0 the index k / 8 + 1 = -1 is not in 0 <= index < 4 when "
        "k = -9\n");
}

TEST_CASE("O9: window statements, intervals and positions") {
  const std::string parameters = "n: size, a: f32[n, 8]";
  check_bounds_of(host(parameters, "for i in seq(0, n):\n    w = a[i, 0:8]\n    w[7] = 0.0"), {});
  check_bounds_of(host(parameters, "for i in seq(0, n):\n    w = a[i + 1, 0:8]"), {"E-B08@3"});
  check_bounds_of(host(parameters, "w = a[0:n, 1:9]"), {"E-B08@2"});
  check_bounds_of(host(parameters, "w = a[:, 2:6]\nv = w[0, 1:5]"), {"E-B08@3"});
  CHECK(bounds_of(host(parameters, "w = a[0:8, 0:8]")).messages ==
        "window `w` leaves `a`: in dimension 0 it goes from 0 to 8, but the extent is n = 1 when n = 1\n");
}

TEST_CASE("O10: an access inside the base may still leave its window") {
  const std::string parameters = "a: f32[16, 8]";
  check_bounds_of(host(parameters, "w = a[4:8, 2]\nw[4] = 0.0"), {"E-B09@3"});
  check_bounds_of(host(parameters, "w = a[4:8, 2]\nw[3] = 0.0"), {});
  check_bounds_of(host(parameters, "w = a[4:8, 2]\nw[-1] = 0.0"), {"E-B09@3"});
  check_bounds_of(host(parameters, "w = a[4:8, 2]\nw[12] = 0.0"), {"E-B04@3"});
  check_bounds_of(host(parameters, "w = a[4:12, :]\nv = w[4:8, 1]\nv[3] = w[7, 0]"), {});
  check_bounds_of(host(parameters, "w = a[4:12, :]\nv = w[4:8, 1]\nv[4] = w[8, 0]"), {"E-B09@4", "E-B09@4"});
}

TEST_CASE("O11: barrier subscripts") {
  const auto program = [](const std::string& subscript) {
    return task("blockDim=64", "n: size",
                "z: barrier[2, 4] @ CudaMbarrier\nfor k in seq(0, n):\n    Arrive(cuda_in_order, 1) >> z[" +
                    subscript + "]");
  };
  check_bounds_of(program("k % 2, k % 4"), {});
  check_bounds_of(program("k % 2, k % 4 + 1"), {"E-B10@6"});
  check_bounds_of(program("k, 0"), {"E-B10@6"});
  check_bounds_of(program(":, 0"), {});
  check_bounds_of(program("0:2, 0"), {});
  check_bounds_of(program("0:1, 0"), {"E-B10@6"});
  check_bounds_of(task("blockDim=64", "", "z: barrier[2] @ CudaMbarrier\nAwait(z[2], cuda_in_order, ~0)"),
                  {"E-B10@5"});
}

TEST_CASE("paper-exact turns O9-O11 into warnings") {
  const auto loaded = load(host("a: f32[16]", "w = a[4:17]\nw[4] = 0.0"));
  const auto result = analyse(loaded.program.procedures[0], loaded.program, Mode::paper_exact);
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].severity == exocheck::semantics::Severity::warning);
  CHECK(described(result.diagnostics[0]) == "E-B08@2");
  check_bounds_of(host("a: f32[16]", "w = a[4:17]\nw[12] = 0.0"), {"E-B04@3", "E-B08@2"}, Mode::paper_exact);
}

TEST_CASE("special windows carry no obligation (decisions.md E6)") {
  const std::string body = "w = a[:, :] @ Sm90_tensorMap(0, 64, 32)\nv = w[8:72, 0:32]";
  check_bounds_of(host("a: f32[40, 32] @ CudaGmemLinear", body), {});
  check_bounds_of(host("a: f32[40, 32] @ CudaGmemLinear", "w = a[:, :]\nv = w[8:72, 0:32]"), {"E-B08@3"});
}

TEST_CASE("config fields keep their value until something may write them") {
  const std::string config = "@config\nclass Cfg:\n    n: index\n\n";
  const auto program = [&](const std::string& body) { return config + host("a: f32[8]", body); };
  check_bounds_of(program("if 0 <= Cfg.n and Cfg.n < 8:\n    a[Cfg.n] = 0.0"), {});
  check_bounds_of(program("if 0 <= Cfg.n and Cfg.n < 8:\n    Cfg.n = 9\n    a[Cfg.n] = 0.0"), {"E-B04@8"});
  check_bounds_of(
      program(
          "if 0 <= Cfg.n and Cfg.n < 8:\n    for i in seq(0, 2):\n        a[Cfg.n] = 0.0\n        Cfg.n = 9"),
      {"E-B04@8"});
  check_bounds_of(program("a[Cfg.n] = 0.0"), {"E-B04@6"});
}

TEST_CASE("shadowed names are told apart in a counterexample") {
  CHECK(bounds_of(host("a: f32[4]", "for i in seq(0, 4):\n    for i in seq(2, i + 3):\n        a[i] = 0.0"))
            .messages ==
        "`a` is written out of bounds: in dimension 0 the index i = 4 is not in 0 <= index < 4 when i = 2, i "
        "(inner) = 4\n");
}

TEST_CASE("obligations are kept with their queries") {
  const auto result = bounds_of(host("n: size, a: f32[n]", "for i in seq(0, n):\n    a[i] = a[i + 1]"));
  std::size_t refuted = 0;
  for (const Obligation& o : result.obligations) {
    CHECK((o.code == "E-B01" || o.query.goal.has_value()));
    if (o.status != Obligation::Status::refuted) continue;
    ++refuted;
    CHECK(o.solver);
    REQUIRE(o.counterexample.size() == 2);
    CHECK(o.counterexample[0].first.name == "n");
    CHECK(o.counterexample[0].second == 1);
  }
  CHECK(refuted == 1);
}
