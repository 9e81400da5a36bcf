#pragma once

#include "base/result.h"
#include "codegen/layout/linear_layout.h"

/// What the shape operations of the tile language do to layouts, in both directions: "forward" gives the
/// layout of the result when the operand has `layout`; "backward" gives the layout that the operand must have
/// for the result to come out in `layout` with no data moved between lanes.
namespace nereid::codegen {

/// Where new register bits go: below all others (fastest) or above them.
enum class RegisterEnd { Low, High };

/// Row-major reshape, forward and backward alike. Exact: every position keeps its element. Error (the user's)
/// naming the dimension when an odd factor is in the way, that is unless the odd factors stand between the
/// same powers of two on both sides ([48] -> [3, 16] and [48, 4] -> [6, 8, 4] are possible, [4, 48] -> [192]
/// is not).
Result<LinearLayout> reshape(const LinearLayout &layout, const ir::Shape &shape);
/// One dimension, row-major.
Result<LinearLayout> flatten(const LinearLayout &layout);

/// Forward: result dimension i is operand dimension order[i]. Backward: its inverse.
LinearLayout permute(const LinearLayout &layout, const std::vector<unsigned> &order);
LinearLayout permute_operand(const LinearLayout &layout, const std::vector<unsigned> &order);

/// A new dimension of size 1 before dimension `axis`; and its removal.
LinearLayout expand_dims(const LinearLayout &layout, unsigned axis);
LinearLayout squeeze(const LinearLayout &layout, unsigned axis);

/// Dimension `axis` of size 1 becomes `size`. Forward: the new elements lie in registers. Backward: the bits
/// on the axis become copies, those of registers are removed.
LinearLayout broadcast(const LinearLayout &layout, unsigned axis, int64_t size,
                       RegisterEnd end = RegisterEnd::High);
LinearLayout broadcast_operand(const LinearLayout &layout, unsigned axis);
/// All axes in which `shape` (operand, same rank) has size 1 and the layout's shape has not.
LinearLayout broadcast_operand(const LinearLayout &layout, const ir::Shape &operand);

/// The axis gone, every bit kept: bits that lay on the axis hold copies (zero columns). The layout of any one
/// slice across the axis, register numbers unchanged.
LinearLayout slice(const LinearLayout &layout, unsigned axis);

/// Reduction over an axis (removed). Forward: lane and wave bits on the axis hold copies (as after an
/// all-reduce), registers on it are removed. Backward: the axis lies in registers.
LinearLayout reduce(const LinearLayout &layout, unsigned axis);
LinearLayout reduce_operand(const LinearLayout &layout, unsigned axis, int64_t size,
                            RegisterEnd end = RegisterEnd::Low);

/// Split of a last dimension of 2 into two tiles. Forward: the layout of each half (lane and wave bits on the
/// axis would hold copies, so a free split needs `split_is_free`). Backward: the two halves of an element lie
/// in neighbouring registers.
LinearLayout split(const LinearLayout &layout);
LinearLayout split_operand(const LinearLayout &layout);
/// Both halves of every element are in the same lane.
bool split_is_free(const LinearLayout &layout);

/// Join of two tiles along a new last dimension of 2; the mirror of split.
LinearLayout join(const LinearLayout &layout);
LinearLayout join_operand(const LinearLayout &layout);

/// Only the listed dimensions, in that order; all positions are kept.
LinearLayout sub_layout(const LinearLayout &layout, const std::vector<unsigned> &dims);

} // namespace nereid::codegen
