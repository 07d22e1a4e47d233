// Managed ring buffers of dialect R, static part (language.md 10.7).
#pragma once

#include <optional>

#include "analysis/barrier_usage.hpp"

namespace exocheck::analysis {

// Position of the ring dimension of a data or barrier variable, if it has one.
std::optional<std::size_t> ring_dimension(const semantics::ir::Symbol& symbol);

// E-R01 .. E-R04, E-R06, E-R08 .. E-R12, and E-R05 for an mbarrier without a ring dimension.
void check_ring_annotations(BarrierReporter& out);
// E-R05 for a ring dimension that is distributed, E-R07; needs Facts::distribution.
void check_ring_shapes(PassContext& context);

}  // namespace exocheck::analysis
