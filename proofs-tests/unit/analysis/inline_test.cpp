// Inlining of procedure calls (decisions.md N3).
#include "analysis/inline.hpp"

#include <set>

#include "programs.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis::test {
namespace {

namespace ir = semantics::ir;

struct Inlined {
  frontend::LoadResult loaded;
  ir::Procedure procedure;
};
Inlined inlined(const std::string& text, const std::string& name = "p") {
  Inlined out{load(text), {}};
  for (const auto& d : out.loaded.diagnostics) UNSCOPED_INFO(d.message);
  for (const ir::Procedure& p : out.loaded.program.procedures) {
    if (p.name == name) out.procedure = inline_calls(p, out.loaded.program);
  }
  return out;
}

template <class Node>
std::vector<Node> all(const ir::Procedure& p) {
  std::vector<Node> out;
  ir::for_each_stmt(p.body, [&](const ir::Stmt& s) {
    if (const auto* n = std::get_if<Node>(&s.node)) out.push_back(*n);
  });
  return out;
}

// Ids are unique and follow the program order; every symbol exists.
void check_well_formed(const ir::Procedure& p) {
  std::uint32_t next = 0;
  std::set<ir::ExprId> seen;
  ir::for_each_stmt(p.body, [&](const ir::Stmt& s) {
    CHECK(static_cast<std::uint32_t>(s.id) == next++);
    ir::for_each_expr(s, [&](const ir::Expr& top) {
      ir::for_each_subexpr(top, [&](const ir::Expr& e) {
        if (const auto* v = std::get_if<ir::VarRef>(&e.node)) CHECK(ir::index(v->var) < p.symbols.size());
        if (const auto* r = std::get_if<ir::Read>(&e.node)) CHECK(ir::index(r->var) < p.symbols.size());
      });
    });
  });
  CHECK(next == p.statement_count);
  CHECK(all<ir::Call>(p).size() == 0);
}

TEST_CASE("without calls nothing changes", "[analysis][inline]") {
  const auto r = inlined(host("n: size, a: f32[n] @ DRAM", "for i in seq(0, n):\n    a[i] = 1.0"));
  CHECK(r.procedure.symbols.size() == r.loaded.program.procedures.at(0).symbols.size());
  CHECK(r.procedure.statement_count == r.loaded.program.procedures.at(0).statement_count);
}

TEST_CASE("tensor formals become windows, control formals are substituted", "[analysis][inline]") {
  const auto r =
      inlined("def fill(m: size, x: [f32][m] @ DRAM):\n    for i in seq(0, m):\n        x[i] = 1.0\n\n" +
              host("n: size, a: f32[2, n + 1] @ DRAM", "fill(n, a[1, 0:n])\nfill(n + 1, a[0, :])"));
  check_well_formed(r.procedure);
  const auto windows = all<ir::WindowStmt>(r.procedure);
  REQUIRE(windows.size() == 2);
  for (const ir::WindowStmt& w : windows) {
    CHECK(r.procedure.symbol(w.base).name == "a");
    CHECK(r.procedure.symbol(w.result).name == "x");
    CHECK(r.procedure.symbol(w.result).kind == ir::SymbolKind::window);
    CHECK_FALSE(r.procedure.symbol(w.result).parameter);
    CHECK(w.index.size() == 2);
  }
  CHECK(windows[0].result != windows[1].result);
  // The loop bound of the second expansion is n + 1, in the caller's n.
  const auto loops = all<ir::For>(r.procedure);
  REQUIRE(loops.size() == 2);
  ir::Environment env(r.procedure.symbols.size());
  env.set(r.procedure.parameters.at(0), 5);
  CHECK(ir::evaluate(*loops[0].hi, env) == 5);
  CHECK(ir::evaluate(*loops[1].hi, env) == 6);
  CHECK(loops[0].iter != loops[1].iter);
}

TEST_CASE("scalars are the actual itself, a config field is written in place", "[analysis][inline]") {
  const auto r = inlined("@config\nclass Cfg:\n    f: f32\n\ndef add(x: f32 @ DRAM):\n    x += 1.0\n\n" +
                         host("s: f32 @ DRAM", "add(s)\nadd(Cfg.f)"));
  check_well_formed(r.procedure);
  CHECK(all<ir::WindowStmt>(r.procedure).empty());
  const auto assigns = all<ir::Assign>(r.procedure);
  REQUIRE(assigns.size() == 1);
  CHECK(r.procedure.symbol(assigns[0].target).name == "s");
  const auto writes = all<ir::ConfigWrite>(r.procedure);
  REQUIRE(writes.size() == 1);
  CHECK(std::holds_alternative<ir::Binary>(writes[0].value->node));
}

TEST_CASE("a dense tensor is the actual itself", "[analysis][inline]") {
  // A window over a grid constant could not enter the kernel (E-K10); the array can.
  const auto r = inlined(
      "def k(n: size, c: f32[4] @ CudaGridConstant, g: f32[n] @ CudaGmemLinear):\n"
      "    with CudaDeviceFunction(blockDim=32):\n        for b in cuda_tasks(0, n):\n"
      "            for t in cuda_threads(0, 1):\n                g[b] = c[1]\n\n" +
      host("m: size, g: f32[m + 1] @ CudaGmemLinear",
           "c: f32[4] @ CudaGridConstant\nc[1] = 2.0\nk(m + 1, c, g)"));
  check_well_formed(r.procedure);
  CHECK(all<ir::WindowStmt>(r.procedure).empty());
  const auto result = analyse(r.procedure, r.loaded.program, Mode::standard);
  for (const auto& d : result.diagnostics) UNSCOPED_INFO(d.message);
  CHECK(result.diagnostics.empty());
}

TEST_CASE("nested calls and device functions", "[analysis][inline]") {
  const std::string kernel =
      "def k(n: size, g: [f32][n] @ CudaGmemLinear):\n    with CudaDeviceFunction(blockDim=32):\n"
      "        for b in cuda_tasks(0, n):\n            r: f32[32] @ CudaRmem\n            for t in "
      "cuda_threads(0, 32):\n"
      "                r[t] = 1.0\n            for t in cuda_threads(0, 1):\n                g[b] = 1.0\n\n"
      "def twice(n: size, g: [f32][n] @ CudaGmemLinear):\n    k(n, g[:])\n    k(n, g)\n\n";
  const auto r = inlined(kernel + host("n: size, g: f32[n] @ CudaGmemLinear", "twice(n, g)"));
  check_well_formed(r.procedure);
  CHECK(all<ir::DeviceFunction>(r.procedure).size() == 2);
  CHECK(all<ir::WindowStmt>(r.procedure).size() == 3);
  // The facts of the inlined procedure are complete.
  const auto result = analyse(r.procedure, r.loaded.program, Mode::standard);
  for (const auto& d : result.diagnostics) UNSCOPED_INFO(d.message);
  CHECK(result.diagnostics.empty());
  CHECK(result.facts.launch.size() == 2);
}

TEST_CASE("calls that multiply are bounded", "[analysis][inline]") {
  std::string text = "def f0(n: index):\n    pass\n\n";
  for (int i = 1; i < 60; ++i) {
    const std::string callee = "f" + std::to_string(i - 1);
    text += "def f" + std::to_string(i) + "(n: index):\n    " + callee + "(n)\n    " + callee + "(n)\n\n";
  }
  const auto loaded = load(text);
  REQUIRE(loaded.program.procedures.size() == 60);
  CHECK_THROWS_AS(inline_calls(loaded.program.procedures.back(), loaded.program), semantics::OverflowError);
  // Neither may an argument double at every level.
  text = "def f0(n: index):\n    for i in seq(0, n):\n        pass\n\n";
  for (int i = 1; i < 60; ++i) {
    text += "def f" + std::to_string(i) + "(n: index):\n    f" + std::to_string(i - 1) + "(n + n)\n\n";
  }
  const auto growing = load(text);
  REQUIRE(growing.program.procedures.size() == 60);
  CHECK_THROWS_AS(inline_calls(growing.program.procedures.back(), growing.program), semantics::OverflowError);
}

TEST_CASE("a part in dialect R makes the whole R", "[analysis][inline]") {
  const std::string callee =
      "def k():\n    with CudaDeviceFunction(blockDim=32):\n        for b in cuda_tasks(0, 1):\n"
      "            cg: barrier @ Sm90_TmaCommitGroup\n            Arrive(tma_to_gmem_async, 1) >> cg\n"
      "            Await(cg, cuda_in_order, 0)\n\n";
  CHECK(inlined(callee + host("", "k()")).procedure.dialect == semantics::Dialect::R);
  CHECK(inlined("def k():\n    pass\n\n" + host("", "k()")).procedure.dialect == semantics::Dialect::P);
}

}  // namespace
}  // namespace exocheck::analysis::test
