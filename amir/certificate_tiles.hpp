// Tiles as single elements: dimensions are split and reordered so that the blocks that every access covers
// completely come last, where a verified pass of the theory drops them (proofs-tests/rocq/theory/Collapse.v).
// Splitting and reordering only renames elements, one to one.
#pragma once

#include "amir/certificate_term.hpp"

namespace exocheck::amir::certificate {

// Rewrites every access of `term`; sets Variable::extents, kept and renaming. For programs that are accepted:
// the element that a defect names keeps its index only without this. Throws OverflowError.
void split_tiles(Term& term);

// Elements of the program after the tiles are dropped; nullopt: more than fits.
std::optional<std::int64_t> collapsed_elements(const Term& term);

}  // namespace exocheck::amir::certificate
