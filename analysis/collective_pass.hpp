// The walk of check_collectives over one procedure: tilings of every CUDA-scope statement, scope queries, and
// the uses of device variables (collective.md 4.3 - 4.6, 6.4, 7.4, 8).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/collective_barriers.hpp"
#include "analysis/collective_constructs.hpp"
#include "analysis/distributed_table.hpp"
#include "analysis/passes.hpp"
#include "semantics/ir.hpp"

namespace exocheck::analysis {

class CollectivePass {
 public:
  explicit CollectivePass(PassContext& context);
  void run();

 private:
  // What a block inherits. tiling is null at CPU scope.
  struct Scope {
    TilingPtr tiling;
    const LaunchFacts* launch = nullptr;
    std::optional<std::string> warps;  // name of the enclosing CudaWarps (collective.md 4.4, curName)
  };
  // Subscripts on a variable that is no window.
  struct Resolved {
    SymId base{};
    std::vector<semantics::ir::Access> index;
    std::vector<std::size_t> written;
  };

  void walk(const semantics::ir::Block& block, const Scope& scope);
  void visit(const semantics::ir::Stmt& stmt, const Scope& scope);

  // collective_pass_loops.cpp
  void device_function(const semantics::ir::Stmt& stmt, const semantics::ir::DeviceFunction& f);
  void loop(const semantics::ir::Stmt& stmt, const semantics::ir::For& f, const Scope& scope);
  void warps(const semantics::ir::Stmt& stmt, const semantics::ir::Warps& w, const Scope& scope);
  // The scope of the body; nullopt after an error.
  std::optional<Scope> warps_scope(const semantics::ir::Stmt& stmt, const semantics::ir::Warps& w,
                                   const Scope& scope);
  std::optional<Scope> named_warps(const semantics::ir::Stmt& stmt, const semantics::ir::Warps& w,
                                   const Scope& scope);
  TilingPtr narrow(const semantics::ir::Stmt& stmt, const TilingPtr& tiling, std::int64_t lo,
                   std::int64_t hi);

  // collective_pass.cpp
  void window(const semantics::ir::WindowStmt& w);
  void assign(const semantics::ir::Stmt& stmt, const semantics::ir::Assign& a, const Scope& scope);
  Resolved resolve(SymId var, const std::vector<semantics::ir::Access>& index) const;
  DistributedUse make_use(const Resolved& resolved, SymId named,
                          const std::vector<semantics::ir::Access>& index, const TilingPtr& tiling,
                          semantics::Location location) const;
  // Does the statement use a variable that has an error already? Then its other variables are silenced, too:
  // most of what could be said about them would follow from that error.
  bool follows_error(const semantics::ir::Stmt& stmt);
  // A read of `expr` and of everything inside it; true if an error was reported.
  bool reads(const semantics::ir::Expr& expr, const semantics::ir::Stmt& stmt, const Scope& scope);
  void warn_unused();

  // collective_pass_calls.cpp
  void call(const semantics::ir::Stmt& stmt, const semantics::ir::Call& c, const Scope& scope);
  void argument(const semantics::ir::Stmt& stmt, const semantics::ir::Call& c, std::size_t position,
                const Scope& scope, CallFacts& facts);
  void trailing(const semantics::ir::Stmt& stmt, const semantics::ir::Call& c, const Scope& scope);

  // collective_pass_sync.cpp
  void arrive(const semantics::ir::Stmt& stmt, const semantics::ir::Arrive& a, const Scope& scope);
  void await(const semantics::ir::Stmt& stmt, const semantics::ir::Await& a, const Scope& scope);
  // The distribution of the home element; nullopt after an error.
  std::optional<Deduction> sync_use(const semantics::ir::Stmt& stmt, SymId barrier,
                                    const std::vector<semantics::ir::Access>& home, const Scope& scope);
  // E-U18, E-U19.
  void sync_threads(const semantics::ir::Stmt& stmt, SymId barrier, BarrierConsistency::Kind kind,
                    std::vector<std::int64_t> pitches, const Scope& scope);
  // E-U30; false after an error, like the next two.
  bool intervals_complete(const semantics::ir::BarrierExpr& b);
  // E-U31 .. E-U33.
  bool multicast(const semantics::ir::Stmt& stmt, const semantics::ir::Arrive& a, const Deduction& d,
                 const std::vector<semantics::ir::Access>& home, const Scope& scope);
  bool power_of_two_geometry(const semantics::ir::Stmt& stmt, SymId barrier,
                             const std::vector<std::size_t>& dims, const TilingPtr& tiling);

  void report(std::string_view code, semantics::Location location, std::string message,
              std::vector<semantics::Related> related = {}, SymId variable = none);
  semantics::Location location(const semantics::ir::Stmt& stmt) const;
  semantics::Location location(const semantics::ir::Expr& expr, const semantics::ir::Stmt& stmt) const;
  std::string text(SymId var, const std::vector<semantics::ir::Access>& index) const;
  const semantics::ir::Symbol& symbol(SymId var) const { return context_.procedure.symbol(var); }

  static constexpr SymId none{~0U};

  PassContext& context_;
  Constructs constructs_;
  DistributionTable table_;
  BarrierConsistency consistency_;
  std::unordered_map<SymId, Resolved> windows_;
  std::unordered_set<SymId> failed_barriers_;     // at most one error per barrier (decisions.md C14)
  std::vector<const semantics::ir::Stmt*> path_;  // enclosing compound statements, outermost first
};

}  // namespace exocheck::analysis
