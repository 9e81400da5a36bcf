#pragma once

#include "kernels/gemm_config.h"
#include "kernels/mx_tiles.h"

/// Parts of the products: the loop over K, and the program's tile of the result.
namespace nereid::kernels {

/// Rounds up to which a loop over a constant K is written out.
inline constexpr int64_t straight_line_rounds = 4;

/// Where a program's tile of C stands.
struct OutputPlace {
  Int first_row;
  Int first_column;
  Int split; ///< which part of K
  Int m;     ///< rows there are
  Int n;     ///< columns there are

  Long first_of_row() const { return first_row.to<i64>() * n.to<i64>(); }
};

/// Offsets of a tile from its first row, and which of them are in [m, n].
struct OutputTile {
  Tile<i32> offsets;
  Tile<i1> exists;
};

inline OutputTile tile_of(const GemmConfig &config, const OutputPlace &output) {
  const Tile<i32> row = col(arange(0, config.block_m));
  const Tile<i32> column = output.first_column + nereid::row(arange(0, config.block_n));
  return {row * output.n + column, (output.first_row + row < output.m) & (column < output.n)};
}

/// Calls add_round(Int first_k, int64_t round_k) for each round of the program's part of K: where it begins
/// and how long it is. K is config.constant_k where that is given.
template <class AddRound>
void for_each_round(const GemmConfig &config, const OutputPlace &output, const Int &k,
                    const AddRound &add_round) {
  assume_columns(k);
  const int64_t constant_rounds = (config.constant_k + config.block_k - 1) / config.block_k;
  const bool straight_line = config.constant_k > 0 && constant_rounds % config.split_k == 0 &&
                             constant_rounds / config.split_k <= straight_line_rounds;
  if (straight_line) {
    const int rounds = static_cast<int>(constant_rounds) / config.split_k;
    // One wide round lets the waves share K. It must fit: 64 values of A a lane.
    const bool wide = config.whole_k != 0 && (rounds & (rounds - 1)) == 0 &&
                      config.block_m * rounds * config.block_k <= 64 * 64 * config.waves;
    const int steps = wide ? 1 : rounds;
    const int step_k = rounds / steps * config.block_k;
    for (int i = 0; i < steps; ++i)
      add_round(config.split_k == 1 ? Int(i * step_k) : (output.split * steps + i) * step_k, step_k);
  } else if (config.split_k == 1) {
    for (Int first_k : range(0, k, config.block_k, {.stages = config.stages}))
      add_round(first_k, config.block_k);
  } else {
    assume(output.split < config.split_k);
    const Int split_rounds = cdiv(cdiv(k, config.block_k), config.split_k);
    const Int begin = output.split * split_rounds * config.block_k;
    const Int end = min(begin + split_rounds * config.block_k, k);
    for (Int first_k : range(begin, end, config.block_k, {.stages = config.stages}))
      add_round(first_k, config.block_k);
  }
}

/// K as the kernel sees it.
inline Int known_k(const GemmConfig &config, const Int &runtime_k) {
  return config.constant_k > 0 ? Int(config.constant_k) : Int(runtime_k);
}

/// Where A's and B's tiles of a round stand.
inline TilePlace place_of_a(const GemmConfig &config, const OutputPlace &output, const Int &first_k,
                            const Int &k) {
  return {output.first_row, output.m, config.whole_m != 0, first_k, k, config.whole_k != 0};
}
inline TilePlace place_of_b(const GemmConfig &config, const OutputPlace &output, const Int &first_k,
                            const Int &k) {
  return {output.first_column, output.n, config.whole_n != 0, first_k, k, config.whole_k != 0};
}

/// A's tile times the shuffled B at `place`, f32 [block_m, block_n].
inline Tile<f32> times_shuffled_b(const GemmConfig &config, const Quantized &a, const Ptr<const u8> &b,
                                  const Ptr<const u8> &b_scales, const TilePlace &place, int64_t round_k) {
  const Tile<u8> codes = load_shuffled_b(b, place, config.block_n, round_k);
  const Tile<u8> scales = load_shuffled_scales(b_scales, place, config.block_n, round_k);
  return dot_scaled(a.codes, a.scales, e2m1, codes, scales, e2m1);
}

/// The program's part of A times shuffled B, f32 [block_m, block_n]. load_a gives a Quantized from a
/// TilePlace.
template <class LoadA>
Tile<f32> multiply(const GemmConfig &config, const OutputPlace &output, const LoadA &load_a,
                   const Ptr<const u8> &b, const Ptr<const u8> &b_scales, const Int &runtime_k) {
  const Int k = known_k(config, runtime_k);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  for_each_round(config, output, k, [&](const Int &first_k, int64_t round_k) {
    const Quantized a = load_a(place_of_a(config, output, first_k, k), round_k);
    sum += times_shuffled_b(config, a, b, b_scales, place_of_b(config, output, first_k, k), round_k);
  });
  return sum;
}

/// Loads bf16 A and quantises it (even rule): a load_a for multiply.
inline auto quantized_rows(const GemmConfig &config, const Ptr<const bf16> &a) {
  return [config, a](const TilePlace &place, int64_t round_k) {
    return quantize(load_rows(a, place, config.block_m, round_k), e2m1, ScaleRule::Even);
  };
}

} // namespace nereid::kernels
