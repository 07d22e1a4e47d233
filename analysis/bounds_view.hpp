// Data as the obligations see it: a base buffer with extents and strides, and views of it (language.md 6.3, 9
// A5, A6).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "semantics/ir.hpp"
#include "semantics/source.hpp"
#include "smt/term.hpp"

namespace exocheck::analysis::bounds {

// An allocation or a parameter. A window parameter is a base of its own: its shape is all that is known of
// its buffer.
struct Base {
  std::string name;
  semantics::Location declaration;
  std::vector<smt::Term> extents;
  std::vector<smt::Term> strides;  // in elements
  std::optional<semantics::MemoryType> memory;
  bool callee_local = false;  // allocated inside a callee: no concern of its caller
};

struct View {
  // A position (no extent) or an interval in one dimension of the base.
  struct Dim {
    smt::Term offset;
    std::optional<smt::Term> extent;
  };
  std::shared_ptr<const Base> base;
  std::vector<Dim> dims;  // one per dimension of the base
  std::string window;     // the window variable it comes from; empty: the base itself
  // Accesses carry no obligation: a special window in plain code (decisions.md E6), an `oob` parameter (E5).
  bool unchecked = false;

  // Dimensions of the base that are intervals: the view's own dimensions, in order.
  std::vector<std::size_t> intervals() const;
};
using ViewPtr = std::shared_ptr<const View>;

// Strides of a dense row-major tensor: the last is 1; going left each is a multiple of the next as long as
// the product stays linear, else `unknown(k)` names the stride of dimension k.
std::vector<smt::Term> dense_strides(const std::vector<smt::Term>& extents,
                                     const std::function<smt::Term(std::size_t)>& unknown);

ViewPtr whole(std::shared_ptr<const Base> base, bool unchecked);

// One subscript with its terms; `hi` set: the interval lo:hi.
struct Subscript {
  smt::Term lo;
  std::optional<smt::Term> hi;
};
// The view that `subscripts` (one per dimension of `outer`) cut out of `outer`; nullopt if their number is
// wrong.
std::optional<View> cut(const View& outer, const std::vector<Subscript>& subscripts);

// In-range conditions of one dimension of the base: 0 <= offset and offset < N, or offset + extent <= N.
smt::Term in_range(const View::Dim& dim, const smt::Term& extent);

}  // namespace exocheck::analysis::bounds
