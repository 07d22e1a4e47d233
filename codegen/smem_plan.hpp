// Where the shared memory variables of a kernel lie (codegen.md 9, decisions.md P8, P9).
#pragma once

#include <cstdint>
#include <vector>

namespace exocheck::codegen {

struct SmemBlock {
  std::int64_t size = 0;       // bytes, > 0
  std::int64_t alignment = 1;  // a power of two
};

// Blocks come to life and end in program order.
struct SmemEvent {
  bool allocate = true;
  std::size_t block = 0;
};

struct SmemPlan {
  std::vector<std::int64_t> offsets;  // by block
  std::int64_t bytes = 0;             // of everything, the reserved part included
};

// Every block gets the lowest aligned gap among the blocks alive at its allocation. The first `reserved`
// bytes are taken by what lives as long as the kernel (mbarriers). A block that is allocated again while
// alive (a loop body without a free in between) keeps its place.
SmemPlan plan_smem(const std::vector<SmemBlock>& blocks, const std::vector<SmemEvent>& events,
                   std::int64_t reserved);

// The largest power of two that divides `size`, at most 128 and at least `minimum`.
std::int64_t natural_alignment(std::int64_t size, std::int64_t minimum);

}  // namespace exocheck::codegen
