#include "analysis/bounds_view.hpp"

#include <utility>

namespace exocheck::analysis::bounds {

using smt::Term;

std::vector<std::size_t> View::intervals() const {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k].extent) out.push_back(k);
  }
  return out;
}

std::vector<Term> dense_strides(const std::vector<Term>& extents,
                                const std::function<Term(std::size_t)>& unknown) {
  std::vector<Term> strides(extents.size(), smt::integer(1));
  for (std::size_t k = extents.size(); k-- > 1;) {
    const Term& n = extents[k];
    const Term& inner = strides[k];
    if (n.op() == smt::Op::int_const) {
      strides[k - 1] = scale(n.value(), inner);
    } else if (inner.op() == smt::Op::int_const) {
      strides[k - 1] = scale(inner.value(), n);
    } else {
      strides[k - 1] = unknown(k - 1);
    }
  }
  return strides;
}

ViewPtr whole(std::shared_ptr<const Base> base, bool unchecked) {
  View view;
  for (const Term& n : base->extents) view.dims.push_back({smt::integer(0), n});
  view.base = std::move(base);
  view.unchecked = unchecked;
  return std::make_shared<const View>(std::move(view));
}

std::optional<View> cut(const View& outer, const std::vector<Subscript>& subscripts) {
  View out = outer;
  std::size_t next = 0;
  for (View::Dim& dim : out.dims) {
    if (!dim.extent) continue;
    if (next == subscripts.size()) return std::nullopt;
    const Subscript& s = subscripts[next++];
    dim.offset = dim.offset + s.lo;
    dim.extent = s.hi ? std::optional(*s.hi - s.lo) : std::nullopt;
  }
  if (next != subscripts.size()) return std::nullopt;
  return out;
}

Term in_range(const View::Dim& dim, const Term& extent) {
  const Term above = dim.extent ? le(dim.offset + *dim.extent, extent) : lt(dim.offset, extent);
  return conj(le(smt::integer(0), dim.offset), above);
}

}  // namespace exocheck::analysis::bounds
