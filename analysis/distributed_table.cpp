#include "analysis/distributed_table.hpp"

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {

using semantics::Dialect;
using semantics::Location;
using semantics::MechanismKind;
using semantics::ir::Symbol;
using semantics::ir::SymbolKind;

std::optional<CollUnit> native_unit(const Symbol& symbol, Dialect dialect) {
  if (symbol.kind != SymbolKind::barrier)
    return semantics::memory_record(*symbol.memory, symbol.precision).native_unit;
  if (dialect == Dialect::P) return std::nullopt;
  switch (symbol.mechanism->kind) {
    case MechanismKind::CudaMbarrier:
    case MechanismKind::CudaMbarrierPreArrive:
      return semantics::unit_cta();
    case MechanismKind::Sm80_CommitGroup:
      return semantics::unit_thread();
    case MechanismKind::Sm90_TmaCommitGroup:
      return semantics::unit_warp();
    case MechanismKind::Sm90_WgmmaCommitGroup:
      return semantics::unit_warpgroup();
    case MechanismKind::CudaClusterSync:
      return semantics::unit_cluster();
    case MechanismKind::CudaCommitGroup:
    case MechanismKind::CudaEvent:
      return std::nullopt;
  }
  throw semantics::InternalError("unknown barrier mechanism");
}

std::vector<std::optional<std::int64_t>> DistributionTable::extents(SymId var) const {
  std::vector<std::optional<std::int64_t>> out;
  for (const auto& e : context_.procedure.symbol(var).shape) out.push_back(semantics::ir::constant_value(*e));
  return out;
}

void DistributionTable::report(SymId var, const DistributedUse* use, Refusal refusal, Location location) {
  auto diagnostic = semantics::make_diagnostic(refusal.code, std::move(location), std::move(refusal.message));
  diagnostic.related = std::move(refusal.related);
  const Symbol& symbol = context_.procedure.symbol(var);
  diagnostic.variable = symbol.name;
  if (symbol.memory) diagnostic.memory = symbol.memory->text();
  if (use != nullptr && diagnostic.related.empty()) {
    diagnostic.related.push_back(
        {semantics::Role::context, "executed by " + constructs_.path(*use->tiling), use->location});
  }
  context_.diagnostics.push_back(std::move(diagnostic));
}

void DistributionTable::declare(SymId var, const TilingPtr& tiling, Location location) {
  const Symbol& symbol = context_.procedure.symbol(var);
  State state;
  // Memories without a native unit cannot be allocated in device code (E-D01); nothing to distribute.
  const bool barrier = symbol.kind == SymbolKind::barrier;
  if (!barrier && (!symbol.memory || !native_unit(symbol, context_.procedure.dialect))) return;
  state.variable = {var,    symbol.name, extents(var), native_unit(symbol, context_.procedure.dialect),
                    tiling, location};
  if (auto refusal = check_allocation(state.variable, constructs_)) {
    state.failed = true;
    report(var, nullptr, *std::move(refusal), std::move(location));
  }
  order_.push_back(var);
  states_.insert_or_assign(var, std::move(state));
}

DistributionTable::UseResult DistributionTable::use(SymId var, DistributedUse use,
                                                    std::string_view interval_code) {
  const auto refuse = [&](Refusal refusal) {
    if (refusal.code == "E-X10") refusal.code = interval_code;
    report(var, &use, std::move(refusal), use.location);
    return UseResult{true, std::nullopt};
  };
  const auto it = states_.find(var);
  if (it == states_.end()) {
    if (use.units.empty()) return {};
    DistributedUse inner = use;
    auto implied = imply_loops(context_.procedure.symbol(var).name, extents(var), inner, constructs_);
    if (auto* refusal = std::get_if<Refusal>(&implied)) return refuse(std::move(*refusal));
    return {false, std::get<Deduction>(std::move(implied))};
  }
  State& state = it->second;
  if (state.failed) return {};
  auto result = deduce(state.variable, use, constructs_);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    state.failed = true;
    return refuse(std::move(*refusal));
  }
  auto& deduction = std::get<Deduction>(result);
  if (!state.first_use) {
    state.first_use = use;
    state.first = deduction;
  } else if (auto refusal =
                 disagreement(state.variable, *state.first_use, state.first, deduction, constructs_)) {
    state.failed = true;
    return refuse(*std::move(refusal));
  }
  return {false, std::move(deduction)};
}

bool DistributionTable::failed(SymId var) const {
  const auto it = states_.find(var);
  return it != states_.end() && it->second.failed;
}

void DistributionTable::silence(SymId var) {
  const auto it = states_.find(var);
  if (it != states_.end()) it->second.failed = true;
}

void DistributionTable::finish() const {
  for (const SymId var : order_) {
    const State& state = states_.at(var);
    if (state.failed) continue;
    Distribution d;
    d.distributed = static_cast<int>(state.first.pitches.size());
    d.pitches = state.first.pitches;
    d.base = state.first.base;
    for (std::size_t i = d.pitches.size(); i < state.variable.extents.size(); ++i) {
      d.shard_extents.push_back(state.variable.extents[i].value_or(-1));
    }
    context_.facts.distribution[var] = std::move(d);
  }
}

}  // namespace exocheck::analysis
