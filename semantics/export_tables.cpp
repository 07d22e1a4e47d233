// What the exports of the semantics share.
#include "semantics/export.hpp"

namespace exocheck::semantics {

std::vector<MemoryType> sample_memories() {
  using enum MemoryKind;
  return {
      {DRAM, {}, {}},
      {CudaGridConstant, {}, {}},
      {CudaGmemLinear, {}, {}},
      {CudaSmemLinear, {}, {}},
      {Sm90_SmemSwizzled, {128}, {}},
      {CudaRmem, {}, {}},
      {CudaRmemUniform, {32}, {}},
      {CudaRmemPacked32, {}, {}},
      {Sm80_RmemMatrixA, {16, 8}, {}},
      {Sm80_RmemMatrixB, {8, 8}, {}},
      {Sm80_RmemMatrixD, {16, 8}, {}},
      {Sm90_RmemMatrixD, {64, 256}, {}},
  };
}

std::vector<InstrTimeline> instruction_timelines() {
  using enum InstrTimeline;
  return {cpu_in_order,      cpu_cuda_stream,   cuda_in_order, Sm80_cp_async,
          tma_to_smem_async, tma_to_gmem_async, wgmma_async,   wgmma_zero};
}

std::string braces(QualSet quals) {
  std::string out;
  for (const Qual q : quals.members())
    out += (out.empty() ? "" : ", ") + std::string(qual_record(q).short_name);
  return "{" + out + "}";
}

std::string braces(Flags flags) {
  std::string out;
  for (const FlagRecord& f : all_flags()) {
    if (flags.contains(f.flag)) out += (out.empty() ? "" : ", ") + std::string(f.symbol);
  }
  return "{" + out + "}";
}

std::string domain_text(const CollUnit& unit) {
  std::string out;
  for (const SizeExpr& e : unit.domain) out += (out.empty() ? "" : " x ") + to_string(e);
  return out;
}

std::string box_text(const CollUnit& unit) {
  std::string out;
  for (const auto& e : unit.box) out += (out.empty() ? "" : " x ") + (e ? to_string(*e) : std::string("*"));
  return out;
}

}  // namespace exocheck::semantics
