#include "frontend/elaborate_sync.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/elaborate_access.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

using semantics::SyncTl;
using StmtNode = decltype(ir::Stmt::node);

// ---------------------------------------------------------------------------------- arguments

std::optional<SyncTl> timeline(Context& cx, const ast::Expr& e) {
  const auto wrong = [&](const std::string& hint) {
    cx.report("E-P51", e.span, fmt::format("`{}` is no sync timeline{}", cx.text(e), hint));
    return std::nullopt;
  };
  const auto* name = std::get_if<ast::Name>(&e.node);
  if (!name) return wrong("; write a name such as cuda_in_order");
  std::optional<SyncTl> found;
  if (const auto constant = cx.constants().find(name->text); constant != cx.constants().end()) {
    const auto* tl = std::get_if<SyncTl>(&constant->second.value);
    if (!tl) return wrong(fmt::format(" but {}", meta_kind(constant->second)));
    found = *tl;
  } else {
    found = semantics::find_sync_timeline(name->text);
  }
  if (found && (cx.mixed_dialects || semantics::exists(cx.procedure.dialect, *found))) return found;
  if (found) {
    cx.report("E-N03", e.span,
              fmt::format("dialect {} has no timeline {}",
                          cx.procedure.dialect == semantics::Dialect::P ? "P" : "R", name->text));
    return std::nullopt;
  }
  constexpr std::string_view instr_suffix = "_instr";
  if (semantics::find_instr_timeline(name->text) && name->text.ends_with(instr_suffix)) {
    const std::string stem = name->text.substr(0, name->text.size() - instr_suffix.size());
    return wrong(semantics::find_sync_timeline(stem)
                     ? fmt::format(" but an instruction timeline; write {}", stem)
                     : " but an instruction timeline");
  }
  if (const auto id = cx.scopes.find(name->text)) {
    if (*id == poisoned_symbol) return std::nullopt;
    return wrong(fmt::format(" but {}", describe(cx.symbol(*id))));
  }
  std::vector<std::string> names;
  for (const auto& t : semantics::all_sync_timelines(cx.procedure.dialect)) names.emplace_back(t.name);
  cx.report("E-N03", e.span,
            fmt::format("there is no sync timeline `{}`{}", name->text, suggestion_text(name->text, names)));
  return std::nullopt;
}

std::optional<std::int64_t> count_argument(Context& cx, const ast::Expr& e, std::string_view statement) {
  // A local variable is no constant, whatever file constant it may hide.
  if (const auto* name = std::get_if<ast::Name>(&e.node); name && cx.scopes.find(name->text)) {
    cx.report(
        "E-P50", e.span,
        fmt::format("N of {} must be an integer constant, not the variable `{}`", statement, name->text));
    return std::nullopt;
  }
  const auto v = cx.meta(e, "E-P50");
  if (!v) return std::nullopt;
  const auto n = meta_int(*v);
  if (!n) {
    cx.report("E-P50", e.span,
              fmt::format("N of {} must be an integer constant, but `{}` is {}", statement, cx.text(e),
                          meta_kind(*v)));
  }
  return n;
}

// Does the expression name a barrier, as the old `Arrive(tl, z[i], n)` does?
bool names_barrier(const Context& cx, const ast::Expr& e) {
  const ast::Expr* inner = &e;
  if (const auto* u = std::get_if<ast::Unary>(&inner->node); u && (u->op == "+" || u->op == "-")) {
    inner = u->operand.get();
  }
  if (const auto* s = std::get_if<ast::Subscript>(&inner->node)) inner = s->base.get();
  const auto* name = std::get_if<ast::Name>(&inner->node);
  const auto id = name ? cx.scopes.find(name->text) : std::nullopt;
  return id && *id != poisoned_symbol && cx.symbol(*id).kind == ir::SymbolKind::barrier;
}

bool check_form(Context& cx, const ast::Expr& e, const ast::CallExpr& call, const std::string& callee) {
  for (const ast::Argument& a : call.arguments) {
    if (a.keyword || a.star) {
      cx.report("E-P46", a.span,
                a.keyword ? fmt::format("{} takes no keyword `{}`", callee, *a.keyword)
                          : fmt::format("{} takes no `*`", callee));
      return false;
    }
  }
  const std::size_t least = callee == "Arrive" ? 1 : 2;
  const std::size_t most = callee == "Await" ? 3 : 2;
  const std::size_t given = call.arguments.size();
  if (callee == "Arrive") {
    for (const ast::Argument& a : call.arguments) {
      if (!names_barrier(cx, *a.value)) continue;
      cx.report(
          "E-P62", a.span,
          "a barrier inside the parentheses of Arrive belongs to an old dialect; write Arrive(tl, 1) >> z");
      return false;
    }
  }
  if (given >= least && given <= most) return true;
  cx.report(
      "E-P47", e.span,
      fmt::format("{} takes {} arguments, got {}", callee,
                  least == most ? fmt::format("{}", least) : fmt::format("{} or {}", least, most), given));
  return false;
}

bool reject_trailing(Context& cx, const std::string& callee, const std::vector<const ast::Expr*>& trailing) {
  if (trailing.empty()) return false;
  cx.report("E-P48", trailing.front()->span,
            fmt::format("{} takes no trailing barrier `>> {}`", callee, cx.text(*trailing.front())));
  return true;
}

// --------------------------------------------------------------------------------- statements

std::optional<StmtNode> fence(Context& cx, const ast::CallExpr& call) {
  const auto first = timeline(cx, *call.arguments[0].value);
  const auto second = timeline(cx, *call.arguments[1].value);
  if (!first || !second) return std::nullopt;
  return ir::Fence{*first, *second};
}

std::optional<StmtNode> arrive(Context& cx, const ast::CallExpr& call,
                               const std::vector<const ast::Expr*>& trailing) {
  ir::Arrive node;
  const auto first = timeline(cx, *call.arguments[0].value);
  bool ok = first.has_value();
  if (first) node.first = *first;
  if (call.arguments.size() > 1) {
    const auto n = count_argument(cx, *call.arguments[1].value, "Arrive");
    ok = ok && n;
    node.count = n.value_or(1);
  }
  for (const ast::Expr* e : trailing) {
    auto target = barrier_expr(cx, *e, true);
    ok = ok && target;
    if (target) node.targets.push_back(std::move(*target));
  }
  if (!ok) return std::nullopt;
  return node;
}

std::optional<StmtNode> await(Context& cx, const ast::CallExpr& call) {
  ir::Await node;
  auto barrier = barrier_expr(cx, *call.arguments[0].value, true);
  const auto second = timeline(cx, *call.arguments[1].value);
  node.n_given = call.arguments.size() > 2;
  std::optional<std::int64_t> n = 0;
  if (node.n_given) n = count_argument(cx, *call.arguments[2].value, "Await");
  if (!barrier || !second || !n) return std::nullopt;
  node.barrier = std::move(*barrier);
  node.second = *second;
  node.n = *n;
  return node;
}

// ------------------------------------------------------------------------- names in text

void collect_names(const ast::Expr& e, std::set<std::string>& out) {
  if (const auto* name = std::get_if<ast::Name>(&e.node)) out.insert(name->text);
  if (const auto* u = std::get_if<ast::Unary>(&e.node)) collect_names(*u->operand, out);
  if (const auto* b = std::get_if<ast::Binary>(&e.node)) {
    collect_names(*b->left, out);
    collect_names(*b->right, out);
  }
}

void collect_barrier(const ast::Expr& e, SyncNameUse& out) {
  if (const auto* name = std::get_if<ast::Name>(&e.node)) out.barriers.insert(name->text);
  const auto* s = std::get_if<ast::Subscript>(&e.node);
  if (!s) return;
  collect_barrier(*s->base, out);
  for (const ast::Item& item : s->items) {
    if (item.lo) collect_names(*item.lo, out.indices);
    if (item.hi) collect_names(*item.hi, out.indices);
  }
}

void collect(const ast::Block& statements, SyncNameUse& out);

void collect(const ast::Stmt& s, SyncNameUse& out) {
  if (const auto* e = std::get_if<ast::ExprStmt>(&s.node)) {
    const ShiftChain chain = shift_chain(*e->value);
    const auto* call = std::get_if<ast::CallExpr>(&chain.head->node);
    const auto* callee = call ? std::get_if<ast::Name>(&call->callee->node) : nullptr;
    if (!callee) return;
    if (callee->text == "Await" && !call->arguments.empty()) collect_barrier(*call->arguments[0].value, out);
    if (callee->text == "Arrive") {
      for (const ast::Expr* target : chain.trailing) collect_barrier(*target, out);
    }
  } else if (const auto* f = std::get_if<ast::ForStmt>(&s.node)) {
    collect(f->body, out);
  } else if (const auto* i = std::get_if<ast::IfStmt>(&s.node)) {
    collect(i->then_body, out);
    collect(i->else_body, out);
  } else if (const auto* w = std::get_if<ast::WithStmt>(&s.node)) {
    collect(w->body, out);
  }
}

void collect(const ast::Block& statements, SyncNameUse& out) {
  for (const ast::Stmt& s : statements) collect(s, out);
}

}  // namespace

bool is_sync_name(std::string_view callee) {
  return callee == "Fence" || callee == "Arrive" || callee == "Await";
}

ShiftChain shift_chain(const ast::Expr& e) {
  ShiftChain chain{&e, {}};
  const auto* b = std::get_if<ast::Binary>(&chain.head->node);
  while (b && b->op == ">>") {
    chain.trailing.push_back(b->right.get());
    chain.head = b->left.get();
    b = std::get_if<ast::Binary>(&chain.head->node);
  }
  std::reverse(chain.trailing.begin(), chain.trailing.end());
  return chain;
}

SyncNameUse sync_names(const ast::Block& statements) {
  SyncNameUse out;
  collect(statements, out);
  return out;
}

std::optional<StmtNode> sync_statement(Context& cx, const ast::Expr& e, const ast::CallExpr& call,
                                       const std::string& callee,
                                       const std::vector<const ast::Expr*>& trailing) {
  if (!check_form(cx, e, call, callee)) return std::nullopt;
  if (callee == "Arrive") return arrive(cx, call, trailing);
  if (reject_trailing(cx, callee, trailing)) return std::nullopt;
  return callee == "Fence" ? fence(cx, call) : await(cx, call);
}

}  // namespace exocheck::frontend
