#include "amir/rounds.hpp"

#include <catch2/catch.hpp>

#include "property/support/amir_builder.hpp"

using namespace exocheck;
using exocheck::amir::Rounds;
using exocheck::amir::ThreadSet;
using exocheck::semantics::LoweredBarrier;

namespace {

struct Setting {
  testing::AmirBuilder builder{8};
  semantics::amir::VarId z = builder.barrier("z", {2, 2}, LoweredBarrier::mbarrier);
  semantics::amir::VarId other = builder.barrier("other", {}, LoweredBarrier::mbarrier);
  semantics::amir::Program program = builder.finish();
  Rounds rounds{program};
  ThreadSet thread = ThreadSet::single(0);

  bool arrive(const std::vector<std::int64_t>& home, std::size_t referenced = 2) {
    return rounds.arrive(z, home, referenced, thread);
  }
};

}  // namespace

TEST_CASE("a multicast barrier is not used again at once") {
  Setting s;
  CHECK(s.arrive({0, 1}));
  CHECK(s.arrive({1, 1}));
  CHECK_FALSE(s.arrive({0, 1}));
  CHECK(s.arrive({0, 1}, 1));  // no multicast
}

TEST_CASE("a home that is not known may be any") {
  Setting first;
  CHECK(first.arrive({0, 1}));
  CHECK_FALSE(first.arrive({}));
  Setting second;
  CHECK(second.arrive({}));
  CHECK_FALSE(second.arrive({0, 1}));
}

TEST_CASE("something else to wait for closes the round") {
  Setting s;
  CHECK(s.arrive({0, 1}));
  s.rounds.await(s.z, 0, s.thread);
  CHECK_FALSE(s.arrive({0, 1}));
  s.rounds.await(s.other, 0, ThreadSet::single(3));
  CHECK_FALSE(s.arrive({0, 1}));
  s.rounds.await(s.other, 0, s.thread);
  CHECK(s.arrive({0, 1}));
  s.rounds.await(s.z, -2, s.thread);  // an earlier round
  CHECK(s.arrive({0, 1}));
  s.rounds.fence(false);
  CHECK_FALSE(s.arrive({0, 1}));
  s.rounds.fence(true);
  CHECK(s.arrive({0, 1}));
  s.rounds.forget(s.z);
  CHECK(s.arrive({0, 1}));
}
