// The parts of an AMIR program under construction: variables, thread maps, nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "amir/translate.hpp"
#include "amir/translate_windows.hpp"

namespace exocheck::amir {

// What all nodes of one GPU IR statement share.
struct Site {
  semantics::ir::StmtId origin{};
  std::uint32_t map = 0;
  bool cuda = false;  // CUDA scope
};

class Builder {
 public:
  // Creates the variables of every data parameter and every allocation that is not sync-exempt, and of every
  // barrier.
  Builder(const semantics::ir::Procedure& procedure, const analysis::Facts& facts);

  const semantics::ir::Procedure& procedure() const { return procedure_; }
  const analysis::Facts& facts() const { return facts_; }
  const WindowTable& windows() const { return windows_; }
  const semantics::amir::Variable& variable(semantics::amir::VarId v) const {
    return program_.variables[semantics::amir::index(v)];
  }

  // The variable of a tensor or barrier; nullopt if it is sync-exempt.
  std::optional<semantics::amir::VarId> find(semantics::ir::SymId base) const;
  // Is the tensor written anywhere? Accesses to global memory nobody writes need no checks (decisions.md N4).
  bool checked(semantics::ir::SymId base) const;
  // Whole barrier or tensor, as an AMIR target.
  semantics::amir::Target whole(semantics::amir::VarId v) const;

  // Interned thread map; null is every thread of every task.
  std::uint32_t map(const analysis::TilingPtr& tiling);
  semantics::ir::SymId fresh_iterator(const std::string& name);

  template <class T>
  void add(semantics::amir::Body& body, const Site& site, std::string role, T node) const {
    body.push_back({semantics::amir::NodeId{}, site.origin, site.map, std::move(role), std::move(node)});
  }

  // Numbers the nodes in program order and hands the program over.
  semantics::amir::Program finish(semantics::amir::Body body);
  std::unordered_map<semantics::ir::SymId, std::string> synthetic_names;

 private:
  void declare(semantics::ir::SymId symbol);
  void note_writes();

  const semantics::ir::Procedure& procedure_;
  const analysis::Facts& facts_;
  WindowTable windows_;
  semantics::amir::Program program_;
  std::unordered_map<semantics::ir::SymId, semantics::amir::VarId> variables_;
  std::unordered_map<semantics::ir::SymId, bool> written_;
  std::map<std::vector<std::int64_t>, std::uint32_t> maps_;
  std::uint32_t next_symbol_ = 0;
};

}  // namespace exocheck::amir
