// The ring arithmetic of the run-time library against counting: arrival n goes to barrier n mod depth, the
// wait for phase j of the kernel to barrier j mod depth with the parity of its round.
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#define XRT_DEV inline

namespace {

struct Wait {
  bool cluster;
  std::uint32_t address, parity;
  friend bool operator==(const Wait&, const Wait&) = default;
};
std::vector<Wait> waits;

template <bool Cluster>
void xrt_mbar_wait(std::uint32_t address, std::uint32_t parity) {
  waits.push_back({Cluster, address, parity});
}

#include "codegen/runtime/xrt_ring.h"

template <int Depth, int Lag>
void check_ring() {
  INFO("depth " << Depth << ", lag " << Lag);
  XrtRing<Depth, Lag> ring;
  const std::uint32_t base = 1000;
  waits.clear();
  for (std::uint32_t n = 0; n < 8 * Depth + 3; ++n) {
    // A copy may name the barrier of the coming arrival any number of times.
    CHECK(xrt_ring_slot(ring, base) == base + 8 * (n % Depth));
    CHECK(xrt_ring_slot(ring, base) == base + 8 * (n % Depth));
    xrt_ring_advance(ring);
    const std::size_t before = waits.size();
    CHECK(xrt_ring_wait<true>(ring, base) == (n >= Lag));
    CHECK(waits.size() == before + (n >= Lag ? 1 : 0));
    if (n < Lag) continue;
    const std::uint32_t phase = n - Lag;
    CHECK(waits.back() == Wait{true, base + 8 * (phase % Depth), phase / Depth % 2});
  }
}

template <int Depth, int... Lags>
void check_lags(std::integer_sequence<int, Lags...>) {
  (check_ring<Depth, Lags>(), ...);
}

}  // namespace

TEST_CASE("rings of depth 1 to 5, every lag, and the largest") {
  check_lags<1>(std::make_integer_sequence<int, 2>());
  check_lags<2>(std::make_integer_sequence<int, 3>());
  check_lags<3>(std::make_integer_sequence<int, 4>());
  check_lags<4>(std::make_integer_sequence<int, 5>());
  check_lags<5>(std::make_integer_sequence<int, 6>());
  check_ring<32, 31>();
}
