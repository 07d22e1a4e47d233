// Asynchronous copies: cp.async and TMA (instructions.md 4.1, 4.7; decisions.md G4, G7, K11).
#include <algorithm>

#include "codegen/kernel_calls.hpp"
#include "semantics/errors.hpp"

namespace exocheck::codegen {

bool KernelEmitter::copy_call(const Operands& o) {
  const std::string_view name = o.instr.name;
  if (name == "Sm80_cp_async_f32") {
    const Place smem = place(o.window("smem").var, o.window("smem").index, o.stmt.span);
    const Place gmem = place(o.window("gmem").var, o.window("gmem").index, o.stmt.span);
    out_.line(fmt::format("xrt_cp_async<{}>({}, {});", 4 * o.value("size"), pointer(smem), gmem.text));
  } else if (name.starts_with("Sm90_copy_tensor_to_smem_")) {
    tensor_load(o, false);
  } else if (name == "Sm90_multicast_copy_tensor_to_smem_swizzled_2f32") {
    tensor_load(o, true);
  } else if (name.starts_with("Sm90_copy_tensor_to_gmem_")) {
    tensor_store(o, false);
  } else if (name.starts_with("Sm90_reduce_tensor_to_gmem_")) {
    tensor_store(o, true);
  } else {
    return false;
  }
  return true;
}

// Of the box's first element, innermost first as the instructions want them.
std::vector<std::string> KernelEmitter::coordinates(SymId map, const std::vector<ir::Access>& index,
                                                    int* first_interval) const {
  const Elements elements = cx_.resolve(map, index);
  std::vector<std::string> texts;
  *first_interval = -1;
  for (std::size_t d = 0; d < elements.index.size(); ++d) {
    texts.push_back(control_text(cx_, *elements.index[d].lo));
    if (elements.index[d].interval() && *first_interval < 0)
      *first_interval = static_cast<int>(elements.index.size() - 1 - d);
  }
  std::reverse(texts.begin(), texts.end());
  return texts;
}

namespace {

std::string braces(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& t : texts) list += (list.empty() ? "" : ", ") + t;
  return "{" + list + "}";
}

}  // namespace

void KernelEmitter::tensor_load(const Operands& o, bool multicast) {
  const ir::Read& to = o.window("dst");
  const ir::Read& from = o.window("src");
  const Place smem = place(to.var, to.index, o.stmt.span);
  int rows_at = -1;
  std::vector<std::string> c = coordinates(from.var, from.index, &rows_at);
  const std::string map = cx_.text(cx_.resolve(from.var, from.index).base);
  const BarrierPlan& plan = plan_of(o.call.trailing->var);
  const std::string bar = fmt::format("xrt_ring_slot(sync.{}, {})", constants_.at(plan.var).substr(2),
                                      slice_text(plan, *o.call.trailing));
  const std::int64_t size0 = o.value("size0"), size1 = o.value("size1");
  const std::int64_t bytes = size0 * size1 * 4;
  if (!multicast) {
    out_.line(fmt::format("xrt_tma_load<{}>(xrt_smem_u32({}), {}, {}, {}, {});", c.size(), smem.text, map,
                          braces(c), bar, bytes));
    return;
  }
  const std::int64_t ncta = o.value("ncta"), stride = o.value("cta_stride"),
                     clusters = launch_.geometry.cluster_dim;
  if ((ncta & (ncta - 1)) != 0 || (stride & (stride - 1)) != 0) {
    cx_.unsupported(o.stmt.span, "a multicast to a number of CTAs that is no power of two");
  }
  // This CTA fetches its part of the rows for all of them.
  const std::string part =
      stride == 1 ? fmt::format("cta % {}", ncta) : fmt::format("cta / {} % {}", stride, ncta);
  const std::int64_t rows = size0 / ncta;
  semantics::ensure(rows_at >= 0, "emission: a multicast without rows");
  std::string& row = c[static_cast<std::size_t>(rows_at)];
  row = row == "0" ? fmt::format("{} * ({})", rows, part) : fmt::format("{} + {} * ({})", row, rows, part);
  std::int64_t members = 0;
  for (std::int64_t a = 0; a < ncta; ++a) members |= std::int64_t{1} << (a * stride);
  const std::int64_t keep = (clusters - 1) & ~((ncta - 1) * stride);
  const std::string mask =
      keep == 0 ? fmt::format("{:#x}u", members) : fmt::format("{:#x}u << (cta & {})", members, keep);
  out_.line(fmt::format("xrt_tma_load_multicast<{}>(xrt_smem_u32({} + {} * ({})), {}, {}, {}, {}, {});",
                        c.size(), smem.text, rows * size1, part, map, braces(c), bar, bytes, mask));
}

void KernelEmitter::tensor_store(const Operands& o, bool reduce) {
  const ir::Read& to = o.window("dst");
  const ir::Read& from = o.window("src");
  const Place smem = place(from.var, from.index, o.stmt.span);
  int rows_at = -1;
  const std::vector<std::string> c = coordinates(to.var, to.index, &rows_at);
  const std::string map = cx_.text(cx_.resolve(to.var, to.index).base);
  out_.line(fmt::format("xrt_tma_{}<{}>({}, {}, xrt_smem_u32({}));", reduce ? "reduce_add" : "store",
                        c.size(), map, braces(c), smem.text));
}

}  // namespace exocheck::codegen
