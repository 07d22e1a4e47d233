// What observers see of records, checks and synchronization (abstract-machine.md 5).
#include <algorithm>

#include "amir/machine_core.hpp"

namespace exocheck::amir {

namespace prog = semantics::amir;

Level VisibilityRange::level(Qual q) const {
  if (full.contains(q)) return Level::full;
  if (temporal.contains(q)) return Level::temporal;
  if (issue.contains(q) || weak.contains(q)) return Level::unordered;
  return atomic.contains(q) ? Level::atomic : Level::invisible;
}

namespace working {
namespace {

VisibilityRange range_view(ThreadId lo, ThreadId hi, const FlagSets& f) {
  return {{lo, hi}, f.issue, f.weak, f.atomic, f.temporal, f.full};
}

std::optional<std::int64_t> minimum_view(std::int64_t k) {
  return k == never ? std::nullopt : std::optional(k);
}

}  // namespace

RecordView Machine::view(RecordId id) const {
  const RecordValue& r = records_.value(id);
  const Provenance& p = records_.provenance(id);
  RecordView out;
  out.id = p.lineage;
  out.split_from = p.split_from;
  out.created = p.created;
  out.mutate = p.mutate;
  out.original = r.original;
  out.threads = p.threads;
  out.per_thread = p.per_thread;
  Visibility visible = r.visibility;
  visible.add(ThreadSet::all(), FlagSets::of(r.atomic, Flags::atomic));
  for (const auto& s : visible.segments()) out.visibility.push_back(range_view(s.lo, s.hi, s.flags));
  if (r.family()) out.self = range_view(r.members.min(), r.members.end(), rules_.self(r));
  for (const Pending& k : r.pending) {
    for (std::uint32_t v = 0; v < variables_.size(); ++v) {
      const VariableState& z = variables_[v];
      if (k.barrier < z.first_uid || k.barrier >= z.first_uid + z.counters.size()) continue;
      out.pending.push_back({VarId{v}, element_of(VarId{v}, k.barrier - z.first_uid), minimum_view(k.strong),
                             minimum_view(k.weak), minimum_view(k.own)});
    }
  }
  return out;
}

void Machine::observe_check(const prog::Node& node, const prog::Check& s, const ThreadSet& threads,
                            const State& state) {
  CheckEvent event{control_.instance(node), threads, s.reads, {}};
  for (const RecordId id : s.reads ? state.reads : state.mutates) {
    const RecordValue& r = records_.value(id);
    const Demand demanded = demand(s, r.original, rules_.mode);
    const auto failure = check(r, threads, s.convergent, demanded, rules_);
    event.results.push_back({view(id), demanded, !failure, failure ? failure->missing : std::nullopt,
                             failure ? failure->held : demanded.level});
  }
  observer_->on_check(event);
}

std::vector<RecordId> Machine::observed_records() {
  collect();
  std::vector<RecordId> ids = records_.active();
  std::sort(ids.begin(), ids.end(), [this](RecordId a, RecordId b) {
    return records_.provenance(a).lineage < records_.provenance(b).lineage;
  });
  return ids;
}

SyncEffect Machine::effect_facts(const SyncEvent& event, RecordId id) const {
  const RecordValue& r = records_.value(id);
  SyncEffect out;
  out.before = out.after = view(id);
  if (event.kind == SyncKind::await) {
    const VariableState& z = variables_[index(*event.barrier)];
    if (const Pending* p = r.find_pending(z.first_uid + flat_index(*event.barrier, event.element))) {
      out.pending = std::min(p->strong, p->weak);
    }
    return out;
  }
  out.known_on = r.visibility.some_of(event.collective).known();
  if (r.members.meets(event.collective)) out.known_on = out.known_on | QualSet{r.original};
  out.first_set_met = out.known_on.meets(event.first);
  const Witness w = witness(r, event.collective, event.transitive, event.first);
  out.original_required = out.first_set_met && w.common == Strength::none && !w.self;
  return out;
}

}  // namespace working
}  // namespace exocheck::amir
