// Slices as numbers, so that those that behave alike are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "amir/slice.hpp"

namespace exocheck::amir::slices {

using Key = std::vector<std::int64_t>;

void put(Key& out, const Linear& a);
// Everything of a slice that its behaviour depends on. Threads and barrier elements are numbered by the
// slice.
Key text_of(const Unit& unit, const Slice& slice);

}  // namespace exocheck::amir::slices
