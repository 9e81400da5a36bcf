#pragma once

#include "base/result.h"
#include "codegen/layout/linear_layout.h"

/// What the shape operations of the tile language do to layouts, in both directions: "forward" gives the
/// layout of the result when the operand has `layout`; "backward" (..._operand) gives the layout that the
/// operand must have for the result to come out in `layout` with no data moved between lanes. Positions keep
/// their numbers: what is left of a bit that lay on a dimension which goes away is a broadcast.
namespace nereid::codegen {

/// Row-major reshape, forward and backward alike. Exact: every position keeps its element. Error (the user's)
/// naming the dimension when an odd factor is in the way, that is unless the odd factors stand between the
/// same powers of two on both sides ([48] -> [3, 16] and [48, 4] -> [6, 8, 4] are possible, [4, 48] -> [192]
/// is not).
Result<LinearLayout> reshape(const LinearLayout &layout, const ir::Shape &shape);

/// Forward: result dimension i is operand dimension order[i]. Backward: its inverse.
LinearLayout permute(const LinearLayout &layout, const std::vector<int64_t> &order);
LinearLayout permute_operand(const LinearLayout &layout, const std::vector<int64_t> &order);

/// A new dimension of size 1 before dimension `axis`; and its removal.
LinearLayout expand_dims(const LinearLayout &layout, unsigned axis);
LinearLayout squeeze(const LinearLayout &layout, unsigned axis);

/// Backward: an operand of the same rank, in which some dimensions have size 1.
LinearLayout broadcast_operand(const LinearLayout &layout, const ir::Shape &operand);

/// Only the listed dimensions, in that order.
LinearLayout sub_layout(const LinearLayout &layout, const std::vector<unsigned> &dims);
/// The axis gone: the layout of any one slice across it.
LinearLayout slice(const LinearLayout &layout, unsigned axis);

/// Reduction over an axis (removed). Forward: lane and wave bits on the axis broadcast (as after an
/// all-reduce), registers on it are removed. Backward: the axis lies in the lowest registers.
LinearLayout reduce(const LinearLayout &layout, unsigned axis);
LinearLayout reduce_operand(const LinearLayout &layout, unsigned axis, int64_t size);

/// Join of two tiles along a new last dimension of 2: the two halves of an element lie in neighbouring
/// registers. The layout of a split's operand likewise. A join's operand and a split's result are slices.
LinearLayout join(const LinearLayout &layout);

/// The layout of a smaller tile of the same rank, of at most `shape` in each dimension (odd factors aside):
/// lane and wave bits beyond it broadcast, registers are removed.
LinearLayout crop(const LinearLayout &layout, const ir::Shape &shape);

} // namespace nereid::codegen
