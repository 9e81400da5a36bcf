#pragma once

#include "dsl/ops/common.h"

/// Reductions and scans over one axis. max and min propagate NaN; the order of a float sum is not defined.
namespace nereid {

using detail::Where;

/// A dimension to reduce, from the end when negative; `keep` leaves it with size 1.
struct Axis {
  int index;
  bool keep = false;
};
constexpr Axis axis(int index) { return {index, false}; }
constexpr Axis keep_axis(int index) { return {index, true}; }
/// All dimensions: the result is a scalar.
struct AllAxes {};
inline constexpr AllAxes all_axes;

namespace detail {
/// Over one axis after the other, the last one first.
inline ir::ValueId reduce_all(Where where, ir::Opcode opcode, ir::ValueId value) {
  ir::Builder &builder = at(where);
  while (builder.type(value).rank() != 0)
    value = builder.reduce(opcode, value, -1, false);
  return value;
}
} // namespace detail

/// A reduction along an axis, and its alias by the axis's number, which removes it.
#define NEREID_REDUCE(function, alias, allowed, opcode, result)                                              \
  template <detail::TileLike X>                                                                              \
    requires allowed<detail::ElementOf<X>>                                                                   \
  auto function(const X &x, Axis along, Where where = Where::current()) {                                    \
    return detail::make<result>(                                                                             \
        detail::at(where).reduce(ir::Opcode::opcode, detail::id_of(x), along.index, along.keep));            \
  }                                                                                                          \
  template <detail::TileLike X>                                                                              \
    requires allowed<detail::ElementOf<X>>                                                                   \
  auto alias(const X &x, int along, Where where = Where::current()) {                                        \
    return function(x, axis(along), where);                                                                  \
  }
#define NEREID_REDUCE_ALL(function, allowed, opcode)                                                         \
  /** Over all axes, one after the other. */                                                                 \
  template <detail::TileLike X>                                                                              \
    requires allowed<detail::ElementOf<X>>                                                                   \
  Tile<detail::ElementOf<X>> function(const X &x, AllAxes, Where where = Where::current()) {                 \
    return detail::make<detail::ElementOf<X>>(                                                               \
        detail::reduce_all(where, ir::Opcode::opcode, detail::id_of(x)));                                    \
  }
NEREID_REDUCE(max, reduce_max, NumericElement, ReduceMax, detail::ElementOf<X>)
NEREID_REDUCE(min, reduce_min, NumericElement, ReduceMin, detail::ElementOf<X>)
NEREID_REDUCE(sum, sum, NumericElement, ReduceSum, detail::ElementOf<X>)
/// Whether any element holds; of i1.
NEREID_REDUCE(any, any, detail::TruthElement, ReduceAny, i1)
/// Index of the first greatest element, i32; a NaN is the greatest.
NEREID_REDUCE(argmax, argmax, NumericElement, ArgMax, i32)
NEREID_REDUCE_ALL(max, NumericElement, ReduceMax)
NEREID_REDUCE_ALL(min, NumericElement, ReduceMin)
NEREID_REDUCE_ALL(sum, NumericElement, ReduceSum)
NEREID_REDUCE_ALL(any, detail::TruthElement, ReduceAny)
#undef NEREID_REDUCE
#undef NEREID_REDUCE_ALL

/// Index of the first least element, i32; a NaN is the least.
template <detail::NumericTile X> Tile<i32> argmin(const X &x, Axis along, Where where = Where::current()) {
  constexpr bool is_float = RealElement<detail::ElementOf<X>>;
  ir::Builder &builder = detail::at(where);
  const ir::ValueId reversed = builder.unary(is_float ? ir::Opcode::Neg : ir::Opcode::Not, detail::id_of(x));
  return detail::make<i32>(builder.reduce(ir::Opcode::ArgMax, reversed, along.index, along.keep));
}
template <detail::NumericTile X> Tile<i32> argmin(const X &x, int along, Where where = Where::current()) {
  return argmin(x, axis(along), where);
}

/// Running sum along an axis, the element itself included.
template <detail::NumericTile X>
Tile<detail::ElementOf<X>> cumsum(const X &x, int along, Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).cumsum(detail::id_of(x), along));
}

/// The elements of x at `index` along an axis, in the index's shape: result[i, j] = x[index[i, j], j] for
/// axis 0, as numpy's take_along_axis. In other dimensions the index's sizes are those of x, or 1. What an
/// index outside of the axis gives is not defined; the interpreter reports it.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> gather(const X &x, const detail::Operand<i32> &index, int along,
                                  Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).gather(detail::id_of(x), index.id(), along));
}

/// The elements in reverse order along an axis.
template <detail::TileLike X>
Tile<detail::ElementOf<X>> flip(const X &x, int along, Where where = Where::current()) {
  ir::Builder &builder = detail::at(where);
  const ir::ValueId id = detail::id_of(x);
  const int64_t last = builder.size(id, along) - 1;
  const int axis = along < 0 ? along + static_cast<int>(builder.type(id).rank()) : along;
  ir::ValueId index =
      builder.binary(ir::Opcode::Sub, builder.integer(ir::Element::I32, last), builder.arange(0, last + 1));
  for (int d = axis + 1; d < static_cast<int>(builder.type(id).rank()); ++d)
    index = builder.expand_dims(index, -1);
  return detail::make<detail::ElementOf<X>>(builder.gather(id, index, axis));
}

} // namespace nereid
