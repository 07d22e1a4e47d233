// O4, O9, O10, O11: element accesses, window statements, barrier expressions.
#include <fmt/format.h>

#include "analysis/bounds_walk.hpp"
#include "semantics/ir_util.hpp"

namespace exocheck::analysis::bounds {

namespace ir = semantics::ir;
using semantics::Span;
using smt::Assumptions;
using smt::Sort;
using smt::Term;

std::string range_text(const Numbers& numbers, const Term& extent) {
  return "0 <= index < " + numbers.with_value(extent);
}

semantics::Related declared_here(const Base& base) {
  std::string shape;
  for (const Term& n : base.extents) shape += (shape.empty() ? "" : ", ") + text(n);
  return {semantics::Role::declaration,
          fmt::format("`{}` is declared here with shape [{}]", base.name, shape), base.declaration};
}

void Walk::access(const ir::Stmt& stmt, Span span, ir::SymId var, const std::vector<ir::Access>& index,
                  const char* verb, const Assumptions& gamma) {
  const std::string& name = frame_.procedure().symbol(var).name;
  const ViewPtr& outer = frame_.view(var);
  if (outer && outer->unchecked) return;
  Frame::Cut element = frame_.cut(var, index);
  if (!element.view) {
    Claim c = claim("E-B04", stmt, span, name);
    c.meaning = fmt::format("`{}` is {} in bounds", name, verb);
    session_.reporter.undecided(c, element.unsupported);
    return;
  }
  const Base& base = *element.view->base;
  const std::string through = outer->window.empty() ? "" : fmt::format(" through window `{}`", outer->window);
  for (std::size_t k = 0; k < base.extents.size(); ++k) {
    const View::Dim& dim = element.view->dims[k];
    const Term& n = base.extents[k];
    Claim c = claim("E-B04", stmt, span, base.name, static_cast<int>(k));
    c.meaning = fmt::format("index {} of `{}` in dimension {} lies in 0 <= index < {}", text(dim.offset),
                            base.name, k, text(n));
    c.message = [&](const Numbers& numbers) {
      return fmt::format("`{}` is {} out of bounds{}: in dimension {} the index {} is not in {}{}", base.name,
                         verb, through, k, numbers.with_value(dim.offset), range_text(numbers, n),
                         numbers.when());
    };
    c.related = {declared_here(base)};
    if (!session_.reporter.require(gamma, in_range(dim, n), c)) continue;

    // O10: inside the window, too.
    const View::Dim& limit = outer->dims[k];
    if (outer->window.empty() || !limit.extent) continue;
    const Term inner = dim.offset - limit.offset;
    Claim w = claim("E-B09", stmt, span, outer->window, static_cast<int>(k));
    w.meaning = fmt::format("the access to `{}` stays inside window `{}` in dimension {} of `{}`", base.name,
                            outer->window, k, base.name);
    w.message = [&](const Numbers& numbers) {
      return fmt::format(
          "the access leaves window `{}`: in dimension {} of `{}` the index {} is outside the window's "
          "range, {} up to but not including {}{}",
          outer->window, k, base.name, numbers.with_value(dim.offset), numbers.with_value(limit.offset),
          numbers.with_value(limit.offset + *limit.extent), numbers.when());
    };
    session_.reporter.require(
        gamma, conj(le(limit.offset, dim.offset), lt(dim.offset, limit.offset + *limit.extent)), w);
  }
}

// O9 and A6. A special window, and every window of one, carries no obligation (decisions.md E6).
void Walk::window(const ir::Stmt& stmt, const ir::WindowStmt& window, const Assumptions& gamma) {
  const ir::Symbol& result = frame_.procedure().symbol(window.result);
  Frame::Cut part = frame_.cut(window.base, window.index);
  if (!part.view) {
    Claim c = claim("E-B08", stmt, stmt.span, result.name);
    c.meaning = fmt::format("window `{}` lies inside its base", result.name);
    session_.reporter.undecided(c, part.unsupported);
    return;
  }
  View& view = *part.view;
  const bool special = result.memory && result.memory->is(semantics::MemoryKind::Sm90_tensorMap);
  view.window = result.name;
  view.unchecked = view.unchecked || special;
  frame_.bind(window.result, std::make_shared<const View>(view));
  if (view.unchecked) return;

  // The limits are those of what is cut: a window of a window stays inside the outer one, which was checked
  // itself.
  const ViewPtr& outer = frame_.view(window.base);
  const std::string& from = outer->window.empty() ? view.base->name : outer->window;
  for (std::size_t k = 0; k < view.dims.size(); ++k) {
    if (!outer->dims[k].extent) continue;  // a position that the outer window fixed
    const View::Dim dim{view.dims[k].offset - outer->dims[k].offset, view.dims[k].extent};
    const Term& n = *outer->dims[k].extent;
    Claim c = claim("E-B08", stmt, stmt.span, result.name, static_cast<int>(k));
    c.related = {declared_here(*view.base)};
    const std::string what =
        dim.extent ? fmt::format("interval {}:{}", text(dim.offset), text(dim.offset + *dim.extent))
                   : fmt::format("position {}", text(dim.offset));
    c.meaning = fmt::format("{} of window `{}` lies inside dimension {} of `{}`", what, result.name, k, from);
    c.message = [&](const Numbers& numbers) {
      if (!dim.extent) {
        return fmt::format("window `{}` leaves `{}`: in dimension {} the position {} is not in {}{}",
                           result.name, from, k, numbers.with_value(dim.offset), range_text(numbers, n),
                           numbers.when());
      }
      return fmt::format(
          "window `{}` leaves `{}`: in dimension {} it goes from {} to {}, but the extent is {}{}",
          result.name, from, k, numbers.with_value(dim.offset), numbers.with_value(dim.offset + *dim.extent),
          numbers.with_value(n), numbers.when());
    };
    session_.reporter.require(gamma, in_range(dim, n), c);
  }
}

// O11: points inside the array, intervals exactly one dimension.
void Walk::barrier(const ir::Stmt& stmt, const ir::BarrierExpr& barrier, const Assumptions& gamma) {
  const std::string& name = frame_.procedure().symbol(barrier.var).name;
  const ViewPtr& view = frame_.view(barrier.var);
  // A wrong number of subscripts is E-U04's business.
  if (!view || view->base->extents.size() != barrier.index.size()) return;
  for (std::size_t k = 0; k < barrier.index.size(); ++k) {
    const ir::Access& access = barrier.index[k];
    const Term& n = view->base->extents[k];
    Claim c = claim("E-B10", stmt, barrier.span, name, static_cast<int>(k));
    c.related = {declared_here(*view->base)};
    c.meaning = fmt::format("the subscript of barrier `{}` in dimension {} lies inside the array", name, k);
    const auto lo = frame_.translate(*access.lo, Sort::integer);
    const auto hi = access.interval() ? frame_.translate(*access.hi, Sort::integer) : lo;
    if (!lo.term || !hi.term) {
      session_.reporter.undecided(c, lo.term ? hi.unsupported : lo.unsupported);
      continue;
    }
    c.message = [&](const Numbers& numbers) {
      if (access.interval()) {
        return fmt::format(
            "an interval of barrier `{}` must be all of dimension {}, 0 to {}, but it goes from {} to {}{}",
            name, k, numbers.with_value(n), numbers.with_value(*lo.term), numbers.with_value(*hi.term),
            numbers.when());
      }
      return fmt::format("barrier `{}` has no such element: in dimension {} the index {} is not in {}{}",
                         name, k, numbers.with_value(*lo.term), range_text(numbers, n), numbers.when());
    };
    const Term goal = access.interval() ? conj(eq(*lo.term, smt::integer(0)), eq(*hi.term, n))
                                        : conj(le(smt::integer(0), *lo.term), lt(*lo.term, n));
    session_.reporter.require(gamma, goal, c);
  }
}

}  // namespace exocheck::analysis::bounds
