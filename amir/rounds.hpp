// Multicast barriers that are used again (decisions.md N12, second form of E-Y06): a CTA that has passed its
// own Await may arrive for the next round on a neighbour's mbarrier whose present round still lacks another
// CTA's arrive, so that the arrive counts in the wrong round. Between two arrives of one home on several
// elements its threads must therefore have waited for something else that other threads arrive on: another
// mbarrier, the cluster, or an earlier round of a deeper ring (lag of at least 1); a Fence of the whole
// cluster does, too.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "amir/thread_set.hpp"

namespace exocheck::amir {

class Rounds {
 public:
  explicit Rounds(const Program& program) : program_(&program) {}

  // `home`: its index, or any name that tells the homes of a variable apart; empty: it may be any of them.
  // false: the arrive may count in the wrong round.
  bool arrive(VarId var, const std::vector<std::int64_t>& home, std::size_t referenced,
              const ThreadSet& threads);
  void await(VarId var, std::int64_t n, const ThreadSet& threads);
  // `all`: every thread of the cluster.
  void fence(bool all) {
    if (all) open_.clear();
  }
  void forget(VarId var);
  // What may be open on one of two paths.
  void unite(const Rounds& other) { open_.insert(other.open_.begin(), other.open_.end()); }

 private:
  const Program* program_;
  // Homes that arrived since: the threads of the last arrive.
  std::map<std::pair<VarId, std::vector<std::int64_t>>, ThreadSet> open_;
};

}  // namespace exocheck::amir
