// What the symbols of one procedure stand for while its obligations are generated: terms for control
// variables, views for data. A callee's frame binds its parameters to the actuals, so that everything is said
// in the caller's variables.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/bounds_view.hpp"
#include "semantics/ir.hpp"
#include "smt/prover.hpp"
#include "smt/translate.hpp"

namespace exocheck::analysis::bounds {

// Values of config fields: one unknown per field, renewed wherever the program may have written it.
class ConfigState {
 public:
  ConfigState(const semantics::ir::Program& program, smt::Prover& prover)
      : program_(program), prover_(prover) {}
  std::optional<smt::Term> read(const semantics::ir::ConfigRead& field);
  void forget() { values_.clear(); }

 private:
  const semantics::ir::Program& program_;
  smt::Prover& prover_;
  std::map<std::pair<std::string, std::string>, smt::Term> values_;
};

class Frame {
 public:
  // `callee` names the procedure in the variables it declares ("i of f"); empty for the procedure under
  // check.
  Frame(const semantics::ir::Procedure& procedure, smt::Prover& prover, ConfigState& config,
        const std::string& callee);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const semantics::ir::Procedure& procedure() const { return procedure_; }

  void bind(semantics::ir::SymId var, smt::Term value) { control_[index(var)] = std::move(value); }
  void bind(semantics::ir::SymId var, ViewPtr view) { data_[index(var)] = std::move(view); }
  const std::optional<smt::Term>& control(semantics::ir::SymId var) const { return control_[index(var)]; }
  // Null for a symbol without a view (an error elsewhere kept its declaration from being understood).
  const ViewPtr& view(semantics::ir::SymId var) const { return data_[index(var)]; }

  // Declares and binds a fresh variable for a control symbol.
  smt::Term declare(semantics::ir::SymId var);
  // Binds a data or barrier symbol to a base of its own; the shape is the symbol's. Returns what could not be
  // translated.
  std::string declare_data(semantics::ir::SymId var, bool unchecked, bool callee_local);

  // A term of the wanted sort, or why not.
  smt::Translation translate(const semantics::ir::Expr& e, smt::Sort wanted) const;
  // The view `x[subscripts]`; no subscripts and rank > 0: all of x. On failure `unsupported` says why.
  struct Cut {
    std::optional<View> view;
    std::string unsupported;
  };
  Cut cut(semantics::ir::SymId var, const std::vector<semantics::ir::Access>& index) const;

 private:
  const semantics::ir::Procedure& procedure_;
  smt::Prover& prover_;
  ConfigState& config_;
  std::string suffix_;
  std::vector<std::optional<smt::Term>> control_;
  std::vector<ViewPtr> data_;
  smt::Bindings bindings_;
};

}  // namespace exocheck::analysis::bounds
