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
NEREID_REDUCE(max, reduce_max, NumericElement, ReduceMax, detail::ElementOf<X>)
NEREID_REDUCE(min, reduce_min, NumericElement, ReduceMin, detail::ElementOf<X>)
NEREID_REDUCE(sum, sum, NumericElement, ReduceSum, detail::ElementOf<X>)
/// Whether any element holds; of i1.
NEREID_REDUCE(any, any, detail::TruthElement, ReduceAny, i1)
/// Index of the first greatest element, i32; a NaN is the greatest.
NEREID_REDUCE(argmax, argmax, NumericElement, ArgMax, i32)
#undef NEREID_REDUCE

/// Running sum along an axis, the element itself included.
template <detail::NumericTile X>
Tile<detail::ElementOf<X>> cumsum(const X &x, int along, Where where = Where::current()) {
  return detail::make<detail::ElementOf<X>>(detail::at(where).cumsum(detail::id_of(x), along));
}

} // namespace nereid
