#include "property/support/random_tasks.hpp"

#include <algorithm>

namespace exocheck::testing {
namespace {

namespace prog = semantics::amir;
namespace ir = semantics::ir;
using semantics::LoweredBarrier;

constexpr std::int64_t ctas = 2, cta_threads = 4, cluster = ctas * cta_threads;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), b_(cluster) {}

  SizedProgram run() {
    size_ = b_.symbol();
    careful_ = random_.percent(60);
    if (random_.percent(40)) global_ = b_.parameter("g", {64});
    if (random_.percent(30)) vector_ = b_.sized_parameter("v", {ir::add(ref(size_), num(9))});
    entry();
    tasks();
    if (random_.percent(10)) tasks();
    exit();
    if (random_.percent(10)) {
      entry();
      tasks();
      exit();
    }
    SizedProgram out;
    out.size = size_;
    out.one_task = one_task_;
    out.program = b_.finish();
    ir::Procedure& p = out.procedure;
    p.symbols.resize(ir::index(size_) + 1);
    ir::Symbol& t = p.symbols[ir::index(size_)];
    t.name = "T";
    t.kind = ir::SymbolKind::index;
    t.parameter = true;
    p.parameters.push_back(size_);
    p.assertions.push_back({compare(ir::BinaryOp::ge, ref(size_), num(0)), {}});
    return out;
  }

 private:
  struct Buffer {
    VarId var{};
    std::vector<std::int64_t> shape;
    bool registers = false;
  };
  struct Barrier {
    VarId var{};
    std::vector<std::int64_t> shape;
    std::int64_t n = -1;
  };
  struct Counter {  // an iterator over a range that depends on T, or a short constant one
    SymId symbol{};
    std::int64_t extent = 0;  // 0: depends on T
  };

  static ExprPtr compare(ir::BinaryOp op, ExprPtr a, ExprPtr b) {
    return ir::binary(op, std::move(a), std::move(b), ir::TypeKind::boolean);
  }
  static ExprPtr modulo(ExprPtr a, std::int64_t n) {
    return ir::binary(ir::BinaryOp::mod, std::move(a), num(n));
  }
  static ExprPtr divided(ExprPtr a, std::int64_t n) {
    return ir::binary(ir::BinaryOp::div, std::move(a), num(n));
  }

  void entry() {
    const QualSet device = sync_timeline(semantics::Dialect::P, SyncTl::cuda_stream_sync).full;
    b_.scope(everyone());
    b_.fence(true, device | QualSet{Qual::cpu}, device, device);
  }
  void exit() {
    const QualSet device = sync_timeline(semantics::Dialect::P, SyncTl::cuda_stream_sync).full;
    b_.scope(everyone());
    b_.fence(true, device, device, device);
  }

  void tasks() {
    const SymId task = b_.symbol();
    const bool one = random_.percent(50);
    one_task_ = one_task_ && one;
    const ExprPtr hi = one ? num(1) : random_.percent(40) ? num(2) : divided(ir::add(ref(size_), num(3)), 4);
    b_.loop(task, num(0), hi, [&] {
      task_ = task;
      body();
      b_.scope(threads(0, cluster, cluster));
      b_.inc_task();
    });
  }

  void body() {
    buffers_.clear();
    barriers_.clear();
    const std::int64_t n = random_.between(1, 2);
    for (std::int64_t i = 0; i < n; ++i) buffers_.push_back(buffer());
    const std::int64_t m = random_.between(1, 3);
    for (std::int64_t i = 0; i < m; ++i) barriers_.push_back(barrier());
    groups_ = b_.barrier("cg" + std::to_string(++names_), {cta_threads}, LoweredBarrier::sm80_commit_group);
    b_.scope(threads(0, cluster, cluster));
    for (const Buffer& x : buffers_) b_.alloc(x.var);
    for (const Barrier& z : barriers_) b_.alloc(z.var);
    b_.alloc(groups_);
    block(random_.between(2, 7), 2);
    b_.scope(threads(0, cluster, cluster));
    if (careful_ && random_.percent(70)) b_.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    const bool checked = random_.percent(70);
    for (const Buffer& x : buffers_) release(x, checked);
    for (const Barrier& z : barriers_) release(z, checked && random_.percent(50));
    b_.free(groups_);
  }

  // ----------------------------------------------------------------------------------------------- pieces

  Buffer buffer() {
    static const std::vector<std::vector<std::int64_t>> shapes{{}, {2}, {3}, {2, 4}, {4}, {8}, {12}};
    const bool registers = random_.percent(25);
    const auto& shape = random_.pick(shapes);
    const std::string name = (registers ? "r" : "s") + std::to_string(++names_);
    return {registers ? b_.registers(name, shape) : b_.shared(name, shape), shape, registers};
  }
  Barrier barrier() {
    static const std::vector<std::vector<std::int64_t>> shapes{{}, {}, {2}, {2, 2}, {3}};
    const auto& shape = random_.pick(shapes);
    return {b_.barrier("z" + std::to_string(++names_), shape,
                       random_.percent(12) ? LoweredBarrier::cluster_sync : LoweredBarrier::mbarrier),
            shape, random_.pick(std::vector<std::int64_t>{0, 1, -1, -1, -2, -3})};
  }

  void release(const Buffer& x, bool checked) {
    if (checked && !x.registers) {
      b_.free_checked(x.var);
    } else {
      b_.free(x.var);
    }
  }
  void release(const Barrier& z, bool checked) {
    if (checked) b_.check_barrier(z.var);
    b_.free(z.var);
  }

  ThreadMap::Dim interval(std::int64_t extent) {
    const std::int64_t lo = random_.between(0, extent - 1);
    return {extent, lo, {}, random_.between(1, extent - lo)};
  }
  ThreadMap map() {
    const std::int64_t kind = random_.between(1, 100);
    if (kind <= 25) return threads(0, cluster, cluster);
    if (kind <= 50) return {false, {{cluster, random_.between(0, cluster - 1), {}, 1}}};
    if (kind <= 75) return {false, {interval(ctas), {cta_threads, 0, {}, cta_threads}}};
    return {false, {interval(ctas), interval(cta_threads)}};
  }

  ExprPtr value() {
    if (!counters_.empty() && random_.percent(80)) return ref(random_.pick(counters_).symbol);
    return random_.percent(50) ? ref(size_) : ref(task_);
  }
  ExprPtr index(std::int64_t extent) {
    if (counters_.empty() || random_.percent(55)) return num(random_.between(0, extent - 1));
    const Counter& k = random_.pick(counters_);
    if (k.extent > 0 && k.extent <= extent && random_.percent(60)) return ref(k.symbol);
    ExprPtr e = value();
    if (counters_.size() >= 2 && random_.percent(15))
      e = ir::add(ref(counters_.back().symbol), ref(counters_[counters_.size() - 2].symbol));
    if (random_.percent(40)) e = ir::add(e, num(random_.between(0, 3)));
    if (random_.percent(15)) e = divided(e, 2);
    return modulo(e, extent);
  }
  Target target(const Buffer& x) {
    Target t = at(x.var);
    for (const std::int64_t extent : x.shape) {
      const std::int64_t kind = random_.between(1, 100);
      if (kind <= 60) {
        t.index.push_back(point(index(extent)));
      } else if (kind <= 75) {
        const std::int64_t width = random_.between(1, extent);
        const ExprPtr lo = index(extent - width + 1);
        t.index.push_back({lo, ir::add(lo, num(width))});
      } else {
        const std::int64_t lo = random_.between(0, extent - 1);
        t.index.push_back(range(lo, random_.between(lo + 1, extent)));
      }
    }
    return t;
  }
  Target element(const Barrier& z) {
    Target t = at(z.var);
    for (const std::int64_t extent : z.shape) t.index.push_back(point(index(extent)));
    return t;
  }
  // Where v crosses a share of the size, or leaves out one value that depends on it.
  ExprPtr crossing(const ExprPtr& v) {
    const std::int64_t slope = random_.between(2, 3);
    const ExprPtr scaled = ir::add(ir::binary(ir::BinaryOp::mul, num(slope), v), num(random_.between(-2, 3)));
    switch (random_.between(1, 5)) {
      case 1:
        return compare(ir::BinaryOp::lt, scaled, ref(size_));
      case 2:
        return compare(ir::BinaryOp::lt, ref(size_), scaled);
      case 3:
        return compare(ir::BinaryOp::lt, v, divided(ref(size_), slope));
      case 4:
        return compare(ir::BinaryOp::ge, divided(ir::add(v, num(1)), slope),
                       modulo(ref(size_), random_.between(2, 5)));
      default:
        return compare(ir::BinaryOp::logical_or, compare(ir::BinaryOp::lt, scaled, ref(size_)),
                       compare(ir::BinaryOp::lt, ref(size_), scaled));
    }
  }
  ExprPtr condition() {
    const std::int64_t kind = random_.between(1, 110);
    const ExprPtr v = value();
    if (kind > 100) return crossing(v);
    if (counters_.size() >= 2 && random_.percent(25)) {
      const ExprPtr inner = ref(counters_.back().symbol), outer = ref(counters_[counters_.size() - 2].symbol);
      if (random_.percent(50)) return compare(ir::BinaryOp::lt, outer, inner);
      return compare(ir::BinaryOp::eq, modulo(ir::add(inner, outer), random_.between(2, 3)), num(0));
    }
    if (kind <= 25) return compare(ir::BinaryOp::ge, v, num(random_.between(1, 4)));
    if (kind <= 45) return compare(ir::BinaryOp::lt, ir::add(v, num(random_.between(1, 3))), ref(size_));
    if (kind <= 60)
      return compare(ir::BinaryOp::eq, modulo(v, random_.between(2, 3)), num(random_.between(0, 1)));
    if (kind <= 75) return compare(ir::BinaryOp::eq, v, num(random_.between(0, 9)));
    if (kind <= 85) return compare(ir::BinaryOp::ne, ref(size_), num(random_.between(0, 12)));
    const ExprPtr a = compare(ir::BinaryOp::ge, v, num(random_.between(0, 3)));
    const ExprPtr b = compare(ir::BinaryOp::lt, ref(size_), num(random_.between(1, 15)));
    return compare(random_.percent(50) ? ir::BinaryOp::logical_and : ir::BinaryOp::logical_or, a, b);
  }
  SyncTl timeline() {
    return random_.pick(std::vector<SyncTl>{
        SyncTl::cuda_in_order, SyncTl::cuda_in_order, SyncTl::cuda_temporal, SyncTl::Sm80_cp_async,
        SyncTl::Sm80_generic, SyncTl::wgmma_async_smem, SyncTl::cuda_async_proxy,
        SyncTl::cuda_generic_and_async_proxy, SyncTl::tma_to_gmem_async, SyncTl::wgmma_async});
  }

  // -----------------------------------------------------------------------------------------------
  // statements

  void access() {
    const Buffer& x = random_.pick(buffers_);
    Access a;
    const std::int64_t kind = random_.between(1, 100);
    a.mode = kind <= 45   ? AccessMode::read
             : kind <= 75 ? AccessMode::write
             : kind <= 90 ? AccessMode::read_write
                          : AccessMode::atomic;
    a.initial = x.registers ? random_.pick(std::vector<Qual>{Qual::rmem, Qual::rmem, Qual::wgD})
                            : random_.pick(std::vector<Qual>{Qual::ram, Qual::ram, Qual::cp80, Qual::g2s,
                                                             Qual::wgS, Qual::s2g});
    a.in_order = random_.percent(60);
    if (random_.percent(20)) a.convergent = random_.percent(50);
    if (a.mode == AccessMode::atomic) a.atomic = QualSet{a.initial};
    if (random_.percent(20)) {
      const Barrier& z = random_.pick(barriers_);
      Target t = element(z);
      for (std::size_t d = 0; d < z.shape.size(); ++d) {
        if (random_.percent(30)) t.index[d] = range(0, z.shape[d]);
      }
      a.trailing.push_back(std::move(t));
    }
    const Target t = target(x);
    if (random_.percent(careful_ ? 70 : 90)) {
      b_.access(t, a);
    } else {
      b_.record(t, a);
    }
    if (x.registers || random_.percent(15)) {
      if (a.mode == AccessMode::write || random_.percent(70)) {
        b_.init_write(t);
      } else {
        b_.init_read(t);
      }
    }
  }

  void arrive(const Barrier& z, const Target& home) {
    std::vector<Target> referenced{home};
    if (z.shape.size() == 2 && random_.percent(60)) {
      Target row = home, column = home;
      row.index[1] = range(0, z.shape[1]);
      column.index[0] = range(0, z.shape[0]);
      referenced = {row, column};
    }
    b_.arrive(timeline(), home, std::move(referenced));
  }

  // Every home of a multicast barrier arrives, then each element is awaited.
  void rendezvous() {
    const Barrier& z = random_.pick(barriers_);
    const std::vector<Target> all = elements(z.var, z.shape);
    for (const Target& t : all) {
      b_.scope(map());
      arrive(z, t);
    }
    for (const Target& t : all) {
      b_.scope(map());
      b_.await(t, timeline(), z.n);
    }
  }

  void counted(int depth, std::int64_t statements) {
    const SymId k = b_.symbol();
    const std::int64_t kind = random_.between(1, 100);
    ExprPtr lo = num(random_.percent(75) ? 0 : random_.between(1, 2)), hi = ref(size_);
    std::int64_t extent = 0;
    if (kind <= 25) {
      hi = ir::add(hi, num(random_.between(1, 3)));
    } else if (kind <= 40) {
      hi = divided(hi, 2);
    } else if (kind <= 50) {
      lo = ref(size_);
      hi = ir::add(ref(size_), num(random_.between(1, 4)));
    } else if (kind <= 65) {
      extent = random_.between(2, 20);
      hi = num(extent);
    } else if (kind <= 80 && !counters_.empty()) {
      // Longer, or shorter, with the iterations of the loop around.
      const ExprPtr outer = ref(random_.pick(counters_).symbol);
      if (random_.percent(50)) {
        hi = ir::add(outer, num(random_.between(0, 2)));
      } else {
        lo = outer;
      }
    }
    b_.loop(k, lo, hi, [&] {
      counters_.push_back({k, extent});
      block(statements, depth);
      counters_.pop_back();
    });
  }

  // A producer and a consumer over a ring that is mostly right.
  void ring(int depth) {
    if (barriers_.size() < 2) return fence();
    const Buffer& x = random_.pick(buffers_);
    const Barrier full = barriers_[0], empty = barriers_[1];
    if (x.shape.empty() || x.registers) return fence();
    const std::int64_t slots = x.shape.front();
    const SymId k = b_.symbol();
    const ThreadMap producer = map(), consumer = map();
    const std::int64_t lag = random_.percent(75) ? slots - 1 : random_.between(0, slots);
    b_.loop(
        k, num(0), random_.percent(70) ? ref(size_) : ir::add(ref(size_), num(random_.between(1, 3))), [&] {
          counters_.push_back({k, 0});
          Target slot = at(x.var);
          slot.index.push_back(point(modulo(ref(k), slots)));
          for (std::size_t d = 1; d < x.shape.size(); ++d) slot.index.push_back(range(0, x.shape[d]));
          b_.scope(producer);
          Target e = at(empty.var), f = at(full.var);
          for (std::size_t d = 0; d < empty.shape.size(); ++d) e.index.push_back(point(0));
          for (std::size_t d = 0; d < full.shape.size(); ++d) f.index.push_back(point(0));
          b_.await(e, SyncTl::cuda_temporal, -1 - (lag + 1));
          b_.access(slot,
                    {.mode = AccessMode::write, .initial = Qual::g2s, .in_order = false, .trailing = {f}});
          b_.arrive(SyncTl::cuda_temporal, f);
          b_.scope(consumer);
          b_.await(f, SyncTl::cuda_generic_and_async_proxy, -1);
          b_.access(slot, {.mode = AccessMode::read,
                           .initial = random_.percent(50) ? Qual::ram : Qual::wgS,
                           .in_order = random_.percent(80)});
          if (random_.percent(25)) statement(depth - 1);
          b_.scope(consumer);
          b_.arrive(random_.percent(85) ? SyncTl::cuda_in_order : timeline(), e);
          counters_.pop_back();
        });
  }

  // Every thread of a CTA copies on its own, closes a commit group and waits for it.
  void copies(int) {
    const SymId t = b_.symbol();
    const Buffer& x = random_.pick(buffers_);
    const std::int64_t n = random_.between(0, 1);
    const bool later = random_.percent(40);
    const auto scope = [&](SymId s) { b_.scope({false, {{ctas, 0, {}, 1}, {cta_threads, 0, {{s, 1}}, 1}}}); };
    const auto own = [&](SymId s) {
      Target place = target(x);
      if (place.index.empty() || random_.percent(30)) return place;
      const std::int64_t share = x.shape.back() / cta_threads;
      if (share < 2) {
        place.index.back() = point(modulo(ref(s), x.shape.back()));
      } else {
        const ExprPtr lo = ir::binary(ir::BinaryOp::mul, num(share), ref(s));
        place.index.back() = {lo, ir::add(lo, num(share))};
      }
      return place;
    };
    b_.loop(t, num(0), num(random_.percent(85) ? cta_threads : cta_threads - 1), [&] {
      scope(t);
      b_.access(own(t), {.mode = AccessMode::write, .initial = Qual::cp80, .in_order = false});
      b_.arrive(SyncTl::Sm80_cp_async, at(groups_, {point(ref(t))}));
      if (!later)
        b_.await(at(groups_, {point(ref(t))}),
                 random_.percent(70) ? SyncTl::cuda_in_order : SyncTl::Sm80_generic, n);
    });
    if (!later) return;
    if (random_.percent(40)) fence();
    const SymId u = b_.symbol();
    b_.loop(u, num(0), num(cta_threads), [&] {
      scope(u);
      b_.await(at(groups_, {point(ref(u))}), SyncTl::cuda_in_order, n);
    });
  }

  void fence() {
    b_.scope(random_.percent(careful_ ? 70 : 30) ? threads(0, cluster, cluster) : map());
    b_.fence(random_.percent(60) ? SyncTl::cuda_in_order : timeline(),
             random_.percent(60) ? SyncTl::cuda_in_order : timeline());
  }

  // A buffer, or a barrier, that lives during some statements only.
  void life(int depth) {
    const bool data = random_.percent(60), checked = random_.percent(60);
    b_.scope(threads(0, cluster, cluster));
    if (data) {
      buffers_.push_back(buffer());
      b_.alloc(buffers_.back().var);
    } else {
      barriers_.push_back(barrier());
      b_.alloc(barriers_.back().var);
    }
    block(random_.between(1, 4), depth - 1);
    b_.scope(random_.percent(90) ? threads(0, cluster, cluster) : map());
    if (careful_ && random_.percent(70)) b_.fence(SyncTl::cuda_in_order, SyncTl::cuda_in_order);
    if (data) {
      release(buffers_.back(), checked);
      buffers_.pop_back();
    } else {
      release(barriers_.back(), checked);
      barriers_.pop_back();
    }
  }

  // A rectangle of elements gets its values, or is read, one by one.
  void sweep() {
    const Buffer& x = random_.pick(buffers_);
    sweep(x, at(x.var), random_.percent(75));
  }
  void sweep(const Buffer& x, Target t, bool write) {
    if (t.index.size() == x.shape.size()) {
      if (write) {
        b_.init_write(t);
      } else {
        b_.init_read(t);
      }
      return;
    }
    const std::int64_t extent = x.shape[t.index.size()];
    const SymId i = b_.symbol();
    const ExprPtr lo = num(random_.percent(80) ? 0 : 1);
    b_.loop(i, lo, random_.percent(70) ? num(extent) : modulo(value(), extent + 1), [&] {
      t.index.push_back(point(ref(i)));
      sweep(x, t, write);
    });
  }

  // An access to memory that other tasks may access, too.
  void share(const Target& t) {
    Access a;
    a.mode = random_.pick(std::vector<AccessMode>{AccessMode::read, AccessMode::write, AccessMode::atomic});
    if (a.mode == AccessMode::atomic) a.atomic = QualSet{Qual::ram};
    b_.access(t, a);
  }

  // Every task has four elements of `vector_`, the last one perhaps fewer.
  void touch_vector() {
    ExprPtr i = ir::binary(ir::BinaryOp::mul, num(4), ref(task_));
    if (!counters_.empty() && random_.percent(50)) {
      i = ir::add(i, modulo(ref(random_.pick(counters_).symbol), random_.percent(85) ? 4 : 5));
    } else {
      i = ir::add(i, num(random_.between(0, random_.percent(85) ? 3 : 4)));
    }
    const auto touch = [&] { share(at(*vector_, {point(i)})); };
    if (random_.percent(70)) {
      b_.branch(compare(ir::BinaryOp::lt, i, ref(size_)), touch);
    } else {
      touch();
    }
  }

  void touch_global() {
    Target t = at(*global_);
    const std::int64_t width = random_.pick(std::vector<std::int64_t>{1, 2, 4});
    const ExprPtr lo =
        modulo(ir::add(ir::binary(ir::BinaryOp::mul, num(random_.percent(70) ? 4 : 2), ref(task_)),
                       num(random_.percent(80) ? 0 : 1)),
               60);
    t.index.push_back({lo, ir::add(lo, num(width))});
    share(t);
  }

  void statement(int depth) {
    b_.scope(map());
    const std::int64_t kind = random_.between(1, 100);
    if (kind <= 28) return access();
    if (kind <= 48) return fence();
    const Barrier& z = random_.pick(barriers_);
    if (kind <= 52) return arrive(z, element(z));
    if (kind <= 55) return b_.await(element(z), timeline(), z.n);
    if (kind <= 63) {
      const Target t = element(z);
      arrive(z, t);
      if (random_.percent(50)) b_.scope(map());
      return b_.await(t, timeline(), z.n);
    }
    if (kind <= 66) return rendezvous();
    if (kind <= 68 && global_) return touch_global();
    if (kind <= 70 && vector_) return touch_vector();
    if (kind <= 73) return sweep();
    if (kind <= 78) return copies(depth);
    if (depth <= 0) return access();
    if (kind <= 86) return ring(depth);
    if (kind <= 93) return counted(depth - 1, random_.between(1, 4));
    if (kind <= 95) return life(depth);
    b_.branch(
        condition(), [&] { block(random_.between(1, 3), depth - 1); },
        [&] { block(random_.between(0, 2), depth - 1); });
  }
  void block(std::int64_t statements, int depth) {
    for (std::int64_t i = 0; i < statements; ++i) statement(depth);
  }

  Random random_;
  AmirBuilder b_;
  SymId size_{}, task_{};
  std::optional<VarId> global_, vector_;
  VarId groups_{};
  bool careful_ = false, one_task_ = true;
  std::vector<Buffer> buffers_;
  std::vector<Barrier> barriers_;
  std::vector<Counter> counters_;
  int names_ = 0;
};

}  // namespace

SizedProgram random_tasks(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace exocheck::testing
