// Statements of device code but for synchronization and calls.
#include <algorithm>
#include <cctype>

#include "codegen/kernel_emitter.hpp"
#include "semantics/errors.hpp"

namespace exocheck::codegen {

using semantics::MemoryKind;
using semantics::Precision;

namespace {

// The tests of an index against its bounds; empty: always true.
std::string test_text(const std::string& value, const std::optional<std::int64_t>& lower,
                      const std::optional<std::int64_t>& upper) {
  std::string test;
  if (lower) test = fmt::format("{} >= {}", value, *lower);
  if (upper) test += fmt::format("{}{} < {}", test.empty() ? "" : " && ", value, *upper);
  return test;
}

}  // namespace

// A block of other warps than those whose code is being written.
bool KernelEmitter::foreign(const ir::Stmt& stmt) const {
  const auto* w = std::get_if<ir::Warps>(&stmt.node);
  return w != nullptr && w->name && !group_->name.empty() && *w->name != group_->name;
}

bool KernelEmitter::used(SymId symbol) const { return used_.contains(symbol); }

void KernelEmitter::block(const ir::Block& statements) {
  for (const ir::Stmt& s : statements) statement(s);
  for (const ir::Stmt& s : statements) {
    if (const auto* a = std::get_if<ir::Alloc>(&s.node); a != nullptr && cx_.has_text(a->var))
      cx_.release(cx_.text(a->var));
  }
}

// Braces around a block without a test are needed only for its names.
void KernelEmitter::nested(const std::string& test, const std::string& body, const ir::Block& statements) {
  const bool names = std::any_of(statements.begin(), statements.end(),
                                 [](const ir::Stmt& s) { return std::holds_alternative<ir::Alloc>(s.node); });
  if (test.empty() && !names) {
    out_.append_outdented(body);
    return;
  }
  out_.open(test.empty() ? "{" : fmt::format("if ({}) {{", test));
  out_.append(body);
  out_.close();
}

void KernelEmitter::statement(const ir::Stmt& stmt) {
  if (const auto* s = std::get_if<ir::Assign>(&stmt.node)) return assign(*s, stmt);
  if (const auto* s = std::get_if<ir::Alloc>(&stmt.node)) return allocate(*s, stmt);
  if (const auto* s = std::get_if<ir::WindowStmt>(&stmt.node)) return cx_.define_window(*s);
  if (const auto* s = std::get_if<ir::Call>(&stmt.node)) return call(*s, stmt);
  if (const auto* s = std::get_if<ir::Fence>(&stmt.node)) return fence(*s, stmt);
  if (const auto* s = std::get_if<ir::Arrive>(&stmt.node)) return arrive(*s, stmt);
  if (const auto* s = std::get_if<ir::Await>(&stmt.node)) return await(*s, stmt);
  if (std::holds_alternative<ir::Pass>(stmt.node) || foreign(stmt)) return;
  enclosing_.push_back(&stmt);
  if (const auto* s = std::get_if<ir::For>(&stmt.node)) {
    switch (s->mode) {
      case ir::LoopMode::seq:
        seq_loop(*s, stmt);
        break;
      case ir::LoopMode::cuda_threads:
        thread_loop(*s, stmt);
        break;
      case ir::LoopMode::par:
      case ir::LoopMode::cuda_tasks:
        cx_.unsupported(stmt.span, "this kind of loop here");
    }
  } else if (const auto* b = std::get_if<ir::If>(&stmt.node)) {
    branch(*b);
  } else if (const auto* w = std::get_if<ir::Warps>(&stmt.node)) {
    warps(*w, stmt);
  } else {
    cx_.unsupported(stmt.span, "this statement in device code");
  }
  enclosing_.pop_back();
}

std::string KernelEmitter::register_type(const ir::Symbol& symbol, semantics::Span span) {
  const semantics::MemoryType& memory = *symbol.memory;
  const auto arguments = [&](std::size_t i) { return memory.arguments.at(i); };
  if (memory.is(MemoryKind::CudaRmem)) return type_text(symbol.precision);
  if (symbol.precision != Precision::f32)
    cx_.unsupported(span, "register tiles of other precisions than f32");
  if (memory.is(MemoryKind::Sm80_RmemMatrixA)) return fmt::format("XrtMmaA<{}>", arguments(1));
  if (memory.is(MemoryKind::Sm80_RmemMatrixB)) return fmt::format("XrtMmaB<{}>", arguments(1));
  if (memory.is(MemoryKind::Sm80_RmemMatrixD)) {
    if (arguments(0) != 16 || arguments(1) != 8) cx_.unsupported(span, memory.text());
    return "XrtMmaD";
  }
  if (memory.is(MemoryKind::Sm90_RmemMatrixD)) {
    wgmma_n_.insert(static_cast<int>(arguments(1)));
    return fmt::format("XrtWgmmaD<{}, {}>", arguments(0), arguments(1));
  }
  cx_.unsupported(span, "a variable in " + memory.text());
}

void KernelEmitter::allocate(const ir::Alloc& alloc, const ir::Stmt& stmt) {
  const ir::Symbol& symbol = cx_.symbol(alloc.var);
  if (symbol.kind == ir::SymbolKind::barrier || !used(alloc.var)) return;
  const semantics::MemoryRecord record = semantics::memory_record(*symbol.memory, symbol.precision);
  if (record.shared) {
    const std::string type = type_text(symbol.precision);
    const std::string identifier = cx_.declare(alloc.var);
    out_.line(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(smem + {2});", type, identifier,
                          constants_.at(alloc.var)));
    return;
  }
  const std::string type = register_type(symbol, stmt.span);
  std::string declaration = fmt::format("{} {}", type, cx_.declare(alloc.var));
  const int packed = static_cast<int>(record.packed.size());
  for (int d = cx_.distributed(alloc.var); d + packed < symbol.rank(); ++d) {
    declaration += fmt::format("[{}]", cx_.constant_extent(alloc.var, d));
  }
  out_.line(declaration + ";");
}

void KernelEmitter::assign(const ir::Assign& assign, const ir::Stmt& stmt) {
  const Place target = element(assign.target, assign.index, stmt.span);
  if (target.by_value) cx_.unsupported(stmt.span, "a write to a grid constant");
  out_.line(target.registers ? assignment(target, assign)
                             : fmt::format("{}({}, {});", assign.reduce ? "xrt_add" : "xrt_st",
                                           pointer(target), converted(*assign.value, target.precision)));
}

// Loops over register arrays must be unrolled, or the array lands in memory; so must the ones around wgmma.
bool KernelEmitter::unrolled(const ir::For& loop) const {
  const auto lo = ir::constant_value(*loop.lo), hi = ir::constant_value(*loop.hi);
  if (!lo || !hi || *hi - *lo > 64) return false;
  bool needed = false;
  ir::for_each_stmt(loop.body, [&](const ir::Stmt& s) {
    if (const auto* c = std::get_if<ir::Call>(&s.node)) {
      needed = needed || (c->instr && c->instr->timeline == semantics::InstrTimeline::wgmma_async);
    }
    const auto indexes = [&](SymId var, const auto& has_iterator) {
      const ir::Symbol& symbol = cx_.symbol(cx_.resolve(var, {}).base);
      if (!symbol.memory || !semantics::memory_record(*symbol.memory, symbol.precision).registers) return;
      needed = needed || has_iterator();
    };
    const auto mentions_iterator = [&](const ir::Expr& e) {
      bool found = false;
      ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
        const auto* v = std::get_if<ir::VarRef>(&sub.node);
        found = found || (v != nullptr && v->var == loop.iter);
      });
      return found;
    };
    if (const auto* a = std::get_if<ir::Assign>(&s.node)) {
      indexes(a->target, [&] {
        return std::any_of(a->index.begin(), a->index.end(),
                           [&](const auto& e) { return mentions_iterator(*e); });
      });
    }
    ir::for_each_expr(s, [&](const ir::Expr& e) {
      ir::for_each_subexpr(e, [&](const ir::Expr& sub) {
        const auto* r = std::get_if<ir::Read>(&sub.node);
        if (r != nullptr && !r->index.empty()) indexes(r->var, [&] { return mentions_iterator(sub); });
      });
    });
  });
  return needed;
}

void KernelEmitter::seq_loop(const ir::For& loop, const ir::Stmt& stmt) {
  const std::string lo = control_text(cx_, *loop.lo), hi = control_text(cx_, *loop.hi);
  const std::string iterator = cx_.declare(loop.iter);
  if (never_negative(cx_, *loop.lo)) cx_.non_negative.insert(loop.iter);
  const std::string body = out_.capture([&] { block(loop.body); });
  if (!body.empty()) {
    if (loop.unroll && *loop.unroll > 0) {
      out_.line(fmt::format("XRT_UNROLL_BY({})", *loop.unroll));
    } else if (loop.unroll || unrolled(loop)) {
      out_.line("XRT_UNROLL");
    }
    out_.open(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", iterator, lo, hi));
    out_.append(body);
    if (!unrolled(loop)) out_.line("XRT_LOOP_YIELD();");
    out_.close();
  }
  cx_.release(iterator);
  (void)stmt;
}

void KernelEmitter::thread_loop(const ir::For& loop, const ir::Stmt& stmt) {
  const analysis::Derivation& how = cx_.facts.body_tiling.at(stmt.id)->how;
  const std::string value = how.dim ? index_text(how.index) : "0";
  const std::string iterator = cx_.declare(loop.iter);
  cx_.non_negative.insert(loop.iter);
  const std::string body = out_.capture([&] { block(loop.body); });
  cx_.release(iterator);
  if (body.empty()) return;
  const bool named = mentions(body, iterator);
  const std::string test = test_text(named ? iterator : value, how.lower, how.upper);
  if (!named) return nested(test, body, loop.body);
  if (test.empty()) {
    out_.open("{");
    out_.line(fmt::format("const int {} = {};", iterator, value));
  } else {
    out_.open(fmt::format("if (const int {} = {}; {}) {{", iterator, value, test));
  }
  out_.append(body);
  out_.close();
}

void KernelEmitter::warps(const ir::Warps& warps, const ir::Stmt& stmt) {
  const analysis::Derivation& how = cx_.facts.body_tiling.at(stmt.id)->how;
  std::optional<std::int64_t> lower = how.lower, upper = how.upper;
  // What the branch to this group's code has tested already.
  if (how.index.base == analysis::IndexBase::thread && how.index.ops.empty() && !group_->name.empty()) {
    if (lower && *lower <= 32 * group_->first_warp) lower.reset();
    if (upper && *upper >= 32 * (group_->first_warp + group_->count)) upper.reset();
  }
  const std::string body = out_.capture([&] { block(warps.body); });
  if (body.empty()) return;
  const std::string test = how.dim ? test_text(index_text(how.index), lower, upper) : "";
  nested(test, body, warps.body);
}

void KernelEmitter::branch(const ir::If& branch) {
  const std::string condition = control_text(cx_, *branch.condition);
  const std::string then_body = out_.capture([&] { block(branch.then_body); });
  const std::string else_body = out_.capture([&] { block(branch.else_body); });
  if (then_body.empty() && else_body.empty()) return;
  out_.open(then_body.empty() ? fmt::format("if (!({})) {{", condition)
                              : fmt::format("if ({}) {{", condition));
  out_.append(then_body.empty() ? else_body : then_body);
  out_.close();
  if (then_body.empty() || else_body.empty()) return;
  out_.open("else {");
  out_.append(else_body);
  out_.close();
}

}  // namespace exocheck::codegen
