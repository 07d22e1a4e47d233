#include "analysis/bounds_calls.hpp"

#include <fmt/format.h>

#include "semantics/ir_util.hpp"

namespace exocheck::analysis::bounds {

namespace ir = semantics::ir;
using smt::Assumptions;
using smt::Sort;
using smt::Term;

namespace {

const ir::Procedure& callee_of(const ir::Call& call, const ir::Program& program) {
  return call.instr ? call.instr->behaviour : program.procedures[*call.procedure];
}

// The condition in the callee's own names, for messages.
std::string formal_text(const ir::Expr& e, const ir::Procedure& procedure) {
  const auto named = [](std::string name, std::size_t id, Sort sort) {
    return std::optional<Term>(
        smt::variable({static_cast<std::uint32_t>(id), sort, smt::VariableRole::index, std::move(name)}));
  };
  const smt::Bindings names{
      [&](ir::SymId var) {
        const ir::Symbol& s = procedure.symbol(var);
        return named(s.name, index(var), s.kind == ir::SymbolKind::boolean ? Sort::boolean : Sort::integer);
      },
      [&](ir::SymId var, int dim) {
        return named(fmt::format("stride({}, {})", procedure.symbol(var).name, dim), procedure.symbols.size(),
                     Sort::integer);
      },
      [](const ir::ConfigRead& c) {
        return std::optional<Term>(
            smt::variable({0, Sort::integer, smt::VariableRole::config, c.config + "." + c.field}));
      }};
  const auto t = smt::translate(e, names);
  return t.term ? text(*t.term) : "a condition";
}

}  // namespace

CallCheck::CallCheck(Session& session, const Frame& caller, const ir::Stmt& stmt, const ir::Call& call,
                     const Assumptions& gamma)
    : session_(session),
      caller_(caller),
      stmt_(stmt),
      call_(call),
      callee_(callee_of(call, session.context.program)),
      gamma_(gamma),
      formals_(callee_, session.prover, session.config, callee_.name) {}

Claim CallCheck::claim(std::string_view code, const std::string& variable, int dimension) const {
  Claim c;
  c.code = code;
  c.location = caller_.procedure().location(stmt_.span);
  c.place = stmt_.span.begin;
  c.variable = variable;
  c.dimension = dimension;
  return c;
}

void CallCheck::run(const std::vector<std::uint32_t>& cta_iterators) {
  if (call_.arguments.size() != callee_.parameters.size()) return;  // E-C02
  // Shapes and data may mention control parameters that stand behind them.
  for (const bool control : {true, false}) {
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      if (callee_.symbol(callee_.parameters[i]).control() != control) continue;
      control ? bind_control(i) : bind_data(i, cta_iterators);
    }
  }
  check_preconditions();
  if (shapes_hold_) check_accesses();
}

// O5.
void CallCheck::bind_control(std::size_t i) {
  const ir::SymId formal = callee_.parameters[i];
  const ir::Symbol& symbol = callee_.symbol(formal);
  const bool size = symbol.kind == ir::SymbolKind::size;
  Claim c = claim(size ? "E-B05" : "E-B07", symbol.name);
  c.meaning = size ? fmt::format("the argument for size parameter `{}` of `{}` is positive", symbol.name,
                                 callee_.name)
                   : fmt::format("the call of `{}` keeps its obligations", callee_.name);
  const auto actual = caller_.translate(
      *call_.arguments[i], symbol.kind == ir::SymbolKind::boolean ? Sort::boolean : Sort::integer);
  if (!actual.term) {
    session_.reporter.undecided(c, actual.unsupported);
    formals_.declare(formal);
    return;
  }
  formals_.bind(formal, *actual.term);
  if (!size) return;
  c.message = [&](const Numbers& numbers) {
    return fmt::format("the argument for size parameter `{}` of `{}` must be positive, but it is {}{}",
                       symbol.name, callee_.name, numbers.with_value(*actual.term), numbers.when());
  };
  const Term positive = lt(smt::integer(0), *actual.term);
  if (!session_.reporter.require(gamma_, positive, c)) shapes_hold_ = false;
  gamma_ = gamma_.with("size." + symbol.name, positive);
}

void CallCheck::bind_data(std::size_t i, const std::vector<std::uint32_t>& cta_iterators) {
  const ir::SymId formal = callee_.parameters[i];
  const ir::Symbol& symbol = callee_.symbol(formal);
  const auto* read = std::get_if<ir::Read>(&call_.arguments[i]->node);
  if (read == nullptr) {
    // A config field: a scalar without bounds.
    formals_.declare_data(formal, true, true);
    return;
  }
  Frame::Cut actual = caller_.cut(read->var, read->index);
  if (!actual.view) {
    Claim c = claim("E-B06", symbol.name);
    c.meaning = fmt::format("the argument for `{}` of `{}` has the right shape and stays in bounds",
                            symbol.name, callee_.name);
    session_.reporter.undecided(c, actual.unsupported);
    formals_.declare_data(formal, true, true);
    return;
  }
  View view = std::move(*actual.view);
  view.window.clear();
  if (call_.instr) view.unchecked = call_.instr->parameters[i].out_of_bounds;
  formals_.bind(formal, std::make_shared<const View>(view));
  check_shape(i, view);
  if (call_.instr && session_.reporter.mode() != Mode::paper_exact) {
    Claim c = claim("E-M18", caller_.procedure().symbol(read->var).name);
    check_swizzle_row(session_, *call_.instr, view, cta_iterators, gamma_, std::move(c));
  }
}

// O3 and O6.
void CallCheck::check_shape(std::size_t i, const View& actual) {
  const ir::Symbol& symbol = callee_.symbol(callee_.parameters[i]);
  const std::vector<std::size_t> intervals = actual.intervals();
  if (intervals.size() != symbol.shape.size()) {
    shapes_hold_ = false;  // E-C07
    return;
  }
  for (std::size_t j = 0; j < intervals.size(); ++j) {
    const Term have = *actual.dims[intervals[j]].extent;
    const auto wanted = formals_.translate(*symbol.shape[j], Sort::integer);
    Claim c = claim("E-B06", symbol.name, static_cast<int>(j));
    c.location = caller_.procedure().location(call_.arguments[i]->span);
    c.meaning = fmt::format("argument `{}` of `{}` has the extent of the parameter in dimension {}",
                            symbol.name, callee_.name, j);
    if (!wanted.term) {
      session_.reporter.undecided(c, wanted.unsupported);
      shapes_hold_ = false;
      continue;
    }
    c.message = [&](const Numbers& numbers) {
      return fmt::format(
          "the argument for `{}` of `{}` has extent {} in dimension {}, but the parameter's extent there is "
          "{}{}",
          symbol.name, callee_.name, numbers.with_value(have), j, numbers.with_value(*wanted.term),
          numbers.when());
    };
    if (!session_.reporter.require(gamma_, eq(have, *wanted.term), c)) {
      shapes_hold_ = false;
      continue;
    }
    Claim positive = c;
    positive.code = "E-B03";
    positive.meaning = fmt::format("the extent of argument `{}` of `{}` in dimension {} is positive",
                                   symbol.name, callee_.name, j);
    positive.message = [&](const Numbers& numbers) {
      return fmt::format(
          "the argument for `{}` of `{}` must have a positive extent in dimension {}, but it is {}{}",
          symbol.name, callee_.name, j, numbers.with_value(have), numbers.when());
    };
    session_.reporter.require(gamma_, lt(smt::integer(0), have), positive);
  }
}

// O7. What the callee may rely on is assumed afterwards, so that one fault is not reported twice.
void CallCheck::check_preconditions() {
  int number = 0;
  for (const ir::Assertion& a : callee_.assertions) {
    const auto condition = formals_.translate(*a.condition, Sort::boolean);
    Claim c = claim("E-B07", callee_.name, ++number);
    const std::string wanted = formal_text(*a.condition, callee_);
    c.meaning = fmt::format("precondition `{}` of `{}` holds", wanted, callee_.name);
    if (!condition.term) {
      session_.reporter.undecided(c, condition.unsupported);
      continue;
    }
    c.message = [&](const Numbers& numbers) {
      // The values of what the condition mentions, once each.
      std::vector<std::pair<std::string, Term>> here;
      const auto mention = [&here](std::string name, const Term& value) {
        for (const auto& entry : here) {
          if (entry.first == name) return;
        }
        here.emplace_back(std::move(name), value);
      };
      ir::for_each_subexpr(*a.condition, [&](const ir::Expr& e) {
        const auto* var = std::get_if<ir::VarRef>(&e.node);
        const auto* stride = std::get_if<ir::StrideOf>(&e.node);
        if (var == nullptr && stride == nullptr) return;
        const auto value = smt::Translation(
            formals_.translate(e, e.type.kind == ir::TypeKind::boolean ? Sort::boolean : Sort::integer));
        if (value.term) mention(formal_text(e, callee_), *value.term);
      });
      std::string values;
      for (const auto& [name, value] : here) {
        values +=
            fmt::format("{}{} is {}", values.empty() ? ": here " : ", ", name, numbers.with_value(value));
      }
      return fmt::format("the call of `{}` breaks its precondition `{}`{}{}", callee_.name, wanted, values,
                         numbers.when());
    };
    if (a.span.begin != a.span.end && callee_.source) {
      c.related = {{semantics::Role::context, "the precondition", callee_.location(a.span)}};
    }
    session_.reporter.require(gamma_, *condition.term, c);
    if (condition.term->is_false()) continue;  // assuming it would hide every other fault of the call
    gamma_ = gamma_.with("callee.pre." + std::to_string(number), *condition.term);
  }
}

// O8. The callee's accesses stay inside its parameters (its own obligations), so only arguments that may
// leave their base make it necessary to look into the callee.
void CallCheck::check_accesses() {
  bool inside = true;
  for (std::size_t i = 0; i < callee_.parameters.size(); ++i) {
    const ir::SymId formal = callee_.parameters[i];
    const ViewPtr& view = callee_.symbol(formal).control() ? nullptr : formals_.view(formal);
    if (!view || view->unchecked) continue;
    for (std::size_t k = 0; k < view->dims.size(); ++k) {
      inside = inside && session_.prover.obvious(gamma_, in_range(view->dims[k], view->base->extents[k]));
    }
  }
  if (callee_keeps_its_obligations() && inside) return;
  if (session_.call_depth >= max_call_depth) {
    Claim c = claim("E-B04", callee_.name);
    c.meaning = fmt::format("the accesses of `{}` stay in bounds", callee_.name);
    session_.reporter.undecided(c, "calls are nested too deeply");
    return;
  }
  ++session_.call_depth;
  check_effects(session_, formals_, callee_.body, gamma_, claim("E-B04", ""), callee_.name);
  --session_.call_depth;
}

bool CallCheck::callee_keeps_its_obligations() {
  const auto found = session_.callees.find(&callee_);
  if (found != session_.callees.end()) return found->second;
  session_.callees[&callee_] = false;  // while the answer is open, and for a cycle that E-C01 reports
  if (session_.call_depth >= max_call_depth) return false;
  ++session_.call_depth;
  bool holds = false;
  if (call_.instr && !call_.instr->library) {
    // A user's instruction is checked nowhere else: its findings belong to the procedures that use it.
    holds = check_procedure(session_, callee_, call_.instr.get());
  } else {
    // A procedure reports its own findings; here only the answer counts.
    Facts facts;
    Diagnostics diagnostics;
    PassContext quiet{callee_, session_.context.program, session_.context.mode, facts, diagnostics};
    smt::Prover prover({}, 20);
    ConfigState config(session_.context.program, prover);
    Reporter reporter(quiet, prover);
    Session inner{quiet, prover, config, reporter, session_.callees, session_.call_depth, 0};
    holds = check_procedure(inner, callee_, call_.instr.get());
  }
  --session_.call_depth;
  session_.callees[&callee_] = holds;
  return holds;
}

}  // namespace exocheck::analysis::bounds
