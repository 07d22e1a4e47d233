// What may stand at CPU scope and what in device code, and which memory may be touched where
// (language.md 7.1, 7.3).
#include <fmt/format.h>

#include <string>

#include "analysis/buffers.hpp"
#include "analysis/passes.hpp"
#include "analysis/scopes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::InstrTimeline;
using semantics::make_diagnostic;
using semantics::MemoryType;
using semantics::Permissions;
using semantics::Span;

class DeviceScopes {
 public:
  explicit DeviceScopes(PassContext& context)
      : context_(context), procedure_(context.procedure), buffers_(context.procedure) {}

  // At most one error per statement (decisions.md C14).
  void visit(const ir::Stmt& stmt, DeviceScope scope) {
    scope_ = scope;
    stmt_ = &stmt;
    reported_ = false;
    std::visit(ir::overloaded{
                   [&](const ir::For& s) { loop(s); },
                   [&](const ir::DeviceFunction&) {
                     if (cuda())
                       report("E-D05", stmt.span,
                              "a device function stands inside device code; launch it "
                              "from CPU scope");
                   },
                   [&](const ir::Warps&) {
                     if (!cuda()) report("E-K09", stmt.span, "`CudaWarps` stands outside a device function");
                   },
                   [&](const ir::Alloc& s) { allocation(s); },
                   [&](const ir::WindowStmt& s) { window(s); },
                   [&](const ir::Assign& s) { assignment(s); },
                   [&](const ir::Call& s) { call(s); },
                   [&](const ir::ConfigWrite& s) {
                     if (cuda()) config(s.config, s.field, stmt.span);
                   },
                   [&](const ir::Arrive&) { sync_statement("Arrive"); },
                   [&](const ir::Await&) { sync_statement("Await"); },
                   // A Fence at CPU scope is check_sync_legality's (E-U10).
                   [](const ir::Fence&) {},
                   [](const ir::Pass&) {},
                   [](const ir::If&) {},
               },
               stmt.node);
    reads();
  }

 private:
  bool cuda() const { return scope_ == DeviceScope::cuda; }
  InstrTimeline plain_timeline() const {
    return cuda() ? InstrTimeline::cuda_in_order : InstrTimeline::cpu_in_order;
  }

  void report(const char* code, Span span, std::string message, std::optional<ir::SymId> var = std::nullopt) {
    if (reported_) return;
    reported_ = true;
    auto d = make_diagnostic(code, procedure_.location(span), std::move(message));
    if (var) {
      const ir::Symbol& symbol = procedure_.symbol(*var);
      d.variable = symbol.name;
      if (symbol.kind != ir::SymbolKind::barrier) d.memory = buffers_.memory(*var).text();
      d.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", symbol.name),
                           procedure_.location(symbol.span)});
    }
    context_.diagnostics.push_back(std::move(d));
  }

  void loop(const ir::For& s) {
    const std::string& iter = procedure_.symbol(s.iter).name;
    switch (s.mode) {
      case ir::LoopMode::seq:
        return;
      case ir::LoopMode::par:
        if (cuda()) {
          report(
              "E-K07", stmt_->span,
              fmt::format("the `par` loop over `{}` stands in device code; use seq or cuda_threads", iter));
        }
        return;
      case ir::LoopMode::cuda_tasks:
        if (!cuda()) {
          report("E-K08", stmt_->span,
                 fmt::format("the `cuda_tasks` loop over `{}` stands outside a device function", iter));
        }
        return;
      case ir::LoopMode::cuda_threads:
        if (!cuda()) {
          report("E-K09", stmt_->span,
                 fmt::format("the `cuda_threads` loop over `{}` stands outside a device function", iter));
        }
        return;
    }
  }

  void allocation(const ir::Alloc& s) {
    const ir::Symbol& symbol = procedure_.symbol(s.var);
    if (symbol.kind == ir::SymbolKind::barrier) {
      if (!cuda()) {
        report("E-D01", stmt_->span,
               fmt::format("the barrier `{}` is allocated at CPU scope; barriers belong in a device task",
                           symbol.name),
               s.var);
      }
      return;
    }
    if (rights(s.var, plain_timeline()).create) return;
    report("E-D01", stmt_->span,
           fmt::format("`{}` is allocated in {} at {}, where that memory cannot be allocated", symbol.name,
                       buffers_.memory(s.var).text(), name(scope_)),
           s.var);
  }

  void window(const ir::WindowStmt& s) {
    const auto& own = procedure_.symbol(s.result).memory;
    const bool special = own && own->is(semantics::MemoryKind::Sm90_tensorMap) &&
                         !buffers_.memory(s.base).is(semantics::MemoryKind::Sm90_tensorMap);
    if (special && cuda()) {
      report(
          "E-D04", stmt_->span,
          fmt::format(
              "the special window `{}` @ {} is made in device code; make it at CPU scope and take windows of "
              "it here",
              procedure_.symbol(s.result).name, own->text()),
          s.result);
    }
  }

  void assignment(const ir::Assign& s) {
    if (rights(s.target, plain_timeline()).write) return;
    report("E-D02", stmt_->span,
           fmt::format("`{}` lies in {}, which plain code at {} may not {}", procedure_.symbol(s.target).name,
                       buffers_.memory(s.target).text(), name(scope_), s.reduce ? "reduce into" : "write"),
           s.target);
  }

  // Plain reads, and config fields in device code.
  void reads() {
    for_each_plain_read(*stmt_, [this](const ir::Expr& e, const ir::Read& read) {
      if (rights(read.var, plain_timeline()).read) return;
      report("E-D02", e.span,
             fmt::format("`{}` lies in {}, which plain code at {} may not read",
                         procedure_.symbol(read.var).name, buffers_.memory(read.var).text(), name(scope_)),
             read.var);
    });
    if (!cuda()) return;
    ir::for_each_expr(*stmt_, [this](const ir::Expr& top) {
      ir::for_each_subexpr(top, [this](const ir::Expr& e) {
        if (const auto* field = std::get_if<ir::ConfigRead>(&e.node))
          config(field->config, field->field, e.span);
      });
    });
  }

  void config(const std::string& config, const std::string& field, Span span) {
    report("E-D02", span,
           fmt::format(
               "the config field `{}.{}` is accessed in device code; config fields exist at CPU scope only",
               config, field));
  }

  void sync_statement(const char* what) {
    if (!cuda()) {
      report("E-D06", stmt_->span,
             fmt::format("{} stands at CPU scope; barriers exist in device code only", what));
    }
  }

  void call(const ir::Call& s) {
    if (s.procedure) {
      if (cuda()) {
        report("E-D03", stmt_->span,
               fmt::format("the procedure `{}` is called in device code; inline it, or call it at CPU scope",
                           context_.program.procedures[*s.procedure].name));
      }
      return;
    }
    const ir::Instr& instr = *s.instr;
    if (semantics::is_cpu(instr.timeline) == cuda()) {
      report("E-D03", stmt_->span,
             fmt::format("`{}` is an instruction of the timeline {}, which does not run at {}", instr.name,
                         semantics::name(instr.timeline), name(scope_)));
      return;
    }
    for (std::size_t i = 0; i < s.arguments.size(); ++i) argument(instr, i, *s.arguments[i]);
  }

  void argument(const ir::Instr& instr, std::size_t i, const ir::Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e.node);
    const ir::InstrParameter& parameter = instr.parameters[i];
    if (read == nullptr || parameter.mode == ir::AccessMode::unused) return;
    const std::string& formal = instr.behaviour.symbol(instr.behaviour.parameters[i]).name;
    const bool writes = parameter.mode != ir::AccessMode::read_only;
    const Permissions allowed = rights(read->var, instr.timeline);
    if (writes ? !allowed.write : !allowed.read) {
      report(
          "E-D02", e.span,
          fmt::format(
              "in the call of `{}` ({}), `{}` is passed for `{}`, which the instruction {}, but {} may not "
              "be {} here",
              instr.name, semantics::name(instr.timeline), procedure_.symbol(read->var).name, formal,
              writes ? "writes" : "reads", buffers_.memory(read->var).text(), writes ? "written" : "read"),
          read->var);
      return;
    }
    if (!parameter.quals &&
        !semantics::access_qual(procedure_.dialect, buffers_.storage(read->var), instr.timeline)) {
      report("E-D03", e.span,
             fmt::format("in the call of `{}`, the timeline {} cannot access `{}`, which lies in {}",
                         instr.name, semantics::name(instr.timeline), procedure_.symbol(read->var).name,
                         buffers_.memory(read->var).text()),
             read->var);
    }
  }

  Permissions rights(ir::SymId var, InstrTimeline timeline) const {
    const ir::Symbol& symbol = procedure_.symbol(var);
    // A barrier or control variable in a data position is the business of other passes.
    if (symbol.kind != ir::SymbolKind::data && symbol.kind != ir::SymbolKind::window)
      return {true, true, true};
    return semantics::permissions(semantics::memory_record(buffers_.memory(var), symbol.precision), timeline);
  }

  PassContext& context_;
  const ir::Procedure& procedure_;
  Buffers buffers_;
  DeviceScope scope_ = DeviceScope::cpu;
  const ir::Stmt* stmt_ = nullptr;
  bool reported_ = false;
};

}  // namespace

void check_device_scopes(PassContext& context) {
  DeviceScopes scopes(context);
  for_each_scoped_stmt(context.procedure.body,
                       [&scopes](const ir::Stmt& s, DeviceScope scope) { scopes.visit(s, scope); });
}

}  // namespace exocheck::analysis
