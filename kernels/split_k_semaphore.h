#pragma once

#include "kernels/gemm_tile.h"

namespace nereid::kernels {

/// Up to so many slices the loop over them is written out: all their loads may be in flight at once.
inline constexpr int max_unrolled_slices = 16;

/// The tile at a position of f32 [rows, columns], added up over `count` slices of that in their order.
inline Tile<f32> sum_of_slices(const View2D<const f32> &slices, int count, const Position2D &at,
                               const TileSize &size) {
  Var sum = slices.load(at, size);
  for (Int slice : range(1, count, {.unroll = max_unrolled_slices - 1}))
    sum += slices.matrix(slice).load(at, size);
  return sum;
}

/// The split-K semaphore: the sum over the programs that share a tile, computed by the one that arrives last,
/// in the order of the splits, so that the result does not depend on which that is. Program `split` of
/// `split_k` stores its part to its slice of f32 `slices` [split_k, m, n] and counts itself in *arrivals,
/// which is zero before the launch and zero again after it. use(Tile<f32>) is called, once in the trace, with
/// the whole sum.
template <class Use>
void with_sum_of_splits(const View2D<f32> &slices, const Ptr<i32> &arrivals, const Int &split, int split_k,
                        const Position2D &at, const Tile<f32> &part, const Use &use) {
  slices.matrix(split).store(at, part);
  const Int before = atomic_add(arrivals, 1, Order::AcqRel, Scope::Device);
  when(before == split_k - 1, [&] {
    use(sum_of_slices(slices, split_k, at, {part.size(0), part.size(1)}));
    store(arrivals, 0);
  });
}

} // namespace nereid::kernels
