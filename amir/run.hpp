// Running an AMIR program: what goes in, what comes out. Shared by the three interpreters (naive_machine,
// machine, trace_graph), which must agree on Outcome::violation's rule, variable, element and node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/facts.hpp"
#include "semantics/amir_program.hpp"
#include "semantics/ir_util.hpp"
#include "semantics/modes.hpp"

namespace exocheck::amir {

using semantics::Qual;
using semantics::QualSet;
using semantics::amir::Level;
using semantics::amir::NodeId;
using semantics::amir::Program;
using semantics::amir::VarId;
using semantics::ir::SymId;

using semantics::ModeRules;
using semantics::rules_of;

struct Limits {
  std::uint64_t max_steps = 2'000'000'000;  // executed AMIR nodes times regions touched
  double max_seconds = 600;
  std::uint64_t max_memory_bytes = 8ull << 30;
};

// Task id (0-based, counted over the whole run) and local thread index.
struct Thread {
  std::int64_t task = 0;
  std::int64_t local = 0;
  friend auto operator<=>(const Thread&, const Thread&) = default;
};

// One executed instance of an AMIR node.
struct Instance {
  NodeId node{};
  std::vector<std::pair<SymId, std::int64_t>> iterators;  // outermost first
  std::int64_t task = 0;
};

struct Violation {
  std::string_view code;  // "E-Y31"
  VarId var{};
  std::vector<std::int64_t> element;  // the smallest failing index, row-major
  Instance at;                        // the failing check, await, or access
  bool after_mutate = false;          // E-Y12: the unordered access is a mutate
  Level required = Level::full;
  QualSet quals;  // one of these had to carry `required`
  std::optional<Thread>
      missing;  // a thread that lacks it (none: no thread of a convergent collective has it)
  Level held = Level::invisible;  // the best it (or any of them) holds on `quals`
  // E-Y14: arrivals and awaits of the element; E-Y04: the arrival waited for; E-Y06: partners arrived and
  // expected, both 0 if the round of an Arrive is in doubt.
  std::int64_t count_a = 0, count_b = 0;
};

struct Outcome {
  std::optional<Violation> violation;  // the first one; the run stops there
  std::vector<Violation> warnings;     // W-Y21, at most one per variable
  bool executed_task = false;          // some device task ran
  std::optional<std::string> limit;    // a limit or overflow stopped the run: code, blank, text
  std::uint64_t nodes_executed = 0;
  std::uint64_t steps = 0;  // work done: nodes, and regions or elements and records touched
  std::uint64_t records_peak = 0;
};

// Control parameters: a value for every size, index and bool parameter (strides are computed by the
// translation).
using Sizes = semantics::ir::Environment;

}  // namespace exocheck::amir
