// Machine data in the user's words: statements, iterators, threads, elements, timelines, levels.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "amir/observer.hpp"
#include "amir/translate.hpp"

namespace exocheck::amir {

class Words {
 public:
  // All three must outlive the object.
  Words(const semantics::ir::Procedure& procedure, const analysis::Facts& facts,
        const Translation& translation);

  const semantics::ir::Procedure& procedure() const { return procedure_; }
  const Program& program() const { return translation_.program; }
  const semantics::amir::Node& node(NodeId id) const { return *nodes_.at(semantics::amir::index(id)); }
  const semantics::ir::Stmt& statement(semantics::ir::StmtId id) const { return *statements_.at(id); }
  const semantics::ir::Stmt& statement(const Instance& at) const { return statement(node(at.node).origin); }

  semantics::Location location(const semantics::ir::Stmt& s) const { return procedure_.location(s.span); }
  semantics::Location location(const Instance& at) const { return location(statement(at)); }
  // Of the allocation or the parameter.
  semantics::Location declaration(VarId v) const;
  int line(const semantics::ir::Stmt& s) const { return location(s).begin().line; }
  int line(const Instance& at) const { return line(statement(at)); }

  // Source text on one line; long statements are cut in the middle.
  std::string text(const semantics::ir::Stmt& s) const;
  std::string name(SymId symbol) const;
  std::string name(VarId v) const {
    return translation_.program.variables.at(semantics::amir::index(v)).name;
  }
  std::vector<std::pair<std::string, std::int64_t>> iterators(const Instance& at) const;
  // "k = 2, t = 5"; empty outside loops.
  std::string where(const Instance& at) const;
  // "st[1, 63, 31]", "full" for a scalar.
  std::string element(VarId v, const std::vector<std::int64_t>& index) const;

  // "task 0, cta 1, warp 2, lane 3".
  std::string thread(ThreadId id, const Instance& at) const;
  // "warps 4-7 (consumer) of cta 0, task 0"; "the host" at CPU scope. `at` tells the kernel the threads
  // belong to.
  std::string threads(const ThreadSet& set, const Instance& at) const;
  // Threads per CTA of the kernel that `at` belongs to; 0 at CPU scope.
  std::int64_t block_dim(const Instance& at) const;

 private:
  const analysis::LaunchFacts* launch(const Instance& at) const;
  std::string locals(std::int64_t lo, std::int64_t hi, const analysis::LaunchFacts& launch) const;

  const semantics::ir::Procedure& procedure_;
  const analysis::Facts& facts_;
  const Translation& translation_;
  std::vector<const semantics::amir::Node*> nodes_;
  std::unordered_map<semantics::ir::StmtId, const semantics::ir::Stmt*> statements_;
  std::unordered_map<semantics::ir::StmtId, semantics::ir::StmtId>
      kernel_;  // statement -> its device function
};

// "wgmma_async_smem_qual", joined with " or ".
std::string timeline_list(QualSet quals);
// What knowing an access at a level means for one thread: "does not know of it", ...
std::string knowledge(Level held);

}  // namespace exocheck::amir
