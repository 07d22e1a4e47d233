#include "semantics/types.hpp"

#include <array>

namespace exocheck::semantics {
namespace {

struct PrecisionRecord {
  std::string_view name;
  int bits;
};
constexpr std::array<PrecisionRecord, 11> precisions{{{"f16", 16},
                                                      {"bf16", 16},
                                                      {"f32", 32},
                                                      {"f64", 64},
                                                      {"e4m3", 8},
                                                      {"e5m2", 8},
                                                      {"e8m0", 8},
                                                      {"i8", 8},
                                                      {"i32", 32},
                                                      {"ui8", 8},
                                                      {"ui16", 16}}};

}  // namespace

std::string_view name(Precision p) { return precisions[static_cast<std::size_t>(p)].name; }

std::optional<Precision> find_precision(std::string_view name) {
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    if (precisions[i].name == name) return static_cast<Precision>(i);
  }
  return std::nullopt;
}

int bits(Precision p) { return precisions[static_cast<std::size_t>(p)].bits; }

}  // namespace exocheck::semantics
