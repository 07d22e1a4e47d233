#include "analysis/inline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::ensure;
using semantics::OverflowError;

// Calls may multiply: p calls q twice, q calls r twice, and so on.
constexpr std::uint32_t maximum_statements = 1'000'000;
constexpr std::uint32_t maximum_expressions = 10'000'000;
constexpr int maximum_depth = 200;

bool has_calls(const ir::Block& block) {
  bool found = false;
  ir::for_each_stmt(block, [&found](const ir::Stmt& s) {
    const auto* call = std::get_if<ir::Call>(&s.node);
    found = found || (call != nullptr && call->procedure);
  });
  return found;
}

[[noreturn]] void too_many(std::uint64_t maximum, const char* what) {
  throw OverflowError(fmt::format("inlining the procedure calls gives more than {} {}", maximum, what));
}

// Statements and calls of the expanded program, without making it: calls may double on every level.
class ExpandedSize {
 public:
  explicit ExpandedSize(const ir::Program& program) : program_(program), known_(program.procedures.size()) {}

  void require_bounded(const ir::Procedure& procedure) {
    if (of(procedure, 0) > maximum_statements) too_many(maximum_statements, "statements");
  }

 private:
  std::uint64_t of(const ir::Procedure& procedure, int depth) {
    if (depth > maximum_depth)
      throw OverflowError(fmt::format("procedure calls are nested more than {} deep", maximum_depth));
    std::uint64_t total = 0;
    ir::for_each_stmt(procedure.body, [&](const ir::Stmt& s) {
      ++total;
      const auto* call = std::get_if<ir::Call>(&s.node);
      if (call == nullptr || !call->procedure) return;
      std::optional<std::uint64_t>& size = known_[*call->procedure];
      if (!size) size = of(program_.procedures[*call->procedure], depth + 1);
      total = std::min<std::uint64_t>(total + *size, std::uint64_t{maximum_statements} + 1);
    });
    return total;
  }

  const ir::Program& program_;
  std::vector<std::optional<std::uint64_t>> known_;
};

// What stands for a callee's symbol in the caller: a symbol, or an expression over the caller's symbols
// (control formals, and scalar formals bound to a config field).
using Binding = std::variant<ir::SymId, ir::ExprPtr>;

// Copies one procedure body into the result, symbols translated.
class Copier {
 public:
  Copier(const ir::Program& program, ir::Procedure& result, const ir::Procedure& from, int depth)
      : program_(program), result_(result), from_(from), depth_(depth), bindings_(from.symbols.size()) {}

  void bind(ir::SymId formal, Binding binding) { bindings_[ir::index(formal)] = std::move(binding); }

  // Symbols without a binding get a fresh one.
  void create_symbols() {
    for (std::size_t i = 0; i < from_.symbols.size(); ++i) {
      if (bindings_[i]) continue;
      bindings_[i] = ir::SymId{static_cast<std::uint32_t>(result_.symbols.size())};
      result_.symbols.push_back(from_.symbols[i]);
      fresh_.push_back(i);
    }
    for (const std::size_t i : fresh_)
      translate_symbol(result_.symbols[ir::index(std::get<ir::SymId>(*bindings_[i]))]);
  }

  void block(const ir::Block& statements, ir::Block& out) {
    for (const ir::Stmt& s : statements) statement(s, out);
  }

  ir::ExprPtr expression(const ir::ExprPtr& e) {
    return std::visit(ir::overloaded{
                          [&](const ir::VarRef& x) -> ir::ExprPtr {
                            const Binding b = binding(x.var);
                            if (const auto* value = std::get_if<ir::ExprPtr>(&b)) return fresh_copy(*value);
                            return make(*e, ir::VarRef{std::get<ir::SymId>(b)});
                          },
                          [&](const ir::Read& x) -> ir::ExprPtr {
                            const Binding b = binding(x.var);
                            if (const auto* value = std::get_if<ir::ExprPtr>(&b)) return fresh_copy(*value);
                            return make(*e, ir::Read{std::get<ir::SymId>(b), accesses(x.index)});
                          },
                          [&](const ir::Binary& x) {
                            ir::ExprPtr left = expression(x.left);
                            return make(*e, ir::Binary{x.op, std::move(left), expression(x.right)});
                          },
                          [&](const ir::Unary& x) {
                            return make(*e, ir::Unary{x.op, expression(x.operand)});
                          },
                          [&](const ir::StrideOf& x) {
                            return make(*e, ir::StrideOf{symbol(x.var), x.dim});
                          },
                          [&](const ir::ExternCall& x) {
                            ir::ExternCall call{x.function, {}};
                            for (const ir::ExprPtr& a : x.arguments) call.arguments.push_back(expression(a));
                            return make(*e, std::move(call));
                          },
                          [&](const ir::IntConst& x) { return make(*e, x); },
                          [&](const ir::BoolConst& x) { return make(*e, x); },
                          [&](const ir::RealConst& x) { return make(*e, x); },
                          [&](const ir::ConfigRead& x) { return make(*e, x); },
                      },
                      e->node);
  }

 private:
  Binding binding(ir::SymId var) const {
    if (identity_) return var;
    ensure(bindings_[ir::index(var)].has_value(), "inlining: symbol without a binding");
    return *bindings_[ir::index(var)];
  }
  ir::SymId symbol(ir::SymId var) const { return std::get<ir::SymId>(binding(var)); }

  void translate_symbol(ir::Symbol& s) {
    s.parameter = s.parameter && depth_ == 0;
    for (ir::ExprPtr& e : s.shape) e = expression(e);
    if (s.guard) s.guard = symbol(*s.guard);
    if (s.ring_guard) s.ring_guard = symbol(*s.ring_guard);
  }

  template <class Node>
  ir::ExprPtr make(const ir::Expr& like, Node node) {
    if (result_.expression_count >= maximum_expressions) {
      too_many(maximum_expressions, "expressions");
    }
    return std::make_shared<const ir::Expr>(
        ir::Expr{ir::ExprId{result_.expression_count++}, like.span, like.type, std::move(node)});
  }

  // A copy of an expression over the result's symbols: an actual stands in several places of the callee, and
  // every place gets its own ids.
  ir::ExprPtr fresh_copy(const ir::ExprPtr& value) {
    const bool outer = std::exchange(identity_, true);
    ir::ExprPtr copy = expression(value);
    identity_ = outer;
    return copy;
  }

  std::vector<ir::Access> accesses(const std::vector<ir::Access>& from) {
    std::vector<ir::Access> out;
    out.reserve(from.size());
    for (const ir::Access& a : from) {
      ir::ExprPtr lo = expression(a.lo);
      out.push_back({std::move(lo), a.hi ? expression(a.hi) : nullptr});
    }
    return out;
  }

  ir::BarrierExpr barrier(const ir::BarrierExpr& b) { return {symbol(b.var), accesses(b.index), b.span}; }

  void statement(const ir::Stmt& s, ir::Block& out) {
    if (const auto* call = std::get_if<ir::Call>(&s.node); call != nullptr && call->procedure) {
      expand(*call, s.span, out);
      return;
    }
    // The id comes first: ids follow the program order.
    const ir::StmtId id = next_statement();
    out.push_back({id, s.span, node(s)});
  }

  ir::StmtId next_statement() {
    if (result_.statement_count >= maximum_statements) {
      too_many(maximum_statements, "statements");
    }
    return ir::StmtId{result_.statement_count++};
  }

  decltype(ir::Stmt::node) node(const ir::Stmt& s) {
    using Node = decltype(ir::Stmt::node);
    return std::visit(ir::overloaded{
                          [](const ir::Pass& x) -> Node { return x; },
                          [&](const ir::Assign& x) -> Node { return assignment(x); },
                          [&](const ir::ConfigWrite& x) -> Node {
                            return ir::ConfigWrite{x.config, x.field, expression(x.value)};
                          },
                          [&](const ir::Alloc& x) -> Node { return ir::Alloc{symbol(x.var)}; },
                          [&](const ir::WindowStmt& x) -> Node {
                            return ir::WindowStmt{symbol(x.result), symbol(x.base), accesses(x.index)};
                          },
                          [&](const ir::Call& x) -> Node {
                            ir::Call call{std::nullopt, x.instr, {}, std::nullopt};
                            for (const ir::ExprPtr& a : x.arguments) call.arguments.push_back(expression(a));
                            if (x.trailing) call.trailing = barrier(*x.trailing);
                            return call;
                          },
                          [&](const ir::For& x) -> Node {
                            ir::For loop{x.mode, symbol(x.iter), expression(x.lo), nullptr, x.unit, x.unroll,
                                         {}};
                            loop.hi = expression(x.hi);
                            block(x.body, loop.body);
                            return loop;
                          },
                          [&](const ir::If& x) -> Node {
                            ir::If branch{expression(x.condition), {}, {}};
                            block(x.then_body, branch.then_body);
                            block(x.else_body, branch.else_body);
                            return branch;
                          },
                          [&](const ir::DeviceFunction& x) -> Node {
                            ir::DeviceFunction f{x.config, {}};
                            block(x.body, f.body);
                            return f;
                          },
                          [&](const ir::Warps& x) -> Node {
                            ir::Warps w{x.lo, x.hi, x.name, {}};
                            block(x.body, w.body);
                            return w;
                          },
                          [](const ir::Fence& x) -> Node { return x; },
                          [&](const ir::Arrive& x) -> Node {
                            ir::Arrive a{x.first, x.count, {}};
                            for (const ir::BarrierExpr& t : x.targets) a.targets.push_back(barrier(t));
                            return a;
                          },
                          [&](const ir::Await& x) -> Node {
                            return ir::Await{barrier(x.barrier), x.second, x.n, x.n_given};
                          },
                      },
                      s.node);
  }

  decltype(ir::Stmt::node) assignment(const ir::Assign& x) {
    const Binding target = binding(x.target);
    ir::ExprPtr value = expression(x.value);
    if (const auto* field = std::get_if<ir::ExprPtr>(&target)) {
      // A scalar formal bound to a config field.
      const auto* config = std::get_if<ir::ConfigRead>(&(*field)->node);
      ensure(config != nullptr, "inlining: assignment to an expression");
      if (x.reduce)
        value = ir::binary(ir::BinaryOp::add, fresh_copy(*field), value, ir::TypeKind::data, value->span);
      return ir::ConfigWrite{config->config, config->field, value};
    }
    ir::Assign a{std::get<ir::SymId>(target), {}, std::move(value), x.reduce};
    for (const ir::ExprPtr& i : x.index) a.index.push_back(expression(i));
    return a;
  }

  // The callee's body in place of the call; window formals become window statements on the actuals.
  void expand(const ir::Call& call, semantics::Span span, ir::Block& out) {
    if (depth_ >= maximum_depth) {
      throw OverflowError(fmt::format("procedure calls are nested more than {} deep", maximum_depth));
    }
    const ir::Procedure& callee = program_.procedures[*call.procedure];
    // The inlined program is of dialect R as soon as a part of it is.
    if (callee.dialect == semantics::Dialect::R) result_.dialect = semantics::Dialect::R;
    Copier body(program_, result_, callee, depth_ + 1);
    std::vector<std::pair<ir::SymId, ir::ExprPtr>> windows;  // formal, actual
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
      const ir::SymId formal = callee.parameters[i];
      ir::ExprPtr actual = expression(call.arguments[i]);
      const auto* read = std::get_if<ir::Read>(&actual->node);
      if (callee.symbol(formal).control() || read == nullptr) {
        body.bind(formal, std::move(actual));
      } else if (callee.symbol(formal).kind == ir::SymbolKind::data && read->index.empty()) {
        // A scalar or a dense tensor, of the same shape (E-C09, E-B06).
        body.bind(formal, read->var);
      } else {
        windows.emplace_back(formal, std::move(actual));
      }
    }
    body.create_symbols();
    for (auto& [formal, actual] : windows) {
      const auto& read = std::get<ir::Read>(actual->node);
      const ir::SymId window = body.symbol(formal);
      ir::Symbol& symbol = result_.symbols[ir::index(window)];
      symbol.kind = ir::SymbolKind::window;
      // The memory is the actual's, which may derive from what the formal asks for.
      symbol.memory = result_.symbols[ir::index(read.var)].memory;
      const ir::StmtId id = next_statement();
      out.push_back({id, span, ir::WindowStmt{window, read.var, body.whole(read)}});
    }
    body.block(callee.body, out);
  }

  // The subscripts of a window argument; a bare name means every dimension whole.
  std::vector<ir::Access> whole(const ir::Read& read) {
    if (!read.index.empty()) return read.index;
    std::vector<ir::Access> out;
    // Copied: making expressions does not touch the symbols, but the loop must not depend on that.
    const std::vector<ir::ExprPtr> shape = result_.symbols[ir::index(read.var)].shape;
    for (const ir::ExprPtr& extent : shape)
      out.push_back({ir::int_const(0, extent->span), fresh_copy(extent)});
    return out;
  }

  const ir::Program& program_;
  ir::Procedure& result_;
  const ir::Procedure& from_;
  int depth_;
  std::vector<std::optional<Binding>> bindings_;
  std::vector<std::size_t> fresh_;
  bool identity_ = false;  // symbols are the result's own
};

}  // namespace

semantics::ir::Procedure inline_calls(const ir::Procedure& procedure, const ir::Program& program) {
  if (!has_calls(procedure.body)) return procedure;
  ExpandedSize(program).require_bounded(procedure);
  ir::Procedure result = procedure;
  result.symbols.clear();
  result.assertions.clear();
  result.body.clear();
  result.statement_count = 0;
  result.expression_count = 0;
  Copier copier(program, result, procedure, 0);
  copier.create_symbols();  // ids of the caller's own symbols stay
  for (const ir::Assertion& a : procedure.assertions)
    result.assertions.push_back({copier.expression(a.condition), a.span});
  copier.block(procedure.body, result.body);
  return result;
}

}  // namespace exocheck::analysis
