#include "driver/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using exocheck::driver::for_each_index;

TEST_CASE("every piece of work is done once, whatever the number of jobs") {
  for (const unsigned jobs : {0u, 1u, 2u, 3u, 200u}) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 100u}) {
      std::vector<std::atomic<int>> done(count);
      for_each_index(count, jobs, [&](std::size_t i) { ++done[i]; });
      for (const auto& d : done) CHECK(d == 1);
    }
  }
}

TEST_CASE("one job works in order") {
  std::vector<std::size_t> order;
  for_each_index(5, 1, [&](std::size_t i) { order.push_back(i); });
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("an exception of a piece of work ends all and is passed on") {
  for (const unsigned jobs : {1u, 2u, 4u}) {
    std::atomic<std::size_t> done = 0;
    const auto work = [&](std::size_t i) {
      ++done;
      if (i == 3) throw std::runtime_error("three");
    };
    CHECK_THROWS_WITH(for_each_index(1'000'000, jobs, work), "three");
    CHECK(done < 1'000'000);
  }
}
