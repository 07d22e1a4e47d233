#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "analysis/memory_rules.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::Dialect;
using semantics::MemoryKind;
using semantics::MemoryType;
using semantics::Precision;

using enum Precision;
constexpr std::array f32_only{f32};
constexpr std::array mma_accumulators{f16, f32};
constexpr std::array packable{f32, i32, f16, bf16};
constexpr std::array tile_types{f16, bf16, f32, e4m3, e5m2, e8m0};

// Precisions of packed and tile memories (E-M15; decisions.md F2); empty: any.
std::span<const Precision> precisions(const MemoryType& memory, Dialect dialect) {
  switch (memory.kind) {
    case MemoryKind::CudaRmemPacked32:
      return packable;
    case MemoryKind::Sm80_RmemMatrixA:
    case MemoryKind::Sm80_RmemMatrixB:
    case MemoryKind::Sm90_RmemMatrixD:
      return f32_only;
    case MemoryKind::Sm80_RmemMatrixD:
      if (dialect == Dialect::R) return mma_accumulators;
      return f32_only;
    case MemoryKind::CudaTkWarpTile:
    case MemoryKind::CudaTkWarpVec:
    case MemoryKind::Sm90_TkRmemTileA:
    case MemoryKind::Sm90_TkRmemTileD:
      return tile_types;
    case MemoryKind::DRAM:
    case MemoryKind::CudaGridConstant:
    case MemoryKind::CudaGmemLinear:
    case MemoryKind::CudaSmemLinear:
    case MemoryKind::Sm90_SmemSwizzled:
    case MemoryKind::CudaRmem:
    case MemoryKind::CudaRmemUniform:
    case MemoryKind::Sm90_RmemMatrixA:
    case MemoryKind::Sm90_tensorMap:
    case MemoryKind::CudaBasicDeviceVisible:
    case MemoryKind::CudaDeviceVisibleAtomicity16B:
    case MemoryKind::CudaDeviceVisibleLinear:
    case MemoryKind::CudaBasicSmem:
    case MemoryKind::CudaSmemAtomicity16B:
    case MemoryKind::CudaGmemAtomicity16B:
      return {};
  }
  return {};
}

bool tile_with_layout_all(const MemoryType& memory) {
  return (memory.is(MemoryKind::CudaTkWarpTile) || memory.is(MemoryKind::CudaTkWarpVec)) &&
         memory.layout == "all";
}

class Declaration {
 public:
  Declaration(MemoryReporter& out, ir::SymId var, semantics::Span span)
      : out_(out), var_(var), symbol_(out.procedure.symbol(var)), span_(span) {}

  void run(bool allocation) {
    const MemoryType memory = out_.buffers.memory(var_);
    if (const auto error = semantics::check_arguments(memory)) {
      report(error->code.data(), fmt::format("in the declaration of `{}`: {}", symbol_.name, error->message));
      return;
    }
    const auto allowed = precisions(memory, out_.procedure.dialect);
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), symbol_.precision) == allowed.end()) {
      std::vector<std::string_view> names;
      for (const Precision p : allowed) names.push_back(semantics::name(p));
      report("E-M15", fmt::format("`{}` has elements of type {}, but {} holds only {}", symbol_.name,
                                  semantics::name(symbol_.precision), memory.text(), fmt::join(names, ", ")));
      return;
    }
    const semantics::MemoryRecord record = semantics::memory_record(memory, symbol_.precision);
    if (allocation) {
      if (tile_with_layout_all(memory)) {
        report("E-M16",
               fmt::format("`{}` is allocated in {}; the layout 'all' stands for every layout and cannot be "
                           "allocated",
                           symbol_.name, memory.text()));
        return;
      }
      if (!record.allocable) {
        report("E-M02", fmt::format("`{}` is allocated in {}, {}", symbol_.name, memory.text(),
                                    record.special_window ? "a special window; make it by `w = x[..] @ S`"
                                                          : "which cannot be allocated"));
        return;
      }
    }
    if (symbol_.kind == ir::SymbolKind::window && !record.packed.empty()) {
      report("E-M17", fmt::format("the window parameter `{}` lies in {}, which has no windows", symbol_.name,
                                  memory.text()));
      return;
    }
    if (symbol_.kind == ir::SymbolKind::data) packed_shape(memory, record);
  }

 private:
  void packed_shape(const MemoryType& memory, const semantics::MemoryRecord& record) {
    const std::size_t k = record.packed.size();
    if (k == 0) return;
    if (symbol_.shape.size() < k) {
      report("E-M06", fmt::format("`{}` is {}, but a variable in {} must be at least {}-dimensional",
                                  symbol_.name, shape_text(out_.procedure, symbol_), memory.text(), k));
      return;
    }
    const std::size_t first = symbol_.shape.size() - k;
    std::vector<std::int64_t> actual;
    for (std::size_t i = first; i < symbol_.shape.size(); ++i) {
      const auto extent = ir::constant_value(*symbol_.shape[i]);
      if (!extent) {
        report("E-M07",
               fmt::format("`{}` has shape {}, but the last {} extents of a variable in {} must be literals",
                           symbol_.name, shape_text(out_.procedure, symbol_), k, memory.text()));
        return;
      }
      actual.push_back(*extent);
    }
    if (actual != record.packed) {
      report("E-M08", fmt::format("the last extents of `{}` are ({}), but {} needs ({})", symbol_.name,
                                  fmt::join(actual, ", "), memory.text(), fmt::join(record.packed, ", ")));
    }
  }

  void report(const char* code, std::string message) { out_.report(code, span_, std::move(message), var_); }

  MemoryReporter& out_;
  ir::SymId var_;
  const ir::Symbol& symbol_;
  semantics::Span span_;
};

}  // namespace

void check_declaration(MemoryReporter& out, ir::SymId var, semantics::Span span, bool allocation) {
  Declaration(out, var, span).run(allocation);
}

}  // namespace exocheck::analysis
