#include "analysis/guards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;

class Guards {
 public:
  Guards(BarrierReporter& out, const std::vector<BarrierUses>& barriers) : out_(out), barriers_(barriers) {}

  void run() {
    bool sound = true;
    for (const BarrierUses& b : barriers_) {
      guarded_by_[b.var] = b.var;
      sound = declare(b) && sound;
    }
    for (const BarrierUses& b : barriers_) out_.context.facts.barrier[b.var].guarded_by = guarded_by_[b.var];
    // With a wrong guard the cycles mean nothing.
    if (!sound) return;
    for (const BarrierUses& b : barriers_) {
      if (cycle_failed(b.var)) continue;
      const semantics::MechanismType& mechanism = *symbol(b.var).mechanism;
      if (mechanism.mbarrier() || mechanism.cluster_sync()) {
        check_alternation(out_, b, guarded_by_[b.var]);
      }
    }
    ring_depths();
  }

 private:
  const ir::Symbol& symbol(ir::SymId var) const { return out_.procedure.symbol(var); }

  // Splices a declared guard into the cycle: if g guards s, afterwards z guards s and g guards z.
  bool declare(const BarrierUses& b) {
    const ir::Symbol& z = symbol(b.var);
    if (!z.guard) return true;
    const ir::SymId g = *z.guard;
    const auto it = guarded_by_.find(g);
    if (g == b.var || symbol(g).kind != ir::SymbolKind::barrier || it == guarded_by_.end()) {
      out_.report("E-G01", b.var, b.allocation->span,
                  fmt::format("the guard of `{}` must be another barrier, declared before it; `{}` is not",
                              z.name, symbol(g).name));
      return false;
    }
    if (!z.mechanism->mbarrier()) {
      out_.report("E-G02", b.var, b.allocation->span,
                  fmt::format("`{}` is a {}, which takes no guard; only a CudaMbarrier does", z.name,
                              z.mechanism->text()));
      return false;
    }
    const auto guarded = std::find_if(guarded_by_.begin(), guarded_by_.end(),
                                      [g](const auto& entry) { return entry.second == g; });
    const ir::SymId s = guarded->first;
    if (s != g && symbol(s).guard) {
      auto* d =
          out_.report("E-G03", b.var, b.allocation->span,
                      fmt::format("the guard `{}` of `{}` already guards `{}`; a barrier guards one other",
                                  symbol(g).name, z.name, symbol(s).name));
      if (d != nullptr) {
        d->related.push_back({semantics::Role::declaration,
                              fmt::format("`{}` is declared here", symbol(s).name),
                              out_.procedure.location(symbol(s).span)});
      }
      return false;
    }
    if (*symbol(g).mechanism != *z.mechanism) {
      out_.report("E-G04", b.var, b.allocation->span,
                  fmt::format("`{}` is a {} and its guard `{}` a {}; they must share a mechanism", z.name,
                              z.mechanism->text(), symbol(g).name, symbol(g).mechanism->text()));
      return false;
    }
    guarded_by_[s] = b.var;
    guarded_by_[b.var] = g;
    return true;
  }

  std::vector<ir::SymId> cycle(ir::SymId start) const {
    std::vector<ir::SymId> out{start};
    for (ir::SymId v = guarded_by_.at(start); v != start; v = guarded_by_.at(v)) out.push_back(v);
    return out;
  }

  bool cycle_failed(ir::SymId var) const {
    const auto members = cycle(var);
    return std::any_of(members.begin(), members.end(), [this](ir::SymId v) { return out_.failed(v); });
  }

  // Sum of the lags over the guard cycle, one more for a self-guarded barrier (L8).
  void ring_depths() {
    for (const BarrierUses& b : barriers_) {
      if (!symbol(b.var).mechanism->mbarrier() || cycle_failed(b.var)) continue;
      const auto members = cycle(b.var);
      std::int64_t depth = members.size() == 1 ? 1 : 0;
      for (const ir::SymId v : members) {
        depth = ir::checked_add(depth, -(out_.context.facts.barrier[v].await_n.value_or(-1) + 1));
      }
      out_.context.facts.barrier[b.var].ring_depth = depth;
      if (depth == 0) empty_ring(b, members);
    }
  }

  void empty_ring(const BarrierUses& b, const std::vector<ir::SymId>& members) {
    std::vector<std::string> names;
    for (const ir::SymId v : members) names.push_back(symbol(v).name);
    std::sort(names.begin(), names.end());
    auto* d = out_.report(
        "E-G20", b.var, b.allocation->span,
        fmt::format("the barriers {} guard each other and no Await of theirs has a lag, so that each "
                    "would wait for the others for ever; one of them must have some await with nonzero "
                    "skips (`~1` or more)",
                    fmt::join(names, ", ")));
    if (d == nullptr) return;
    for (const ir::SymId v : members) {
      if (v == b.var) continue;
      d->related.push_back({semantics::Role::declaration,
                            fmt::format("`{}` is declared here", symbol(v).name),
                            out_.procedure.location(symbol(v).span)});
    }
  }

  BarrierReporter& out_;
  const std::vector<BarrierUses>& barriers_;
  std::unordered_map<ir::SymId, ir::SymId> guarded_by_;  // barrier -> the one that guards it
};

}  // namespace

void check_guards(BarrierReporter& out, const std::vector<BarrierUses>& barriers) {
  if (out.procedure.dialect == semantics::Dialect::P) Guards(out, barriers).run();
}

}  // namespace exocheck::analysis
