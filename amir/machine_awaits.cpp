#include "amir/machine_awaits.hpp"

#include <algorithm>

#include "semantics/ir_util.hpp"

namespace exocheck::amir::working {

namespace prog = semantics::amir;
using semantics::ir::overloaded;

Grants Grants::of(QualSet full, QualSet temporal, const FlagTable& table) {
  const auto strong = [&](QualSet given) {
    return FlagSets::of(given, table.full) | FlagSets::of(temporal - given, table.temporal);
  };
  const FlagSets weak = FlagSets::of(temporal, table.weak);
  return {strong(full) | weak, strong(full - semantics::async_proxy_quals) | weak, weak};
}

namespace {

bool increments_task(const prog::Node& node) {
  bool found = false;
  prog::for_each_node(node, [&](const prog::Node& inner) {
    found = found || std::holds_alternative<prog::IncTask>(inner.node);
  });
  return found;
}

// Is the allocation at `position` freed in the same list, before the task ends?
bool freed_in_task(const prog::Body& body, std::size_t position, VarId var) {
  for (std::size_t i = position + 1; i < body.size(); ++i) {
    const auto* release = std::get_if<prog::Free>(&body[i].node);
    if (release != nullptr && release->var == var) return true;
    if (increments_task(body[i])) return false;
  }
  return false;
}

}  // namespace

std::vector<AwaitSummary> AwaitSummary::of(const Program& program, const Rules& rules) {
  std::vector<AwaitSummary> out(program.variables.size());
  for (std::size_t v = 0; v < out.size(); ++v) out[v].inside_task_ = !program.variables[v].parameter;
  find(program, program.body, rules, out);
  return out;
}

void AwaitSummary::find(const Program& program, const prog::Body& body, const Rules& rules,
                        std::vector<AwaitSummary>& out) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::visit(
        overloaded{
            [&](const prog::Await& s) { out[index(s.barrier.var)].add(s, program.maps[body[i].map], rules); },
            [&](const prog::Alloc& s) {
              AwaitSummary& summary = out[index(s.var)];
              summary.inside_task_ = summary.inside_task_ && freed_in_task(body, i, s.var);
            },
            [&](const prog::Loop& s) { find(program, s.body, rules, out); },
            [&](const prog::Branch& s) {
              find(program, s.then_body, rules, out);
              find(program, s.else_body, rules, out);
            },
            [](const auto&) {},
        },
        body[i].node);
  }
}

void AwaitSummary::add(const prog::Await& await, const prog::ThreadMap& map, const Rules& rules) {
  auto& largest = await.n >= 0 ? largest_n_ : largest_lag_;
  const std::int64_t n = await.n >= 0 ? await.n : -1 - await.n;
  largest = std::max(largest.value_or(n), n);
  if (map.all_threads) inside_task_ = false;
  Use use{map, {}, {}, {}};
  for (prog::ThreadMap::Dim& dim : use.map.dims) {
    if (dim.terms.empty()) continue;
    dim.terms.clear();
    dim.offset = 0;
    dim.box = dim.extent;
  }
  const Grants grants = Grants::of(await.full, await.temporal, rules.table);
  use.strong = grants.strong;
  use.weak = grants.weak;
  uses_.push_back(std::move(use));
}

std::int64_t AwaitSummary::always_covered(std::int64_t arrivals, std::int64_t awaits) const {
  std::int64_t covered = std::numeric_limits<std::int64_t>::max();
  if (largest_n_) covered = std::min(covered, arrivals - *largest_n_ - 1);
  if (largest_lag_) covered = std::min(covered, awaits - *largest_lag_);
  return covered;
}

bool AwaitSummary::pointless(const RecordValue& r, Strength strength, std::int64_t task,
                             std::int64_t stride) {
  if (!any()) return true;
  if (!inside_task_) return false;
  if (task_ != task) {
    const Sizes none(0);  // no iterators are left in the maps
    for (Use& use : uses_) use.threads = ThreadSet::of(use.map, none, task, stride);
    task_ = task;
  }
  return std::all_of(uses_.begin(), uses_.end(), [&](const Use& use) {
    return r.visibility.has(use.threads, strength == Strength::strong ? use.strong : use.weak);
  });
}

}  // namespace exocheck::amir::working
