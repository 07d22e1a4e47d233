#include <catch2/catch.hpp>
#include <memory>

#include "frontend/frontend.hpp"
#include "frontend/printer.hpp"

using namespace exocheck;
using namespace exocheck::frontend;

namespace {

semantics::ir::Program program(const std::string& text) {
  LoadResult r = load(std::make_shared<const semantics::SourceFile>("test.exo", text));
  for (const auto& d : r.diagnostics) INFO(d.message);
  REQUIRE_FALSE(semantics::has_errors(r.diagnostics));
  return r.program;
}

// The print; checks that it reads back as an equivalent program and is stable.
std::string printed(const std::string& text) {
  const auto first = program(text);
  const std::string out = print(first);
  const auto second = program(out);
  CHECK(equivalent(first, second));
  CHECK(print(second) == out);
  return out;
}

// Prints the statements of a host procedure without the procedure around them.
std::string host(const std::string& statements) {
  std::string text =
      "def p(n: size, m: size, i: index, b: bool, s: stride, x: f32[n, 4], w: [f32][n], q: f32):\n";
  std::string line;
  for (const char c : statements) {
    if (line.empty()) line = "    ";
    line += c;
    if (c != '\n') continue;
    text += line;
    line.clear();
  }
  const std::string out = printed(text);
  std::string body;
  for (std::size_t at = out.find('\n') + 1; at < out.size();) {
    const std::size_t end = out.find('\n', at);
    body += out.substr(at + 4, end - at - 3);
    at = end + 1;
  }
  return body;
}

std::string condition(const std::string& e) {
  const std::string out = host("if " + e + ":\n    pass\n");
  return out.substr(3, out.find(":\n") - 3);
}
std::string value(const std::string& e) {
  const std::string out = host("q = " + e + "\n");
  return out.substr(4, out.size() - 5);
}

}  // namespace

TEST_CASE("signatures name every memory", "[printer]") {
  CHECK(printed("def p(n: size, i: index, b: bool, s: stride, x: f32[n + 1, 4] @ CudaGmemLinear, w: "
                "[f16][n], q: R):\n"
                "    assert n % 4 == 0\n    pass\n") ==
        "def p(n: size, i: index, b: bool @ DRAM, s: stride @ DRAM, x: f32[n + 1, 4] @ CudaGmemLinear, w: "
        "[f16][n] @ DRAM, "
        "q: f32 @ DRAM):\n    assert n % 4 == 0\n    pass\n");
}

TEST_CASE("parentheses stand only where they are needed", "[printer]") {
  for (const std::string text :
       {"n + (m + 1) == 3", "n - (m - i) == 3", "n - m - i == 3", "2 * (n + m) <= 3", "-(n + m) < -i",
        "n / 4 * 4 == n", "n / 2 % 3 != 1", "n % 4 / 2 > 1", "n < m and m < i or b", "b and (n < m or m < i)",
        "not b", "not n == m", "(not b) == b", "(n < m) == b", "b == (n < m)", "b and (b and b)",
        "not (n == m and b)", "stride(x, 0) == 4"}) {
    CHECK(condition(text) == text);
  }
  CHECK(condition("((n + m)) + (i) == (3)") == "n + m + i == 3");
  CHECK(condition("n < m < i") == "n < m and m < i");
  // Never a chain of comparisons.
  CHECK(condition("b == b == b") == "(b == b) == b");
  CHECK(value("x[i, 2] * (w[0] - q) / 2.0") == "x[i, 2] * (w[0] - q) / 2.0");
  CHECK(value("x[i + 1, 0] - -q") == "x[i + 1, 0] - -q");
  CHECK(value("-(-q)") == "--q");
}

TEST_CASE("numbers are shortest", "[printer]") {
  CHECK(value("0.1") == "0.1");
  CHECK(value("1") == "1.0");
  CHECK(value("1e-7") == "1e-07");
  CHECK(value("1000000000000000000000000000000.0") == "1e+30");
  CHECK(value("inf") == "inf");
  CHECK(value("-inf") == "-inf");
  CHECK(value("select(q, 1.0, fmaxf(q, 2.5), sin(q))") == "select(q, 1.0, fmaxf(q, 2.5), sin(q))");
  // A variable called inf makes way for the number.
  CHECK(printed("def p(inf: f32):\n    x: f32\n    x = inf\n") ==
        "def p(inf: f32 @ DRAM):\n    x: f32 @ DRAM\n    x = inf\n");
}

TEST_CASE("intervals are explicit, windows name their special memory once", "[printer]") {
  CHECK(host("v = x[:, 1:]\nu = v[2, :]\n") == "v = x[0:n, 1:4]\nu = v[2, 0:3]\n");
  CHECK(printed("def p(a: f32[64, 32] @ CudaGmemLinear):\n    t = a[:, :] @ Sm90_tensorMap(128, 64, 32)\n"
                "    u = t[0:64, 0:32]\n") ==
        "def p(a: f32[64, 32] @ CudaGmemLinear):\n    t = a[0:64, 0:32] @ Sm90_tensorMap(128, 64, 32)\n"
        "    u = t[0:64, 0:32]\n");
}

TEST_CASE("loops and branches", "[printer]") {
  const std::string text =
      "def p(n: size, x: f32[n] @ CudaGmemLinear):\n"
      "    with CudaDeviceFunction(clusterDim=2, warp_config=[CudaWarpConfig(name='a', count=4, "
      "setmaxnreg_dec=40, "
      "setmaxnreg_inc=None), CudaWarpConfig(name='b', count=4, setmaxnreg_dec=None, setmaxnreg_inc=232)]):\n"
      "        for task in cuda_tasks(0, n):\n"
      "            with CudaWarps(name='a'):\n"
      "                for w in cuda_threads(0, 2, unit=2 * cuda_warp):\n"
      "                    for k in seq(0, 4, pragma_unroll=4):\n"
      "                        if k < 2:\n"
      "                            pass\n"
      "                        else:\n"
      "                            pass\n"
      "            with CudaWarps(None, 2, name='b'):\n"
      "                for t in cuda_threads(0, 2, unit=2 * CollUnit((blockDim / 16, 16), (1, 8), 'u', 0)):\n"
      "                    pass\n";
  CHECK(printed(text) == text);
  CHECK(printed("def p():\n    with CudaDeviceFunction(128, 2, 3):\n        for t in cuda_tasks(0, 1):\n"
                "            for w in cuda_threads(0, 128):\n                pass\n") ==
        "def p():\n    with CudaDeviceFunction(blockDim=128, clusterDim=2, blocks_per_sm=3):\n"
        "        for t in cuda_tasks(0, 1):\n            for w in cuda_threads(0, 128, unit=cuda_thread):\n"
        "                pass\n");
  CHECK(host("if b:\n    pass\nelif n < 3:\n    q = 1.0\n") ==
        "if b:\n    pass\nelse:\n    if n < 3:\n        q = 1.0\n");
}

TEST_CASE("synchronization of both dialects", "[printer]") {
  const std::string p_text =
      "def p():\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, 1):\n"
      "            full: barrier[2] @ CudaMbarrier\n"
      "            empty: barrier(full)[2] @ CudaMbarrier\n"
      "            cg: barrier @ CudaCommitGroup\n"
      "            for i in seq(0, 2):\n"
      "                Await(empty[i], cuda_temporal, ~2)\n"
      "                Arrive(cuda_in_order, 1) >> full[i] >> full[0:2]\n"
      "            Fence(cuda_in_order, cuda_generic_and_async_proxy)\n"
      "            Await(cg, cuda_in_order)\n"
      "            Await(cg, cuda_in_order, 0)\n";
  CHECK(printed(p_text) == p_text);
  const std::string r_text =
      "def r(k: size):\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, 1):\n"
      "            e: barrier[(k + 2) @ (ring_buffer_by(depth=2))] @ CudaMbarrierPreArrive(2)\n"
      "            s: f32[k / 2 @ (ring_buffer_by(depth=2)), 32].ring_guarded_by(e) @ CudaSmemLinear\n"
      "            cg: barrier @ Sm80_CommitGroup\n"
      "            Await(e[0], cuda_in_order, 0)\n";
  CHECK(printed(r_text) == r_text);
}

TEST_CASE("a forced dialect is kept", "[printer]") {
  const std::string plain =
      "def p():\n    with CudaDeviceFunction(blockDim=32):\n        for t in cuda_tasks(0, 1):\n            "
      "pass\n";
  CHECK(printed(plain) == plain);
  CHECK(printed("# exocheck: dialect=R\n" + plain) == "# exocheck: dialect=R\n\n" + plain);
}

TEST_CASE("shadowed names get suffixes", "[printer]") {
  CHECK(host("for j in seq(0, n):\n    for j in seq(0, 4):\n        x[j, j] = 0.0\n    w[j] = 0.0\n"
             "for j in seq(0, 2):\n    pass\n") ==
        "for j in seq(0, n):\n    for j_1 in seq(0, 4):\n        x[j_1, j_1] = 0.0\n    w[j] = 0.0\n"
        "for j in seq(0, 2):\n    pass\n");
  CHECK(host("q: f32\nif b:\n    q: f32\n    q = 1.0\nq_1: f32\nq_1 = q\n") ==
        "q_1: f32 @ DRAM\nif b:\n    q_2: f32 @ DRAM\n    q_2 = 1.0\nq_1_1: f32 @ DRAM\nq_1_1 = q_1\n");
}

TEST_CASE("calls name procedures, instructions and their template values", "[printer]") {
  const std::string text =
      "two = 2\n\n"
      "@instr(tl=cuda_in_order_instr, template=[w], extra={s: 4, t: (1, None)})\n"
      "def mine(w: size, to: [f32][w] @ CudaSmemLinear):\n"
      "    for j in seq(0, w):\n"
      "        to[j] = 0\n\n"
      "def inner(n: size, x: f32[n] @ DRAM):\n"
      "    pass\n\n"
      "# exocheck: sizes n=4, b=1\n"
      "# exocheck: sizes n=8\n"
      "def outer(n: size, b: bool @ DRAM, x: f32[n] @ DRAM):\n"
      "    inner(n, x)\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for t in cuda_tasks(0, 1):\n"
      "            y: f32[8] @ CudaSmemLinear\n"
      "            mine(y[0:4], w=4, s=3, t=(1, None))\n";
  CHECK(printed(text) == text);
}

TEST_CASE("configs print before procedures", "[printer]") {
  const std::string text =
      "@config\nclass Cfg:\n    a: size\n    c: f32\n\ndef p(q: f32 @ DRAM):\n    Cfg.a = 3\n    q = Cfg.c\n";
  CHECK(printed(text) == text);
}

TEST_CASE("fragments use the symbols' own names", "[printer]") {
  const auto p =
      program("def p(n: size, x: f32[n, 4]):\n    for n in seq(0, 2):\n        y = x[n + 1, 0:3]\n");
  const auto& loop = std::get<semantics::ir::For>(p.procedures[0].body[0].node);
  const auto& window = std::get<semantics::ir::WindowStmt>(loop.body[0].node);
  CHECK(print(window.index[0], p.procedures[0]) == "n + 1");
  CHECK(print(window.index[1], p.procedures[0]) == "0:3");
}

TEST_CASE("programs are equivalent up to local names", "[printer]") {
  const auto p = [](const std::string& body) { return program("def p(n: size, x: f32[n]):\n" + body); };
  CHECK(equivalent(p("    for i in seq(0, n):\n        x[i] = 0.0\n"),
                   p("    for j in seq(0, n):\n        x[j] = 0\n")));
  CHECK_FALSE(equivalent(p("    for i in seq(0, n):\n        x[i] = 0.0\n"),
                         p("    for i in seq(0, n):\n        x[i] += 0.0\n")));
  CHECK_FALSE(equivalent(p("    for i in seq(0, n):\n        x[i] = 0.0\n"),
                         p("    for i in seq(0, n):\n        x[0] = 0.0\n")));
  CHECK_FALSE(equivalent(p("    y: f32\n    y = 1.0\n"), p("    y: f32[2]\n    y[0] = 1.0\n")));
  CHECK_FALSE(
      equivalent(p("    for i in seq(0, n):\n        for j in seq(0, n):\n            x[i] = 0.0\n"),
                 p("    for i in seq(0, n):\n        for j in seq(0, n):\n            x[j] = 0.0\n")));
  CHECK_FALSE(equivalent(p("    pass\n    x[0] = 1.0\n"), p("    x[0] = 1.0\n")));
}

TEST_CASE("comments keep their places", "[printer]") {
  const std::string text =
      "# run: check\n"
      "# expect: checked\n"
      "\n"
      "from __future__ import annotations\n"
      "\n"
      "two = 2  # pair\n"
      "\n"
      "# About p.\n"
      "@proc\n"
      "def p(n: size, x: f32[n] @ DRAM):\n"
      "    \"\"\"Doc.\"\"\"\n"
      "    # first\n"
      "    assert n > 1  # why\n"
      "    for i in seq(0, n):\n"
      "        # in the loop\n"
      "        x[i] = 0.0\n"
      "        # end of the loop\n"
      "    # after the loop\n"
      "    x[0] = 1.0  # one\n"
      "\n"
      "# the end\n";
  const auto source = std::make_shared<const semantics::SourceFile>("test.exo", text);
  CHECK(print_with_comments(load(source).program, parse(source).file) == text);
  const auto broken = std::make_shared<const semantics::SourceFile>(
      "test.exo", "def p(n: size,  # count\n      x: f32[n]):\n  x[0] = (1.0  # one\n     + 2.0)  # two\n");
  CHECK(print_with_comments(load(broken).program, parse(broken).file) ==
        "def p(n: size, x: f32[n] @ DRAM):  # count\n    x[0] = 1.0 + 2.0  # one  # two\n");
}
