#include "property/support/random_amir.hpp"

#include <algorithm>
#include <optional>

namespace exocheck::testing {
namespace {

namespace prog = semantics::amir;
using semantics::LoweredBarrier;

constexpr std::int64_t ctas = 2, cta_threads = 4, cluster = ctas * cta_threads;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), b_(cluster) {
    std::vector<Qual> all{Qual::ram, Qual::rmem, Qual::cp80, Qual::g2s,
                          Qual::s2g, Qual::wgS,  Qual::wgD,  Qual::wg0};
    pool_ = {Qual::ram};
    while (pool_.size() < 4) {
      const Qual q = random_.pick(all);
      if (std::find(pool_.begin(), pool_.end(), q) == pool_.end()) pool_.push_back(q);
    }
    careful_ = random_.percent(50);
    tasks_ = random_.percent(35);
    host_ = random_.percent(25);
    deep_ = random_.percent(40);
  }

  Program run() {
    const std::int64_t parameters = random_.between(1, 2);
    for (std::int64_t i = 0; i < parameters; ++i) {
      data_.push_back(
          declare("g" + std::to_string(i), [&](std::string name, std::vector<std::int64_t> shape) {
            return b_.parameter(std::move(name), std::move(shape));
          }));
    }
    if (host_) host_part();
    if (tasks_) {
      const SymId task = b_.symbol();
      // A barrier that outlives its task, which no translation makes.
      std::optional<VarId> outer;
      if (random_.percent(15)) {
        outer = b_.barrier("outer", {}, LoweredBarrier::mbarrier);
        b_.alloc(*outer);
        barriers_.push_back({*outer, {}, {0, -1}});
      }
      b_.loop(task, num(0), num(random_.between(1, 3)), [&] {
        iterators_.push_back({task, 3});
        block(2, random_.between(3, 12));
        iterators_.pop_back();
        b_.scope(threads(0, cluster, cluster));
        b_.inc_task();
      });
      if (outer) b_.free(*outer);
      barriers_.clear();
    } else {
      block(2, random_.between(4, 22));
    }
    if (host_) host_part();
    return b_.finish();
  }

 private:
  struct Data {
    VarId var;
    std::vector<std::int64_t> shape;
  };
  struct Barrier {
    VarId var;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> ns;  // the N of its Awaits
  };
  struct Iterator {
    SymId symbol;
    std::int64_t extent;
  };

  template <class Make>
  Data declare(const std::string& name, const Make& make) {
    const std::vector<std::vector<std::int64_t>> shapes{{}, {}, {2}, {4}, {7}, {2, 3}, {3, 5}};
    const auto& shape = random_.pick(shapes);
    return {make(name, shape), shape};
  }

  // ----------------------------------------------------------------------------------------------- threads

  ThreadMap::Dim interval(std::int64_t extent) {
    const std::int64_t lo = random_.between(0, extent - 1);
    return {extent, lo, {}, random_.between(1, extent - lo)};
  }

  ThreadMap map() {
    const std::int64_t kind = random_.between(1, 100);
    if (kind <= 15) return threads(0, cluster, cluster);
    if (kind <= 35) return {false, {{cluster, random_.between(0, cluster - 1), {}, 1}}};
    if (kind <= 60) return {false, {interval(ctas), interval(cta_threads)}};
    if (kind <= 70) return {false, {interval(ctas), interval(2), interval(2)}};
    if (kind <= 75) return {false, {interval(4), interval(2)}};
    if (kind <= 80 && host_) return everyone();
    std::vector<Iterator> fitting;
    for (const Iterator& i : iterators_) {
      if (i.extent <= cta_threads) fitting.push_back(i);
    }
    if (fitting.empty()) return {false, {interval(cluster)}};
    const Iterator& i = random_.pick(fitting);
    if (i.extent <= 2 && random_.percent(50))
      return {false, {{ctas, 0, {{i.symbol, 1}}, 1}, interval(cta_threads)}};
    if (random_.percent(50)) return {false, {{cluster, 0, {{i.symbol, 2}}, 2}}};
    return {false, {interval(ctas), {cta_threads, 0, {{i.symbol, 1}}, 1}}};
  }

  // ----------------------------------------------------------------------------------------------- elements

  ExprPtr index(std::int64_t extent) {
    std::vector<Iterator> fitting = iterators_;
    if (fitting.empty() || random_.percent(60)) return num(random_.between(0, extent - 1));
    const Iterator& i = random_.pick(fitting);
    ExprPtr e = ref(i.symbol);
    if (random_.percent(30)) e = semantics::ir::add(e, num(random_.between(0, 2)));
    return semantics::ir::binary(semantics::ir::BinaryOp::mod, e, num(extent));
  }

  Target target(const Data& data) {
    Target t = at(data.var);
    for (const std::int64_t extent : data.shape) {
      if (random_.percent(55)) {
        t.index.push_back(point(index(extent)));
      } else {
        const std::int64_t lo = random_.between(0, extent - 1);
        t.index.push_back(range(lo, random_.between(random_.percent(5) ? lo : lo + 1, extent)));
      }
    }
    if (!t.index.empty() && random_.percent(3)) {
      // Leaves the allocation on one side; half of these are clipped.
      const auto d =
          static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(t.index.size()) - 1));
      t.index[d] =
          random_.percent(50) ? range(-1, data.shape[d]) : range(data.shape[d] - 1, data.shape[d] + 1);
      t.clip = random_.percent(70);
    }
    return t;
  }

  Target barrier_point(const Barrier& z) {
    Target t = at(z.var);
    for (const std::int64_t extent : z.shape) t.index.push_back(point(index(extent)));
    return t;
  }

  // ----------------------------------------------------------------------------------------------- timelines

  QualSet some_quals(int chance) {
    QualSet out;
    for (const Qual q : pool_) {
      if (random_.percent(chance)) out = out | QualSet{q};
    }
    return out;
  }

  SyncTl timeline() {
    const std::vector<SyncTl> all{SyncTl::cuda_in_order,
                                  SyncTl::cuda_in_order,
                                  SyncTl::cuda_in_order,
                                  SyncTl::cuda_temporal,
                                  SyncTl::cuda_temporal,
                                  SyncTl::Sm80_cp_async,
                                  SyncTl::Sm80_generic,
                                  SyncTl::tma_to_smem_async,
                                  SyncTl::tma_to_gmem_async,
                                  SyncTl::wgmma_async_smem,
                                  SyncTl::wgmma_fence_1,
                                  SyncTl::wgmma_fence_2,
                                  SyncTl::wgmma_async,
                                  SyncTl::cuda_async_proxy,
                                  SyncTl::cuda_async_proxy_wgmma,
                                  SyncTl::cuda_generic_and_async_proxy,
                                  SyncTl::empty_sync_tl,
                                  SyncTl::cuda_stream_sync};
    return random_.pick(all);
  }

  struct First {
    bool transitive;
    QualSet full;
  };
  First first() {
    if (random_.percent(60)) {
      const auto& tl = sync_timeline(semantics::Dialect::P, timeline());
      return {tl.transitive, tl.full};
    }
    return {random_.percent(60), some_quals(60)};
  }
  struct Second {
    QualSet full, temporal;
  };
  Second second() {
    if (random_.percent(60)) {
      const auto& tl = sync_timeline(semantics::Dialect::P, timeline());
      return {tl.full, tl.temporal};
    }
    const QualSet full = some_quals(50);
    return {full, full | some_quals(50)};
  }

  // -----------------------------------------------------------------------------------------------
  // statements

  Access how() {
    Access a;
    const std::int64_t kind = random_.between(1, 100);
    a.mode = kind <= 45   ? AccessMode::read
             : kind <= 70 ? AccessMode::write
             : kind <= 85 ? AccessMode::read_write
                          : AccessMode::atomic;
    a.initial = random_.pick(pool_);
    if (a.initial == Qual::wg0) a.mode = AccessMode::write;
    a.extended = QualSet{a.initial};
    if (a.initial == Qual::wg0) a.extended = {Qual::wg0, Qual::wgD};
    if (a.initial == Qual::wgD) a.extended = {Qual::wg0, Qual::wgD};
    if (random_.percent(10)) a.extended = a.extended | QualSet{random_.pick(pool_)};
    a.in_order = random_.percent(60);
    if (random_.percent(20)) a.convergent = random_.percent(50);
    if (a.mode == AccessMode::atomic)
      a.atomic = QualSet{random_.percent(80) ? a.initial : random_.pick(pool_)};
    if (!barriers_.empty() && random_.percent(20)) {
      const Barrier& z = random_.pick(barriers_);
      Target t = barrier_point(z);
      for (std::size_t d = 0; d < z.shape.size(); ++d) {
        if (random_.percent(30)) t.index[d] = range(0, z.shape[d]);
      }
      a.trailing.push_back(std::move(t));
    }
    return a;
  }

  void access() {
    const Target t = target(random_.pick(data_));
    const Access a = how();
    // A record without its checks keeps the run going where a full access would end it.
    if (random_.percent(careful_ ? 55 : 25)) {
      b_.record(t, a);
    } else {
      b_.access(t, a);
    }
    if (random_.percent(25)) {
      if (a.mode == AccessMode::read) {
        b_.init_read(t);
      } else {
        b_.init_write(t);
      }
    }
  }

  void fence() {
    if (careful_ && random_.percent(30)) b_.scope(threads(0, cluster, cluster));
    const First l1 = first();
    const Second l2 = second();
    b_.fence(l1.transitive, l1.full, l2.full, l2.temporal);
  }

  void arrive(const Barrier& z, const Target& home) {
    std::vector<Target> referenced{home};
    if (z.shape.size() == 2 && random_.percent(85)) {
      Target row = home, column = home;
      row.index[1] = range(0, z.shape[1]);
      column.index[0] = range(0, z.shape[0]);
      referenced =
          random_.percent(60) ? std::vector{row, column} : std::vector{random_.percent(50) ? row : column};
    }
    if (random_.percent(3)) referenced = {barrier_point(z)};
    const First l1 = first();
    b_.arrive(l1.transitive, l1.full, home, std::move(referenced));
  }

  void await(const Barrier& z, const Target& element) {
    const Second l2 = second();
    b_.await(element, l2.full, l2.temporal, random_.pick(z.ns));
  }

  // One arrival by every element of the barrier, then one Await of every element, as multicast needs it.
  void rendezvous(const Barrier& z) {
    const std::vector<Target> all = elements(z.var, z.shape);
    for (const Target& t : all) {
      b_.scope(map());
      arrive(z, t);
    }
    if (random_.percent(40)) statement(0);
    for (const Target& t : all) {
      b_.scope(map());
      await(z, t);
    }
  }

  // Producer and consumer over a ring, mostly correct.
  void ring() {
    if (barriers_.size() < 2) return fence();
    const Data& data = random_.pick(data_);
    const Barrier full = barriers_[0], empty = barriers_[1];
    const SymId k = b_.symbol();
    const std::int64_t depth = random_.between(1, 3);
    const ThreadMap producer = map(), consumer = map();
    b_.loop(k, num(0), num(random_.between(1, deep_ ? 7 : 4)), [&] {
      iterators_.push_back({k, 8});
      const Target slot = target(data);
      b_.scope(producer);
      b_.await(barrier_point(empty), SyncTl::cuda_temporal,
               random_.percent(80) ? -1 - depth : random_.pick(empty.ns));
      const Target z = barrier_point(full);
      Access load{.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false};
      if (random_.percent(80)) load.trailing = {z};
      b_.access(slot, load);
      b_.arrive(SyncTl::cuda_temporal, z);
      b_.scope(consumer);
      b_.await(z, random_.percent(70) ? SyncTl::cuda_generic_and_async_proxy : timeline(), -1);
      b_.access(slot, {.mode = AccessMode::read, .initial = random_.percent(70) ? Qual::ram : Qual::wgS});
      if (random_.percent(20)) statement(0);
      b_.scope(consumer);
      b_.arrive(random_.percent(80) ? SyncTl::cuda_in_order : timeline(), barrier_point(empty));
      iterators_.pop_back();
    });
  }

  // Ordinary accesses, a hand-over to the async proxy by various threads, an asynchronous access (rules S1,
  // S2).
  void proxy() {
    const Target t = target(random_.pick(data_));
    const std::vector<SyncTl> seconds{SyncTl::cuda_async_proxy, SyncTl::tma_to_gmem_async,
                                      SyncTl::tma_to_smem_async, SyncTl::cuda_generic_and_async_proxy};
    const Access ordinary{.mode = random_.percent(50) ? AccessMode::read : AccessMode::write,
                          .initial = random_.percent(75) ? Qual::ram : Qual::cp80,
                          .in_order = random_.percent(70)};
    b_.scope(map());
    b_.record(t, ordinary);
    b_.scope(random_.percent(60) ? threads(0, cluster, cluster) : map());
    b_.fence(random_.percent(70) ? SyncTl::Sm80_generic : SyncTl::cuda_in_order,
             random_.percent(80) ? SyncTl::Sm80_generic : random_.pick(seconds));
    const std::int64_t n = random_.between(1, 3);
    for (std::int64_t i = 0; i < n; ++i) {
      b_.scope(map());
      if (barriers_.empty() || random_.percent(50)) {
        b_.fence(SyncTl::cuda_in_order, random_.pick(seconds));
        continue;
      }
      const Barrier& z = random_.pick(barriers_);
      const Target element = barrier_point(z);
      b_.arrive(SyncTl::cuda_in_order, element);
      b_.scope(map());
      b_.await(element, random_.pick(seconds), random_.pick(z.ns));
    }
    b_.scope(map());
    const bool load = random_.percent(50);
    b_.access(t, {.mode = load ? AccessMode::write : AccessMode::read,
                  .initial = load ? Qual::g2s : Qual::s2g,
                  .in_order = false,
                  .convergent = random_.percent(40)});
  }

  // Every thread copies, closes its own commit group and waits for it.
  void thread_groups() {
    const VarId groups =
        b_.barrier("cg" + std::to_string(++names_), {cta_threads}, LoweredBarrier::sm80_commit_group);
    b_.scope(threads(0, cluster, cluster));
    b_.alloc(groups);
    const SymId t = b_.symbol();
    const Data& data = random_.pick(data_);
    const std::int64_t n = random_.between(0, 1);
    b_.loop(t, num(0), num(cta_threads), [&] {
      iterators_.push_back({t, cta_threads});
      b_.scope({false, {{ctas, 0, {}, 1}, {cta_threads, 0, {{t, 1}}, 1}}});
      b_.access(target(data), {.mode = AccessMode::write, .initial = Qual::cp80, .in_order = false});
      b_.arrive(SyncTl::Sm80_cp_async, at(groups, {point(ref(t))}));
      if (random_.percent(70)) b_.await(at(groups, {point(ref(t))}), SyncTl::Sm80_generic, n);
      iterators_.pop_back();
    });
    b_.scope(threads(0, cluster, cluster));
    b_.free(groups);
  }

  void host_part() {
    b_.scope(everyone());
    const std::int64_t n = random_.between(1, 3);
    for (std::int64_t i = 0; i < n; ++i) {
      if (random_.percent(60)) {
        const Qual q = random_.percent(50) ? Qual::cpu : Qual::strm;
        b_.access(target(data_.front()),
                  {.mode = random_.percent(40) ? AccessMode::read : AccessMode::write, .initial = q});
      } else if (random_.percent(50)) {
        b_.fence(SyncTl::cuda_stream_sync, SyncTl::cpu_in_order);
      } else {
        const QualSet device = sync_timeline(semantics::Dialect::P, SyncTl::cuda_stream_sync).full;
        b_.fence(true, device | QualSet{Qual::cpu}, device, device);
      }
    }
  }

  void compound(int depth) {
    const SymId i = b_.symbol();
    if (random_.percent(70)) {
      const std::int64_t extent = random_.between(random_.percent(10) ? 0 : 1, deep_ ? 5 : 3);
      b_.loop(i, num(0), num(extent), [&] {
        iterators_.push_back({i, std::max<std::int64_t>(extent, 1)});
        block(depth - 1, random_.between(1, 5));
        iterators_.pop_back();
      });
    } else {
      const ExprPtr left = index(3), right = num(random_.between(0, 2));
      b_.branch(
          semantics::ir::binary(semantics::ir::BinaryOp::le, left, right, semantics::ir::TypeKind::boolean),
          [&] { block(depth - 1, random_.between(1, 3)); }, [&] { block(depth - 1, random_.between(0, 2)); });
    }
  }

  void statement(int depth) {
    b_.scope(map());
    const std::int64_t kind = random_.between(1, 100);
    if (kind <= 38 || barriers_.empty()) return random_.percent(55) ? access() : fence();
    if (kind <= 57) return fence();
    if (kind <= 60) return proxy();
    const Barrier& z = random_.pick(barriers_);
    if (kind <= 70) return arrive(z, barrier_point(z));
    if (kind <= 76) return await(z, barrier_point(z));
    if (kind <= 84) {
      const Target t = barrier_point(z);
      arrive(z, t);
      if (random_.percent(50)) b_.scope(map());
      return await(z, t);
    }
    if (kind <= 88 && depth > 0) return rendezvous(z);
    if (kind <= 91 && depth > 0) return ring();
    if (kind <= 93 && depth > 0) return thread_groups();
    if (kind <= 94) return b_.check_barrier(z.var);
    if (depth > 0) return compound(depth);
    fence();
  }

  // Local variables, statements, frees.
  void block(int depth, std::int64_t statements) {
    const std::size_t outer_data = data_.size(), outer_barriers = barriers_.size();
    const bool top = barriers_.empty();
    if (top || random_.percent(25)) {
      const std::int64_t n = random_.between(0, 2);
      for (std::int64_t i = 0; i < n; ++i) {
        const bool registers = random_.percent(30);
        data_.push_back(declare((registers ? "r" : "s") + std::to_string(++names_),
                                [&](std::string name, std::vector<std::int64_t> shape) {
                                  return registers ? b_.registers(std::move(name), std::move(shape))
                                                   : b_.shared(std::move(name), std::move(shape));
                                }));
      }
      const std::int64_t m = top ? random_.between(1, 2) : random_.between(0, 1);
      const std::vector<std::vector<std::int64_t>> shapes{{}, {}, {2}, {2}, {2, 2}};
      const std::vector<std::vector<std::int64_t>> ns{{0}, {0, 1}, {1}, {-1}, {-1, -2}, {-2}, {-3}, {0, -1}};
      for (std::int64_t i = 0; i < m; ++i) {
        const auto lowered = random_.percent(15) ? LoweredBarrier::cluster_sync : LoweredBarrier::mbarrier;
        const auto& shape = random_.pick(shapes);
        barriers_.push_back(
            {b_.barrier("z" + std::to_string(++names_), shape, lowered), shape, random_.pick(ns)});
      }
      b_.scope(threads(0, cluster, cluster));
      for (std::size_t i = outer_data; i < data_.size(); ++i) b_.alloc(data_[i].var);
      for (std::size_t i = outer_barriers; i < barriers_.size(); ++i) b_.alloc(barriers_[i].var);
    }
    for (std::int64_t i = 0; i < statements; ++i) statement(depth);
    const bool checked = random_.percent(careful_ ? 25 : 60);
    b_.scope(random_.percent(85) ? threads(0, cluster, cluster) : map());
    while (data_.size() > outer_data) {
      if (checked) {
        b_.free_checked(data_.back().var, random_.percent(70) ? Level::temporal : Level::full);
      } else {
        b_.free(data_.back().var);
      }
      data_.pop_back();
    }
    while (barriers_.size() > outer_barriers) {
      if (checked) {
        b_.free_checked(barriers_.back().var);
      } else {
        b_.free(barriers_.back().var);
      }
      barriers_.pop_back();
    }
  }

  Random random_;
  AmirBuilder b_;
  std::vector<Qual> pool_;
  bool careful_ = false, tasks_ = false, host_ = false, deep_ = false;
  std::vector<Data> data_;
  std::vector<Barrier> barriers_;
  std::vector<Iterator> iterators_;
  int names_ = 0;
};

// Every list of statements of the program.
void collect_bodies(prog::Body& body, std::vector<prog::Body*>& out) {
  out.push_back(&body);
  for (prog::Node& node : body) {
    if (auto* loop = std::get_if<prog::Loop>(&node.node)) collect_bodies(loop->body, out);
    if (auto* branch = std::get_if<prog::Branch>(&node.node)) {
      collect_bodies(branch->then_body, out);
      collect_bodies(branch->else_body, out);
    }
  }
}

}  // namespace

Program random_program(std::uint64_t seed) { return Generator(seed).run(); }

Program with_strong_fence(const Program& program, Random& random) {
  Program out = program;
  std::vector<prog::Body*> bodies;
  collect_bodies(out.body, bodies);
  prog::Body& body = *random.pick(bodies);
  const QualSet all = QualSet::from_bits(0x1fff);
  prog::Node node;
  node.id = prog::NodeId{out.node_count++};
  node.map = static_cast<std::uint32_t>(out.maps.size());
  node.node = prog::Fence{true, all, all, all};
  out.maps.push_back(threads(0, out.threads, out.threads));
  body.insert(body.begin() + random.between(0, static_cast<std::int64_t>(body.size())), std::move(node));
  return out;
}

Program with_reversed_threads(const Program& program) {
  Program out = program;
  for (ThreadMap& map : out.maps) {
    for (ThreadMap::Dim& dim : map.dims) {
      dim.offset = dim.extent - dim.box - dim.offset;
      for (auto& [iterator, coefficient] : dim.terms) coefficient = -coefficient;
    }
  }
  return out;
}

std::optional<Program> as_kernel(const Program& program) {
  bool host = false, tasks = false;
  prog::for_each_node(program.body, [&](const prog::Node& node) {
    const bool structural =
        std::holds_alternative<prog::Loop>(node.node) || std::holds_alternative<prog::Branch>(node.node);
    tasks = tasks || std::holds_alternative<prog::IncTask>(node.node);
    host = host || (!structural && program.maps[node.map].all_threads);
  });
  if (host) return std::nullopt;
  Program out = program;
  const auto node = [&](ThreadMap map, auto statement) {
    prog::Node n;
    n.id = prog::NodeId{out.node_count++};
    n.map = static_cast<std::uint32_t>(out.maps.size());
    n.node = std::move(statement);
    out.maps.push_back(std::move(map));
    return n;
  };
  if (!tasks) {
    out.body.push_back(node(threads(0, out.threads, out.threads), prog::IncTask{}));
    prog::Node loop =
        node(everyone(), prog::Loop{SymId{out.symbol_count++}, num(0), num(1), std::move(out.body)});
    out.body.clear();
    out.body.push_back(std::move(loop));
  }
  const QualSet device = sync_timeline(semantics::Dialect::P, SyncTl::cuda_stream_sync).full;
  out.body.insert(out.body.begin(),
                  node(everyone(), prog::Fence{true, device | QualSet{Qual::cpu}, device, device}));
  out.body.push_back(node(everyone(), prog::Fence{true, device, device, device}));
  return out;
}

Program with_few_checks(const Program& program, Random& random) {
  Program out = program;
  std::vector<prog::Body*> bodies;
  collect_bodies(out.body, bodies);
  const int kept = static_cast<int>(random.between(5, 40));
  // Innermost bodies first: erasing moves the nodes of the outer ones.
  std::reverse(bodies.begin(), bodies.end());
  for (prog::Body* body : bodies) {
    std::erase_if(*body, [&](const prog::Node& node) {
      const bool check = std::holds_alternative<prog::Check>(node.node) ||
                         std::holds_alternative<prog::CheckBarrier>(node.node) ||
                         std::holds_alternative<prog::InitRead>(node.node);
      return check && !random.percent(kept);
    });
  }
  return out;
}

Program without_await(const Program& program, Random& random) {
  Program out = program;
  std::vector<prog::Body*> bodies;
  collect_bodies(out.body, bodies);
  std::vector<std::pair<prog::Body*, std::size_t>> awaits;
  for (prog::Body* body : bodies) {
    for (std::size_t i = 0; i < body->size(); ++i) {
      if (std::holds_alternative<prog::Await>((*body)[i].node)) awaits.emplace_back(body, i);
    }
  }
  if (awaits.empty()) return out;
  const auto [body, position] = random.pick(awaits);
  body->erase(body->begin() + static_cast<std::ptrdiff_t>(position));
  return out;
}

}  // namespace exocheck::testing
