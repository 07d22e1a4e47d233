#include "amir/rounds.hpp"

#include <algorithm>

namespace exocheck::amir {

using semantics::LoweredBarrier;

bool Rounds::arrive(VarId var, const std::vector<std::int64_t>& home, std::size_t referenced,
                    const ThreadSet& threads) {
  const bool multicast =
      referenced > 1 && program_->variables[index(var)].lowered == LoweredBarrier::mbarrier;
  if (!multicast) return true;
  const bool again = std::any_of(open_.begin(), open_.end(), [&](const auto& entry) {
    const auto& [other_var, other] = entry.first;
    return other_var == var && (other.empty() || home.empty() || other == home);
  });
  if (!again) open_.emplace(std::pair{var, home}, threads);
  return !again;
}

void Rounds::await(VarId var, std::int64_t n, const ThreadSet& threads) {
  const LoweredBarrier lowered = program_->variables[index(var)].lowered;
  if (lowered != LoweredBarrier::mbarrier && lowered != LoweredBarrier::cluster_sync) return;
  const bool earlier_round = n < -1;
  std::erase_if(open_, [&](const auto& entry) {
    return (entry.first.first != var || earlier_round) && entry.second.meets(threads);
  });
}

void Rounds::forget(VarId var) {
  std::erase_if(open_, [&](const auto& entry) { return entry.first.first == var; });
}

}  // namespace exocheck::amir
