#include "amir/thread_set.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "property/support/random_amir.hpp"
#include "semantics/errors.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using exocheck::testing::Random;
using semantics::amir::ThreadMap;

namespace {

ThreadSet of(const std::set<ThreadId>& ids) {
  ThreadSet out;
  for (const ThreadId id : ids) out.append(id, id + 1);
  return out;
}

std::set<ThreadId> members(const ThreadSet& set) {
  std::set<ThreadId> out;
  for (const ThreadRange& r : set.ranges()) {
    for (ThreadId id = r.lo; id < r.hi; ++id) out.insert(id);
  }
  return out;
}

std::set<ThreadId> random_ids(Random& random) {
  std::set<ThreadId> out;
  const int density = static_cast<int>(random.between(0, 100));
  for (ThreadId id = 0; id < 16; ++id) {
    if (random.percent(density)) out.insert(id);
  }
  return out;
}

}  // namespace

TEST_CASE("set operations agree with std::set") {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    const std::set<ThreadId> a = random_ids(random), b = random_ids(random);
    std::set<ThreadId> both, either = a, only_a;
    either.insert(b.begin(), b.end());
    for (const ThreadId id : a) (b.contains(id) ? both : only_a).insert(id);
    CHECK(members(of(a)) == a);
    CHECK(of(a).intersect(of(b)) == of(both));
    CHECK(of(a).unite(of(b)) == of(either));
    CHECK(of(a).minus(of(b)) == of(only_a));
    CHECK(of(a).meets(of(b)) == !both.empty());
    CHECK(of(a).contains(of(b)) == (both == b));
    for (ThreadId id = 0; id < 17; ++id) CHECK(of(a).contains(id) == a.contains(id));
    CHECK(ThreadSet::all().contains(of(a)));
    CHECK(ThreadSet::all().minus(of(a)).meets(of(a)) == false);
  }
}

TEST_CASE("all threads of all tasks") {
  CHECK(ThreadSet::all().is_all());
  CHECK_FALSE(ThreadSet::range(0, 768).is_all());
  CHECK(ThreadSet::all().contains(ThreadId{1} << 60));
  CHECK(ThreadSet::of({true, {}}, Sizes(0), 5, 128).is_all());
}

TEST_CASE("thread maps become ranges") {
  // Two CTAs of 128 threads: warp 1 of each; then lane 3 of every warp.
  Sizes none(0);
  const ThreadMap warp{false, {{2, 0, {}, 2}, {128, 32, {}, 32}}};
  CHECK(ThreadSet::of(warp, none, 0, 256).ranges() == std::vector<ThreadRange>{{32, 64}, {160, 192}});
  CHECK(ThreadSet::of(warp, none, 3, 300).ranges() == std::vector<ThreadRange>{{932, 964}, {1060, 1092}});
  const ThreadMap lane{false, {{2, 1, {}, 1}, {4, 0, {}, 4}, {32, 3, {}, 1}}};
  CHECK(ThreadSet::of(lane, none, 0, 256).ranges() ==
        std::vector<ThreadRange>{{131, 132}, {163, 164}, {195, 196}, {227, 228}});
  const ThreadMap whole{false, {{2, 0, {}, 2}, {4, 0, {}, 4}, {32, 0, {}, 32}}};
  CHECK(ThreadSet::of(whole, none, 0, 256).ranges() == std::vector<ThreadRange>{{0, 256}});
  CHECK(ThreadSet::of({false, {}}, none, 2, 256).ranges() == std::vector<ThreadRange>{{512, 513}});
}

TEST_CASE("thread maps follow iterators and stay inside their domain") {
  Sizes env(1);
  const semantics::ir::SymId i{0};
  const ThreadMap map{false, {{8, 1, {{i, 2}}, 2}}};
  env.set(i, 2);
  CHECK(ThreadSet::of(map, env, 0, 8).ranges() == std::vector<ThreadRange>{{5, 7}});
  env.set(i, 3);  // [7, 9)
  CHECK_THROWS_AS(ThreadSet::of(map, env, 0, 8), semantics::InternalError);
  env.set(i, 0);
  CHECK_THROWS_AS(ThreadSet::of(map, env, 0, 4), semantics::InternalError);  // larger than the cluster
  CHECK_THROWS_AS(ThreadSet::of(map, env, std::int64_t{1} << 62, 8), semantics::OverflowError);
}
