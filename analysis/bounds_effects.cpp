// O8: the accesses of a callee's body under its loops and branches, with the actual windows in place of its
// parameters.
#include <fmt/format.h>

#include "analysis/bounds_walk.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis::bounds {

namespace ir = semantics::ir;
using smt::Assumptions;
using smt::Sort;
using smt::Term;

namespace {

class Effects {
 public:
  Effects(Session& session, Frame& frame, const Claim& site, std::string_view callee)
      : session_(session), frame_(frame), site_(site), callee_(callee) {}

  bool block(const ir::Block& block, const Assumptions& gamma) {
    bool holds = true;
    for (const ir::Stmt& s : block) {
      if (++session_.callee_statements > max_callee_statements) {
        Claim c = site_;
        c.meaning = fmt::format("the accesses of `{}` stay in bounds", callee_);
        session_.reporter.undecided(c, "the calls expand to too many statements");
        return false;
      }
      holds = statement(s, gamma) && holds;
    }
    return holds;
  }

 private:
  bool statement(const ir::Stmt& stmt, const Assumptions& gamma) {
    return std::visit(ir::overloaded{
                          [](const ir::Pass&) { return true; },
                          [](const ir::Fence&) { return true; },
                          [](const ir::Arrive&) { return true; },
                          [](const ir::Await&) { return true; },
                          [&](const ir::Assign& s) {
                            std::vector<ir::Access> index;
                            for (const ir::ExprPtr& e : s.index) index.push_back({e, nullptr});
                            const bool read = reads(*s.value, gamma);
                            return access(s.target, index, s.reduce ? "reduced" : "written", gamma) && read;
                          },
                          [&](const ir::ConfigWrite& s) {
                            const bool holds = reads(*s.value, gamma);
                            session_.config.forget();
                            return holds;
                          },
                          [&](const ir::Alloc& s) {
                            frame_.declare_data(s.var, true, true);
                            return true;
                          },
                          [&](const ir::WindowStmt& s) { return window(s); },
                          [&](const ir::Call& s) { return call(s, gamma); },
                          [&](const ir::For& s) { return loop(s, gamma); },
                          [&](const ir::If& s) { return branch(s, gamma); },
                          [&](const ir::DeviceFunction& s) { return block(s.body, gamma); },
                          [&](const ir::Warps& s) { return block(s.body, gamma); },
                      },
                      stmt.node);
  }

  bool loop(const ir::For& loop, const Assumptions& gamma) {
    const auto lo = frame_.translate(*loop.lo, Sort::integer);
    const auto hi = frame_.translate(*loop.hi, Sort::integer);
    const Term i = frame_.declare(loop.iter);
    Assumptions inner = gamma;
    if (lo.term && hi.term) {
      inner = gamma.with("loop." + i.variable().name, conj(le(*lo.term, i), lt(i, *hi.term)),
                         smt::Origin::range, i.variable().id);
    }
    const bool config = !session_.context.program.configs.empty() && writes_config(loop.body);
    if (config) session_.config.forget();
    const bool holds = block(loop.body, inner);
    if (config) session_.config.forget();
    return holds;
  }

  bool branch(const ir::If& branch, const Assumptions& gamma) {
    const auto condition = frame_.translate(*branch.condition, Sort::boolean);
    const Assumptions yes = condition.term ? gamma.with("guard", *condition.term, smt::Origin::guard) : gamma;
    const Assumptions no =
        condition.term ? gamma.with("guard", negate(*condition.term), smt::Origin::guard) : gamma;
    const bool then_holds = block(branch.then_body, yes);
    return block(branch.else_body, no) && then_holds;
  }

  bool window(const ir::WindowStmt& window) {
    Frame::Cut part = frame_.cut(window.base, window.index);
    const auto& memory = frame_.procedure().symbol(window.result).memory;
    if (!part.view) return true;  // an access through it is reported as undecided
    part.view->unchecked =
        part.view->unchecked || (memory && memory->is(semantics::MemoryKind::Sm90_tensorMap));
    frame_.bind(window.result, std::make_shared<const View>(std::move(*part.view)));
    return true;
  }

  // Shapes and preconditions inside the callee are its own business; only the accesses matter here.
  bool call(const ir::Call& call, const Assumptions& gamma) {
    const ir::Program& program = session_.context.program;
    const ir::Procedure& inner = call.instr ? call.instr->behaviour : program.procedures[*call.procedure];
    Claim nested = site_;
    nested.meaning = fmt::format("the accesses of `{}` stay in bounds", inner.name);
    if (session_.call_depth >= max_call_depth || call.arguments.size() != inner.parameters.size()) {
      session_.reporter.undecided(nested, "calls are nested too deeply");
      return false;
    }
    Frame formals(inner, session_.prover, session_.config, inner.name);
    for (std::size_t i = 0; i < inner.parameters.size(); ++i) {
      const ir::SymId formal = inner.parameters[i];
      const ir::Symbol& symbol = inner.symbol(formal);
      if (!symbol.control()) continue;
      const Sort sort = symbol.kind == ir::SymbolKind::boolean ? Sort::boolean : Sort::integer;
      const auto actual = frame_.translate(*call.arguments[i], sort);
      if (actual.term) {
        formals.bind(formal, *actual.term);
      } else {
        formals.declare(formal);
      }
    }
    for (std::size_t i = 0; i < inner.parameters.size(); ++i) {
      const ir::SymId formal = inner.parameters[i];
      if (inner.symbol(formal).control()) continue;
      const auto* read = std::get_if<ir::Read>(&call.arguments[i]->node);
      Frame::Cut actual = read != nullptr ? frame_.cut(read->var, read->index) : Frame::Cut{};
      if (!actual.view) {
        if (read != nullptr) session_.reporter.undecided(nested, actual.unsupported);
        formals.declare_data(formal, true, true);
        continue;
      }
      if (call.instr) actual.view->unchecked = call.instr->parameters[i].out_of_bounds;
      formals.bind(formal, std::make_shared<const View>(std::move(*actual.view)));
    }
    ++session_.call_depth;
    const bool holds = check_effects(session_, formals, inner.body, gamma, site_, callee_);
    --session_.call_depth;
    return holds;
  }

  bool reads(const ir::Expr& value, const Assumptions& gamma) {
    bool holds = true;
    ir::for_each_subexpr(value, [&](const ir::Expr& e) {
      const auto* read = std::get_if<ir::Read>(&e.node);
      if (read != nullptr) holds = access(read->var, read->index, "read", gamma) && holds;
    });
    return holds;
  }

  bool access(ir::SymId var, const std::vector<ir::Access>& index, const char* verb,
              const Assumptions& gamma) {
    const ViewPtr& outer = frame_.view(var);
    if (outer && (outer->unchecked || outer->base->callee_local)) return true;
    const Frame::Cut element = frame_.cut(var, index);
    if (!element.view) {
      Claim c = site_;
      c.variable = frame_.procedure().symbol(var).name;
      c.meaning = fmt::format("`{}` is {} in bounds in `{}`", c.variable, verb, callee_);
      session_.reporter.undecided(c, element.unsupported);
      return false;
    }
    const Base& base = *element.view->base;
    bool holds = true;
    for (std::size_t k = 0; k < base.extents.size(); ++k) {
      const View::Dim& dim = element.view->dims[k];
      const Term& n = base.extents[k];
      Claim c = site_;
      c.variable = base.name;
      c.dimension = static_cast<int>(k);
      c.meaning = fmt::format("index {} of `{}` in dimension {}, made by `{}`, lies in 0 <= index < {}",
                              text(dim.offset), base.name, k, callee_, text(n));
      c.message = [&](const Numbers& numbers) {
        return fmt::format(
            "`{}` is {} out of bounds by the call of `{}`: in dimension {} the index {} is not in {}{}",
            base.name, verb, callee_, k, numbers.with_value(dim.offset), range_text(numbers, n),
            numbers.when());
      };
      c.related = {declared_here(base)};
      holds = session_.reporter.require(gamma, in_range(dim, n), c) && holds;
    }
    return holds;
  }

  Session& session_;
  Frame& frame_;
  const Claim& site_;
  std::string_view callee_;
};

}  // namespace

bool check_effects(Session& session, Frame& frame, const ir::Block& body, const Assumptions& gamma,
                   const Claim& site, std::string_view callee) {
  return Effects(session, frame, site, callee).block(body, gamma);
}

}  // namespace exocheck::analysis::bounds
