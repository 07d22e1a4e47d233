#include <fmt/format.h>

#include <algorithm>

#include "analysis/memory_rules.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::MemoryKind;
using semantics::MemoryType;

std::size_t intervals(const std::vector<ir::Access>& index) {
  return static_cast<std::size_t>(
      std::count_if(index.begin(), index.end(), [](const ir::Access& a) { return a.interval(); }));
}

// The last dimensions of a packed memory are taken whole (E-M05; decisions.md F3).
void check_packed(MemoryReporter& out, ir::SymId var, const MemoryType& memory,
                  const std::vector<ir::Access>& index, semantics::Span span) {
  const auto packed = semantics::memory_record(memory, out.procedure.symbol(var).precision).packed;
  if (packed.empty() || index.size() < packed.size()) return;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const ir::Access& a = index[index.size() - packed.size() + i];
    const std::string where =
        fmt::format("dimension {} of `{}`", index.size() - packed.size() + i, out.procedure.symbol(var).name);
    if (!a.interval()) {
      out.report("E-M05", span,
                 fmt::format(
                     "{} is indexed by the point expression `{}`, but {} packs that dimension; take it whole",
                     where, expression_text(out.procedure, *a.lo), memory.text()),
                 var);
      return;
    }
    if (ir::constant_value(*a.lo) != 0 || ir::constant_value(*a.hi) != packed[i]) {
      out.report("E-M05", span,
                 fmt::format("{} is not taken whole, but {} packs that dimension; write 0:{}", where,
                             memory.text(), packed[i]),
                 var);
      return;
    }
  }
}

// Points of a tensor map only where the box is 1, and only in the last window of a chain (E-M19; decisions.md
// F9).
void check_tensor_map_points(MemoryReporter& out, ir::SymId var, const MemoryType& memory,
                             const std::vector<ir::Access>& index, semantics::Span span) {
  const std::vector<std::int64_t> box(memory.arguments.begin() + 1, memory.arguments.end());
  const std::string& name = out.procedure.symbol(var).name;
  if (index.size() != box.size()) {
    out.report(
        "E-M19", span,
        fmt::format(
            "`{}` has {} dimensions, but its tensor map {} has {}: a window that picked a point of a tensor "
            "map cannot be windowed again",
            name, index.size(), memory.text(), box.size()),
        var);
    return;
  }
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (index[i].interval() || box[i] == 1) continue;
    out.report(
        "E-M19", span,
        fmt::format(
            "dimension {} of the tensor map `{}` is indexed by the point `{}`, but its box coordinate is "
            "{}; a point needs a box coordinate of 1",
            i, name, expression_text(out.procedure, *index[i].lo), box[i]),
        var);
    return;
  }
}

void check_special_window(MemoryReporter& out, const ir::Stmt& stmt, const ir::WindowStmt& w,
                          const MemoryType& map) {
  const std::string& base = out.procedure.symbol(w.base).name;
  const MemoryType source{MemoryKind::CudaGmemLinear, {}, {}};
  if (!semantics::derives_from(out.buffers.memory(w.base), source)) {
    out.report("E-M03", stmt.span,
               fmt::format("{} needs a tensor in {}, but `{}` lies in {}", map.text(), source.text(), base,
                           out.buffers.memory(w.base).text()),
               w.base);
    return;
  }
  const std::size_t rank = map.arguments.size() - 1;
  if (intervals(w.index) != rank) {
    out.report(
        "E-M04", stmt.span,
        fmt::format(
            "the window of `{}` has {} interval dimensions, but the box of {} has {} coordinates; pad the "
            "box on the left with 1s, or the other way round",
            base, intervals(w.index), map.text(), rank),
        w.base);
    return;
  }
  const std::int64_t swizzle = map.arguments[0];
  const std::int64_t row = map.arguments.back() * semantics::bits(out.procedure.symbol(w.base).precision) / 8;
  if (swizzle != 0 && row != swizzle) {
    out.report(
        "E-M04", stmt.span,
        fmt::format(
            "the last box coordinate of {} covers {} bytes, but a swizzle of {} needs exactly {} bytes",
            map.text(), row, swizzle, swizzle),
        w.base);
  }
}

}  // namespace

void check_window_accesses(MemoryReporter& out, ir::SymId var, const std::vector<ir::Access>& index,
                           semantics::Span span) {
  const MemoryType memory = out.buffers.memory(var);
  if (semantics::check_arguments(memory)) return;  // reported at the declaration
  if (memory.is(MemoryKind::Sm90_tensorMap)) {
    check_tensor_map_points(out, var, memory, index, span);
  } else {
    check_packed(out, var, memory, index, span);
  }
}

void check_window_statement(MemoryReporter& out, const ir::Stmt& stmt, const ir::WindowStmt& w) {
  const MemoryType own = out.buffers.memory(w.result);
  if (const auto error = semantics::check_arguments(own)) {
    out.report(error->code.data(), stmt.span, error->message, w.result);
    return;
  }
  if (own.is(MemoryKind::Sm90_tensorMap) && !out.buffers.memory(w.base).is(MemoryKind::Sm90_tensorMap)) {
    check_special_window(out, stmt, w, own);
  } else {
    check_window_accesses(out, w.base, w.index, stmt.span);
  }
}

}  // namespace exocheck::analysis
