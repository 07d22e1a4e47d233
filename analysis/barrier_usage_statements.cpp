// Rules about one Arrive, Await or trailing barrier (language.md 10.3, 10.4).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/barrier_usage.hpp"
#include "analysis/buffers.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::Dialect;

class StatementRules {
 public:
  explicit StatementRules(BarrierReporter& out) : out_(out), procedure_(out.procedure) {}

  void visit(const ir::Stmt& s) {
    if (const auto* arrive = std::get_if<ir::Arrive>(&s.node)) this->arrive(s, *arrive);
    if (const auto* await = std::get_if<ir::Await>(&s.node)) this->await(s, *await);
    if (const auto* call = std::get_if<ir::Call>(&s.node); call != nullptr && call->trailing) {
      expression(*call->trailing);
    }
  }

 private:
  // E-U03, E-U04.
  bool expression(const ir::BarrierExpr& e) {
    const ir::Symbol& symbol = procedure_.symbol(e.var);
    if (symbol.kind != ir::SymbolKind::barrier || !symbol.mechanism) {
      out_.report("E-U03", e.var, e.span,
                  fmt::format("`{}` is {}, but a barrier is required here", symbol.name, describe(symbol)));
      return false;
    }
    if (e.index.size() != symbol.shape.size()) {
      out_.report("E-U04", e.var, e.span,
                  fmt::format("the barrier `{}` is used with {} {}, expected {} {}", symbol.name,
                              e.index.size(), e.index.size() == 1 ? "index" : "indices", symbol.shape.size(),
                              symbol.shape.size() == 1 ? "index" : "indices"));
      return false;
    }
    return true;
  }

  static std::string describe(const ir::Symbol& symbol) {
    if (symbol.control()) return "a control variable";
    return fmt::format("a {} of type {}", symbol.rank() == 0 ? "scalar" : "tensor",
                       semantics::name(symbol.precision));
  }

  void arrive(const ir::Stmt& s, const ir::Arrive& a) {
    if (a.targets.empty()) {
      out_.context.diagnostics.push_back(
          semantics::make_diagnostic("E-U01", procedure_.location(s.span),
                                     "the Arrive names no barrier; write `Arrive(tl, 1) >> z[..]`"));
      return;
    }
    const ir::SymId var = a.targets.front().var;
    for (const ir::BarrierExpr& t : a.targets) {
      if (!expression(t)) return;
    }
    if (a.count != 1) {
      out_.report("E-U02", var, s.span, fmt::format("Arrive has N={}, but must have N=1", a.count));
      return;
    }
    if (std::any_of(a.targets.begin(), a.targets.end(), [var](const auto& t) { return t.var != var; })) {
      std::vector<std::string> names;
      for (const ir::BarrierExpr& t : a.targets) {
        if (std::find(names.begin(), names.end(), out_.name(t.var)) == names.end())
          names.push_back(out_.name(t.var));
      }
      out_.report(
          "E-U05", var, s.span,
          fmt::format(
              "one Arrive signals elements of one barrier variable, but this one names different barrier "
              "variables: {}",
              fmt::join(names, ", ")));
      return;
    }
    multicast(s, a, var);
    home(s, a, var);
  }

  // E-U09.
  void multicast(const ir::Stmt& s, const ir::Arrive& a, ir::SymId var) {
    const semantics::MechanismType& mechanism = *procedure_.symbol(var).mechanism;
    if (mechanism.mbarrier() || mechanism.kind == semantics::MechanismKind::CudaEvent) return;
    for (const ir::BarrierExpr& t : a.targets) {
      if (std::any_of(t.index.begin(), t.index.end(), [](const ir::Access& i) { return i.interval(); })) {
        out_.report("E-U09", var, s.span,
                    fmt::format("unsupported multicast: `{}` is a {}, whose Arrive takes no intervals",
                                out_.name(var), mechanism.text()));
        return;
      }
    }
  }

  // The home barrier (E-U06, E-U07).
  void home(const ir::Stmt& s, const ir::Arrive& a, ir::SymId var) {
    for (std::size_t i = 0; i < procedure_.symbol(var).shape.size(); ++i) {
      const ir::Expr* point = nullptr;
      for (const ir::BarrierExpr& t : a.targets) {
        if (t.index[i].interval()) continue;
        if (point == nullptr) {
          point = t.index[i].lo.get();
        } else if (!ir::same(*point, *t.index[i].lo)) {
          out_.report(
              "E-U07", var, s.span,
              fmt::format("mismatch: index {} of `{}` is `{}` in one expression of this Arrive and `{}` in "
                          "another; all points of one position must be equal",
                          i, out_.name(var), expression_text(procedure_, *point),
                          expression_text(procedure_, *t.index[i].lo)));
          return;
        }
      }
      if (point == nullptr) {
        out_.report(
            "E-U06", var, s.span,
            fmt::format(
                "every expression of this Arrive has an interval at index {} of `{}`; some expression "
                "needs a point there, not an interval, so that the home barrier is known",
                i, out_.name(var)));
        return;
      }
    }
  }

  void await(const ir::Stmt& s, const ir::Await& a) {
    if (!expression(a.barrier)) return;
    const ir::SymId var = a.barrier.var;
    for (const ir::Access& i : a.barrier.index) {
      if (!i.interval()) continue;
      out_.report(
          "E-U08", var, s.span,
          fmt::format(
              "the Await of `{}` has an interval; multicast is for Arrive, an Await waits for one element",
              out_.name(var)));
      return;
    }
    if (const auto rule = broken_n(*procedure_.symbol(var).mechanism, a)) {
      out_.report("E-U15", var, s.span,
                  a.n_given ? fmt::format("the Await of `{}` has N={}, but a {} {}", out_.name(var),
                                          n_text(a.n), procedure_.symbol(var).mechanism->text(), *rule)
                            : fmt::format("the Await of `{}` has no N, but a {} {}; write ~lag",
                                          out_.name(var), procedure_.symbol(var).mechanism->text(), *rule));
    }
  }

  static std::string n_text(std::int64_t n) {
    return n < 0 ? fmt::format("~{}", -(n + 1)) : fmt::format("{}", n);
  }

  // What the mechanism requires of N, if N breaks it (language.md 10.1, decisions.md L7).
  std::optional<std::string> broken_n(const semantics::MechanismType& mechanism, const ir::Await& a) const {
    if (mechanism.kind == semantics::MechanismKind::CudaEvent) return std::nullopt;
    if (mechanism.commit_group()) {
      return a.n >= 0 ? std::nullopt : std::optional<std::string>("requires N >= 0");
    }
    if (mechanism.mbarrier() && procedure_.dialect == Dialect::P) {
      return a.n < 0 ? std::nullopt : std::optional<std::string>("requires N < 0, that is ~lag");
    }
    return a.n == 0 ? std::nullopt : std::optional<std::string>("requires N = 0");
  }

  BarrierReporter& out_;
  const ir::Procedure& procedure_;
};

}  // namespace

void check_barrier_statements(BarrierReporter& out) {
  StatementRules rules(out);
  ir::for_each_stmt(out.procedure.body, [&rules](const ir::Stmt& s) { rules.visit(s); });
}

}  // namespace exocheck::analysis
