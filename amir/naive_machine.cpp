#include "amir/naive_machine.hpp"

#include <algorithm>

#include "semantics/errors.hpp"

namespace exocheck::amir {

namespace prog = semantics::amir;
using semantics::ensure;
using semantics::ir::checked_sub;
using semantics::ir::overloaded;

Outcome run_naive(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits) {
  return naive::Machine(program, sizes, rules, limits).run();
}

namespace naive {

Machine::Machine(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits)
    : program_(program),
      rules_(rules),
      table_(flag_table(rules)),
      control_(program, sizes, limits),
      rounds_(program),
      variables_(program.variables.size()) {}

Outcome Machine::run(const std::function<void(const prog::Node&)>& after_leaf) {
  // 3.6: parameters exist from the start, with no records.
  try {
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      if (!program_.variables[v].parameter) continue;
      variables_[v].alive = true;
      variables_[v].extents = extents(program_.variables[v], control_.environment());
    }
  } catch (const semantics::OverflowError& error) {
    outcome_.limit = std::string("limit.overflow ") + error.what();
    return outcome_;
  }
  control_.run(
      [&](const prog::Node& node) {
        const bool go_on = std::visit(overloaded{
                                          [](const prog::Loop&) { return true; },
                                          [](const prog::Branch&) { return true; },
                                          [](const prog::IncTask&) { return true; },
                                          [&](const auto& s) { return execute(node, s); },
                                      },
                                      node.node);
        if (go_on && after_leaf) after_leaf(node);
        return go_on;
      },
      outcome_);
  return outcome_;
}

// ------------------------------------------------------------------------------------------------- accesses

// 4.5
bool Machine::execute(const prog::Node& node, const prog::Check& s) {
  const auto accessed = elements(node, s.target);
  if (!accessed) return false;
  const Collective c = collective(node);
  VariableState& x = variables_[index(s.target.var)];
  for (const Element& p : *accessed) {
    const auto cell = x.cells.find(p);
    if (cell == x.cells.end()) continue;
    for (const Record& r : s.reads ? cell->second.reads : cell->second.mutates) {
      const Demand demanded = demand(s, r.original, rules_);
      const auto failure = check(r, c, s.convergent, demanded, rules_);
      if (!failure) continue;
      Violation v;
      v.code = code_of(s);
      v.var = s.target.var;
      v.element = p;
      v.after_mutate = s.purpose == prog::Purpose::free_memory && !s.reads;
      v.required = demanded.level;
      v.quals = demanded.quals;
      v.missing = failure->missing;
      v.held = failure->held;
      return fail(node, std::move(v));
    }
  }
  return true;
}

// 4.3, 4.4
bool Machine::execute(const prog::Node& node, const prog::Record& s) {
  const auto accessed = elements(node, s.target);
  if (!accessed) return false;
  // The arrival that has not happened yet, on each trailing barrier element.
  std::map<BarrierElement, Pending> pending;
  for (const prog::Target& z : s.pending) {
    const auto barriers = elements(node, z);
    if (!barriers) return false;
    for (const Element& e : *barriers) {
      const std::int64_t next = variables_[index(z.var)].counters[e].arrivals;
      pending[{z.var, e}] = {next, next, next};
    }
  }

  const Collective c = collective(node);
  std::vector<Record> created;
  if (one_record(s, c.everyone)) {
    created.push_back(new_record(c, s.qual, s.in_order, s.atomic, table_));
  } else {
    for (const Thread g : c.threads)
      created.push_back(new_record({false, {g}}, s.qual, s.in_order, s.atomic, table_));
  }
  for (Record& r : created) r.pending = pending;

  VariableState& x = variables_[index(s.target.var)];
  for (const Element& p : *accessed) {
    Cell& cell = x.cells[p];
    records_ -= cell.mutates.size() + cell.reads.size();
    if (s.mutate) {
      if (!keeps_mutates(s, rules_)) cell.mutates.clear();
      if (!keeps_reads(s, rules_)) cell.reads.clear();
      cell.mutates.insert(cell.mutates.end(), created.begin(), created.end());
    } else {
      cell.reads.insert(cell.reads.end(), created.begin(), created.end());
    }
    records_ += cell.mutates.size() + cell.reads.size();
  }
  outcome_.records_peak = std::max(outcome_.records_peak, records_);
  return true;
}

// -------------------------------------------------------------------------------------------------
// synchronization

// 4.7
bool Machine::execute(const prog::Node& node, const prog::Fence& s) {
  const Collective c = collective(node);
  lift([&](Record& r) {
    const Strength strength = witness(r, c, s.transitive, s.first);
    if (strength == Strength::none) return;
    const QualSet full = granted_full(s.full, r.original, own(r, c), rules_);
    if (strength == Strength::strong) augment_strong(r, c, full, s.temporal, table_);
    augment_weak(r, c, s.temporal, table_);
  });
  rounds_.fence(c.everyone || c.threads.size() == static_cast<std::size_t>(program_.threads));
  return true;
}

bool Machine::execute(const prog::Node& node, const prog::Arrive& s) {
  const auto home = elements(node, s.home);
  if (!home) return false;
  ensure(home->size() == 1, "home of an Arrive");
  std::set<BarrierElement> referenced;
  for (const prog::Target& target : s.referenced) {
    const auto expression = elements(node, target);
    if (!expression) return false;
    for (const Element& e : *expression) referenced.insert({target.var, e});
  }

  if (rules_.forward_progress &&
      !rounds_.arrive(s.home.var, home->front(), referenced.size(), control_.threads(node))) {
    Violation v;
    v.code = "E-Y06";
    v.var = s.home.var;
    v.element = home->front();
    return fail(node, std::move(v));
  }
  const Collective c = collective(node);
  std::int64_t& arrivals = variables_[index(s.home.var)].counters[home->front()].arrivals;
  const std::int64_t k = arrivals;
  const auto lower = [k](std::optional<std::int64_t>& minimum) {
    minimum = std::min(minimum.value_or(k), k);
  };
  lift([&](Record& r) {
    const Strength strength = witness(r, c, s.transitive, s.first);
    if (strength == Strength::none) return;
    for (const BarrierElement& e : referenced) {
      Pending& pending = r.pending[e];
      lower(pending.weak);
      if (strength != Strength::strong) continue;
      lower(pending.strong);
      if (own(r, c)) lower(pending.own);
    }
  });
  arrivals = k + 1;
  for (const BarrierElement& e : referenced) {
    Counters::Group& group = variables_[index(e.var)].counters[e.element].groups[k];
    ++group.homes;
    group.expected = std::max(group.expected, static_cast<std::int64_t>(referenced.size()));
  }
  return true;
}

bool Machine::execute(const prog::Node& node, const prog::Await& s) {
  const auto barrier = elements(node, s.barrier);
  if (!barrier) return false;
  ensure(barrier->size() == 1, "element of an Await");
  const Element& element = barrier->front();
  Counters& counters = variables_[index(s.barrier.var)].counters[element];
  const auto [arrivals, awaits] = std::pair{counters.arrivals, counters.awaits};
  const std::int64_t newest =  // amax
      s.n >= 0 ? checked_sub(checked_sub(arrivals, s.n), 1) : checked_sub(awaits, checked_sub(-1, s.n));
  if (rules_.forward_progress) {
    if (auto violation = forward_progress(s, element, newest)) return fail(node, std::move(*violation));
  }

  const Collective c = collective(node);
  const BarrierElement key{s.barrier.var, element};
  const auto covered = [newest](const std::optional<std::int64_t>& k) { return k && *k <= newest; };
  lift([&](Record& r) {
    const auto entry = r.pending.find(key);
    if (entry == r.pending.end()) return;
    const Pending pending = entry->second;
    if (covered(pending.strong)) {
      const QualSet full = granted_full(s.full, r.original, covered(pending.own), rules_);
      augment_strong(r, c, full, s.temporal, table_);
    }
    if (covered(pending.weak)) augment_weak(r, c, s.temporal, table_);
  });
  counters.awaits = s.n >= 0 ? std::max(awaits, newest + 1) : awaits + 1;
  rounds_.await(s.barrier.var, s.n, control_.threads(node));
  return true;
}

// decisions.md N11 (E-Y04) and N12 (E-Y06).
std::optional<Violation> Machine::forward_progress(const prog::Await& await, const Element& element,
                                                   std::int64_t newest) const {
  const Counters& counters = variables_[index(await.barrier.var)].counters.at(element);
  Violation v;
  v.var = await.barrier.var;
  v.element = element;
  const bool cluster_sync =
      program_.variables[index(await.barrier.var)].lowered == semantics::LoweredBarrier::cluster_sync;
  const std::int64_t waits_for = await.n < 0 ? newest : counters.awaits;
  if ((await.n < 0 || cluster_sync) && waits_for >= counters.arrivals) {
    v.code = "E-Y04";
    v.count_a = waits_for;
    v.count_b = counters.arrivals;
    return v;
  }
  for (const auto& [k, group] : counters.groups) {
    if (k > newest) break;
    if (group.homes == group.expected) continue;
    v.code = "E-Y06";
    v.count_a = group.homes;
    v.count_b = group.expected;
    return v;
  }
  return std::nullopt;
}

// N10
bool Machine::execute(const prog::Node& node, const prog::CheckBarrier& s) {
  const VariableState& z = variables_[index(s.var)];
  ensure(z.alive, "CheckBarrier of a barrier that is not allocated");
  for (const auto& [element, counters] : z.counters) {  // the others have (0, 0)
    if (counters.arrivals == counters.awaits) continue;
    Violation v;
    v.code = "E-Y14";
    v.var = s.var;
    v.element = element;
    v.count_a = counters.arrivals;
    v.count_b = counters.awaits;
    return fail(node, std::move(v));
  }
  return true;
}

// ------------------------------------------------------------------------------------------------- life time

// 4.2 with decisions.md N25.
bool Machine::execute(const prog::Node&, const prog::Alloc& s) {
  VariableState fresh;
  fresh.alive = true;
  fresh.extents = extents(program_.variables[index(s.var)], control_.environment());
  drop(s.var);
  variables_[index(s.var)] = std::move(fresh);
  if (program_.variables[index(s.var)].barrier) forget_pending(s.var);
  return true;
}

bool Machine::execute(const prog::Node&, const prog::Free& s) {
  drop(s.var);
  if (program_.variables[index(s.var)].barrier) forget_pending(s.var);
  return true;
}

void Machine::drop(VarId var) {
  for (const auto& [element, cell] : variables_[index(var)].cells)
    records_ -= cell.mutates.size() + cell.reads.size();
  variables_[index(var)] = {};
}

void Machine::forget_pending(VarId barrier) {
  rounds_.forget(barrier);
  lift([barrier](Record& r) {
    std::erase_if(r.pending, [barrier](const auto& e) { return e.first.var == barrier; });
  });
}

// decisions.md N20.
bool Machine::execute(const prog::Node& node, const prog::InitRead& s) {
  const auto accessed = elements(node, s.target);
  if (!accessed) return false;
  const prog::Variable& variable = program_.variables[index(s.target.var)];
  if (!rules_.uninitialised || !variable.check_initialised) return true;
  for (const Element& p : *accessed) {
    if (variables_[index(s.target.var)].cells[p].initialised) continue;
    Violation v;
    v.code = variable.registers ? "E-Y21" : "W-Y21";
    v.var = s.target.var;
    v.element = p;
    v.at = control_.instance(node);
    if (variable.registers) return fail(node, std::move(v));
    if (warned_.insert(s.target.var).second) outcome_.warnings.push_back(std::move(v));
    return true;
  }
  return true;
}

bool Machine::execute(const prog::Node& node, const prog::InitWrite& s) {
  const auto accessed = elements(node, s.target);
  if (!accessed) return false;
  for (const Element& p : *accessed) variables_[index(s.target.var)].cells[p].initialised = true;
  return true;
}

// ------------------------------------------------------------------------------------------------- helpers

Collective Machine::collective(const prog::Node& node) const {
  const prog::ThreadMap& map = program_.maps[node.map];
  if (map.all_threads) return {true, {}};
  // Every combination of one coordinate per dimension, numbered as in abstract-machine.md 1.3.
  Box cuboid;
  for (const auto& dim : map.dims) {
    const Interval interval = evaluate(dim, control_.environment());
    cuboid.lo.push_back(interval.lo);
    cuboid.hi.push_back(interval.hi);
  }
  Collective c;
  for_each_element(cuboid, [&](const Element& coordinates) {
    std::int64_t local = 0;
    for (std::size_t d = 0; d < coordinates.size(); ++d) local = local * map.dims[d].extent + coordinates[d];
    c.threads.push_back({control_.task(), local});
    return true;
  });
  return c;
}

std::optional<std::vector<Element>> Machine::elements(const prog::Node& node, const prog::Target& target) {
  const VariableState& x = variables_[index(target.var)];
  ensure(x.alive, "access to a variable that is not allocated");
  Box box = evaluate(target, control_.environment());
  if (target.clip && !program_.variables[index(target.var)].barrier) {
    box = clip(std::move(box), x.extents);
  } else if (auto outside = first_outside(box, x.extents)) {
    Violation v;
    v.code = "E-Y20";
    v.var = target.var;
    v.element = std::move(*outside);
    fail(node, std::move(v));
    return std::nullopt;
  }
  std::int64_t count = 1;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    count = semantics::ir::checked_mul(count, std::max<std::int64_t>(checked_sub(box.hi[d], box.lo[d]), 0));
  }
  if (!control_.spend(static_cast<std::uint64_t>(count))) return std::nullopt;
  std::vector<Element> out;
  for_each_element(box, [&](const Element& e) {
    out.push_back(e);
    return true;
  });
  return out;
}

void Machine::lift(const std::function<void(Record&)>& change) {
  for (VariableState& x : variables_) {
    for (auto& [element, cell] : x.cells) {
      for (Record& r : cell.mutates) change(r);
      for (Record& r : cell.reads) change(r);
    }
  }
}

bool Machine::fail(const prog::Node& node, Violation violation) {
  violation.at = control_.instance(node);
  outcome_.violation = std::move(violation);
  return false;
}

}  // namespace naive
}  // namespace exocheck::amir
