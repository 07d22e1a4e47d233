// The shared memory planner on random sequences of allocations and frees: no two live blocks overlap,
// alignment holds, and the plan is never larger than the stack rule's (every block behind the last live one).
#include "codegen/smem_plan.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <set>

using namespace exocheck::codegen;

namespace {

std::int64_t align_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint64_t programs() {
  const char* wanted = std::getenv("EXOCHECK_PROGRAMS");
  return wanted == nullptr ? 20000 : std::strtoull(wanted, nullptr, 10);
}

}  // namespace

TEST_CASE("plans of random allocation sequences are sound") {
  for (std::uint64_t seed = 1; seed <= programs(); ++seed) {
    std::mt19937_64 random(seed);
    INFO("seed " << seed);
    std::vector<SmemBlock> blocks(1 + random() % 12);
    for (SmemBlock& b : blocks) {
      b.size = static_cast<std::int64_t>(4 * (1 + random() % 1000));
      b.alignment = natural_alignment(b.size, std::int64_t{4} << random() % 9);
    }
    const auto reserved = static_cast<std::int64_t>(8 * (random() % 8));
    std::vector<SmemEvent> events;
    std::set<std::size_t> alive, fresh;
    for (std::size_t i = 0; i < blocks.size(); ++i) fresh.insert(i);
    while (!fresh.empty() || (!alive.empty() && random() % 4 != 0)) {
      if (!fresh.empty() && (alive.empty() || random() % 2 == 0)) {
        events.push_back({true, *fresh.begin()});
        alive.insert(*fresh.begin());
        fresh.erase(fresh.begin());
      } else {
        auto victim = alive.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(random() % alive.size()));
        events.push_back({false, *victim});
        alive.erase(victim);
      }
    }
    const SmemPlan plan = plan_smem(blocks, events, reserved);

    alive.clear();
    std::int64_t stack_bytes = reserved;
    std::vector<std::int64_t> stack(blocks.size());
    for (const SmemEvent& e : events) {
      if (!e.allocate) {
        alive.erase(e.block);
        continue;
      }
      const std::int64_t begin = plan.offsets[e.block], end = begin + blocks[e.block].size;
      REQUIRE(begin >= reserved);
      REQUIRE(begin % blocks[e.block].alignment == 0);
      REQUIRE(end <= plan.bytes);
      std::int64_t top = reserved;
      for (const std::size_t other : alive) {
        const std::int64_t other_begin = plan.offsets[other], other_end = other_begin + blocks[other].size;
        REQUIRE((end <= other_begin || other_end <= begin));
        top = std::max(top, stack[other] + blocks[other].size);
      }
      stack[e.block] = align_up(top, blocks[e.block].alignment);
      stack_bytes = std::max(stack_bytes, stack[e.block] + blocks[e.block].size);
      alive.insert(e.block);
    }
    REQUIRE(plan.bytes <= stack_bytes);
  }
}
