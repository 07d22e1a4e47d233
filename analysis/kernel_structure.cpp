// Shape of device functions (language.md 8.1) and windows of grid constants (E-K10).
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "analysis/buffers.hpp"
#include "analysis/passes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::make_diagnostic;
using semantics::Role;

const ir::For* tasks_loop(const ir::Stmt& s) {
  const auto* loop = std::get_if<ir::For>(&s.node);
  return loop != nullptr && loop->mode == ir::LoopMode::cuda_tasks ? loop : nullptr;
}

class KernelStructure {
 public:
  explicit KernelStructure(PassContext& context) : context_(context), procedure_(context.procedure) {}

  void run(const ir::Stmt& stmt, const ir::DeviceFunction& function) {
    if (function.body.size() != 1) {
      const auto extra = std::find_if(function.body.begin(), function.body.end(),
                                      [](const ir::Stmt& s) { return tasks_loop(s) == nullptr; });
      const ir::Stmt& at = extra != function.body.end() ? *extra : function.body.back();
      report("E-K01", at,
             "a device function holds a lone `cuda_tasks` loop and nothing else; move this statement into "
             "the innermost "
             "`cuda_tasks` loop")
          .related.push_back({Role::context, "the device function", procedure_.location(stmt.span)});
      return;
    }
    const ir::Stmt& first = function.body.front();
    const ir::For* loop = tasks_loop(first);
    if (loop == nullptr) {
      report("E-K02", first, "the only statement of a device function must be a `cuda_tasks` loop");
      return;
    }
    nest(first, *loop);
  }

 private:
  semantics::Diagnostic& report(const char* code, const ir::Stmt& at, std::string message) {
    context_.diagnostics.push_back(make_diagnostic(code, procedure_.location(at.span), std::move(message)));
    return context_.diagnostics.back();
  }

  void nest(const ir::Stmt& outermost, const ir::For& outermost_loop) {
    std::vector<ir::SymId> iterators;
    const ir::Stmt* stmt = &outermost;
    const ir::For* loop = &outermost_loop;
    for (;;) {
      if (!loop_header(*stmt, *loop, iterators)) return;
      iterators.push_back(loop->iter);
      const ir::For* inner = loop->body.empty() ? nullptr : tasks_loop(loop->body.front());
      if (inner == nullptr) break;
      if (loop->body.size() > 1) {
        report("E-K03", loop->body[1],
               fmt::format(
                   "nothing may follow the nested `cuda_tasks` loop over `{}`; move this statement into it",
                   procedure_.symbol(inner->iter).name));
        return;
      }
      stmt = &loop->body.front();
      loop = inner;
    }
    ir::for_each_stmt(loop->body, [this](const ir::Stmt& s) {
      if (const ir::For* stray = tasks_loop(s)) {
        report("E-K04", s,
               fmt::format(
                   "the `cuda_tasks` loop over `{}` stands inside a device task; `cuda_tasks` loops form one "
                   "perfect nest at the top of the device function",
                   procedure_.symbol(stray->iter).name));
      }
    });
  }

  bool loop_header(const ir::Stmt& stmt, const ir::For& loop, const std::vector<ir::SymId>& outer) {
    const std::string& name = procedure_.symbol(loop.iter).name;
    for (const ir::SymId o : outer) {
      if (procedure_.symbol(o).name != name) continue;
      report("E-K05", stmt,
             fmt::format("two nested `cuda_tasks` loops share the iterator name `{}`; rename one", name));
      return false;
    }
    std::optional<ir::SymId> used;
    ir::for_each_expr(stmt, [&](const ir::Expr& bound) {
      ir::for_each_subexpr(bound, [&](const ir::Expr& e) {
        const auto* v = std::get_if<ir::VarRef>(&e.node);
        if (v != nullptr && std::find(outer.begin(), outer.end(), v->var) != outer.end()) used = v->var;
      });
    });
    if (!used) return true;
    report(
        "E-K06", stmt,
        fmt::format(
            "the bounds of the `cuda_tasks` loop over `{}` mention `{}`, an iterator of the same nest; only "
            "rectangular nests are possible",
            name, procedure_.symbol(*used).name));
    return false;
  }

  PassContext& context_;
  const ir::Procedure& procedure_;
};

// Grid constants are passed by value, so no window of one may cross into the kernel (conformance PA-40).
void check_grid_constants(PassContext& context, const Buffers& buffers, const ir::DeviceFunction& function) {
  const ir::Procedure& procedure = context.procedure;
  std::unordered_set<ir::SymId> inside;  // windows made in this device function
  ir::for_each_stmt(function.body, [&](const ir::Stmt& s) {
    if (const auto* w = std::get_if<ir::WindowStmt>(&s.node)) inside.insert(w->result);
  });
  std::unordered_set<ir::SymId> reported;
  ir::for_each_stmt(function.body, [&](const ir::Stmt& s) {
    for_each_mention(s, [&](ir::SymId var) {
      // A window made inside is judged by what it was made of.
      const ir::Symbol& symbol = procedure.symbol(var);
      if (symbol.kind != ir::SymbolKind::window || inside.contains(var)) return;
      if (!buffers.memory(var).is(semantics::MemoryKind::CudaGridConstant) || !reported.insert(var).second)
        return;
      auto d = make_diagnostic(
          "E-K10", procedure.location(s.span),
          fmt::format(
              "`{}` is a window over a CudaGridConstant and is used in device code; grid constants enter a "
              "kernel by value, so use the array itself",
              symbol.name));
      d.variable = symbol.name;
      d.related.push_back({Role::declaration, "the window", procedure.location(symbol.span)});
      context.diagnostics.push_back(std::move(d));
    });
  });
}

}  // namespace

void check_kernel_structure(PassContext& context) {
  const Buffers buffers(context.procedure);
  ir::for_each_stmt(context.procedure.body, [&](const ir::Stmt& s) {
    const auto* function = std::get_if<ir::DeviceFunction>(&s.node);
    if (function == nullptr) return;
    KernelStructure(context).run(s, *function);
    check_grid_constants(context, buffers, *function);
  });
}

}  // namespace exocheck::analysis
