// Uses of barriers, shared by the parts of check_barrier_usage (language.md 10.3, 10.6, 10.7; decisions.md
// L).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/passes.hpp"

namespace exocheck::analysis {

// One barrier variable with every statement that uses it, in program order.
struct BarrierUses {
  semantics::ir::SymId var{};
  const semantics::ir::Stmt* allocation = nullptr;
  const semantics::ir::Block* block = nullptr;  // that declares it
  std::vector<const semantics::ir::Stmt*> arrives, awaits, calls;
};

// All barriers of the procedure, in declaration order.
std::vector<BarrierUses> collect_barriers(const semantics::ir::Procedure& procedure);

// Reports at most one error per variable (decisions.md C14).
class BarrierReporter {
 public:
  explicit BarrierReporter(PassContext& pass) : context(pass), procedure(pass.procedure) {}

  // Null if the variable has an error already.
  semantics::Diagnostic* report(const char* code, semantics::ir::SymId var, semantics::Span span,
                                std::string message);
  bool failed(semantics::ir::SymId var) const { return failed_.contains(var); }
  const std::string& name(semantics::ir::SymId var) const { return procedure.symbol(var).name; }
  semantics::Related note(const std::string& message, const semantics::ir::Stmt& stmt,
                          semantics::Role role = semantics::Role::context) const;

  PassContext& context;
  const semantics::ir::Procedure& procedure;

 private:
  std::unordered_set<semantics::ir::SymId> failed_;
};

// What a barrier of the mechanism is in hardware; commit groups of P are told apart by the first timeline of
// their Arrives (language.md 10.2, decisions.md M2, M3). nullopt: a commit group for which `first` stands for
// no kind (E-S20).
std::optional<semantics::LoweredBarrier> lowered_kind(semantics::Dialect dialect,
                                                      const semantics::MechanismType& mechanism,
                                                      semantics::SyncTl first);
// The kind of commit group that an Arrive with this first timeline makes, whatever the mechanism says.
std::optional<semantics::LoweredBarrier> commit_group_kind(semantics::Dialect dialect,
                                                           semantics::SyncTl first);

// E-U01 .. E-U09, E-U15: rules about one Arrive, Await or trailing barrier.
void check_barrier_statements(BarrierReporter& out);
// E-U11 .. E-U14, E-U16, E-U20, E-S20 in P: rules about all uses of one barrier. Fills Facts::barrier but for
// the guards.
void check_barrier_partners(BarrierReporter& out, const std::vector<BarrierUses>& barriers);

}  // namespace exocheck::analysis
