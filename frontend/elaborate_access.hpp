// Subscripts: element reads, windows, barrier elements (language.md 5.3, 6.3).
#pragma once

#include "frontend/elaborate_context.hpp"

namespace exocheck::frontend {

// `x` or `x[...]` of data: an element (all points, full rank) or a window; fewer subscripts than dimensions
// mean
// `:` for the rest. `e` is the whole expression.
ir::ExprPtr read_name(Context& cx, const ast::Expr& e, const std::string& name);
ir::ExprPtr read_subscript(Context& cx, const ast::Expr& e, const ast::Subscript& subscript);

// The subscripts of a window statement or call argument on `base`, one per dimension, ends filled in.
// Errors: E-T50, E-T52, E-P42.
std::optional<std::vector<ir::Access>> window_accesses(Context& cx, ir::SymId base,
                                                       const std::vector<ast::Item>& items, Span span);
// Does a subscript list denote a window of a base of this rank?
bool denotes_window(const std::vector<ast::Item>& items, int rank);

// Nodes of an expression tree.
std::size_t node_count(const ir::Expr& e);
// Largest extent; a window of a window of a window ... would else grow without bound.
inline constexpr std::size_t max_extent_nodes = 200;

// Extents of the intervals, hi - lo simplified (`8 * k + 8 - 8 * k` is 8). nullopt after L-07.
std::optional<std::vector<ir::ExprPtr>> window_shape(Context& cx, const std::vector<ir::Access>& accesses,
                                                     Span span);

// Points of an assignment target. Errors: E-P41, E-P42, E-T23.
std::optional<std::vector<ir::ExprPtr>> target_points(Context& cx, const std::vector<ast::Item>& items);

// A barrier expression. Names inside Arrive and Await (`in_sync`) may need the repair of language.md 3.3 Q2.
// The name may turn out to be no barrier, and the number of subscripts wrong: analysis/barrier reports that.
// Errors: E-N01, E-P62, E-U03 where the expression is no variable at all.
std::optional<ir::BarrierExpr> barrier_expr(Context& cx, const ast::Expr& e, bool in_sync);

}  // namespace exocheck::frontend
