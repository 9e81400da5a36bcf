#pragma once

#include "kernels/gemm_tile.h"

/// What kernels do with their accumulators before they store them. All are plain functions on tiles: a kernel
/// calls what it needs, nothing is stored in between.
namespace nereid::kernels {

/// x sigmoid(x).
inline Tile<f32> silu(const Tile<f32> &x) { return x * sigmoid(x); }

/// x times the normal distribution function: x (1 + erf(x / sqrt 2)) / 2.
inline Tile<f32> gelu(const Tile<f32> &x) { return 0.5F * x * (1.0F + erf(x * 0.70710678F)); }

/// bias [n] of a tile's columns, f32 [1, columns]; 0 beyond n.
inline Tile<f32> load_bias(const Ptr<const bf16> &bias, const Int &n, const Int &first_column,
                           int64_t columns) {
  return View2D(bias, {1, n}).load({0, first_column}, {1, columns}).to<f32>();
}

/// alpha sum + beta C, as far as `scaling` says, of the tile that begins at a position of C.
inline Tile<f32> scale_output(Scaling scaling, const Tile<f32> &sum, const View2D<const bf16> &c,
                              const Position2D &at, const Float &alpha, const Float &beta) {
  if (scaling == Scaling::None)
    return sum;
  const Tile<f32> scaled = sum * alpha;
  if (scaling == Scaling::Alpha)
    return scaled;
  return scaled + beta * c.load(at, {sum.size(0), sum.size(1)}).to<f32>();
}

} // namespace nereid::kernels
