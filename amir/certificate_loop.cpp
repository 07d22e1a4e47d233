#include "amir/certificate_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "semantics/ir_util.hpp"

namespace exocheck::amir::certificate {
namespace {

constexpr std::int64_t most_iterations = 64;

bool mentions(const Condition& c, std::uint32_t variable) {
  return certificate::mentions(c.left, variable) || certificate::mentions(c.right, variable) ||
         std::any_of(c.operands.begin(), c.operands.end(),
                     [&](const Condition& o) { return mentions(o, variable); });
}

bool mentions(const Access& a, std::uint32_t variable) {
  return std::any_of(a.index.begin(), a.index.end(), [&](const Window& w) {
    return certificate::mentions(w.lo, variable) || (w.hi && certificate::mentions(*w.hi, variable));
  });
}

bool mentions(const Block& block, std::uint32_t variable);

bool mentions(const Stmt& s, std::uint32_t variable) {
  if (const auto* leaf = std::get_if<Leaf>(&s.node)) {
    return mentions(leaf->target, variable) ||
           std::any_of(leaf->others.begin(), leaf->others.end(),
                       [&](const Access& a) { return mentions(a, variable); });
  }
  if (const auto* loop = std::get_if<Loop>(&s.node)) {
    return certificate::mentions(loop->lo, variable) || certificate::mentions(loop->hi, variable) ||
           mentions(loop->body, variable);
  }
  const auto* branch = std::get_if<Branch>(&s.node);
  return branch != nullptr && (mentions(branch->condition, variable) || mentions(branch->body, variable));
}

bool mentions(const Block& block, std::uint32_t variable) {
  return std::any_of(block.begin(), block.end(), [&](const Stmt& s) { return mentions(s, variable); });
}

bool has_next_task(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Stmt& s) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) return has_next_task(loop->body);
    if (const auto* branch = std::get_if<Branch>(&s.node)) return has_next_task(branch->body);
    return std::holds_alternative<NextTask>(s.node);
  });
}

void for_each_leaf(const Block& block, const auto& visit) {
  for (const Stmt& s : block) {
    if (const auto* leaf = std::get_if<Leaf>(&s.node)) visit(*leaf);
    if (const auto* loop = std::get_if<Loop>(&s.node)) for_each_leaf(loop->body, visit);
    if (const auto* branch = std::get_if<Branch>(&s.node)) for_each_leaf(branch->body, visit);
  }
}

// All Awaits of a variable with N >= 0: the largest; all with N < 0: the smallest; else none.
std::optional<Lags> lags_of(const Block& block) {
  std::map<std::uint32_t, std::int64_t> out;
  bool mixed = false;
  for_each_leaf(block, [&](const Leaf& leaf) {
    if (leaf.kind != LeafKind::await) return;
    const auto [it, added] = out.emplace(leaf.target.variable, leaf.n);
    if (added) return;
    if ((it->second < 0) != (leaf.n < 0)) mixed = true;
    it->second = leaf.n < 0 ? std::min(it->second, leaf.n) : std::max(it->second, leaf.n);
  });
  if (mixed) return std::nullopt;
  return Lags(out.begin(), out.end());
}

class Body {
 public:
  Body(std::uint32_t iterator) : y_(iterator) {}

  void visit(const Block& block) {
    for (const Stmt& s : block) {
      if (const auto* leaf = std::get_if<Leaf>(&s.node)) {
        access(leaf->target);
        for (const Access& a : leaf->others) access(a);
      } else if (const auto* loop = std::get_if<Loop>(&s.node)) {
        expression(loop->lo);
        expression(loop->hi);
        visit(loop->body);
      } else if (const auto* branch = std::get_if<Branch>(&s.node)) {
        condition(branch->condition);
        visit(branch->body);
      }
    }
  }

  std::int64_t period = 1;
  std::int64_t settled = 1;

 private:
  std::int64_t slope(const Linear& e) const {
    std::int64_t out = 0;
    for (const auto& [coefficient, atom] : e.terms) {
      if (atom.kind == Atom::Kind::variable && atom.variable == y_)
        out = semantics::ir::checked_add(out, coefficient);
    }
    return out;
  }
  void access(const Access& a) {
    for (const Window& w : a.index) {
      expression(w.lo);
      if (w.hi) expression(*w.hi);
    }
  }
  void expression(const Linear& e) {
    for (const auto& [coefficient, atom] : e.terms) {
      if (atom.kind == Atom::Kind::variable) continue;
      expression(*atom.left);
      expression(*atom.right);
      if (atom.kind != Atom::Kind::mod || !atom.right->is_constant()) continue;
      const std::int64_t change = slope(*atom.left);
      if (change == 0) continue;
      const std::int64_t needed = atom.right->constant / std::gcd(atom.right->constant, change);
      period = std::min<std::int64_t>(std::lcm(period, needed), most_iterations + 1);
    }
  }
  void condition(const Condition& c) {
    expression(c.left);
    expression(c.right);
    for (const Condition& o : c.operands) condition(o);
    if (c.kind != Condition::Kind::le && c.kind != Condition::Kind::lt) return;
    // A difference a + b*y keeps its sign from the iteration on where it last changes.
    const Linear difference = minus(c.right, c.left);
    const std::int64_t b = slope(difference);
    if (b == 0) return;
    const std::int64_t root = std::abs(difference.constant / b) + 2;
    settled = std::max(settled, std::min<std::int64_t>(root, most_iterations + 1));
  }

  std::uint32_t y_;
};

}  // namespace

std::variant<OpenLoop, std::string> find_open_loop(const Term& term) {
  if (!term.symbol) return "no size is left open";
  OpenLoop out;
  const Loop* loop = nullptr;
  for (std::size_t i = 0; i < term.body.size(); ++i) {
    if (!mentions(term.body[i], *term.symbol)) continue;
    const auto* candidate = std::get_if<Loop>(&term.body[i].node);
    if (loop != nullptr || candidate == nullptr) return "the size bounds more than one loop";
    loop = candidate;
    out.position = i;
  }
  if (loop == nullptr) return "no loop of the top level is bounded by the size";
  if (loop->lo != number(0) || mentions(loop->body, *term.symbol)) return "the size is used inside the loop";
  if (has_next_task(loop->body)) return "the size bounds a loop over tasks";
  const auto lags = lags_of(term.body);
  if (!lags) return "Awaits of one barrier count arrivals and awaits";
  out.iterator = loop->iterator;
  out.trips = loop->hi;
  out.lags = *lags;
  Body body(loop->iterator);
  body.visit(loop->body);
  if (body.period > most_iterations || body.settled > most_iterations)
    return "the loop repeats after too many iterations";
  out.period = body.period;
  // Once round the ring after the last guard has settled: then every element has been used and handed back.
  out.settled = body.settled + body.period;
  return out;
}

}  // namespace exocheck::amir::certificate
