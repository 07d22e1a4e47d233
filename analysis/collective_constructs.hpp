// The constructs that iterate over or narrow a collective, by their iterator: loops, CudaWarps blocks and the
// loops an instruction call implies. Gives hidden and implied iterators their symbols, and every message its
// names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/facts.hpp"
#include "semantics/diagnostic.hpp"
#include "semantics/ir.hpp"

namespace exocheck::analysis {

enum class ConstructKind : std::uint8_t { thread_loop, implied_loop, warps, other_loop };

struct Construct {
  ConstructKind kind{};
  std::string text;         // "loop `g`", "CudaWarps(2, 6)", "the loop implied by argument `dst`"
  std::int64_t extent = 0;  // iterations of a thread loop or implied loop
  const semantics::ir::Stmt* stmt = nullptr;
  semantics::Location location;

  // Its iterator may index a distributed dimension.
  bool threads() const { return kind == ConstructKind::thread_loop || kind == ConstructKind::implied_loop; }
};

class Constructs {
 public:
  // Synthetic symbols are taken from facts.symbol_limit upward, which starts behind the procedure's own
  // symbols.
  Constructs(const semantics::ir::Procedure& procedure, Facts& facts);

  void add(SymId iter, Construct construct);
  // A new symbol whose name in messages is construct.text.
  SymId add_synthetic(Construct construct);
  // Null for control parameters.
  const Construct* find(SymId iter) const;
  std::string text(SymId iter) const;
  // Name of a control variable as the program writes it.
  std::string name(SymId iter) const;

  // What narrowed the collective since the device function, outermost first: "CudaWarps(4, 12) > loop `g`";
  // "all threads of the CTA" (or cluster) if nothing did.
  std::string path(const CollTiling& tiling) const;
  // "loop `g` (thread pitch 128, (threadIdx.x - 128) / 128)": an iterator as the tiling computes it.
  std::string iterator(const CollTiling& tiling, SymId iter) const;
  // The failure as a clause that starts with its culprit where the culprit is the subject.
  std::string text(const Failure& failure) const;
  // A note at the culprit, if there is one other than `self`.
  std::vector<semantics::Related> notes(const Failure& failure,
                                        std::optional<SymId> self = std::nullopt) const;

 private:
  const semantics::ir::Procedure& procedure_;
  Facts& facts_;
  std::unordered_map<SymId, Construct> constructs_;
};

enum class Where { loop, instruction };
// The rule of an algebraic failure in a loop, CudaWarps or implied loop, or in the scope query of an
// instruction (decisions.md K2, K3).
std::string_view code_of(Reason reason, Where where);

}  // namespace exocheck::analysis
