// Every record of the built-in instruction library can be called, and carries the flags that decisions.md G
// and H give it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "frontend/frontend.hpp"
#include "frontend/parse.hpp"
#include "frontend/printer.hpp"
#include "semantics/ir_util.hpp"
#include "semantics/library.hpp"

using namespace exocheck;
using namespace exocheck::frontend;
namespace ir = semantics::ir;

namespace {

// What a call needs around it: parameters of the procedure, host statements, allocations in the kernel.
struct Scene {
  std::string parameters, host, device;
};

std::string program_text(const Scene& scene, const std::string& call, bool on_host) {
  std::string out = "def p(" + scene.parameters + "):\n";
  for (const std::string& line : {scene.host, on_host ? call : std::string()}) {
    if (!line.empty()) out += "    " + line + "\n";
  }
  if (on_host) return out;
  out += "    with CudaDeviceFunction(blockDim=128):\n        for task in cuda_tasks(0, 1):\n";
  std::string rest = scene.device;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += "            " + rest.substr(0, end) + "\n";
    rest.erase(0, end + 1);
  }
  return out + "            " + call + "\n";
}

LoadResult load_call(const Scene& scene, const std::string& call, bool on_host) {
  return load(std::make_shared<const semantics::SourceFile>("test.exo", program_text(scene, call, on_host)));
}

std::string units(const std::vector<semantics::CollUnit>& list) {
  std::string out;
  for (const auto& u : list) out += (out.empty() ? "" : ", ") + u.text();
  return out;
}

std::string mode(ir::AccessMode m) {
  switch (m) {
    case ir::AccessMode::unused:
      return "-";
    case ir::AccessMode::read_only:
      return "ro";
    case ir::AccessMode::write_only:
      return "wo";
    case ir::AccessMode::read_write:
      return "rw";
  }
  return "?";
}

// "cuda_in_order_instr cuda_warp: dst wo f32[16, 8] CudaSmemLinear; src ..."; flags o (out of order), oob,
// atomic, owner, {units of distribution}.
std::string describe(const ir::Instr& instr) {
  std::string out = fmt::format("{} {}", semantics::name(instr.timeline), instr.unit.text());
  if (instr.barrier)
    out += fmt::format(" >> {}[{}]", semantics::kind_name(*instr.barrier), units(instr.barrier_units));
  const char* separator = ":";
  for (const ir::InstrParameter& p : instr.parameters) {
    const ir::Symbol& s = instr.behaviour.symbol(p.var);
    out += fmt::format("{} {}", separator, s.name);
    separator = ";";
    if (s.control()) continue;
    std::string shape;
    for (const ir::ExprPtr& e : s.shape) shape += (shape.empty() ? "" : ", ") + print(*e, instr.behaviour);
    out += fmt::format(" {} {}[{}] {}", mode(p.mode), semantics::name(s.precision), shape, s.memory->text());
    if (p.out_of_order) out += " o";
    if (p.out_of_bounds) out += " oob";
    for (const semantics::Qual q : p.atomic.members())
      out += fmt::format(" atomic:{}", semantics::qual_record(q).short_name);
    if (!p.distributed.empty()) out += fmt::format(" {{{}}}", units(p.distributed));
    if (p.owner_only) out += " owner";
  }
  return out;
}

// Names of the library instructions that the tests called.
std::set<std::string>& called() {
  static std::set<std::string> names;
  return names;
}

// The description of the called instance, or the codes of the errors.
std::string described(const Scene& scene, const std::string& call, bool on_host = false) {
  const LoadResult r = load_call(scene, call, on_host);
  std::string errors;
  for (const auto& d : r.all_findings()) {
    if (d.severity == semantics::Severity::error)
      errors += std::string(d.rule->code) + ": " + d.message + "\n";
  }
  if (!errors.empty()) return errors;
  std::string out;
  ir::for_each_stmt(r.program.procedures.at(0).body, [&out](const ir::Stmt& s) {
    const auto* c = std::get_if<ir::Call>(&s.node);
    if (c == nullptr) return;
    out = describe(*c->instr);
    CHECK(c->instr->library);
    called().insert(c->instr->name);
  });
  return out;
}

std::string code(const Scene& scene, const std::string& call) { return described(scene, call).substr(0, 5); }

const Scene host_arrays{
    "n: size, m: size, x1: {0}[n] @ DRAM, g1: {0}[n] @ CudaGmemLinear, x2: {0}[n, m] @ DRAM, g2: {0}[n, m] @ "
    "CudaGmemLinear, "
    "x3: {0}[n, m, n] @ DRAM, g3: {0}[n, m, n] @ CudaGmemLinear, x4: {0}[n, m, n, 2] @ DRAM, "
    "g4: {0}[n, m, n, 2] @ CudaGmemLinear, x5: {0}[n, m, n, 2, 3] @ DRAM, g5: {0}[n, m, n, 2, 3] @ "
    "CudaGmemLinear",
    "", ""};

Scene host_scene(const std::string& precision) {
  Scene s = host_arrays;
  for (std::size_t at; (at = s.parameters.find("{0}")) != std::string::npos;)
    s.parameters.replace(at, 3, precision);
  return s;
}

}  // namespace

TEST_CASE("host copies and memsets", "[library]") {
  const char* sizes[] = {"", "n", "n, m", "n, m, n", "n, m, n, 2", "n, m, n, 2, 3"};
  const char* shapes[] = {"", "n", "M, N", "L, M, N", "K, L, M, N", "J, K, L, M, N"};
  for (const std::string type : {"f32", "i32", "f16"}) {
    const Scene scene = host_scene(type);
    for (int d = 1; d <= 5; ++d) {
      const std::string suffix = type == "f16" ? fmt::format("_{}d", d) : fmt::format("_{}{}", d, type);
      const std::string keyword = type == "f16" ? ", dst=f16, src=f16" : "";
      const std::string names = fmt::format("{}", fmt::join(std::string(shapes[d]), ""));
      std::string controls;
      for (const char c : names) {
        if (c >= 'A') controls += fmt::format(" {};", c);
      }
      const auto data = [&](const char* name, const char* access, const char* memory) {
        return fmt::format("{} {} {}[{}] {}", name, access, type, shapes[d], memory);
      };
      CHECK(described(scene,
                      fmt::format("cudaMemcpyAsync_htod{}({}, g{}, x{}{})", suffix, sizes[d], d, d, keyword),
                      true) == fmt::format("cpu_cuda_stream_instr standalone_thread:{} {}; {}", controls,
                                           data("dst", "wo", "CudaGmemLinear"), data("src", "ro", "DRAM")));
      CHECK(described(scene,
                      fmt::format("cudaMemcpyAsync_dtoh{}({}, x{}, g{}{})", suffix, sizes[d], d, d, keyword),
                      true) == fmt::format("cpu_cuda_stream_instr standalone_thread:{} {}; {}", controls,
                                           data("dst", "wo", "DRAM"), data("src", "ro", "CudaGmemLinear")));
      CHECK(described(scene,
                      fmt::format("cudaMemsetAsync0{}({}, g{}{})", suffix, sizes[d], d,
                                  type == "f16" ? ", dst=f16" : ""),
                      true) == fmt::format("cpu_cuda_stream_instr standalone_thread:{} {}", controls,
                                           data("dst", "wo", "CudaGmemLinear")));
    }
  }
}

TEST_CASE("cp.async", "[library]") {
  const Scene scene{"g: f32[64, 64] @ CudaGmemLinear, h: f16[64, 64] @ CudaGmemLinear", "",
                    "s: f32[64, 64] @ CudaSmemLinear\nt: f16[4, 4] @ CudaSmemLinear"};
  for (const int size : {1, 2, 4}) {
    CHECK(described(scene, fmt::format("Sm80_cp_async_f32(s[0, 0:{0}], g[0, 0:{0}], size={0})", size)) ==
          fmt::format(
              "Sm80_cp_async_instr cuda_thread: smem wo f32[{0}] CudaSmemAtomicity16B o; gmem ro f32[{0}] "
              "CudaGmemLinear o",
              size));
  }
  CHECK(code(scene, "Sm80_cp_async_f32(s[0, 0:3], g[0, 0:3], size=3)") == "E-C13");
  CHECK(code(scene, "Sm80_cp_async_f32(s[0, 0:8], g[0, 0:8], size=8)") == "E-C13");
  CHECK(described(scene, "Sm80_cp_async_1d(t[0, 0:4], h[0, 0:4], dst=f16, src=f16, size0=4)") ==
        "Sm80_cp_async_instr cuda_thread: dst wo f16[4] CudaSmemAtomicity16B o; src ro f16[4] "
        "CudaGmemAtomicity16B o");
  CHECK(described(scene, "Sm80_cp_async_2d(t[0:2, 0:4], h[0:2, 0:4], dst=f16, src=f16, size0=2, size1=4)") ==
        "Sm80_cp_async_instr cuda_thread: dst wo f16[2, 4] CudaSmemAtomicity16B o; src ro f16[2, 4] "
        "CudaGmemAtomicity16B o");
}

TEST_CASE("warp matrix instructions", "[library]") {
  const Scene scene{"g: f32[64, 64] @ CudaGmemLinear", "",
                    "A: f32[16, 8] @ Sm80_RmemMatrixA(16, 8)\nB: f32[8, 8] @ Sm80_RmemMatrixB(8, 8)\n"
                    "D: f32[16, 8] @ Sm80_RmemMatrixD(16, 8)"};
  const std::string head = "cuda_in_order_instr cuda_warp: ";
  const std::string visible = " CudaDeviceVisibleAtomicity16B";
  CHECK(described(scene, "Sm80_mma_load_a_row_major_tf32(A[:, :], g[0:16, 0:8], K=8)") ==
        head + "rmem wo f32[16, 8] Sm80_RmemMatrixA(16, 8); src ro f32[16, 8]" + visible);
  CHECK(described(scene, "Sm80_mma_load_a_col_major_tf32(A[:, :], g[0:8, 0:16], K=8)") ==
        head + "rmem wo f32[16, 8] Sm80_RmemMatrixA(16, 8); src ro f32[8, 16]" + visible);
  CHECK(described(scene, "Sm80_mma_load_b_row_major_tf32(B[:, :], g[0:8, 0:8], K=8)") ==
        head + "rmem wo f32[8, 8] Sm80_RmemMatrixB(8, 8); src ro f32[8, 8]" + visible);
  CHECK(described(scene, "Sm80_mma_load_b_col_major_tf32(B[:, :], g[0:8, 0:8], K=8)") ==
        head + "rmem wo f32[8, 8] Sm80_RmemMatrixB(8, 8); src ro f32[8, 8]" + visible);
  CHECK(
      described(scene, "Sm80_mma_tf32(D[:, :], A[:, :], B[:, :], K=8)") ==
      head +
          "D rw f32[16, 8] Sm80_RmemMatrixD(16, 8); A ro f32[16, 8] Sm80_RmemMatrixA(16, 8); B ro f32[8, 8] "
          "Sm80_RmemMatrixB(8, 8)");
  CHECK(code(scene, "Sm80_mma_tf32(D[:, :], A[:, :], B[:, :], K=16)") == "E-C13");
  CHECK(described(scene, "Sm80_mma_zero_d_tf32(D[:, :])") ==
        head + "rmem wo f32[16, 8] Sm80_RmemMatrixD(16, 8)");
  for (const std::string order : {"row", "col"}) {
    const std::string window = order == "row" ? "g[0:16, 0:8]" : "g[0:8, 0:16]";
    const std::string shape = order == "row" ? "f32[16, 8]" : "f32[8, 16]";
    const std::string source = "; rmem ro f32[16, 8] Sm80_RmemMatrixD(16, 8)";
    CHECK(described(scene, fmt::format("Sm80_mma_store_d_{}_major_tf32({}, D[:, :])", order, window)) ==
          head + "dst wo " + shape + visible + source);
    CHECK(described(scene, fmt::format("Sm80_mma_reduce_d_{}_major_tf32({}, D[:, :])", order, window)) ==
          head + "dst rw " + shape + visible + source);
    CHECK(
        described(scene, fmt::format("Sm80_mma_atomic_reduce_d_{}_major_tf32({}, D[:, :])", order, window)) ==
        head + "dst rw " + shape + visible + " atomic:ram" + source);
  }
}

TEST_CASE("packed warp matrix instructions", "[library]") {
  const Scene scene{
      "", "",
      "s: f16[64, 64] @ CudaSmemLinear\nb: bf16[64, 64] @ CudaSmemLinear\nf: f32[64, 64] @ CudaSmemLinear\n"
      "i: i32[64, 64] @ CudaSmemLinear\nh: f16[8, 4, 2, 2, 2] @ CudaRmemPacked32\n"
      "g: bf16[8, 4, 2, 2, 2] @ CudaRmemPacked32\nr: f32[8, 4, 2, 2, 1] @ CudaRmemPacked32\n"
      "q: i32[8, 4, 2, 2, 1] @ CudaRmemPacked32\nc: f16[8, 4, 2, 2] @ CudaRmemPacked32\n"
      "D: f32[16, 8] @ Sm80_RmemMatrixD(16, 8)"};
  const std::string lanes = " {4 * cuda_thread, cuda_thread}";
  CHECK(described(scene,
                  "Sm80_ldmatrix_16b(h[:, :, :, :, :], s[0:16, 0:16], dst=f16, src=f16, nmat0=2, nmat1=2, "
                  "operand='A')") ==
        "cuda_in_order_instr cuda_warp: dst wo f16[8, 4, 2, 2, 2] CudaRmemPacked32" + lanes +
            "; src ro f16[16, 16] CudaSmemAtomicity16B");
  CHECK(described(scene,
                  "Sm80_ldmatrix_32b(r[:, :, :, :, :], f[0:16, 0:8], dst=f32, src=f32, nmat0=2, nmat1=2)") ==
        "cuda_in_order_instr cuda_warp: dst wo f32[8, 4, 2, 2, 1] CudaRmemPacked32" + lanes +
            "; src ro f32[16, 8] CudaSmemAtomicity16B");
  for (const auto& [type, registers, memory] :
       {std::tuple{"f16", "h", "s[0:16, 0:16]"}, std::tuple{"bf16", "g", "b[0:16, 0:16]"},
        std::tuple{"f32", "r", "f[0:16, 0:8]"}, std::tuple{"i32", "q", "i[0:16, 0:8]"}}) {
    CHECK(described(scene, fmt::format("Sm80_ldmatrix_{}({}[:, :, :, :, :], {}, nmat0=2, nmat1=2)", type,
                                       registers, memory))
              .starts_with("cuda_in_order_instr cuda_warp: dst wo"));
  }
  CHECK(
      described(scene,
                "Sm80_mma_m16n8(D[:, :], h[:, :, :, :, :], c[:, :, :, :], D=f32, A=f16, B=f16, K_pack=2)") ==
      "cuda_in_order_instr cuda_warp: D rw f32[16, 8] Sm80_RmemMatrixD(16, 8); A ro f16[8, 4, 2, 2, 2] "
      "CudaRmemPacked32" +
          lanes + "; B ro f16[8, 4, 2, 2] CudaRmemPacked32" + lanes);
  CHECK(described(scene, "Sm80_mma_m16n8_zero(D[:, :], D=f32)") ==
        "cuda_in_order_instr cuda_warp: D wo f32[16, 8] Sm80_RmemMatrixD(16, 8)");
}

TEST_CASE("packed loads and stores", "[library]") {
  const Scene scene{
      "gh: f16[64] @ CudaGmemLinear, gf: f32[64] @ CudaGmemLinear", "",
      "sh: f16[64] @ CudaSmemLinear\nsf: f32[64] @ CudaSmemLinear\nsi: i32[64] @ CudaSmemLinear\n"
      "sb: bf16[64] @ CudaSmemLinear\nph: f16[2] @ CudaRmemPacked32\npf: f32[1] @ CudaRmemPacked32\n"
      "pi: i32[1] @ CudaRmemPacked32\npb: bf16[2] @ CudaRmemPacked32\nvh: f16[4, 2] @ CudaRmemPacked32\n"
      "vf: f32[4, 1] @ CudaRmemPacked32"};
  const std::string head = "cuda_in_order_instr cuda_thread: ";
  CHECK(described(scene, "cuda_packed32_load(ph[:], sh[0:2], dst=f16, src=f16, pack=2)") ==
        head + "dst wo f16[2] CudaRmemPacked32; src ro f16[2] CudaDeviceVisibleAtomicity16B");
  CHECK(described(scene, "cuda_packed32_store(sh[0:2], ph[:], dst=f16, src=f16, pack=2)") ==
        head + "dst wo f16[2] CudaDeviceVisibleAtomicity16B; src ro f16[2] CudaRmemPacked32");
  for (const auto& [type, n, suffix] : {std::tuple{"f16", 2, "h"}, std::tuple{"bf16", 2, "b"},
                                        std::tuple{"f32", 1, "f"}, std::tuple{"i32", 1, "i"}}) {
    CHECK(described(scene, fmt::format("cuda_packed_load_{}(p{}[:], s{}[0:{}])", type, suffix, suffix, n)) ==
          head +
              fmt::format("dst wo {0}[{1}] CudaRmemPacked32; src ro {0}[{1}] CudaDeviceVisibleAtomicity16B",
                          type, n));
    CHECK(described(scene, fmt::format("cuda_packed_store_{}(s{}[0:{}], p{}[:])", type, suffix, n, suffix)) ==
          head +
              fmt::format("dst wo {0}[{1}] CudaDeviceVisibleAtomicity16B; src ro {0}[{1}] CudaRmemPacked32",
                          type, n));
  }
  CHECK(described(scene, "cuda_packed32_loadv_16b(vh[:, :], gh[0:8], dst=f16, src=f16, v=4, mem='global')") ==
        head + "dst wo f16[4, 2] CudaRmemPacked32; src ro f16[8] CudaGmemAtomicity16B");
  CHECK(described(scene, "cuda_packed32_loadv_32b(vf[:, :], sf[0:4], dst=f32, src=f32, v=4, mem='shared')") ==
        head + "dst wo f32[4, 1] CudaRmemPacked32; src ro f32[4] CudaSmemAtomicity16B");
  CHECK(
      described(scene, "cuda_packed32_storev_16b(sh[0:8], vh[:, :], dst=f16, src=f16, v=4, mem='shared')") ==
      head + "dst wo f16[8] CudaSmemAtomicity16B; src ro f16[4, 2] CudaRmemPacked32");
  CHECK(
      described(scene, "cuda_packed32_storev_32b(gf[0:4], vf[:, :], dst=f32, src=f32, v=4, mem='global')") ==
      head + "dst wo f32[4] CudaGmemAtomicity16B; src ro f32[4, 1] CudaRmemPacked32");
  CHECK(code(scene, "cuda_packed32_loadv_32b(vf[:, :], sf[0:4], dst=f32, src=f32, v=4, mem='local')") ==
        "E-C13");
}

TEST_CASE("shuffles", "[library]") {
  const Scene scene{
      "", "",
      "a: f32[32] @ CudaRmem\nb: f32[32] @ CudaRmem\nc: f32[4, 8] @ CudaRmem\nd: f32[4, 8] @ CudaRmem\n"
      "e: f32[2] @ CudaRmem\nf: f32[2] @ CudaRmem"};
  const std::string in_order = "cuda_in_order_instr ";
  const std::string one = " wo f32[32] CudaRmem {cuda_thread}";
  CHECK(described(scene, "cuda_warp_broadcast_sync_1f32(a[:], b[:], 3, size0=32)") ==
        in_order +
            "32 * cuda_thread: outputs wo f32[32] CudaRmem {cuda_thread} owner; inputs ro f32[32] CudaRmem "
            "{cuda_thread} owner; i0");
  CHECK(described(scene, "cuda_warp_broadcast_sync_2f32(c[:, :], d[:, :], 1, 2, size0=4, size1=8)") ==
        in_order +
            "32 * cuda_thread: outputs wo f32[4, 8] CudaRmem {8 * cuda_thread, cuda_thread} owner; inputs ro "
            "f32[4, 8] "
            "CudaRmem {8 * cuda_thread, cuda_thread} owner; i0; i1");
  for (const std::string name :
       {"cuda_shfl_xor_sync_1f32", "cuda_shfl_xor_sync_1f32_sum", "cuda_shfl_xor_sync_sum_1f32"}) {
    CHECK(described(scene, name + "(e[:], f[:], laneMask=8)") ==
          in_order +
              "2 * cuda_threads_strided(1, 8): outputs wo f32[2] CudaRmem {cuda_thread} owner; inputs ro "
              "f32[2] "
              "CudaRmem {cuda_thread} owner");
  }
  CHECK(code(scene, "cuda_shfl_xor_sync_1f32(e[:], f[:], laneMask=3)") == "E-C13");
  CHECK(code(scene, "cuda_shfl_xor_sync_1f32(e[:], f[:])") == "E-C10");
  CHECK(described(scene, "cuda_warp_broadcast_sync_1d(a[:], b[:], 3, dst=f32, src=f32, size0=32)") ==
        in_order + "32 * cuda_thread: dst" + one + "; src ro f32[32] CudaRmem {cuda_thread}; i0");
  CHECK(described(scene,
                  "cuda_warp_broadcast_sync_2d(c[:, :], d[:, :], 1, 2, dst=f32, src=f32, size0=4, size1=8)")
            .starts_with(in_order + "32 * cuda_thread: dst wo f32[4, 8]"));
  for (const std::string name : {"cuda_shfl_xor_sync_1d", "cuda_shfl_xor_sync_sum_1d"}) {
    CHECK(described(scene, name + "(e[:], f[:], dst=f32, src=f32, laneMask=1)")
              .starts_with(in_order + "2 * cuda_threads"));
  }
}

TEST_CASE("TMA copies of dialect P", "[library]") {
  const Scene linear{"g: f32[64, 64] @ CudaGmemLinear", "t = g[:, :] @ Sm90_tensorMap(0, 16, 32)",
                     "z: barrier @ CudaMbarrier\ns: f32[16, 32] @ CudaSmemLinear"};
  const Scene swizzled{"g: f32[64, 64] @ CudaGmemLinear", "t = g[:, :] @ Sm90_tensorMap(128, 16, 32)",
                       "z: barrier @ CudaMbarrier\ns: f32[16, 32] @ Sm90_SmemSwizzled(128)"};
  for (const bool swizzle : {false, true}) {
    const Scene& scene = swizzle ? swizzled : linear;
    const std::string name = swizzle ? "swizzled" : "linear";
    const std::string smem = swizzle ? "Sm90_SmemSwizzled(128)" : "CudaSmemLinear";
    const std::string gmem = swizzle ? "Sm90_tensorMap(128, 16, 32)" : "Sm90_tensorMap(0, 16, 32)";
    const std::string shape = "f32[16, 32] ";
    CHECK(described(
              scene,
              fmt::format("Sm90_copy_tensor_to_smem_{}_2f32(s[:, :], t[0:16, 0:32], size0=16, size1=32) >> z",
                          name)) == "tma_to_smem_async_instr cuda_warp >> CudaMbarrier[]: dst wo " + shape +
                                        smem + " o; src ro " + shape + gmem + " o oob");
    CHECK(described(scene, fmt::format(
                               "Sm90_copy_tensor_to_gmem_{}_2f32(t[0:16, 0:32], s[:, :], size0=16, size1=32, "
                               "smem_box=(16, 32))",
                               name)) == "tma_to_gmem_async_instr cuda_warp: dst wo " + shape + gmem +
                                             " o oob; src ro " + shape + smem + " o");
    CHECK(described(
              scene,
              fmt::format("Sm90_reduce_tensor_to_gmem_{}_2f32(t[0:16, 0:32], s[:, :], size0=16, size1=32)",
                          name)) == "tma_to_gmem_async_instr cuda_warp: dst rw " + shape + gmem +
                                        " o oob atomic:s2g; src ro " + shape + smem + " o");
  }
  // The box must be that of the tile, up to extents of 1, and its rows those of the swizzle.
  const auto load = [&](const std::string& arguments) {
    return code(swizzled,
                "Sm90_copy_tensor_to_smem_swizzled_2f32(s[:, :], t[0:16, 0:32], " + arguments + ") >> z");
  };
  CHECK(load("size0=16, size1=32, smem_box=(16, 16)") == "E-C13");
  CHECK(load("size0=16, size1=32, smem_box=16") == "E-C13");
  CHECK(load("size0=16, size1=32, smem_box=(1, 1, 1, 1, 16, 32)") == "E-C13");
  CHECK(load("size0=12, size1=32") == "E-C13");
  CHECK(load("size0=16, size1=30") == "E-C13");
}

TEST_CASE("multicast of dialect P", "[library]") {
  const Scene scene{"g: f32[9, 64, 64] @ CudaGmemLinear", "t = g[:, :, :] @ Sm90_tensorMap(128, 1, 32, 32)",
                    "z: barrier[2] @ CudaMbarrier\ns: f32[2, 64, 32] @ Sm90_SmemSwizzled(128)"};
  CHECK(described(scene,
                  "Sm90_multicast_copy_tensor_to_smem_swizzled_2f32(s[:, :, :], t[3, 0:64, 0:32], ncta=2, "
                  "cta_stride=4, "
                  "size0=64, size1=32, smem_box=(1, 32, 32)) >> z[:]") ==
        "tma_to_smem_async_instr 2 * cuda_warp_in_cluster_strided(4) >> CudaMbarrier[cuda_cta_in_cluster]: "
        "dst wo f32[2, 64, 32] Sm90_SmemSwizzled(128) o {cuda_cta_in_cluster}; "
        "src ro f32[64, 32] Sm90_tensorMap(128, 1, 32, 32) o oob");
  const auto multicast = [&](const std::string& arguments) {
    return code(scene,
                "Sm90_multicast_copy_tensor_to_smem_swizzled_2f32(s[:, :, :], t[3, 0:64, 0:32], size0=64, "
                "size1=32, " +
                    arguments + ") >> z[:]");
  };
  CHECK(multicast("ncta=2, smem_box=(1, 32, 32)") == "E-C10");
  CHECK(multicast("ncta=3, cta_stride=1, smem_box=(1, 32, 32)") == "E-C13");
  CHECK(multicast("ncta=0, cta_stride=1, smem_box=(1, 32, 32)") == "E-C13");
  CHECK(multicast("ncta=2, cta_stride=0, smem_box=(1, 32, 32)") == "E-C13");
  CHECK(multicast("ncta=2, cta_stride=1, smem_box=(1, 64, 32)") == "E-C13");
}

TEST_CASE("TMA copies of dialect R", "[library]") {
  const std::string boxes[] = {"", "32", "16, 32", "2, 16, 32", "2, 2, 8, 32", "2, 2, 2, 8, 32"};
  const std::string window[] = {
      "", "0:32", "0:16, 0:32", "0:2, 0:16, 0:32", "0:2, 0:2, 0:8, 0:32", "0:2, 0:2, 0:2, 0:8, 0:32"};
  for (int n = 1; n <= 5; ++n) {
    for (const int swizzle : {0, 128}) {
      std::string all;
      std::string sizes;
      std::string rest = boxes[n];
      for (int i = 0; i < n; ++i) {
        all += i == 0 ? ":" : ", :";
        const std::size_t end = std::min(rest.find(','), rest.size());
        sizes += fmt::format(", size{}={}", i, rest.substr(0, end));
        rest.erase(0, end + 2);
      }
      const std::string smem = swizzle == 0 ? "CudaSmemLinear" : "Sm90_SmemSwizzled(128)";
      const std::string gmem = fmt::format("Sm90_tensorMap({}, {})", swizzle, boxes[n]);
      const Scene scene{fmt::format("g: f32[{}] @ CudaGmemLinear", boxes[n]),
                        fmt::format("t = g[{}] @ {}", all, gmem),
                        fmt::format("z: barrier[1] @ CudaMbarrier\ns: f32[{}] @ {}\nm: f32[1, {}] @ {}",
                                    boxes[n], smem, boxes[n], smem)};
      const std::string keywords =
          fmt::format("dst=f32, src=f32{}, smem_box=({},), swizzle={}", sizes, boxes[n], swizzle);
      CHECK(described(scene, fmt::format("Sm90_tma_load_{}d(s[{}], t[{}], {}) >> z[0]", n, all, window[n],
                                         keywords)) ==
            fmt::format("tma_to_smem_async_instr cuda_warp >> CudaMbarrier[]: dst wo f32[{0}] {1} o; src ro "
                        "f32[{0}] {2} o oob",
                        boxes[n], smem, gmem));
      CHECK(described(scene,
                      fmt::format("Sm90_tma_store_{}d(t[{}], s[{}], {})", n, window[n], all, keywords)) ==
            fmt::format("tma_to_gmem_async_instr cuda_warp: dst wo f32[{0}] {2} o oob; src ro f32[{0}] {1} o",
                        boxes[n], smem, gmem));
      CHECK(described(scene, fmt::format("Sm90_tma_reduce_add_{}d(t[{}], s[{}], {})", n, window[n], all,
                                         keywords)) ==
            fmt::format("tma_to_gmem_async_instr cuda_warp: dst rw f32[{0}] {2} o oob atomic:s2g; src ro "
                        "f32[{0}] {1} o",
                        boxes[n], smem, gmem));
      CHECK(described(
                scene,
                fmt::format("Sm90_tma_load_multicast_{}d(m[:, {}], t[{}], ncta=1, cta_stride=1, {}) >> z[:]",
                            n, all, window[n], keywords)) ==
            fmt::format("tma_to_smem_async_instr cuda_warp_in_cluster_strided(1) >> "
                        "CudaMbarrier[cuda_cta_in_cluster]: dst wo "
                        "f32[1, {0}] {1} o {{cuda_cta_in_cluster}}; src ro f32[{0}] {2} o oob",
                        boxes[n], smem, gmem));
    }
  }
}

TEST_CASE("records of wgmma of dialect P", "[library]") {
  const Scene scene{"C: f32[128, 64] @ CudaGmemLinear", "",
                    "D: f32[128, 64] @ Sm90_RmemMatrixD(128, 64)\na: f32[128, 32] @ Sm90_SmemSwizzled(128)\n"
                    "b: f32[64, 32] @ Sm90_SmemSwizzled(128)\nc: f32[64, 128] @ CudaSmemLinear"};
  const std::string d = "f32[128, 64] Sm90_RmemMatrixD(128, 64)";
  CHECK(described(scene, "Sm90_zero_scale_d_f32(D[:, :], M=128, N=64)") ==
        "wgmma_zero_instr cuda_warpgroup: d wo " + d);
  CHECK(described(scene, "Sm90_mma_async_tf32(D[:, :], a[:, 8:16], b[:, 8:16], M=128, N=64)") ==
        "wgmma_async_instr cuda_warpgroup: d rw " + d +
            "; a ro f32[128, 8] Sm90_SmemSwizzled(128) o; b ro f32[64, 8] Sm90_SmemSwizzled(128) o");
  CHECK(described(scene, "Sm90_mma_store_d_row_major_tf32(7, 64, C[:, :], D[:, :], M=128, N=64)") ==
        "cuda_in_order_instr cuda_warpgroup: M_end; N_end; dst wo f32[128, 64] CudaDeviceVisibleLinear; src "
        "ro " +
            d);
  CHECK(described(scene, "Sm90_mma_store_d_col_major_tf32(7, 64, c[:, :], D[:, :], M=128, N=64)") ==
        "cuda_in_order_instr cuda_warpgroup: M_end; N_end; dst wo f32[64, 128] CudaDeviceVisibleLinear; src "
        "ro " +
            d);
  CHECK(code(scene, "Sm90_mma_async_tf32(D[:, :], a[:, 8:16], b[:, 8:16], M=96, N=64)") == "E-C13");
  CHECK(code(scene, "Sm90_mma_async_tf32(D[:, :], a[:, 8:16], b[:, 8:16], M=128, N=60)") == "E-C13");
}

TEST_CASE("wgmma of dialect R", "[library]") {
  const Scene scene{"", "",
                    "D: f32[4, 16, 64] @ Sm90_TkRmemTileD(64)\na: f16[64, 64] @ Sm90_SmemSwizzled(128)\n"
                    "b: f16[1, 64, 64] @ Sm90_SmemSwizzled(128)\nr: f16[4, 16, 64] @ Sm90_TkRmemTileA(64)"};
  const auto head = [](const std::string& columns) {
    return "wgmma_async_instr cuda_warpgroup: D rw f32[4, 16, " + columns +
           "] Sm90_TkRmemTileD(64) {cuda_warp}; ";
  };
  const std::string smem = " Sm90_SmemSwizzled(128) o";
  CHECK(described(scene, "Sm90_tk_zero_scale_d(D[:, :, :], D=f32, N=64)") ==
        "wgmma_zero_instr cuda_warpgroup: D wo f32[4, 16, 64] Sm90_TkRmemTileD(64) {cuda_warp}");
  const std::string a_text[] = {"A ro f16[64, 64]" + smem, "A ro f16[64, 64]" + smem,
                                "A ro f16[4, 16, 64] Sm90_TkRmemTileA(64) o {cuda_warp}"};
  const std::string a_actual[] = {"a[:, :]", "a[:, :]", "r[:, :, :]"};
  const std::string modes[] = {"row", "col", "rmem"};
  for (int i = 0; i < 3; ++i) {
    CHECK(described(
              scene,
              fmt::format("Sm90_tk_mma_{}_col(D[:, :, :], {}, b[0, :, :], D=f32, A=f16, B=f16, N=64, K=64)",
                          modes[i], a_actual[i])) == head("64") + a_text[i] + "; B ro f16[64, 64]" + smem);
    CHECK(described(
              scene,
              fmt::format("Sm90_tk_mma_{}_row(D[:, :, :], {}, b[:, :, :], D=f32, A=f16, B=f16, N64=1, K=64)",
                          modes[i], a_actual[i])) == head("64") + a_text[i] + "; B ro f16[1, 64, 64]" + smem);
  }
  const auto mma = [&](const std::string& arguments) {
    return code(scene, "Sm90_tk_mma_row_col(D[:, :, :], a[:, :], b[0, :, :], " + arguments + ")");
  };
  CHECK(mma("D=f16, A=bf16, B=bf16, N=64, K=64") == "E-C13");
  CHECK(mma("D=f32, A=f16, B=bf16, N=64, K=64") == "E-C13");
  CHECK(mma("D=f32, A=f16, B=f16, N=60, K=64") == "E-C13");
  CHECK(mma("D=f32, A=f16, B=f16, N=64, K=24") == "E-C13");
  CHECK(mma("D=f32, A=f16, B=f16, N=64, K=64, swizzle=16") == "E-C13");
}

TEST_CASE("register tile moves", "[library]") {
  const Scene scene{"g: f16[64, 64] @ CudaGmemLinear", "",
                    "t: f32[64, 64] @ CudaTkWarpTile(64, 64)\ns: f16[64, 64] @ Sm90_SmemSwizzled(128)\n"
                    "v: f32[64] @ CudaTkWarpVec(64, 'align')\nl: f32[64] @ CudaSmemLinear"};
  const std::string head = "cuda_in_order_instr cuda_warp: ";
  CHECK(described(scene, "cuda_tk_load_rg(t[:, :], g[:, :], dst=f32, src=f16, size0=64, size1=64)") ==
        head + "dst wo f32[64, 64] CudaTkWarpTile(64, 64, 'row'); src ro f16[64, 64] CudaGmemLinear");
  CHECK(described(scene,
                  "cuda_tk_store_rg(g[:, :], t[:, :], dst=f16, src=f32, size0=64, size1=64, layout='row')") ==
        head + "dst wo f16[64, 64] CudaGmemLinear; src ro f32[64, 64] CudaTkWarpTile(64, 64, 'row')");
  CHECK(described(scene, "cuda_tk_load_sg(s[:, :], g[:, :], dst=f16, src=f16, size0=64, size1=64)") ==
        head + "dst wo f16[64, 64] Sm90_SmemSwizzled(128); src ro f16[64, 64] CudaGmemLinear");
  CHECK(described(scene, "cuda_tk_store_sg(g[:, :], s[:, :], dst=f16, src=f16, size0=64, size1=64)") ==
        head + "dst wo f16[64, 64] CudaGmemLinear; src ro f16[64, 64] Sm90_SmemSwizzled(128)");
  CHECK(described(scene, "cuda_tk_load_vec_rs(v[:], l[:], dst=f32, src=f32, length=64, layout='align')") ==
        head + "dst wo f32[64] CudaTkWarpVec(64, 'align'); src ro f32[64] CudaSmemLinear");
  CHECK(described(scene, "cuda_tk_store_vec_rs(l[:], v[:], dst=f32, src=f32, length=64, layout='align')") ==
        head + "dst wo f32[64] CudaSmemLinear; src ro f32[64] CudaTkWarpVec(64, 'align')");
  for (const auto& [c, type, bytes] :
       {std::tuple{8, "f32", 32}, std::tuple{16, "f16", 32}, std::tuple{32, "f32", 128},
        std::tuple{64, "f16", 128}, std::tuple{128, "e4m3", 128}}) {
    const Scene tiles{
        "", "",
        fmt::format("s: {}[1, 16, {}] @ Sm90_SmemSwizzled({})\nt: f32[16, {}] @ CudaTkWarpTile(16, {})", type,
                    c, bytes, std::max(c, 16) == c ? c : 2 * c, std::max(c, 16) == c ? c : 2 * c)};
    // A tile of 8 columns does not exist: two of them make one of 16.
    const int outer = c == 8 ? 2 : 1;
    Scene wide = tiles;
    if (outer == 2) wide.device.replace(wide.device.find("[1,"), 3, "[2,");
    CHECK(
        described(
            wide,
            fmt::format(
                "cuda_tk_load_rs_inner_cols_{}(t[:, :], s[:, :, :], dst=f32, src={}, rows=16, outer_cols={})",
                c, type, outer))
            .starts_with(head + "dst wo f32[16, "));
    CHECK(described(wide, fmt::format("cuda_tk_store_rs_inner_cols_{}(s[:, :, :], t[:, :], dst={}, src=f32, "
                                      "rows=16, outer_cols={})",
                                      c, type, outer))
              .starts_with(
                  head + fmt::format("dst wo {}[{}, 16, {}] Sm90_SmemSwizzled({})", type, outer, c, bytes)));
  }
}

// Runs after the tests above: a record that none of them calls would go unnoticed.
TEST_CASE("every record of the library was called", "[library]") {
  if (called().empty()) return;  // run alone
  for (const semantics::LibraryFile& file : semantics::library_files()) {
    const ParseResult r =
        parse(std::make_shared<const semantics::SourceFile>(std::string(file.name), std::string(file.text)));
    CHECK(r.diagnostics.empty());
    for (const ast::Stmt& s : r.file.statements) {
      if (const auto* def = std::get_if<ast::DefStmt>(&s.node)) {
        INFO(def->name);
        CHECK(called().contains(def->name));
      }
    }
  }
}
