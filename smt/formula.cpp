#include "smt/formula.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"
#include "smt/quick.hpp"

namespace exocheck::smt {

using semantics::InternalError;
using semantics::ir::checked_add;
using semantics::ir::checked_mul;
using semantics::ir::checked_sub;
using semantics::ir::floor_div;
using semantics::ir::overloaded;
namespace ir = semantics::ir;

namespace {

constexpr std::uint64_t largest_size = std::uint64_t{1} << 62;

}  // namespace

// ------------------------------------------------------------------------------------------- integers

Linear Formulas::declare(std::string name, VariableRole role) {
  return atoms_.linear(Variable{next_variable_++, Sort::integer, role, std::move(name)});
}

Linear Formulas::remainder(const Linear& a, std::int64_t divisor) {
  return combine(1, a, checked_sub(0, divisor), quotient(a, divisor));
}

std::optional<Linear> Formulas::linear(const ir::Expr& e, const Values& values) {
  return std::visit(overloaded{
                        [](const ir::IntConst& c) -> std::optional<Linear> {
                          return Linear{{}, c.value};
                        },
                        [](const ir::BoolConst& c) -> std::optional<Linear> {
                          return Linear{{}, c.value ? 1 : 0};
                        },
                        [&](const ir::VarRef& v) { return values(v.var); },
                        [&](const ir::Unary& u) -> std::optional<Linear> {
                          if (u.op != ir::UnaryOp::neg) return std::nullopt;
                          const auto a = linear(*u.operand, values);
                          if (!a) return std::nullopt;
                          return combine(-1, *a, 0, Linear{});
                        },
                        [&](const ir::Binary& b) -> std::optional<Linear> {
                          const auto left = linear(*b.left, values);
                          const auto right = left ? linear(*b.right, values) : std::nullopt;
                          if (!right) return std::nullopt;
                          switch (b.op) {
                            case ir::BinaryOp::add:
                              return combine(1, *left, 1, *right);
                            case ir::BinaryOp::sub:
                              return combine(1, *left, -1, *right);
                            case ir::BinaryOp::mul:
                              if (left->is_constant()) return combine(left->constant, *right, 0, Linear{});
                              if (right->is_constant()) return combine(right->constant, *left, 0, Linear{});
                              return std::nullopt;
                            case ir::BinaryOp::div:
                              if (!right->is_constant() || right->constant <= 0) return std::nullopt;
                              return quotient(*left, right->constant);
                            case ir::BinaryOp::mod:
                              if (!right->is_constant() || right->constant <= 0) return std::nullopt;
                              return remainder(*left, right->constant);
                            default:
                              return std::nullopt;
                          }
                        },
                        [](const auto&) -> std::optional<Linear> { return std::nullopt; },
                    },
                    e.node);
}

bool Formulas::mentions(const Linear& a, AtomId variable) const {
  return std::any_of(a.terms.begin(), a.terms.end(), [&](const auto& term) {
    const auto& q = atoms_.quotient(term.first);
    return term.first == variable || (q && mentions(q->numerator, variable));
  });
}

Linear Formulas::substitute(const Linear& a, AtomId variable, const Linear& value) {
  if (!mentions(a, variable)) return a;
  Linear out{{}, a.constant};
  for (const auto& [id, factor] : a.terms) {
    if (id == variable) {
      out = combine(1, out, factor, value);
    } else if (const auto q = atoms_.quotient(id); q && mentions(q->numerator, variable)) {
      out = combine(1, out, factor, quotient(substitute(q->numerator, variable, value), q->divisor));
    } else {
      out = combine(1, out, factor, Linear{{{id, 1}}, 0});
    }
  }
  return out;
}

// ------------------------------------------------------------------------------------------- formulas

FormulaId Formulas::intern(Node n) {
  const auto found = ids_.find(n);
  if (found != ids_.end()) return found->second;
  const FormulaId id{static_cast<std::uint32_t>(nodes_.size())};
  nodes_.push_back(n);
  ids_.emplace(std::move(n), id);
  return id;
}

FormulaId Formulas::at_most_zero(Linear a) {
  if (a.is_constant()) return a.constant <= 0 ? FormulaId::yes : FormulaId::no;
  return intern({Kind::le, tighten(std::move(a)), {}});
}

FormulaId Formulas::zero(Linear a) {
  if (a.is_constant()) return a.constant == 0 ? FormulaId::yes : FormulaId::no;
  std::int64_t g = 0;
  for (const auto& [id, c] : a.terms) g = std::gcd(g, c);
  if (a.constant % g != 0) return FormulaId::no;
  if (a.terms.front().second < 0) g = -g;
  for (auto& [id, c] : a.terms) c /= g;
  a.constant /= g;
  return intern({Kind::eq, std::move(a), {}});
}

FormulaId Formulas::less(const Linear& a, const Linear& b) {
  Linear difference = combine(1, a, -1, b);
  difference.constant = checked_add(difference.constant, 1);
  return at_most_zero(std::move(difference));
}

FormulaId Formulas::negate(FormulaId f) {
  const Node n = node(f);
  switch (n.kind) {
    case Kind::no:
      return FormulaId::yes;
    case Kind::yes:
      return FormulaId::no;
    case Kind::le: {
      Linear a = combine(-1, n.a, 0, Linear{});
      a.constant = checked_add(a.constant, 1);
      return at_most_zero(std::move(a));
    }
    case Kind::eq:
      return intern({Kind::ne, n.a, {}});
    case Kind::ne:
      return intern({Kind::eq, n.a, {}});
    case Kind::conj:
    case Kind::disj: {
      std::vector<FormulaId> parts;
      for (const FormulaId p : n.parts) parts.push_back(negate(p));
      return nary(n.kind == Kind::conj ? Kind::disj : Kind::conj, std::move(parts));
    }
  }
  throw InternalError("unknown kind of formula");
}

FormulaId Formulas::nary(Kind kind, std::vector<FormulaId> parts) {
  const FormulaId neutral = kind == Kind::conj ? FormulaId::yes : FormulaId::no;
  const FormulaId absorbing = kind == Kind::conj ? FormulaId::no : FormulaId::yes;
  std::vector<FormulaId> flat;
  for (const FormulaId p : parts) {
    if (p == absorbing) return absorbing;
    if (p == neutral) continue;
    const Node& n = node(p);
    if (n.kind == kind) {
      flat.insert(flat.end(), n.parts.begin(), n.parts.end());
    } else {
      flat.push_back(p);
    }
  }
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  for (const FormulaId p : flat) {
    const Kind k = node(p).kind;
    if (k != Kind::le && k != Kind::eq && k != Kind::ne) continue;
    if (std::binary_search(flat.begin(), flat.end(), negate(p))) return absorbing;
  }
  if (flat.empty()) return neutral;
  if (flat.size() == 1) return flat.front();
  std::uint64_t size = 0;
  for (const FormulaId p : flat) size = std::min(largest_size, size + node(p).size);
  return intern({kind, {}, std::move(flat), size});
}

std::vector<FormulaId> Formulas::conjuncts(FormulaId f) const {
  if (f == FormulaId::yes) return {};
  const Node& n = node(f);
  return n.kind == Kind::conj ? n.parts : std::vector{f};
}

FormulaId Formulas::join(FormulaId a, FormulaId b) {
  if (a == b || b == FormulaId::no) return a;
  if (a == FormulaId::no) return b;
  const std::vector<FormulaId> x = conjuncts(a), y = conjuncts(b);
  std::vector<FormulaId> common, rest_x, rest_y;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(common));
  std::set_difference(x.begin(), x.end(), common.begin(), common.end(), std::back_inserter(rest_x));
  std::set_difference(y.begin(), y.end(), common.begin(), common.end(), std::back_inserter(rest_y));
  if (!rest_x.empty() && !rest_y.empty()) {
    const FormulaId left = nary(Kind::conj, std::move(rest_x)), right = nary(Kind::conj, std::move(rest_y));
    if (right != negate(left)) common.push_back(disj(left, right));
  }
  return nary(Kind::conj, std::move(common));
}

FormulaId Formulas::without(FormulaId f, FormulaId known) {
  const std::vector<FormulaId> x = conjuncts(f), y = conjuncts(known);
  std::vector<FormulaId> rest;
  std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(rest));
  return nary(Kind::conj, std::move(rest));
}

std::optional<FormulaId> Formulas::condition(const ir::Expr& e, const Values& values) {
  const auto* binary = std::get_if<ir::Binary>(&e.node);
  const auto* unary = std::get_if<ir::Unary>(&e.node);
  if (unary != nullptr && unary->op == ir::UnaryOp::logical_not) {
    const auto f = condition(*unary->operand, values);
    if (!f) return std::nullopt;
    return negate(*f);
  }
  if (binary == nullptr || binary->op < ir::BinaryOp::lt) {
    // A boolean parameter or constant: 1 is true.
    const auto a = linear(e, values);
    if (!a) return std::nullopt;
    return negate(zero(*a));
  }
  const bool booleans = binary->op == ir::BinaryOp::logical_and || binary->op == ir::BinaryOp::logical_or ||
                        binary->left->type.kind == ir::TypeKind::boolean;
  if (booleans) {
    const auto a = condition(*binary->left, values);
    const auto b = a ? condition(*binary->right, values) : std::nullopt;
    if (!b) return std::nullopt;
    if (binary->op == ir::BinaryOp::logical_and) return conj(*a, *b);
    if (binary->op == ir::BinaryOp::logical_or) return disj(*a, *b);
    const FormulaId same = disj(conj(*a, *b), conj(negate(*a), negate(*b)));
    if (binary->op == ir::BinaryOp::eq) return same;
    if (binary->op == ir::BinaryOp::ne) return negate(same);
    return std::nullopt;
  }
  const auto a = linear(*binary->left, values);
  const auto b = a ? linear(*binary->right, values) : std::nullopt;
  if (!b) return std::nullopt;
  switch (binary->op) {
    case ir::BinaryOp::lt:
      return less(*a, *b);
    case ir::BinaryOp::gt:
      return less(*b, *a);
    case ir::BinaryOp::le:
      return negate(less(*b, *a));
    case ir::BinaryOp::ge:
      return negate(less(*a, *b));
    case ir::BinaryOp::eq:
      return zero(combine(1, *a, -1, *b));
    case ir::BinaryOp::ne:
      return negate(zero(combine(1, *a, -1, *b)));
    default:
      return std::nullopt;
  }
}

FormulaId Formulas::substitute(FormulaId f, AtomId variable, const Linear& value) {
  if (!mentions(f, variable)) return f;
  const Node n = node(f);
  switch (n.kind) {
    case Kind::no:
    case Kind::yes:
      return f;
    case Kind::le:
      return at_most_zero(substitute(n.a, variable, value));
    case Kind::eq:
      return zero(substitute(n.a, variable, value));
    case Kind::ne:
      return negate(zero(substitute(n.a, variable, value)));
    case Kind::conj:
    case Kind::disj: {
      std::vector<FormulaId> parts;
      for (const FormulaId p : n.parts) parts.push_back(substitute(p, variable, value));
      return nary(n.kind, std::move(parts));
    }
  }
  throw InternalError("unknown kind of formula");
}

bool Formulas::mentions(FormulaId f, AtomId variable) const {
  const Node& n = node(f);
  return mentions(n.a, variable) ||
         std::any_of(n.parts.begin(), n.parts.end(), [&](FormulaId p) { return mentions(p, variable); });
}

void Formulas::comparisons(FormulaId f, std::vector<Comparison>& out) const {
  const Node& n = node(f);
  if (n.kind == Kind::le) out.push_back({false, n.a});
  if (n.kind == Kind::eq || n.kind == Kind::ne) out.push_back({true, n.a});
  for (const FormulaId p : n.parts) comparisons(p, out);
}

// ------------------------------------------------------------------------------------------- questions

void Formulas::facts(FormulaId f, std::vector<Linear>& out) const {
  for (const FormulaId c : conjuncts(f)) {
    const Node& n = node(c);
    if (n.kind == Kind::le || n.kind == Kind::eq) out.push_back(n.a);
    if (n.kind == Kind::eq) out.push_back(combine(-1, n.a, 0, Linear{}));
  }
}

bool Formulas::proves(FormulaId known, const std::vector<Linear>& facts, FormulaId f) {
  const Node n = node(f);
  switch (n.kind) {
    case Kind::no:
      return false;
    case Kind::yes:
      return true;
    case Kind::le:
      return implied(atoms_, facts, n.a);
    case Kind::eq:
      return implied(atoms_, facts, n.a) && implied(atoms_, facts, combine(-1, n.a, 0, Linear{}));
    case Kind::ne: {
      const std::vector<FormulaId> given = conjuncts(known);
      if (std::binary_search(given.begin(), given.end(), f)) return true;
      Linear below = n.a, above = combine(-1, n.a, 0, Linear{});
      below.constant = checked_add(below.constant, 1);
      above.constant = checked_add(above.constant, 1);
      return implied(atoms_, facts, below) || implied(atoms_, facts, above);
    }
    case Kind::conj:
      return std::all_of(n.parts.begin(), n.parts.end(),
                         [&](FormulaId p) { return proves(known, facts, p); });
    case Kind::disj: {
      const std::vector<FormulaId> given = conjuncts(known);
      if (std::binary_search(given.begin(), given.end(), f)) return true;
      return std::any_of(n.parts.begin(), n.parts.end(),
                         [&](FormulaId p) { return proves(known, facts, p); });
    }
  }
  throw InternalError("unknown kind of formula");
}

std::optional<bool> Formulas::decide(FormulaId known, FormulaId f) {
  if (f == FormulaId::yes) return true;
  if (f == FormulaId::no) return false;
  const auto [at, fresh] = decided_.try_emplace({known, f}, std::nullopt);
  if (!fresh) return at->second;
  const FormulaId opposite = negate(f);
  const auto [list, first] = facts_.try_emplace(known);
  if (first) facts(known, list->second);
  std::optional<bool> answer;
  if (proves(known, list->second, f)) {
    answer = true;
  } else if (proves(known, list->second, opposite)) {
    answer = false;
  }
  decided_[{known, f}] = answer;
  return answer;
}

FormulaId Formulas::under(FormulaId known, FormulaId f) {
  if (const auto truth = decide(known, f)) return *truth ? FormulaId::yes : FormulaId::no;
  const Node n = node(f);
  if (n.kind != Kind::conj && n.kind != Kind::disj) return f;
  std::vector<FormulaId> parts;
  for (const FormulaId p : n.parts) parts.push_back(under(known, p));
  return nary(n.kind, std::move(parts));
}

Answer Formulas::solve(FormulaId f) {
  const double left = total_seconds_ - solver_seconds_;
  if (left <= 0) return Unknown{"the solver time for this procedure is used up"};
  Limits limits = limits_;
  limits.milliseconds = static_cast<unsigned>(std::clamp(left * 1000, 1.0, double(limits_.milliseconds)));
  const auto start = std::chrono::steady_clock::now();
  Answer answer = solver_.solve({Assumptions{}.with("path", term(f)), std::nullopt}, limits);
  ++solver_calls_;
  solver_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

Formulas::Satisfiable Formulas::satisfiable(FormulaId f) {
  if (f == FormulaId::yes) return Satisfiable::yes;
  if (f == FormulaId::no) return Satisfiable::no;
  const auto [at, fresh] = satisfiable_.try_emplace(f, Satisfiable::unknown);
  if (!fresh) return at->second;
  // Small sizes and first iterations often do; two tasks often have to differ.
  const Term condition = term(f);
  for (const std::int64_t guess : {1, 2, 16, 64, 512, 4096}) {
    for (const std::int64_t other : {0, 1}) {
      const auto value_of = [=](const Variable& v) -> std::int64_t {
        if (v.role == VariableRole::iterator) return v.id % 2 == 1 ? other : 0;
        return v.role == VariableRole::boolean ? guess % 2 : guess;
      };
      if (evaluate(condition, value_of) != 0) return at->second = Satisfiable::yes;
    }
  }
  const Answer answer = solve(f);
  at->second = std::holds_alternative<Proved>(answer)  ? Satisfiable::no
               : std::holds_alternative<Model>(answer) ? Satisfiable::yes
                                                       : Satisfiable::unknown;
  return at->second;
}

std::optional<bool> Formulas::equivalent(FormulaId a, FormulaId b) {
  if (a == b) return true;
  for (const FormulaId difference : {conj(a, negate(b)), conj(b, negate(a))}) {
    switch (satisfiable(difference)) {
      case Satisfiable::yes:
        return false;
      case Satisfiable::unknown:
        return std::nullopt;
      case Satisfiable::no:
        break;
    }
  }
  return true;
}

Term Formulas::term(const Linear& a) const {
  Term out = integer(a.constant);
  bool first = a.constant == 0;
  for (const auto& [id, factor] : a.terms) {
    const auto& q = atoms_.quotient(id);
    const Term atom = q ? floor_div(term(q->numerator), q->divisor) : smt::variable(*atoms_.variable(id));
    out = first ? scale(factor, atom) : out + scale(factor, atom);
    first = false;
  }
  return out;
}

Term Formulas::term(FormulaId f) const {
  const Node& n = node(f);
  switch (n.kind) {
    case Kind::no:
      return boolean(false);
    case Kind::yes:
      return boolean(true);
    case Kind::le:
      return le(term(n.a), integer(0));
    case Kind::eq:
      return eq(term(n.a), integer(0));
    case Kind::ne:
      return smt::negate(eq(term(n.a), integer(0)));
    case Kind::conj:
    case Kind::disj: {
      Term out = term(n.parts.front());
      for (std::size_t i = 1; i < n.parts.size(); ++i)
        out = n.kind == Kind::conj ? smt::conj(out, term(n.parts[i])) : smt::disj(out, term(n.parts[i]));
      return out;
    }
  }
  throw InternalError("unknown kind of formula");
}

}  // namespace exocheck::smt
