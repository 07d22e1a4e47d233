// Independent pieces of work, side by side (-j N).
#pragma once

#include <cstddef>
#include <functional>

namespace exocheck::driver {

// Calls work(0) .. work(count - 1), each once, at most `jobs` at a time and in no particular order; with one
// job in order and in this thread. Pieces started last are finished even after one has thrown; then the
// exception of the smallest index is thrown.
void for_each_index(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& work);

}  // namespace exocheck::driver
