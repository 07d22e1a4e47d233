// Equality of programs up to ids, spans and local names: what a print and its reading must keep.
#include <algorithm>
#include <map>

#include "frontend/printer.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::frontend {
namespace {

namespace ir = semantics::ir;
using ir::overloaded;
using ir::SymId;

bool same_launch(const ir::LaunchConfig& a, const ir::LaunchConfig& b) {
  const auto counted = [](bool valid, std::int64_t value) { return valid ? value : 0; };
  if (a.block_dim != b.block_dim || a.block_dim_real != b.block_dim_real ||
      a.cluster_dim_valid != b.cluster_dim_valid || a.blocks_per_sm_valid != b.blocks_per_sm_valid ||
      counted(a.cluster_dim_valid, a.cluster_dim) != counted(b.cluster_dim_valid, b.cluster_dim) ||
      counted(a.blocks_per_sm_valid, a.blocks_per_sm) != counted(b.blocks_per_sm_valid, b.blocks_per_sm) ||
      a.no_shutdown_cluster_sync != b.no_shutdown_cluster_sync ||
      a.warps.has_value() != b.warps.has_value()) {
    return false;
  }
  return !a.warps || std::equal(a.warps->begin(), a.warps->end(), b.warps->begin(), b.warps->end(),
                                [](const ir::WarpConfig& x, const ir::WarpConfig& y) {
                                  return x.name == y.name && x.count == y.count &&
                                         x.setmaxnreg_dec == y.setmaxnreg_dec &&
                                         x.setmaxnreg_inc == y.setmaxnreg_inc;
                                });
}

// Compares two procedures, matching their symbols in the order of declaration.
class Comparison {
 public:
  Comparison(const ir::Procedure& a, const ir::Procedure& b) : a_(a), b_(b) {}

  bool run() {
    if (a_.name != b_.name || a_.dialect != b_.dialect || a_.size_sets != b_.size_sets) return false;
    if (a_.parameters.size() != b_.parameters.size() || a_.assertions.size() != b_.assertions.size())
      return false;
    for (std::size_t i = 0; i < a_.parameters.size(); ++i) pair_[a_.parameters[i]] = b_.parameters[i];
    for (std::size_t i = 0; i < a_.parameters.size(); ++i) {
      if (a_.symbol(a_.parameters[i]).name != b_.symbol(b_.parameters[i]).name) return false;
      if (!declaration(a_.parameters[i], b_.parameters[i])) return false;
    }
    for (std::size_t i = 0; i < a_.assertions.size(); ++i) {
      if (!same(a_.assertions[i].condition, b_.assertions[i].condition)) return false;
    }
    return same(a_.body, b_.body);
  }

 private:
  bool same(SymId a, SymId b) const {
    const auto it = pair_.find(a);
    return it != pair_.end() && it->second == b;
  }
  bool same(const std::optional<SymId>& a, const std::optional<SymId>& b) const {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  }

  // Pairs the symbols and compares what they declare.
  bool declaration(SymId x, SymId y) {
    pair_[x] = y;
    const ir::Symbol& a = a_.symbol(x);
    const ir::Symbol& b = b_.symbol(y);
    if (a.kind != b.kind || a.parameter != b.parameter) return false;
    if (a.control()) return true;
    return a.precision == b.precision && a.memory == b.memory && a.mechanism == b.mechanism &&
           same(a.guard, b.guard) && same(a.ring_guard, b.ring_guard) && same_annotations(a, b) &&
           (a.kind == ir::SymbolKind::window && !a.parameter ? a.shape.size() == b.shape.size()
                                                             : same(a.shape, b.shape));
  }
  static bool same_annotations(const ir::Symbol& a, const ir::Symbol& b) {
    const auto at = [](const ir::Symbol& s, std::size_t i) {
      return i < s.annotations.size() ? s.annotations[i] : ir::DimAnnotation{};
    };
    for (std::size_t i = 0; i < std::max(a.annotations.size(), b.annotations.size()); ++i) {
      if (at(a, i).ring_depth != at(b, i).ring_depth || at(a, i).unit != at(b, i).unit) return false;
    }
    return true;
  }

  // `-3` may be a constant or the negation of one.
  static std::optional<std::int64_t> integer(const ir::Expr& e) {
    if (const auto* c = std::get_if<ir::IntConst>(&e.node)) return c->value;
    const auto* u = std::get_if<ir::Unary>(&e.node);
    if (u == nullptr || u->op != ir::UnaryOp::neg) return std::nullopt;
    const auto* c = std::get_if<ir::IntConst>(&u->operand->node);
    return c != nullptr && c->value >= 0 ? std::optional(-c->value) : std::nullopt;
  }
  static std::optional<double> real(const ir::Expr& e) {
    if (const auto* c = std::get_if<ir::RealConst>(&e.node)) return c->value;
    const auto* u = std::get_if<ir::Unary>(&e.node);
    if (u == nullptr || u->op != ir::UnaryOp::neg) return std::nullopt;
    const auto* c = std::get_if<ir::RealConst>(&u->operand->node);
    return c != nullptr ? std::optional(-c->value) : std::nullopt;
  }

  bool same(const ir::ExprPtr& a, const ir::ExprPtr& b) const {
    if (!a || !b) return !a && !b;
    if (const auto x = integer(*a)) return x == integer(*b);
    if (const auto x = real(*a)) return x == real(*b);
    if (a->node.index() != b->node.index()) return false;
    return std::visit(
        overloaded{
            [&](const ir::BoolConst& x) { return x.value == std::get<ir::BoolConst>(b->node).value; },
            [&](const ir::VarRef& x) { return same(x.var, std::get<ir::VarRef>(b->node).var); },
            [&](const ir::Read& x) {
              const auto& y = std::get<ir::Read>(b->node);
              return same(x.var, y.var) && same(x.index, y.index);
            },
            [&](const ir::Binary& x) {
              const auto& y = std::get<ir::Binary>(b->node);
              return x.op == y.op && same(x.left, y.left) && same(x.right, y.right);
            },
            [&](const ir::Unary& x) {
              const auto& y = std::get<ir::Unary>(b->node);
              return x.op == y.op && same(x.operand, y.operand);
            },
            [&](const ir::StrideOf& x) {
              const auto& y = std::get<ir::StrideOf>(b->node);
              return same(x.var, y.var) && x.dim == y.dim;
            },
            [&](const ir::ExternCall& x) {
              const auto& y = std::get<ir::ExternCall>(b->node);
              return x.function == y.function && same(x.arguments, y.arguments);
            },
            [&](const ir::ConfigRead& x) {
              const auto& y = std::get<ir::ConfigRead>(b->node);
              return x.config == y.config && x.field == y.field;
            },
            // Compared above.
            [](const ir::IntConst&) { return false; },
            [](const ir::RealConst&) { return false; },
        },
        a->node);
  }
  bool same(const ir::Access& a, const ir::Access& b) const { return same(a.lo, b.lo) && same(a.hi, b.hi); }
  bool same(const ir::BarrierExpr& a, const ir::BarrierExpr& b) const {
    return same(a.var, b.var) && same(a.index, b.index);
  }
  template <class T>
  bool same(const std::vector<T>& a, const std::vector<T>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const T& x, const T& y) { return same(x, y); });
  }

  static bool nothing(const ir::Block& block) {
    return block.empty() || (block.size() == 1 && std::holds_alternative<ir::Pass>(block.front().node));
  }
  bool same(const ir::Block& a, const ir::Block& b) {
    if (nothing(a) && nothing(b)) return true;
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const ir::Stmt& x, const ir::Stmt& y) { return same(x, y); });
  }

  bool same(const ir::Stmt& a, const ir::Stmt& b) {
    if (a.node.index() != b.node.index()) return false;
    return std::visit([&]<class Node>(const Node& x) { return same_node(x, std::get<Node>(b.node)); },
                      a.node);
  }

  bool same_node(const ir::Pass&, const ir::Pass&) const { return true; }
  bool same_node(const ir::Assign& a, const ir::Assign& b) const {
    return a.reduce == b.reduce && same(a.target, b.target) && same(a.index, b.index) &&
           same(a.value, b.value);
  }
  bool same_node(const ir::ConfigWrite& a, const ir::ConfigWrite& b) const {
    return a.config == b.config && a.field == b.field && same(a.value, b.value);
  }
  bool same_node(const ir::Alloc& a, const ir::Alloc& b) { return declaration(a.var, b.var); }
  bool same_node(const ir::WindowStmt& a, const ir::WindowStmt& b) {
    return same(a.base, b.base) && same(a.index, b.index) && declaration(a.result, b.result);
  }
  bool same_node(const ir::Call& a, const ir::Call& b) const {
    if (a.procedure != b.procedure || (a.instr == nullptr) != (b.instr == nullptr)) return false;
    if (a.instr && (a.instr->name != b.instr->name || a.instr->template_values != b.instr->template_values))
      return false;
    if (a.trailing.has_value() != b.trailing.has_value()) return false;
    return same(a.arguments, b.arguments) && (!a.trailing || same(*a.trailing, *b.trailing));
  }
  bool same_node(const ir::For& a, const ir::For& b) {
    if (a.mode != b.mode || a.unit != b.unit || a.unroll != b.unroll || !same(a.lo, b.lo) ||
        !same(a.hi, b.hi))
      return false;
    return declaration(a.iter, b.iter) && same(a.body, b.body);
  }
  bool same_node(const ir::If& a, const ir::If& b) {
    return same(a.condition, b.condition) && same(a.then_body, b.then_body) && same(a.else_body, b.else_body);
  }
  bool same_node(const ir::DeviceFunction& a, const ir::DeviceFunction& b) {
    return same_launch(a.config, b.config) && same(a.body, b.body);
  }
  bool same_node(const ir::Warps& a, const ir::Warps& b) {
    return a.lo == b.lo && a.hi == b.hi && a.name == b.name && same(a.body, b.body);
  }
  bool same_node(const ir::Fence& a, const ir::Fence& b) const {
    return a.first == b.first && a.second == b.second;
  }
  bool same_node(const ir::Arrive& a, const ir::Arrive& b) const {
    return a.first == b.first && a.count == b.count && same(a.targets, b.targets);
  }
  bool same_node(const ir::Await& a, const ir::Await& b) const {
    return same(a.barrier, b.barrier) && a.second == b.second && a.n == b.n && a.n_given == b.n_given;
  }

  const ir::Procedure& a_;
  const ir::Procedure& b_;
  std::map<SymId, SymId> pair_;
};

bool same_config(const ir::Config& a, const ir::Config& b) {
  return a.name == b.name && std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                                        [](const ir::Config::Field& x, const ir::Config::Field& y) {
                                          return x.name == y.name && x.type.kind == y.type.kind &&
                                                 x.type.precision == y.type.precision;
                                        });
}

}  // namespace

bool equivalent(const ir::Procedure& a, const ir::Procedure& b) { return Comparison(a, b).run(); }

bool equivalent(const ir::Program& a, const ir::Program& b) {
  return std::equal(a.procedures.begin(), a.procedures.end(), b.procedures.begin(), b.procedures.end(),
                    [](const ir::Procedure& x, const ir::Procedure& y) { return equivalent(x, y); }) &&
         std::equal(a.configs.begin(), a.configs.end(), b.configs.begin(), b.configs.end(), same_config);
}

}  // namespace exocheck::frontend
