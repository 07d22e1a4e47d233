// Where the elements of a tensor or window lie in the storage of the interpreter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "semantics/types.hpp"

namespace exocheck::semantics {

// A dense tensor in row-major order; rank 0 has one element. Every element is a value of `precision`
// (semantics/numeric.hpp); NaN is an element that nobody has written.
struct Tensor {
  Precision precision = Precision::f32;
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};

// Number of elements; throws OverflowError.
std::int64_t element_count(std::span<const std::int64_t> extents);

// A box of a tensor: window index i of dimension d is at offset + i * stride. Indices in [first, last) of a
// dimension lie inside the tensor; a window onto a tensor map may have more (`extent`), and reads 0 there.
struct View {
  struct Dimension {
    std::int64_t extent = 0;
    std::int64_t stride = 1;
    std::int64_t first = 0, last = 0;
  };
  Tensor* tensor = nullptr;
  std::int64_t offset = 0;
  std::vector<Dimension> dimensions;
  bool outside = false;  // a point subscript of a window left the tensor

  int rank() const { return static_cast<int>(dimensions.size()); }
};

View whole(Tensor& tensor);

// One subscript of a window: a point (`interval` false) or [lo, hi).
struct Range {
  bool interval = false;
  std::int64_t lo = 0, hi = 0;
};

// The window `ranges` of `view`, one range per dimension. Where it leaves the tensor, its elements are
// outside.
View sub_view(const View& view, std::span<const Range> ranges);

// Position of an element in Tensor::values, or -1 if it is outside the tensor or the window. One index per
// dimension.
std::int64_t locate(const View& view, std::span<const std::int64_t> index);

}  // namespace exocheck::semantics
