#pragma once

#include "kernels/mx_tiles.h"
#include "kernels/specialize.h"

/// Parts of the products: the program's tile of the result, and the loop over K.
namespace nereid::kernels {

/// Offsets of a tile's elements from its first row, and which of them are in [m, n].
struct TileElements {
  Tile<i32> offsets;
  Tile<i1> in_bounds;
};

/// A program's tile of C [m, n], and which part of K it computes.
struct GemmTile {
  TileConfig config;
  ShapeFacts shape;
  int split_k; ///< programs that share the K of a tile
  Int first_row;
  Int first_column;
  Int split; ///< which part of K
  Int m;     ///< rows of C
  Int n;     ///< columns of C
  Int k;     ///< a constant where shape.constant_k is one

  /// Of first_row in C.
  Long row_offset() const { return first_row.to<i64>() * n.to<i64>(); }

  TileElements elements() const {
    const Tile<i32> row = rows(config.block_m);
    const Tile<i32> column = first_column + cols(config.block_n);
    return {row * n + column, (first_row + row < m) & (column < n)};
  }

  /// Where its part of A and B begins in an iteration.
  TileOrigin origin_of_a(const Int &first_k) const {
    return {first_row, m, shape.even_m, first_k, k, shape.even_k};
  }
  TileOrigin origin_of_b(const Int &first_k) const {
    return {first_column, n, shape.even_n, first_k, k, shape.even_k};
  }
};

/// K as the kernel sees it.
inline Int known_k(const ShapeFacts &shape, const Int &k) {
  return shape.constant_k > 0 ? Int(shape.constant_k) : k;
}

/// Up to so many iterations of a constant K are written out.
inline constexpr int max_unrolled_iterations = 4;

/// Iterations that every program makes, where K is a constant and these are few; else 0.
inline int unrolled_iterations(const GemmTile &tile) {
  const int iterations = (tile.shape.constant_k + tile.config.block_k - 1) / tile.config.block_k;
  const bool unrolled =
      iterations % tile.split_k == 0 && iterations / tile.split_k <= max_unrolled_iterations;
  return unrolled ? iterations / tile.split_k : 0;
}

/// K of an iteration. One wide iteration in place of several lets the waves share K. It must fit: 64 values
/// of A a lane.
inline int iteration_k(const GemmTile &tile) {
  const TileConfig &config = tile.config;
  const int iterations = unrolled_iterations(tile);
  const bool is_power_of_two = iterations > 0 && (iterations & (iterations - 1)) == 0;
  const bool wide = tile.shape.even_k && is_power_of_two &&
                    config.block_m * iterations * config.block_k <= 64 * 64 * config.waves;
  return wide ? iterations * config.block_k : config.block_k;
}

/// Calls body(Int first_k, int64_t iteration_k) for each iteration of the program's part of K: where it
/// begins and how long it is.
template <class Body> void for_each_iteration(const GemmTile &tile, const Body &body) {
  assume_columns(tile.k);
  const int stages = tile.config.stages, step = iteration_k(tile), unrolled = unrolled_iterations(tile);
  if (tile.split_k == 1) {
    for (Int first_k : range(0, tile.k, step, {.stages = stages, .unroll = max_unrolled_iterations}))
      body(first_k, step);
  } else if (unrolled > 0) {
    const int steps = unrolled * tile.config.block_k / step;
    for (int i = 0; i < steps; ++i)
      body((tile.split * steps + i) * step, step);
  } else {
    assume(tile.split < tile.split_k);
    const Int iterations = cdiv(cdiv(tile.k, step), tile.split_k);
    const Int begin = tile.split * iterations * step;
    const Int end = min(begin + iterations * step, tile.k);
    for (Int first_k : range(begin, end, step, {.stages = stages}))
      body(first_k, step);
  }
}

/// A's tile times the shuffled B, f32 [block_m, block_n].
inline Tile<f32> times_shuffled_b(const GemmTile &tile, const Quantized &a, const Ptr<const u8> &b,
                                  const Ptr<const u8> &b_scales, const Int &first_k, int64_t iteration_k) {
  const TileOrigin origin = tile.origin_of_b(first_k);
  const Tile<u8> codes = load_shuffled_b(b, origin, tile.config.block_n, iteration_k);
  const Tile<u8> scales = load_shuffled_scales(b_scales, origin, tile.config.block_n, iteration_k);
  return dot_scaled(a.codes, a.scales, e2m1, codes, scales, e2m1);
}

/// The program's part of A times shuffled B, f32 [block_m, block_n]. load_a gives a Quantized from first_k
/// and iteration_k.
template <class LoadA>
Tile<f32> multiply(const GemmTile &tile, const LoadA &load_a, const Ptr<const u8> &b,
                   const Ptr<const u8> &b_scales) {
  Var sum = zeros<f32>({tile.config.block_m, tile.config.block_n});
  for_each_iteration(tile, [&](const Int &first_k, int64_t iteration_k) {
    const Quantized a = load_a(first_k, iteration_k);
    sum += times_shuffled_b(tile, a, b, b_scales, first_k, iteration_k);
  });
  return sum;
}

/// Loads bf16 A and quantises it (even rule): a load_a for multiply.
inline auto quantized_rows(const GemmTile &tile, const Ptr<const bf16> &a) {
  return [tile, a](const Int &first_k, int64_t iteration_k) {
    const Tile<bf16> values = load_rows(a, tile.origin_of_a(first_k), tile.config.block_m, iteration_k);
    return quantize(values, e2m1, ScaleRule::Even);
  };
}

} // namespace nereid::kernels
