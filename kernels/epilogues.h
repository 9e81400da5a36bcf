#pragma once

#include <optional>

#include "kernels/gemm_tile.h"

/// What kernels do with a tile of sums before they store it. All are plain functions on tiles: a kernel calls
/// what it needs, nothing is stored in between.
namespace nereid::kernels {

/// x sigmoid(x).
inline Tile<f32> silu(const Tile<f32> &x) { return x * sigmoid(x); }

/// x times the normal distribution function: x (1 + erf(x / sqrt 2)) / 2.
inline Tile<f32> gelu(const Tile<f32> &x) { return 0.5F * x * (1.0F + erf(x * 0.70710678F)); }

/// bias[n], one a column, as f32 [1, block_n]; 0 where there is no column.
inline Tile<f32> load_bias(const GemmConfig &config, const OutputPlace &output, const Ptr<const bf16> &bias) {
  const Tile<i32> column = output.first_column + row(arange(0, config.block_n));
  return load(bias + column, column < output.n).to<f32>();
}

/// Stores a tile as bf16 [m, n].
inline void store_bf16(const GemmConfig &config, const OutputPlace &output, const Ptr<bf16> &out,
                       const Tile<f32> &value) {
  const OutputTile tile = tile_of(config, output);
  store(out + output.first_of_row() + tile.offsets, value.to<bf16>(), tile.exists);
}

/// Stores a tile as the A of the next product: rounded to bf16, then MXFP4 by the even rule, codes u8 [m,
/// n/2] and shuffled scales. block_n and n are multiples of 32; block_m and block_n divide 256 or are
/// multiples of it.
inline void store_mxfp4(const GemmConfig &config, const OutputPlace &output, const Ptr<u8> &codes,
                        const Ptr<u8> &scales, const Tile<f32> &value) {
  const Quantized made = quantize(value.to<bf16>(), e2m1, ScaleRule::Even);
  const Tile<i32> row = col(arange(0, config.block_m));
  const Tile<i32> byte = (output.first_column >> 1) + nereid::row(arange(0, config.block_n / 2));
  const Int row_bytes = output.n >> 1;
  store(codes + output.first_row.to<i64>() * row_bytes.to<i64>() + (row * row_bytes + byte), made.codes,
        (output.first_row + row < output.m) & (byte < row_bytes));
  const TilePlace place{output.first_row,    output.m, config.whole_m != 0,
                        output.first_column, output.n, config.whole_n != 0};
  store_shuffled_scales(scales, place, made.scales);
}

} // namespace nereid::kernels
