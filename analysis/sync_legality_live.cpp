#include <fmt/format.h>

#include <algorithm>

#include "analysis/ring.hpp"
#include "analysis/scopes.hpp"
#include "analysis/sync_legality.hpp"
#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;
using semantics::LoweredBarrier;

constexpr std::int64_t shared_memory_per_cta = 232448;  // bytes, sm_90 (decisions.md F8)

// Walks one device function in program order and keeps what is live (decisions.md L5).
class LiveResources {
 public:
  explicit LiveResources(PassContext& context) : context_(context), procedure_(context.procedure) {}

  void block(const ir::Block& statements) {
    for (const ir::Stmt& s : statements) {
      end(context_.facts.free_before, s.id);
      if (const auto* alloc = std::get_if<ir::Alloc>(&s.node)) begin(s, alloc->var);
      if (const auto* fence = std::get_if<ir::Fence>(&s.node)) this->fence(s, *fence);
      for (const ir::Block* b : ir::sub_blocks(s)) block(*b);
      end(context_.facts.free_after, s.id);
    }
  }

 private:
  struct Solitary {
    ir::SymId var{};
    LoweredBarrier kind{};
    const ir::Stmt* allocation = nullptr;
  };

  void begin(const ir::Stmt& s, ir::SymId var) {
    const ir::Symbol& symbol = procedure_.symbol(var);
    if (symbol.kind != ir::SymbolKind::barrier) {
      shared_memory(s, var);
      return;
    }
    const LoweredBarrier kind = context_.facts.barrier.at(var).lowered;
    if (!semantics::solitary(kind)) return;
    const auto other =
        std::find_if(live_.begin(), live_.end(), [kind](const Solitary& l) { return l.kind == kind; });
    if (other != live_.end()) {
      const std::string& name = procedure_.symbol(other->var).name;
      auto d = semantics::make_diagnostic(
          "E-U17", procedure_.location(s.span),
          fmt::format("`{}` is allocated while `{}` is live, and both are of the kind {} (mechanism {}), of "
                      "which only one "
                      "may be live at a time",
                      symbol.name, name, semantics::name(kind), symbol.mechanism->text()));
      d.variable = symbol.name;
      d.memory = symbol.mechanism->text();
      d.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", name),
                           procedure_.location(other->allocation->span)});
      context_.diagnostics.push_back(std::move(d));
    }
    live_.push_back({var, kind, &s});
  }

  void fence(const ir::Stmt& s, const ir::Fence& f) {
    const TilingPtr& tiling = context_.facts.tiling_of(s.id);
    semantics::ensure(tiling != nullptr, "device statement without a tiling");
    if (f.first == semantics::SyncTl::wgmma_fence_1) return;
    if (fence_scope(tiling, procedure_.dialect, f.second) != FenceScope::cluster) return;
    const auto other = std::find_if(live_.begin(), live_.end(),
                                    [](const Solitary& l) { return l.kind == LoweredBarrier::cluster_sync; });
    if (other == live_.end()) return;
    const std::string& name = procedure_.symbol(other->var).name;
    auto d = semantics::make_diagnostic("E-U17", procedure_.location(s.span),
                                        fmt::format("this Fence of the whole cluster uses the hardware "
                                                    "cluster barrier while the cluster sync `{}` is live; "
                                                    "only one of the two may be in use",
                                                    name));
    d.variable = name;
    d.related.push_back({semantics::Role::declaration, fmt::format("`{}` is declared here", name),
                         procedure_.location(other->allocation->span)});
    context_.diagnostics.push_back(std::move(d));
  }

  // Bytes of the variable in one CTA; 0 if it is not in shared memory.
  std::int64_t bytes(ir::SymId var) const {
    const ir::Symbol& symbol = procedure_.symbol(var);
    if (symbol.kind != ir::SymbolKind::data || !symbol.memory) return 0;
    if (!semantics::memory_record(*symbol.memory, symbol.precision).shared) return 0;
    const auto found = context_.facts.distribution.find(var);
    const auto ring = ring_dimension(symbol);
    std::size_t i =
        found == context_.facts.distribution.end() ? 0 : static_cast<std::size_t>(found->second.distributed);
    std::int64_t elements = 1;
    for (; i < symbol.shape.size(); ++i) {
      const auto extent = i == ring ? symbol.annotations[i].ring_depth : ir::constant_value(*symbol.shape[i]);
      elements = ir::checked_mul(elements, extent.value_or(0));
    }
    return ir::checked_mul(elements, semantics::bits(symbol.precision)) / 8;
  }

  void shared_memory(const ir::Stmt& s, ir::SymId var) {
    used_ = ir::checked_add(used_, bytes(var));
    if (used_ <= shared_memory_per_cta || warned_) return;
    warned_ = true;
    auto d =
        semantics::make_diagnostic("W-M20", procedure_.location(s.span),
                                   fmt::format("with `{}`, {} bytes of shared memory are in use in a CTA, "
                                               "more than the {} that the hardware has; "
                                               "the check goes on, but the kernel cannot be built",
                                               procedure_.symbol(var).name, used_, shared_memory_per_cta));
    d.variable = procedure_.symbol(var).name;
    context_.diagnostics.push_back(std::move(d));
  }

  void end(const std::unordered_map<ir::StmtId, std::vector<ir::SymId>>& frees, ir::StmtId at) {
    const auto it = frees.find(at);
    if (it == frees.end()) return;
    for (const ir::SymId var : it->second) {
      if (procedure_.symbol(var).kind == ir::SymbolKind::barrier) {
        std::erase_if(live_, [var](const Solitary& l) { return l.var == var; });
      } else {
        used_ -= bytes(var);
      }
    }
  }

  PassContext& context_;
  const ir::Procedure& procedure_;
  std::vector<Solitary> live_;
  std::int64_t used_ = 0;
  bool warned_ = false;
};

}  // namespace

void check_live_resources(PassContext& context) {
  ir::for_each_stmt(context.procedure.body, [&context](const ir::Stmt& s) {
    if (const auto* f = std::get_if<ir::DeviceFunction>(&s.node)) LiveResources(context).block(f->body);
  });
}

}  // namespace exocheck::analysis
