#include "smt/smtlib.hpp"

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "semantics/errors.hpp"

namespace exocheck::smt {
namespace {

std::string number(std::int64_t value) {
  const std::string digits = std::to_string(value);
  return value < 0 ? "(- " + digits.substr(1) + ")" : digits;
}

// Simple symbols stand as they are, others between bars.
std::string quoted(const std::string& name) {
  const bool simple =
      !name.empty() &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_!.") ==
          std::string::npos &&
      (name[0] < '0' || name[0] > '9');
  if (simple) return name;
  std::string inner;
  for (const char c : name) inner += c == '|' || c == '\\' ? '_' : c;
  return "|" + inner + "|";
}

class Writer {
 public:
  std::string text(const Query& query, const SmtlibHeader& header) {
    // Assertions first: they determine the names and definitions that stand before them.
    std::string assertions;
    taken_.insert("goal");
    for (const Assumption* a : query.assumptions.in_order()) taken_.insert(quoted(a->label));
    for (const Assumption* a : query.assumptions.in_order()) {
      assertions += named(term(a->condition), a->label);
    }
    if (query.goal) assertions += named("(not " + term(*query.goal) + ")", "goal");

    std::string out = "; exocheck-obligation/1\n";
    comment(out, "id", header.id);
    comment(out, "rule", header.rule);
    comment(out, "source", header.source);
    comment(out, "meaning", header.meaning);
    out += "(set-logic QF_LIA)\n(set-info :status " + header.status + ")\n";
    return out + declarations_ + definitions_ + assertions + "(check-sat)\n";
  }

 private:
  static void comment(std::string& out, const char* key, std::string value) {
    if (value.empty()) return;
    for (char& c : value) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    out += std::string("; ") + key + ": " + value + "\n";
  }

  static std::string named(const std::string& body, const std::string& label) {
    return "(assert (! " + body + " :named " + quoted(label) + "))\n";
  }

  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    for (int suffix = 1; !taken_.insert(quoted(name)).second; ++suffix)
      name = wanted + "!" + std::to_string(suffix);
    return quoted(name);
  }

  std::string variable(const Variable& v) {
    const auto found = variables_.find(v.id);
    if (found != variables_.end()) return found->second;
    std::string name = fresh(v.name);
    declarations_ += "(declare-const " + name + (v.sort == Sort::boolean ? " Bool)\n" : " Int)\n");
    variables_.emplace(v.id, name);
    return name;
  }

  std::string quotient(const std::string& numerator, std::int64_t divisor) {
    const auto key = std::pair{numerator, divisor};
    const auto found = quotients_.find(key);
    if (found != quotients_.end()) return found->second;
    const std::string index = std::to_string(quotients_.size() + 1);
    std::string q = fresh("q." + index);
    declarations_ += "(declare-const " + q + " Int)\n";
    const std::string product = "(* " + number(divisor) + " " + q + ")";
    definitions_ += named("(and (<= " + product + " " + numerator + ") (< " + numerator + " (+ " + product +
                              " " + number(divisor) + ")))",
                          "def." + index);
    quotients_.emplace(key, q);
    return q;
  }

  std::string apply(const char* op, const Term& t) {
    const std::string left = term(t.left());
    return std::string("(") + op + " " + left + " " + term(t.right()) + ")";
  }

  std::string term(const Term& t) {
    switch (t.op()) {
      case Op::int_const:
        return number(t.value());
      case Op::bool_const:
        return t.value() != 0 ? "true" : "false";
      case Op::variable:
        return variable(t.variable());
      case Op::add:
        return apply("+", t);
      case Op::sub:
        return apply("-", t);
      case Op::mul:
        return "(* " + number(t.value()) + " " + term(t.left()) + ")";
      case Op::div:
        return quotient(term(t.left()), t.value());
      case Op::mod: {
        const std::string a = term(t.left());
        return "(- " + a + " (* " + number(t.value()) + " " + quotient(a, t.value()) + "))";
      }
      case Op::le:
        return apply("<=", t);
      case Op::lt:
        return apply("<", t);
      case Op::eq:
      case Op::iff:
        return apply("=", t);
      case Op::conj:
        return apply("and", t);
      case Op::disj:
        return apply("or", t);
      case Op::negation:
        return "(not " + term(t.left()) + ")";
    }
    throw semantics::InternalError("unknown term");
  }

  std::string declarations_, definitions_;
  std::set<std::string> taken_;
  std::unordered_map<std::uint32_t, std::string> variables_;
  std::map<std::pair<std::string, std::int64_t>, std::string> quotients_;
};

}  // namespace

std::string smtlib(const Query& query, const SmtlibHeader& header) { return Writer().text(query, header); }

}  // namespace exocheck::smt
