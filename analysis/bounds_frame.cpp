#include "analysis/bounds_frame.hpp"

namespace exocheck::analysis::bounds {

namespace ir = semantics::ir;
using ir::SymId;
using smt::Sort;
using smt::Term;
using smt::VariableRole;

namespace {

VariableRole role_of(ir::SymbolKind kind) {
  switch (kind) {
    case ir::SymbolKind::size:
      return VariableRole::size;
    case ir::SymbolKind::index:
      return VariableRole::index;
    case ir::SymbolKind::boolean:
      return VariableRole::boolean;
    case ir::SymbolKind::stride:
      return VariableRole::stride;
    case ir::SymbolKind::iterator:
    case ir::SymbolKind::data:
    case ir::SymbolKind::window:
    case ir::SymbolKind::barrier:
      return VariableRole::iterator;
  }
  return VariableRole::iterator;
}

}  // namespace

std::optional<Term> ConfigState::read(const ir::ConfigRead& field) {
  const auto key = std::pair{field.config, field.field};
  const auto found = values_.find(key);
  if (found != values_.end()) return found->second;
  for (const ir::Config& config : program_.configs) {
    if (config.name != field.config) continue;
    for (const ir::Config::Field& f : config.fields) {
      if (f.name != field.field || !f.type.control()) continue;
      const Sort sort = f.type.kind == ir::TypeKind::boolean ? Sort::boolean : Sort::integer;
      Term value = prover_.declare(field.config + "." + field.field, sort, VariableRole::config);
      return values_.emplace(key, std::move(value)).first->second;
    }
  }
  return std::nullopt;
}

Frame::Frame(const ir::Procedure& procedure, smt::Prover& prover, ConfigState& config,
             const std::string& callee)
    : procedure_(procedure),
      prover_(prover),
      config_(config),
      suffix_(callee.empty() ? "" : " of " + callee),
      control_(procedure.symbols.size()),
      data_(procedure.symbols.size()) {
  bindings_.variable = [this](SymId var) { return control_[index(var)]; };
  bindings_.stride = [this](SymId var, int dim) -> std::optional<Term> {
    const ViewPtr& view = data_[index(var)];
    if (!view || dim < 0) return std::nullopt;
    const auto intervals = view->intervals();
    if (static_cast<std::size_t>(dim) >= intervals.size()) return std::nullopt;
    return view->base->strides[intervals[static_cast<std::size_t>(dim)]];
  };
  bindings_.config = [this](const ir::ConfigRead& field) { return config_.read(field); };
}

Term Frame::declare(SymId var) {
  const ir::Symbol& symbol = procedure_.symbol(var);
  const Sort sort = symbol.kind == ir::SymbolKind::boolean ? Sort::boolean : Sort::integer;
  Term value = prover_.declare(symbol.name + suffix_, sort, role_of(symbol.kind));
  bind(var, value);
  return value;
}

std::string Frame::declare_data(SymId var, bool unchecked, bool callee_local) {
  const ir::Symbol& symbol = procedure_.symbol(var);
  auto base = std::make_shared<Base>();
  base->name = symbol.name;
  base->declaration = procedure_.location(symbol.span);
  base->memory = symbol.memory;
  base->callee_local = callee_local;
  for (const ir::ExprPtr& e : symbol.shape) {
    const auto extent = translate(*e, Sort::integer);
    if (!extent.term) return extent.unsupported;
    base->extents.push_back(*extent.term);
  }
  const auto unknown = [&](std::size_t k) {
    return prover_.declare("stride(" + symbol.name + ", " + std::to_string(k) + ")" + suffix_, Sort::integer,
                           VariableRole::stride);
  };
  if (symbol.kind == ir::SymbolKind::window) {
    for (std::size_t k = 0; k < base->extents.size(); ++k) base->strides.push_back(unknown(k));
  } else {
    base->strides = dense_strides(base->extents, unknown);
  }
  bind(var, whole(std::move(base), unchecked));
  return "";
}

smt::Translation Frame::translate(const ir::Expr& e, Sort wanted) const {
  auto out = smt::translate(e, bindings_);
  if (out.term && out.term->sort() != wanted) return {std::nullopt, "an expression of the wrong type"};
  return out;
}

Frame::Cut Frame::cut(SymId var, const std::vector<ir::Access>& index) const {
  const ViewPtr& view = this->view(var);
  if (!view) return {std::nullopt, "a variable whose declaration is not understood"};
  if (index.empty()) return {*view, ""};
  std::vector<Subscript> subscripts;
  for (const ir::Access& a : index) {
    auto lo = translate(*a.lo, Sort::integer);
    if (!lo.term) return {std::nullopt, lo.unsupported};
    Subscript s{*lo.term, std::nullopt};
    if (a.interval()) {
      auto hi = translate(*a.hi, Sort::integer);
      if (!hi.term) return {std::nullopt, hi.unsupported};
      s.hi = *hi.term;
    }
    subscripts.push_back(std::move(s));
  }
  auto out = bounds::cut(*view, subscripts);
  return out ? Cut{std::move(out), ""} : Cut{std::nullopt, "a wrong number of subscripts"};
}

}  // namespace exocheck::analysis::bounds
