// Which statements of a slice can change what anybody knows of its element.
#pragma once

#include <map>
#include <vector>

#include "amir/slice.hpp"

namespace exocheck::amir::slices {

// By barrier variable: of each element, the first one of its multicast group.
using BarrierGroups = std::map<VarId, std::vector<std::uint32_t>>;

// By leaf: 0 for synchronization whose collective cannot know of an access at that place and on whose barrier
// nothing can be pending; 1 for everything else.
std::vector<char> relevant_leaves(const Slice& slice, const BarrierGroups& groups);

}  // namespace exocheck::amir::slices
