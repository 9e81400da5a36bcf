#pragma once

#include "kernels/gemm_tile.h"

namespace nereid::kernels {

/// The sum over the programs that share a tile, made by the one that arrives last, in the order of the
/// splits: the result does not depend on which that is. Each program stores its part to its slice of f32
/// `slices` [split_k, m, n] and counts itself in arrivals[tile], one i32 a tile of the output, zero before
/// the launch and zero again after it. use(Tile<f32>) is called, once in the trace, with the whole sum.
template <class Use>
void with_sum_of_splits(const GemmConfig &config, const OutputPlace &output, const Ptr<f32> &slices,
                        const Ptr<i32> &arrivals, const Int &tile_number, const Tile<f32> &part,
                        const Use &use) {
  const OutputTile tile = tile_of(config, output);
  const Long slice_size = output.m.to<i64>() * output.n.to<i64>();
  const Ptr<f32> first = slices + output.first_of_row();
  store(first + output.split.to<i64>() * slice_size + tile.offsets, part, tile.exists);
  const Int before = atomic_add(arrivals + tile_number, 1, Order::AcqRel, Scope::Device);
  when(before == config.split_k - 1, [&] {
    Var sum = load(first + tile.offsets, tile.exists);
    const auto add_slice = [&](const Long &split) {
      sum += load(first + slice_size * split + tile.offsets, tile.exists);
    };
    constexpr int written_out = 16;
    if (config.split_k <= written_out)
      for (int split = 1; split < config.split_k; ++split)
        add_slice(Long(split));
    else
      for (Int split : range(1, config.split_k))
        add_slice(split.to<i64>());
    use(sum.get());
    store(arrivals + tile_number, 0);
  });
}

} // namespace nereid::kernels
