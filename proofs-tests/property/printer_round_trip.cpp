// Random GPU IR programs: the print loads without an error as an equivalent program, and prints the same
// again (language.md G3). Names are drawn from a small pool, so that most of them shadow another.
//
// EXOCHECK_SEED=n starts at seed n; EXOCHECK_PROGRAMS=n makes n programs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <random>
#include <set>

#include "frontend/frontend.hpp"
#include "frontend/printer.hpp"
#include "property/support/setting.hpp"
#include "semantics/ir_util.hpp"

using namespace exocheck;
using exocheck::testing::setting;
using namespace exocheck::frontend;
namespace ir = semantics::ir;
using ir::SymbolKind;
using ir::SymId;

namespace {

semantics::SourcePtr source(std::string text) {
  return std::make_shared<const semantics::SourceFile>("random.exo", std::move(text));
}

// Calls of library instructions with their windows taken away: what a random call can be made of.
const std::vector<ir::InstrPtr>& instructions() {
  static const std::vector<ir::InstrPtr> all = [] {
    const LoadResult r =
        load(source("def p(g: f32[64, 64] @ CudaGmemLinear):\n"
                    "    with CudaDeviceFunction(blockDim=128):\n"
                    "        for task in cuda_tasks(0, 1):\n"
                    "            z: barrier @ CudaMbarrier\n"
                    "            s: f32[64, 64] @ CudaSmemLinear\n"
                    "            r: f32[32] @ CudaRmem\n"
                    "            D: f32[16, 8] @ Sm80_RmemMatrixD(16, 8)\n"
                    "            Sm80_cp_async_f32(s[0, 0:4], g[0, 0:4], size=4)\n"
                    "            Sm80_mma_zero_d_tf32(D[:, :])\n"
                    "            Sm80_mma_store_d_row_major_tf32(g[0:16, 0:8], D[:, :])\n"
                    "            cuda_warp_broadcast_sync_1f32(r[:], r[:], 3, size0=32)\n"
                    "            Sm80_cp_async_1d(s[0, 0:4], g[0, 0:4], dst=f32, src=f32, size0=4)\n"));
    REQUIRE_FALSE(semantics::has_errors(r.diagnostics));
    std::vector<ir::InstrPtr> out;
    ir::for_each_stmt(r.program.procedures.at(0).body, [&out](const ir::Stmt& s) {
      if (const auto* call = std::get_if<ir::Call>(&s.node)) out.push_back(call->instr);
    });
    return out;
  }();
  return all;
}

ir::ExprPtr make(decltype(ir::Expr::node) node) {
  return std::make_shared<const ir::Expr>(ir::Expr{{}, {}, {}, std::move(node)});
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  ir::Program program() {
    const int count = pick(1, 3);
    for (int i = 0; i < count; ++i) program_.procedures.push_back(procedure(i));
    return std::move(program_);
  }

 private:
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(pick(0, static_cast<int>(items.size()) - 1))];
  }

  // ------------------------------------------------------------------------------------------ symbols

  std::string name(SymbolKind kind) {
    static const std::vector<std::string> control{"i", "j", "i_1", "n", "i_2", "n_1", "k"};
    static const std::vector<std::string> data{"x", "y", "x_1", "acc", "y_2", "x_1_1", "n"};
    static const std::vector<std::string> barriers{"z", "z_1", "full", "z_2", "x"};
    return one_of(kind == SymbolKind::barrier ? barriers : kind <= SymbolKind::iterator ? control : data);
  }

  SymId add(ir::Symbol s) {
    p_->symbols.push_back(std::move(s));
    const auto id = static_cast<SymId>(p_->symbols.size() - 1);
    live_.push_back(id);
    return id;
  }

  std::vector<SymId> live(auto accept) const {
    std::vector<SymId> out;
    for (const SymId id : live_) {
      if (accept(p_->symbol(id))) out.push_back(id);
    }
    return out;
  }

  semantics::MemoryType memory() {
    using semantics::MemoryKind;
    static const std::vector<semantics::MemoryType> device{{MemoryKind::CudaSmemLinear, {}, {}},
                                                           {MemoryKind::CudaRmem, {}, {}},
                                                           {MemoryKind::Sm90_SmemSwizzled, {128}, {}}};
    return device_
               ? one_of(device)
               : semantics::MemoryType{chance(50) ? MemoryKind::DRAM : MemoryKind::CudaGmemLinear, {}, {}};
  }

  SymId data_symbol(bool parameter, int rank) {
    ir::Symbol s;
    s.name = name(SymbolKind::data);
    s.kind = parameter && rank > 0 && chance(40) ? SymbolKind::window : SymbolKind::data;
    s.parameter = parameter;
    s.precision = precision_;
    s.memory = memory();
    for (int d = 0; d < rank; ++d) s.shape.push_back(chance(50) ? literal(pick(1, 8)) : index_expr(2));
    return add(std::move(s));
  }

  // ------------------------------------------------------------------------------------------ expressions

  ir::ExprPtr literal(std::int64_t value) { return make(ir::IntConst{value}); }

  // Reading folds what has no variable, so a program to compare with must not have it.
  ir::ExprPtr index_expr(int depth) {
    ir::ExprPtr e = unfolded_index_expr(depth);
    const auto value = ir::constant_value(*e);
    return value ? literal(*value) : e;
  }

  ir::ExprPtr unfolded_index_expr(int depth) {
    const auto vars = live([](const ir::Symbol& s) {
      return s.kind == SymbolKind::size || s.kind == SymbolKind::index || s.kind == SymbolKind::iterator;
    });
    if (depth == 0 || chance(25)) {
      if (!vars.empty() && chance(70)) return make(ir::VarRef{one_of(vars)});
      return literal(chance(10) ? 1000000007 : pick(0, 9));
    }
    switch (pick(0, 5)) {
      case 0:
        return make(ir::Binary{ir::BinaryOp::add, index_expr(depth - 1), index_expr(depth - 1)});
      case 1:
        return make(ir::Binary{ir::BinaryOp::sub, index_expr(depth - 1), index_expr(depth - 1)});
      case 2: {
        ir::ExprPtr factor = literal(pick(1, 4));
        ir::ExprPtr other = index_expr(depth - 1);
        if (chance(50)) std::swap(factor, other);
        return make(ir::Binary{ir::BinaryOp::mul, factor, other});
      }
      case 3:
        return make(ir::Binary{ir::BinaryOp::div, index_expr(depth - 1), literal(pick(1, 4))});
      case 4:
        return make(ir::Binary{ir::BinaryOp::mod, index_expr(depth - 1), literal(pick(1, 4))});
      default:
        return make(ir::Unary{ir::UnaryOp::neg, index_expr(depth - 1)});
    }
  }

  ir::ExprPtr condition(int depth) {
    using ir::BinaryOp;
    static const std::vector<BinaryOp> comparisons{BinaryOp::lt, BinaryOp::le, BinaryOp::gt,
                                                   BinaryOp::ge, BinaryOp::eq, BinaryOp::ne};
    const auto flags = live([](const ir::Symbol& s) { return s.kind == SymbolKind::boolean; });
    if (depth == 0 || chance(30)) {
      if (!flags.empty() && chance(30)) return make(ir::VarRef{one_of(flags)});
      if (chance(10)) return make(ir::BoolConst{chance(50)});
      return make(ir::Binary{one_of(comparisons), index_expr(2), index_expr(2)});
    }
    switch (pick(0, 3)) {
      case 0:
        return make(ir::Binary{BinaryOp::logical_and, condition(depth - 1), condition(depth - 1)});
      case 1:
        return make(ir::Binary{BinaryOp::logical_or, condition(depth - 1), condition(depth - 1)});
      case 2:
        return make(ir::Binary{BinaryOp::eq, condition(depth - 1), condition(depth - 1)});
      default:
        return make(ir::Unary{ir::UnaryOp::logical_not, condition(depth - 1)});
    }
  }

  ir::Access point() { return {index_expr(2), nullptr}; }
  ir::Access interval() { return {index_expr(1), index_expr(1)}; }

  ir::ExprPtr element(SymId var) {
    ir::Read read{var, {}};
    for (int d = 0; d < p_->symbol(var).rank(); ++d) read.index.push_back(point());
    return make(std::move(read));
  }

  ir::ExprPtr value(int depth) {
    const auto vars =
        live([](const ir::Symbol& s) { return s.kind == SymbolKind::data || s.kind == SymbolKind::window; });
    if (depth == 0 || chance(25)) {
      if (!vars.empty() && chance(70)) return element(one_of(vars));
      static const std::vector<double> numbers{
          0.0, 1.0, 0.1, 3.5, 1e-7, 1e30, 123456789.0, std::numeric_limits<double>::infinity()};
      return make(ir::RealConst{one_of(numbers)});
    }
    using ir::BinaryOp;
    static const std::vector<BinaryOp> operators{BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div};
    if (chance(20)) {
      ir::ExprPtr operand = value(depth - 1);
      // Reading makes one number of a sign and a number.
      if (const auto* number = std::get_if<ir::RealConst>(&operand->node))
        return make(ir::RealConst{-number->value});
      return make(ir::Unary{ir::UnaryOp::neg, std::move(operand)});
    }
    if (chance(20)) return make(ir::ExternCall{ir::Extern::fmaxf, {value(depth - 1), value(depth - 1)}});
    return make(ir::Binary{one_of(operators), value(depth - 1), value(depth - 1)});
  }

  ir::BarrierExpr barrier(SymId var) {
    ir::BarrierExpr b{var, {}, {}};
    for (int d = 0; d < p_->symbol(var).rank(); ++d) b.index.push_back(chance(20) ? interval() : point());
    return b;
  }

  // ------------------------------------------------------------------------------------------ statements

  ir::Procedure procedure(int number) {
    ir::Procedure p;
    p.name = fmt::format("p{}", number);
    p_ = &p;
    live_.clear();
    device_ = false;
    precision_ = chance(80) ? semantics::Precision::f32 : semantics::Precision::f16;
    std::set<std::string> names;
    const auto fresh = [&](ir::Symbol s) {
      if (!names.insert(s.name).second) return;
      s.parameter = true;
      p.parameters.push_back(add(std::move(s)));
    };
    for (const SymbolKind kind :
         {SymbolKind::size, SymbolKind::index, SymbolKind::boolean, SymbolKind::stride}) {
      for (int i = pick(0, 2); i > 0; --i) {
        ir::Symbol s;
        s.name = name(kind);
        s.kind = kind;
        fresh(std::move(s));
      }
    }
    for (int i = pick(1, 3); i > 0; --i) {
      const SymId id = data_symbol(true, pick(0, 3));
      if (names.insert(p.symbol(id).name).second) {
        p.parameters.push_back(id);
      } else {
        p.symbols.pop_back();
        live_.pop_back();
      }
    }
    for (int i = pick(0, 2); i > 0; --i) p.assertions.push_back({condition(2), {}});
    p.body = block(3);
    // Device code of either dialect.
    if (chance(70)) {
      p.dialect = chance(60) ? semantics::Dialect::P : semantics::Dialect::R;
      p.body.push_back(kernel());
    }
    return p;
  }

  ir::Block block(int depth) {
    const std::size_t mark = live_.size();
    ir::Block out;
    for (int i = pick(1, 4); i > 0; --i) {
      auto s = statement(depth);
      if (s) out.push_back({{}, {}, std::move(*s)});
    }
    live_.resize(mark);
    return out;
  }

  using Node = decltype(ir::Stmt::node);

  std::optional<Node> statement(int depth) {
    const int kind = pick(0, device_ ? 12 : 8);
    switch (kind) {
      case 0:
        return ir::Pass{};
      case 1:
      case 2:
        return assignment();
      case 3:
        return ir::Alloc{data_symbol(false, device_ ? pick(1, 2) : pick(0, 2))};
      case 4:
        return window();
      case 5:
      case 6:
        if (depth == 0) return ir::Pass{};
        return loop(depth);
      case 7:
        if (depth == 0) return ir::Pass{};
        return ir::If{condition(2), block(depth - 1), chance(50) ? block(depth - 1) : ir::Block{}};
      case 8:
        return device_ ? instruction() : call();
      case 9:
        if (depth == 0) return ir::Pass{};
        return warps(depth);
      case 10:
        return ir::Alloc{barrier_symbol()};
      default:
        return synchronization();
    }
  }

  std::optional<Node> assignment() {
    const auto vars =
        live([](const ir::Symbol& s) { return s.kind == SymbolKind::data || s.kind == SymbolKind::window; });
    if (vars.empty()) return std::nullopt;
    ir::Assign a;
    a.target = one_of(vars);
    for (int d = 0; d < p_->symbol(a.target).rank(); ++d) a.index.push_back(index_expr(2));
    a.value = value(3);
    a.reduce = chance(30);
    return a;
  }

  std::vector<ir::Access> accesses(SymId var, int intervals) {
    std::vector<ir::Access> out;
    const int rank = p_->symbol(var).rank();
    for (int d = 0; d < rank; ++d) out.push_back(d < rank - intervals ? point() : interval());
    return out;
  }

  std::optional<Node> window() {
    const auto vars = live([](const ir::Symbol& s) {
      return (s.kind == SymbolKind::data || s.kind == SymbolKind::window) && s.rank() > 0;
    });
    if (vars.empty()) return std::nullopt;
    ir::WindowStmt w;
    w.base = one_of(vars);
    const ir::Symbol base = p_->symbol(w.base);
    w.index = accesses(w.base, pick(1, base.rank()));
    ir::Symbol s;
    s.name = name(SymbolKind::data);
    s.kind = SymbolKind::window;
    s.precision = base.precision;
    s.memory = base.memory;
    for (const ir::Access& a : w.index) {
      if (a.interval()) s.shape.push_back(literal(1));
    }
    w.result = add(std::move(s));
    return w;
  }

  ir::For loop_header() {
    ir::For f;
    f.lo = index_expr(1);
    f.hi = index_expr(2);
    if (device_ && chance(40)) {
      f.mode = ir::LoopMode::cuda_threads;
      f.lo = literal(0);
      f.hi = literal(pick(1, 64));
      f.unit = unit();
    } else if (chance(20)) {
      f.unroll = pick(1, 8);
    }
    return f;
  }

  semantics::CollUnit unit() {
    const semantics::CollUnit custom{{semantics::block_dim() / 8, semantics::size_constant(8)},
                                     {semantics::size_constant(1), semantics::size_constant(2)},
                                     "mine",
                                     0,
                                     1};
    const std::vector<semantics::CollUnit> units{semantics::unit_thread(), semantics::unit_warp(), custom,
                                                 *semantics::make_unit("cuda_threads_strided", {1, 8})};
    return semantics::scale(pick(1, 3), one_of(units)).unit;
  }

  Node loop(int depth) {
    ir::For f = loop_header();
    const std::size_t mark = live_.size();
    ir::Symbol s;
    s.name = name(SymbolKind::iterator);
    s.kind = SymbolKind::iterator;
    f.iter = add(std::move(s));
    f.body = block(depth - 1);
    live_.resize(mark);
    return f;
  }

  std::optional<Node> call() {
    if (program_.procedures.empty()) return std::nullopt;
    ir::Call c;
    c.procedure = static_cast<std::size_t>(pick(0, static_cast<int>(program_.procedures.size()) - 1));
    const ir::Procedure& callee = program_.procedures[*c.procedure];
    for (const SymId id : callee.parameters) {
      const ir::Symbol& formal = callee.symbol(id);
      auto argument = actual(formal);
      if (!argument) return std::nullopt;
      c.arguments.push_back(std::move(*argument));
    }
    return c;
  }

  std::optional<ir::ExprPtr> actual(const ir::Symbol& formal) {
    if (formal.kind == SymbolKind::boolean) return condition(1);
    if (formal.kind == SymbolKind::stride) {
      const auto strides = live([](const ir::Symbol& s) { return s.kind == SymbolKind::stride; });
      if (strides.empty()) return std::nullopt;
      return make(ir::VarRef{one_of(strides)});
    }
    if (formal.control()) return index_expr(2);
    const bool window = formal.kind == SymbolKind::window;
    const auto vars = live([&](const ir::Symbol& s) {
      return s.precision == formal.precision &&
             (s.kind == SymbolKind::data || (s.kind == SymbolKind::window && window)) &&
             (window ? s.rank() >= formal.rank() : s.rank() == formal.rank());
    });
    if (vars.empty()) return std::nullopt;
    const SymId var = one_of(vars);
    return make(ir::Read{var, window ? accesses(var, formal.rank()) : std::vector<ir::Access>{}});
  }

  std::optional<Node> instruction() {
    ir::Call c;
    c.instr = one_of(instructions());
    for (const ir::InstrParameter& p : c.instr->parameters) {
      const ir::Symbol& formal = c.instr->behaviour.symbol(p.var);
      auto argument = actual(formal);
      if (!argument) return std::nullopt;
      c.arguments.push_back(std::move(*argument));
    }
    return c;
  }

  // ------------------------------------------------------------------------------------------ device code

  ir::Stmt kernel() {
    device_ = true;
    ir::DeviceFunction f;
    if (chance(50)) {
      f.config.block_dim = 32 * pick(1, 8);
    } else {
      f.config.warps = {{"a", 2, 40, std::nullopt, {}}, {"it's", 3, std::nullopt, 240, {}}};
    }
    if (chance(30)) f.config.cluster_dim = 2;
    if (chance(30)) f.config.blocks_per_sm = 3;
    ir::For tasks;
    tasks.mode = ir::LoopMode::cuda_tasks;
    tasks.lo = literal(0);
    tasks.hi = index_expr(1);
    ir::Symbol s;
    s.name = name(SymbolKind::iterator);
    s.kind = SymbolKind::iterator;
    const std::size_t mark = live_.size();
    tasks.iter = add(std::move(s));
    // A mark of the dialect, so that the print shows it.
    const bool paper = p_->dialect == semantics::Dialect::P;
    ir::Symbol group;
    group.name = name(SymbolKind::barrier);
    group.kind = SymbolKind::barrier;
    group.mechanism = semantics::MechanismType{
        paper ? semantics::MechanismKind::CudaCommitGroup : semantics::MechanismKind::Sm80_CommitGroup, 0};
    if (!paper || chance(50)) tasks.body.push_back({{}, {}, ir::Alloc{add(std::move(group))}});
    ir::Block rest = block(4);
    std::move(rest.begin(), rest.end(), std::back_inserter(tasks.body));
    live_.resize(mark);
    f.body.push_back({{}, {}, std::move(tasks)});
    device_ = false;
    return {{}, {}, std::move(f)};
  }

  Node warps(int depth) {
    ir::Warps w;
    if (chance(60)) w.name = chance(50) ? "a" : "it's";
    if (!w.name || chance(50)) w.lo = pick(0, 2);
    if (w.lo && chance(80)) w.hi = pick(3, 4);
    w.body = block(depth - 1);
    return w;
  }

  SymId barrier_symbol() {
    const bool paper = p_->dialect == semantics::Dialect::P;
    ir::Symbol s;
    s.name = name(SymbolKind::barrier);
    s.kind = SymbolKind::barrier;
    for (int d = pick(0, 2); d > 0; --d) s.shape.push_back(chance(50) ? literal(pick(1, 4)) : index_expr(2));
    s.mechanism = semantics::MechanismType{};
    if (paper) {
      const auto others = live([](const ir::Symbol& o) { return o.kind == SymbolKind::barrier; });
      if (!others.empty() && chance(40)) s.guard = one_of(others);
    } else if (!s.shape.empty()) {
      s.annotations.resize(s.shape.size());
      s.annotations[0].ring_depth = pick(1, 4);
      if (chance(50))
        s.mechanism = semantics::MechanismType{semantics::MechanismKind::CudaMbarrierPreArrive, pick(1, 2)};
    }
    return add(std::move(s));
  }

  std::optional<Node> synchronization() {
    using semantics::SyncTl;
    static const std::vector<SyncTl> both{SyncTl::cuda_in_order, SyncTl::cuda_temporal, SyncTl::Sm80_cp_async,
                                          SyncTl::wgmma_async, SyncTl::empty_sync_tl};
    if (chance(30)) return ir::Fence{one_of(both), one_of(both)};
    const auto barriers = live([](const ir::Symbol& s) { return s.kind == SymbolKind::barrier; });
    if (barriers.empty()) return std::nullopt;
    if (chance(50)) {
      ir::Arrive a{one_of(both), 1, {}};
      for (int i = pick(0, 2); i >= 0; --i) a.targets.push_back(barrier(one_of(barriers)));
      return a;
    }
    ir::Await w{barrier(one_of(barriers)), one_of(both), 0, true};
    if (p_->dialect == semantics::Dialect::P && chance(50))
      w.n = -pick(1, 4);
    else
      w.n_given = chance(80);
    return w;
  }

  std::mt19937_64 random_;
  ir::Program program_;
  ir::Procedure* p_ = nullptr;
  std::vector<SymId> live_;
  bool device_ = false;
  semantics::Precision precision_ = semantics::Precision::f32;
};

}  // namespace

TEST_CASE("random programs survive printing and reading", "[property]") {
  const std::uint64_t first = setting("EXOCHECK_SEED", 1);
  const std::uint64_t count = setting("EXOCHECK_PROGRAMS", 1000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const ir::Program program = Generator(seed).program();
    const std::string text = print(program);
    INFO("seed " << seed << "\n" << text);
    const LoadResult read = load(source(text));
    std::string errors;
    for (const semantics::Diagnostic& d : read.diagnostics) {
      if (d.severity != semantics::Severity::error) continue;
      errors += fmt::format("{}: {} {}\n", d.location.begin().line, d.rule->code, d.message);
    }
    INFO(errors);
    REQUIRE(errors.empty());
    REQUIRE(print(read.program) == text);
    REQUIRE(equivalent(program, read.program));
  }
}
