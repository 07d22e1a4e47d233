#include "codegen/smem_plan.hpp"

#include <algorithm>
#include <optional>

namespace exocheck::codegen {
namespace {

std::int64_t align_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

std::int64_t natural_alignment(std::int64_t size, std::int64_t minimum) {
  std::int64_t alignment = 1;
  while (alignment < 128 && size % (2 * alignment) == 0) alignment *= 2;
  return std::max(alignment, minimum);
}

SmemPlan plan_smem(const std::vector<SmemBlock>& blocks, const std::vector<SmemEvent>& events,
                   std::int64_t reserved) {
  SmemPlan plan;
  plan.offsets.assign(blocks.size(), 0);
  plan.bytes = reserved;
  std::vector<std::size_t> alive;  // by address
  for (const SmemEvent& event : events) {
    const auto known = std::find(alive.begin(), alive.end(), event.block);
    if (!event.allocate) {
      if (known != alive.end()) alive.erase(known);
      continue;
    }
    if (known != alive.end()) continue;
    const SmemBlock& block = blocks[event.block];
    std::int64_t end = reserved;
    auto next = alive.begin();
    for (; next != alive.end(); ++next) {
      if (align_up(end, block.alignment) + block.size <= plan.offsets[*next]) break;
      end = std::max(end, plan.offsets[*next] + blocks[*next].size);
    }
    plan.offsets[event.block] = align_up(end, block.alignment);
    plan.bytes = std::max(plan.bytes, plan.offsets[event.block] + block.size);
    alive.insert(next, event.block);
  }
  return plan;
}

}  // namespace exocheck::codegen
