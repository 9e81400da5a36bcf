#pragma once

#include "kernels/gemm_tile.h"

namespace nereid::kernels {

/// Up to so many slices the loop over them is written out: all their loads may be in flight at once.
inline constexpr int max_unrolled_slices = 16;

/// The split-K semaphore: the sum over the programs that share a tile, computed by the one that arrives last,
/// in the order of the splits, so that the result does not depend on which that is. Each program stores its
/// part to its slice of f32 `slices` [split_k, m, n] and counts itself in arrivals[tile_number], one i32 a
/// tile of the output, zero before the launch and zero again after it. use(Tile<f32>) is called, once in the
/// trace, with the whole sum.
template <class Use>
void with_sum_of_splits(const GemmTile &tile, const Ptr<f32> &slices, const Ptr<i32> &arrivals,
                        const Int &tile_number, const Tile<f32> &part, const Use &use) {
  const auto [offsets, in_bounds] = tile.elements();
  const Long slice_size = tile.m.to<i64>() * tile.n.to<i64>();
  const Ptr<f32> first = slices + tile.row_offset();
  store(first + tile.split.to<i64>() * slice_size + offsets, part, in_bounds);
  const Int before = atomic_add(arrivals + tile_number, 1, Order::AcqRel, Scope::Device);
  when(before == tile.split_k - 1, [&] {
    Var sum = load(first + offsets, in_bounds);
    for (Int split : range(1, tile.split_k, {.unroll = max_unrolled_slices - 1}))
      sum += load(first + slice_size * split.to<i64>() + offsets, in_bounds);
    use(sum.get());
    store(arrivals + tile_number, 0);
  });
}

} // namespace nereid::kernels
