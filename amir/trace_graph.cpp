#include "amir/trace_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "amir/control.hpp"
#include "amir/flags.hpp"
#include "amir/rounds.hpp"
#include "semantics/errors.hpp"

namespace exocheck::amir {
namespace {

namespace prog = semantics::amir;
using semantics::ensure;
using semantics::ir::checked_mul;
using semantics::ir::checked_sub;
using semantics::ir::overloaded;
using Element = std::vector<std::int64_t>;

// A set of linear thread ids, or the infinite set of all threads.
struct Threads {
  bool all = false;
  std::vector<std::int64_t> ids;  // sorted

  bool contains(std::int64_t id) const { return all || std::binary_search(ids.begin(), ids.end(), id); }
};

bool meet(const Threads& a, const Threads& b) {
  if (a.all || b.all) return true;  // collectives are never empty
  return std::any_of(a.ids.begin(), a.ids.end(), [&](std::int64_t id) { return b.contains(id); });
}

// A barrier element of one allocation: re-allocation starts a new generation (decisions.md N25).
struct BarrierVertex {
  VarId var{};
  std::uint64_t generation = 0;
  Element element;
  friend auto operator<=>(const BarrierVertex&, const BarrierVertex&) = default;
};

// fence(C, tr, Q1, F, T), arrive(C, tr, Q1, Pout = {(e, k)}), await(C, b, amax, F, T).
struct Sync {
  enum class Kind : std::uint8_t { fence, arrive, await } kind = Kind::fence;
  Threads collective;
  bool transitive = false;
  QualSet first, full, temporal;
  std::set<BarrierVertex> referenced;  // Arrive
  BarrierVertex barrier;               // Await
  std::int64_t arrival = 0;            // Arrive: k; Await: amax
};

// A sync vertex reached from an access.
struct Touch {
  std::size_t sync = 0;
  bool strong = false;
  bool own = false;  // strict rule S1; meaningful if strong
};

// acc(p, K, q0, L, Qa, Z): one per record.
struct AccessVertex {
  Threads threads;
  Qual original{};
  bool in_order = true;
  QualSet atomic;
  std::map<BarrierVertex, std::int64_t> pending;
  // Reachability, extended on demand: whether a vertex is touched depends on earlier vertices only.
  std::size_t scanned =
      0;  // sync vertices below this index were looked at; starts at the access's place in the trace
  std::vector<Touch> touched;
};

class TraceGraph {
 public:
  TraceGraph(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits)
      : program_(program),
        rules_(rules),
        table_(flag_table(rules)),
        control_(program, sizes, limits),
        rounds_(program),
        variables_(program.variables.size()) {}

  Outcome run() {
    try {
      for (std::size_t v = 0; v < variables_.size(); ++v) {
        if (program_.variables[v].parameter) allocate(VarId{static_cast<std::uint32_t>(v)});
      }
    } catch (const semantics::OverflowError& error) {
      outcome_.limit = std::string("limit.overflow ") + error.what();
      return outcome_;
    }
    control_.run(
        [&](const prog::Node& node) {
          return std::visit(overloaded{
                                [](const prog::Loop&) { return true; },
                                [](const prog::Branch&) { return true; },
                                [](const prog::IncTask&) { return true; },
                                [&](const auto& s) { return execute(node, s); },
                            },
                            node.node);
        },
        outcome_);
    return outcome_;
  }

 private:
  // The live sets of one element: accesses whose records the machine would still hold.
  struct Live {
    std::vector<std::size_t> mutates, reads;
  };
  struct Counter {
    std::int64_t arrivals = 0, awaits = 0;
  };
  struct VariableState {
    bool alive = false;
    std::uint64_t generation = 0;
    std::vector<std::int64_t> extents;
    std::map<Element, Live> live;
    std::set<Element> initialised;
    std::map<Element, Counter> counters;
    // Per element and arrival index: contributing homes and how many there should be.
    std::map<std::pair<Element, std::int64_t>, std::pair<std::int64_t, std::int64_t>> groups;
  };

  // -----------------------------------------------------------------------------------------------
  // reachability

  // Timelines on which a fence or await, reached with this strength, makes the access known with `flag`.
  QualSet out(const Sync& u, const Touch& touch, Qual original, Flags flag) const {
    QualSet given;
    if (touch.strong) {
      const QualSet full = granted_full(u.full, original, touch.own, rules_);
      if (table_.full.contains(flag)) given = given | full;
      if (table_.temporal.contains(flag)) given = given | (u.temporal - full);
    }
    if (table_.weak.contains(flag)) given = given | u.temporal;
    return given;
  }

  void extend(AccessVertex& a) const {
    for (; a.scanned < syncs_.size(); ++a.scanned) {
      const Sync& v = syncs_[a.scanned];
      Touch touch{a.scanned, false, false};
      bool reached = false;
      if (v.kind == Sync::Kind::await) {
        const auto edge = [&](bool strong, bool own) {
          reached = true;
          touch.strong = touch.strong || strong;
          touch.own = touch.own || (strong && own);
        };
        const auto entry = a.pending.find(v.barrier);
        if (entry != a.pending.end() && entry->second <= v.arrival) edge(true, true);
        for (const Touch& t : a.touched) {
          const Sync& u = syncs_[t.sync];
          const bool covered =
              u.kind == Sync::Kind::arrive && u.referenced.contains(v.barrier) && u.arrival <= v.arrival;
          if (covered) edge(t.strong, t.own);
        }
      } else {
        const QualSet in = v.transitive ? v.first : v.first & QualSet{a.original};
        if (in.contains(a.original) && meet(a.threads, v.collective)) reached = touch.strong = true;
        touch.own = v.collective.all || meet(a.threads, v.collective);
        for (const Touch& t : a.touched) {
          const Sync& u = syncs_[t.sync];
          if (u.kind == Sync::Kind::arrive || !meet(u.collective, v.collective)) continue;
          if (out(u, t, a.original, Flags::issue).meets(in)) reached = touch.strong = true;
          if (out(u, t, a.original, Flags::weak).meets(in)) reached = true;
          if (out(u, t, a.original, Flags::full).meets(semantics::async_proxy_quals)) touch.own = true;
        }
      }
      if (reached) a.touched.push_back(touch);
    }
  }

  // Timelines on which thread g (nullopt: some thread at all) carries the flag for the access.
  QualSet visible(const AccessVertex& a, std::optional<std::int64_t> g, Flags flag) const {
    QualSet quals = flag == Flags::atomic ? a.atomic : QualSet{};
    const Flags initial = a.in_order ? table_.in_order : table_.out_of_order;
    if (initial.contains(flag) && (!g || a.threads.contains(*g))) quals = quals | QualSet{a.original};
    for (const Touch& t : a.touched) {
      const Sync& u = syncs_[t.sync];
      if (u.kind == Sync::Kind::arrive || (g && !u.collective.contains(*g))) continue;
      quals = quals | out(u, t, a.original, flag);
    }
    return quals;
  }

  Level level(const AccessVertex& a, std::optional<std::int64_t> g, QualSet quals) const {
    if (visible(a, g, Flags::full).meets(quals)) return Level::full;
    if (visible(a, g, Flags::temporal).meets(quals)) return Level::temporal;
    if (visible(a, g, Flags::issue).meets(quals) || visible(a, g, Flags::weak).meets(quals))
      return Level::unordered;
    return visible(a, g, Flags::atomic).meets(quals) ? Level::atomic : Level::invisible;
  }

  // -----------------------------------------------------------------------------------------------
  // statements

  bool execute(const prog::Node& node, const prog::Check& s) {
    const auto accessed = elements(node, s.target);
    if (!accessed) return false;
    const Threads threads = collective(node);
    const bool some = s.convergent || threads.all;
    for (const Element& p : *accessed) {
      const Live& live = variables_[index(s.target.var)].live[p];
      for (const std::size_t id : s.reads ? live.reads : live.mutates) {
        AccessVertex& a = accesses_[id];
        extend(a);
        const Demand demanded = demand(s, a.original, rules_);
        const Flags flag = required_flag(demanded.level, rules_);
        const auto lacks = [&](std::optional<std::int64_t> g) {
          return !visible(a, g, flag).meets(demanded.quals);
        };
        Violation v;
        if (threads.all) {
          if (!lacks(std::nullopt)) continue;
          v.held = level(a, std::nullopt, demanded.quals);
        } else if (some) {
          if (!std::all_of(threads.ids.begin(), threads.ids.end(), lacks)) continue;
          for (const std::int64_t g : threads.ids) v.held = std::max(v.held, level(a, g, demanded.quals));
        } else {
          const auto missing = std::find_if(threads.ids.begin(), threads.ids.end(), lacks);
          if (missing == threads.ids.end()) continue;
          v.missing = Thread{*missing / program_.threads, *missing % program_.threads};
          v.held = level(a, *missing, demanded.quals);
        }
        v.code = code_of(s);
        v.var = s.target.var;
        v.element = p;
        v.after_mutate = s.purpose == prog::Purpose::free_memory && !s.reads;
        v.required = demanded.level;
        v.quals = demanded.quals;
        return fail(node, std::move(v));
      }
    }
    return true;
  }

  bool execute(const prog::Node& node, const prog::Record& s) {
    const auto accessed = elements(node, s.target);
    if (!accessed) return false;
    AccessVertex a;
    for (const prog::Target& z : s.pending) {
      const auto barriers = elements(node, z);
      if (!barriers) return false;
      for (const Element& e : *barriers) {
        a.pending[vertex(z.var, e)] = variables_[index(z.var)].counters[e].arrivals;
      }
    }
    a.original = s.qual;
    a.in_order = s.in_order;
    a.atomic = s.atomic;
    a.scanned = syncs_.size();
    const Threads threads = collective(node);
    std::vector<std::size_t> created;
    const auto add = [&](Threads k) {
      created.push_back(accesses_.size());
      accesses_.push_back(a);
      accesses_.back().threads = std::move(k);
    };
    if (one_record(s, threads.all)) {
      add(threads);
    } else {
      for (const std::int64_t g : threads.ids) add({false, {g}});
    }
    for (const Element& p : *accessed) {
      Live& live = variables_[index(s.target.var)].live[p];
      if (s.mutate && !keeps_mutates(s, rules_)) live.mutates.clear();
      if (s.mutate && !keeps_reads(s, rules_)) live.reads.clear();
      auto& list = s.mutate ? live.mutates : live.reads;
      list.insert(list.end(), created.begin(), created.end());
    }
    return true;
  }

  bool execute(const prog::Node& node, const prog::Fence& s) {
    Sync v;
    v.collective = collective(node);
    v.transitive = s.transitive;
    v.first = s.first;
    v.full = s.full;
    v.temporal = s.temporal;
    rounds_.fence(v.collective.all || v.collective.ids.size() == static_cast<std::size_t>(program_.threads));
    syncs_.push_back(std::move(v));
    return true;
  }

  bool execute(const prog::Node& node, const prog::Arrive& s) {
    const auto home = elements(node, s.home);
    if (!home) return false;
    ensure(home->size() == 1, "home of an Arrive");
    std::set<std::pair<VarId, Element>> referenced;
    for (const prog::Target& target : s.referenced) {
      const auto expression = elements(node, target);
      if (!expression) return false;
      for (const Element& e : *expression) referenced.emplace(target.var, e);
    }
    if (rules_.forward_progress &&
        !rounds_.arrive(s.home.var, home->front(), referenced.size(), control_.threads(node))) {
      Violation violation;
      violation.code = "E-Y06";
      violation.var = s.home.var;
      violation.element = home->front();
      return fail(node, std::move(violation));
    }
    Counter& counter = variables_[index(s.home.var)].counters[home->front()];
    Sync v;
    v.kind = Sync::Kind::arrive;
    v.collective = collective(node);
    v.transitive = s.transitive;
    v.first = s.first;
    v.arrival = counter.arrivals++;
    for (const auto& [var, e] : referenced) {
      v.referenced.insert(vertex(var, e));
      auto& [homes, expected] = variables_[index(var)].groups[{e, v.arrival}];
      ++homes;
      expected = std::max(expected, static_cast<std::int64_t>(referenced.size()));
    }
    syncs_.push_back(std::move(v));
    return true;
  }

  bool execute(const prog::Node& node, const prog::Await& s) {
    const auto elements_of_await = elements(node, s.barrier);
    if (!elements_of_await) return false;
    ensure(elements_of_await->size() == 1, "element of an Await");
    const Element& element = elements_of_await->front();
    VariableState& z = variables_[index(s.barrier.var)];
    Counter& counter = z.counters[element];
    const std::int64_t lag = s.n < 0 ? checked_sub(-1, s.n) : 0;
    Sync v;
    v.kind = Sync::Kind::await;
    v.arrival =
        s.n < 0 ? checked_sub(counter.awaits, lag) : checked_sub(checked_sub(counter.arrivals, s.n), 1);
    if (rules_.forward_progress) {
      Violation violation;
      violation.var = s.barrier.var;
      violation.element = element;
      const bool one_for_one =
          program_.variables[index(s.barrier.var)].lowered == semantics::LoweredBarrier::cluster_sync;
      const bool early =
          s.n < 0 ? v.arrival >= counter.arrivals : one_for_one && counter.awaits >= counter.arrivals;
      if (early) {
        violation.code = "E-Y04";
        violation.count_a = s.n < 0 ? v.arrival : counter.awaits;
        violation.count_b = counter.arrivals;
        return fail(node, std::move(violation));
      }
      for (const auto& [key, group] : z.groups) {
        if (key.first != element || key.second > v.arrival || group.first == group.second) continue;
        violation.code = "E-Y06";
        violation.count_a = group.first;
        violation.count_b = group.second;
        return fail(node, std::move(violation));
      }
    }
    counter.awaits = s.n < 0 ? counter.awaits + 1 : std::max(counter.awaits, v.arrival + 1);
    v.collective = collective(node);
    v.full = s.full;
    v.temporal = s.temporal;
    v.barrier = vertex(s.barrier.var, element);
    rounds_.await(s.barrier.var, s.n, control_.threads(node));
    syncs_.push_back(std::move(v));
    return true;
  }

  bool execute(const prog::Node& node, const prog::CheckBarrier& s) {
    const VariableState& z = variables_[index(s.var)];
    ensure(z.alive, "CheckBarrier of a barrier that is not allocated");
    for (const auto& [element, counter] : z.counters) {
      if (counter.arrivals == counter.awaits) continue;
      Violation v;
      v.code = "E-Y14";
      v.var = s.var;
      v.element = element;
      v.count_a = counter.arrivals;
      v.count_b = counter.awaits;
      return fail(node, std::move(v));
    }
    return true;
  }

  bool execute(const prog::Node&, const prog::Alloc& s) {
    allocate(s.var);
    rounds_.forget(s.var);
    return true;
  }

  bool execute(const prog::Node&, const prog::Free& s) {
    VariableState fresh;
    fresh.generation = variables_[index(s.var)].generation + 1;
    variables_[index(s.var)] = std::move(fresh);
    rounds_.forget(s.var);
    return true;
  }

  bool execute(const prog::Node& node, const prog::InitRead& s) {
    const auto accessed = elements(node, s.target);
    if (!accessed) return false;
    const prog::Variable& variable = program_.variables[index(s.target.var)];
    if (!rules_.uninitialised || !variable.check_initialised) return true;
    const auto& initialised = variables_[index(s.target.var)].initialised;
    const auto unwritten = std::find_if(accessed->begin(), accessed->end(),
                                        [&](const Element& p) { return !initialised.contains(p); });
    if (unwritten == accessed->end()) return true;
    Violation v;
    v.code = variable.registers ? "E-Y21" : "W-Y21";
    v.var = s.target.var;
    v.element = *unwritten;
    if (variable.registers) return fail(node, std::move(v));
    v.at = control_.instance(node);
    if (warned_.insert(s.target.var).second) outcome_.warnings.push_back(std::move(v));
    return true;
  }

  bool execute(const prog::Node& node, const prog::InitWrite& s) {
    const auto accessed = elements(node, s.target);
    if (!accessed) return false;
    variables_[index(s.target.var)].initialised.insert(accessed->begin(), accessed->end());
    return true;
  }

  // ----------------------------------------------------------------------------------------------- helpers

  void allocate(VarId var) {
    VariableState fresh;
    fresh.alive = true;
    fresh.generation = variables_[index(var)].generation + 1;
    fresh.extents = extents(program_.variables[index(var)], control_.environment());
    variables_[index(var)] = std::move(fresh);
  }

  BarrierVertex vertex(VarId var, const Element& element) const {
    return {var, variables_[index(var)].generation, element};
  }

  Threads collective(const prog::Node& node) const {
    const prog::ThreadMap& map = program_.maps[node.map];
    Threads out{map.all_threads, {}};
    if (out.all) return out;
    // Offsets per dimension, most significant first, added up.
    out.ids = {checked_mul(control_.task(), program_.threads)};
    std::int64_t pitch = 1;
    for (const auto& dim : map.dims) pitch = checked_mul(pitch, dim.extent);
    for (const auto& dim : map.dims) {
      pitch /= dim.extent;
      const Interval interval = evaluate(dim, control_.environment());
      std::vector<std::int64_t> next;
      for (const std::int64_t id : out.ids) {
        for (std::int64_t c = interval.lo; c < interval.hi; ++c) next.push_back(id + c * pitch);
      }
      out.ids = std::move(next);
    }
    return out;
  }

  std::optional<std::vector<Element>> elements(const prog::Node& node, const prog::Target& target) {
    const VariableState& x = variables_[index(target.var)];
    ensure(x.alive, "access to a variable that is not allocated");
    const Box box = evaluate(target, control_.environment());
    const bool clips = target.clip && !program_.variables[index(target.var)].barrier;
    const Box inside = clip(box, x.extents);
    std::int64_t count = 1;
    for (std::size_t d = 0; d < inside.rank(); ++d) {
      count = checked_mul(count, std::max<std::int64_t>(checked_sub(inside.hi[d], inside.lo[d]), 0));
    }
    if (!control_.spend(static_cast<std::uint64_t>(count))) return std::nullopt;
    if (!clips) {
      if (const auto outside = first_outside(box, x.extents)) {
        Violation v;
        v.code = "E-Y20";
        v.var = target.var;
        v.element = *outside;
        fail(node, std::move(v));
        return std::nullopt;
      }
    }
    std::vector<Element> out;
    for_each_element(inside, [&](const Element& e) {
      out.push_back(e);
      return true;
    });
    return out;
  }

  bool fail(const prog::Node& node, Violation violation) {
    violation.at = control_.instance(node);
    outcome_.violation = std::move(violation);
    return false;
  }

  const Program& program_;
  const ModeRules rules_;
  const FlagTable table_;
  Control control_;
  Rounds rounds_;
  std::vector<VariableState> variables_;
  std::vector<Sync> syncs_;
  std::vector<AccessVertex> accesses_;
  std::set<VarId> warned_;
  Outcome outcome_;
};

}  // namespace

Outcome run_trace_graph(const Program& program, const Sizes& sizes, const ModeRules& rules,
                        const Limits& limits) {
  return TraceGraph(program, sizes, rules, limits).run();
}

}  // namespace exocheck::amir
