#include "driver/emulate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "codegen/main_text.hpp"
#include "semantics/errors.hpp"

namespace exocheck::driver {
namespace {

namespace fs = std::filesystem;
using semantics::Precision;
using semantics::Tensor;

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
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
    // Narrow floats travel as float.
    case Precision::f32:
    case Precision::f16:
    case Precision::bf16:
    case Precision::e4m3:
    case Precision::e5m2:
    case Precision::e8m0:
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
  }
  throw semantics::InternalError("unknown precision");
}

void write_raw(const fs::path& path, const Tensor& tensor) {
  std::string bytes;
  with_type(tensor.precision, [&](auto example) {
    for (const double v : tensor.values) put<decltype(example)>(bytes, v);
  });
  write_text(path, bytes);
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

std::variant<Emulation, UsageError> Emulation::build(const codegen::Module& module,
                                                     const semantics::ir::Procedure& procedure,
                                                     Machine machine) {
  std::error_code missing;
  TemporaryFolder temporary(fs::temp_directory_path(missing), "emulation");
  if (missing || !temporary.made()) return UsageError{"No temporary folder can be made (TMPDIR, else /tmp)."};
  const fs::path folder = temporary.path();
  for (const auto& [name, text] : module.files) write_text(folder / name, text);
  write_text(folder / "main.cpp", codegen::main_text(procedure));
  const auto command = [](const char* variable, const char* otherwise, const char* options) {
    const char* value = std::getenv(variable);
    return split_words(fmt::format("{} {}", value == nullptr ? otherwise : value, options));
  };
  // Compiled and linked one after the other: a compiler cache can then be the compiler.
  std::vector<std::vector<std::string>> steps;
  if (machine == Machine::gpu) {
    steps.push_back(command("NVCC", "nvcc",
                            "-std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -x cu main.cpp -o run"));
  } else {
    steps.push_back(command("CXX", "c++", "-std=c++20 -O1 -w -ffp-contract=off -c xrt_emulator.cc -o xrt.o"));
    steps.push_back(
        command("CXX", "c++", "-std=c++20 -O1 -w -ffp-contract=off -fwrapv -c main.cpp -o main.o"));
    steps.push_back(command("CXX", "c++", "main.o xrt.o -o run -lboost_context"));
  }
  for (const std::vector<std::string>& step : steps) {
    const Ended ended = run_process(step, folder, "log", "log");
    if (ended.code == 0 && ended.signal == 0) continue;
    const std::string what =
        ended.code == 127 ? step.front() + " cannot be started.\n" : contents(folder / "log").substr(0, 2000);
    return UsageError{
        fmt::format("The emitted code cannot be compiled ({} needed):\n{}",
                    machine == Machine::gpu ? "nvcc is" : "a C++20 compiler and Boost.Context are", what)};
  }
  return Emulation(std::move(temporary));
}

namespace {

// What a run that did not end by itself says.
std::string report_of(const Ended& ended, const std::string& log, unsigned seconds) {
  if (ended.signal == SIGALRM) return fmt::format("no end after {} seconds\n", seconds);
  if (!log.empty()) return log;
  return ended.signal != 0 ? fmt::format("the process was ended by signal {}\n", ended.signal)
                           : fmt::format("the process ended with code {}\n", ended.code);
}

}  // namespace

std::vector<std::string> Emulation::run(
    const semantics::ir::Procedure& procedure, const semantics::ir::Environment& sizes,
    const semantics::Arguments& arguments, const std::vector<Schedule>& schedules, double timeout_seconds,
    const std::function<std::string(const semantics::Arguments&)>& judge) const {
  const auto seconds = static_cast<unsigned>(std::clamp(std::ceil(timeout_seconds), 1.0, 1e6));
  std::vector<std::string> command{"./run", std::to_string(seconds)};
  for (const semantics::ir::SymId p : procedure.parameters) {
    if (procedure.symbol(p).control()) command.push_back(std::to_string(sizes[p].value_or(0)));
  }
  const fs::path& folder = folder_.path();
  const auto file = [&](semantics::ir::SymId p, const char* what) {
    return folder / (procedure.symbol(p).name + what);
  };
  std::error_code ignored;
  for (const auto& [p, tensor] : arguments) {
    write_raw(file(p, ".in"), tensor);
    fs::remove(file(p, ".accepted"), ignored);
  }
  std::vector<std::string> faults;
  while (faults.size() < schedules.size()) {
    std::string list;
    for (std::size_t i = faults.size(); i < schedules.size(); ++i)
      list += fmt::format("{} {}\n", schedules[i].seed, schedules[i].policy);
    write_text(folder / "schedules", list);
    const Ended ended = run_process(command, folder, "dots", "log");
    faults.resize(std::min(schedules.size(), faults.size() + contents(folder / "dots").size()));
    if (faults.size() == schedules.size()) break;
    if (ended.code != 10 || ended.signal != 0) {
      faults.push_back(report_of(ended, contents(folder / "log"), seconds));
      continue;
    }
    semantics::Arguments found = arguments;
    std::string fault;
    for (auto& [p, tensor] : found) {
      if (!read_raw(file(p, ".out"), tensor)) fault = "the results cannot be read\n";
    }
    if (fault.empty()) fault = judge(found);
    if (fault.empty()) {
      for (const auto& [p, tensor] : found) fs::rename(file(p, ".out"), file(p, ".accepted"), ignored);
    }
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace exocheck::driver
