#include "semantics/interpreter_views.hpp"

#include <algorithm>

#include "semantics/errors.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::semantics {

std::int64_t element_count(std::span<const std::int64_t> extents) {
  std::int64_t count = 1;
  for (const std::int64_t e : extents) count = ir::checked_mul(count, std::max<std::int64_t>(e, 0));
  return count;
}

View whole(Tensor& tensor) {
  View view;
  view.tensor = &tensor;
  view.dimensions.resize(tensor.extents.size());
  std::int64_t stride = 1;
  for (std::size_t d = tensor.extents.size(); d-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(tensor.extents[d], 0);
    view.dimensions[d] = {extent, stride, 0, extent};
    stride = ir::checked_mul(stride, extent);
  }
  return view;
}

View sub_view(const View& view, std::span<const Range> ranges) {
  ensure(ranges.size() == view.dimensions.size(), "a window has one subscript per dimension");
  View result;
  result.tensor = view.tensor;
  result.offset = view.offset;
  result.outside = view.outside;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const View::Dimension& dimension = view.dimensions[d];
    const Range& range = ranges[d];
    result.offset = ir::checked_add(result.offset, ir::checked_mul(range.lo, dimension.stride));
    if (!range.interval) {
      result.outside = result.outside || range.lo < dimension.first || range.lo >= dimension.last;
      continue;
    }
    const std::int64_t extent = std::max<std::int64_t>(ir::checked_sub(range.hi, range.lo), 0);
    const std::int64_t first =
        std::clamp<std::int64_t>(ir::checked_sub(dimension.first, range.lo), 0, extent);
    const std::int64_t last =
        std::clamp<std::int64_t>(ir::checked_sub(dimension.last, range.lo), first, extent);
    result.dimensions.push_back({extent, dimension.stride, first, last});
  }
  return result;
}

std::int64_t locate(const View& view, std::span<const std::int64_t> index) {
  if (view.outside) return -1;
  std::int64_t position = view.offset;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const View::Dimension& dimension = view.dimensions[d];
    if (index[d] < dimension.first || index[d] >= dimension.last) return -1;
    position += index[d] * dimension.stride;
  }
  return position;
}

}  // namespace exocheck::semantics
