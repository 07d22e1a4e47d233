// The two exceptions of the whole project; a user's mistake is a Diagnostic, never an exception.
#pragma once

#include <stdexcept>
#include <string>

namespace exocheck::semantics {

// A broken invariant of ours. Turned into exit code 4 at the outermost boundary, never into a verdict.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Integer arithmetic on sizes or indices left the range of std::int64_t; becomes limit.overflow.
class OverflowError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws InternalError with `what` unless `condition` holds.
inline void ensure(bool condition, const char* what) {
  if (!condition) throw InternalError(what);
}

}  // namespace exocheck::semantics
