// GPU IR: the resolved, typed program (language.md 4-8). An ir::Program is an immutable value; every
// statement and expression has an id that is stable under copying and a source span. Analyses never write
// into it: they return side tables keyed by id (design.md 2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "semantics/memories.hpp"
#include "semantics/source.hpp"
#include "semantics/timelines.hpp"
#include "semantics/types.hpp"
#include "semantics/units.hpp"

namespace exocheck::semantics::ir {

// Index into Procedure::symbols.
enum class SymId : std::uint32_t {};
// Unique within one Procedure, counted from 0 in program order.
enum class StmtId : std::uint32_t {};
enum class ExprId : std::uint32_t {};

constexpr std::size_t index(SymId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index(StmtId id) { return static_cast<std::size_t>(id); }

// -------------------------------------------------------------------------------------------------
// expressions

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// One subscript: a point (hi empty) or the half-open interval lo:hi. Omitted interval ends were filled in by
// the frontend (0 and the extent of that dimension).
struct Access {
  ExprPtr lo;
  ExprPtr hi;
  bool interval() const { return hi != nullptr; }
};

enum class BinaryOp : std::uint8_t {
  add,
  sub,
  mul,
  div,
  mod,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  logical_and,
  logical_or
};
enum class UnaryOp : std::uint8_t { neg, logical_not };
enum class Extern : std::uint8_t {
  sin,
  relu,
  expf,
  exp2f,
  logf,
  log2f,
  fabsf,
  sigmoid,
  sqrt,
  fmaxf,
  fminf,
  select
};

struct IntConst {
  std::int64_t value = 0;
};
struct BoolConst {
  bool value = false;
};
struct RealConst {
  double value = 0;
};  // a data literal; an integer literal in data position, too
struct VarRef {
  SymId var{};
};  // control variable
// Data: `x[i, j]` (all points, full rank) reads an element; with intervals, or with fewer subscripts than the
// rank made explicit, it denotes a window (call arguments); with no subscripts and rank > 0 the whole tensor.
struct Read {
  SymId var{};
  std::vector<Access> index;
};
struct Binary {
  BinaryOp op{};
  ExprPtr left, right;
};
struct Unary {
  UnaryOp op{};
  ExprPtr operand;
};
struct StrideOf {
  SymId var{};
  int dim = 0;
};
struct ExternCall {
  Extern function{};
  std::vector<ExprPtr> arguments;
};
struct ConfigRead {
  std::string config, field;
};

// `/` and `%` on control expressions are floor division and non-negative remainder (language.md 5.1).
enum class TypeKind : std::uint8_t { integer, size, index, boolean, stride, data, tensor, window };

struct ExprType {
  TypeKind kind = TypeKind::integer;
  std::optional<Precision> precision;  // data, tensor, window
  int rank = 0;                        // tensor, window
  bool control() const { return kind <= TypeKind::stride; }
};

struct Expr {
  ExprId id{};
  Span span;
  ExprType type;
  std::variant<IntConst, BoolConst, RealConst, VarRef, Read, Binary, Unary, StrideOf, ExternCall, ConfigRead>
      node;
};

// ------------------------------------------------------------------------------------------------- symbols

enum class SymbolKind : std::uint8_t {
  size,
  index,
  boolean,
  stride,    // control parameters
  iterator,  // of a seq, par, cuda_tasks or cuda_threads loop
  data,      // scalar or tensor: parameter or allocation
  window,    // window parameter, or the name a window statement defines
  barrier,
};

// Annotation of one dimension of an allocation (dialect R; language.md 2.3).
struct DimAnnotation {
  std::optional<std::int64_t> ring_depth;  // `@ ring_buffer_by(depth)`
  std::optional<CollUnit> unit;            // `@ cuda_warp`: kept, without meaning
};

struct Symbol {
  std::string name;  // as written; uniqueness comes from the id
  SymbolKind kind = SymbolKind::data;
  Span span;  // of the declaring name
  bool parameter = false;

  // data, window
  Precision precision = Precision::f32;
  // data, window, barrier: the shape. Of a window statement: the extents of its intervals. Empty: scalar.
  std::vector<ExprPtr> shape;
  std::optional<MemoryType> memory;        // data, window (special windows: Sm90_tensorMap)
  std::optional<MechanismType> mechanism;  // barrier
  std::optional<SymId> guard;              // barrier(g), dialect P
  std::vector<DimAnnotation> annotations;  // empty, or one per dimension
  std::optional<SymId> ring_guard;         // .ring_guarded_by(z), dialect R

  int rank() const { return static_cast<int>(shape.size()); }
  bool control() const { return kind <= SymbolKind::iterator; }
};

// -------------------------------------------------------------------------------------------------
// statements

struct Stmt;
using Block = std::vector<Stmt>;

struct BarrierExpr {
  SymId var{};
  std::vector<Access> index;
  Span span;
};

struct Pass {};
// `x[c*] = e` or `x[c*] += e`.
struct Assign {
  SymId target{};
  std::vector<ExprPtr> index;
  ExprPtr value;
  bool reduce = false;
};
struct ConfigWrite {
  std::string config, field;
  ExprPtr value;
};
// Allocation of data or of a barrier; everything else is in the symbol.
struct Alloc {
  SymId var{};
};
// `w = x[...]`, `w = x[...] @ S`; the special window, if any, is the memory of `result`.
struct WindowStmt {
  SymId result{};
  SymId base{};
  std::vector<Access> index;  // one per dimension of base
};

struct Instr;
using InstrPtr = std::shared_ptr<const Instr>;

struct Call {
  std::optional<std::size_t> procedure;  // index into Program::procedures
  InstrPtr instr;                        // exactly one of the two is set
  std::vector<ExprPtr> arguments;        // runtime arguments, in order
  std::optional<BarrierExpr> trailing;   // `>> z[...]`
};

enum class LoopMode : std::uint8_t { seq, par, cuda_tasks, cuda_threads };
struct For {
  LoopMode mode = LoopMode::seq;
  SymId iter{};
  ExprPtr lo, hi;
  std::optional<CollUnit> unit;        // cuda_threads: always set
  std::optional<std::int64_t> unroll;  // seq(..., pragma_unroll=n)
  Block body;
};
struct If {
  ExprPtr condition;
  Block then_body, else_body;
};

struct WarpConfig {
  std::string name;        // "" is allowed
  std::int64_t count = 0;  // warps
  std::optional<std::int64_t> setmaxnreg_dec, setmaxnreg_inc;
  Span span;
};
// Launch parameters as written; analysis/launch checks them (W codes).
struct LaunchConfig {
  std::optional<double> block_dim_real;  // set instead of block_dim when the program gives a non-integer
  std::optional<std::int64_t> block_dim;
  std::int64_t cluster_dim = 1;
  std::int64_t blocks_per_sm = 1;
  bool cluster_dim_valid = true;  // false: the value was not an integer
  bool blocks_per_sm_valid = true;
  std::optional<std::vector<WarpConfig>> warps;
  bool no_shutdown_cluster_sync = false;
};
struct DeviceFunction {
  LaunchConfig config;
  Block body;
};
struct Warps {
  std::optional<std::int64_t> lo, hi;
  std::optional<std::string> name;
  Block body;
};

struct Fence {
  SyncTl first{}, second{};
};
struct Arrive {
  SyncTl first{};
  std::int64_t count = 1;
  std::vector<BarrierExpr> targets;  // may be empty: E-U01
};
struct Await {
  BarrierExpr barrier;
  SyncTl second{};
  std::int64_t n = 0;  // `~k` is -k-1
  bool n_given = true;
};

struct Stmt {
  StmtId id{};
  Span span;  // of a compound statement: its header line
  std::variant<Pass, Assign, ConfigWrite, Alloc, WindowStmt, Call, For, If, DeviceFunction, Warps, Fence,
               Arrive, Await>
      node;
};

// -------------------------------------------------------------------------------------------------
// procedures

struct Assertion {
  ExprPtr condition;
  Span span;
};

// A complete or partial assignment of control parameters, as written in `# exocheck: sizes` or `--size`.
using SizeSet = std::vector<std::pair<std::string, std::int64_t>>;

struct Procedure {
  std::string name;
  Span name_span;
  SourcePtr source;
  Dialect dialect = Dialect::P;
  std::vector<SymId> parameters;
  std::vector<Assertion> assertions;
  Block body;
  std::vector<Symbol> symbols;
  std::vector<SizeSet> size_sets;     // from comments
  std::uint32_t statement_count = 0;  // every StmtId is below
  std::uint32_t expression_count = 0;

  const Symbol& symbol(SymId id) const { return symbols[index(id)]; }
  Location location(Span span) const { return {source, span}; }
};

// -------------------------------------------------------------------------------------------------
// instructions

enum class AccessMode : std::uint8_t { unused, read_only, write_only, read_write };

struct InstrParameter {
  SymId var{};                           // in the behaviour
  AccessMode mode = AccessMode::unused;  // derived from the body; control parameters: unused
  bool out_of_order = false;
  bool out_of_bounds = false;         // `oob`: waives O4, O8, O9, clips in the machine
  std::optional<bool> convergent;     // override; none: that of the initial QualTL
  std::optional<AccessQual> quals;    // override
  QualSet atomic;                     // empty: not atomic
  std::vector<CollUnit> distributed;  // units of the leading intervals
  bool owner_only = false;
};

// One instance of an instruction: template and precision parameters are bound; calls with equal values share
// it.
struct Instr {
  std::string name;
  // Keyword arguments as printed at a call, in print order: precisions, control templates, extras.
  std::vector<std::pair<std::string, std::string>> template_values;
  Procedure behaviour;  // parameters: the runtime parameters only
  InstrTimeline timeline = InstrTimeline::cpu_in_order;
  CollUnit unit;
  std::optional<MechanismKind> barrier;  // mechanism of the required trailing barrier
  std::vector<CollUnit> barrier_units;
  std::vector<InstrParameter> parameters;  // one per behaviour parameter, in order
  std::vector<std::string> code;           // CUDA (or C) templates
  bool library = false;                    // from the built-in library
};

struct Config {
  std::string name;
  struct Field {
    std::string name;
    ExprType type;
  };
  std::vector<Field> fields;
  Span span;
};

struct Program {
  SourcePtr source;
  std::vector<Procedure> procedures;  // every def that is not an instruction, in file order
  std::vector<Config> configs;
  // File constants and user instruction definitions, verbatim, for the printer (a custom unit prints as its
  // name).
  std::vector<Span> verbatim;
};

}  // namespace exocheck::semantics::ir
