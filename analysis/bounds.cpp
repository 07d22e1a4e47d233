#include <fmt/format.h>

#include <algorithm>

#include "analysis/bounds_walk.hpp"
#include "analysis/passes.hpp"

namespace exocheck::analysis {
namespace bounds {
namespace {

namespace ir = semantics::ir;
using smt::Assumptions;
using smt::Sort;
using smt::Term;

// Far more than any program has; every query carries all of them.
constexpr std::size_t max_assertions = 2000;

class ProcedureCheck {
 public:
  ProcedureCheck(Session& session, const ir::Procedure& procedure, const ir::Instr* instr)
      : session_(session),
        procedure_(procedure),
        instr_(instr),
        frame_(procedure, session.prover, session.config, instr != nullptr ? procedure.name : "") {}

  void run() {
    declare_parameters();
    if (!assume_preconditions()) return;  // everything would hold
    for (const ir::SymId p : procedure_.parameters) {
      if (!procedure_.symbol(p).control()) check_extents(p);
    }
    Walk(session_, frame_).block(procedure_.body, gamma_);
  }

 private:
  Claim claim(std::string_view code, semantics::Span span, std::string variable, int dimension) const {
    Claim c;
    c.code = code;
    c.location = procedure_.location(span);
    c.place = span.begin;
    c.variable = std::move(variable);
    c.dimension = dimension;
    return c;
  }

  // A1.
  void declare_parameters() {
    for (const ir::SymId p : procedure_.parameters) {
      const ir::Symbol& symbol = procedure_.symbol(p);
      if (!symbol.control()) continue;
      const Term value = frame_.declare(p);
      if (symbol.kind == ir::SymbolKind::size) {
        gamma_ = gamma_.with("size." + symbol.name, lt(smt::integer(0), value));
      }
    }
    for (std::size_t i = 0; i < procedure_.parameters.size(); ++i) {
      const ir::SymId p = procedure_.parameters[i];
      const ir::Symbol& symbol = procedure_.symbol(p);
      if (symbol.control()) continue;
      const bool special = symbol.memory && symbol.memory->is(semantics::MemoryKind::Sm90_tensorMap);
      const bool unchecked = instr_ != nullptr ? instr_->parameters[i].out_of_bounds : special;
      const std::string unsupported = frame_.declare_data(p, unchecked, false);
      if (unsupported.empty()) continue;
      Claim c = claim("E-B03", symbol.span, symbol.name, -1);
      c.meaning = fmt::format("the extents of parameter `{}` are positive", symbol.name);
      session_.reporter.undecided(c, unsupported);
    }
  }

  // O1 and A2. False if the assertions contradict each other.
  bool assume_preconditions() {
    if (procedure_.assertions.size() > max_assertions) {
      Claim c = claim("E-B01", procedure_.name_span, procedure_.name, -1);
      c.meaning = "the preconditions can hold together";
      session_.reporter.undecided(c, fmt::format("there are more than {} of them", max_assertions));
      return false;
    }
    int number = 0;
    for (const ir::Assertion& a : procedure_.assertions) {
      Claim c = claim("E-B01", a.span, procedure_.name, ++number);
      c.meaning = fmt::format("precondition {} of `{}` can hold", number, procedure_.name);
      const auto condition = frame_.translate(*a.condition, Sort::boolean);
      if (!condition.term) {
        session_.reporter.undecided(c, condition.unsupported);
        continue;
      }
      const std::string what = text(*condition.term);
      c.message = [&](const Numbers&) {
        return number == 1
                   ? fmt::format("the precondition `{}` of `{}` can never hold", what, procedure_.name)
                   : fmt::format("the precondition `{}` of `{}` can never hold together with those before it",
                                 what, procedure_.name);
      };
      gamma_ = gamma_.with("pre." + std::to_string(number), *condition.term);
      if (!session_.reporter.require_satisfiable(gamma_, c)) return false;
    }
    return true;
  }

  // O3 of a data parameter.
  void check_extents(ir::SymId p) {
    const ir::Symbol& symbol = procedure_.symbol(p);
    const ViewPtr& view = frame_.view(p);
    if (!view) return;
    for (std::size_t k = 0; k < view->base->extents.size(); ++k) {
      const Term& n = view->base->extents[k];
      Claim c = claim("E-B03", symbol.span, symbol.name, static_cast<int>(k));
      c.meaning =
          fmt::format("extent {} of parameter `{}` in dimension {} is positive", text(n), symbol.name, k);
      c.message = [&](const Numbers& numbers) {
        return fmt::format("the extent of parameter `{}` in dimension {} must be positive, but it is {}{}",
                           symbol.name, k, numbers.with_value(n), numbers.when());
      };
      session_.reporter.require(gamma_, lt(smt::integer(0), n), c);
    }
  }

  Session& session_;
  const ir::Procedure& procedure_;
  const ir::Instr* instr_;
  Frame frame_;
  Assumptions gamma_;
};

}  // namespace

bool check_procedure(Session& session, const ir::Procedure& procedure, const ir::Instr* instr) {
  const std::size_t before = session.context.diagnostics.size();
  const auto unknown_before = session.context.facts.unknown_reason;
  ProcedureCheck(session, procedure, instr).run();
  const auto& diagnostics = session.context.diagnostics;
  const bool errors =
      std::any_of(diagnostics.begin() + static_cast<std::ptrdiff_t>(before), diagnostics.end(),
                  [](const auto& d) { return d.severity == semantics::Severity::error; });
  return !errors && session.context.facts.unknown_reason == unknown_before;
}

}  // namespace bounds

void check_bounds(PassContext& context) {
  smt::Prover prover({}, context.solver_seconds);
  bounds::ConfigState config(context.program, prover);
  bounds::Reporter reporter(context, prover);
  bounds::CalleeMemo callees;
  bounds::Session session{context, prover, config, reporter, callees, 0, 0};
  bounds::check_procedure(session, context.procedure, nullptr);
}

}  // namespace exocheck::analysis
