#include "analysis/barrier_usage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/guards.hpp"
#include "analysis/ring.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

namespace ir = semantics::ir;
using semantics::Dialect;
using semantics::LoweredBarrier;
using semantics::MechanismKind;
using semantics::SyncTl;

semantics::Diagnostic* BarrierReporter::report(const char* code, ir::SymId var, semantics::Span span,
                                               std::string message) {
  if (!failed_.insert(var).second) return nullptr;
  auto d = semantics::make_diagnostic(code, procedure.location(span), std::move(message));
  const ir::Symbol& symbol = procedure.symbol(var);
  d.variable = symbol.name;
  if (symbol.mechanism) d.memory = symbol.mechanism->text();
  context.diagnostics.push_back(std::move(d));
  return &context.diagnostics.back();
}

semantics::Related BarrierReporter::note(const std::string& message, const ir::Stmt& stmt,
                                         semantics::Role role) const {
  return {role, message, procedure.location(stmt.span)};
}

namespace {

class Collector {
 public:
  explicit Collector(const ir::Procedure& procedure) : procedure_(procedure) {}

  std::vector<BarrierUses> run() {
    declarations(procedure_.body);
    ir::for_each_stmt(procedure_.body, [this](const ir::Stmt& s) { uses(s); });
    return std::move(found_);
  }

 private:
  void declarations(const ir::Block& block) {
    for (const ir::Stmt& s : block) {
      const auto* alloc = std::get_if<ir::Alloc>(&s.node);
      if (alloc != nullptr && procedure_.symbol(alloc->var).kind == ir::SymbolKind::barrier) {
        position_[alloc->var] = found_.size();
        found_.push_back({alloc->var, &s, &block, {}, {}, {}});
      }
      for (const ir::Block* b : ir::sub_blocks(s)) declarations(*b);
    }
  }

  BarrierUses* find(ir::SymId var) {
    const auto it = position_.find(var);
    return it == position_.end() ? nullptr : &found_[it->second];
  }

  void uses(const ir::Stmt& s) {
    if (const auto* arrive = std::get_if<ir::Arrive>(&s.node);
        arrive != nullptr && !arrive->targets.empty()) {
      if (BarrierUses* b = find(arrive->targets.front().var)) b->arrives.push_back(&s);
    }
    if (const auto* await = std::get_if<ir::Await>(&s.node)) {
      if (BarrierUses* b = find(await->barrier.var)) b->awaits.push_back(&s);
    }
    if (const auto* call = std::get_if<ir::Call>(&s.node); call != nullptr && call->trailing) {
      if (BarrierUses* b = find(call->trailing->var)) b->calls.push_back(&s);
    }
  }

  const ir::Procedure& procedure_;
  std::vector<BarrierUses> found_;
  std::unordered_map<ir::SymId, std::size_t> position_;
};

}  // namespace

std::vector<BarrierUses> collect_barriers(const ir::Procedure& procedure) {
  return Collector(procedure).run();
}

std::optional<LoweredBarrier> commit_group_kind(Dialect dialect, SyncTl first) {
  if (first == SyncTl::empty_sync_tl || first == SyncTl::tcgen05_commit || first == SyncTl::tcgen05_ld ||
      first == SyncTl::tcgen05_st) {
    return std::nullopt;
  }
  // The rows of language.md 10.2, top to bottom.
  if (covers_as_first(dialect, SyncTl::Sm80_cp_async, first)) return LoweredBarrier::sm80_commit_group;
  if (covers_as_first(dialect, SyncTl::tma_to_gmem_async, first)) return LoweredBarrier::tma_commit_group;
  if (covers_as_first(dialect, SyncTl::wgmma_async, first)) return LoweredBarrier::wgmma_commit_group;
  return std::nullopt;
}

std::optional<LoweredBarrier> lowered_kind(Dialect dialect, const semantics::MechanismType& mechanism,
                                           SyncTl first) {
  switch (mechanism.kind) {
    case MechanismKind::CudaMbarrier:
    case MechanismKind::CudaMbarrierPreArrive:
    case MechanismKind::CudaEvent:
      return LoweredBarrier::mbarrier;
    case MechanismKind::CudaCommitGroup:
      return commit_group_kind(dialect, first);
    case MechanismKind::Sm80_CommitGroup:
      return LoweredBarrier::sm80_commit_group;
    case MechanismKind::Sm90_TmaCommitGroup:
      return LoweredBarrier::tma_commit_group;
    case MechanismKind::Sm90_WgmmaCommitGroup:
      return LoweredBarrier::wgmma_commit_group;
    case MechanismKind::CudaClusterSync:
      return LoweredBarrier::cluster_sync;
  }
  return std::nullopt;
}

void check_barrier_usage(PassContext& context) {
  BarrierReporter out(context);
  const std::vector<BarrierUses> barriers = collect_barriers(context.procedure);
  check_barrier_statements(out);
  check_barrier_partners(out, barriers);
  check_guards(out, barriers);
  check_ring_annotations(out);
}

}  // namespace exocheck::analysis
