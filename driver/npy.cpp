#include "driver/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "semantics/errors.hpp"
#include "semantics/numeric.hpp"

namespace exocheck::driver {
namespace {

using semantics::Precision;
using semantics::Tensor;

constexpr std::string_view magic("\x93NUMPY", 6);

struct Header {
  char kind = 'f';
  int size = 4;  // bytes of an element
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::size_t data = 0;  // offset of the first element
};

// The value behind `'key':` of the header's dictionary.
std::optional<std::string_view> entry(std::string_view text, std::string_view key) {
  auto at = text.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find(':', at);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + 1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

bool parse_shape(std::string_view text, std::vector<std::int64_t>& shape) {
  if (text.empty() || text.front() != '(') return false;
  std::int64_t value = -1;
  for (const char c : text.substr(1)) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      if (value > std::numeric_limits<std::int64_t>::max() / 10 - 1) return false;
      value = (value < 0 ? 0 : value) * 10 + (c - '0');
    } else if (c == ',' || c == ')') {
      if (value >= 0) shape.push_back(value);
      value = -1;
      if (c == ')') return true;
    } else if (c != ' ') {
      return false;
    }
  }
  return false;
}

std::variant<Header, std::string> parse_header(const std::string& bytes) {
  if (bytes.size() < 10 || !bytes.starts_with(magic)) return "This is no .npy file.";
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) return fmt::format("Version {} of the .npy format is not known here.", major);
  const std::size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) return "The .npy file ends within its header.";
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start) return "The .npy file ends within its header.";
  const std::string_view text = std::string_view(bytes).substr(start, length);
  Header header;
  header.data = start + length;
  const auto descr = entry(text, "descr"), order = entry(text, "fortran_order"), shape = entry(text, "shape");
  if (!descr || !order || !shape || descr->size() < 5 || !parse_shape(*shape, header.shape)) {
    return "The header of the .npy file is malformed.";
  }
  const char endian = (*descr)[1];
  header.kind = (*descr)[2];
  header.size = (*descr)[3] - '0';
  const std::string name(descr->substr(1, 3));
  const bool known = (header.kind == 'f' && (header.size == 2 || header.size == 4 || header.size == 8)) ||
                     ((header.kind == 'i' || header.kind == 'u') &&
                      (header.size == 1 || header.size == 2 || header.size == 4 || header.size == 8)) ||
                     (header.kind == 'b' && header.size == 1);
  if (!known || (*descr)[4] != '\'' || (header.kind == 'u' && header.size == 8)) {
    return fmt::format("Elements of type {} are not read.", name);
  }
  if (endian == '>') return "Big-endian .npy files are not read.";
  header.fortran = order->starts_with("True");
  return header;
}

double half_value(std::uint16_t pattern) {
  const int exponent = pattern >> 10 & 31, fraction = pattern & 1023;
  double value = exponent == 31  ? (fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return (pattern & 0x8000) != 0 ? -value : value;
}

double element_value(const Header& header, const char* from) {
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, from,
              static_cast<std::size_t>(header.size));  // little-endian host, as all our targets
  if (header.kind == 'f') {
    if (header.size == 8) return std::bit_cast<double>(pattern);
    if (header.size == 4)
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(pattern)));
    return half_value(static_cast<std::uint16_t>(pattern));
  }
  if (header.kind != 'i') return static_cast<double>(pattern);
  const int shift = 64 - 8 * header.size;
  return static_cast<double>(static_cast<std::int64_t>(pattern << shift) >> shift);
}

// Position in a Fortran-order file of the element whose row-major position is `position`.
std::size_t fortran_position(std::size_t position, const std::vector<std::int64_t>& shape) {
  std::size_t result = 0;
  std::size_t stride = 1;
  for (const std::int64_t e : shape) stride *= static_cast<std::size_t>(e);
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[d]);
    stride /= extent;
    result += position % extent * stride;
    position /= extent;
  }
  return result;
}

std::uint16_t half_pattern(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return 0x7E00;
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (size < std::ldexp(1.0, -14))
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(size, 24)));
  const int exponent = std::ilogb(size);
  const int fraction = static_cast<int>(std::ldexp(size, 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>(sign | (exponent + 15) << 10 | fraction);
}

struct Target {
  std::string_view name;
  std::size_t size;
};

Target target_type(Precision p) {
  switch (p) {
    case Precision::f16:
      return {"<f2", 2};
    case Precision::f64:
      return {"<f8", 8};
    case Precision::f32:
    case Precision::bf16:
    case Precision::e4m3:
    case Precision::e5m2:
    case Precision::e8m0:
      return {"<f4", 4};
    case Precision::i8:
      return {"|i1", 1};
    case Precision::i32:
      return {"<i4", 4};
    case Precision::ui8:
      return {"|u1", 1};
    case Precision::ui16:
      return {"<u2", 2};
  }
  throw semantics::InternalError("unknown precision");
}

std::uint64_t element_pattern(Precision p, double value) {
  if (semantics::is_integer(p))
    return std::isnan(value) ? 0 : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  if (p == Precision::f64) return std::bit_cast<std::uint64_t>(value);
  if (p == Precision::f16) return half_pattern(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace

std::variant<Tensor, std::string> parse_npy(const std::string& bytes, Precision precision,
                                            const std::vector<std::int64_t>& extents) {
  auto parsed = parse_header(bytes);
  if (auto* message = std::get_if<std::string>(&parsed)) return std::move(*message);
  const Header& header = std::get<Header>(parsed);
  if (header.shape != extents) {
    return fmt::format("The shape is ({}), ({}) is needed.", fmt::join(header.shape, ", "),
                       fmt::join(extents, ", "));
  }
  Tensor tensor{precision, extents, {}};
  const auto count = static_cast<std::size_t>(semantics::element_count(extents));
  if (count > (bytes.size() - header.data) / static_cast<std::size_t>(header.size)) {
    return "The .npy file has fewer elements than its header says.";
  }
  tensor.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = header.fortran ? fortran_position(i, extents) : i;
    const char* from = bytes.data() + header.data + at * static_cast<std::size_t>(header.size);
    tensor.values[i] = semantics::round_to(precision, element_value(header, from));
  }
  return tensor;
}

std::string format_npy(const Tensor& tensor) {
  const Target type = target_type(tensor.precision);
  std::string shape;
  for (const std::int64_t e : tensor.extents) shape += fmt::format("{}, ", e);
  if (shape.size() > 2 && tensor.extents.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type.name, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  const std::size_t start = bytes.size();
  bytes.resize(start + tensor.values.size() * type.size);
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    const std::uint64_t pattern = element_pattern(tensor.precision, tensor.values[i]);
    std::memcpy(bytes.data() + start + i * type.size, &pattern, type.size);
  }
  return bytes;
}

}  // namespace exocheck::driver
