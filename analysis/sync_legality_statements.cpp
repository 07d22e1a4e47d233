#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <set>

#include "analysis/barrier_usage.hpp"
#include "analysis/scopes.hpp"
#include "analysis/sync_legality.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::Dialect;
using semantics::LoweredBarrier;
using semantics::SyncTl;

class SyncStatements {
 public:
  explicit SyncStatements(PassContext& context)
      : context_(context), procedure_(context.procedure), dialect_(context.procedure.dialect) {}

  void visit(const ir::Stmt& s, DeviceScope scope) {
    if (const auto* fence = std::get_if<ir::Fence>(&s.node)) {
      if (scope == DeviceScope::cpu) {
        cpu_fence(s, *fence);
      } else if (fence->first == SyncTl::wgmma_fence_1) {
        wgmma_fence(s, *fence);
      } else {
        garden_fence(s, *fence);
      }
    }
    if (const auto* a = std::get_if<ir::Arrive>(&s.node)) arrive(s, *a);
    if (const auto* a = std::get_if<ir::Await>(&s.node)) await(s, *a);
  }

 private:
  semantics::Diagnostic& report(const char* code, const ir::Stmt& s, std::string message) {
    context_.diagnostics.push_back(
        semantics::make_diagnostic(code, procedure_.location(s.span), std::move(message)));
    return context_.diagnostics.back();
  }

  // All Arrives (Awaits) of a barrier share one timeline: the first report says it all.
  void report_barrier(const char* code, const ir::Stmt& s, ir::SymId var, std::string message) {
    if (!reported_.insert({var, std::holds_alternative<ir::Arrive>(s.node)}).second) return;
    auto& d = report(code, s, std::move(message));
    d.variable = procedure_.symbol(var).name;
    d.memory = procedure_.symbol(var).mechanism->text();
  }

  std::string accepted(const std::function<bool(SyncTl)>& predicate) const {
    std::vector<std::string_view> names;
    for (const semantics::SyncTimeline& t : semantics::all_sync_timelines(dialect_)) {
      if (predicate(t.id)) names.push_back(t.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string accepted_second() const {
    return accepted([this](SyncTl t) { return accepts_second(dialect_, t); });
  }

  // decisions.md L11.
  void cpu_fence(const ir::Stmt& s, const ir::Fence& f) {
    const bool stream = (f.first == SyncTl::cuda_stream_sync && f.second == SyncTl::cpu_in_order) ||
                        (f.first == SyncTl::cpu_in_order && f.second == SyncTl::cuda_stream_sync);
    if (stream) return;
    report(
        "E-U10", s,
        fmt::format(
            "Fence({}, {}) stands at CPU scope, where only the stream synchronisations "
            "Fence(cuda_stream_sync, cpu_in_order) and Fence(cpu_in_order, cuda_stream_sync) are possible; "
            "other synchronization belongs in device code",
            name(f.first), name(f.second)));
  }

  const TilingPtr& tiling(const ir::Stmt& s) const {
    const TilingPtr& t = context_.facts.tiling_of(s.id);
    semantics::ensure(t != nullptr, "device statement without a tiling");
    return t;
  }

  void wgmma_fence(const ir::Stmt& s, const ir::Fence& f) {
    if (f.second != SyncTl::wgmma_fence_2) {
      report("E-S04", s,
             fmt::format("Fence(wgmma_fence_1, {}): a wgmma fence has second timeline wgmma_fence_2",
                         name(f.second)));
      return;
    }
    if (const auto why = mismatch(tiling(s), semantics::unit_warpgroup())) {
      auto& d =
          report("E-S06", s,
                 fmt::format("a wgmma fence must be executed by one aligned warpgroup of 128 threads, but is "
                             "executed by {} threads ({})",
                             tiling(s)->threads(), tiling(s)->text()));
      d.related.push_back({semantics::Role::context, why->text, procedure_.location(s.span)});
    }
  }

  // E-S01, E-S02, E-S03 for fences and cluster syncs.
  bool fence_first(const ir::Stmt& s, const std::string& what, SyncTl first) {
    if (fence_accepts_first(dialect_, first)) return true;
    report("E-S01", s,
           fmt::format(
               "the first timeline {} of {} is not possible: we allow at most Sm80_generic, that is {}",
               name(first), what, accepted([this](SyncTl t) { return fence_accepts_first(dialect_, t); })));
    return false;
  }
  bool fence_second(const ir::Stmt& s, const std::string& what, SyncTl second) {
    if (accepts_second(dialect_, second)) return true;
    if (cp_async_second(dialect_, second)) {
      report(
          "E-S03", s,
          fmt::format("the second timeline {} of {} is not possible; use cuda_in_order", name(second), what));
      return false;
    }
    report("E-S02", s,
           fmt::format("the second timeline {} of {} is not possible: it may be at most generic+async "
                       "(cuda_generic_and_async_proxy), that is {}",
                       name(second), what, accepted_second()));
    return false;
  }

  void garden_fence(const ir::Stmt& s, const ir::Fence& f) {
    const std::string what = "this Fence";
    if (!fence_first(s, what, f.first) || !fence_second(s, what, f.second)) return;
    if (fence_scope(tiling(s), dialect_, f.second)) return;
    report("E-S05", s,
           fmt::format("Fence({}, {}) is executed by {} threads ({}), which is no kind of fence: it needs "
                       "one thread, one "
                       "aligned warp, the whole CTA or the whole cluster",
                       name(f.first), name(f.second), tiling(s)->threads(), tiling(s)->text()));
  }

  LoweredBarrier kind(ir::SymId var) const { return context_.facts.barrier.at(var).lowered; }

  void arrive(const ir::Stmt& s, const ir::Arrive& a) {
    const ir::SymId var = a.targets.front().var;
    const std::string& barrier = procedure_.symbol(var).name;
    switch (kind(var)) {
      case LoweredBarrier::cluster_sync:
        fence_first(s, fmt::format("this Arrive on the cluster sync `{}`", barrier), a.first);
        return;
      case LoweredBarrier::mbarrier:
        mbarrier_arrive(s, a, var);
        return;
      case LoweredBarrier::sm80_commit_group:
      case LoweredBarrier::tma_commit_group:
      case LoweredBarrier::wgmma_commit_group:
        commit_group_arrive(s, a, var);
        return;
    }
  }

  void mbarrier_arrive(const ir::Stmt& s, const ir::Arrive& a, ir::SymId var) {
    const std::string& barrier = procedure_.symbol(var).name;
    if (!mbarrier_accepts_first(dialect_, a.first)) {
      if (a.first == SyncTl::tma_to_smem_async) {
        report_barrier(
            "E-S11", s, var,
            fmt::format(
                "the Arrive on the mbarrier `{}` has first timeline tma_to_smem_async; use cuda_temporal "
                "here and give the TMA instructions the trailing barrier `>> {}`",
                barrier, barrier));
      } else if (a.first == SyncTl::tcgen05_commit) {
        report_barrier(
            "E-S13", s, var,
            fmt::format("the Arrive on the mbarrier `{}` has first timeline tcgen05_commit, which is not "
                        "implemented",
                        barrier));
      } else {
        report_barrier(
            "E-S10", s, var,
            fmt::format(
                "the first timeline {} of the Arrive on the mbarrier `{}` is not supported; it needs one "
                "of {}",
                name(a.first), barrier,
                accepted([this](SyncTl t) { return mbarrier_accepts_first(dialect_, t); })));
      }
      return;
    }
    if (a.first == SyncTl::Sm80_cp_async && leaves_cta(a, var)) {
      report_barrier(
          "E-S14", s, var,
          fmt::format(
              "the Arrive on `{}` has first timeline Sm80_cp_async and signals other CTAs; such an Arrive "
              "must stay within 1 CTA",
              barrier));
    }
  }

  // Multicast dimensions are CTA dimensions (E-U31); one of extent 1 reaches nobody else.
  bool leaves_cta(const ir::Arrive& a, ir::SymId var) const {
    for (const ir::BarrierExpr& t : a.targets) {
      for (std::size_t i = 0; i < t.index.size(); ++i) {
        if (t.index[i].interval() && ir::constant_value(*procedure_.symbol(var).shape[i]) != 1) return true;
      }
    }
    return false;
  }

  void commit_group_arrive(const ir::Stmt& s, const ir::Arrive& a, ir::SymId var) {
    const std::string& barrier = procedure_.symbol(var).name;
    const auto made = commit_group_kind(dialect_, a.first);
    if (!made) {
      report_barrier(
          "E-S20", s, var,
          fmt::format(
              "the Arrive on the commit group `{}` has first timeline {}, for which there is no commit "
              "group",
              barrier, name(a.first)));
    } else if (*made != kind(var)) {
      report_barrier(
          "E-S22", s, var,
          fmt::format("`{}` is a {}, but the first timeline {} of this Arrive makes a {}", barrier,
                      procedure_.symbol(var).mechanism->text(), name(a.first), semantics::name(*made)));
    }
  }

  void await(const ir::Stmt& s, const ir::Await& a) {
    const ir::SymId var = a.barrier.var;
    const std::string& barrier = procedure_.symbol(var).name;
    const LoweredBarrier k = kind(var);
    switch (k) {
      case LoweredBarrier::cluster_sync:
        fence_second(s, fmt::format("this Await of the cluster sync `{}`", barrier), a.second);
        return;
      case LoweredBarrier::mbarrier:
        if (accepts_second(dialect_, a.second)) return;
        report_barrier(
            "E-S12", s, var,
            fmt::format(
                "the second timeline {} of the Await of the mbarrier `{}` is not supported; {}it needs "
                "one of {}",
                name(a.second), barrier,
                a.second == SyncTl::wgmma_async ? "consider cuda_generic_and_async_proxy; " : "",
                accepted_second()));
        return;
      case LoweredBarrier::sm80_commit_group:
      case LoweredBarrier::tma_commit_group:
      case LoweredBarrier::wgmma_commit_group:
        if (commit_group_accepts_second(dialect_, k, a.second)) return;
        report_barrier(
            "E-S21", s, var,
            fmt::format("the Await of `{}`, a {}, has second timeline {}; after {} it needs one of {}",
                        barrier, semantics::name(k), name(a.second), first_timeline(var),
                        accepted([&](SyncTl t) { return commit_group_accepts_second(dialect_, k, t); })));
        return;
    }
  }

  std::string first_timeline(ir::SymId var) const {
    std::string out;
    ir::for_each_stmt(procedure_.body, [&](const ir::Stmt& s) {
      const auto* a = std::get_if<ir::Arrive>(&s.node);
      if (out.empty() && a != nullptr && a->targets.front().var == var)
        out = fmt::format("Arrive({})", name(a->first));
    });
    return out;
  }

  static std::string_view name(SyncTl t) { return semantics::name(t); }

  PassContext& context_;
  const ir::Procedure& procedure_;
  Dialect dialect_;
  std::set<std::pair<ir::SymId, bool>> reported_;  // (barrier, at an Arrive)
};

}  // namespace

void check_sync_statements(PassContext& context) {
  SyncStatements statements(context);
  for_each_scoped_stmt(context.procedure.body,
                       [&statements](const ir::Stmt& s, DeviceScope scope) { statements.visit(s, scope); });
}

}  // namespace exocheck::analysis
