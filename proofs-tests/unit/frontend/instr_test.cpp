// Instruction definitions and their instances (language.md 2.8; decisions.md I1, I2).
#include "elaborate_checks.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::frontend::test;
using exocheck::semantics::Precision;
namespace ir = exocheck::semantics::ir;
namespace semantics = exocheck::semantics;

namespace {

// `@instr(attributes)` on line 1, the behaviour on lines 2 to 4.
std::string instr(
    const std::string& attributes,
    const std::string& parameters = "w: size, to: [R][w] @ CudaSmemLinear, fro: [R][w] @ CudaGmemLinear") {
  return "@instr(" + attributes + ")\ndef move(" + parameters +
         "):\n    for j in seq(0, w):\n        to[j] = fro[j]\n";
}
const std::string usual = "tl=Sm80_cp_async_instr, unit=cuda_thread, template=[w], types=same, ooo=[to, fro]";

// A caller below the definition; the call stands on line 9 + 1.
std::string called(const std::string& definition, const std::string& call) {
  return definition +
         "def p(n: size, g: f32[n, 4] @ CudaGmemLinear, h: f16[n, 4] @ CudaGmemLinear):\n"
         "    with CudaDeviceFunction(blockDim=32):\n"
         "        for task in cuda_tasks(0, 1):\n"
         "            s: f32[n, 4] @ CudaSmemLinear\n"
         "            sh: f16[n, 4] @ CudaSmemLinear\n" +
         indented(call, "            ");
}

const ir::Instr& called_instr(const exocheck::frontend::LoadResult& loaded, std::size_t which = 0) {
  std::vector<ir::InstrPtr> found;
  for (const auto& procedure : loaded.program.procedures) {
    ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) {
      if (const auto* call = std::get_if<ir::Call>(&s.node); call && call->instr)
        found.push_back(call->instr);
    });
  }
  return *found.at(which);
}

}  // namespace

TEST_CASE("attributes of definitions") {
  check_rows({
      {instr(usual), ""},
      {instr(usual + ", where=w * bits(to) == 128, cuda=\"asm {to:ptr}\", includes=['a.h']"), ""},
      {instr("tl=wgmma_fence_1, template=[w], types=same"), "E-I01 1"},
      {instr("tl=cuda_warp, template=[w], types=same"), "E-I01 1"},
      {instr("tl=cuda_in_order, template=[w], types=same"), ""},
      {instr("tl=cuda_in_orderr, template=[w], types=same"), "E-N03 1"},
      {instr("template=[to], types=same"), "E-I02 1"},
      {instr("template=[nobody], types=same"), "E-I02 1"},
      {instr(usual + ", extra={w: 4}"), "E-I03 1"},
      {instr(usual + ", extra={a: 4}, let={a: 5}"), "E-I03 1"},
      {instr(usual + ", extra={a: 4, c: required}, let={e: a + c}"), ""},
      {instr("template=[w]"), "E-I04 1"},
      {instr("tl=Sm80_cp_async_instr, template=[w], types=same"), "E-I05 2, E-I05 2"},
      {instr("tl=Sm80_cp_async_instr, template=[w], types=same, ooo=[to, fro], inorder=[fro]"), "E-I05 2"},
      {instr("tl=Sm80_cp_async_instr, template=[w], types=same, ooo=[to], inorder=[fro]"), ""},
      {instr(usual + ", atomic={to: []}"), "E-I06 1"},
      {instr(usual + ", atomic={fro: [cuda_in_order_ram_qual]}"), "E-I06 2"},
      {instr(usual + ", atomic={to: [cuda_in_order_ram_qual]}"), ""},
      {instr(usual + ", distributed={w: [cuda_thread]}"), "E-I07 1"},
      {instr(usual + ", distributed={to: [cuda_thread]}"), ""},
      {instr("template=[w], types=same, distributed={to: [cuda_thread]}"), "E-I08 1"},
      {instr(usual + ", bogus=1"), "E-P64 1"},
      {instr(usual + ", unit=cuda_warp"), "E-P64 1"},
      {instr(usual + ", barrier=cuda_warp"), "E-N03 1"},
      {instr(usual + ", owner_only={to: 5}"), "E-P64 1"},
      {"@instr(tl=cuda_in_order)\ndef move(x: [f32][4]) -> f32:\n    pass\n", "E-P23 2"},
      {"@instr(tl=cuda_in_order)\ndef move(x: [f32][4]):\n    Fence(cuda_in_order, cuda_in_order)\n",
       "E-P71 3"},
      {"@instr(tl=cuda_in_order)\ndef move(x: [f32][4]):\n    z: barrier @ CudaMbarrier\n", "E-P71 3"},
      {"@instr(tl=cuda_in_order)\ndef move(x: [f32][4]):\n    move(x)\n", "E-P71 3"},
      {"@instr(tl=cuda_in_order)\ndef move(x: [f32][4]):\n    y[0] = x[0]\n", "E-N01 3"},
      {"@instr(tl=cuda_in_order)\ndef move(x: [f32][4]):\n    x[0] = 1.0\n", ""},
  });
}

TEST_CASE("template values of a call") {
  const std::string definition = instr(usual + ", where=w * bits(to) == 128, extra={mode: 1}");
  check_rows({
      {called(definition, "move(s[0, :], g[0, :], to=f32, fro=f32, w=4)"), ""},
      {called(definition, "move(s[0, :], g[0, :], w=4, fro=f32, to=f32, mode='x')"), ""},
      {called(definition, "move(s[0, :], g[0, :], to=f32, fro=f32)"), "E-C10 10"},
      {called(definition, "move(s[0, :], g[0, :], to=f32, fro=f32, w=4, v=1)"), "E-C11 10"},
      {called(definition, "move(s[0, :], g[0, :], to=f32, fro=f32, w=4, w=4)"), "E-C11 10"},
      {called(definition, "move(s[0, :], g[0, :], to=f32, fro=f32, w=4.0)"), "E-C12 10"},
      {called(definition, "move(s[0, :], g[0, :], to=f32, fro=f32, w=n)"), "E-C12 10"},
      {called(definition, "move(s[0, :], g[0, :], to=4, fro=f32, w=4)"), "E-C12 10"},
      {called(definition, "move(s[0, :], g[0, :], 4, to=f32, fro=f32, w=4)"), "E-C02 10"},
      {called(definition, "move(s[0, 0:2], g[0, 0:2], to=f32, fro=f32, w=2)"), "E-I10 10"},
      {called(definition, "move(sh[0, :], g[0, :], to=f16, fro=f32, w=4)"), "E-I10 10"},
      {called(definition, "move(s[0, :], h[0, :], to=f32, fro=f32, w=4)"), "E-F03 10"},
      {called(definition, "move(s, g[0, :], to=f32, fro=f32, w=4)"), "E-C07 10"},
      // A faulty definition is reported once.
      {called(instr(usual + ", bogus=1"), "move(s[0, :], g[0, :], to=f32, fro=f32)"), "E-P64 1"},
  });
}

TEST_CASE("the library refuses what its instructions do not support") {
  check_rows({
      {device("s: f32[4] @ CudaSmemLinear\nSm80_cp_async_f32(s[0:4], g[0:4], size=4)"), ""},
      {device("s: f32[4] @ CudaSmemLinear\nSm80_cp_async_f32(s[0:3], g[0:3], size=3)"), "E-C13 5"},
  });
}

TEST_CASE("assertions on template values are decided at the call") {
  const std::string definition =
      "@instr(tl=cuda_in_order_instr, template=[w])\n"
      "def fill(w: size, m: index, to: [f32][w] @ CudaSmemLinear):\n"
      "    assert w % 2 == 0\n"
      "    assert m < w\n"
      "    to[m] = 0.0\n";
  const std::string caller =
      "def p():\n    with CudaDeviceFunction(32):\n        for t in cuda_tasks(0, 1):\n"
      "            s: f32[4] @ CudaSmemLinear\n            fill(0, s[0:W], w=W)\n";
  check_rows({{"W = 4\n" + definition + caller, ""}, {"W = 3\n" + definition + caller, "E-I10 11"}});
  const auto loaded = load_text("W = 4\n" + definition + caller);
  CHECK(called_instr(loaded).behaviour.assertions.size() == 1);
}

TEST_CASE("an instance has its template values filled in") {
  const auto loaded = load_text(
      called(instr(usual + ", cuda='copy', oob=[fro], extra={swizzle: 2 * w}"),
             "move(sh[0, :], h[0, :], to=f16, fro=f16, w=4)\nmove(sh[1, :], h[1, :], to=f16, fro=f16, w=4)\n"
             "move(s[0, :], g[0, :], to=f32, fro=f32, w=4)"));
  REQUIRE(loaded.diagnostics.empty());
  const ir::Instr& move = called_instr(loaded);
  CHECK(&move == &called_instr(loaded, 1));  // equal values share one instance
  CHECK(&move != &called_instr(loaded, 2));
  CHECK(move.name == "move");
  CHECK(move.template_values == std::vector<std::pair<std::string, std::string>>{
                                    {"to", "f16"}, {"fro", "f16"}, {"w", "4"}, {"swizzle", "8"}});
  CHECK(move.timeline == semantics::InstrTimeline::Sm80_cp_async);
  CHECK(move.unit == semantics::unit_thread());
  CHECK(move.code == std::vector<std::string>{"copy"});
  CHECK_FALSE(move.library);
  REQUIRE(move.parameters.size() == 2);
  CHECK(move.parameters[0].mode == ir::AccessMode::write_only);
  CHECK(move.parameters[1].mode == ir::AccessMode::read_only);
  CHECK(move.parameters[0].out_of_order);
  CHECK(move.parameters[1].out_of_bounds);
  CHECK_FALSE(move.parameters[0].out_of_bounds);
  const ir::Symbol& to = move.behaviour.symbol(move.parameters[0].var);
  CHECK(to.precision == Precision::f16);
  CHECK(to.memory->is(semantics::MemoryKind::CudaSmemLinear));
  CHECK(ir::constant_value(*to.shape.at(0)) == 4);
  const auto& loop = std::get<ir::For>(move.behaviour.body.at(0).node);
  CHECK(ir::constant_value(*loop.hi) == 4);
}

TEST_CASE("access modes come from the behaviour") {
  const std::string definition =
      "@instr(tl=cuda_in_order_instr, atomic={c: [cuda_in_order_ram_qual]})\n"
      "def mma(a: [f32][4] @ CudaRmem, c: [f32][4] @ CudaRmem, e: [f32][4] @ CudaRmem, f: [f32][4] @ "
      "CudaRmem, m: index):\n"
      "    v = e[1:3]\n"
      "    v[0] = a[0]\n"
      "    c[0] += a[1]\n";
  const auto loaded =
      load_text(definition +
                "def p():\n    with CudaDeviceFunction(32):\n        for t in cuda_tasks(0, 1):\n"
                "            r: f32[4, 4] @ CudaRmem\n"
                "            mma(r[0, :], r[1, :], r[2, :], r[3, :], 5)\n");
  REQUIRE(loaded.diagnostics.empty());
  const ir::Instr& mma = called_instr(loaded);
  std::vector<ir::AccessMode> modes;
  for (const ir::InstrParameter& p : mma.parameters) modes.push_back(p.mode);
  CHECK(modes == std::vector{ir::AccessMode::read_only, ir::AccessMode::read_write,
                             ir::AccessMode::write_only, ir::AccessMode::unused, ir::AccessMode::unused});
  CHECK(mma.parameters[1].atomic == semantics::QualSet{semantics::Qual::ram});
}

TEST_CASE("units, barriers and distribution are evaluated for the instance") {
  const std::string definition =
      "@instr(tl=tma_to_smem_async_instr, unit=k * cuda_warp_in_cluster_strided(2), template=[k], ooo=[to],\n"
      "       barrier=CudaMbarrier, barrier_units=[cuda_cta_in_cluster], distributed={to: "
      "[cuda_cta_in_cluster]},\n"
      "       owner_only={to: True}, types={f16, f32})\n"
      "def cast(k: size, to: [R][k, 8] @ CudaSmemLinear):\n"
      "    for c in seq(0, k):\n"
      "        to[c, 0] = 1.0\n";
  const auto call = [&](const std::string& precision) {
    return definition + "def p(s: " + precision +
           "[2, 8] @ CudaSmemLinear):\n"
           "    with CudaDeviceFunction(32, 4):\n        for t in cuda_tasks(0, 1):\n"
           "            z: barrier[2] @ CudaMbarrier\n            cast(s[:, :], to=" +
           precision + ", k=2) >> z[:]\n";
  };
  const auto loaded = load_text(call("f16"));
  REQUIRE(loaded.diagnostics.empty());
  const ir::Instr& cast = called_instr(loaded);
  CHECK(cast.unit.text() == "2 * cuda_warp_in_cluster_strided(2)");
  CHECK(cast.barrier == semantics::MechanismKind::CudaMbarrier);
  CHECK(cast.barrier_units == std::vector{semantics::unit_cta()});
  CHECK(cast.parameters[0].distributed == std::vector{semantics::unit_cta()});
  CHECK(cast.parameters[0].owner_only);
  CHECK(joined(findings(call("i8"))) == "E-I10 11");
}

TEST_CASE("printed old-style instructions") {
  const auto loaded = load_text(
      "def put(x: [f32][1]):\n"
      "    # @instr *{x_data} = 1.0f;\n"
      "    #        second();\n"
      "    x[0] = 1.0\n"
      "def p(x: f32[4]):\n"
      "    put(x[0:1])\n");
  REQUIRE(loaded.diagnostics.empty());
  REQUIRE(loaded.program.procedures.size() == 1);
  const ir::Instr& put = called_instr(loaded);
  CHECK(put.code.size() == 2);
  CHECK(put.timeline == semantics::InstrTimeline::cpu_in_order);
}

TEST_CASE("a definition of the file hides the library's") {
  const auto loaded = load_text(
      "def Sm80_cp_async_f32(n: size):\n    pass\n"
      "def p(n: size):\n    Sm80_cp_async_f32(n)\n");
  CHECK(loaded.diagnostics.empty());
  CHECK(loaded.program.procedures.size() == 2);
}
