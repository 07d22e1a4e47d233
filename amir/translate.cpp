#include "amir/translate.hpp"

#include <fmt/format.h>

#include "amir/init_flow.hpp"
#include "amir/translate_access.hpp"
#include "amir/translate_builder.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
using semantics::ensure;
using semantics::Qual;
using semantics::QualSet;
namespace am = semantics::amir;

namespace {

bool contains_tasks(const Block& block) {
  bool found = false;
  for_each_stmt(block, [&found](const Stmt& s) {
    const auto* loop = std::get_if<For>(&s.node);
    found = found || (loop != nullptr && loop->mode == LoopMode::cuda_tasks);
  });
  return found;
}

class Translator {
 public:
  Translator(const Procedure& procedure, const analysis::Facts& facts, bool bounds_open)
      : procedure_(procedure), facts_(facts), bounds_open_(bounds_open), builder_(procedure, facts) {}

  Translation run() {
    find_unsupported();
    if (result_.unsupported.empty()) result_.program = builder_.finish(block(procedure_.body, false));
    result_.synthetic_names = builder_.synthetic_names;
    return std::move(result_);
  }

 private:
  void find_unsupported();
  am::Body block(const Block& block, bool cuda);
  void statement(am::Body& body, const Stmt& s, bool cuda);
  void assign(am::Body& body, const Site& site, const Assign& s);
  void call(am::Body& body, const Site& site, const Call& s);
  void argument(am::Body& body, const Site& site, const Call& s, std::size_t position,
                const std::vector<am::Target>& pending);
  void fence(am::Body& body, const Site& site, const Fence& s);
  void arrive(am::Body& body, const Site& site, const Arrive& s);
  void await(am::Body& body, const Site& site, const Await& s);
  void free(am::Body& body, const Stmt& place, const char* role, SymId symbol, bool cuda);

  Site site(const Stmt& s, bool cuda) {
    return {s.id, builder_.map(cuda ? facts_.tiling_of(s.id) : nullptr), cuda};
  }
  ExprPtr control(const ExprPtr& e) const { return builder_.windows().without_strides(e); }
  am::Target barrier(const BarrierExpr& b) const;
  // Does the barrier's storage take part in the checks (mbarriers), or only its counters?
  bool tracked(const am::Target& b) const { return builder_.variable(b.var).shared; }
  semantics::AccessQual quals(SymId var, semantics::InstrTimeline timeline) const;
  bool watched(SymId base) const { return bounds_open_ || builder_.checked(base); }
  void unsupported(semantics::Span span, std::string message) {
    result_.unsupported.push_back(
        semantics::make_diagnostic("E-Y40", procedure_.location(span), std::move(message)));
  }

  const Procedure& procedure_;
  const analysis::Facts& facts_;
  bool bounds_open_;
  Builder builder_;
  Translation result_;
};

void Translator::find_unsupported() {
  for_each_stmt(procedure_.body, [this](const Stmt& s) {
    if (std::holds_alternative<DeviceFunction>(s.node)) result_.has_device_function = true;
    for_each_expr(s, [&](const Expr& e) {
      if (reads_config(e)) {
        unsupported(s.span, "the abstract machine cannot follow control flow that depends on a config field");
      }
    });
    if (const auto* loop = std::get_if<For>(&s.node); loop != nullptr && loop->mode == LoopMode::par) {
      unsupported(
          s.span,
          fmt::format("the abstract machine cannot run the par loop over {}; write seq if the order of "
                      "its iterations may be fixed",
                      procedure_.symbol(loop->iter).name));
    }
    const auto* alloc = std::get_if<Alloc>(&s.node);
    const auto variable = alloc == nullptr ? std::nullopt : builder_.find(alloc->var);
    const analysis::TilingPtr tiling = facts_.tiling_of(s.id);
    if (variable && builder_.variable(*variable).shared && tiling &&
        tiling->threads() != tiling->geometry.threads()) {
      unsupported(
          s.span,
          fmt::format("{} lives in shared memory but is allocated by {} of the cluster's {} threads; the "
                      "abstract machine handles shared memory allocated by the whole cluster only",
                      builder_.variable(*variable).name, tiling->threads(), tiling->geometry.threads()));
    }
  });
}

am::Body Translator::block(const Block& statements, bool cuda) {
  am::Body body;
  for (const Stmt& s : statements) {
    if (const auto it = facts_.free_before.find(s.id); it != facts_.free_before.end()) {
      for (const SymId symbol : it->second) free(body, s, "free before", symbol, cuda);
    }
    statement(body, s, cuda);
    if (const auto it = facts_.free_after.find(s.id); it != facts_.free_after.end()) {
      for (const SymId symbol : it->second) free(body, s, "free after", symbol, cuda);
    }
  }
  return body;
}

void Translator::statement(am::Body& body, const Stmt& s, bool cuda) {
  std::visit(overloaded{
                 [](const Pass&) {},
                 [](const ConfigWrite&) {},
                 [](const WindowStmt&) {},
                 [&](const Assign& node) { assign(body, site(s, cuda), node); },
                 [&](const Alloc& node) {
                   if (const auto v = builder_.find(node.var))
                     builder_.add(body, site(s, cuda), "allocation", am::Alloc{*v});
                 },
                 [&](const Call& node) { call(body, site(s, cuda), node); },
                 [&](const For& node) {
                   am::Loop loop{node.iter, control(node.lo), control(node.hi), block(node.body, cuda)};
                   if (node.mode == LoopMode::cuda_tasks && !contains_tasks(node.body)) {
                     builder_.add(loop.body, site(s, cuda), "next task", am::IncTask{});
                   }
                   builder_.add(body, site(s, cuda), "loop", std::move(loop));
                 },
                 [&](const If& node) {
                   builder_.add(body, site(s, cuda), "branch",
                                am::Branch{control(node.condition), block(node.then_body, cuda),
                                           block(node.else_body, cuda)});
                 },
                 [&](const DeviceFunction& node) {
                   const QualSet device =
                       semantics::sync_timeline(procedure_.dialect, semantics::SyncTl::cuda_stream_sync).full;
                   builder_.add(body, site(s, false), "kernel entry",
                                am::Fence{true, device | QualSet{Qual::cpu}, device, device});
                   am::Body inner = block(node.body, true);
                   std::move(inner.begin(), inner.end(), std::back_inserter(body));
                   builder_.add(body, site(s, false), "kernel exit", am::Fence{true, device, device, device});
                 },
                 [&](const Warps& node) {
                   am::Body inner = block(node.body, cuda);
                   std::move(inner.begin(), inner.end(), std::back_inserter(body));
                 },
                 [&](const Fence& node) { fence(body, site(s, cuda), node); },
                 [&](const Arrive& node) { arrive(body, site(s, cuda), node); },
                 [&](const Await& node) { await(body, site(s, cuda), node); },
             },
             s.node);
}

semantics::AccessQual Translator::quals(SymId var, semantics::InstrTimeline timeline) const {
  const auto found = semantics::access_qual(procedure_.dialect, builder_.windows().memory(var), timeline);
  ensure(found.has_value(), "an access without a qualitative timeline passed the device-scope rules");
  return *found;
}

void Translator::assign(am::Body& body, const Site& site, const Assign& s) {
  const auto timeline =
      site.cuda ? semantics::InstrTimeline::cuda_in_order : semantics::InstrTimeline::cpu_in_order;
  // One thread executes a plain write, so only reads can tell the two apart (decisions.md J6).
  const bool convergent = !site.cuda;
  std::vector<const Expr*> reads;
  for_each_subexpr(*s.value, [&reads](const Expr& e) {
    if (!std::holds_alternative<Read>(e.node)) return;
    for (const Expr* seen : reads) {
      if (same(*seen, e)) return;
    }
    reads.push_back(&e);
  });
  const auto access = [&](SymId var, const std::vector<Access>& index, AccessClass kind, const char* role) {
    const Elements elements = builder_.windows().resolve(var, index);
    const auto v = builder_.find(elements.base);
    if (!v) return;
    const am::Target target{*v, to_windows(elements.index), false};
    const bool follow = builder_.variable(*v).check_initialised;
    if (follow && kind != AccessClass::write_only) builder_.add(body, site, role, am::InitRead{target});
    if (watched(elements.base)) {
      emit_access(builder_, body, site, {target, kind, quals(var, timeline), convergent, true, {}, {}, role});
    }
    if (follow && kind != AccessClass::read) builder_.add(body, site, role, am::InitWrite{target});
  };
  for (const Expr* e : reads) {
    const auto& read = std::get<Read>(e->node);
    access(read.var, read.index, AccessClass::read, "value");
  }
  std::vector<Access> index;
  for (const ExprPtr& e : s.index) index.push_back({e, nullptr});
  access(s.target, index, s.reduce ? AccessClass::read_write : AccessClass::write_only, "target");
}

void Translator::call(am::Body& body, const Site& site, const Call& s) {
  ensure(s.instr != nullptr, "procedure calls are inlined before the translation");
  const Instr& instr = *s.instr;
  std::vector<InitActual> actuals;
  for (std::size_t i = 0; i < s.arguments.size(); ++i) {
    InitActual actual;
    const auto* read = std::get_if<Read>(&s.arguments[i]->node);
    if (instr.behaviour.symbol(instr.parameters[i].var).control()) {
      actual.control = control(s.arguments[i]);
    } else if (read != nullptr) {
      Elements elements = builder_.windows().resolve(read->var, read->index);
      actual.var = builder_.find(elements.base);
      if (actual.var && !builder_.variable(*actual.var).check_initialised) actual.var.reset();
      actual.index = std::move(elements.index);
    }
    actuals.push_back(std::move(actual));
  }
  emit_call_flow(builder_, body, site, instr, actuals);

  std::vector<am::Target> pending;
  if (s.trailing) pending.push_back(barrier(*s.trailing));
  for (std::size_t i = 0; i < s.arguments.size(); ++i) argument(body, site, s, i, pending);
  if (s.trailing && tracked(pending.front())) {
    emit_barrier_use(builder_, body, site, pending.front(),
                     semantics::mbarrier_qual(procedure_.dialect, instr.timeline), pending);
  }
}

void Translator::argument(am::Body& body, const Site& site, const Call& s, std::size_t position,
                          const std::vector<am::Target>& pending) {
  const InstrParameter& parameter = s.instr->parameters[position];
  const Symbol& formal = s.instr->behaviour.symbol(parameter.var);
  const auto* read = std::get_if<Read>(&s.arguments[position]->node);
  if (formal.control() || read == nullptr) return;
  const SymId base = builder_.windows().base(read->var);
  const auto v = builder_.find(base);
  if (!v || !watched(base)) return;

  AccessSpec access;
  access.kind = !parameter.atomic.empty()                  ? AccessClass::atomic
                : parameter.mode == AccessMode::write_only ? AccessClass::write_only
                : parameter.mode == AccessMode::read_write ? AccessClass::read_write
                                                           : AccessClass::read;
  access.quals = parameter.quals ? *parameter.quals : quals(read->var, s.instr->timeline);
  access.convergent = parameter.convergent.value_or(semantics::qual_record(access.quals.initial).convergent);
  access.in_order = !parameter.out_of_order;
  access.atomic = parameter.atomic;
  access.pending = pending;
  access.role = "argument " + formal.name;

  std::vector<Access> index = read->index;
  const int rank = procedure_.symbol(read->var).rank();
  if (index.empty()) {
    for (const ExprPtr& extent : procedure_.symbol(read->var).shape) index.push_back({int_const(0), extent});
  }
  ensure(index.size() == static_cast<std::size_t>(rank), "one subscript per dimension of an argument");

  // Owner-only access: each collective touches its own shard, inside the implied loops
  // (abstract-machine.md 3.3).
  std::vector<analysis::ImpliedLoop> loops;
  Site inner = site;
  const auto facts = facts_.call.find(site.origin);
  if (parameter.owner_only && facts != facts_.call.end() && position < facts->second.implied.size()) {
    loops = facts->second.implied[position];
    if (!loops.empty()) inner.map = builder_.map(facts->second.inner_tiling.at(position));
  }
  for (const analysis::ImpliedLoop& loop : loops) {
    Access& a = index.at(loop.access);
    a = {add(a.lo, var_ref(loop.iter)), nullptr};
  }
  const Elements elements = builder_.windows().resolve(read->var, index);
  access.target = {*v, to_windows(elements.index), !bounds_open_ || parameter.out_of_bounds};

  am::Body nodes;
  emit_access(builder_, nodes, inner, access);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    am::Body outer;
    builder_.add(outer, site, access.role,
                 am::Loop{loop->iter, int_const(0), int_const(loop->extent), std::move(nodes)});
    nodes = std::move(outer);
  }
  std::move(nodes.begin(), nodes.end(), std::back_inserter(body));
}

am::Target Translator::barrier(const BarrierExpr& b) const {
  const auto v = builder_.find(b.var);
  ensure(v.has_value(), "a barrier is a variable of the machine");
  return {*v, to_windows(builder_.windows().resolve(b.var, b.index).index), false};
}

void Translator::fence(am::Body& body, const Site& site, const Fence& s) {
  const auto& first = semantics::sync_timeline(procedure_.dialect, s.first);
  const auto& second = semantics::sync_timeline(procedure_.dialect, s.second);
  builder_.add(body, site, "fence", am::Fence{first.transitive, first.full, second.full, second.temporal});
}

void Translator::arrive(am::Body& body, const Site& site, const Arrive& s) {
  ensure(!s.targets.empty(), "an Arrive names a barrier");
  const auto& first = semantics::sync_timeline(procedure_.dialect, s.first);
  am::Arrive node{first.transitive, first.full, barrier(s.targets.front()), {}};
  for (const BarrierExpr& b : s.targets) {
    am::Target target = barrier(b);
    // The home takes, per dimension, the point that occurs there (abstract-machine.md 2).
    for (std::size_t d = 0; d < target.index.size(); ++d) {
      if (!target.index[d].interval()) node.home.index[d] = target.index[d];
    }
    node.referenced.push_back(std::move(target));
  }
  if (tracked(node.home)) {
    const Qual qual = first.full.contains(Qual::cp80) ? Qual::cp80 : Qual::ram;
    for (const am::Target& target : node.referenced) emit_barrier_use(builder_, body, site, target, qual, {});
  }
  builder_.add(body, site, "arrive", std::move(node));
}

void Translator::await(am::Body& body, const Site& site, const Await& s) {
  const auto& second = semantics::sync_timeline(procedure_.dialect, s.second);
  am::Await node{barrier(s.barrier), second.full, second.temporal, s.n};
  if (tracked(node.barrier)) emit_barrier_use(builder_, body, site, node.barrier, Qual::ram, {});
  builder_.add(body, site, "await", std::move(node));
}

void Translator::free(am::Body& body, const Stmt& place, const char* role, SymId symbol, bool cuda) {
  const auto v = builder_.find(symbol);
  if (!v) return;
  const Site at = site(place, cuda);
  const am::Variable& variable = builder_.variable(*v);
  if (variable.barrier) builder_.add(body, at, role, am::CheckBarrier{*v});
  if (variable.shared) {
    const am::Target all = builder_.whole(*v);
    const QualSet ram{Qual::ram};
    builder_.add(body, at, role,
                 am::Check{false, false, am::Level::temporal, all, ram, am::Purpose::free_memory, false});
    builder_.add(body, at, role,
                 am::Check{true, false, am::Level::temporal, all, ram, am::Purpose::free_memory, false});
  }
  builder_.add(body, at, role, am::Free{*v});
}

}  // namespace

Translation translate(const Procedure& procedure, const analysis::Facts& facts, bool bounds_open) {
  return Translator(procedure, facts, bounds_open).run();
}

}  // namespace exocheck::amir
