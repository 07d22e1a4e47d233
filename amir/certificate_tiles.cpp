#include "amir/certificate_tiles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::amir::certificate {
namespace {

// The largest b such that the window is always a union of blocks [b*i, b*i + b) of the dimension.
std::int64_t block_of(const Window& w, std::int64_t extent) {
  if (!w.hi) return 1;
  const Linear length = plus(minus(*w.hi, w.lo), number(1));
  if (!length.is_constant() || length.constant <= 0) return 1;
  std::int64_t b = std::gcd(length.constant, extent);
  b = std::gcd(b, w.lo.constant);
  for (const auto& [coefficient, atom] : w.lo.terms) b = std::gcd(b, coefficient);
  return b;
}

Linear divided(const Linear& e, std::int64_t by) {
  Linear out = e;
  out.constant /= by;
  for (auto& [coefficient, atom] : out.terms) coefficient /= by;
  return out;
}

class Splitter {
 public:
  explicit Splitter(Term& term) : term_(term) {}

  void run() {
    for (const Variable& v : term_.variables)
      blocks_.push_back(v.barrier ? std::vector<std::int64_t>(v.extents.size(), 1) : v.extents);
    for_each_leaf(term_.body, [this](Leaf& leaf) {
      if (leaf.kind != LeafKind::fence) look(leaf.target);
      for (const Access& a : leaf.others) look(a);
    });
    for_each_leaf(term_.body, [this](Leaf& leaf) {
      if (leaf.kind != LeafKind::fence) rewrite(leaf.target);
      for (Access& a : leaf.others) rewrite(a);
    });
    for (std::size_t v = 0; v < term_.variables.size(); ++v) redeclare(v);
  }

 private:
  void look(const Access& a) {
    auto& blocks = blocks_[a.variable];
    const auto& extents = term_.variables[a.variable].extents;
    for (std::size_t d = 0; d < blocks.size(); ++d)
      blocks[d] = a.clip ? 1 : std::gcd(blocks[d], block_of(a.index[d], extents[d]));
  }
  void rewrite(Access& a) const {
    const auto& blocks = blocks_[a.variable];
    const auto& extents = term_.variables[a.variable].extents;
    std::vector<Window> kept, dropped;
    for (std::size_t d = 0; d < blocks.size(); ++d) {
      const std::int64_t b = blocks[d];
      Window& w = a.index[d];
      if (b <= 1) {
        kept.push_back(std::move(w));
        continue;
      }
      dropped.push_back({number(0), number(b - 1)});
      if (b == extents[d]) continue;
      const std::int64_t count = plus(minus(*w.hi, w.lo), number(1)).constant / b;
      const Linear lo = divided(w.lo, b);
      kept.push_back(count == 1 ? Window{lo, std::nullopt} : Window{lo, plus(lo, number(count - 1))});
    }
    a.index = std::move(kept);
    std::move(dropped.begin(), dropped.end(), std::back_inserter(a.index));
  }
  void redeclare(std::size_t v) {
    Variable& variable = term_.variables[v];
    std::vector<std::int64_t> kept, dropped;
    for (std::size_t d = 0; d < variable.extents.size(); ++d) {
      const std::int64_t b = blocks_[v][d];
      if (b <= 1) {
        kept.push_back(variable.extents[d]);
      } else {
        dropped.push_back(b);
        if (b != variable.extents[d]) kept.push_back(variable.extents[d] / b);
      }
    }
    if (dropped.empty()) return;
    variable.renaming = fmt::format("[{}] as [{}] of [{}]", fmt::join(variable.extents, ", "),
                                    fmt::join(kept, ", "), fmt::join(dropped, ", "));
    variable.kept = kept.size();
    variable.extents = std::move(kept);
    variable.extents.insert(variable.extents.end(), dropped.begin(), dropped.end());
  }

  Term& term_;
  std::vector<std::vector<std::int64_t>> blocks_;  // per variable and dimension
};

}  // namespace

void split_tiles(Term& term) { Splitter(term).run(); }

std::optional<std::int64_t> collapsed_elements(const Term& term) {
  try {
    std::int64_t all = 0;
    for (const Variable& v : term.variables) {
      std::int64_t n = 1;
      for (std::size_t d = 0; d < v.kept; ++d) n = semantics::ir::checked_mul(n, v.extents[d]);
      all = semantics::ir::checked_add(all, n);
    }
    return all;
  } catch (const semantics::OverflowError&) {
    return std::nullopt;
  }
}

}  // namespace exocheck::amir::certificate
