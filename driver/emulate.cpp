#include "driver/emulate.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "codegen/main_text.hpp"
#include "semantics/errors.hpp"

namespace exocheck::driver {
namespace {

namespace fs = std::filesystem;
using semantics::Precision;
using semantics::Tensor;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T>
void put(std::string& bytes, double value) {
  const T element = std::isnan(value) && !std::is_floating_point_v<T> ? T{} : static_cast<T>(value);
  bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
}
template <class T>
double get(const char* from) {
  T element;
  std::memcpy(&element, from, sizeof element);
  return static_cast<double>(element);
}

// Calls `use` with a value of the C++ type of the precision.
template <class Use>
void with_type(Precision p, const Use& use) {
  switch (p) {
    case Precision::f32:
      return use(float{});
    case Precision::f64:
      return use(double{});
    case Precision::i8:
      return use(std::int8_t{});
    case Precision::i32:
      return use(std::int32_t{});
    case Precision::ui8:
      return use(std::uint8_t{});
    case Precision::ui16:
      return use(std::uint16_t{});
    case Precision::f16:
    case Precision::bf16:
    case Precision::e4m3:
    case Precision::e5m2:
    case Precision::e8m0:
      break;
  }
  throw semantics::InternalError("emulation: a precision that is not emitted");
}

void write_raw(const fs::path& path, const Tensor& tensor) {
  std::string bytes;
  with_type(tensor.precision, [&](auto example) {
    for (const double v : tensor.values) put<decltype(example)>(bytes, v);
  });
  std::ofstream(path, std::ios::binary) << bytes;
}

bool read_raw(const fs::path& path, Tensor& tensor) {
  const std::string bytes = contents(path);
  bool complete = false;
  with_type(tensor.precision, [&](auto example) {
    using T = decltype(example);
    complete = bytes.size() == tensor.values.size() * sizeof(T);
    if (!complete) return;
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] = get<T>(bytes.data() + i * sizeof(T));
  });
  return complete;
}

// The folder's name is ours: no character of it needs quoting.
int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

const std::vector<std::string>& emulator_policies() {
  static const std::vector<std::string> policies = [] {
    std::vector<std::string> all;
    for (const char* operations : {"eager", "lazy", "random", "reverse"}) {
      for (const char* threads : {"turns", "random", "greedy", "first", "last"})
        all.push_back(fmt::format("{}/{}", operations, threads));
    }
    return all;
  }();
  return policies;
}

Emulation::~Emulation() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Emulation::Emulation(Emulation&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

std::variant<Emulation, UsageError> Emulation::build(const codegen::Module& module,
                                                     const semantics::ir::Procedure& procedure,
                                                     Machine machine) {
  Emulation emulation;
  std::string pattern = (fs::temp_directory_path() / "exocheck-emulation-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return UsageError{"No temporary folder can be made."};
  emulation.folder_ = pattern;
  const fs::path folder = pattern;
  for (const auto& [name, text] : module.files) std::ofstream(folder / name, std::ios::binary) << text;
  std::ofstream(folder / "main.cpp", std::ios::binary) << codegen::main_text(procedure);
  const auto tool = [](const char* variable, const char* otherwise) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? otherwise : value);
  };
  const std::string compile =
      machine == Machine::gpu
          ? fmt::format(
                "{} -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -I. -x cu {}.cu main.cpp -o run",
                tool("NVCC", "nvcc"), module.name)
          : fmt::format(
                "{} -std=c++20 -O1 -fwrapv -ffp-contract=off -w -I. -x c++ {}.cu main.cpp -x none -o run "
                "-lboost_context",
                tool("CXX", "c++"), module.name);
  if (shell(fmt::format("cd {} && {} > log 2>&1", pattern, compile)) != 0) {
    return UsageError{
        fmt::format("The emitted code cannot be compiled ({} needed):\n{}",
                    machine == Machine::gpu ? "nvcc is" : "a C++20 compiler and Boost.Context are",
                    contents(folder / "log").substr(0, 2000))};
  }
  return emulation;
}

EmulatedRun Emulation::run(const semantics::ir::Procedure& procedure, const semantics::ir::Environment& sizes,
                           const semantics::Arguments& arguments, const Schedule& schedule,
                           double timeout_seconds) const {
  const fs::path folder = folder_;
  EmulatedRun result;
  result.tensors = arguments;
  std::string values;
  for (const semantics::ir::SymId p : procedure.parameters) {
    if (procedure.symbol(p).control()) values += fmt::format(" {}", sizes[p].value_or(0));
  }
  for (const auto& [p, tensor] : arguments) {
    write_raw(folder / (procedure.symbol(p).name + ".in"), tensor);
    std::error_code ignored;
    fs::remove(folder / (procedure.symbol(p).name + ".out"), ignored);
  }
  const int code = shell(fmt::format("cd {} && XRT_SEED={} XRT_POLICY={} timeout {} ./run .{} > log 2>&1",
                                     folder_, schedule.seed, schedule.policy, timeout_seconds, values));
  if (code != 0) {
    result.report = contents(folder / "log");
    if (result.report.empty()) {
      result.report = code == 124 ? fmt::format("no end after {} seconds\n", timeout_seconds)
                                  : fmt::format("the process ended with code {}\n", code);
    }
    return result;
  }
  result.ended = true;
  for (auto& [p, tensor] : result.tensors) {
    if (read_raw(folder / (procedure.symbol(p).name + ".out"), tensor)) continue;
    result.ended = false;
    result.report = "the results cannot be read\n";
  }
  return result;
}

}  // namespace exocheck::driver
