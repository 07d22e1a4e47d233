#include "analysis/aliasing.hpp"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/buffers.hpp"
#include "analysis/passes.hpp"
#include "analysis/scopes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::make_diagnostic;

using Field = std::pair<std::string, std::string>;

// Does the procedure, or one that it calls directly or indirectly, read or write the config field?
bool touches(const ir::Program& program, std::size_t procedure, const Field& field) {
  std::vector<std::size_t> pending{procedure};
  std::vector<bool> seen(program.procedures.size(), false);
  seen[procedure] = true;
  bool found = false;
  while (!pending.empty() && !found) {
    const std::size_t current = pending.back();
    pending.pop_back();
    ir::for_each_stmt(program.procedures[current].body, [&](const ir::Stmt& s) {
      const auto* write = std::get_if<ir::ConfigWrite>(&s.node);
      found = found || (write != nullptr && Field{write->config, write->field} == field);
      ir::for_each_expr(s, [&](const ir::Expr& top) {
        ir::for_each_subexpr(top, [&](const ir::Expr& e) {
          const auto* read = std::get_if<ir::ConfigRead>(&e.node);
          found = found || (read != nullptr && Field{read->config, read->field} == field);
        });
      });
      const auto* call = std::get_if<ir::Call>(&s.node);
      if (call != nullptr && call->procedure && !seen[*call->procedure]) {
        seen[*call->procedure] = true;
        pending.push_back(*call->procedure);
      }
    });
  }
  return found;
}

class Aliasing {
 public:
  explicit Aliasing(PassContext& context)
      : context_(context), procedure_(context.procedure), buffers_(context.procedure) {}

  void call(const ir::Call& call) {
    std::unordered_map<ir::SymId, std::size_t> seen;  // base buffer -> argument number
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const ir::Expr& argument = *call.arguments[i];
      if (const auto* read = std::get_if<ir::Read>(&argument.node)) {
        const ir::SymId base = buffers_.base(read->var);
        const auto [it, fresh] = seen.emplace(base, i);
        if (fresh) continue;
        const ir::Expr& other = *call.arguments[it->second];
        auto d = make_diagnostic("E-A01", procedure_.location(argument.span),
                                 fmt::format("arguments {} and {} of this call both view `{}`; a callee "
                                             "assumes that its data arguments do "
                                             "not overlap, whichever parts they view",
                                             it->second + 1, i + 1, procedure_.symbol(base).name));
        d.variable = procedure_.symbol(base).name;
        d.related.push_back(
            {semantics::Role::context, "the other argument", procedure_.location(other.span)});
        context_.diagnostics.push_back(std::move(d));
        return;
      }
      if (const auto* field = std::get_if<ir::ConfigRead>(&argument.node)) {
        if (config(call, i, argument, *field)) return;
      }
    }
  }

 private:
  // A numeric config field goes by reference; a control one by value.
  bool config(const ir::Call& call, std::size_t i, const ir::Expr& argument, const ir::ConfigRead& field) {
    if (!call.procedure) return false;
    const ir::Procedure& callee = context_.program.procedures[*call.procedure];
    if (callee.symbol(callee.parameters[i]).control()) return false;
    if (!touches(context_.program, *call.procedure, {field.config, field.field})) return false;
    context_.diagnostics.push_back(
        make_diagnostic("E-A02", procedure_.location(argument.span),
                        fmt::format("`{}.{}` is passed to `{}`, which accesses the same config field itself; "
                                    "copy it to a local scalar "
                                    "first",
                                    field.config, field.field, callee.name)));
    return true;
  }

  PassContext& context_;
  const ir::Procedure& procedure_;
  Buffers buffers_;
};

}  // namespace

void check_aliasing(PassContext& context) {
  Aliasing aliasing(context);
  ir::for_each_stmt(context.procedure.body, [&aliasing](const ir::Stmt& s) {
    if (const auto* call = std::get_if<ir::Call>(&s.node)) aliasing.call(*call);
  });
}

std::optional<semantics::Diagnostic> find_parallel_loop(const ir::Procedure& procedure) {
  std::optional<semantics::Diagnostic> found;
  for_each_scoped_stmt(procedure.body, [&](const ir::Stmt& s, DeviceScope scope) {
    const auto* loop = std::get_if<ir::For>(&s.node);
    if (found || loop == nullptr || loop->mode != ir::LoopMode::par || scope != DeviceScope::cpu) return;
    found = make_diagnostic(
        "E-V01", procedure.location(s.span),
        fmt::format("the parallel CPU loop over `{}` is not supported: whether its iterations "
                    "conflict is not checked; write seq(..)",
                    procedure.symbol(loop->iter).name));
    found->severity = semantics::Severity::note;
  });
  return found;
}

}  // namespace exocheck::analysis
