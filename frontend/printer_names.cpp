#include "frontend/printer_names.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "frontend/elaborate_names.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

namespace ir = semantics::ir;
using ir::overloaded;
using ir::SymId;

// A run of statements of one block.
struct Range {
  const ir::Stmt* begin = nullptr;
  const ir::Stmt* end = nullptr;
};

// Symbols in the barrier expressions of the Arrives and Awaits.
std::set<SymId> sync_symbols(Range range) {
  std::set<SymId> out;
  const auto expression = [&out](const ir::Expr& e) {
    ir::for_each_subexpr(e, [&out](const ir::Expr& sub) {
      if (const auto* v = std::get_if<ir::VarRef>(&sub.node)) out.insert(v->var);
    });
  };
  const auto barrier = [&](const ir::BarrierExpr& b) {
    out.insert(b.var);
    for (const ir::Access& a : b.index) {
      expression(*a.lo);
      if (a.hi) expression(*a.hi);
    }
  };
  const auto visit = [&](const ir::Stmt& s) {
    if (const auto* arrive = std::get_if<ir::Arrive>(&s.node)) {
      for (const ir::BarrierExpr& b : arrive->targets) barrier(b);
    }
    if (const auto* await = std::get_if<ir::Await>(&s.node)) barrier(await->barrier);
  };
  for (const ir::Stmt* s = range.begin; s != range.end; ++s) {
    visit(*s);
    for (const ir::Block* block : ir::sub_blocks(*s)) ir::for_each_stmt(*block, visit);
  }
  return out;
}

bool has_infinity(const ir::Procedure& p) {
  bool found = false;
  ir::for_each_stmt(p.body, [&found](const ir::Stmt& s) {
    ir::for_each_expr(s, [&found](const ir::Expr& e) {
      ir::for_each_subexpr(e, [&found](const ir::Expr& sub) {
        const auto* c = std::get_if<ir::RealConst>(&sub.node);
        found = found || (c != nullptr && std::isinf(c->value));
      });
    });
  });
  return found;
}

class Namer {
 public:
  explicit Namer(const ir::Procedure& p) : p_(p), names_(p.symbols.size()) {
    for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = p.symbols[i].name;
    // `inf` is a number only where no variable has that name.
    if (has_infinity(p)) live_.emplace("inf", std::nullopt);
  }

  std::vector<std::string> run() {
    const Range body{p_.body.data(), p_.body.data() + p_.body.size()};
    for (const SymId id : p_.parameters) declare(id, body);
    block(p_.body);
    return std::move(names_);
  }

 private:
  void declare(SymId id, Range scope) {
    std::string base = p_.symbol(id).name;
    std::string candidate = base;
    for (int k = 1;; ++k) {
      if (misread(candidate, id, scope)) {
        // So would be any other suffix of that name.
        base = candidate;
        k = 1;
      } else if (!live_.contains(candidate)) {
        break;
      }
      candidate = fmt::format("{}_{}", base, k);
    }
    names_[ir::index(id)] = candidate;
    live_.emplace(candidate, id);
    declared_.push_back(std::move(candidate));
  }

  // `z_1` that no sync statement of its scope names, while one names an outer `z`, is taken for that `z`.
  bool misread(const std::string& candidate, SymId id, Range scope) const {
    const auto split = split_suffix(candidate);
    if (!split) return false;
    const auto outer = live_.find(split->first);
    if (outer == live_.end() || !outer->second) return false;
    const ir::Symbol& symbol = p_.symbol(id);
    const ir::Symbol& other = p_.symbol(*outer->second);
    const bool alike = symbol.kind == ir::SymbolKind::barrier
                           ? other.kind == ir::SymbolKind::barrier
                           : symbol.kind == ir::SymbolKind::iterator && other.control();
    if (!alike) return false;
    const std::set<SymId> said = sync_symbols(scope);
    return said.contains(*outer->second) && !said.contains(id);
  }

  void block(const ir::Block& statements) {
    const std::size_t mark = declared_.size();
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Range rest{statements.data() + i + 1, statements.data() + statements.size()};
      std::visit(overloaded{
                     [&](const ir::Alloc& s) { declare(s.var, rest); },
                     [&](const ir::WindowStmt& s) { declare(s.result, rest); },
                     [&](const ir::For& s) {
                       const std::size_t outside = declared_.size();
                       declare(s.iter, {s.body.data(), s.body.data() + s.body.size()});
                       block(s.body);
                       forget(outside);
                     },
                     [&](const ir::If& s) {
                       block(s.then_body);
                       block(s.else_body);
                     },
                     [&](const ir::DeviceFunction& s) { block(s.body); },
                     [&](const ir::Warps& s) { block(s.body); },
                     [](const auto&) {},
                 },
                 statements[i].node);
    }
    forget(mark);
  }

  void forget(std::size_t mark) {
    for (; declared_.size() > mark; declared_.pop_back()) live_.erase(declared_.back());
  }

  const ir::Procedure& p_;
  std::vector<std::string> names_;
  std::map<std::string, std::optional<SymId>, std::less<>> live_;  // no symbol: reserved
  std::vector<std::string> declared_;
};

}  // namespace

std::vector<std::string> printed_names(const ir::Procedure& procedure) { return Namer(procedure).run(); }

}  // namespace exocheck::frontend
