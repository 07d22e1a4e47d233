#include "analysis/ring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/buffers.hpp"
#include "analysis/scopes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

namespace ir = semantics::ir;
using semantics::Dialect;

std::optional<std::size_t> ring_dimension(const ir::Symbol& symbol) {
  for (std::size_t i = 0; i < symbol.annotations.size(); ++i) {
    if (symbol.annotations[i].ring_depth) return i;
  }
  return std::nullopt;
}

namespace {

class RingRules {
 public:
  explicit RingRules(BarrierReporter& out) : out_(out), procedure_(out.procedure) {}

  void declaration(const ir::Stmt& s, ir::SymId var, DeviceScope scope) {
    const ir::Symbol& symbol = procedure_.symbol(var);
    const bool barrier = symbol.kind == ir::SymbolKind::barrier;
    const bool mbarrier = barrier && symbol.mechanism && symbol.mechanism->mbarrier();
    const auto rings = std::count_if(symbol.annotations.begin(), symbol.annotations.end(),
                                     [](const ir::DimAnnotation& a) { return a.ring_depth.has_value(); });
    if (rings > 1) {
      out_.report(
          "E-R01", var, s.span,
          fmt::format("`{}` has multiple managed ring buffer dimensions; one is possible", symbol.name));
      return;
    }
    const auto ring = ring_dimension(symbol);
    if (ring) {
      const std::int64_t depth = *symbol.annotations[*ring].ring_depth;
      if (depth <= 0) {
        out_.report("E-R02", var, s.span,
                    fmt::format("the ring depth {} of `{}` is not positive", depth, symbol.name));
        return;
      }
      if (scope == DeviceScope::cpu) {
        out_.report(
            "E-R03", var, s.span,
            fmt::format("`{}` has a ring dimension at CPU scope; ring buffers exist in device code only",
                        symbol.name));
        return;
      }
      if (!mbarrier && (barrier || !semantics::memory_record(*symbol.memory, symbol.precision).shared)) {
        out_.report("E-R04", var, s.span,
                    fmt::format("`{}` lies in {}; only shared memory and mbarriers can have a ring dimension",
                                symbol.name, barrier ? symbol.mechanism->text() : symbol.memory->text()));
        return;
      }
      if (mbarrier && symbol.mechanism->pre_arrive > depth) {
        out_.report("E-R06", var, s.span,
                    fmt::format("`{}` counts {} slots as arrived in advance, but its ring has only {}",
                                symbol.name, symbol.mechanism->pre_arrive, depth));
        return;
      }
    } else if (mbarrier && procedure_.dialect == Dialect::R) {
      out_.report("E-R05", var, s.span,
                  fmt::format("the mbarrier `{}` needs a `@ ring_buffer_by(depth)` dimension", symbol.name));
      return;
    }
    guard(s, var, ring);
  }

  void accesses(const ir::Stmt& s) {
    const auto barrier_expr = [this](const ir::BarrierExpr& e) { index(e.var, e.index, e.span); };
    if (const auto* a = std::get_if<ir::Arrive>(&s.node))
      std::for_each(a->targets.begin(), a->targets.end(), barrier_expr);
    if (const auto* a = std::get_if<ir::Await>(&s.node)) barrier_expr(a->barrier);
    if (const auto* w = std::get_if<ir::WindowStmt>(&s.node)) index(w->base, w->index, s.span);
    if (const auto* c = std::get_if<ir::Call>(&s.node)) {
      if (c->trailing) barrier_expr(*c->trailing);
      for (const ir::ExprPtr& e : c->arguments) {
        const auto* read = std::get_if<ir::Read>(&e->node);
        if (read == nullptr) continue;
        if (read->index.empty() && ring_dimension(procedure_.symbol(read->var))) {
          interval(read->var, e->span);
        } else {
          index(read->var, read->index, e->span);
        }
      }
    }
  }

 private:
  // E-R08.
  void index(ir::SymId var, const std::vector<ir::Access>& accesses, semantics::Span span) {
    const auto ring = ring_dimension(procedure_.symbol(var));
    if (ring && *ring < accesses.size() && accesses[*ring].interval()) interval(var, span);
  }

  void interval(ir::SymId var, semantics::Span span) {
    out_.report(
        "E-R08", var, span,
        fmt::format("the ring dimension of `{}` is accessed by an interval; a ring index must be a point",
                    out_.name(var)));
  }

  // E-R09 .. E-R12.
  void guard(const ir::Stmt& s, ir::SymId var, std::optional<std::size_t> ring) {
    const ir::Symbol& symbol = procedure_.symbol(var);
    if (symbol.kind == ir::SymbolKind::barrier) {
      if (symbol.ring_guard) {
        out_.report("E-R10", var, s.span,
                    fmt::format("the barrier `{}` takes no ring guard; only data does", symbol.name));
      }
      return;
    }
    if (!symbol.ring_guard) {
      if (ring) {
        out_.report(
            "E-R09", var, s.span,
            fmt::format("`{}` has a ring dimension and needs `.ring_guarded_by(z)` with an mbarrier z",
                        symbol.name));
      }
      return;
    }
    const ir::Symbol& z = procedure_.symbol(*symbol.ring_guard);
    if (z.kind != ir::SymbolKind::barrier || !z.mechanism || !z.mechanism->mbarrier()) {
      out_.report(
          "E-R09", var, s.span,
          fmt::format("the ring guard `{}` of `{}` is not an mbarrier in scope", z.name, symbol.name));
      return;
    }
    if (z.rank() > symbol.rank()) {
      out_.report("E-R11", var, s.span,
                  fmt::format("the ring guard `{}` has {} dimensions, more than the {} of `{}`", z.name,
                              z.rank(), symbol.rank(), symbol.name));
      return;
    }
    if (ring != ring_dimension(z)) {
      const auto place = [](std::optional<std::size_t> p) {
        return p ? fmt::format("dimension {}", *p) : std::string("no dimension");
      };
      out_.report(
          "E-R12", var, s.span,
          fmt::format("the ring of `{}` is {}, that of its guard `{}` {}; they must be at the same position",
                      symbol.name, place(ring), z.name, place(ring_dimension(z))));
    }
  }

  BarrierReporter& out_;
  const ir::Procedure& procedure_;
};

}  // namespace

void check_ring_annotations(BarrierReporter& out) {
  RingRules rules(out);
  for_each_scoped_stmt(out.procedure.body, [&](const ir::Stmt& s, DeviceScope scope) {
    if (const auto* alloc = std::get_if<ir::Alloc>(&s.node)) rules.declaration(s, alloc->var, scope);
    rules.accesses(s);
  });
}

void check_ring_shapes(PassContext& context) {
  if (context.procedure.dialect != Dialect::R) return;
  BarrierReporter out(context);
  ir::for_each_stmt(context.procedure.body, [&](const ir::Stmt& s) {
    const auto* alloc = std::get_if<ir::Alloc>(&s.node);
    if (alloc == nullptr) return;
    const ir::Symbol& symbol = context.procedure.symbol(alloc->var);
    if (symbol.kind != ir::SymbolKind::barrier || !symbol.mechanism->mbarrier()) return;
    const auto found = context.facts.distribution.find(alloc->var);
    const std::size_t distributed =
        found == context.facts.distribution.end() ? 0 : static_cast<std::size_t>(found->second.distributed);
    const auto ring = ring_dimension(symbol);
    if (ring && *ring < distributed) {
      out.report(
          "E-R05", alloc->var, s.span,
          fmt::format(
              "the ring dimension {} of the mbarrier `{}` is distributed over collectives; the mbarrier "
              "needs a ring dimension that is not",
              *ring, symbol.name));
      return;
    }
    for (std::size_t i = distributed; i < symbol.shape.size(); ++i) {
      if (i == ring || ir::constant_value(*symbol.shape[i])) continue;
      out.report(
          "E-R07", alloc->var, s.span,
          fmt::format("extent {} of the mbarrier `{}` is `{}`; every extent but the ring's must be a literal",
                      i, symbol.name, expression_text(context.procedure, *symbol.shape[i])));
      return;
    }
  });
}

}  // namespace exocheck::analysis
