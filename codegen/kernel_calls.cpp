// Instruction calls by threads, warps and warpgroups (instructions.md 4; decisions.md G4-G6, G9).
#include "codegen/kernel_calls.hpp"

#include <algorithm>
#include <charconv>

#include "semantics/errors.hpp"

namespace exocheck::codegen {

const ir::Read& KernelEmitter::Operands::window(std::string_view parameter) const {
  return std::get<ir::Read>(argument(parameter).node);
}

const ir::Expr& KernelEmitter::Operands::argument(std::string_view parameter) const {
  const ir::Procedure& behaviour = instr.behaviour;
  for (std::size_t i = 0; i < behaviour.parameters.size(); ++i) {
    if (behaviour.symbol(behaviour.parameters[i]).name == parameter) return *call.arguments.at(i);
  }
  throw semantics::InternalError("emission: an instruction without the parameter " + std::string(parameter));
}

std::int64_t KernelEmitter::Operands::value(std::string_view name) const {
  for (const auto& [key, text] : instr.template_values) {
    if (key != name) continue;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    semantics::ensure(error == std::errc() && end == text.data() + text.size(),
                      "emission: a template value that is no number");
    return value;
  }
  throw semantics::InternalError("emission: an instruction without the template parameter " +
                                 std::string(name));
}

std::string KernelEmitter::matrix_text(const Place& p, const std::string& rows,
                                       const std::string& columns) const {
  return fmt::format("xrt_matrix<{}>({}, {}, {})", p.swizzle, p.text, rows, columns);
}

void KernelEmitter::call(const ir::Call& call, const ir::Stmt& stmt) {
  semantics::ensure(call.instr != nullptr, "emission: a procedure call in device code");
  const Operands o{call, *call.instr, stmt};
  if (!call.instr->library)
    cx_.unsupported(stmt.span, fmt::format("the user-defined instruction {}", call.instr->name));
  out_.line(cx_.marker(stmt));
  if (copy_call(o) || warp_call(o) || shuffle_call(o) || warpgroup_call(o)) return;
  cx_.unsupported(stmt.span, fmt::format("the instruction {}", call.instr->name));
}

bool KernelEmitter::warp_call(const Operands& o) {
  const std::string_view name = o.instr.name;
  const auto registers = [&](std::string_view p) {
    return place(o.window(p).var, o.window(p).index, o.stmt.span).text;
  };
  const auto memory = [&](std::string_view p, bool transposed) {
    const Place at = place(o.window(p).var, o.window(p).index, o.stmt.span);
    if (at.registers || at.by_value || at.strides.size() != 2)
      cx_.unsupported(o.stmt.span, fmt::format("operand {} in this memory", p));
    return matrix_text(at, at.strides[transposed ? 1 : 0], at.strides[transposed ? 0 : 1]);
  };
  const bool transposed = name.find("_col_major_") != std::string_view::npos;
  if (name.starts_with("Sm80_mma_load_a_")) {
    out_.line(fmt::format("xrt_mma_load_a({}, {});", registers("rmem"), memory("src", transposed)));
  } else if (name.starts_with("Sm80_mma_load_b_")) {
    out_.line(fmt::format("xrt_mma_load_b({}, {});", registers("rmem"), memory("src", transposed)));
  } else if (name == "Sm80_mma_tf32") {
    out_.line(fmt::format("xrt_mma_tf32<{}>({}, {}, {});", o.value("K"), registers("D"), registers("A"),
                          registers("B")));
  } else if (name == "Sm80_mma_zero_d_tf32") {
    out_.line(fmt::format("xrt_mma_zero({});", registers("rmem")));
  } else if (name.starts_with("Sm80_mma_store_d_") || name.starts_with("Sm80_mma_reduce_d_") ||
             name.starts_with("Sm80_mma_atomic_reduce_d_")) {
    const char* how = name.starts_with("Sm80_mma_store")    ? "plain"
                      : name.starts_with("Sm80_mma_reduce") ? "add"
                                                            : "atomic_add";
    out_.line(fmt::format("xrt_mma_store<XrtStore::{}>({}, {});", how, memory("dst", transposed),
                          registers("rmem")));
  } else {
    return false;
  }
  return true;
}

// Does every row of the window begin at a multiple of 8 bytes, with neighbouring elements?
bool KernelEmitter::even_rows(const ir::Read& window) const {
  const Elements elements = cx_.resolve(window.var, window.index);
  const ir::Symbol& symbol = cx_.symbol(elements.base);
  if (!symbol.memory || !symbol.memory->is(semantics::MemoryKind::CudaSmemLinear) || symbol.rank() < 2)
    return false;
  const auto extent = ir::constant_value(*symbol.shape.back());
  const auto first = ir::constant_value(*elements.index.back().lo);
  return extent && *extent % 2 == 0 && first && *first % 2 == 0 && elements.index.back().interval();
}

bool KernelEmitter::warpgroup_call(const Operands& o) {
  const std::string_view name = o.instr.name;
  const auto operand = [&](std::string_view p) {
    return place(o.window(p).var, o.window(p).index, o.stmt.span);
  };
  if (name == "Sm90_zero_scale_d_f32") {
    out_.line(fmt::format("xrt_wgmma_zero({});", operand("d").text));
  } else if (name == "Sm90_mma_async_tf32") {
    out_.line(fmt::format("xrt_wgmma_mma_tf32({}, xrt_smem_u32({}), xrt_smem_u32({}));", operand("d").text,
                          operand("a").text, operand("b").text));
  } else if (name == "Sm90_mma_store_d_row_major_tf32" || name == "Sm90_mma_store_d_col_major_tf32") {
    const bool transposed = name.find("_col_") != std::string_view::npos;
    const Place dst = operand("dst");
    if (dst.registers || dst.by_value || dst.strides.size() != 2)
      cx_.unsupported(o.stmt.span, "operand dst in this memory");
    const bool pairs = !transposed && even_rows(o.window("dst"));
    out_.line(fmt::format("xrt_wgmma_store{}({}, {}, {}, {});", pairs ? "_pairs" : "",
                          control_text(cx_, o.argument("M_end")), control_text(cx_, o.argument("N_end")),
                          matrix_text(dst, dst.strides[transposed ? 1 : 0], dst.strides[transposed ? 0 : 1]),
                          operand("src").text));
  } else {
    return false;
  }
  return true;
}

// A shuffle names all 32 lanes: they must come together, whatever surrounds the call.
void KernelEmitter::require_whole_warps(const ir::Stmt& stmt) {
  const auto depends_on_lane = [&](const ir::Expr& e) {
    bool found = false;
    ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
      const auto* v = std::get_if<ir::VarRef>(&sub.node);
      if (v == nullptr) return;
      for (const ir::Stmt* s : enclosing_) {
        const auto* loop = std::get_if<ir::For>(&s->node);
        if (loop == nullptr || loop->iter != v->var || loop->mode != ir::LoopMode::cuda_threads) continue;
        const std::int64_t pitch = cx_.facts.body_tiling.at(s->id)->how.pitch;
        found = found || (pitch > 0 && pitch < 32);
      }
    });
    return found;
  };
  for (const ir::Stmt* s : enclosing_) {
    bool uneven = false;
    if (const auto* branch = std::get_if<ir::If>(&s->node)) uneven = depends_on_lane(*branch->condition);
    if (const auto* loop = std::get_if<ir::For>(&s->node);
        loop != nullptr && loop->mode == ir::LoopMode::seq) {
      uneven = depends_on_lane(*loop->lo) || depends_on_lane(*loop->hi);
    }
    if (uneven)
      cx_.unsupported(stmt.span, "a shuffle under a condition that differs between the lanes of a warp");
  }
  for (std::int64_t warp = 0; warp < launch_.geometry.block_dim; warp += 32) {
    int active = 0;
    for (std::int64_t t = warp; t < warp + 32; ++t) {
      bool in = true;
      for (analysis::TilingPtr tiling = cx_.facts.tiling_of(stmt.id); tiling && in; tiling = tiling->parent) {
        const analysis::Derivation& how = tiling->how;
        const std::int64_t index = how.dim ? how.index.evaluate(t, 0) : 0;
        in = (!how.lower || index >= *how.lower) && (!how.upper || index < *how.upper);
      }
      active += in ? 1 : 0;
    }
    if (active != 0 && active != 32)
      cx_.unsupported(stmt.span, "a shuffle that some lanes of a warp do not take part in");
  }
}

bool KernelEmitter::shuffle_call(const Operands& o) {
  const std::string_view name = o.instr.name;
  if (name != "cuda_shfl_xor_sync_1f32" && name != "cuda_shfl_xor_sync_1f32_sum" &&
      name != "cuda_warp_broadcast_sync_1f32" && name != "cuda_warp_broadcast_sync_2f32") {
    return false;
  }
  require_whole_warps(o.stmt);
  const auto operand = [&](std::string_view p) {
    return place(o.window(p).var, o.window(p).index, o.stmt.span).text;
  };
  const std::string out = operand("outputs"), in = operand("inputs");
  if (name == "cuda_shfl_xor_sync_1f32") {
    out_.line(fmt::format("{} = xrt_shfl_xor({}, {});", out, in, o.value("laneMask")));
  } else if (name == "cuda_shfl_xor_sync_1f32_sum") {
    out_.line(fmt::format("{0} = {1} + xrt_shfl_xor({1}, {2});", out, in, o.value("laneMask")));
  } else if (name == "cuda_warp_broadcast_sync_1f32") {
    if (o.value("size0") != 32) cx_.unsupported(o.stmt.span, "a broadcast among less than 32 threads");
    out_.line(fmt::format("{} = xrt_shfl({}, {});", out, in, control_text(cx_, o.argument("i0"))));
  } else {
    const std::int64_t inner = o.value("size1");
    if (o.value("size0") * inner != 32)
      cx_.unsupported(o.stmt.span, "a broadcast among less than 32 threads");
    out_.line(fmt::format("{} = xrt_shfl({}, {} * {} + {});", out, in,
                          grouped(control_text(cx_, o.argument("i0"))), inner,
                          control_text(cx_, o.argument("i1"))));
  }
  return true;
}

}  // namespace exocheck::codegen
