#pragma once

#include "kernels/epilogues.h"

/// Parts of the products of a mixture: blocks of rows that moe_sort made, each of one expert.
namespace nereid::kernels {

/// A program's block of sorted rows.
struct MoeBlock {
  Int expert;      ///< below 0: the block is not needed
  Tile<i32> index; ///< [block_m, 1]: which of the ids stands in each row, -1 for none
  Tile<i32> place; ///< [block_m, 1]: the sorted rows
  Tile<i1> is_row; ///< [block_m, 1]
};

/// The rows of `sorted` i32 [blocks * block_m] that program `block` has, and their expert of i32 [blocks].
inline MoeBlock load_moe_block(const Ptr<const i32> &sorted, const Ptr<const i32> &block_experts,
                               const Int &block, int64_t block_m) {
  const Int expert = load(block_experts + block);
  const Tile<i32> place = block * block_m + rows(block_m);
  const Tile<i32> index = load(sorted + place);
  return {expert, index, place, index >= 0};
}

/// Rows of MXFP4 A, codes u8 [.., k/2] and plain scales u8 [.., k/32], from wherever they are: `row`
/// [block_m, 1], of which those of is_row are read. No matrix has 2^31 bytes.
inline MxTile gather_rows(const Ptr<const u8> &codes, const Ptr<const u8> &scales, const Tile<i32> &row,
                          const Tile<i1> &is_row, const Int &k, const Int &first_k, int64_t iteration_k,
                          bool even_k) {
  const Int row_bytes = (k >> 5) << 4, row_scales = k >> 5;
  const Tile<i32> byte = (first_k >> 1) + cols(iteration_k / 2);
  const Tile<i32> group = (first_k >> 5) + cols(iteration_k / 32);
  return {load(codes + (row * row_bytes + byte), even_k ? is_row : is_row & (byte < row_bytes)),
          load(scales + (row * row_scales + group), even_k ? is_row : is_row & (group < row_scales), 127),
          e2m1};
}

} // namespace nereid::kernels
