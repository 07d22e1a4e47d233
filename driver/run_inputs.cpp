#include "driver/run_inputs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "driver/npy.hpp"
#include "semantics/numeric.hpp"

namespace exocheck::driver {
namespace {

using semantics::Precision;
using semantics::Tensor;
using semantics::ir::Procedure;
using semantics::ir::Symbol;
using semantics::ir::SymbolKind;
using semantics::ir::SymId;

// splitmix64: every seed gives a full-period sequence, the same on every machine.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

double random_value(Generator& generator, Precision precision, bool reals) {
  if (reals && !semantics::is_integer(precision) && precision != Precision::e8m0) {
    return semantics::round_to(precision, std::ldexp(static_cast<double>(generator.next() >> 11), -52) - 1);
  }
  const auto value = static_cast<double>(generator.next() % 9);
  if (precision == Precision::e8m0) return std::ldexp(1.0, static_cast<int>(value));
  return precision == Precision::ui8 || precision == Precision::ui16 ? value : value - 4;
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

std::variant<Tensor, std::string> read_input(const std::string& value, const Tensor& shape) {
  if (const auto constant = number(value)) {
    Tensor tensor = shape;
    tensor.values.assign(tensor.values.size(), semantics::round_to(tensor.precision, *constant));
    return tensor;
  }
  std::ifstream file(value, std::ios::binary);
  // A little more than the elements themselves: the header.
  std::string bytes(shape.values.size() * 8 + (1 << 16), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad() || (file.gcount() == 0 && !file.eof())) return std::string("The file cannot be read.");
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return parse_npy(bytes, shape.precision, shape.extents);
}

}  // namespace

std::variant<std::map<std::string, std::string>, UsageError> parse_assignments(
    const std::vector<std::string>& texts, const std::string& option) {
  std::map<std::string, std::string> result;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return UsageError{fmt::format("{}: '{}' is not of the form NAME=VALUE.", option, text)};
    }
    if (!result.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      return UsageError{fmt::format("{}: {} is named twice.", option, text.substr(0, equals))};
    }
  }
  return result;
}

void fill_random(Tensor& tensor, const std::string& name, const InputRequest& request) {
  Generator generator(request.seed ^ name_hash(name));
  for (double& value : tensor.values) value = random_value(generator, tensor.precision, request.reals);
}

std::variant<semantics::Arguments, UsageError> make_arguments(const Procedure& procedure,
                                                              const semantics::ir::Environment& sizes,
                                                              const InputRequest& request,
                                                              const semantics::InterpreterLimits& limits) {
  semantics::Arguments arguments;
  std::map<std::string, std::string> unused = request.given;
  std::uint64_t bytes = 0;
  for (const SymId p : procedure.parameters) {
    const Symbol& symbol = procedure.symbol(p);
    if (symbol.kind != SymbolKind::data && symbol.kind != SymbolKind::window) continue;
    semantics::InterpreterLimits rest = limits;
    rest.max_memory_bytes -= std::min(bytes, limits.max_memory_bytes);
    Tensor tensor = semantics::parameter_tensor(procedure, p, sizes, rest);
    if (static_cast<std::int64_t>(tensor.values.size()) != semantics::element_count(tensor.extents)) {
      return UsageError{fmt::format("The parameters need more than {} MB.", limits.max_memory_bytes >> 20)};
    }
    bytes += 8 * tensor.values.size();
    if (const auto given = unused.find(symbol.name); given != unused.end()) {
      auto read = read_input(given->second, tensor);
      if (const auto* message = std::get_if<std::string>(&read)) {
        return UsageError{fmt::format("--input {}={}: {}", symbol.name, given->second, *message)};
      }
      tensor = std::get<Tensor>(std::move(read));
      unused.erase(given);
    } else {
      fill_random(tensor, symbol.name, request);
    }
    arguments.emplace(p, std::move(tensor));
  }
  if (!unused.empty()) {
    return UsageError{fmt::format("--input {}: {} has no data parameter of this name.", unused.begin()->first,
                                  procedure.name)};
  }
  return arguments;
}

}  // namespace exocheck::driver
