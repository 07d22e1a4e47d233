#include "frontend/elaborate_stmt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_access.hpp"
#include "frontend/elaborate_assign.hpp"
#include "frontend/elaborate_call.hpp"
#include "frontend/elaborate_expr.hpp"
#include "frontend/elaborate_sync.hpp"
#include "frontend/elaborate_type.hpp"
#include "frontend/elaborate_with.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using StmtNode = decltype(ir::Stmt::node);

// One block on the way through its statements.
struct BlockState {
  const ast::Block& statements;
  std::optional<SyncNameUse> sync;  // of the block, once asked for

  const SyncNameUse& sync_use() {
    if (!sync) sync = sync_names(statements);
    return *sync;
  }
};

void statements(Context& cx, const ast::Block& from, std::size_t first, ir::Block& out);

// -------------------------------------------------------------------------------- allocations

// Printed synchronization statements say `z` where `z_1` is meant (language.md 3.3 Q2). `z_1` itself is never
// said by one, while it is in scope; the outer `z` is.
void repair_barrier_name(Context& cx, const std::string& name, ir::SymId symbol, BlockState& state) {
  const auto split = split_suffix(name);
  if (!split) return;
  const auto outer = cx.scopes.find(split->first);
  if (!outer || *outer == poisoned_symbol || cx.symbol(*outer).kind != ir::SymbolKind::barrier) return;
  if (state.sync_use().barriers.contains(name)) return;
  cx.scopes.alias_in_sync(split->first, split->second, symbol);
}

void repair_iterator_name(Context& cx, const std::string& name, ir::SymId symbol, const ast::Block& body) {
  const auto split = split_suffix(name);
  if (!split) return;
  const auto outer = cx.scopes.find(split->first);
  if (!outer || *outer == poisoned_symbol || !cx.symbol(*outer).control()) return;
  if (sync_names(body).indices.contains(name)) return;
  cx.scopes.alias_in_sync(split->first, split->second, symbol);
}

std::optional<StmtNode> allocation(Context& cx, const ast::Stmt& s, const ast::AnnotatedStmt& a,
                                   BlockState& state) {
  const auto* name = std::get_if<ast::Name>(&a.target->node);
  if (!name) {
    cx.report("E-P56", a.target->span,
              fmt::format("`{}` cannot be declared; write a name", cx.text(*a.target)));
    return std::nullopt;
  }
  if (a.value) {
    cx.report("E-P33", s.span,
              fmt::format("the declaration of `{}` carries no value; assign in a statement of its own",
                          name->text));
  }
  auto symbol = allocation_symbol(cx, name->text, a.target->span, *a.annotation);
  if (!symbol) {
    cx.poison(name->text);
    return std::nullopt;
  }
  const bool barrier = symbol->kind == ir::SymbolKind::barrier;
  const ir::SymId id = cx.declare(std::move(*symbol));
  if (barrier) repair_barrier_name(cx, name->text, id, state);
  return ir::Alloc{id};
}

// -------------------------------------------------------------------------------------- loops

struct Range {
  ir::For node;
  bool ok = true;
};

bool loop_unit(Context& cx, const ast::Argument& a, ir::For& node) {
  if (cx.flavour == Flavour::definition) return true;
  const auto v = cx.meta(*a.value, "E-P58");
  if (!v) return false;
  const auto* unit = std::get_if<semantics::CollUnit>(&v->value);
  if (!unit) {
    cx.report("E-P58", a.span, fmt::format("unit= must be a collective unit, not {}", meta_kind(*v)));
    return false;
  }
  node.unit = *unit;
  return true;
}

bool loop_unroll(Context& cx, const ast::Argument& a, ir::For& node) {
  const auto v = cx.meta(*a.value, "E-P58");
  if (!v) return false;
  if (std::holds_alternative<MetaNone>(v->value)) return true;
  node.unroll = meta_int(*v);
  if (node.unroll) return true;
  cx.report("E-P58", a.span, fmt::format("pragma_unroll= must be an integer or None, not {}", meta_kind(*v)));
  return false;
}

std::optional<ir::LoopMode> loop_mode(Context& cx, const ast::Expr& range, const std::string& name) {
  if (name == "seq") return ir::LoopMode::seq;
  if (name == "par") return ir::LoopMode::par;
  if (name == "cuda_tasks") return ir::LoopMode::cuda_tasks;
  if (name == "cuda_threads") return ir::LoopMode::cuda_threads;
  if (name.starts_with("_codegen")) {
    cx.report("E-P66", range.span,
              fmt::format("`{}` belongs to a dump of the code generator, not to object code", name));
    return std::nullopt;
  }
  cx.report("E-N03", range.span,
            fmt::format("there is no loop mode `{}`{}; write seq, par, cuda_tasks or cuda_threads", name,
                        suggestion_text(name, {"seq", "par", "cuda_tasks", "cuda_threads"})));
  return std::nullopt;
}

Range loop_range(Context& cx, const ast::Expr& range) {
  Range out;
  const auto* call = std::get_if<ast::CallExpr>(&range.node);
  const auto* callee = call ? std::get_if<ast::Name>(&call->callee->node) : nullptr;
  if (!callee) {
    cx.report("E-P59", range.span,
              fmt::format("a loop runs over seq(lo, hi), par, cuda_tasks or cuda_threads, not "
                          "over `{}`",
                          cx.text(range)));
    return {{}, false};
  }
  const auto mode = loop_mode(cx, range, callee->text);
  if (!mode) return {{}, false};
  out.node.mode = *mode;
  std::vector<const ast::Expr*> bounds;
  bool unit_seen = false;
  bool unroll_seen = false;
  for (const ast::Argument& a : call->arguments) {
    if (!a.keyword && !a.star) {
      bounds.push_back(a.value.get());
    } else if (a.keyword == "unit" && *mode == ir::LoopMode::cuda_threads && !unit_seen) {
      unit_seen = true;
      out.ok = loop_unit(cx, a, out.node) && out.ok;
    } else if (a.keyword == "pragma_unroll" && *mode == ir::LoopMode::seq && !unroll_seen) {
      unroll_seen = true;
      out.ok = loop_unroll(cx, a, out.node) && out.ok;
    } else {
      cx.report("E-P58", a.span,
                a.keyword ? fmt::format("{} takes no keyword `{}`{}", callee->text, *a.keyword,
                                        unit_seen || unroll_seen ? " here" : "")
                          : fmt::format("{} takes no `*`", callee->text));
      out.ok = false;
    }
  }
  if (bounds.size() != 2) {
    cx.report("E-P58", range.span,
              fmt::format("{} takes two positional arguments, the lower and the upper bound, "
                          "got {}",
                          callee->text, bounds.size()));
    return {{}, false};
  }
  out.node.lo = control(cx, *bounds[0], "E-T46", "a loop bound");
  out.node.hi = control(cx, *bounds[1], "E-T46", "a loop bound");
  out.ok = out.ok && out.node.lo && out.node.hi;
  if (*mode == ir::LoopMode::cuda_threads && !out.node.unit) out.node.unit = semantics::unit_thread();
  return out;
}

std::optional<StmtNode> for_loop(Context& cx, const ast::ForStmt& f) {
  if (f.else_span) cx.report("E-P44", *f.else_span, "a loop has no else branch");
  Range range = loop_range(cx, *f.range);
  const auto* target = std::get_if<ast::Name>(&f.target->node);
  if (!target) {
    cx.report("E-P59", f.target->span,
              fmt::format("a loop has one iterator, a name, not `{}`", cx.text(*f.target)));
  }
  cx.scopes.open();
  if (target) {
    ir::Symbol iter;
    iter.name = target->text;
    iter.kind = ir::SymbolKind::iterator;
    iter.span = f.target->span;
    range.node.iter = cx.declare(std::move(iter));
    repair_iterator_name(cx, target->text, range.node.iter, f.body);
  } else if (const auto* several = std::get_if<ast::Tuple>(&f.target->node)) {
    for (const ast::Argument& part : several->items) {
      if (const auto* name = std::get_if<ast::Name>(&part.value->node)) cx.poison(name->text);
    }
  }
  statements(cx, f.body, 0, range.node.body);
  cx.scopes.close();
  if (!range.ok || !target) return std::nullopt;
  return std::move(range.node);
}

// ---------------------------------------------------------------------- other statements

std::optional<StmtNode> if_statement(Context& cx, const ast::IfStmt& s) {
  ir::If node;
  node.condition = boolean(cx, *s.condition, "E-T47", "the condition of an if");
  node.then_body = block(cx, s.then_body);
  node.else_body = block(cx, s.else_body);
  if (!node.condition) return std::nullopt;
  return node;
}

std::optional<StmtNode> with_statement(Context& cx, const ast::Stmt& s, const ast::WithStmt& w) {
  auto node = with_context(cx, w, s.span);
  ir::Block body = block(cx, w.body);
  if (!node) return std::nullopt;
  if (cx.flavour != Flavour::procedure) {
    cx.report("E-P71", s.span, "the behaviour of an instruction is sequential; it has no contexts");
    return std::nullopt;
  }
  if (auto* f = std::get_if<ir::DeviceFunction>(&*node)) f->body = std::move(body);
  if (auto* f = std::get_if<ir::Warps>(&*node)) f->body = std::move(body);
  return node;
}

std::optional<StmtNode> expression_statement(Context& cx, const ast::Expr& e) {
  const ShiftChain chain = shift_chain(e);
  const auto* call = std::get_if<ast::CallExpr>(&chain.head->node);
  const auto* callee = call ? std::get_if<ast::Name>(&call->callee->node) : nullptr;
  if (callee && callee->text == "free" && !cx.file.find_procedure("free")) {
    cx.report("E-P68", e.span, "life times are implicit; delete the free statement");
    return std::nullopt;
  }
  if (callee && is_sync_name(callee->text)) {
    if (cx.flavour != Flavour::procedure) {
      cx.report("E-P71", e.span, "the behaviour of an instruction is sequential; it does not synchronize");
      return std::nullopt;
    }
    return sync_statement(cx, e, *call, callee->text, chain.trailing);
  }
  if (callee && cx.flavour != Flavour::procedure) {
    cx.report("E-P71", e.span, "the behaviour of an instruction calls nothing; write what it does");
    return std::nullopt;
  }
  if (callee) {
    auto node = call_statement(cx, *chain.head, *call, callee->text, chain.trailing);
    if (!node) return std::nullopt;
    return std::move(*node);
  }
  const auto* name = std::get_if<ast::Name>(&e.node);
  if (name && name->text == "_") {
    cx.report("E-P67", e.span, "`_` stands for a hole in a pattern; patterns are not programs");
  } else if (std::holds_alternative<ast::Dict>(e.node)) {
    cx.report("E-P65", e.span,
              "metaprogramming must be expanded first; print the procedure and check the print");
  } else if (std::holds_alternative<ast::Unparsed>(e.node)) {
    cx.report("E-P69", e.span,
              fmt::format("`{}` is the print of a Python object; define what it stands for in the file",
                          cx.text(e)));
  } else if (!chain.trailing.empty()) {
    cx.report("E-P49", e.span, fmt::format("`{}`: only instruction calls and Arrive take >>", cx.text(e)));
  } else {
    cx.report(
        "E-P49", e.span,
        fmt::format("`{}` is no statement; only a call or an Arrive stands alone, or before `>> barrier`",
                    cx.text(e)));
  }
  return std::nullopt;
}

std::optional<StmtNode> unsupported(Context& cx, Span span, std::string_view what) {
  cx.report("E-P71", span, fmt::format("{} is no statement of object code", what));
  return std::nullopt;
}

std::optional<StmtNode> node_of(Context& cx, const ast::Stmt& s, BlockState& state) {
  return std::visit(
      ir::overloaded{
          [&](const ast::PassStmt&) -> std::optional<StmtNode> { return ir::Pass{}; },
          [&](const ast::ExprStmt& x) { return expression_statement(cx, *x.value); },
          [&](const ast::AssignStmt& x) { return assignment(cx, s, x); },
          [&](const ast::AugAssignStmt& x) { return reduction(cx, s, x); },
          [&](const ast::AnnotatedStmt& x) { return allocation(cx, s, x, state); },
          [&](const ast::ForStmt& x) { return for_loop(cx, x); },
          [&](const ast::IfStmt& x) { return if_statement(cx, x); },
          [&](const ast::WithStmt& x) { return with_statement(cx, s, x); },
          [&](const ast::AssertStmt&) -> std::optional<StmtNode> {
            cx.report("E-P21", s.span, "preconditions come first in the body, before every other statement");
            return std::nullopt;
          },
          [&](const ast::DefStmt& x) { return unsupported(cx, x.name_span, "a nested def"); },
          [&](const ast::ClassStmt&) { return unsupported(cx, s.span, "a class"); },
          [&](const ast::ImportStmt&) { return unsupported(cx, s.span, "an import"); },
          [&](const ast::OtherStmt& x) { return unsupported(cx, s.span, fmt::format("`{}`", x.keyword)); },
      },
      s.node);
}

bool is_doc(const ast::Stmt& s) {
  const auto* e = std::get_if<ast::ExprStmt>(&s.node);
  return e && std::holds_alternative<ast::String>(e->value->node);
}

void statements(Context& cx, const ast::Block& from, std::size_t first, ir::Block& out) {
  BlockState state{from, std::nullopt};
  for (std::size_t i = first; i < from.size(); ++i) {
    const ast::Stmt& s = from[i];
    const Context::Nesting nesting(cx, s.span);
    if (!nesting) return;
    const ir::StmtId id = cx.next_statement();
    auto node = node_of(cx, s, state);
    if (node) out.push_back({id, s.span, std::move(*node)});
  }
}

void assertion(Context& cx, const ast::Stmt& s, const ast::AssertStmt& a) {
  if (a.message) cx.report("E-P20", a.message->span, "preconditions take no message");
  const ir::ExprPtr condition = boolean(cx, *a.condition, "E-T73", "a precondition");
  if (condition) cx.procedure.assertions.push_back({condition, s.span});
}

}  // namespace

ir::Block block(Context& cx, const ast::Block& from) {
  ir::Block out;
  cx.scopes.open();
  statements(cx, from, 0, out);
  cx.scopes.close();
  return out;
}

void procedure_body(Context& cx, const ast::Block& from) {
  std::size_t next = 0;
  if (!from.empty() && is_doc(from[0])) ++next;
  while (next < from.size()) {
    const auto* a = std::get_if<ast::AssertStmt>(&from[next].node);
    if (!a) break;
    assertion(cx, from[next], *a);
    ++next;
  }
  statements(cx, from, next, cx.procedure.body);
}

}  // namespace exocheck::frontend
