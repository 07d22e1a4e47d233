#include "amir/certificate_term.hpp"

#include "semantics/ir_util.hpp"

namespace exocheck::amir::certificate {

using semantics::ir::checked_add;
using semantics::ir::checked_mul;

bool operator==(const Atom& a, const Atom& b) {
  if (a.kind != b.kind || a.variable != b.variable) return false;
  if (a.kind == Atom::Kind::variable) return true;
  return *a.left == *b.left && *a.right == *b.right;
}

Linear number(std::int64_t value) { return {value, {}}; }

Linear variable(std::uint32_t id) { return {0, {{1, Atom{Atom::Kind::variable, id, nullptr, nullptr}}}}; }

Linear plus(const Linear& a, const Linear& b) {
  Linear out = a;
  out.constant = checked_add(out.constant, b.constant);
  for (const auto& [coefficient, atom] : b.terms) {
    bool found = false;
    for (auto it = out.terms.begin(); it != out.terms.end(); ++it) {
      if (!(it->second == atom)) continue;
      it->first = checked_add(it->first, coefficient);
      if (it->first == 0) out.terms.erase(it);
      found = true;
      break;
    }
    if (!found) out.terms.emplace_back(coefficient, atom);
  }
  return out;
}

Linear times(std::int64_t factor, const Linear& a) {
  if (factor == 0) return number(0);
  Linear out = a;
  out.constant = checked_mul(factor, out.constant);
  for (auto& [coefficient, atom] : out.terms) coefficient = checked_mul(factor, coefficient);
  return out;
}

Linear minus(const Linear& a, const Linear& b) { return plus(a, times(-1, b)); }

namespace {

Linear composed(Atom::Kind kind, const Linear& a, const Linear& b) {
  return {0, {{1, Atom{kind, 0, std::make_shared<const Linear>(a), std::make_shared<const Linear>(b)}}}};
}

}  // namespace

Linear product(const Linear& a, const Linear& b) {
  if (a.is_constant()) return times(a.constant, b);
  if (b.is_constant()) return times(b.constant, a);
  return composed(Atom::Kind::product, a, b);
}

Linear floor_div(const Linear& a, const Linear& b) {
  if (a.is_constant() && b.is_constant() && b.constant > 0)
    return number(semantics::ir::floor_div(a.constant, b.constant));
  if (b.is_constant() && b.constant == 1) return a;
  return composed(Atom::Kind::div, a, b);
}

Linear floor_mod(const Linear& a, const Linear& b) {
  if (a.is_constant() && b.is_constant() && b.constant > 0)
    return number(semantics::ir::floor_mod(a.constant, b.constant));
  if (b.is_constant() && b.constant == 1) return number(0);
  return composed(Atom::Kind::mod, a, b);
}

bool mentions(const Linear& e, std::uint32_t variable) {
  for (const auto& [coefficient, atom] : e.terms) {
    if (atom.kind == Atom::Kind::variable
            ? atom.variable == variable
            : mentions(*atom.left, variable) || mentions(*atom.right, variable)) {
      return true;
    }
  }
  return false;
}

}  // namespace exocheck::amir::certificate
