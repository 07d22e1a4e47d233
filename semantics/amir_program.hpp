// AMIR: the abstract machine's program (abstract-machine.md 2). Control flow stays; every data access and
// every synchronization statement has become explicit checks, records and sync operations, each with its
// thread map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/ir.hpp"
#include "semantics/timelines.hpp"

namespace exocheck::semantics::amir {

using ir::ExprPtr;
using ir::StmtId;
using ir::SymId;

// Index into Program::variables.
enum class VarId : std::uint32_t {};
constexpr std::size_t index(VarId v) { return static_cast<std::size_t>(v); }
// Unique within one Program, in program order; names the AMIR statement in verdicts.
enum class NodeId : std::uint32_t {};
constexpr std::size_t index(NodeId n) { return static_cast<std::size_t>(n); }

// Visibility levels, weakest first (abstract-machine.md 1.7).
enum class Level : std::uint8_t { invisible, atomic, unordered, temporal, full };
std::string_view name(Level level);

// The collective of a statement as a function of the iterators: a product of one interval per dimension
// (abstract-machine.md 1.3), or every thread of every task.
struct ThreadMap {
  struct Dim {
    std::int64_t extent = 1;
    std::int64_t offset = 0;
    std::vector<std::pair<SymId, std::int64_t>>
        terms;  // (iterator, coefficient): the interval starts at offset + sum
    std::int64_t box = 1;
  };
  bool all_threads = false;  // CPU scope
  std::vector<Dim> dims;     // CUDA scope: most significant first; product of extents = threads per cluster
};

struct Variable {
  std::string name;
  bool barrier = false;
  std::vector<ExprPtr> shape;  // extents; empty: scalar
  bool parameter = false;      // lives for the whole run
  bool registers = false;      // for E-Y21 against W-Y21
  bool shared = false;         // subject to the free check
  bool check_initialised =
      false;  // allocated in the procedure, so that a read before any write is suspicious
  LoweredBarrier lowered = LoweredBarrier::mbarrier;  // barrier
  std::optional<SymId> symbol;                        // origin
  std::string memory;                                 // for messages
};

// One subscript: point lo, or half-open interval [lo, hi).
struct Window {
  ExprPtr lo, hi;  // hi empty: point
  bool interval() const { return hi != nullptr; }
};

// The elements of one access. `clip`: elements outside the allocation are ignored instead of reported
// (decisions.md E7).
struct Target {
  VarId var{};
  std::vector<Window> index;  // one per dimension
  bool clip = false;
};

// What a check belongs to; decides the rule of a failure.
enum class Purpose : std::uint8_t { read, write, free_memory };

// CheckMutates / CheckReads: every past mutate (read) of the elements must be visible at `level` on one of
// `quals` to some (convergent) or every (not) thread of the collective.
struct Check {
  bool reads = false;  // CheckReads, else CheckMutates
  bool convergent = false;
  Level level = Level::full;
  Target target;
  QualSet quals;
  Purpose purpose = Purpose::read;
  bool overwrites = false;  // of a mutate that ignores the old value (for strict rule S2)
};

// RecordRead / RecordMutate.
struct Record {
  bool mutate = false;
  bool convergent = false;
  bool in_order = true;  // issuing threads get FULL, else UNORD
  Target target;
  Qual qual{};
  QualSet atomic;               // empty: not atomic
  std::vector<Target> pending;  // trailing barrier elements
};

struct CheckBarrier {
  VarId var{};
};

struct Fence {
  bool transitive = false;
  QualSet first;           // full set of the first timeline
  QualSet full, temporal;  // of the second; full is contained in temporal
};

struct Arrive {
  bool transitive = false;
  QualSet first;
  Target home;                     // points only
  std::vector<Target> referenced;  // expressions; an element is referenced iff it lies in one of them
};

struct Await {
  Target barrier;  // points only
  QualSet full, temporal;
  std::int64_t n = 0;  // >= 0: all but the newest n arrivals; ~lag: await-indexed
};

struct Alloc {
  VarId var{};
};
struct Free {
  VarId var{};
};
struct IncTask {};

// Element-exact data flow of the sequential program, for reads of elements nobody wrote (decisions.md N20).
struct InitRead {
  Target target;
};
struct InitWrite {
  Target target;
};

struct Node;
using Body = std::vector<Node>;

struct Loop {
  SymId iter{};
  ExprPtr lo, hi;
  Body body;
};
struct Branch {
  ExprPtr condition;
  Body then_body, else_body;
};

struct Node {
  NodeId id{};
  StmtId origin{};        // GPU IR statement
  std::uint32_t map = 0;  // index into Program::maps; unused by structural nodes
  std::string role;       // "argument dst", "value", "target", "barrier use": for messages; may be empty
  std::variant<Check, Record, CheckBarrier, Fence, Arrive, Await, Alloc, Free, IncTask, InitRead, InitWrite,
               Loop, Branch>
      node;
};

struct Program {
  std::vector<Variable> variables;
  std::vector<ThreadMap> maps;
  Body body;
  std::uint32_t node_count = 0;
  std::uint32_t symbol_count = 0;  // environment size: every SymId in expressions is below
  std::int64_t threads = 1;        // per cluster, the largest of all device functions
};

// Calls `visit` with the node and with every node inside it, outer ones first.
template <class Visit>
void for_each_node(const Node& node, const Visit& visit);
template <class Visit>
void for_each_node(const Body& body, const Visit& visit) {
  for (const Node& node : body) for_each_node(node, visit);
}
template <class Visit>
void for_each_node(const Node& node, const Visit& visit) {
  visit(node);
  if (const auto* loop = std::get_if<Loop>(&node.node)) for_each_node(loop->body, visit);
  if (const auto* branch = std::get_if<Branch>(&node.node)) {
    for_each_node(branch->then_body, visit);
    for_each_node(branch->else_body, visit);
  }
}

}  // namespace exocheck::semantics::amir
