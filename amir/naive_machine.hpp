// The naive interpreter: abstract-machine.md section 4 rule by rule, over single elements and single threads.
// It is the oracle for the working machine and is never optimised; use it on small programs only.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "amir/control.hpp"
#include "amir/naive_record.hpp"
#include "amir/rounds.hpp"

namespace exocheck::amir {

// Runs the program to its end or to the first violation in the canonical order of decisions.md N5. Limits and
// overflow become Outcome::limit. Throws InternalError for a program that the translation would never
// produce.
Outcome run_naive(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits);

namespace naive {

// rho(x[i]): read and mutate records, oldest first.
struct Cell {
  std::vector<Record> reads, mutates;
  bool initialised = false;
};

// (a, w) of a barrier element and, for E-Y06, per arrival index how many homes have contributed and how many
// should.
struct Counters {
  std::int64_t arrivals = 0, awaits = 0;
  struct Group {
    std::int64_t homes = 0, expected = 0;
  };
  std::map<std::int64_t, Group> groups;
};

using Element = std::vector<std::int64_t>;

struct VariableState {
  bool alive = false;
  std::vector<std::int64_t> extents;
  std::map<Element, Cell> cells;         // absent: no records
  std::map<Element, Counters> counters;  // barriers; absent: (0, 0)
};

// The machine itself, for tests and teaching: its state can be looked at after every leaf.
class Machine {
 public:
  Machine(const Program& program, const Sizes& sizes, const ModeRules& rules, const Limits& limits);

  // `after_leaf` is called after each executed leaf that found nothing wrong.
  Outcome run(const std::function<void(const semantics::amir::Node&)>& after_leaf = {});

  const VariableState& state(VarId var) const { return variables_[index(var)]; }
  // The records of one element in the notation of abstract-machine.md 6, e.g.
  // "M<ram; 0:F{ram}; P(z[0])=1> R<tmaS; 0-3:U{g2s}>"; "-" if there are none. Threads of task t > 0 print as
  // t/n;
  // `*` is every thread. F, T, U, A: the strongest level per timeline.
  std::string dump(VarId var, const Element& element) const;

 private:
  bool execute(const semantics::amir::Node& node, const semantics::amir::Check& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Record& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::CheckBarrier& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Fence& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Arrive& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Await& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Alloc& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::Free& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::InitRead& s);
  bool execute(const semantics::amir::Node& node, const semantics::amir::InitWrite& s);

  Collective collective(const semantics::amir::Node& node) const;
  // The elements of the target, row-major; nullopt after reporting E-Y20 or a limit.
  std::optional<std::vector<Element>> elements(const semantics::amir::Node& node,
                                               const semantics::amir::Target& target);
  std::optional<Violation> forward_progress(const semantics::amir::Await& await, const Element& element,
                                            std::int64_t newest) const;
  // lift: applies the function to every record of every element.
  void lift(const std::function<void(Record&)>& change);
  void forget_pending(VarId barrier);
  void drop(VarId var);
  // Records the violation as the outcome; returns false to stop the run.
  bool fail(const semantics::amir::Node& node, Violation violation);

  const Program& program_;
  const ModeRules rules_;
  const FlagTable table_;
  Control control_;
  Rounds rounds_;
  std::vector<VariableState> variables_;
  std::set<VarId> warned_;
  std::uint64_t records_ = 0;
  Outcome outcome_;
};

}  // namespace naive
}  // namespace exocheck::amir
