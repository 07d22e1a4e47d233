#include "property/support/amir_builder.hpp"

#include "semantics/errors.hpp"

namespace exocheck::testing {

namespace prog = semantics::amir;
using semantics::Dialect;

ExprPtr num(std::int64_t value) { return semantics::ir::int_const(value); }
ExprPtr ref(SymId symbol) { return semantics::ir::var_ref(symbol); }
Window point(std::int64_t index) { return {num(index), nullptr}; }
Window point(ExprPtr index) { return {std::move(index), nullptr}; }
Window range(std::int64_t lo, std::int64_t hi) { return {num(lo), num(hi)}; }
Target at(VarId var, std::vector<Window> index) { return {var, std::move(index), false}; }

std::vector<Target> elements(VarId var, const std::vector<std::int64_t>& shape) {
  std::vector<Target> out{at(var)};
  for (const std::int64_t extent : shape) {
    std::vector<Target> next;
    for (const Target& t : out) {
      for (std::int64_t i = 0; i < extent; ++i) {
        next.push_back(t);
        next.back().index.push_back(point(i));
      }
    }
    out = std::move(next);
  }
  return out;
}

ThreadMap everyone() { return {true, {}}; }

ThreadMap threads(std::int64_t lo, std::int64_t hi, std::int64_t extent) {
  return {false, {{extent, lo, {}, hi - lo}}};
}

AmirBuilder::AmirBuilder(std::int64_t threads_per_cluster) {
  program_.threads = threads_per_cluster;
  open_.push_back(&program_.body);
  scope(threads(0, threads_per_cluster, threads_per_cluster));
}

VarId AmirBuilder::add(prog::Variable variable, const std::vector<std::int64_t>& shape) {
  for (const std::int64_t extent : shape) variable.shape.push_back(num(extent));
  program_.variables.push_back(std::move(variable));
  return VarId{static_cast<std::uint32_t>(program_.variables.size() - 1)};
}

VarId AmirBuilder::parameter(std::string name, std::vector<std::int64_t> shape) {
  prog::Variable v;
  v.name = std::move(name);
  v.parameter = true;
  return add(std::move(v), shape);
}

VarId AmirBuilder::sized_parameter(std::string name, std::vector<ExprPtr> shape) {
  const VarId var = parameter(std::move(name));
  program_.variables.back().shape = std::move(shape);
  return var;
}

VarId AmirBuilder::shared(std::string name, std::vector<std::int64_t> shape) {
  prog::Variable v;
  v.name = std::move(name);
  v.shared = v.check_initialised = true;
  return add(std::move(v), shape);
}

VarId AmirBuilder::registers(std::string name, std::vector<std::int64_t> shape) {
  prog::Variable v;
  v.name = std::move(name);
  v.registers = v.check_initialised = true;
  return add(std::move(v), shape);
}

VarId AmirBuilder::barrier(std::string name, std::vector<std::int64_t> shape,
                           semantics::LoweredBarrier lowered) {
  prog::Variable v;
  v.name = std::move(name);
  v.barrier = true;
  v.shared = lowered == semantics::LoweredBarrier::mbarrier;
  v.lowered = lowered;
  return add(std::move(v), shape);
}

SymId AmirBuilder::symbol() { return SymId{program_.symbol_count++}; }

void AmirBuilder::scope(ThreadMap map) { program_.maps.push_back(std::move(map)); }

template <class T>
void AmirBuilder::add(T node, std::string role) {
  prog::Node n;
  n.id = prog::NodeId{program_.node_count++};
  n.map = static_cast<std::uint32_t>(program_.maps.size() - 1);
  n.role = std::move(role);
  n.node = std::move(node);
  open_.back()->push_back(std::move(n));
}

void AmirBuilder::access(const Target& target, const Access& how) {
  const bool convergent = how.convergent.value_or(semantics::qual_record(how.initial).convergent);
  const QualSet quals = how.extended | QualSet{how.initial};
  const auto purpose = how.mode == AccessMode::read ? prog::Purpose::read : prog::Purpose::write;
  Level level = Level::full;
  if (how.mode == AccessMode::write) level = Level::temporal;
  if (how.mode == AccessMode::atomic) level = Level::atomic;
  check(target, false, convergent, level, quals, purpose, how.mode == AccessMode::write);
  if (how.mode != AccessMode::read) check(target, true, convergent, Level::temporal, quals, purpose);
  record(target, how);
}

void AmirBuilder::check(const Target& target, bool reads, bool convergent, Level level, QualSet quals,
                        prog::Purpose purpose, bool overwrites) {
  add(prog::Check{reads, convergent, level, target, quals, purpose, overwrites});
}

void AmirBuilder::record(const Target& target, const Access& how) {
  const bool convergent = how.convergent.value_or(semantics::qual_record(how.initial).convergent);
  add(prog::Record{how.mode != AccessMode::read, convergent, how.in_order, target, how.initial, how.atomic,
                   how.trailing},
      how.role);
}

void AmirBuilder::fence(SyncTl first, SyncTl second) {
  const auto& l1 = sync_timeline(Dialect::P, first);
  const auto& l2 = sync_timeline(Dialect::P, second);
  fence(l1.transitive, l1.full, l2.full, l2.temporal);
}

void AmirBuilder::fence(bool transitive, QualSet first, QualSet full, QualSet temporal) {
  add(prog::Fence{transitive, first, full, temporal});
}

void AmirBuilder::arrive(SyncTl first, const Target& home) { arrive(first, home, {home}); }

void AmirBuilder::arrive(SyncTl first, const Target& home, std::vector<Target> referenced) {
  const auto& l1 = sync_timeline(Dialect::P, first);
  arrive(l1.transitive, l1.full, home, std::move(referenced));
}

void AmirBuilder::arrive(bool transitive, QualSet first, const Target& home, std::vector<Target> referenced) {
  add(prog::Arrive{transitive, first, home, std::move(referenced)});
}

void AmirBuilder::await(const Target& barrier, SyncTl second, std::int64_t n) {
  const auto& l2 = sync_timeline(Dialect::P, second);
  await(barrier, l2.full, l2.temporal, n);
}

void AmirBuilder::await(const Target& barrier, QualSet full, QualSet temporal, std::int64_t n) {
  add(prog::Await{barrier, full, temporal, n});
}

void AmirBuilder::alloc(VarId var) { add(prog::Alloc{var}); }
void AmirBuilder::free(VarId var) { add(prog::Free{var}); }
void AmirBuilder::check_barrier(VarId var) { add(prog::CheckBarrier{var}); }

void AmirBuilder::free_checked(VarId var, Level level) {
  const prog::Variable& v = program_.variables[index(var)];
  if (v.barrier) check_barrier(var);
  if (v.shared) {
    Target whole{var, {}, false};
    for (const ExprPtr& extent : v.shape) whole.index.push_back({num(0), extent});
    check(whole, false, false, level, {Qual::ram}, prog::Purpose::free_memory);
    check(whole, true, false, Level::temporal, {Qual::ram}, prog::Purpose::free_memory);
  }
  free(var);
}

void AmirBuilder::init_read(const Target& target) { add(prog::InitRead{target}); }
void AmirBuilder::init_write(const Target& target) { add(prog::InitWrite{target}); }
void AmirBuilder::inc_task() { add(prog::IncTask{}); }

void AmirBuilder::loop(SymId iter, ExprPtr lo, ExprPtr hi, const std::function<void()>& body) {
  prog::Loop node{iter, std::move(lo), std::move(hi), {}};
  const prog::NodeId id{program_.node_count++};
  open_.push_back(&node.body);
  body();
  open_.pop_back();
  open_.back()->push_back({id, {}, 0, {}, std::move(node)});
}

void AmirBuilder::branch(ExprPtr condition, const std::function<void()>& then_body,
                         const std::function<void()>& else_body) {
  prog::Branch node{std::move(condition), {}, {}};
  const prog::NodeId id{program_.node_count++};
  open_.push_back(&node.then_body);
  then_body();
  open_.back() = &node.else_body;
  if (else_body) else_body();
  open_.pop_back();
  open_.back()->push_back({id, {}, 0, {}, std::move(node)});
}

prog::NodeId AmirBuilder::last() const { return prog::NodeId{program_.node_count - 1}; }

Program AmirBuilder::finish() {
  semantics::ensure(open_.size() == 1, "unfinished compound statement");
  return program_;
}

}  // namespace exocheck::testing
