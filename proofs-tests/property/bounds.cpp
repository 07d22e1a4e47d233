// Bounds obligations against brute force on random affine programs. The interpreter below knows the language
// (loops, branches, windows, calls) and nothing of terms, assumptions or solvers. For every program:
//   * a fault that some small size shows is reported statically, with its code, at its statement;
//   * every static report is a true one: its counterexample, executed, shows the fault;
//   * nothing stays undecided.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck;
namespace ir = exocheck::semantics::ir;
using ir::SymId;

namespace {

using Fault = std::pair<std::string, std::uint32_t>;  // code, start of the statement's span

// ------------------------------------------------------------------------------------------------ random
// programs

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  ir::Program program() {
    ir::Program out;
    out.procedures.push_back(callee());
    out.procedures.push_back(caller());
    return out;
  }

 private:
  struct Scope {
    std::vector<SymId> control, data;
  };

  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <class T>
  const T& any(const std::vector<T>& v) {
    return v[static_cast<std::size_t>(pick(0, static_cast<int>(v.size()) - 1))];
  }

  semantics::Span next_span() {
    span_ += 10;
    return {span_, span_ + 5};
  }

  SymId symbol(ir::Procedure& p, ir::SymbolKind kind, std::string name, std::vector<ir::ExprPtr> shape = {}) {
    ir::Symbol s;
    s.kind = kind;
    s.name = std::move(name);
    s.shape = std::move(shape);
    p.symbols.push_back(std::move(s));
    return SymId{static_cast<std::uint32_t>(p.symbols.size() - 1)};
  }

  static ir::ExprPtr read(SymId var, std::vector<ir::Access> index, semantics::Span span = {}) {
    return std::make_shared<const ir::Expr>(ir::Expr{
        {}, span, {ir::TypeKind::data, semantics::Precision::f32, 0}, ir::Read{var, std::move(index)}});
  }
  static ir::ExprPtr op(ir::BinaryOp o, ir::ExprPtr a, ir::ExprPtr b) {
    const bool control = o <= ir::BinaryOp::mod;
    return ir::binary(o, std::move(a), std::move(b), control ? ir::TypeKind::index : ir::TypeKind::boolean);
  }

  ir::ExprPtr affine(const Scope& scope, int depth = 2) {
    switch (depth == 0 ? pick(0, 3) : pick(0, 9)) {
      case 0:
        return ir::int_const(pick(-1, 4));
      case 1:
      case 2:
      case 3:
      case 4:
        return ir::var_ref(any(scope.control));
      case 5:
      case 6:
        return op(ir::BinaryOp::add, affine(scope, depth - 1), affine(scope, depth - 1));
      case 7:
        return op(chance(50) ? ir::BinaryOp::sub : ir::BinaryOp::add, affine(scope, depth - 1),
                  ir::int_const(pick(1, 2)));
      case 8:
        return op(ir::BinaryOp::mul, ir::int_const(pick(-1, 3)), affine(scope, depth - 1));
      default:
        return op(chance(50) ? ir::BinaryOp::div : ir::BinaryOp::mod, affine(scope, depth - 1),
                  ir::int_const(pick(1, 3)));
    }
  }

  ir::ExprPtr condition(const Scope& scope) {
    const ir::BinaryOp ops[] = {ir::BinaryOp::lt, ir::BinaryOp::le, ir::BinaryOp::gt,
                                ir::BinaryOp::ge, ir::BinaryOp::eq, ir::BinaryOp::ne};
    ir::ExprPtr c = op(ops[pick(0, 5)], affine(scope), affine(scope));
    if (chance(25))
      c = op(chance(70) ? ir::BinaryOp::logical_and : ir::BinaryOp::logical_or, c, condition(scope));
    return c;
  }

  // An index, or one together with the guard that keeps it in range.
  std::vector<ir::Access> subscripts(const ir::Procedure& p, SymId var, const Scope& scope,
                                     ir::ExprPtr& guard) {
    std::vector<ir::Access> index;
    for (const ir::ExprPtr& n : p.symbol(var).shape) {
      ir::ExprPtr e = affine(scope, 1);
      if (chance(55)) {
        // Now and then off by one.
        ir::ExprPtr inside = op(chance(88) ? ir::BinaryOp::lt : ir::BinaryOp::le, e, n);
        if (chance(85))
          inside = op(ir::BinaryOp::logical_and, op(ir::BinaryOp::le, ir::int_const(0), e), inside);
        guard = guard ? op(ir::BinaryOp::logical_and, guard, inside) : inside;
      }
      index.push_back({e, nullptr});
    }
    return index;
  }

  ir::Stmt statement(decltype(ir::Stmt::node) node) {
    return {ir::StmtId{statements_++}, next_span(), std::move(node)};
  }

  ir::Stmt guarded(ir::ExprPtr guard, ir::Stmt s) {
    if (!guard) return s;
    ir::If branch;
    branch.condition = std::move(guard);
    branch.then_body.push_back(std::move(s));
    return statement(std::move(branch));
  }

  // A window argument or statement on `var`: an interval per dimension, or a position.
  std::vector<ir::Access> cut(const ir::Procedure& p, SymId var, const Scope& scope, int intervals) {
    std::vector<ir::Access> index;
    const auto rank = static_cast<int>(p.symbol(var).shape.size());
    for (int k = 0; k < rank; ++k) {
      const bool interval = rank - k <= intervals || (intervals > 0 && chance(50));
      ir::ExprPtr lo = chance(40) ? ir::int_const(0) : affine(scope, 1);
      if (!interval) {
        index.push_back({lo, nullptr});
        continue;
      }
      --intervals;
      ir::ExprPtr hi =
          chance(50) ? p.symbol(var).shape[static_cast<std::size_t>(k)]
                     : op(ir::BinaryOp::add, lo, chance(50) ? ir::int_const(pick(1, 3)) : affine(scope, 0));
      index.push_back({lo, hi});
    }
    return index;
  }

  void block(ir::Procedure& p, ir::Block& out, Scope scope, int depth, bool calls) {
    for (int k = pick(1, depth > 1 ? 3 : 2); k > 0; --k) {
      switch (depth == 0 ? pick(5, 9) : pick(0, 11)) {
        case 0:
        case 1:
        case 2: {
          ir::For loop;
          loop.lo = chance(80) ? ir::int_const(0) : affine(scope, 0);
          loop.hi = chance(50) ? affine(scope, 1) : ir::var_ref(scope.control.front());
          loop.iter = symbol(p, ir::SymbolKind::iterator, "i" + std::to_string(p.symbols.size()));
          Scope inner = scope;
          inner.control.push_back(loop.iter);
          block(p, loop.body, inner, depth - 1, calls);
          out.push_back(statement(std::move(loop)));
          break;
        }
        case 3:
        case 4: {
          ir::If branch;
          branch.condition = condition(scope);
          block(p, branch.then_body, scope, depth - 1, calls);
          if (chance(40)) block(p, branch.else_body, scope, depth - 1, calls);
          out.push_back(statement(std::move(branch)));
          break;
        }
        case 5:
        case 6:
        case 7: {
          ir::ExprPtr guard;
          ir::Assign assign;
          assign.target = chance(30) ? scope.data.back() : any(scope.data);
          for (ir::Access& a : subscripts(p, assign.target, scope, guard)) assign.index.push_back(a.lo);
          const SymId source = any(scope.data);
          assign.value = read(source, subscripts(p, source, scope, guard));
          assign.reduce = chance(30);
          out.push_back(guarded(guard, statement(std::move(assign))));
          break;
        }
        case 8: {
          std::vector<SymId> tensors;
          for (const SymId d : scope.data) {
            if (!p.symbol(d).shape.empty()) tensors.push_back(d);
          }
          if (tensors.empty()) break;
          ir::WindowStmt window;
          window.base = any(tensors);
          window.index = cut(p, window.base, scope, 1);
          std::vector<ir::ExprPtr> shape;
          for (const ir::Access& a : window.index) {
            if (a.interval()) shape.push_back(op(ir::BinaryOp::sub, a.hi, a.lo));
          }
          window.result = symbol(p, ir::SymbolKind::window, "w" + std::to_string(p.symbols.size()), shape);
          scope.data.push_back(window.result);
          out.push_back(statement(std::move(window)));
          break;
        }
        case 9: {
          std::vector<ir::ExprPtr> shape{affine(scope, 1)};
          if (chance(30)) shape.push_back(ir::int_const(pick(1, 3)));
          ir::Alloc alloc{symbol(p, ir::SymbolKind::data, "x" + std::to_string(p.symbols.size()), shape)};
          scope.data.push_back(alloc.var);
          out.push_back(statement(alloc));
          break;
        }
        default: {
          if (!calls) break;
          ir::Call call;
          call.procedure = 0;
          const SymId data = any(scope.data);
          if (p.symbol(data).shape.empty()) break;
          auto index = cut(p, data, scope, 1);
          std::optional<ir::Access> interval;
          int intervals = 0;
          for (const ir::Access& a : index) {
            if (a.interval()) {
              interval = a;
              ++intervals;
            }
          }
          if (intervals != 1) break;
          // Mostly the right size, so that the calls get as far as their accesses.
          ir::ExprPtr k_actual =
              chance(80) ? op(ir::BinaryOp::sub, interval->hi, interval->lo) : affine(scope, 1);
          ir::Stmt s = statement(std::move(call));
          auto& c = std::get<ir::Call>(s.node);
          c.arguments = {k_actual, affine(scope, 1), read(data, std::move(index), s.span)};
          ir::ExprPtr guard;
          if (chance(50)) guard = op(ir::BinaryOp::lt, ir::int_const(0), k_actual);
          out.push_back(guarded(guard, std::move(s)));
          break;
        }
      }
    }
  }

  // f(k: size, c: index, w: [f32][k])
  ir::Procedure callee() {
    statements_ = 0;
    ir::Procedure p;
    p.name = "f";
    const SymId k = symbol(p, ir::SymbolKind::size, "k");
    const SymId c = symbol(p, ir::SymbolKind::index, "c");
    const SymId w = symbol(p, ir::SymbolKind::window, "w", {ir::var_ref(k)});
    p.parameters = {k, c, w};
    if (chance(30)) {
      p.assertions.push_back({op(ir::BinaryOp::le, ir::int_const(0), ir::var_ref(c)), next_span()});
    }
    block(p, p.body, {{k, c}, {w}}, 2, false);
    return p;
  }

  // g(n: size, m: size, d: index, a: f32[n], b: f32[n, m], e: f32[..])
  ir::Procedure caller() {
    statements_ = 0;
    ir::Procedure p;
    p.name = "g";
    const SymId n = symbol(p, ir::SymbolKind::size, "n");
    const SymId m = symbol(p, ir::SymbolKind::size, "m");
    const SymId d = symbol(p, ir::SymbolKind::index, "d");
    const Scope sizes{{n, m}, {}};
    const SymId a = symbol(p, ir::SymbolKind::data, "a", {ir::var_ref(n)});
    const SymId b = symbol(p, ir::SymbolKind::data, "b", {ir::var_ref(n), ir::var_ref(m)});
    const SymId e = symbol(p, ir::SymbolKind::data, "e", {affine(sizes, 1)});
    for (const SymId s : {a, b, e}) p.symbols[index(s)].span = next_span();
    p.parameters = {n, m, d, a, b, e};
    if (chance(50)) p.assertions.push_back({condition({{n, m, d}, {}}), next_span()});
    block(p, p.body, {{n, m, d}, {a, b, e}}, 3, true);
    return p;
  }

  std::mt19937 random_;
  std::uint32_t span_ = 0;
  std::uint32_t statements_ = 0;
};

// ------------------------------------------------------------------------------------------------ brute
// force

class Interpreter {
 public:
  explicit Interpreter(const ir::Program& program) : program_(program) {}

  // Faults of one run of the last procedure; false if the assertions do not hold.
  bool run(std::int64_t n, std::int64_t m, std::int64_t d, std::set<Fault>& faults) {
    const ir::Procedure& p = program_.procedures.back();
    faults_ = &faults;
    steps_ = 0;
    Frame frame{p, ir::Environment(p.symbols.size()), std::vector<View>(p.symbols.size())};
    frame.control.set(p.parameters[0], n);
    frame.control.set(p.parameters[1], m);
    frame.control.set(p.parameters[2], d);
    for (const ir::Assertion& a : p.assertions) {
      if (ir::evaluate(*a.condition, frame.control) == 0) return false;
    }
    for (std::size_t i = 3; i < p.parameters.size(); ++i)
      declare(frame, p.parameters[i], p.symbol(p.parameters[i]).span.begin);
    block(frame, p.body, std::nullopt);
    return true;
  }
  bool complete() const { return steps_ < max_steps; }

 private:
  static constexpr int max_steps = 30'000;

  struct View {
    std::vector<std::int64_t> base;                                          // extents of the buffer
    std::vector<std::pair<std::int64_t, std::optional<std::int64_t>>> dims;  // offset, extent
    bool window = false;
    bool foreign = true;  // false: allocated inside a callee
  };
  struct Frame {
    const ir::Procedure& procedure;
    ir::Environment control;
    std::vector<View> data;
  };

  void fault(const char* code, std::uint32_t place) { faults_->insert({code, place}); }

  void declare(Frame& f, SymId var, std::uint32_t place, bool report = true) {
    View& v = f.data[index(var)];
    v = View{};
    v.foreign = report;
    for (const ir::ExprPtr& e : f.procedure.symbol(var).shape) {
      const std::int64_t n = ir::evaluate(*e, f.control);
      if (n <= 0 && report) fault("E-B03", place);
      v.base.push_back(n);
      v.dims.emplace_back(0, n);
    }
  }

  View cut(const Frame& f, SymId var, const std::vector<ir::Access>& index_list) {
    View v = f.data[index(var)];
    v.window = false;
    std::size_t next = 0;
    for (auto& [offset, extent] : v.dims) {
      if (!extent) continue;
      const ir::Access& a = index_list[next++];
      const std::int64_t lo = ir::evaluate(*a.lo, f.control);
      extent = a.interval() ? std::optional(ir::evaluate(*a.hi, f.control) - lo) : std::nullopt;
      offset += lo;
    }
    return v;
  }

  void access(const Frame& f, SymId var, const std::vector<ir::Access>& index_list, std::uint32_t place,
              bool callee) {
    const View& outer = f.data[index(var)];
    if (callee && !outer.foreign) return;
    const View element = cut(f, var, index_list);
    for (std::size_t k = 0; k < element.dims.size(); ++k) {
      const std::int64_t i = element.dims[k].first;
      if (i < 0 || i >= element.base[k]) {
        fault("E-B04", place);
      } else if (outer.window && !callee && outer.dims[k].second) {
        const std::int64_t lo = outer.dims[k].first;
        if (i < lo || i >= lo + *outer.dims[k].second) fault("E-B09", place);
      }
    }
  }

  // `site`: inside a callee, the place of the call.
  void block(Frame& f, const ir::Block& b, std::optional<std::uint32_t> site) {
    for (const ir::Stmt& s : b) statement(f, s, site);
  }

  void statement(Frame& f, const ir::Stmt& s, std::optional<std::uint32_t> site) {
    if (++steps_ >= max_steps) return;
    const std::uint32_t place = site.value_or(s.span.begin);
    std::visit(
        ir::overloaded{
            [&](const ir::Assign& x) {
              std::vector<ir::Access> index_list;
              for (const ir::ExprPtr& e : x.index) index_list.push_back({e, nullptr});
              access(f, x.target, index_list, place, site.has_value());
              const auto& r = std::get<ir::Read>(x.value->node);
              access(f, r.var, r.index, place, site.has_value());
            },
            [&](const ir::Alloc& x) { declare(f, x.var, place, !site); },
            [&](const ir::WindowStmt& x) {
              const View& outer = f.data[index(x.base)];
              View v = cut(f, x.base, x.index);
              v.window = true;
              for (std::size_t k = 0; !site && k < v.dims.size(); ++k) {
                if (!outer.dims[k].second) continue;
                const auto& [offset, extent] = v.dims[k];
                const auto& [from, length] = outer.dims[k];
                if (offset < from || (extent ? offset + *extent > from + *length : offset >= from + *length))
                  fault("E-B08", place);
              }
              f.data[index(x.result)] = v;
            },
            [&](const ir::For& x) {
              const std::int64_t lo = ir::evaluate(*x.lo, f.control);
              const std::int64_t hi = ir::evaluate(*x.hi, f.control);
              if (hi < lo && !site) fault("E-B02", place);
              for (std::int64_t i = lo; i < hi && steps_ < max_steps; ++i) {
                f.control.set(x.iter, i);
                block(f, x.body, site);
              }
            },
            [&](const ir::If& x) {
              block(f, ir::evaluate(*x.condition, f.control) != 0 ? x.then_body : x.else_body, site);
            },
            [&](const ir::Call& x) { call(f, x, place); },
            [](const auto&) { FAIL("statement the generator does not make"); },
        },
        s.node);
  }

  void call(const Frame& f, const ir::Call& c, std::uint32_t place) {
    const ir::Procedure& p = program_.procedures[*c.procedure];
    Frame inner{p, ir::Environment(p.symbols.size()), std::vector<View>(p.symbols.size())};
    const std::int64_t k = ir::evaluate(*c.arguments[0], f.control);
    inner.control.set(p.parameters[0], k);
    inner.control.set(p.parameters[1], ir::evaluate(*c.arguments[1], f.control));
    const auto& r = std::get<ir::Read>(c.arguments[2]->node);
    View v = cut(f, r.var, r.index);
    // Preconditions are stated for positive sizes, accesses for calls that keep everything else.
    if (k <= 0) return fault("E-B05", place);
    bool shapes_agree = true;
    for (const auto& [offset, extent] : v.dims) shapes_agree = shapes_agree && (!extent || *extent == k);
    if (!shapes_agree) fault("E-B06", place);
    for (const ir::Assertion& a : p.assertions) {
      if (ir::evaluate(*a.condition, inner.control) == 0) return fault("E-B07", place);
    }
    if (!shapes_agree) return;
    v.foreign = true;
    inner.data[index(p.parameters[2])] = v;
    block(inner, p.body, place);
  }

  const ir::Program& program_;
  std::set<Fault>* faults_ = nullptr;
  int steps_ = 0;
};

std::string describe(const analysis::Diagnostics& diagnostics) {
  std::string out;
  for (const auto& d : diagnostics) {
    out +=
        std::string(d.rule->code) + " at " + std::to_string(d.location.span.begin) + ": " + d.message + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("static bounds and brute force agree on random programs") {
  int clean = 0, faulty = 0, contradictory = 0, obligations = 0, solver = 0;
  std::map<std::string, int> seen;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    const ir::Program program = Generator(seed).program();
    const ir::Procedure& procedure = program.procedures.back();
    analysis::Facts facts;
    analysis::Diagnostics diagnostics;
    analysis::PassContext context{procedure, program, analysis::Mode::standard, facts, diagnostics};
    check_bounds(context);

    INFO("seed " << seed << "\n" << describe(diagnostics));
    REQUIRE_FALSE(facts.unknown_reason);
    std::set<Fault> reported;
    for (const auto& d : diagnostics) reported.insert({std::string(d.rule->code), d.location.span.begin});
    obligations += static_cast<int>(facts.obligations.size());
    for (const auto& o : facts.obligations) solver += o.solver;
    for (const auto& [code, place] : reported) ++seen[code];

    Interpreter interpreter(program);
    std::set<Fault> executed;
    bool any_run = false;
    for (std::int64_t n = 1; n <= 4; ++n) {
      for (std::int64_t m = 1; m <= 3; ++m) {
        for (std::int64_t d = -2; d <= 3; ++d) any_run = interpreter.run(n, m, d, executed) || any_run;
      }
    }
    for (const Fault& f : reported) REQUIRE_FALSE((f.first == "E-B01" && any_run));
    // Every executed fault is reported. A call whose arguments fail on some path is not looked into.
    for (const Fault& f : executed) {
      const bool covered =
          reported.contains(f) || (f.first == "E-B09" && reported.contains({"E-B04", f.second})) ||
          (f.first == "E-B04" &&
           (reported.contains({"E-B05", f.second}) || reported.contains({"E-B06", f.second})));
      INFO(f.first << " at " << f.second << " happens but is not reported");
      REQUIRE(covered);
    }
    // Every refuted obligation has a counterexample that happens.
    for (const auto& o : facts.obligations) {
      if (o.status != analysis::Obligation::Status::refuted) continue;
      if (o.code == "E-B01") {
        ++contradictory;
        continue;
      }
      std::map<std::string, std::int64_t> values{{"n", 1}, {"m", 1}, {"d", 0}};
      bool small = true;
      for (const auto& [variable, value] : o.counterexample) {
        if (values.contains(variable.name)) values[variable.name] = value;
        small = small && value > -60 && value < 60;
      }
      std::set<Fault> here;
      if (!small || !interpreter.run(values["n"], values["m"], values["d"], here) || !interpreter.complete())
        continue;
      INFO(o.code << " at " << o.location.span.begin << ": " << o.meaning
                  << " is refuted by n=" << values["n"] << " m=" << values["m"] << " d=" << values["d"]
                  << ", which does not show it");
      // The interpreter does not look into a call whose arguments or preconditions fail.
      const auto happens = [&](const char* code) { return here.contains({code, o.location.span.begin}); };
      const bool stopped_before =
          o.code == std::string_view("E-B04") && (happens("E-B05") || happens("E-B06") || happens("E-B07"));
      REQUIRE((here.contains({std::string(o.code), o.location.span.begin}) || stopped_before));
    }
    reported.empty() ? ++clean : ++faulty;
  }
  INFO("clean " << clean << ", faulty " << faulty << ", obligations " << obligations << ", solver "
                << solver);
  for (const auto& [code, count] : seen) UNSCOPED_INFO(code << " " << count);
  CHECK(clean > 40);
  CHECK(faulty > 300);
  for (const char* code : {"E-B01", "E-B02", "E-B03", "E-B04", "E-B05", "E-B06", "E-B07", "E-B08", "E-B09"}) {
    INFO(code);
    CHECK(seen[code] > 0);
  }
  WARN("clean " << clean << ", faulty " << faulty << ", contradictory " << contradictory << ", obligations "
                << obligations << ", decided by the solver " << solver);
}
