// Running an emitted procedure in processes of its own: on the CPU emulator (codegen/runtime/xrt_emulator.h)
// or on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/emit.hpp"
#include "driver/engine.hpp"
#include "driver/process.hpp"
#include "semantics/interpreter.hpp"

namespace exocheck::driver {

enum class Machine : std::uint8_t { emulator, gpu };

// How one run on the emulator is scheduled; `policy` is OPERATIONS/THREADS.
struct Schedule {
  std::uint64_t seed = 0;
  std::string policy = "random/random";
};

// Every combination of the emulator's policies for operations and threads.
const std::vector<std::string>& emulator_policies();

// A compiled procedure in a temporary folder of its own, which goes with the object.
class Emulation {
 public:
  // Writes and compiles the module: for the emulator with the C++ compiler (CXX in the environment, else
  // c++), for a GPU with nvcc (NVCC in the environment, else nvcc). A sentence if that fails.
  static std::variant<Emulation, UsageError> build(const codegen::Module& module,
                                                   const semantics::ir::Procedure& procedure,
                                                   Machine machine);

  // Runs under every schedule; what was wrong with each, empty: nothing. `judge` says so of results; it is
  // asked about the first and about those that differ from the last that were right. At most
  // `timeout_seconds` per run.
  std::vector<std::string> run(const semantics::ir::Procedure& procedure,
                               const semantics::ir::Environment& sizes, const semantics::Arguments& arguments,
                               const std::vector<Schedule>& schedules, double timeout_seconds,
                               const std::function<std::string(const semantics::Arguments&)>& judge) const;

 private:
  explicit Emulation(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

}  // namespace exocheck::driver
