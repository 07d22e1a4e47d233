// What the analyses know about one procedure: side tables keyed by statement and symbol (design.md 2).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/collective.hpp"
#include "analysis/obligations.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"
#include "semantics/modes.hpp"

namespace exocheck::analysis {

using semantics::Diagnostics;
using semantics::LoweredBarrier;
using semantics::ir::StmtId;

// Launch parameters of a device function after validation.
struct LaunchFacts {
  Geometry geometry;
  std::int64_t blocks_per_sm = 1;
  struct WarpGroup {
    std::string name;
    std::int64_t first_warp = 0, count = 0;  // in warps
    std::optional<std::int64_t> setmaxnreg_dec, setmaxnreg_inc;
  };
  std::vector<WarpGroup> warp_groups;  // one unnamed group if the program gives blockDim
};

// Where a variable's dimensions live (collective.md 6, 7).
struct Distribution {
  int distributed = 0;                // number of leading dimensions spread over collectives
  std::vector<std::int64_t> pitches;  // thread pitch of each of them
  std::int64_t base = 0;              // first thread of element 0 with the allocation's own iterators at 0
  std::vector<std::int64_t>
      shard_extents;  // the remaining (physical) extents, where constant; -1: not constant
};

// A loop that an instruction call implies around one of its arguments (collective.md 8, `distributed` units).
struct ImpliedLoop {
  SymId iter{};  // synthetic: numbered from Procedure::symbols.size() upward, unique in the procedure
  std::int64_t extent = 0;
  std::size_t access = 0;  // position among the argument's subscripts
};
struct CallFacts {
  // Per runtime argument: the implied loops and the tiling inside them; empty and null for the others.
  std::vector<std::vector<ImpliedLoop>> implied;
  std::vector<TilingPtr> inner_tiling;
};

struct BarrierFacts {
  LoweredBarrier lowered = LoweredBarrier::mbarrier;
  std::optional<std::int64_t> await_n;  // the one N of its Awaits (mbarrier, cluster sync)
  SymId guarded_by{};                   // itself if unguarded
  std::int64_t ring_depth = 0;          // mbarriers of P, decisions.md L8
  bool multicast = false;               // some Arrive names an interval
};

struct Facts {
  // CUDA-scope statements only. Tiling in force at the statement; a For or Warps has its parent's.
  std::unordered_map<StmtId, TilingPtr> tiling;
  // Body tiling of cuda_threads loops and CudaWarps blocks.
  std::unordered_map<StmtId, TilingPtr> body_tiling;
  std::unordered_map<StmtId, LaunchFacts> launch;        // by DeviceFunction
  std::unordered_map<StmtId, CallFacts> call;            // calls with distributed parameters
  std::unordered_map<SymId, Distribution> distribution;  // device-scope allocations
  std::unordered_map<SymId, BarrierFacts> barrier;
  std::unordered_map<SymId, StmtId> allocation;  // the Alloc statement of every allocated symbol
  // Ends of life, in the order they happen (decisions.md N6, N7): right before or right after a statement.
  // What dies at the end of a block is in free_after of the block's last statement.
  std::unordered_map<StmtId, std::vector<SymId>> free_after, free_before;
  std::uint32_t symbol_limit = 0;  // synthetic symbols lie in [symbols.size(), symbol_limit)
  std::unordered_map<SymId, std::string> synthetic_names;  // for messages
  std::vector<Obligation> obligations;                     // in the order they were checked
  // An obligation that could not be decided: a limit.* diagnostic says where, the verdict is at best
  // `unknown`.
  std::optional<std::string> unknown_reason;

  const TilingPtr& tiling_of(StmtId s) const;  // null at CPU scope
};

struct AnalysisResult {
  Facts facts;
  Diagnostics
      diagnostics;  // errors of the first failing pass (language.md 11, decisions.md C14), and all warnings
  // Set if the procedure uses a construct that the checker cannot judge (a `par` loop, decisions.md D10):
  // what and where. Without errors the verdict is `unsupported`.
  std::optional<semantics::Diagnostic> unsupported;
};

using semantics::Mode;

struct AnalysisOptions {
  AnalysisOptions(Mode m = Mode::standard) : mode(m) {}  // implicit: the mode alone says most

  Mode mode;
  double solver_seconds =
      120;  // for all obligations of the procedure together; beyond it they stay undecided
  // Only for tests that run the machine where an obligation fails: findings of the bounds pass are dropped
  // and do not stop the other passes. No verdict may rest on such a result.
  bool bounds_open = false;
};

// Runs every static pass on one procedure, in the order of language.md 11 (stages 3-6).
AnalysisResult analyse(const semantics::ir::Procedure& procedure, const semantics::ir::Program& program,
                       const AnalysisOptions& options = {});

}  // namespace exocheck::analysis
