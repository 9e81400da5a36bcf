#pragma once

#include <utility>

#include "dsl/ops/common.h"

/// Sources and shapes. Elements are in row-major order.
namespace nereid {

using detail::Where;

/// Index of this program in the grid, axis 0 to 2.
inline Int program_id(int axis, Where where = Where::current()) {
  return detail::make<i32>(detail::at(where).program_id(axis));
}
/// Size of the grid, axis 0 to 2.
inline Int num_programs(int axis, Where where = Where::current()) {
  return detail::make<i32>(detail::at(where).num_programs(axis));
}
/// first, first + 1, ..., last - 1.
inline Tile<i32> arange(int64_t first, int64_t last, Where where = Where::current()) {
  return detail::make<i32>(detail::at(where).arange(first, last));
}
template <ElementType T> Tile<T> zeros(const Shape &shape, Where where = Where::current()) {
  return detail::make<T>(detail::at(where).constant(ir::Type::tile(element_of<T>, shape), 0));
}
/// Every element is the constant or scalar.
template <ElementType T>
Tile<T> full(const Shape &shape, const detail::Operand<T> &value, Where where = Where::current()) {
  return detail::make<T>(detail::at(where).broadcast(value.id(), shape));
}

/// A scalar, or a tile of the same rank whose differing sizes are 1, repeated to the shape.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> broadcast(const X &x, const Shape &shape, Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).broadcast(detail::id_of(x), shape));
}
/// A new dimension of size 1 at `axis`; from the end when negative.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> expand_dims(const X &x, int axis, Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).expand_dims(detail::id_of(x), axis));
}
/// [n] as one row: [1, n].
template <detail::TileLike X> Tile<detail::ElementOf<X>> row(const X &x, Where where = Where::current()) {
  return expand_dims(x, 0, where);
}
/// [n] as one column: [n, 1].
template <detail::TileLike X> Tile<detail::ElementOf<X>> col(const X &x, Where where = Where::current()) {
  return expand_dims(x, -1, where);
}
/// i32 [n, 1] of 0, 1, ..., n - 1: the numbers of a tile's rows.
inline Tile<i32> rows(int64_t n, Where where = Where::current()) { return col(arange(0, n, where), where); }
/// i32 [1, n] of 0, 1, ..., n - 1: the numbers of a tile's columns.
inline Tile<i32> cols(int64_t n, Where where = Where::current()) { return row(arange(0, n, where), where); }
/// Element i along `axis` of the result is element i ^ distance of x: each of two partners has the other's.
/// The distance is below the power of two in the size; a negative axis counts from the end. Within a lane it
/// renames registers, within a wave it is a lane exchange, between waves it goes through LDS.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> butterfly(const X &x, int64_t distance, int axis = -1,
                                     Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).butterfly(detail::id_of(x), axis, distance));
}
/// The same elements in the same order. A size is odd * 2^k and its odd factor is outermost: a reshape that
/// would have to go through it is an error.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> reshape(const X &x, const Shape &shape, Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).reshape(detail::id_of(x), shape));
}
/// Dimension d of the result is dimension order[d] of x.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> permute(const X &x, const std::vector<int64_t> &order,
                                   Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).permute(detail::id_of(x), order));
}
/// The transpose of a tile of rank 2.
template <detail::TileLike X> Tile<detail::ElementOf<X>> trans(const X &x, Where where = Where::current()) {
  return permute(x, {1, 0}, where);
}
/// [..., 2] as the two tiles of its last dimension: (even, odd).
template <detail::TileLike X> auto split(const X &x, Where where = Where::current()) {
  using T = detail::ElementOf<X>;
  auto [even, odd] = detail::at(where).split(detail::id_of(x));
  return std::pair<Tile<T>, Tile<T>>(detail::make<T>(even), detail::make<T>(odd));
}
/// Two tiles of one shape as one with a new last dimension of 2; the inverse of split.
template <class A, class B>
  requires detail::OneElement<A, B>
Tile<detail::CommonElement<A, B>> join(const A &a, const B &b, Where where = Where::current()) {
  using T = detail::CommonElement<A, B>;
  detail::Operand<T> x(a, where), y(b, where);
  return detail::make<T>(detail::at(where).join(x.id(), y.id()));
}

} // namespace nereid
