// Scopes, shadowing, constants, and the repair of printed names (language.md 3.3 Q2, 4.1).
#include "elaborate_checks.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::frontend::test;
namespace ir = exocheck::semantics::ir;

TEST_CASE("names live to the end of their block") {
  check_rows({
      {host("for t in seq(0, 4):\n    a: f32\n    a = 1.0"), ""},
      {host("for t in seq(0, 4):\n    a: f32\na = 1.0"), "E-T45 4"},
      {host("for t in seq(0, 4):\n    pass\nx[t] = 1.0"), "E-N01 4"},
      {host("if b:\n    a: f32\nelse:\n    q = a"), "E-N01 5"},
      {host("q = a\na: f32"), "E-N01 2"},
      {host("for t in seq(0, t):\n    pass"), "E-N01 2"},
  });
}

TEST_CASE("a second declaration shadows the first") {
  const auto loaded = load_text(host("a: f32\na = 1.0\nif b:\n    a: f16\n    a = 2.0\na = 3.0"));
  REQUIRE(loaded.diagnostics.empty());
  std::vector<ir::SymId> targets;
  ir::for_each_stmt(loaded.program.procedures.at(0).body, [&](const ir::Stmt& s) {
    if (const auto* a = std::get_if<ir::Assign>(&s.node)) targets.push_back(a->target);
  });
  REQUIRE(targets.size() == 3);
  CHECK(targets[0] != targets[1]);
  CHECK(targets[0] == targets[2]);
}

TEST_CASE("file constants stand for their values") {
  const std::string constants = "T = 4\nscale = 0.5\non = True\nname = 'a'\n";
  check_rows({
      {constants + host("if on:\n    x[T] = scale"), ""},
      {constants + host("a: f32[T]\nfor t in seq(0, T):\n    a[t] = T"), ""},
      {constants + host("q = name"), "E-N01 6"},
      {constants + host("T: f32\nT = 1.0"), ""},  // a local name hides the constant
      {constants + host("for t in cuda_threads(0, 4, unit=T * cuda_warp):\n    pass"), ""},
      {host("q = T") + "T = 4\n", "E-N01 2"},
  });
}

namespace {

// Names of the barriers that the Arrives and Awaits mean, by line.
std::vector<std::string> barriers(const std::string& text) {
  const auto loaded = load_text(text);
  REQUIRE(loaded.program.procedures.size() == 1);
  const auto& procedure = loaded.program.procedures[0];
  std::vector<std::string> out;
  const auto add = [&](const ir::BarrierExpr& e) {
    std::string name = procedure.symbol(e.var).name;
    for (const ir::Access& a : e.index) {
      const auto* var = std::get_if<ir::VarRef>(&a.lo->node);
      if (var) name += "[" + procedure.symbol(var->var).name + "]";
    }
    out.push_back(name);
  };
  ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) {
    if (const auto* a = std::get_if<ir::Arrive>(&s.node)) {
      for (const ir::BarrierExpr& e : a->targets) add(e);
    }
    if (const auto* a = std::get_if<ir::Await>(&s.node)) add(a->barrier);
  });
  return out;
}

}  // namespace

TEST_CASE("printed synchronization statements say the original name") {
  const std::string printed = device(
      "cg: barrier @ Sm80_CommitGroup\n"
      "Arrive(Sm80_cp_async, 1) >> cg\n"
      "if True:\n"
      "    cg_1: barrier @ Sm80_CommitGroup\n"
      "    Arrive(Sm80_cp_async, 1) >> cg\n"
      "    Await(cg, cuda_in_order, 0)\n"
      "Await(cg, cuda_in_order, 0)");
  CHECK(barriers(printed) == std::vector<std::string>{"cg", "cg_1", "cg_1", "cg"});
  CHECK(joined(findings(printed)) == "W-N01 8, W-N01 9");

  // Where `cg_1` is said by itself, `cg` means `cg`.
  const std::string written = device(
      "cg: barrier @ Sm80_CommitGroup\n"
      "cg_1: barrier @ Sm80_CommitGroup\n"
      "Arrive(Sm80_cp_async, 1) >> cg\n"
      "Await(cg_1, cuda_in_order, 0)");
  CHECK(barriers(written) == std::vector<std::string>{"cg", "cg_1"});
  CHECK(findings(written).empty());
}

TEST_CASE("printed index variables of synchronization statements") {
  const std::string printed = device(
      "z: barrier[4] @ CudaMbarrier\n"
      "for i in cuda_threads(0, 4, unit=8 * cuda_thread):\n"
      "    for i_1 in cuda_threads(0, 4, unit=cuda_thread):\n"
      "        Arrive(cuda_in_order, 1) >> z[i]\n"
      "    Await(z[i], cuda_in_order, ~0)");
  CHECK(barriers(printed) == std::vector<std::string>{"z[i_1]", "z[i]"});
  CHECK(joined(findings(printed)) == "W-N01 7");

  const std::string written = device(
      "z: barrier[4, 4] @ CudaMbarrier\n"
      "for i in cuda_threads(0, 4, unit=8 * cuda_thread):\n"
      "    for i_1 in cuda_threads(0, 4, unit=cuda_thread):\n"
      "        Arrive(cuda_in_order, 1) >> z[i, i_1]");
  CHECK(barriers(written) == std::vector<std::string>{"z[i][i_1]"});
  CHECK(findings(written).empty());
}

TEST_CASE("window shapes are the extents of the intervals") {
  const auto loaded = load_text(host("v = y[8 * i:8 * i + 8, 1]\nu = y[i:n, :]"));
  REQUIRE(loaded.diagnostics.empty());
  const auto& procedure = loaded.program.procedures.at(0);
  const auto& v = procedure.symbol(std::get<ir::WindowStmt>(procedure.body.at(0).node).result);
  REQUIRE(v.rank() == 1);
  CHECK(ir::constant_value(*v.shape[0]) == 8);
  const auto& u = procedure.symbol(std::get<ir::WindowStmt>(procedure.body.at(1).node).result);
  REQUIRE(u.rank() == 2);
  CHECK(std::get<ir::Binary>(u.shape[0]->node).op == ir::BinaryOp::sub);
  CHECK(ir::constant_value(*u.shape[1]) == 4);
}

TEST_CASE("ids are unique and below the counts") {
  const auto loaded =
      load_text(host("for t in seq(0, n):\n    v = y[t, 0:2]\n    if 0 <= t < 3:\n        v[0] += v[1] * 2"));
  REQUIRE(loaded.diagnostics.empty());
  const auto& procedure = loaded.program.procedures.at(0);
  std::vector<std::uint32_t> statements;
  std::vector<std::uint32_t> expressions;
  ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) {
    statements.push_back(static_cast<std::uint32_t>(s.id));
    ir::for_each_expr(s, [&](const ir::Expr& e) {
      ir::for_each_subexpr(
          e, [&](const ir::Expr& sub) { expressions.push_back(static_cast<std::uint32_t>(sub.id)); });
    });
  });
  CHECK(std::is_sorted(statements.begin(), statements.end()));
  CHECK(std::adjacent_find(statements.begin(), statements.end()) == statements.end());
  CHECK(statements.back() < procedure.statement_count);
  std::sort(expressions.begin(), expressions.end());
  CHECK(std::adjacent_find(expressions.begin(), expressions.end()) == expressions.end());
  CHECK(expressions.back() < procedure.expression_count);
}

TEST_CASE("misspelt names get a suggestion") {
  const auto loaded = load_text(host("total: f32\ntota = 1.0"));
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].message.find("did you mean `total`?") != std::string::npos);
}

TEST_CASE("extents that grow without bound are refused") {
  std::string windows = "v0 = x[0:n]\n";
  for (int k = 0; k < 400; ++k)
    windows += "v" + std::to_string(k + 1) + " = v" + std::to_string(k) + "[i:]\n";
  CHECK(joined(findings(host(windows))).starts_with("L-07 "));
  CHECK(findings(host("v = x[0:n]\nu = v[i:]\nt = u[i:]")).empty());
}
