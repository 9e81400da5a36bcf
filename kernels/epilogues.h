#pragma once

#include "kernels/gemm_tile.h"

/// What kernels do with their accumulators before they store them. All are plain functions on tiles: a kernel
/// calls what it needs, nothing is stored in between.
namespace nereid::kernels {

/// x sigmoid(x).
inline Tile<f32> silu(const Tile<f32> &x) { return x * sigmoid(x); }

/// x times the normal distribution function: x (1 + erf(x / sqrt 2)) / 2.
inline Tile<f32> gelu(const Tile<f32> &x) { return 0.5F * x * (1.0F + erf(x * 0.70710678F)); }

/// bias[n], one a column, as f32 [1, block_n]; 0 out of bounds.
inline Tile<f32> load_bias(const GemmTile &tile, const Ptr<const bf16> &bias) {
  const Tile<i32> column = tile.first_column + cols(tile.config.block_n);
  return load(bias + column, column < tile.n).to<f32>();
}

/// alpha sum + beta C, as far as `scaling` says; C is bf16 [m, n].
inline Tile<f32> scale_output(Scaling scaling, const GemmTile &tile, const Tile<f32> &sum,
                              const Ptr<const bf16> &c, const Float &alpha, const Float &beta) {
  if (scaling == Scaling::None)
    return sum;
  const Tile<f32> scaled = sum * alpha;
  if (scaling == Scaling::Alpha)
    return scaled;
  const auto [offsets, in_bounds] = tile.elements();
  return scaled + beta * load(c + tile.row_offset() + offsets, in_bounds).to<f32>();
}

/// Stores a tile as bf16 [m, n].
inline void store_bf16(const GemmTile &tile, const Ptr<bf16> &out, const Tile<f32> &value) {
  const auto [offsets, in_bounds] = tile.elements();
  store(out + tile.row_offset() + offsets, value.to<bf16>(), in_bounds);
}

/// Stores a tile as the A of the next product: rounded to bf16, then MXFP4 by the even rule, codes u8 [m,
/// n/2] and shuffled scales. block_n and n are multiples of 32; block_m and block_n divide 256 or are
/// multiples of it.
inline void store_mxfp4(const GemmTile &tile, const Ptr<u8> &codes, const Ptr<u8> &scales,
                        const Tile<f32> &value) {
  const Quantized quantized = quantize(value.to<bf16>(), e2m1, ScaleRule::Even);
  const Tile<i32> row = rows(tile.config.block_m);
  const Tile<i32> byte = (tile.first_column >> 1) + cols(tile.config.block_n / 2);
  const Int row_bytes = tile.n >> 1;
  store(codes + tile.first_row.to<i64>() * row_bytes.to<i64>() + (row * row_bytes + byte), quantized.codes,
        (tile.first_row + row < tile.m) & (byte < row_bytes));
  const TileOrigin origin{tile.first_row,    tile.m, tile.shape.even_m,
                          tile.first_column, tile.n, tile.shape.even_n};
  store_shuffled_scales(scales, origin, quantized.scales);
}

} // namespace nereid::kernels
