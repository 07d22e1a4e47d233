#include "amir/proof_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "amir/machine_awaits.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::slices {

namespace prog = semantics::amir;
using semantics::ir::overloaded;
using smt::combine;
using working::RecordValue;

namespace {

// A Check or Record of a variable that outlives the task.
struct Access {
  const prog::Node* node = nullptr;
  const prog::Target* target = nullptr;
  std::size_t task = 0;
  Path path;                         // below the task's own
  const prog::Body* body = nullptr;  // the statement list it stands in
};

// One instance of an access, its iterators fresh symbols.
struct Instance {
  std::vector<Linear> iterators;  // of the task's path, then of the access's own
  std::vector<IndexRange> window;
  std::optional<Linear> thread;  // if one thread makes the access
  FormulaId condition = FormulaId::yes;
};

class Comparison {
 public:
  Comparison(const Program& program, const Tasks& tasks, const Bindings& bindings, FormulaId assumptions,
             const working::Rules& rules, Formulas& formulas)
      : program_(program),
        tasks_(tasks),
        bindings_(bindings),
        assumptions_(assumptions),
        rules_(rules),
        formulas_(formulas) {}

  MemoryResult run() {
    for (std::size_t t = 0; t < tasks_.tasks.size(); ++t) {
      local_ = allocated_in(*tasks_.tasks[t].body);
      task_ = t;
      path_.clear();
      collect(*tasks_.tasks[t].body);
    }
    for (const Access& record : records_) {
      for (const Access& check : checks_) compare(record, check);
    }
    return std::move(out_);
  }

 private:
  void collect(const prog::Body& body);
  void compare(const Access& record, const Access& check);
  bool conflicts(const prog::Record& r, const prog::Check& c) const;
  Instance instantiate(const Access& a, const std::vector<Linear>* task_iterators);
  // Can the two meet under `known`? Adds to `found` if that cannot be excluded.
  void query(const Instance& a, const Instance& b, FormulaId known, const Access& record, const Access& check,
             std::vector<Encounter>& found);

  const Program& program_;
  const Tasks& tasks_;
  const Bindings& bindings_;
  FormulaId assumptions_;
  const working::Rules& rules_;
  Formulas& formulas_;
  std::set<VarId> local_;
  std::size_t task_ = 0;
  Path path_;
  std::vector<Access> records_, checks_;
  MemoryResult out_;
};

void Comparison::collect(const prog::Body& body) {
  for (const prog::Node& node : body) {
    if (const auto* loop = std::get_if<prog::Loop>(&node.node)) {
      path_.push_back({Enclosing::Kind::loop, loop->iter, loop->lo, loop->hi, nullptr, false});
      collect(loop->body);
      path_.pop_back();
    } else if (const auto* branch = std::get_if<prog::Branch>(&node.node)) {
      path_.push_back({Enclosing::Kind::holds, {}, nullptr, nullptr, branch->condition, false});
      collect(branch->then_body);
      path_.back().kind = Enclosing::Kind::fails;
      collect(branch->else_body);
      path_.pop_back();
    } else if (const auto* check = std::get_if<prog::Check>(&node.node)) {
      if (!local_.contains(check->target.var))
        checks_.push_back({&node, &check->target, task_, path_, &body});
    } else if (const auto* read = std::get_if<prog::InitRead>(&node.node)) {
      if (!local_.contains(read->target.var)) throw GiveUp("a task reads memory that the host allocates");
    } else if (const auto* record = std::get_if<prog::Record>(&node.node)) {
      if (!local_.contains(record->target.var))
        records_.push_back({&node, &record->target, task_, path_, &body});
    }
  }
}

bool Comparison::conflicts(const prog::Record& r, const prog::Check& c) const {
  if (r.target.var != c.target.var || c.reads == r.mutate) return false;
  // Atomic accesses on a common timeline may overlap, whoever makes them.
  const Demand demanded = demand(c, r.qual, rules_.mode);
  return !(demanded.level == Level::atomic && demanded.quals.meets(r.atomic));
}

Instance Comparison::instantiate(const Access& a, const std::vector<Linear>* task_iterators) {
  Instance out;
  Bindings bindings = bindings_;
  const Entered task = enter(tasks_.tasks[a.task].path, formulas_, bindings, task_iterators);
  const Entered inside = enter(a.path, formulas_, bindings);
  out.condition = formulas_.conj(task.condition, inside.condition);
  out.iterators = task.iterators;
  out.iterators.insert(out.iterators.end(), inside.iterators.begin(), inside.iterators.end());
  for (const prog::Window& w : a.target->index) out.window.push_back(bindings.range(formulas_, w));
  const prog::ThreadMap& map = program_.maps[a.node->map];
  Linear thread;
  bool single = !map.all_threads;
  for (const auto& dim : map.dims) {
    single = single && dim.box == 1;
    Linear at{{}, dim.offset};
    for (const auto& [iterator, coefficient] : dim.terms) {
      if (!bindings[iterator]) throw GiveUp("a thread map depends on an unknown iterator");
      at = combine(1, at, coefficient, *bindings[iterator]);
    }
    thread = combine(dim.extent, thread, 1, at);
  }
  if (single) out.thread = thread;
  return out;
}

void Comparison::query(const Instance& a, const Instance& b, FormulaId known, const Access& record,
                       const Access& check, std::vector<Encounter>& found) {
  if (known == FormulaId::no) return;
  ++out_.queries;
  FormulaId overlap = FormulaId::yes;
  for (std::size_t d = 0; d < a.window.size(); ++d) {
    for (const FormulaId apart : {formulas_.negate(formulas_.less(b.window[d].lo, a.window[d].hi)),
                                  formulas_.negate(formulas_.less(a.window[d].lo, b.window[d].hi))}) {
      if (formulas_.decide(known, apart) == true) return;
      overlap = formulas_.conj(overlap, formulas_.negate(apart));
    }
  }
  // Only elements inside the tensor count.
  const auto& shape = program_.variables[index(record.target->var)].shape;
  for (std::size_t d = 0; d < a.window.size(); ++d) {
    const auto extent = formulas_.linear(*shape[d], [this](SymId s) { return bindings_[s]; });
    for (const Instance* i : {&a, &b}) {
      if (extent) overlap = formulas_.conj(overlap, formulas_.less(i->window[d].lo, *extent));
      overlap = formulas_.conj(overlap, formulas_.less(Linear{}, i->window[d].hi));
    }
  }
  const FormulaId all = formulas_.conj(known, overlap);
  if (all == FormulaId::no || formulas_.satisfiable(all) == Formulas::Satisfiable::no) return;
  found.push_back({all, record.node->id, check.node->id, record.target->var});
}

void Comparison::compare(const Access& record, const Access& check) {
  const auto& r = std::get<prog::Record>(record.node->node);
  const auto& c = std::get<prog::Check>(check.node->node);
  if (!conflicts(r, c) || tasks_.tasks[record.task].kernel != tasks_.tasks[check.task].kernel) return;
  {
    const Instance a = instantiate(record, nullptr), b = instantiate(check, nullptr);
    const FormulaId both = formulas_.conj(assumptions_, formulas_.conj(a.condition, b.condition));
    if (record.task != check.task) {
      // Tasks of two loops are different ones. (In another iteration of a host loop it is another kernel.)
      query(a, b, both, record, check, out_.across_tasks);
    } else {
      FormulaId same_host = FormulaId::yes;
      std::vector<std::size_t> task_dims;
      std::size_t loop = 0;
      for (const Enclosing& e : tasks_.tasks[record.task].path) {
        if (e.kind != Enclosing::Kind::loop) continue;
        if (e.task) {
          task_dims.push_back(loop);
        } else {
          same_host =
              formulas_.conj(same_host, formulas_.zero(combine(1, a.iterators[loop], -1, b.iterators[loop])));
        }
        ++loop;
      }
      // The first iterator in which they differ.
      FormulaId equal_before = formulas_.conj(both, same_host);
      for (const std::size_t d : task_dims) {
        for (const FormulaId different : {formulas_.less(a.iterators[d], b.iterators[d]),
                                          formulas_.less(b.iterators[d], a.iterators[d])}) {
          query(a, b, formulas_.conj(equal_before, different), record, check, out_.across_tasks);
        }
        equal_before =
            formulas_.conj(equal_before, formulas_.zero(combine(1, a.iterators[d], -1, b.iterators[d])));
      }
    }
  }
  if (record.task != check.task) return;
  // Within one task: the same task iterators.
  const Instance a = instantiate(record, nullptr);
  std::vector<Linear> shared;
  const auto& task_path = tasks_.tasks[record.task].path;
  const auto loops =
      static_cast<std::size_t>(std::count_if(task_path.begin(), task_path.end(), [](const Enclosing& e) {
        return e.kind == Enclosing::Kind::loop;
      }));
  shared.assign(a.iterators.begin(), a.iterators.begin() + static_cast<std::ptrdiff_t>(loops));
  const Instance b = instantiate(check, &shared);
  FormulaId both = formulas_.conj(assumptions_, formulas_.conj(a.condition, b.condition));
  // One thread's accesses in order on one timeline need nothing between them.
  const bool in_order =
      a.thread && b.thread && r.in_order && demand(c, r.qual, rules_.mode).quals.contains(r.qual);
  // In one statement list a check that stands first comes first, unless some iterator differs.
  const bool check_first = record.body == check.body && check.node < record.node;
  const auto ask = [&](FormulaId known) {
    if (!in_order) return query(a, b, known, record, check, out_.within_task);
    for (const FormulaId other : {formulas_.less(*a.thread, *b.thread), formulas_.less(*b.thread, *a.thread)})
      query(a, b, formulas_.conj(known, other), record, check, out_.within_task);
  };
  if (!check_first) return ask(both);
  for (std::size_t i = loops; i < a.iterators.size(); ++i) {
    for (const FormulaId other :
         {formulas_.less(a.iterators[i], b.iterators[i]), formulas_.less(b.iterators[i], a.iterators[i])}) {
      ask(formulas_.conj(both, other));
    }
    both = formulas_.conj(both, formulas_.zero(combine(1, a.iterators[i], -1, b.iterators[i])));
  }
}

// ------------------------------------------------------------------------------------------- host

class Host {
 public:
  Host(const Program& program, const Tasks& tasks, const working::Rules& rules)
      : program_(program), rules_(rules), state_(program.variables.size()) {
    for (const Task& task : tasks.tasks) local_.merge(allocated_in(*task.body));
  }

  std::optional<std::string> run() {
    run(program_.body);
    return wrong_;
  }

 private:
  // Records that may exist.
  struct Records {
    std::vector<RecordValue> mutates, reads;
    friend bool operator==(const Records&, const Records&) = default;
  };
  using States = std::vector<Records>;

  static void add(std::vector<RecordValue>& to, RecordValue r) {
    if (std::find(to.begin(), to.end(), r) == to.end()) to.push_back(std::move(r));
  }
  void unite(const States& other) {
    for (std::size_t v = 0; v < state_.size(); ++v) {
      for (const RecordValue& r : other[v].mutates) add(state_[v].mutates, r);
      for (const RecordValue& r : other[v].reads) add(state_[v].reads, r);
    }
  }
  void run(const prog::Body& body);
  void check(const prog::Check& s);
  void record(const prog::Record& s);
  void fence(const prog::Fence& s);
  void kernel(const prog::Node& part, bool checks);

  const Program& program_;
  const working::Rules& rules_;
  States state_;
  std::set<VarId> local_;  // allocated by tasks
  std::optional<std::string> wrong_;
};

void Host::check(const prog::Check& s) {
  if (local_.contains(s.target.var)) return;
  const Records& x = state_[index(s.target.var)];
  for (const RecordValue& r : s.reads ? x.reads : x.mutates) {
    if (working::check(r, ThreadSet::all(), true, demand(s, r.original, rules_.mode), rules_)) {
      wrong_ = fmt::format("accesses to {} outside the kernel, or in two kernels, may be out of order",
                           program_.variables[index(s.target.var)].name);
    }
  }
}

void Host::record(const prog::Record& s) {
  if (local_.contains(s.target.var)) return;
  Records& x = state_[index(s.target.var)];
  add(s.mutate ? x.mutates : x.reads, new_record(rules_, s, ThreadSet::all(), true));
}

void Host::fence(const prog::Fence& s) {
  const working::Grants grants = working::Grants::of(s.full, s.temporal, rules_.table);
  for (Records& x : state_) {
    for (auto* list : {&x.mutates, &x.reads}) {
      for (RecordValue& r : *list) {
        const working::Meeting meeting = meet(r, ThreadSet::all(), s.transitive, s.first, rules_);
        if (meeting.split) throw GiveUp("a host fence meets accesses thread by thread");
        if (meeting.whole.strength == Strength::none) continue;
        const auto& flags = grants.to(r, meeting.whole.strength, meeting.whole.owned, rules_);
        if (!r.visibility.has(ThreadSet::all(), flags)) r.visibility.add(ThreadSet::all(), flags);
      }
    }
  }
}

// Everything a kernel may do: its checks against what was there before, then its records. What its own
// accesses do to each other is not looked at here.
void Host::kernel(const prog::Node& part, bool checks) {
  prog::for_each_node(part, [&](const prog::Node& node) {
    if (const auto* s = std::get_if<prog::Check>(&node.node); s != nullptr && checks) check(*s);
    if (const auto* s = std::get_if<prog::Record>(&node.node); s != nullptr && !checks) {
      // What the kernel's exit would not publish.
      const bool published = local_.contains(s->target.var) || device_quals().contains(s->qual);
      if (!published) throw GiveUp("a kernel's access is not ordered by the end of the kernel");
      record(*s);
    }
  });
}

void Host::run(const prog::Body& body) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (wrong_) return;
    const prog::Node& node = body[i];
    if (is_device(program_, node)) {
      // All tasks between two host statements run together.
      std::size_t end = i;
      while (end < body.size() && is_device(program_, body[end])) ++end;
      for (const bool checks : {true, false}) {
        for (std::size_t k = i; k < end; ++k) kernel(body[k], checks);
      }
      i = end - 1;
      continue;
    }
    std::visit(overloaded{
                   [&](const prog::Loop& s) {
                     for (int round = 0;; ++round) {
                       const States before = state_;
                       run(s.body);
                       unite(before);
                       if (wrong_ || state_ == before) break;
                       if (round == 50) throw GiveUp("a host loop has too many states");
                     }
                   },
                   [&](const prog::Branch& s) {
                     const States before = state_;
                     run(s.then_body);
                     States after = std::move(state_);
                     state_ = before;
                     run(s.else_body);
                     unite(after);
                   },
                   [&](const prog::Check& s) { check(s); },
                   [&](const prog::Record& s) { record(s); },
                   [&](const prog::Fence& s) { fence(s); },
                   [&](const prog::Alloc& s) { state_[index(s.var)] = {}; },
                   [&](const prog::Free& s) { state_[index(s.var)] = {}; },
                   [&](const prog::InitRead&) { throw GiveUp("the host reads memory that it allocates"); },
                   [&](const prog::InitWrite&) {},
                   [&](const auto&) { throw GiveUp("a barrier is used at CPU scope"); },
               },
               node.node);
  }
}

}  // namespace

MemoryResult compare_accesses(const Program& program, const Tasks& tasks, const Bindings& bindings,
                              FormulaId assumptions, const working::Rules& rules, Formulas& formulas) {
  return Comparison(program, tasks, bindings, assumptions, rules, formulas).run();
}

std::optional<std::string> compare_host(const Program& program, const Tasks& tasks,
                                        const working::Rules& rules) {
  return Host(program, tasks, rules).run();
}

}  // namespace exocheck::amir::slices
