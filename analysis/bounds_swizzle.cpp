// E-M18: operands of wgmma and TMA start at a multiple of 8 rows of their swizzled buffer (decisions.md F7).
#include <fmt/format.h>

#include <algorithm>

#include "analysis/bounds_walk.hpp"

namespace exocheck::analysis::bounds {

using semantics::InstrTimeline;
using smt::Term;

namespace {

constexpr std::int64_t atom_rows = 8;

// ldmatrix and stmatrix compute swizzled addresses lane by lane and may start anywhere.
bool assumes_aligned_atom(InstrTimeline t) {
  switch (t) {
    case InstrTimeline::wgmma_async:
    case InstrTimeline::tma_to_smem_async:
    case InstrTimeline::tma_to_gmem_async:
    case InstrTimeline::tcgen05_mma:
    case InstrTimeline::tcgen05_cp:
      return true;
    case InstrTimeline::cpu_in_order:
    case InstrTimeline::cpu_cuda_stream:
    case InstrTimeline::cuda_in_order:
    case InstrTimeline::Sm80_cp_async:
    case InstrTimeline::wgmma_zero:
    case InstrTimeline::tcgen05_shift:
    case InstrTimeline::tcgen05_ld:
    case InstrTimeline::tcgen05_st:
      return false;
  }
  return false;
}

}  // namespace

void check_swizzle_row(Session& session, const semantics::ir::Instr& instr, const View& operand,
                       const std::vector<std::uint32_t>& cta_iterators, const smt::Assumptions& gamma,
                       Claim claim) {
  const Base& base = *operand.base;
  if (!assumes_aligned_atom(instr.timeline) || !base.memory ||
      !base.memory->is(semantics::MemoryKind::Sm90_SmemSwizzled) || base.extents.size() < 2) {
    return;
  }
  // Leading dimensions subscripted by CTA iterators are distributed: each CTA has a buffer of its own.
  std::size_t first = 0;
  const auto is_cta_iterator = [&cta_iterators](const Term& t) {
    return t.op() == smt::Op::variable &&
           std::find(cta_iterators.begin(), cta_iterators.end(), t.variable().id) != cta_iterators.end();
  };
  while (first < operand.dims.size() && !operand.dims[first].extent &&
         is_cta_iterator(operand.dims[first].offset))
    ++first;

  // The number of the first row, counted over all dimensions but the last.
  Term row = smt::integer(0);
  std::int64_t rows_per_step = 1;
  for (std::size_t k = base.extents.size() - 1; k-- > first;) {
    row = row + scale(rows_per_step, operand.dims[k].offset);
    const Term& n = base.extents[k];
    // A shape that is not constant is E-M12's business.
    if (n.op() != smt::Op::int_const || __builtin_mul_overflow(rows_per_step, n.value(), &rows_per_step))
      return;
  }
  claim.meaning = fmt::format("operand `{}` of `{}` starts at a multiple of {} rows", claim.variable,
                              instr.name, atom_rows);
  claim.message = [&](const Numbers& numbers) {
    return fmt::format(
        "operand `{}` of `{}` starts at row {} of its swizzled buffer; it must start at a multiple of {} "
        "rows, the height of "
        "the swizzle pattern{}",
        claim.variable, instr.name, numbers.with_value(row), atom_rows, numbers.when());
  };
  claim.related = {declared_here(base)};
  session.reporter.require(gamma, eq(floor_mod(row, atom_rows), smt::integer(0)), claim);
}

}  // namespace exocheck::analysis::bounds
