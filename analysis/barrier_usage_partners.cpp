// Rules about all uses of one barrier (language.md 10.3), and the facts about it.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/barrier_usage.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::Dialect;
using semantics::Role;

const ir::Arrive& arrive_of(const ir::Stmt* s) { return std::get<ir::Arrive>(s->node); }
const ir::Await& await_of(const ir::Stmt* s) { return std::get<ir::Await>(s->node); }

// Interval or point, expression by expression.
std::vector<std::vector<bool>> multicast_pattern(const ir::Arrive& a) {
  std::vector<std::vector<bool>> out;
  for (const ir::BarrierExpr& t : a.targets) {
    std::vector<bool> flags;
    for (const ir::Access& i : t.index) flags.push_back(i.interval());
    out.push_back(std::move(flags));
  }
  return out;
}

class PartnerRules {
 public:
  PartnerRules(BarrierReporter& out, const BarrierUses& uses)
      : out_(out), uses_(uses), symbol_(out.procedure.symbol(uses.var)) {}

  void run() {
    find_error();
    BarrierFacts facts;
    facts.guarded_by = uses_.var;
    if (!uses_.arrives.empty()) {
      const auto kind =
          lowered_kind(out_.procedure.dialect, *symbol_.mechanism, arrive_of(uses_.arrives.front()).first);
      if (kind) facts.lowered = *kind;
    }
    if (!uses_.awaits.empty() && !symbol_.mechanism->commit_group())
      facts.await_n = await_of(uses_.awaits.front()).n;
    for (const ir::Stmt* s : uses_.arrives) {
      for (const auto& flags : multicast_pattern(arrive_of(s))) {
        facts.multicast = facts.multicast || std::find(flags.begin(), flags.end(), true) != flags.end();
      }
    }
    out_.context.facts.barrier[uses_.var] = facts;
  }

 private:
  void find_error() {
    if (symbol_.mechanism->kind == semantics::MechanismKind::CudaEvent) {
      report("E-U20", *uses_.allocation,
             fmt::format("`{}` is a CudaEvent, which has no device implementation", symbol_.name));
      return;
    }
    if (uses_.arrives.empty() || uses_.awaits.empty()) {
      const char* missing = !uses_.awaits.empty()    ? "no Arrive"
                            : !uses_.arrives.empty() ? "no Await"
                                                     : "neither an Arrive nor an Await";
      report("E-U14", *uses_.allocation,
             fmt::format("the barrier `{}` has {}: the partner is missing{}", symbol_.name, missing,
                         uses_.calls.empty() ? "" : " (trailing barriers of instructions do not count)"));
      return;
    }
    same_arrives();
    same_awaits();
    if (!lowered_kind(out_.procedure.dialect, *symbol_.mechanism, arrive_of(uses_.arrives.front()).first)) {
      // Without a kind nothing more can be said about the barrier, so this legality rule is decided here in
      // P.
      report("E-S20", *uses_.arrives.front(),
             fmt::format("the Arrive on the commit group `{}` has first timeline {}, for which there is no "
                         "commit group; "
                         "use Sm80_cp_async, tma_to_gmem_async or wgmma_async",
                         symbol_.name, semantics::name(arrive_of(uses_.arrives.front()).first)));
    }
  }

  // E-U11, E-U13.
  void same_arrives() {
    const ir::Arrive& first = arrive_of(uses_.arrives.front());
    for (const ir::Stmt* s : uses_.arrives) {
      const ir::Arrive& a = arrive_of(s);
      if (a.first != first.first) {
        report("E-U11", *s,
               fmt::format("the Arrives on `{}` have incompatible sync timelines: {} here, {} before",
                           symbol_.name, semantics::name(a.first), semantics::name(first.first)),
               uses_.arrives.front(), "the earlier Arrive");
        return;
      }
      if (multicast_pattern(a) != multicast_pattern(first)) {
        report("E-U13", *s,
               fmt::format(
                   "the Arrives on `{}` have incompatible multicast patterns: all must have intervals at the "
                   "same places",
                   symbol_.name),
               uses_.arrives.front(), "the earlier Arrive");
        return;
      }
    }
  }

  // E-U12, E-U16.
  void same_awaits() {
    const ir::Await& first = await_of(uses_.awaits.front());
    for (const ir::Stmt* s : uses_.awaits) {
      const ir::Await& a = await_of(s);
      if (a.second != first.second) {
        report("E-U12", *s,
               fmt::format("the Awaits of `{}` have incompatible sync timelines: {} here, {} before",
                           symbol_.name, semantics::name(a.second), semantics::name(first.second)),
               uses_.awaits.front(), "the earlier Await");
        return;
      }
      if (out_.procedure.dialect == Dialect::P && symbol_.mechanism->mbarrier() && a.n != first.n) {
        report(
            "E-U16", *s,
            fmt::format(
                "the Awaits of the mbarrier `{}` have different lags, ~{} here and ~{} before; all Awaits of "
                "a barrier need one N",
                symbol_.name, -(a.n + 1), -(first.n + 1)),
            uses_.awaits.front(), "the earlier Await");
        return;
      }
    }
  }

  void report(const char* code, const ir::Stmt& at, std::string message, const ir::Stmt* other = nullptr,
              const char* what = "") {
    semantics::Diagnostic* d = out_.report(code, uses_.var, at.span, std::move(message));
    if (d == nullptr) return;
    if (other != nullptr) d->related.push_back(out_.note(what, *other));
    if (&at != uses_.allocation) {
      d->related.push_back(out_.note(fmt::format("`{}` is declared here", symbol_.name), *uses_.allocation,
                                     Role::declaration));
    }
  }

  BarrierReporter& out_;
  const BarrierUses& uses_;
  const ir::Symbol& symbol_;
};

}  // namespace

void check_barrier_partners(BarrierReporter& out, const std::vector<BarrierUses>& barriers) {
  for (const BarrierUses& b : barriers) PartnerRules(out, b).run();
}

}  // namespace exocheck::analysis
