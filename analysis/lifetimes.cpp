// Ends of life (decisions.md L5, L6, N6, N7; instructions.md 2.9).
#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/buffers.hpp"
#include "analysis/passes.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis {
namespace {

namespace ir = semantics::ir;

bool in_shared_memory(const ir::Symbol& symbol) {
  return symbol.kind == ir::SymbolKind::data && symbol.memory &&
         semantics::memory_record(*symbol.memory, symbol.precision).shared;
}

// One allocation of a block and where its life ends.
struct Life {
  ir::SymId var{};
  std::size_t declared = 0;  // statement index in the block
  std::size_t last_use = 0;  // the same; `declared` if never used
};

class Lifetimes {
 public:
  Lifetimes(const ir::Procedure& procedure, Facts& facts)
      : procedure_(procedure), buffers_(procedure), facts_(facts) {}

  void run(const ir::Block& block) {
    std::vector<Life> lives;
    std::unordered_map<ir::SymId, std::size_t> position;  // of a Life in `lives`
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (const auto* alloc = std::get_if<ir::Alloc>(&block[i].node)) {
        facts_.allocation[alloc->var] = block[i].id;
        position[alloc->var] = lives.size();
        lives.push_back({alloc->var, i, i});
      }
    }
    if (!lives.empty()) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        visit_deep(block[i], [&](const ir::Stmt& s) {
          for_each_mention(s, [&](ir::SymId var) {
            const auto it = position.find(buffers_.base(var));
            if (it != position.end()) lives[it->second].last_use = std::max(lives[it->second].last_use, i);
          });
        });
      }
      place(block, std::move(lives));
    }
    for (const ir::Stmt& s : block) {
      for (const ir::Block* b : ir::sub_blocks(s)) run(*b);
    }
  }

 private:
  static void visit_deep(const ir::Stmt& s, const std::function<void(const ir::Stmt&)>& visit) {
    visit(s);
    for (const ir::Block* b : ir::sub_blocks(s)) ir::for_each_stmt(*b, visit);
  }

  // Per statement: does it contain an allocation in shared memory, at any depth?
  std::vector<bool> pool_allocations(const ir::Block& block) const {
    std::vector<bool> found(block.size(), false);
    for (std::size_t i = 0; i < block.size(); ++i) {
      visit_deep(block[i], [&](const ir::Stmt& s) {
        const auto* alloc = std::get_if<ir::Alloc>(&s.node);
        if (alloc != nullptr && in_shared_memory(procedure_.symbol(alloc->var))) found[i] = true;
      });
    }
    return found;
  }

  void place(const ir::Block& block, std::vector<Life> lives) {
    // Data (and commit groups, cluster syncs) by last use, then declaration; mbarriers last, in reverse (N7).
    const auto is_mbarrier = [this](ir::SymId var) {
      const auto& mechanism = procedure_.symbol(var).mechanism;
      return mechanism && mechanism->mbarrier();
    };
    std::stable_sort(lives.begin(), lives.end(), [&](const Life& a, const Life& b) {
      const bool late_a = is_mbarrier(a.var);
      const bool late_b = is_mbarrier(b.var);
      if (late_a != late_b) return late_b;
      if (late_a) return a.declared > b.declared;
      return std::tie(a.last_use, a.declared) < std::tie(b.last_use, b.declared);
    });
    const StmtId end = block.back().id;
    const std::vector<bool> pool = pool_allocations(block);
    for (const Life& life : lives) {
      if (is_mbarrier(life.var)) {
        facts_.free_after[end].push_back(life.var);
      } else if (in_shared_memory(procedure_.symbol(life.var))) {
        const auto after = pool.begin() + static_cast<std::ptrdiff_t>(life.last_use) + 1;
        const auto next = std::find(after, pool.end(), true);
        if (next != pool.end()) {
          facts_.free_before[block[static_cast<std::size_t>(next - pool.begin())].id].push_back(life.var);
        } else {
          facts_.free_after[end].push_back(life.var);
        }
      } else {
        facts_.free_after[block[life.last_use].id].push_back(life.var);
      }
    }
  }

  const ir::Procedure& procedure_;
  Buffers buffers_;
  Facts& facts_;
};

}  // namespace

void compute_lifetimes(PassContext& context) {
  Lifetimes(context.procedure, context.facts).run(context.procedure.body);
}

}  // namespace exocheck::analysis
