// Walking a procedure and stating its obligations (language.md 9, "Where each query is made").
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/bounds_frame.hpp"
#include "analysis/bounds_report.hpp"

namespace exocheck::analysis::bounds {

// Does a callee keep its own obligations, so that its accesses stay inside its parameters? One entry per
// callee.
using CalleeMemo = std::map<const semantics::ir::Procedure*, bool>;

// What the walk of one procedure shares with the walks of its callees.
struct Session {
  PassContext& context;
  smt::Prover& prover;
  ConfigState& config;
  Reporter& reporter;
  CalleeMemo& callees;
  int call_depth = 0;
  std::uint64_t callee_statements = 0;  // walked for O8 so far
};

constexpr int max_call_depth = 100;
constexpr std::uint64_t max_callee_statements = 50'000;

// States every obligation of `procedure` (for an instruction: of its behaviour) and appends findings to the
// session's context. False if something failed or stayed undecided.
bool check_procedure(Session& session, const semantics::ir::Procedure& procedure,
                     const semantics::ir::Instr* instr);

// ------------------------------------------------------------------------------------------------- for the
// walk itself

class Walk {
 public:
  Walk(Session& session, Frame& frame) : session_(session), frame_(frame) {}
  void block(const semantics::ir::Block& block, const smt::Assumptions& gamma);

 private:
  void statement(const semantics::ir::Stmt& stmt, const smt::Assumptions& gamma);
  void allocation(const semantics::ir::Stmt& stmt, const semantics::ir::Alloc& alloc,
                  const smt::Assumptions& gamma);
  void loop(const semantics::ir::Stmt& stmt, const semantics::ir::For& loop, const smt::Assumptions& gamma);
  void branch(const semantics::ir::Stmt& stmt, const semantics::ir::If& branch,
              const smt::Assumptions& gamma);
  void device_function(const semantics::ir::DeviceFunction& device, const smt::Assumptions& gamma);
  void reads(const semantics::ir::Stmt& stmt, const semantics::ir::Expr& value,
             const smt::Assumptions& gamma);
  // O4 and O10. `verb`: "read", "written", "reduced".
  void access(const semantics::ir::Stmt& stmt, semantics::Span span, semantics::ir::SymId var,
              const std::vector<semantics::ir::Access>& index, const char* verb,
              const smt::Assumptions& gamma);
  void window(const semantics::ir::Stmt& stmt, const semantics::ir::WindowStmt& window,
              const smt::Assumptions& gamma);
  void barrier(const semantics::ir::Stmt& stmt, const semantics::ir::BarrierExpr& barrier,
               const smt::Assumptions& gamma);
  void call(const semantics::ir::Stmt& stmt, const semantics::ir::Call& call, const smt::Assumptions& gamma);

  Claim claim(std::string_view code, const semantics::ir::Stmt& stmt, semantics::Span span,
              std::string variable, int dimension = -1) const;

  Session& session_;
  Frame& frame_;
  // Launch parameters of the device function around, and the iterators that count its CTAs (for E-M18).
  std::int64_t cluster_dim_ = 1, block_dim_ = 0;
  std::vector<std::uint32_t> cta_iterators_;
};

// O8: the accesses of a callee, in the caller's terms. `frame` binds the callee's parameters. False if one
// may leave its base; reported at `site` (code, location and place are set; the rest is filled in).
bool check_effects(Session& session, Frame& frame, const semantics::ir::Block& body,
                   const smt::Assumptions& gamma, const Claim& site, std::string_view callee);

// O11-style and O4-style range text: "0 <= index < n = 1".
std::string range_text(const Numbers& numbers, const smt::Term& extent);
semantics::Related declared_here(const Base& base);

// E-M18 (decisions.md F7) for one argument of an instruction call.
void check_swizzle_row(Session& session, const semantics::ir::Instr& instr, const View& operand,
                       const std::vector<std::uint32_t>& cta_iterators, const smt::Assumptions& gamma,
                       Claim claim);

// May the block write a config field?
bool writes_config(const semantics::ir::Block& block);

}  // namespace exocheck::analysis::bounds
