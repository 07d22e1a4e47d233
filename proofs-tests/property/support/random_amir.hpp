// Random AMIR programs for differential tests of the abstract machines (abstract-machine.md 10.2): small
// thread and index spaces, but everything the machines know: fences, arrives and awaits of all kinds, rings,
// per-thread commit groups, multicast, CPU scope, tasks, atomics, re-allocation, frees, wgmma zeroing,
// initialisation, windows and guards.
#pragma once

#include <optional>
#include <random>

#include "property/support/amir_builder.hpp"

namespace exocheck::testing {

// Reproducible random choices.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // Uniform in [lo, hi].
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool percent(int chance) { return between(1, 100) <= chance; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

// The same seed always gives the same program.
Program random_program(std::uint64_t seed);

// Adds Fence(everything -> everything) by all threads of the cluster at a random place.
Program with_strong_fence(const Program& program, Random& random);
// Renames thread n of every cluster to (threads - 1 - n).
Program with_reversed_threads(const Program& program);
// With the fences of a kernel around it, the body as one task if it has no loop over tasks; nullopt if it has
// host statements.
std::optional<Program> as_kernel(const Program& program);
// Without most of its checks, so that runs get further before they end.
Program with_few_checks(const Program& program, Random& random);
// Without one random Await; the same program if there is none.
Program without_await(const Program& program, Random& random);

}  // namespace exocheck::testing
