// Ownership of shards on random nests, against brute force over all threads and iterations (collective.md 12,
// 17-23).
#include <catch2/catch.hpp>
#include <functional>

#include "analysis/distributed.hpp"
#include "proofs-tests/property/random_nest.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck::analysis;
using namespace exocheck::test;
namespace ir = exocheck::semantics::ir;

namespace {

constexpr std::uint64_t first_seed = 7;

// One variable, allocated after `allocated` steps of a nest, and what is needed to deduce its uses.
class Setting {
 public:
  Setting(const RandomNest& n, std::size_t allocated, CollUnit native)
      : nest_(n), allocated_(allocated), constructs_((procedure_.symbols.resize(64), procedure_), facts_) {
    variable_.name = "x";
    variable_.native = std::move(native);
    variable_.allocation = n.prefixes[allocated].tiling;
    add_loops(n);
  }

  // A use of x indexed by the named iterators (a leading part of its dimensions; extents are those of the
  // first use).
  std::variant<Deduction, Refusal> use(const RandomNest& n, const std::vector<std::string>& indices) {
    add_loops(n);
    DistributedUse use;
    use.tiling = n.nest().tiling;
    for (const std::string& name : indices) {
      use.index.push_back({ir::var_ref(n.nest().iter(name)), nullptr});
      use.written.push_back(use.written.size());
    }
    use.text = "x[..]";
    return deduce(variable_, std::move(use), constructs_);
  }
  std::optional<Refusal> disagree(const Deduction& a, const Deduction& b) const {
    return disagreement(variable_, DistributedUse{}, a, b, constructs_);
  }

  DistributedVariable variable_;
  const RandomNest& nest_;
  std::size_t allocated_;
  Facts facts_;
  Constructs& constructs() { return constructs_; }

 private:
  // Loops at the same depth of different nests share a symbol; they also have the same count.
  void add_loops(const RandomNest& n) {
    for (std::size_t k = 0; k < n.steps.size(); ++k) {
      if (n.steps[k].warps()) continue;
      constructs_.add(
          SymId{static_cast<std::uint32_t>(k)},
          {ConstructKind::thread_loop, "loop '" + n.steps[k].name + "'", n.steps[k].count, nullptr, {}});
    }
  }
  ir::Procedure procedure_;
  Constructs constructs_;
};

// Which delta0 instance holds the thread: the coordinates that are not whole.
std::vector<std::int64_t> instance(std::int64_t thread, const CollType& type) {
  std::vector<std::int64_t> out;
  for (std::size_t i = type.domain.size(); i-- > 0;) {
    if (type.box[i] == 1) out.push_back(thread % type.domain[i]);
    thread /= type.domain[i];
  }
  return out;
}

CollUnit random_native(Random& random) {
  switch (pick(random, {0, 0, 0, 1, 1, 2, 3, 3, 4, 5})) {
    case 0:
      return T;
    case 1:
      return WP;
    case 2:
      return WG;
    case 3:
      return CTA;
    case 4:
      return scaled(pick(random, {2, 4, 16, 64}), T);
    default:
      return CLUSTER;
  }
}

// Loops after the allocation, in random order, most of them those that divide the collective between shards.
std::vector<std::string> random_indices(const RandomNest& n, std::size_t allocated, Random& random) {
  std::vector<std::string> out;
  for (std::size_t k = allocated; k < n.steps.size(); ++k) {
    if (!n.steps[k].warps() && n.nest().pitch(n.steps[k].name) != 0 && pick(random, {0, 1, 1, 1}) == 1) {
      out.push_back(n.steps[k].name);
    }
  }
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

std::int64_t count_of(const RandomNest& n, const std::string& name) {
  for (const Step& s : n.steps) {
    if (s.name == name) return s.count;
  }
  return 0;
}

struct Accepted {
  const RandomNest& n;
  std::size_t allocated;
  std::vector<std::string> indices;
  Deduction d;
  CollType native;
  // Values of the iterators that enclose the allocation, and of the first R indices.
  std::vector<std::int64_t> key(const Sigma& sigma) const {
    std::vector<std::int64_t> out;
    for (std::size_t k = 0; k < allocated; ++k) {
      if (!n.steps[k].warps()) out.push_back(sigma.at(n.steps[k].name));
    }
    for (std::size_t k = 0; k < d.pitches.size(); ++k) out.push_back(sigma.at(indices[k]));
    return out;
  }
};

using Owners = std::map<std::vector<std::int64_t>, std::vector<std::int64_t>>;

// The owner of every element as one use sees it; fails if a use touches two shards or an element has two
// owners.
Owners owners(const Accepted& a) {
  Owners out;
  for (const Sigma& sigma : assignments(a.n.steps, 20000)) {
    const Threads threads = a.n.nest().threads(sigma);
    const auto owner = instance(threads.front(), a.native);
    for (const std::int64_t t : threads) REQUIRE(instance(t, a.native) == owner);
    const auto [it, fresh] = out.try_emplace(a.key(sigma), owner);
    REQUIRE((fresh || it->second == owner));
  }
  return out;
}

// Calls `check` for accepted uses of random variables on random nests.
int for_accepted(int tries, const std::function<void(Setting&, const Accepted&, Random&)>& check) {
  int accepted = 0;
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    Random random(seed);
    const RandomNest n = random_nest(random);
    const std::size_t allocated = static_cast<std::size_t>(pick(random, {0, 0, 0, 1, 2}));
    if (allocated >= n.steps.size()) continue;
    const CollUnit native = random_native(random);
    const auto type = unpack(native, n.geometry, Unpack::query);
    if (std::holds_alternative<Failure>(type)) continue;
    Setting setting(n, allocated, native);
    if (check_allocation(setting.variable_, setting.constructs())) continue;
    const auto indices = random_indices(n, allocated, random);
    for (const auto& name : indices) setting.variable_.extents.emplace_back(count_of(n, name));
    auto result = setting.use(n, indices);
    if (std::holds_alternative<Refusal>(result)) continue;
    ++accepted;
    std::string used;
    for (const auto& name : indices) used += name + ",";
    INFO("seed " << seed << ": " << n.text() << "; allocated after " << allocated << " steps in '"
                 << native.text() << "', indices " << used);
    check(setting, {n, allocated, indices, std::get<Deduction>(result), std::get<CollType>(type)}, random);
  }
  return accepted;
}

}  // namespace

TEST_CASE("the owner of an element is a function, injective, and given by the formula [17, 18, 20]") {
  const int accepted = for_accepted(6000, [](Setting& setting, const Accepted& a, Random&) {
    const Owners table = owners(a);
    // Different elements have different owners.
    std::set<std::vector<std::int64_t>> seen;
    for (const auto& [key, owner] : table) REQUIRE(seen.insert(owner).second);

    // The first thread of the owner.
    const auto& allocation = setting.variable_.allocation;
    auto completed = complete(allocation, a.native);
    REQUIRE(std::holds_alternative<Completed>(completed));
    const auto& [tiling, type] = std::get<Completed>(completed);
    for (const Sigma& sigma : assignments(a.n.steps, 256)) {
      std::int64_t first = a.d.base;
      for (std::size_t k = 0; k < a.d.pitches.size(); ++k) first += a.d.pitches[k] * sigma.at(a.indices[k]);
      for (std::size_t i = 0; i < tiling->dims.size(); ++i) {
        if (type.box[i] != 1) continue;
        for (const DimOp& op : tiling->dims[i].ops) {
          if (!op.hidden) first += tiling->pitch(i) * op.box * sigma.at(a.n.nest().names[ir::index(op.iter)]);
        }
      }
      const auto owner = instance(first, a.native);
      REQUIRE(owner == table.at(a.key(sigma)));
      REQUIRE((first == 0 || instance(first - 1, a.native) != owner));
    }
  });
  CHECK(accepted > 800);
}

TEST_CASE("uses that agree have equal owners [19]") {
  int agreeing = 0;
  int refused = 0;
  for_accepted(12000, [&](Setting& setting, const Accepted& a, Random& random) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      // The same loops, in another order, with other units, or shifted by a CudaWarps.
      std::vector<Step> steps(a.n.steps.begin() + static_cast<std::ptrdiff_t>(a.allocated), a.n.steps.end());
      switch (pick(random, {0, 1, 2, 3})) {
        case 0:
          std::shuffle(steps.begin(), steps.end(), random);
          break;
        case 1:
          for (Step& s : steps) {
            if (!s.warps() && pick(random, {0, 1}) == 1) s.unit = random_unit(random);
          }
          break;
        case 2:
          for (Step& s : steps) {
            if (!s.warps()) continue;
            s.lo += 1;
            s.hi += 1;
          }
          break;
        default: {
          Step w;
          w.lo = pick(random, {0, 1, 2});
          w.hi = w.lo + pick(random, {1, 2, 4, 8});
          steps.insert(steps.begin(), w);
        }
      }
      RandomNest other{a.n.geometry, {}, {}};
      other.steps.assign(a.n.steps.begin(), a.n.steps.begin() + static_cast<std::ptrdiff_t>(a.allocated));
      other.prefixes.assign(a.n.prefixes.begin(),
                            a.n.prefixes.begin() + static_cast<std::ptrdiff_t>(a.allocated) + 1);
      bool derived = true;
      for (const Step& s : steps) {
        Nest next = apply(other.prefixes.back(), s);
        derived = derived && !next.failure;
        if (!derived) break;
        other.steps.push_back(s);
        other.prefixes.push_back(std::move(next));
      }
      if (!derived) continue;
      auto result = setting.use(other, a.indices);
      if (std::holds_alternative<Refusal>(result) || setting.disagree(a.d, std::get<Deduction>(result))) {
        ++refused;
        continue;
      }
      ++agreeing;
      INFO("other use: " << other.text());
      const Accepted b{other, a.allocated, a.indices, std::get<Deduction>(result), a.native};
      REQUIRE(owners(a) == owners(b));
    }
  });
  CHECK(agreeing > 300);
  CHECK(refused > 300);
}

TEST_CASE("permuting the distributed dimensions permutes the pitches [21]") {
  int permuted = 0;
  for_accepted(12000, [&](Setting& setting, const Accepted& a, Random& random) {
    if (a.d.pitches.size() < 2) return;
    std::vector<std::size_t> order(a.d.pitches.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::string> indices = a.indices;
    const auto extents = setting.variable_.extents;
    for (std::size_t k = 0; k < order.size(); ++k) {
      indices[k] = a.indices[order[k]];
      setting.variable_.extents[k] = extents[order[k]];
    }
    auto result = setting.use(a.n, indices);
    REQUIRE(std::holds_alternative<Deduction>(result));
    const auto& d = std::get<Deduction>(result);
    REQUIRE(d.base == a.d.base);
    REQUIRE(d.pitches.size() == a.d.pitches.size());
    for (std::size_t k = 0; k < order.size(); ++k) REQUIRE(d.pitches[k] == a.d.pitches[order[k]]);
    ++permuted;
  });
  CHECK(permuted > 100);
}

TEST_CASE("implied loops give the same distribution as written ones [22]") {
  int desugared = 0;
  for_accepted(6000, [&](Setting& setting, const Accepted& a, Random&) {
    // The last loop, moved into an instruction's parameter.
    const Step& last = a.n.steps.back();
    if (last.warps() || a.n.steps.size() - 1 < a.allocated) return;
    const auto at = std::find(a.indices.begin(), a.indices.end(), last.name);
    if (at == a.indices.end()) return;
    DistributedUse use;
    use.tiling = a.n.prefixes[a.n.steps.size() - 1].tiling;
    use.units = {last.unit};
    use.callee = "argument";
    for (const auto& name : a.indices) {
      if (name == last.name) {
        use.index.push_back({ir::int_const(0), ir::int_const(last.count)});
      } else {
        use.index.push_back({ir::var_ref(a.n.nest().iter(name)), nullptr});
      }
      use.written.push_back(use.written.size());
    }
    auto result = deduce(setting.variable_, use, setting.constructs());
    REQUIRE(std::holds_alternative<Deduction>(result));
    const auto& d = std::get<Deduction>(result);
    REQUIRE(d.pitches == a.d.pitches);
    REQUIRE(d.base == a.d.base);
    REQUIRE(d.implied.size() == 1);
    REQUIRE(d.tiling->threads() == a.n.nest().tiling->threads());
    ++desugared;
  });
  CHECK(desugared > 200);
}

TEST_CASE("loops that divide nothing change nothing [23]") {
  int inserted = 0;
  for_accepted(3000, [&](Setting& setting, const Accepted& a, Random& random) {
    Step trivial{"z", 1, random_unit(random), 0, 0};
    Nest next = apply(a.n.nest(), trivial);
    if (next.failure || next.tiling->how.dim) return;
    RandomNest longer = a.n;
    longer.steps.push_back(trivial);
    longer.prefixes.push_back(std::move(next));
    auto result = setting.use(longer, a.indices);
    // Refining the domain may make a native unit unreachable, but never changes an answer.
    if (std::holds_alternative<Refusal>(result)) {
      REQUIRE(std::get<Refusal>(result).code == "E-X02");
      return;
    }
    REQUIRE(std::get<Deduction>(result).pitches == a.d.pitches);
    REQUIRE(std::get<Deduction>(result).base == a.d.base);
    ++inserted;
  });
  CHECK(inserted > 100);
}
