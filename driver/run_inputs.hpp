// What the data parameters of `exocheck run` start as.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "driver/engine.hpp"
#include "semantics/interpreter.hpp"

namespace exocheck::driver {

struct InputRequest {
  std::map<std::string, std::string> given;  // parameter -> .npy file, or a number that every element gets
  std::uint64_t seed = 0;
  bool reals = false;  // random values: reals in [-1, 1) instead of integers in [-4, 4]
};

// Each text is NAME=VALUE; a name that comes twice is refused.
std::variant<std::map<std::string, std::string>, UsageError> parse_assignments(
    const std::vector<std::string>& texts, const std::string& option);

// Fills `tensor` from a generator that depends on the seed and the parameter's name only. Integers have 9
// values (0 to 8 for unsigned precisions, powers of two for e8m0), so that sums of their products are exact
// in f32 in any order.
void fill_random(semantics::Tensor& tensor, const std::string& name, const InputRequest& request);

// All data parameters of the procedure. A complete sentence if a file cannot be used or the tensors are too
// large.
std::variant<semantics::Arguments, UsageError> make_arguments(const semantics::ir::Procedure& procedure,
                                                              const semantics::ir::Environment& sizes,
                                                              const InputRequest& request,
                                                              const semantics::InterpreterLimits& limits);

}  // namespace exocheck::driver
