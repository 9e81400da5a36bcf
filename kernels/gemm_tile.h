#pragma once

#include <optional>

#include "dsl/dsl.h"
#include "kernels/specialize.h"

/// Parts of the products: their operands as views, and the loop over K.
namespace nereid::kernels {

/// K as the kernel sees it; there is no product without any.
inline Int known_k(const ShapeFacts &shape, const Int &k) {
  if (shape.constant_k > 0)
    return shape.constant_k;
  assume(k > 0);
  return k;
}

/// A row-major [m, k].
inline View2D<const bf16> rows_view(const Ptr<const bf16> &a, const Int &m, const Int &k,
                                    const ShapeFacts &shape) {
  return {a, {m, k}, {.even_rows = shape.even_m, .even_columns = shape.even_k}};
}
/// Codes of A row-major [m, k/2], scales shuffled.
inline MxView2D<const u8> codes_view(const Ptr<const u8> &a, const Ptr<const u8> &scales, const Int &m,
                                     const Int &k, const ShapeFacts &shape) {
  return {
      a, scales, {m, k}, {.scales = MxOrder::Shuffled, .even_rows = shape.even_m, .even_k = shape.even_k}};
}
/// Codes and scales of B [n, k], both shuffled.
inline MxView2D<const u8> weights_view(const Ptr<const u8> &b, const Ptr<const u8> &scales, const Int &n,
                                       const Int &k, const ShapeFacts &shape) {
  return {b,
          scales,
          {n, k},
          {.codes = MxOrder::Shuffled,
           .scales = MxOrder::Shuffled,
           .even_rows = shape.even_n,
           .even_k = shape.even_k}};
}

/// A tile of A as dot_scaled takes it; bf16 is quantised by the even rule.
inline MxTile load_quantized(const View2D<const bf16> &a, const Position2D &at, const TileSize &size) {
  return quantize(a.load(at, size), e2m1);
}
inline MxTile load_quantized(const MxView2D<const u8> &a, const Position2D &at, const TileSize &size) {
  return a.load(at, size);
}

/// The iterations of a program over its part of K: `for (Int k0 : steps)`, each steps.size() long.
class KSteps {
public:
  /// Of all K. Up to `unroll` iterations of a constant K are written out.
  KSteps(const Int &k, int size, LoopOptions options) : KSteps({}, 0, k, size, options) {}
  /// From `offset` + `first` to `offset` + `last`.
  KSteps(const std::optional<Int> &offset, const Int &first, const Int &last, int size, LoopOptions options)
      : offset_(offset), first_(first), last_(last), size_(size), options_(options) {}

  int size() const { return size_; }

  class Loop {
  public:
    explicit Loop(const KSteps &steps)
        : offset_(steps.offset_), range_(range(steps.first_, steps.last_, steps.size_, steps.options_)),
          at_(range_.begin()) {}
    Int operator*() const { return offset_ ? *offset_ + *at_ : *at_; }
    Loop &operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(std::default_sentinel_t) const { return at_ != nereid::detail::LoopRange<i32>::End(); }

  private:
    std::optional<Int> offset_;
    nereid::detail::LoopRange<i32> range_;
    nereid::detail::LoopRange<i32>::Iterator at_;
  };

  Loop begin() const { return Loop(*this); }
  std::default_sentinel_t end() const { return {}; }

private:
  std::optional<Int> offset_;
  Int first_, last_;
  int size_;
  LoopOptions options_;
};

/// Up to so many iterations of a constant K are written out.
inline constexpr int max_unrolled_iterations = 4;

/// Iterations that every program makes, where K is a constant and these are few; else 0.
inline int unrolled_iterations(const TileConfig &tile, const ShapeFacts &shape, int split_k) {
  const int iterations = (shape.constant_k + tile.block_k - 1) / tile.block_k;
  const bool unrolled = iterations % split_k == 0 && iterations / split_k <= max_unrolled_iterations;
  return unrolled ? iterations / split_k : 0;
}

/// K of an iteration. One wide iteration in place of several lets the waves share K. It must fit: 64 values
/// of A a lane.
inline int iteration_k(const TileConfig &tile, const ShapeFacts &shape, int split_k) {
  const int iterations = unrolled_iterations(tile, shape, split_k);
  const bool is_power_of_two = iterations > 0 && (iterations & (iterations - 1)) == 0;
  const bool wide =
      shape.even_k && is_power_of_two && tile.block_m * iterations * tile.block_k <= 64 * 64 * tile.waves;
  return wide ? iterations * tile.block_k : tile.block_k;
}

/// Part number `split` of split_k of K.
inline KSteps k_steps(const TileConfig &tile, const ShapeFacts &shape, const Int &k, int split_k = 1,
                      const Int &split = 0) {
  const int size = iteration_k(tile, shape, split_k), unrolled = unrolled_iterations(tile, shape, split_k);
  const LoopOptions options{.stages = tile.stages, .unroll = max_unrolled_iterations};
  if (split_k == 1)
    return {k, size, options};
  if (unrolled > 0)
    return {split * (unrolled * tile.block_k), 0, unrolled * tile.block_k, size, options};
  assume(split < split_k);
  const Int iterations = cdiv(cdiv(k, size), split_k);
  const Int begin = split * iterations * size;
  return {{}, begin, min(begin + iterations * size, k), size, options};
}

/// The tile of A B at a row of A and a column of C, f32 [block_m, block_n]: the sum over the steps. A is
/// bf16 or quantised.
template <class AView>
Tile<f32> multiply(const TileConfig &tile, const AView &a, const MxView2D<const u8> &b, const Position2D &at,
                   const KSteps &steps) {
  Var sum = zeros<f32>({tile.block_m, tile.block_n});
  for (Int k0 : steps) {
    const MxTile x = load_quantized(a, {at.row, k0}, {tile.block_m, steps.size()});
    const MxTile y = b.load({at.column, k0}, {tile.block_n, steps.size()});
    sum += dot_scaled(x, y.transposed());
  }
  return sum;
}

} // namespace nereid::kernels
