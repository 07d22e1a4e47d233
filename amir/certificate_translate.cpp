#include "amir/certificate_translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "amir/flags.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir::certificate {
namespace {

namespace prog = semantics::amir;
namespace ir = semantics::ir;
using ir::overloaded;

// A construct that the theory has no word for.
struct Unsupported {
  std::string why;
};

class Translator {
 public:
  Translator(const Program& program, const Sizes& sizes, const ModeRules& rules, std::optional<SymId> symbol)
      : program_(program), sizes_(sizes), rules_(rules) {
    term_.stride = program.threads;
    if (symbol) {
      term_.symbol = iterator(*symbol);
      values_[*symbol] = variable(*term_.symbol);
    }
  }

  Term run() {
    term_.body = block(program_.body);
    return std::move(term_);
  }

 private:
  std::uint32_t iterator(SymId symbol) {
    const auto [it, added] = iterators_.emplace(symbol, static_cast<std::uint32_t>(term_.iterators.size()));
    if (added) term_.iterators.push_back(fmt::format("i{}", ir::index(symbol)));
    return it->second;
  }

  // ---------------------------------------------------------------------------------------------- control
  Linear expression(const ir::Expr& e) {
    return std::visit(
        overloaded{
            [](const ir::IntConst& x) { return number(x.value); },
            [](const ir::BoolConst& x) { return number(x.value ? 1 : 0); },
            [&](const ir::VarRef& x) {
              if (const auto it = values_.find(x.var); it != values_.end()) return it->second;
              const auto& value = sizes_[x.var];
              semantics::ensure(value.has_value(), "a control variable of a certificate has a value");
              return number(*value);
            },
            [&](const ir::Binary& x) { return binary(x); },
            [&](const ir::Unary& x) {
              if (x.op != ir::UnaryOp::neg) throw Unsupported{"a condition inside an index"};
              return times(-1, expression(*x.operand));
            },
            [](const auto&) -> Linear { throw semantics::InternalError("not a control expression"); },
        },
        e.node);
  }
  Linear binary(const ir::Binary& x) {
    const Linear a = expression(*x.left), b = expression(*x.right);
    switch (x.op) {
      case ir::BinaryOp::add:
        return plus(a, b);
      case ir::BinaryOp::sub:
        return minus(a, b);
      case ir::BinaryOp::mul:
        return product(a, b);
      case ir::BinaryOp::div:
        return floor_div(a, b);
      case ir::BinaryOp::mod:
        return floor_mod(a, b);
      default:
        throw Unsupported{"a condition inside an index"};
    }
  }

  static Condition known(bool value) { return {Condition::Kind::constant, value, {}, {}, {}}; }
  static Condition comparison(Condition::Kind kind, Linear a, Linear b) {
    if (a.is_constant() && b.is_constant()) {
      return known(kind == Condition::Kind::le   ? a.constant <= b.constant
                   : kind == Condition::Kind::lt ? a.constant < b.constant
                                                 : a.constant == b.constant);
    }
    return {kind, true, std::move(a), std::move(b), {}};
  }
  static Condition negation(Condition c) {
    if (c.kind == Condition::Kind::constant) return known(!c.value);
    return {Condition::Kind::negation, true, {}, {}, {std::move(c)}};
  }
  static Condition junction(Condition::Kind kind, Condition a, Condition b) {
    const bool neutral = kind == Condition::Kind::conjunction;
    if (a.kind == Condition::Kind::constant) return a.value == neutral ? b : a;
    if (b.kind == Condition::Kind::constant) return b.value == neutral ? a : b;
    return {kind, true, {}, {}, {std::move(a), std::move(b)}};
  }
  Condition condition(const ir::Expr& e) {
    using K = Condition::Kind;
    if (const auto* c = std::get_if<ir::BoolConst>(&e.node)) return known(c->value);
    if (const auto* u = std::get_if<ir::Unary>(&e.node); u != nullptr && u->op == ir::UnaryOp::logical_not)
      return negation(condition(*u->operand));
    if (const auto* b = std::get_if<ir::Binary>(&e.node)) {
      const auto compare = [&](K kind, bool exchanged) {
        Linear left = expression(*b->left), right = expression(*b->right);
        return exchanged ? comparison(kind, std::move(right), std::move(left))
                         : comparison(kind, std::move(left), std::move(right));
      };
      switch (b->op) {
        case ir::BinaryOp::lt:
          return compare(K::lt, false);
        case ir::BinaryOp::le:
          return compare(K::le, false);
        case ir::BinaryOp::gt:
          return compare(K::lt, true);
        case ir::BinaryOp::ge:
          return compare(K::le, true);
        case ir::BinaryOp::eq:
          return compare(K::eq, false);
        case ir::BinaryOp::ne:
          return negation(compare(K::eq, false));
        case ir::BinaryOp::logical_and:
          return junction(K::conjunction, condition(*b->left), condition(*b->right));
        case ir::BinaryOp::logical_or:
          return junction(K::disjunction, condition(*b->left), condition(*b->right));
        default:
          break;
      }
    }
    return negation(comparison(K::eq, expression(e), number(0)));
  }

  // ---------------------------------------------------------------------------------------------- operands
  std::uint32_t variable_of(VarId id) {
    const auto [it, added] =
        variables_.emplace(index(id), static_cast<std::uint32_t>(term_.variables.size()));
    if (added) {
      const prog::Variable& v = program_.variables.at(index(id));
      Variable out{v.name, index(id), v.barrier, {}, v.shape.size(), {}};
      for (const auto& e : v.shape) {
        const Linear extent = expression(*e);
        if (!extent.is_constant()) throw Unsupported{"the extent of " + v.name + " is not a number"};
        out.extents.push_back(std::max<std::int64_t>(extent.constant, 0));
      }
      term_.variables.push_back(std::move(out));
    }
    return it->second;
  }
  Access access(const prog::Target& target) {
    Access out{variable_of(target.var), {}, false};
    for (const prog::Window& w : target.index) {
      Window window{expression(*w.lo), std::nullopt};
      if (w.interval()) window.hi = minus(expression(*w.hi), number(1));
      out.index.push_back(std::move(window));
    }
    out.clip = target.clip && !term_.variables[out.variable].barrier && !inside(out);
    return out;
  }
  bool inside(const Access& a) const {
    const auto& extents = term_.variables[a.variable].extents;
    for (std::size_t d = 0; d < a.index.size(); ++d) {
      const auto low = range(a.index[d].lo, term_);
      const auto high = a.index[d].hi ? range(*a.index[d].hi, term_) : low;
      if (!low || !high || low->first < 0 || high->second >= extents[d]) return false;
    }
    return true;
  }
  Access whole(VarId id) {
    Access out{variable_of(id), {}, false};
    for (const std::int64_t extent : term_.variables[out.variable].extents)
      out.index.push_back({number(0), number(extent - 1)});
    return out;
  }
  std::vector<Access> accesses(const std::vector<prog::Target>& targets) {
    std::vector<Access> out;
    for (const prog::Target& t : targets) out.push_back(access(t));
    return out;
  }
  std::uint32_t threads(std::uint32_t map) {
    const prog::ThreadMap& m = program_.maps.at(map);
    Threads out;
    if (!m.all_threads) {
      for (const auto& dim : m.dims) {
        Linear lo = number(dim.offset);
        for (const auto& [symbol, coefficient] : dim.terms) {
          const auto value = values_.find(symbol);
          semantics::ensure(value != values_.end(), "an iterator of a thread map is in scope");
          lo = plus(lo, times(coefficient, value->second));
        }
        out.push_back({dim.extent, std::move(lo), dim.box});
      }
      // A cluster of one thread has a dimension, too: without any, every thread would be meant.
      if (out.empty()) out.push_back({1, number(0), 1});
    }
    const auto same = [&](const Threads& other) {
      return std::equal(out.begin(), out.end(), other.begin(), other.end(),
                        [](const ThreadDim& a, const ThreadDim& b) {
                          return a.extent == b.extent && a.lo == b.lo && a.box == b.box;
                        });
    };
    const auto it = std::find_if(term_.threads.begin(), term_.threads.end(), same);
    if (it != term_.threads.end()) return static_cast<std::uint32_t>(it - term_.threads.begin());
    term_.threads.push_back(std::move(out));
    return static_cast<std::uint32_t>(term_.threads.size() - 1);
  }

  // ---------------------------------------------------------------------------------------------- statements
  Block block(const prog::Body& body) {
    Block out;
    for (const prog::Node& node : body) statement(out, node);
    return out;
  }
  void statement(Block& out, const prog::Node& node) {
    if (const auto* loop = std::get_if<prog::Loop>(&node.node)) return this->loop(out, *loop);
    if (const auto* branch = std::get_if<prog::Branch>(&node.node)) return this->branch(out, *branch);
    if (std::holds_alternative<prog::IncTask>(node.node)) {
      out.push_back({NextTask{}});
    } else if (auto leaf = this->leaf(node)) {
      out.push_back({std::move(*leaf)});
    }
  }
  void loop(Block& out, const prog::Loop& loop) {
    const Linear lo = expression(*loop.lo), hi = expression(*loop.hi);
    const Linear trips = minus(hi, lo);
    if (trips.is_constant() && trips.constant <= 0) return;
    if (trips == number(1)) {
      values_[loop.iter] = lo;
      Block body = block(loop.body);
      std::move(body.begin(), body.end(), std::back_inserter(out));
    } else {
      const std::uint32_t id = iterator(loop.iter);
      values_[loop.iter] = variable(id);
      const auto low = range(lo, term_), high = range(hi, term_);
      if (low && high) {
        term_.ranges[id] = {low->first, std::max(high->second - 1, low->first)};
      } else {
        term_.ranges.erase(id);
      }
      out.push_back({Loop{id, lo, hi, block(loop.body)}});
    }
    values_.erase(loop.iter);
  }
  void branch(Block& out, const prog::Branch& branch) {
    const auto add = [&](Condition c, const prog::Body& body) {
      if (body.empty() || (c.kind == Condition::Kind::constant && !c.value)) return;
      Block inner = block(body);
      if (c.kind == Condition::Kind::constant) {
        std::move(inner.begin(), inner.end(), std::back_inserter(out));
      } else if (!inner.empty()) {
        out.push_back({Branch{std::move(c), std::move(inner)}});
      }
    };
    const Condition c = condition(*branch.condition);
    add(c, branch.then_body);
    add(negation(c), branch.else_body);
  }
  std::optional<Leaf> leaf(const prog::Node& node) {
    Leaf out;
    out.label = static_cast<std::uint32_t>(node.id);
    const bool everyone = program_.maps.at(node.map).all_threads;
    const bool wanted =
        std::visit(overloaded{
                       [&](const prog::Check& s) {
                         out.kind = LeafKind::check;
                         out.mutate = !s.reads;
                         out.convergent = s.convergent || everyone;
                         const Level level = demand(s, Qual::cpu, rules_).level;
                         out.need = level == Level::full ? 'f' : level == Level::temporal ? 't' : 'a';
                         out.target = access(s.target);
                         out.quals = s.quals;
                         return true;
                       },
                       [&](const prog::Record& s) {
                         out.kind = LeafKind::record;
                         out.mutate = s.mutate;
                         out.convergent = s.convergent || everyone;
                         out.out_of_order = !s.in_order;
                         out.target = access(s.target);
                         out.qual = s.qual;
                         out.quals = s.atomic;
                         out.others = accesses(s.pending);
                         return true;
                       },
                       [&](const prog::CheckBarrier& s) {
                         out.kind = LeafKind::barrier;
                         out.target = whole(s.var);
                         return true;
                       },
                       [&](const prog::Fence& s) {
                         out.kind = LeafKind::fence;
                         out.transitive = s.transitive;
                         out.quals = s.first;
                         out.full = s.full;
                         out.temporal = s.temporal;
                         return true;
                       },
                       [&](const prog::Arrive& s) {
                         out.kind = LeafKind::arrive;
                         out.transitive = s.transitive;
                         out.quals = s.first;
                         out.target = access(s.home);
                         out.others = accesses(s.referenced);
                         return true;
                       },
                       [&](const prog::Await& s) {
                         out.kind = LeafKind::await;
                         out.target = access(s.barrier);
                         out.full = s.full;
                         out.temporal = s.temporal;
                         out.n = s.n;
                         out.one = s.n >= 0 && program_.variables[index(s.barrier.var)].lowered ==
                                                   semantics::LoweredBarrier::cluster_sync;
                         return true;
                       },
                       [&](const prog::Alloc& s) {
                         out.kind = LeafKind::alloc;
                         out.target = whole(s.var);
                         return true;
                       },
                       [&](const prog::Free& s) {
                         // A barrier's counters begin anew at its next Alloc; until then nothing asks for
                         // them.
                         if (program_.variables[index(s.var)].barrier) return false;
                         out.kind = LeafKind::alloc;
                         out.target = whole(s.var);
                         return true;
                       },
                       [](const auto&) { return false; },
                   },
                   node.node);
    if (!wanted) return std::nullopt;
    out.threads = threads(node.map);
    return out;
  }

  const Program& program_;
  const Sizes& sizes_;
  const ModeRules& rules_;
  Term term_;
  std::unordered_map<SymId, Linear> values_;  // iterators in scope
  std::unordered_map<SymId, std::uint32_t> iterators_;
  std::unordered_map<std::size_t, std::uint32_t> variables_;
};

}  // namespace

std::variant<Term, std::string> translate(const Program& program, const Sizes& sizes, const ModeRules& rules,
                                          std::optional<SymId> symbol) {
  try {
    return Translator(program, sizes, rules, symbol).run();
  } catch (const Unsupported& u) {
    return u.why;
  }
}

std::optional<std::pair<std::int64_t, std::int64_t>> range(const Linear& e, const Term& term) {
  std::int64_t low = e.constant, high = e.constant;
  for (const auto& [coefficient, atom] : e.terms) {
    std::pair<std::int64_t, std::int64_t> values;
    if (atom.kind == Atom::Kind::mod && atom.right->is_constant() && atom.right->constant > 0) {
      values = {0, atom.right->constant - 1};
    } else if (atom.kind == Atom::Kind::variable && term.ranges.contains(atom.variable)) {
      values = term.ranges.at(atom.variable);
    } else if (atom.kind == Atom::Kind::div && atom.right->is_constant() && atom.right->constant > 0) {
      const auto inner = range(*atom.left, term);
      if (!inner) return std::nullopt;
      values = {ir::floor_div(inner->first, atom.right->constant),
                ir::floor_div(inner->second, atom.right->constant)};
    } else {
      return std::nullopt;
    }
    const std::int64_t a = ir::checked_mul(coefficient, values.first),
                       b = ir::checked_mul(coefficient, values.second);
    low = ir::checked_add(low, std::min(a, b));
    high = ir::checked_add(high, std::max(a, b));
  }
  return std::pair{low, high};
}

}  // namespace exocheck::amir::certificate
