// The obligations of one call: O3, O5, O6, O7, and O8 where the arguments' windows may leave their bases.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/bounds_walk.hpp"

namespace exocheck::analysis::bounds {

class CallCheck {
 public:
  CallCheck(Session& session, const Frame& caller, const semantics::ir::Stmt& stmt,
            const semantics::ir::Call& call, const smt::Assumptions& gamma);
  // `cta_iterators`: see Walk.
  void run(const std::vector<std::uint32_t>& cta_iterators);

 private:
  void bind_control(std::size_t i);
  void bind_data(std::size_t i, const std::vector<std::uint32_t>& cta_iterators);
  void check_shape(std::size_t i, const View& actual);
  void check_preconditions();
  void check_accesses();
  bool callee_keeps_its_obligations();
  Claim claim(std::string_view code, const std::string& variable, int dimension = -1) const;

  Session& session_;
  const Frame& caller_;
  const semantics::ir::Stmt& stmt_;
  const semantics::ir::Call& call_;
  const semantics::ir::Procedure& callee_;
  smt::Assumptions gamma_;   // grows by what the callee may rely on
  Frame formals_;            // the callee's parameters in the caller's terms
  bool shapes_hold_ = true;  // O5, O6 proved
};

}  // namespace exocheck::analysis::bounds
