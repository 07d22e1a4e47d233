// The obligations of calls (O3, O5-O8, strides A5/A6) and the swizzle rule E-M18.
#include "bounds_checks.hpp"

using namespace exocheck::analysis;
using namespace exocheck::analysis::test;

namespace {

const std::string callee =
    "def f(k: size, c: index, w: [f32][k]):\n"
    "    assert c < 4\n"
    "    for i in seq(0, k):\n"
    "        w[i] = 0.0\n\n";

}  // namespace

TEST_CASE("O5: size arguments are positive") {
  check_bounds_of(callee + host("n: size, a: f32[n]", "f(n / 2, 0, a[0:n / 2])"), {"E-B05@7"});
  check_bounds_of(callee + host("n: size, a: f32[n]", "if n > 1:\n    f(n / 2, 0, a[0:n / 2])"), {});
  CHECK(bounds_of(callee + host("n: size, a: f32[n]", "f(n / 2, 0, a[0:n / 2])")).messages ==
        "the argument for size parameter `k` of `f` must be positive, but it is n / 2 = 0 when n = 1\n");
}

TEST_CASE("O6: shapes agree after substitution") {
  check_bounds_of(callee + host("n: size, a: f32[n]", "f(n, 0, a[0:n])\nf(n, 1, a)"), {});
  check_bounds_of(callee + host("n: size, a: f32[n + 1]", "f(n, 0, a)"), {"E-B06@7"});
  check_bounds_of(callee + host("n: size, a: f32[n, n]",
                                "for i in seq(0, n):\n    f(n, 0, a[i, :])\n    f(n, 0, a[:, i])"),
                  {});
  check_bounds_of(callee + host("n: size, a: f32[n]", "f(4, 0, a[0:n])"), {"E-B06@7"});
  CHECK(bounds_of(callee + host("a: f32[9]", "f(8, 0, a)")).messages ==
        "the argument for `w` of `f` has extent 9 in dimension 0, but the parameter's extent there is 8\n");
}

TEST_CASE("O7: preconditions of the callee, not those of its callees") {
  check_bounds_of(callee + host("n: size, a: f32[n]", "f(n, n, a)"), {"E-B07@7"});
  check_bounds_of(callee + host("n: size, a: f32[n]", "f(n, n % 4, a)"), {});
  CHECK(bounds_of(callee + host("n: size, a: f32[n]", "f(n, n, a)")).messages ==
        "the call of `f` breaks its precondition `c < 4`: here c is n = 4 when n = 4\n");
  const std::string middle = "def g(k: size, w: [f32][k]):\n    f(k, 3, w)\n\n";
  check_bounds_of(callee + middle + host("n: size, a: f32[n]", "g(n, a)"), {});
}

TEST_CASE("O8: the callee's accesses under its guards decide about a window that leaves its base") {
  const std::string guarded =
      "def f(k: size, end: index, w: [f32][k]):\n"
      "    for i in seq(0, k):\n"
      "        if i < end:\n"
      "            w[i] = 0.0\n\n";
  check_bounds_of(guarded + host("n: size, a: f32[n]",
                                 "for b in seq(0, (n + 7) / 8):\n    f(8, n - 8 * b, a[8 * b:8 * b + 8])"),
                  {});
  check_bounds_of(
      guarded + host("n: size, a: f32[n]",
                     "for b in seq(0, (n + 7) / 8):\n    f(8, n - 8 * b + 1, a[8 * b:8 * b + 8])"),
      {"E-B04@8"});
  const auto result = bounds_of(guarded + host("a: f32[4]", "f(8, 5, a[0:8])"));
  CHECK(result.messages ==
        "`a` is written out of bounds by the call of `f`: in dimension 0 the index i of f = 4 is not in 0 <= "
        "index < 4 when "
        "i of f = 4\n");
  // Through a second procedure, and through windows in both.
  const std::string middle = "def g(end: index, v: [f32][8]):\n    u = v[:]\n    f(8, end, u[:])\n\n";
  check_bounds_of(guarded + middle + host("a: f32[4]", "g(4, a[0:8])"), {});
  check_bounds_of(guarded + middle + host("a: f32[4]", "g(5, a[0:8])"), {"E-B04@11"});
}

TEST_CASE("a callee that breaks its own bounds is looked into at every call") {
  const std::string bad = "def f(k: size, w: [f32][k]):\n    for i in seq(0, k):\n        w[i + 1] = 0.0\n\n";
  // Inside the callee w[i + 1] may leave w; a caller whose buffer is larger is hurt no less.
  check_bounds_of(bad + host("a: f32[8]", "f(8, a)"), {"E-B04@3", "E-B04@6"});
  check_bounds_of(bad + host("a: f32[9]", "f(8, a[0:8])"), {"E-B04@3"});
}

TEST_CASE("a long chain of calls costs no more than its length") {
  std::string text = "def f0(k: size, w: [f32][k]):\n    for i in seq(0, k):\n        w[i] = 0.0\n\n";
  for (int i = 1; i < 40; ++i) {
    const std::string call = "    f" + std::to_string(i - 1) + "(k, w)\n";
    text += "def f" + std::to_string(i) + "(k: size, w: [f32][k]):\n" + call + call + "\n";
  }
  check_bounds_of(text, {});
  // Twice per level and unproved windows at the top: 2^39 paths, cut off by a limit and said so.
  const auto result = bounds_of(text + host("a: f32[4]", "f39(8, a[0:8])"));
  INFO(result.messages);
  CHECK(result.unknown);
  CHECK(std::count(result.findings.begin(), result.findings.end(),
                   "L-08@" + std::to_string(4 + 39 * 4 + 2)) == 1);
}

TEST_CASE("instruction calls: bugs 37 and its repair") {
  const auto copy = [](const std::string& guard) {
    return task("blockDim=32", "X: f32[8, 4] @ CudaGmemLinear",
                "sa: f32[8, 4] @ CudaSmemLinear\nfor t in cuda_threads(0, 32, unit=cuda_thread):\n" +
                    indented(guard + "Sm80_cp_async_f32(sa[t, 0:4], X[t % 8, 0:4], size=4)", 4));
  };
  check_bounds_of(copy(""), {"E-B04@6"});
  check_bounds_of(copy("if t < 8:\n    "), {});
}

TEST_CASE("oob parameters are exempt, guarded stores are not") {
  const auto store = [](const std::string& end) {
    return task("blockDim=128", "M: size, C: f32[M, 64] @ CudaGmemLinear",
                "D: f32[64, 64] @ Sm90_RmemMatrixD(64, 64)\n"
                "Sm90_mma_store_d_row_major_tf32(" +
                    end + ", 64, C[0:64, 0:64], D[:, :], M=64, N=64)");
  };
  check_bounds_of(store("M"), {});
  check_bounds_of(store("M + 1"), {"E-B04@5"});
  check_bounds_of(
      host(
          "M: size, A: f32[M, 32] @ CudaGmemLinear",
          "A_tm = A[:, :] @ Sm90_tensorMap(128, 64, 32)\nwith CudaDeviceFunction(blockDim=128):\n"
          "    for task in cuda_tasks(0, M / 64 + 1):\n        full: barrier @ CudaMbarrier\n"
          "        s: f32[64, 32] @ Sm90_SmemSwizzled(128)\n        with CudaWarps(0, 1):\n"
          "            Sm90_copy_tensor_to_smem_swizzled_2f32(s[:, :], A_tm[64 * task:64 * task + 64, 0:32], "
          "size0=64, size1=32) >> full"),
      {});
}

TEST_CASE("A5 and A6: strides of dense tensors and of their windows") {
  const std::string strided =
      "def f(s: index, w: [f32][4, 8]):\n    assert stride(w, 1) == 1\n    assert stride(w, 0) == s\n    "
      "w[0, 0] = 0.0\n\n";
  const auto call = [&](const std::string& parameters, const std::string& call_text) {
    return strided + host(parameters, call_text);
  };
  check_bounds_of(call("a: f32[2, 64, 32]", "f(32, a[1, 4:8, 8:16])"), {});
  check_bounds_of(call("a: f32[2, 64, 32]", "f(2048, a[0:2, 4, 8:16])"), {"E-B06@7"});
  check_bounds_of(call("a: f32[4, 64, 32]", "f(2048, a[:, 4, 8:16])"), {});
  check_bounds_of(call("a: f32[4, 64, 32]", "f(32, a[:, 4, 8:16])"), {"E-B07@7"});
  check_bounds_of(call("a: f32[4, 64, 32]", "f(1, a[:, 0:8, 1])"), {"E-B07@7", "E-B07@7"});
  // A symbolic last extent is still a linear stride of the dimension before it.
  check_bounds_of(call("n: size, a: f32[4, n]", "if 8 <= n:\n    f(n, a[:, 0:8])"), {});
  check_bounds_of(call("n: size, a: f32[4, n]", "if 8 <= n:\n    f(8, a[:, 0:8])"), {"E-B07@8"});
  // Nothing is known of a window parameter's strides except through asserts.
  check_bounds_of(call("a: [f32][4, 8]", "f(8, a)"), {"E-B07@7", "E-B07@7"});
  check_bounds_of(strided + "def p(a: [f32][4, 8]):\n    assert stride(a, 1) == 1\n    f(stride(a, 0), a)\n",
                  {"E-C03@8"});
  check_bounds_of(
      strided +
          "def p(t: index, a: [f32][4, 8]):\n    assert stride(a, 1) == 1\n    assert stride(a, 0) == t\n"
          "    b = a[:, :]\n    f(t, b[:, :])\n",
      {});
  CHECK(bounds_of(call("a: f32[4, 64, 32]", "f(32, a[:, 4, 8:16])")).messages ==
        "the call of `f` breaks its precondition `stride(w, 0) == s`: here stride(w, 0) is 2048, s is 32\n");
}

TEST_CASE("host copies of dense tensors prove their strides (decisions.md G3)") {
  const auto copy = [](const std::string& source) {
    return host("n: size, m: size, a: f32[n, m] @ DRAM",
                "g: f32[n, m] @ CudaGmemLinear\ncudaMemcpyAsync_htod_2f32(n, m, g, " + source + ")");
  };
  check_bounds_of(copy("a"), {});
  check_bounds_of(copy("a[:, :]"), {});
  check_bounds_of(host("n: size, a: f32[n, 8] @ DRAM",
                       "g: f32[n, 4] @ CudaGmemLinear\ncudaMemcpyAsync_htod_2f32(n, 4, g, a[:, 0:4])"),
                  {"E-B07@3"});
}

TEST_CASE("obligations of a user's instruction are checked where it is used") {
  const auto program = [](const std::string& index) {
    return "@instr(\"x\", tl=cuda_in_order_instr, unit=cuda_thread)\n"
           "def put(k: size, w: [f32][k] @ CudaGmemLinear):\n"
           "    for i in seq(0, k):\n"
           "        w[" +
           index + "] = 0.0\n\n" +
           task(
               "blockDim=32", "a: f32[32, 4] @ CudaGmemLinear",
               "for t in cuda_threads(0, 32, unit=cuda_thread):\n    put(4, a[t, :])\n    put(4, a[t, 0:4])");
  };
  check_bounds_of(program("i"), {});
  check_bounds_of(program("i + 1"), {"E-B04@10", "E-B04@11", "E-B04@4"});
}

TEST_CASE("E-M18: swizzled operands start at a multiple of 8 rows") {
  const auto program = [](const std::string& shape, const std::string& operand) {
    return task("blockDim=128", "n: size",
                "D: f32[64, 64] @ Sm90_RmemMatrixD(64, 64)\nAs: f32[" + shape +
                    "] @ Sm90_SmemSwizzled(128)\n"
                    "Bs: f32[64, 32] @ Sm90_SmemSwizzled(128)\nfor k in seq(0, n):\n"
                    "    Sm90_mma_async_tf32(D[:, :], As[" +
                    operand + "], Bs[:, 0:8], M=64, N=64)");
  };
  check_bounds_of(program("72, 32", "4:68, 0:8"), {"E-M18@8"});
  check_bounds_of(program("72, 32", "8:72, 0:8"), {});
  check_bounds_of(program("72, 32", "8 * (k % 2):8 * (k % 2) + 64, 8 * (k % 4):8 * (k % 4) + 8"), {});
  check_bounds_of(program("3, 64, 32", "k % 3, :, 0:8"), {});
  // Slots of 68 rows: the second one starts inside the pattern.
  check_bounds_of(program("3, 68, 32", "k % 3, 0:64, 0:8"), {"E-M18@8"});
  check_bounds_of(program("3, 68, 32", "2 * (k % 2), 0:64, 0:8"), {});
  check_bounds_of(program("72, 32", "4:68, 0:8"), {}, Mode::paper_exact);
  CHECK(bounds_of(program("3, 68, 32", "k % 3, 0:64, 0:8")).messages ==
        "operand `As` of `Sm90_mma_async_tf32` starts at row 68 * (k % 3) = 68 of its swizzled buffer; it "
        "must start at a "
        "multiple of 8 rows, the height of the swizzle pattern when n = 2, k = 1\n");
}

TEST_CASE("an index that is too large to judge is unknown, never accepted") {
  std::string sum = "i";
  for (int k = 0; k < 150; ++k) sum += " + i";
  check_bounds_of(host("n: size, a: f32[n]", "for i in seq(0, 1):\n    a[" + sum + "] = 0.0"), {});
  const std::string big = "9223372036854775807 * n";
  const auto result = bounds_of(host("n: size, a: f32[n]", "if " + big + " <= 9223372036854775807:\n    a[" +
                                                               big + " - " + big + "] = 0.0"));
  CHECK(result.findings == Findings{});
}
