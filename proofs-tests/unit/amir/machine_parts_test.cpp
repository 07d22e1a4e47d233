// The parts of the working machine against brute force: visibility functions, families, region maps.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "amir/machine_records.hpp"
#include "amir/machine_regions.hpp"
#include "property/support/random_amir.hpp"

using namespace exocheck;
using namespace exocheck::amir;
using namespace exocheck::amir::working;
using exocheck::testing::Random;

namespace {

const Rules standard{rules_of(analysis::Mode::standard)};

ThreadSet random_threads(Random& random) {
  ThreadSet out;
  for (ThreadId id = 0; id < 12; ++id) {
    if (random.percent(40)) out.append(id, id + 1);
  }
  return out;
}

QualSet random_quals(Random& random) {
  return QualSet::from_bits(static_cast<std::uint16_t>(random.between(0, 7)));
}

}  // namespace

TEST_CASE("visibility agrees with a map per thread") {
  Random random(11);
  const std::vector<Flags> flags{Flags::issue, Flags::weak, Flags::atomic, Flags::temporal, Flags::full};
  for (int round = 0; round < 400; ++round) {
    Visibility v;
    std::map<ThreadId, FlagSets> expected;
    for (int step = 0; step < 6; ++step) {
      const ThreadSet threads = random_threads(random);
      const FlagSets add = FlagSets::of(random_quals(random), random.pick(flags) | random.pick(flags));
      bool had = true;
      for (ThreadId id = 0; id < 12; ++id) {
        if (threads.contains(id)) had = had && expected[id].contains(add);
      }
      CHECK(v.has(threads, add) == had);
      v.add(threads, add);
      for (ThreadId id = 0; id < 12; ++id) {
        if (threads.contains(id)) expected[id] = expected[id] | add;
      }
      CHECK(v.has(threads, add));
    }
    const ThreadSet asked = random_threads(random);
    const QualSet quals = random_quals(random);
    const Flags flag = random.pick(flags);
    FlagSets some;
    ThreadSet lacking;
    for (ThreadId id = 0; id < 12; ++id) {
      CHECK(v.at(id) == expected[id]);
      if (!asked.contains(id)) continue;
      some = some | expected[id];
      if (!expected[id].with(flag).meets(quals)) lacking.append(id, id + 1);
    }
    CHECK(v.some_of(asked) == some);
    CHECK(v.lacking(asked, flag, quals) == lacking);
    // Canonical: neighbours differ, nothing is empty.
    for (std::size_t i = 0; i < v.segments().size(); ++i) {
      CHECK_FALSE(v.segments()[i].flags.empty());
      if (i > 0 && v.segments()[i - 1].hi == v.segments()[i].lo) {
        CHECK_FALSE(v.segments()[i - 1].flags == v.segments()[i].flags);
      }
    }
    const ThreadId end = random.between(0, 12);
    FlagSets joined;
    for (ThreadId id = 0; id < end; ++id) joined = joined | expected[id];
    v.join_below(end);
    for (ThreadId id = 0; id < 12; ++id) CHECK(v.at(id) == (id < end ? joined : expected[id]));
  }
}

TEST_CASE("a region map agrees with a map per element") {
  Random random(13);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> extents;
    const std::int64_t rank = random.between(0, 3);
    for (std::int64_t d = 0; d < rank; ++d) extents.push_back(random.between(1, rank == 1 ? 200 : 12));
    RegionMap map;
    map.reset(extents, 0);
    std::map<std::vector<std::int64_t>, RegionMap::Payload> expected;
    Box all{std::vector<std::int64_t>(extents.size(), 0), extents};
    for (int step = 0; step < 20; ++step) {
      Box box = all;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        box.lo[d] = random.between(0, extents[d] - 1);
        box.hi[d] = random.between(box.lo[d] + 1, extents[d]);
      }
      const auto factor = static_cast<RegionMap::Payload>(random.between(1, 3));
      const auto change = [&](RegionMap::Payload p) { return (p * factor + 1) % 4; };
      map.update(box, change);
      for_each_element(box, [&](const std::vector<std::int64_t>& e) {
        expected[e] = change(expected[e]);
        return true;
      });
      // Every region that meets the box is reported with its first common element.
      std::map<RegionMap::Payload, std::vector<std::int64_t>> first;
      map.visit(box, [&](RegionMap::Payload p, const std::vector<std::int64_t>& lo) {
        CHECK(expected[lo] == p);
        const auto known = first.find(p);
        if (known == first.end() || lo < known->second) first[p] = lo;
      });
      std::map<RegionMap::Payload, std::vector<std::int64_t>> expected_first;
      for_each_element(box, [&](const std::vector<std::int64_t>& e) {
        expected_first.emplace(expected[e], e);
        return true;
      });
      CHECK(first == expected_first);
    }
    map.rewrite([](RegionMap::Payload) { return 9u; });
    CHECK(map.nodes() == 1);  // all equal: one region again
  }
}

TEST_CASE("tiles of one size stay whole, the tree stays shallow") {
  RegionMap map;
  map.reset({1024, 1024}, 0);
  RegionMap::Payload next = 1;
  std::uint64_t touched = 0;
  for (std::int64_t i = 0; i < 1024; i += 64) {
    for (std::int64_t j = 0; j < 1024; j += 32) {
      map.update({{i, j}, {i + 64, j + 32}}, [&](RegionMap::Payload) { return next; });
      touched += map.update({{i, j}, {i + 64, j + 32}}, [&](RegionMap::Payload p) { return p; });
      ++next;
    }
  }
  CHECK(touched == 16 * 32);
  CHECK(map.nodes() == 2 * 16 * 32 - 1);
  // One element after the other over a long vector: no deep recursion.
  map.reset({100000}, 0);
  for (std::int64_t i = 0; i < 100000; ++i)
    map.update({{i}, {i + 1}}, [&](RegionMap::Payload) { return 1 + i % 2; });
  for (std::int64_t i = 0; i < 100000; ++i)
    map.update({{i}, {100000}}, [&](RegionMap::Payload) { return 7; });
  CHECK(map.nodes() == 1);
}

TEST_CASE("equal records become one object, families are cut where members differ") {
  RecordTable table(standard, false);
  const auto nothing = [] { return Provenance{}; };
  const semantics::amir::Record write{true, false, true, {}, Qual::ram, {}, {}};
  const auto fresh = [&](ThreadId thread) {
    return table.insert(new_record(standard, write, ThreadSet::single(thread), false), nothing);
  };
  const RecordId first = fresh(0), second = fresh(1);
  CHECK(first != second);
  CHECK(fresh(0) == first);
  CHECK(table.active().size() == 2);
  // A fence by both gives both records the same knowledge.
  for (const RecordId id : {first, second}) {
    RecordValue value = table.value(id);
    value.visibility.add(ThreadSet::range(0, 2), FlagSets::of({Qual::ram}, standard.table.full));
    table.change(id, std::move(value));
  }
  table.settle();
  CHECK(table.active().size() == 1);
  std::vector<RecordId> resolved;
  table.resolve(first, resolved);
  table.resolve(second, resolved);
  CHECK(resolved.size() == 1);

  const semantics::amir::Record copy{true, false, false, {}, Qual::cp80, {}, {}};
  const RecordId family = table.insert(new_record(standard, copy, ThreadSet::range(0, 4), false), nothing);
  CHECK(table.value(family).family());
  RecordValue rest = table.value(family), part = table.value(family);
  part.members = ThreadSet::single(2);
  rest.members = rest.members.minus(part.members);
  normalise(part, standard);
  table.split(family, std::move(rest), std::move(part), ThreadSet::single(2));
  table.settle();
  resolved.clear();
  table.resolve(family, resolved);
  REQUIRE(resolved.size() == 2);
  CHECK(table.value(resolved[0]).members.ranges() == std::vector<ThreadRange>{{0, 2}, {3, 4}});
  CHECK_FALSE(table.value(resolved[1]).family());  // one thread: a plain record
}
