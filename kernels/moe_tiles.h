#pragma once

#include "kernels/epilogues.h"

/// Parts of the products of a mixture: blocks of rows that moe_sort made, each of one expert.
namespace nereid::kernels {

/// A program's block of sorted rows, of which some may only fill it up.
struct MoeBlock {
  Int expert;      ///< below 0: the block is not needed
  Tile<i32> index; ///< i32 [block_m, 1]: which of the ids stands in each row, -1 for none
  Tile<i32> place; ///< i32 [block_m, 1]: the sorted rows
  Tile<i1> is_row; ///< i1 [block_m, 1]: whether there is an index

  /// i32 [block_m, 1]: the rows of [m, top_k] that the indices are of, -1 for none.
  Tile<i32> row(const Int &top_k) const { return where(is_row, index / top_k, -1); }
};

/// The rows of `sorted` i32 [blocks * block_m] that program `block` has, and their expert of i32 [blocks].
inline MoeBlock load_moe_block(const Ptr<const i32> &sorted, const Ptr<const i32> &block_experts,
                               const Int &block, int64_t block_m) {
  const Int expert = load(block_experts + block);
  const Tile<i32> place = block * block_m + rows(block_m);
  const Tile<i32> index = load(sorted + place);
  return {expert, index, place, index >= 0};
}

/// Rows of which none is beyond the last; how many there are does not count. No matrix of a mixture
/// has 2^31 bytes (check_moe_rows).
inline MxView2D<const u8> numbered_rows(const Ptr<const u8> &codes, const Ptr<const u8> &scales, const Int &k,
                                        const ShapeFacts &shape) {
  return {codes, scales, {max_view_rows, k}, {.even_rows = true, .even_k = shape.even_k, .is_small = true}};
}

} // namespace nereid::kernels
