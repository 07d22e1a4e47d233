#include "amir/check_size_goals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "smt/translate.hpp"

namespace exocheck::amir {

using namespace semantics::ir;
using smt::Assumptions;
using smt::Term;

namespace {

constexpr std::size_t max_goals = 400;

}  // namespace

SizeGoals::SizeGoals(const Procedure& procedure, const WindowTable& windows, const SizeFeatures& features,
                     const Environment& fixed)
    : procedure_(procedure), features_(features), terms_(procedure.symbols.size()) {
  for (const SymId p : procedure.parameters) {
    const Symbol& symbol = procedure.symbol(p);
    if (!symbol.control()) continue;
    const Term value = declare(p);
    if (fixed[p]) {
      const Term given = symbol.kind == SymbolKind::boolean ? iff(value, smt::boolean(*fixed[p] != 0))
                                                            : eq(value, smt::integer(*fixed[p]));
      preconditions_ = preconditions_.with("given." + symbol.name, given);
    } else if (symbol.kind == SymbolKind::size) {
      preconditions_ = preconditions_.with("size." + symbol.name, lt(smt::integer(0), value));
    }
  }
  int number = 0;
  for (const Assertion& a : procedure.assertions) {
    ++number;
    if (reads_config(*a.condition)) continue;
    const auto condition = term(windows.without_strides(a.condition));
    if (condition) {
      preconditions_ = preconditions_.with("pre." + std::to_string(number), *condition);
    } else {
      complete_ = false;
    }
  }
}

std::optional<Term> SizeGoals::term(const ExprPtr& e) const {
  const smt::Bindings bindings{[this](SymId var) { return terms_[index(var)]; },
                               [](SymId, int) { return std::optional<Term>(); },
                               [](const ConfigRead&) { return std::optional<Term>(); }};
  return smt::translate(*e, bindings).term;
}

Term SizeGoals::declare(SymId symbol) {
  const Symbol& s = procedure_.symbol(symbol);
  smt::VariableRole role = smt::VariableRole::iterator;
  if (s.kind == SymbolKind::size) role = smt::VariableRole::size;
  if (s.kind == SymbolKind::index) role = smt::VariableRole::index;
  if (s.kind == SymbolKind::boolean) role = smt::VariableRole::boolean;
  if (s.kind == SymbolKind::stride) role = smt::VariableRole::stride;
  const smt::Sort sort = s.kind == SymbolKind::boolean ? smt::Sort::boolean : smt::Sort::integer;
  const Term t = smt::variable({next_variable_++, sort, role, s.name});
  terms_[index(symbol)] = t;
  return t;
}

std::vector<SizeGoal> SizeGoals::goals() {
  goals_.clear();
  walk(procedure_.body, preconditions_);
  for (std::size_t i = 0; i < features_.divisions().size(); ++i) {
    const ExprPtr& remainder = features_.divisions()[i];
    const auto t = term(remainder);
    if (!t) continue;
    const std::size_t what = procedure_.statement_count + i;
    const Term exact = eq(*t, smt::integer(0));
    const std::string dividend = smt::text(t->op() == smt::Op::mod ? t->left() : *t);
    const std::string divisor = std::to_string(t->op() == smt::Op::mod ? t->value() : 1);
    add({what, 0}, procedure_.name_span, fmt::format("{} divides {}", divisor, dividend), preconditions_,
        exact);
    add({what, 1}, procedure_.name_span, fmt::format("{} does not divide {}", divisor, dividend),
        preconditions_, negate(exact));
  }
  return std::move(goals_);
}

void SizeGoals::add(SizeFeatures::Feature feature, semantics::Span span, std::string meaning,
                    const Assumptions& path, const Term& condition) {
  if (condition.is_false() || goals_.size() >= max_goals) return;
  goals_.push_back({feature, span, std::move(meaning), path, condition});
}

void SizeGoals::walk(const Block& block, const Assumptions& path) {
  for (const Stmt& s : block) {
    if (goals_.size() >= max_goals) return;
    if (const auto* l = std::get_if<For>(&s.node)) {
      loop(s, *l, path);
    } else if (const auto* branch = std::get_if<If>(&s.node)) {
      const auto condition = term(branch->condition);
      Assumptions yes = path;
      Assumptions no = path;
      if (condition) {
        const std::size_t what = index(s.id);
        const std::string text = smt::text(*condition);
        add({what, 1}, s.span, fmt::format("`{}` holds", text), path, *condition);
        add({what, 0}, s.span, fmt::format("`{}` does not hold", text), path, negate(*condition));
        yes = path.with("guard", *condition, smt::Origin::guard);
        no = path.with("guard", negate(*condition), smt::Origin::guard);
      }
      walk(branch->then_body, yes);
      walk(branch->else_body, no);
    } else {
      for (const Block* inner : sub_blocks(s)) walk(*inner, path);
    }
  }
}

void SizeGoals::loop(const Stmt& stmt, const For& loop, const Assumptions& path) {
  const auto lo = term(loop.lo);
  const auto hi = term(loop.hi);
  const std::string& name = procedure_.symbol(loop.iter).name;
  if (lo && hi && loop.mode != LoopMode::cuda_threads) {
    const std::size_t what = index(stmt.id);
    const std::int64_t ring = features_.ring(stmt.id);
    const Term trips = *hi - *lo;
    const auto runs = [&](SizeFeatures::Trips trip_class, const char* how, const Term& condition) {
      add({what, trip_class}, stmt.span, fmt::format("loop `{}` {}", name, how), path, condition);
    };
    using Trips = SizeFeatures::Trips;
    runs(Trips::none, "does not run", le(trips, smt::integer(0)));
    runs(Trips::one, "runs once", eq(trips, smt::integer(1)));
    runs(Trips::two, "runs twice", eq(trips, smt::integer(2)));
    runs(Trips::more, "runs three times or more", le(smt::integer(3), trips));
    if (ring > 0) {
      runs(Trips::as_the_ring, "runs as often as its ring is deep", eq(trips, smt::integer(ring)));
      runs(Trips::ring_and_one, "runs once more than its ring is deep", eq(trips, smt::integer(ring + 1)));
      runs(Trips::beyond_the_ring, "runs beyond its ring", lt(smt::integer(ring + 1), trips));
      runs(Trips::twice_the_ring, "goes more than twice round its ring", lt(smt::integer(2 * ring), trips));
    }
  }
  const Term i = declare(loop.iter);
  Assumptions inner = path;
  if (lo && hi) {
    inner = path.with("loop." + name, conj(le(*lo, i), lt(i, *hi)), smt::Origin::range, i.variable().id);
  }
  walk(loop.body, inner);
}

std::int64_t SizeGoals::value(SymId parameter,
                              const std::vector<std::pair<smt::Variable, std::int64_t>>& model) const {
  const std::uint32_t id = terms_[index(parameter)]->variable().id;
  const auto found =
      std::find_if(model.begin(), model.end(), [id](const auto& entry) { return entry.first.id == id; });
  return found == model.end() ? 1 : found->second;
}

}  // namespace exocheck::amir
