#include "amir/certificate_print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::amir::certificate {
namespace {

// A deeply nested term overflows the stack of Rocq's parser.
constexpr std::size_t statements_per_definition = 200;

std::string literal(std::int64_t value) {
  return value < 0 ? fmt::format("({})", value) : std::to_string(value);
}
std::string constant(std::int64_t value) { return fmt::format("CK {}", literal(value)); }
std::string boolean(bool b) { return b ? "true" : "false"; }
std::string mask(semantics::QualSet quals) { return fmt::format("{}%N", quals.bits()); }

std::string print(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::variable:
      return fmt::format("CV {}", atom.variable);
    case Atom::Kind::div:
      return fmt::format("CDiv ({}) ({})", print(*atom.left), print(*atom.right));
    case Atom::Kind::mod:
      return fmt::format("CMod ({}) ({})", print(*atom.left), print(*atom.right));
    case Atom::Kind::product:
      return fmt::format("CMul ({}) ({})", print(*atom.left), print(*atom.right));
  }
  throw semantics::InternalError("unknown atom");
}

std::string print(const Condition& c) {
  const auto operands = [&](const char* name) {
    return fmt::format("{} ({}) ({})", name, print(c.operands[0]), print(c.operands[1]));
  };
  switch (c.kind) {
    case Condition::Kind::constant:
      return c.value ? "BT" : "BNot BT";
    case Condition::Kind::le:
      return fmt::format("BLe ({}) ({})", print(c.left), print(c.right));
    case Condition::Kind::lt:
      return fmt::format("BLt ({}) ({})", print(c.left), print(c.right));
    case Condition::Kind::eq:
      return fmt::format("BEq ({}) ({})", print(c.left), print(c.right));
    case Condition::Kind::negation:
      return fmt::format("BNot ({})", print(c.operands[0]));
    case Condition::Kind::conjunction:
      return operands("BAnd");
    case Condition::Kind::disjunction:
      return operands("BOr");
  }
  throw semantics::InternalError("unknown condition");
}

std::string print(const Window& w) {
  if (!w.hi) return fmt::format("Pt ({})", print(w.lo));
  return fmt::format("Rg ({}) ({})", print(w.lo), print(*w.hi));
}

}  // namespace

std::string print(const Linear& e) {
  std::string out;
  for (const auto& [coefficient, atom] : e.terms) {
    const std::string factor =
        coefficient == 1 ? print(atom) : fmt::format("CMul ({}) ({})", constant(coefficient), print(atom));
    out = out.empty() ? factor : fmt::format("CAdd ({}) ({})", out, factor);
  }
  if (out.empty()) return constant(e.constant);
  return e.constant == 0 ? out : fmt::format("CAdd ({}) ({})", out, constant(e.constant));
}

std::string print_size(const Linear& e, const std::string& name) {
  std::string out;
  for (const auto& [coefficient, atom] : e.terms) {
    std::string factor;
    switch (atom.kind) {
      case Atom::Kind::variable:
        factor = name;
        break;
      case Atom::Kind::div:
        factor = fmt::format("({} / {})", print_size(*atom.left, name), print_size(*atom.right, name));
        break;
      case Atom::Kind::mod:
        factor = fmt::format("({} mod {})", print_size(*atom.left, name), print_size(*atom.right, name));
        break;
      case Atom::Kind::product:
        factor = fmt::format("({} * {})", print_size(*atom.left, name), print_size(*atom.right, name));
        break;
    }
    if (coefficient != 1) factor = fmt::format("{} * {}", literal(coefficient), factor);
    out += (out.empty() ? "" : " + ") + factor;
  }
  if (out.empty()) return literal(e.constant);
  return e.constant == 0 && e.terms.size() == 1 ? out : fmt::format("({} + {})", out, literal(e.constant));
}

Definitions::Definitions(const Term& term) : term_(term) {}

std::string Definitions::operands() const {
  std::string out;
  for (std::size_t i = 0; i < term_.threads.size(); ++i) {
    std::string dims;
    for (const ThreadDim& d : term_.threads[i]) {
      const bool all = d.lo == number(0) && d.box == d.extent;
      dims +=
          (dims.empty() ? "" : "; ") + (all ? fmt::format("all_of {}", d.extent)
                                            : fmt::format("dim {} ({}) {}", d.extent, print(d.lo), d.box));
    }
    out += fmt::format("Definition m{} : tmap := {}.\n", i, dims.empty() ? "TAll" : "TCub [" + dims + "]");
  }
  for (std::size_t i = 0; i < accesses_.size(); ++i)
    out += fmt::format("Definition a{} : acx := {}.\n", i, accesses_[i]);
  return out;
}

std::string Definitions::access(const Access& a) {
  const Variable& v = term_.variables.at(a.variable);
  std::vector<std::string> windows;
  for (const Window& w : a.index) windows.push_back(print(w));
  const std::string text = fmt::format("{} {} [{}] [{}]", a.clip ? "clipped" : "access", a.variable,
                                       fmt::join(v.extents, "; "), fmt::join(windows, "; "));
  const auto it = std::find(accesses_.begin(), accesses_.end(), text);
  const auto number = it - accesses_.begin();
  if (it == accesses_.end()) accesses_.push_back(text);
  return fmt::format("a{}", number);
}

std::string Definitions::accesses(const std::vector<Access>& list) {
  std::vector<std::string> names;
  for (const Access& a : list) names.push_back(access(a));
  return fmt::format("[{}]", fmt::join(names, "; "));
}

std::string Definitions::leaf(const Leaf& s) {
  switch (s.kind) {
    case LeafKind::alloc:
      return fmt::format("LAlloc {}", access(s.target));
    case LeafKind::record:
      return fmt::format("LRec {} {} {} {} {}%N {} {}", boolean(s.mutate), boolean(s.convergent),
                         boolean(s.out_of_order), access(s.target), static_cast<int>(s.qual), mask(s.quals),
                         accesses(s.others));
    case LeafKind::check:
      return fmt::format("LChk {} {} f{} {} {}", boolean(s.mutate), boolean(s.convergent), s.need,
                         access(s.target), mask(s.quals));
    case LeafKind::barrier:
      return fmt::format("LBar {}", access(s.target));
    case LeafKind::fence:
      return fmt::format("LFence {} {} {} {}", boolean(s.transitive), mask(s.quals), mask(s.full),
                         mask(s.temporal));
    case LeafKind::arrive:
      return fmt::format("LArrive {} {} {} {}", boolean(s.transitive), mask(s.quals), access(s.target),
                         accesses(s.others));
    case LeafKind::await:
      return fmt::format("LAwait {} {} {} {} {}", access(s.target), mask(s.full), mask(s.temporal),
                         literal(s.n), boolean(s.one));
  }
  throw semantics::InternalError("unknown leaf");
}

std::string Definitions::statement(const Stmt& s) {
  if (const auto* loop = std::get_if<Loop>(&s.node))
    return fmt::format("For {} ({}) ({}) ({})", loop->iterator, print(loop->lo), print(loop->hi),
                       list(loop->body));
  if (const auto* branch = std::get_if<Branch>(&s.node))
    return fmt::format("If ({}) ({})", print(branch->condition), list(branch->body));
  if (const auto* leaf = std::get_if<Leaf>(&s.node))
    return fmt::format("Leaf {} m{} ({})", leaf->label, leaf->threads, this->leaf(*leaf));
  return "IncTask";
}

std::string Definitions::list(const Block& block) {
  std::vector<std::string> texts;
  for (const Stmt& s : block) texts.push_back(statement(s));
  return fmt::format("seqs [\n  {}]", fmt::join(texts, ";\n  "));
}

std::string Definitions::statements(const std::string& name, const Block& block) {
  if (block.size() <= statements_per_definition)
    return fmt::format("Definition {} : stmt := {}.\n", name, list(block));
  std::string out;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < block.size(); i += statements_per_definition) {
    const auto begin = block.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end =
        block.begin() + static_cast<std::ptrdiff_t>(std::min(i + statements_per_definition, block.size()));
    parts.push_back(fmt::format("{}_{}", name, parts.size()));
    out += fmt::format("Definition {} : stmt := {}.\n", parts.back(), list(Block(begin, end)));
  }
  return out + fmt::format("Definition {} : stmt := seqs [{}].\n", name, fmt::join(parts, "; "));
}

std::string tiles(const Term& term) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < term.variables.size(); ++i) {
    const Variable& v = term.variables[i];
    if (v.kept == v.extents.size()) continue;
    const std::vector<std::int64_t> dropped(v.extents.begin() + static_cast<std::ptrdiff_t>(v.kept),
                                            v.extents.end());
    rows.push_back(fmt::format("({}%N, ({}%nat, [{}]))", i, v.kept, fmt::join(dropped, "; ")));
  }
  return fmt::format("Definition tiles : list (N * (nat * list Z)) := [{}].\n", fmt::join(rows, "; "));
}

std::string lags(const Lags& lags) {
  std::vector<std::string> rows;
  for (const auto& [variable, n] : lags) rows.push_back(fmt::format("({}%N, {})", variable, literal(n)));
  return fmt::format("Definition lags : list (N * Z) := [{}].\n", fmt::join(rows, "; "));
}

}  // namespace exocheck::amir::certificate
