// Accesses and life time: Check, Record, Alloc, Free, CheckBarrier and the data flow of initialisation.
#include <algorithm>

#include "amir/machine_core.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir::working {

namespace prog = semantics::amir;
using semantics::ensure;
using semantics::ir::checked_mul;

// ------------------------------------------------------------------------------------------------- helpers

VariableState& Machine::alive(VarId var) {
  VariableState& x = variables_[index(var)];
  ensure(x.alive, "access to a variable that is not allocated");
  return x;
}

std::optional<Box> Machine::elements(const prog::Node& node, const prog::Target& target) {
  const VariableState& x = alive(target.var);
  Box box = evaluate(target, control_.environment());
  if (target.clip && !program_.variables[index(target.var)].barrier) return clip(std::move(box), x.extents);
  if (auto outside = first_outside(box, x.extents)) {
    Violation v;
    v.code = "E-Y20";
    v.var = target.var;
    v.element = std::move(*outside);
    fail(node, std::move(v));
    return std::nullopt;
  }
  return box;
}

bool Machine::observed_part(VarId var, Box& box) const {
  if (!filter_) return true;
  if (filter_->var != var) return false;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    const std::int64_t at = filter_->element[d];
    if (at < box.lo[d] || at >= box.hi[d]) return false;
    box.lo[d] = at;
    box.hi[d] = at + 1;
  }
  return true;
}

bool Machine::fail(const prog::Node& node, Violation violation) {
  violation.at = control_.instance(node);
  outcome_.violation = std::move(violation);
  return false;
}

std::size_t Machine::flat_index(VarId var, const std::vector<std::int64_t>& element) const {
  const VariableState& x = variables_[index(var)];
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < element.size(); ++d) flat = flat * x.extents[d] + element[d];
  return static_cast<std::size_t>(flat);
}

std::vector<std::int64_t> Machine::element_of(VarId var, std::size_t flat) const {
  const VariableState& x = variables_[index(var)];
  std::vector<std::int64_t> element(x.extents.size());
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t d = element.size(); d-- > 0;) {
    element[d] = rest % x.extents[d];
    rest /= x.extents[d];
  }
  return element;
}

std::optional<std::vector<std::size_t>> Machine::barrier_elements(const prog::Node& node,
                                                                  const prog::Target& target) {
  const auto box = elements(node, target);
  if (!box) return std::nullopt;
  std::vector<std::size_t> out;
  for_each_element(*box, [&](const std::vector<std::int64_t>& e) {
    out.push_back(flat_index(target.var, e));
    return true;
  });
  return out;
}

// ------------------------------------------------------------------------------------------------- checks,
// records

bool Machine::execute(const prog::Node& node, const prog::Check& s) {
  auto box = elements(node, s.target);
  if (!box) return false;
  if (!observed_part(s.target.var, *box)) return true;
  const ThreadSet threads = control_.threads(node);
  std::vector<std::int64_t> first;
  StateId first_state = no_records;
  std::uint64_t regions = 0;
  states_.begin();
  variables_[index(s.target.var)].records.visit(*box, [&](StateId id, const std::vector<std::int64_t>& lo) {
    ++regions;
    if (id == no_records) return;
    const StateId* known = states_.memo(id);
    if (known == nullptr) {
      const StateId resolved = states_.resolve(id);
      const State& state = states_[resolved];
      if (observer_ != nullptr) observe_check(node, s, threads, state);
      const auto& list = s.reads ? state.reads : state.mutates;
      const bool ok = std::none_of(list.begin(), list.end(), [&](RecordId r) {
        const RecordValue& value = records_.value(r);
        return check(value, threads, s.convergent, demand(s, value.original, rules_.mode), rules_)
            .has_value();
      });
      states_.set_memo(id, ok ? no_records : resolved);
      known = states_.memo(id);
    }
    if (*known != no_records && (first_state == no_records || lo < first)) {
      first = lo;
      first_state = *known;
    }
  });
  if (first_state != no_records) {
    report_failure(node, s, threads, states_[first_state], std::move(first));
    return false;
  }
  return control_.spend(regions);
}

void Machine::report_failure(const prog::Node& node, const prog::Check& s, const ThreadSet& threads,
                             const State& state, std::vector<std::int64_t> element) {
  for (const RecordId id : s.reads ? state.reads : state.mutates) {
    const RecordValue& value = records_.value(id);
    const Demand demanded = demand(s, value.original, rules_.mode);
    const auto failure = check(value, threads, s.convergent, demanded, rules_);
    if (!failure) continue;
    Violation v;
    v.code = code_of(s);
    v.var = s.target.var;
    v.element = std::move(element);
    v.after_mutate = s.purpose == prog::Purpose::free_memory && !s.reads;
    v.required = demanded.level;
    v.quals = demanded.quals;
    if (failure->missing)
      v.missing = Thread{*failure->missing / program_.threads, *failure->missing % program_.threads};
    v.held = failure->held;
    fail(node, std::move(v));
    return;
  }
  throw semantics::InternalError("a failed check without a failing record");
}

bool Machine::execute(const prog::Node& node, const prog::Record& s) {
  auto box = elements(node, s.target);
  if (!box) return false;
  std::vector<Pending> pending;
  for (const prog::Target& z : s.pending) {
    const auto flats = barrier_elements(node, z);
    if (!flats) return false;
    const VariableState& barrier = variables_[index(z.var)];
    for (const std::size_t flat : *flats) {
      const std::int64_t next = barrier.counters[flat].arrivals;
      pending.push_back({barrier.first_uid + flat, next, next, next});
    }
  }
  if (box->empty() || !observed_part(s.target.var, *box)) return true;

  const ThreadSet threads = control_.threads(node);
  const bool one = one_record(s, threads.is_all());
  RecordValue value = new_record(rules_, s, threads, one);
  for (const Pending& p : pending) value.pending_on(p.barrier) = p;
  const RecordId created = records_.insert(std::move(value), [&] {
    return Provenance{0, {}, control_.instance(node), s.mutate, threads, !one && !threads.is_single()};
  });

  RecordEvent event;
  const bool clear_mutates = s.mutate && !keeps_mutates(s, rules_.mode);
  const bool clear_reads = s.mutate && !keeps_reads(s, rules_.mode);
  states_.begin();
  RegionMap& map = variables_[index(s.target.var)].records;
  const std::size_t nodes_before = map.nodes();
  const std::uint64_t regions = map.update(*box, [&](StateId id) -> StateId {
    if (const StateId* known = states_.memo(id)) return *known;
    State state = states_[states_.resolve(id)];
    for (const auto& [list, clear] :
         {std::pair{&state.mutates, clear_mutates}, {&state.reads, clear_reads}}) {
      if (!clear) continue;
      if (observer_ != nullptr) {
        for (const RecordId r : *list) event.dropped.push_back(records_.provenance(r).lineage);
      }
      list->clear();
    }
    auto& list = s.mutate ? state.mutates : state.reads;
    if (std::find(list.begin(), list.end(), created) == list.end()) list.push_back(created);
    const StateId changed = states_.insert(std::move(state));
    states_.set_memo(id, changed);
    return changed;
  });
  if (map.nodes() > nodes_before) grow((map.nodes() - nodes_before) * region_bytes);
  outcome_.records_peak = std::max<std::uint64_t>(outcome_.records_peak, records_.active().size());
  if (observer_ != nullptr) {
    event.at = control_.instance(node);
    event.collective = threads;
    event.created = {view(created)};
    observer_->on_record(event);
  }
  collect_if_due();
  return control_.spend(regions);
}

// ------------------------------------------------------------------------------------------------- life time

void Machine::allocate(VarId var) {
  const prog::Variable& variable = program_.variables[index(var)];
  VariableState& x = variables_[index(var)];
  x.alive = true;
  x.extents = extents(variable, control_.environment());
  x.records.reset(x.extents, no_records);
  if (variable.check_initialised) x.initialised.reset(x.extents, 0);
  if (!variable.barrier) return;
  rounds_.forget(var);
  std::int64_t count = 1;
  for (const std::int64_t n : x.extents) count = checked_mul(count, n);
  // Every element of a barrier array has its own counters.
  if (count > (std::int64_t{1} << 24))
    throw semantics::OverflowError("barrier array with more than 2^24 elements");
  x.counters.assign(static_cast<std::size_t>(count), {});
  x.first_uid = next_uid_;
  next_uid_ += static_cast<BarrierUid>(count);
}

bool Machine::execute(const prog::Node&, const prog::Alloc& s) {
  allocate(s.var);
  return true;
}

bool Machine::execute(const prog::Node&, const prog::Free& s) {
  rounds_.forget(s.var);
  variables_[index(s.var)] = {};
  return true;
}

bool Machine::execute(const prog::Node& node, const prog::CheckBarrier& s) {
  const VariableState& z = alive(s.var);
  for (std::size_t flat = 0; flat < z.counters.size(); ++flat) {
    const Counters& c = z.counters[flat];
    if (c.arrivals == c.awaits) continue;
    Violation v;
    v.code = "E-Y14";
    v.var = s.var;
    v.element = element_of(s.var, flat);
    v.count_a = c.arrivals;
    v.count_b = c.awaits;
    return fail(node, std::move(v));
  }
  return control_.spend(z.counters.size());
}

bool Machine::execute(const prog::Node&, const prog::IncTask&) {
  if (observer_ == nullptr) end_task();
  return true;
}

// -------------------------------------------------------------------------------------------------
// initialisation

bool Machine::execute(const prog::Node& node, const prog::InitRead& s) {
  const auto box = elements(node, s.target);
  if (!box) return false;
  const prog::Variable& variable = program_.variables[index(s.target.var)];
  if (!rules_.mode.uninitialised || !variable.check_initialised) return true;
  std::optional<std::vector<std::int64_t>> first;
  std::uint64_t regions = 0;
  variables_[index(s.target.var)].initialised.visit(
      *box, [&](RegionMap::Payload written, const std::vector<std::int64_t>& lo) {
        ++regions;
        if (written == 0 && (!first || lo < *first)) first = lo;
      });
  if (first) {
    Violation v;
    v.code = variable.registers ? "E-Y21" : "W-Y21";
    v.var = s.target.var;
    v.element = std::move(*first);
    v.at = control_.instance(node);
    if (variable.registers) return fail(node, std::move(v));
    if (warned_.insert(s.target.var).second) outcome_.warnings.push_back(std::move(v));
  }
  return control_.spend(regions);
}

bool Machine::execute(const prog::Node& node, const prog::InitWrite& s) {
  const auto box = elements(node, s.target);
  if (!box) return false;
  const prog::Variable& variable = program_.variables[index(s.target.var)];
  if (!rules_.mode.uninitialised || !variable.check_initialised) return true;
  const auto written = [](RegionMap::Payload) -> RegionMap::Payload { return 1; };
  RegionMap& map = variables_[index(s.target.var)].initialised;
  const std::size_t nodes_before = map.nodes();
  const std::uint64_t regions = map.update(*box, written);
  if (map.nodes() > nodes_before) grow((map.nodes() - nodes_before) * region_bytes);
  collect_if_due();
  return control_.spend(regions);
}

}  // namespace exocheck::amir::working
