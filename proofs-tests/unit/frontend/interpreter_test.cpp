// The sequential interpreter on programs from text: plain statements, instructions, windows, limits, and the
// shipped GEMMs against a triple loop.
#include "semantics/interpreter.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "frontend/frontend.hpp"
#include "semantics/numeric.hpp"

using namespace exocheck;
using semantics::Precision;
using semantics::Tensor;
namespace ir = semantics::ir;

namespace {

struct Run {
  ir::Program program;
  std::map<std::string, Tensor> tensors;  // after the run
  std::optional<semantics::Diagnostic> finding;
};

using Values = std::map<std::string, std::vector<double>>;

// Runs the last procedure; a parameter that `values` leaves out starts undefined.
Run execute(const std::string& text, const ir::SizeSet& sizes, const Values& values,
            const semantics::InterpreterLimits& limits = {}) {
  Run run;
  frontend::LoadResult loaded =
      frontend::load(std::make_shared<const semantics::SourceFile>("test.exo", text));
  for (const auto& d : loaded.diagnostics) UNSCOPED_INFO(d.rule->code << " " << d.message);
  REQUIRE(loaded.rejected.empty());
  run.program = std::move(loaded.program);
  const ir::Procedure& procedure = run.program.procedures.back();
  ir::Environment environment(procedure.symbols.size());
  for (const ir::SymId p : procedure.parameters) {
    for (const auto& [name, value] : sizes) {
      if (procedure.symbol(p).name == name) environment.set(p, value);
    }
  }
  semantics::Arguments arguments;
  for (const ir::SymId p : procedure.parameters) {
    const ir::Symbol& symbol = procedure.symbol(p);
    if (symbol.control()) continue;
    Tensor tensor = semantics::parameter_tensor(procedure, p, environment, {});
    if (values.contains(symbol.name)) {
      REQUIRE(values.at(symbol.name).size() == tensor.values.size());
      tensor.values = values.at(symbol.name);
    }
    arguments.emplace(p, std::move(tensor));
  }
  run.finding = semantics::interpret(procedure, run.program, environment, arguments, limits);
  for (auto& [p, tensor] : arguments) run.tensors.emplace(procedure.symbol(p).name, std::move(tensor));
  return run;
}

std::string kernel(const std::string& name) {
  std::ifstream file(std::string(EXOCHECK_SOURCE_DIR) + "/kernels/" + name);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Small integers that depend on the position, of both signs.
std::vector<double> integers(std::int64_t count, int step) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * static_cast<std::size_t>(step) + i / 7) % 9) - 4;
  return values;
}

// A B or A B^T in plain loops.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, std::int64_t m,
                            std::int64_t n, std::int64_t k, bool transposed) {
  std::vector<double> c(static_cast<std::size_t>(m * n), 0);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l) {
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + l)] *
            b[static_cast<std::size_t>(transposed ? j * k + l : l * n + j)];
      }
    }
  }
  return c;
}

void check_gemm(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k, bool transposed) {
  INFO(name << " " << m << " " << n << " " << k);
  const auto a = integers(m * k, 5), b = integers(n * k, 7), c = integers(m * n, 4);
  const Run run = execute(kernel(name), {{"M", m}, {"N", n}, {"K", k}}, {{"A", a}, {"B", b}, {"C", c}});
  REQUIRE_FALSE(run.finding);
  CHECK((run.tensors.at("C").values == product(a, b, m, n, k, transposed)));
  CHECK(run.tensors.at("A").values == a);
}

const char* const mma_text =
    "def p(A: f32[16, 8] @ CudaGmemLinear, B: f32[8, 8] @ CudaGmemLinear, C: f32[16, 8] @ CudaGmemLinear):\n"
    "    with CudaDeviceFunction(blockDim=32):\n"
    "        for task in cuda_tasks(0, 1):\n"
    "            a: f32[16, 8] @ Sm80_RmemMatrixA(16, 8)\n"
    "            b: f32[8, 8] @ Sm80_RmemMatrixB(8, 8)\n"
    "            d: f32[16, 8] @ Sm80_RmemMatrixD(16, 8)\n"
    "            Sm80_mma_zero_d_tf32(d[:, :])\n"
    "            Sm80_mma_load_a_row_major_tf32(a[:, :], A[:, :], K=8)\n"
    "            Sm80_mma_load_b_row_major_tf32(b[:, :], B[:, :], K=8)\n"
    "            Sm80_mma_tf32(d[:, :], a[:, :], b[:, :], K=8)\n"
    "            Sm80_mma_store_d_row_major_tf32(C[:, :], d[:, :])\n";

}  // namespace

// One of each kind; all of them are compared with the emulator's results elsewhere (suite/emission.py).
TEST_CASE("shipped GEMMs compute what a triple loop computes") {
  check_gemm("basic/naive_gemm.exo", 17, 19, 5, false);
  check_gemm("sm80/gemm_fence.exo", 128, 256, 32, false);
  check_gemm("sm80/gemm_mbarrier.exo", 128, 256, 32, false);
  for (const char* name : {"gemm_1x2_direct", "gemm_2x2_tma", "gemm_pingpong", "gemm_2x1_splitk"}) {
    check_gemm(std::string("sm90/") + name + ".exo", 37, 45, 41, true);
  }
}

TEST_CASE("the other shipped kernels") {
  const auto x = integers(3 * 32, 5);
  Run run = execute(kernel("basic/warp_sum.exo"), {{"rows", 3}}, {{"x", x}});
  std::vector<double> sums(3, 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / 32] += x[i];
  CHECK(run.tensors.at("y").values == sums);

  const auto a = integers(5 * 40, 3);
  run = execute(kernel("basic/transpose.exo"), {{"M", 5}, {"N", 40}}, {{"A", a}});
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 40; ++j) REQUIRE(run.tensors.at("B").values[j * 5 + i] == a[i * 40 + j]);
  }

  run = execute(kernel("basic/staged_reverse.exo"), {{"n", 64}}, {{"src", integers(64, 2)}});
  auto reversed = integers(64, 2);
  std::reverse(reversed.begin(), reversed.end());
  CHECK(run.tensors.at("dst").values == reversed);

  run = execute(kernel("basic/saxpy.exo"), {{"n", 3}}, {{"alpha", {2}}, {"x", {1, 2, 3}}, {"y", {1, 1, 1}}});
  CHECK(run.tensors.at("y").values == std::vector<double>{3, 5, 7});
}

TEST_CASE("a matrix instruction truncates its f32 operands to tf32, a plain product does not") {
  const double fine = 1 + std::ldexp(1.0, -12);
  const Run run =
      execute(mma_text, {}, {{"A", std::vector<double>(128, fine)}, {"B", std::vector<double>(64, 1)}});
  REQUIRE_FALSE(run.finding);
  CHECK(run.tensors.at("C").values == std::vector<double>(128, 8));
  const Run plain = execute(
      "def p(x: f32 @ DRAM, y: f32 @ DRAM):\n"
      "    y = x * x\n",
      {}, {{"x", {fine}}});
  CHECK(plain.tensors.at("y").values[0] == semantics::round_to(Precision::f32, fine * fine));
}

TEST_CASE("precisions round at every operation and assignment") {
  const Run run = execute(
      "def p(h: f16 @ DRAM, b: bf16 @ DRAM, i: i32 @ DRAM, j: i32 @ DRAM, u: ui8 @ DRAM, x: f32 @ DRAM):\n"
      "    h = h + 1.0\n"
      "    b = x\n"
      "    j = i / j\n"
      "    i = i * i\n"
      "    u = x\n"
      "    x += select(x, 300.0, 0.5, 1.5)\n",
      {}, {{"h", {2048}}, {"b", {0}}, {"i", {65537}}, {"j", {-2}}, {"u", {0}}, {"x", {257.75}}});
  REQUIRE_FALSE(run.finding);
  CHECK(run.tensors.at("h").values[0] == 2048);
  CHECK(run.tensors.at("b").values[0] == 258);
  CHECK(run.tensors.at("j").values[0] == -32768);
  CHECK(run.tensors.at("i").values[0] == 131073);
  CHECK(run.tensors.at("u").values[0] == 255);
  CHECK(run.tensors.at("x").values[0] == 258.25);
}

TEST_CASE("a box that leaves the tensor map reads zeros and drops writes") {
  const std::string text =
      "def p(A: f32[10, 40] @ CudaGmemLinear, C: f32[10, 40] @ CudaGmemLinear):\n"
      "    A_tm = A[:, :] @ Sm90_tensorMap(0, 8, 32)\n"
      "    C_tm = C[:, :] @ Sm90_tensorMap(0, 8, 32)\n"
      "    with CudaDeviceFunction(blockDim=32):\n"
      "        for task in cuda_tasks(0, 1):\n"
      "            raw: barrier @ CudaMbarrier\n"
      "            s: f32[8, 32] @ CudaSmemLinear\n"
      "            Sm90_copy_tensor_to_smem_linear_2f32(s[:, :], A_tm[8:16, 32:64], size0=8, size1=32) >> "
      "raw\n"
      "            Sm90_copy_tensor_to_gmem_linear_2f32(C_tm[5:13, 16:48], s[:, :], size0=8, size1=32)\n";
  std::vector<double> a(400, 1), c(400, 9);
  const Run run = execute(text, {}, {{"A", a}, {"C", c}});
  REQUIRE_FALSE(run.finding);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      const bool in_box = i >= 5 && j >= 16;
      const bool from_a = i - 5 < 2 && j - 16 < 8;
      REQUIRE(run.tensors.at("C").values[i * 40 + j] == (in_box ? (from_a ? 1 : 0) : 9));
    }
  }
}

TEST_CASE("procedures are called by reference, windows and control values included") {
  const Run run = execute(
      "def add(n: size, k: index, x: [f32][n] @ DRAM):\n"
      "    for i in seq(0, n):\n"
      "        if i % 2 == k:\n"
      "            x[i] += 1.0\n"
      "def p(x: f32[4, 3] @ DRAM):\n"
      "    add(4, 1, x[:, 2])\n"
      "    w = x[1:3, :]\n"
      "    add(3, 0, w[0, :])\n",
      {}, {{"x", std::vector<double>(12, 0)}});
  REQUIRE_FALSE(run.finding);
  CHECK(run.tensors.at("x").values == std::vector<double>{0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("what nobody wrote is undefined, and stays so") {
  const Run run = execute(
      "def p(y: f32[2] @ DRAM, k: i32[2] @ DRAM):\n"
      "    a: f32[2] @ DRAM\n"
      "    b: i32 @ DRAM\n"
      "    a[0] = 1.0\n"
      "    for i in seq(0, 2):\n"
      "        y[i] = a[i] + 1.0\n"
      "        k[i] = b + 1\n",
      {}, {});
  REQUIRE_FALSE(run.finding);
  CHECK(run.tensors.at("y").values[0] == 2);
  CHECK(std::isnan(run.tensors.at("y").values[1]));
  CHECK(std::isnan(run.tensors.at("k").values[0]));
}

TEST_CASE("a run that leaves a tensor stops with the place") {
  const Run run = execute(
      "def p(n: size, x: f32[n] @ DRAM):\n"
      "    for i in seq(0, n):\n"
      "        x[i] = x[i + 1]\n",
      {{"n", 3}}, {{"x", {1, 2, 3}}});
  REQUIRE(run.finding);
  CHECK(run.finding->rule->code == "E-Y20");
  CHECK(run.finding->location.begin().line == 3);
  CHECK(run.tensors.at("x").values == std::vector<double>{2, 3, 3});
}

TEST_CASE("limits and constructs without a meaning end the run") {
  const std::string loops =
      "def p(n: size, x: f32 @ DRAM):\n"
      "    for i in seq(0, n):\n"
      "        for j in seq(0, n):\n"
      "            x = 1.0\n";
  semantics::InterpreterLimits limits;
  limits.max_steps = 1000;
  CHECK(execute(loops, {{"n", 1'000'000}}, {}, limits).finding->rule->code == "L-06");
  limits = {};
  limits.max_seconds = 0.01;
  CHECK(execute(loops, {{"n", 1'000'000'000}}, {}, limits).finding->rule->code == "L-04");
  const std::string memory =
      "def p(n: size):\n"
      "    x: f32[n, n] @ DRAM\n";
  CHECK(execute(memory, {{"n", 1'000'000}}, {}).finding->rule->code == "L-05");
  CHECK(execute(memory, {{"n", 10'000'000'000}}, {}).finding->rule->code == "L-03");
  const std::string parallel =
      "def p(x: f32[4] @ DRAM):\n"
      "    for i in par(0, 4):\n"
      "        x[i] = 1.0\n";
  CHECK(execute(parallel, {}, {}).finding->rule->code == "E-V01");
}
