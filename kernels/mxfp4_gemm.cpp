#include "kernels/mxfp4_gemm.h"

#include <type_traits>

#include "kernels/mx_tiles.h"

namespace nereid::kernels {
namespace {

/// Rounds up to which a loop over a constant K is written out.
constexpr int64_t straight_line_rounds = 4;

/// Where a program's tile of C stands.
struct Output {
  Int first_row;
  Int first_column;
  Int split;
  Int m;
  Int n;
};

Output output_of(const GemmConfig &config, const Int &m, const Int &n) {
  assume_rows(m);
  assume_columns(n);
  return {program_id(2) * config.block_m, program_id(0) * config.block_n, program_id(1), m, n};
}

/// The program's part of A times B, f32 [block_m, block_n]. load_a gives a Quantized from a TilePlace and
/// the round's length along K.
template <class LoadA>
Tile<f32> multiply(const GemmConfig &config, const Output &output, const LoadA &load_a,
                   const Ptr<const u8> &b, const Ptr<const u8> &b_scales, const Int &runtime_k) {
  const Int k = config.constant_k > 0 ? Int(config.constant_k) : Int(runtime_k);
  assume_columns(k);
  Var sum = zeros<f32>({config.block_m, config.block_n});
  const auto add_round = [&](const Int &first_k, int64_t round_k) {
    const bool whole_k = config.whole_k != 0;
    const TilePlace place_a{output.first_row, output.m, config.whole_m != 0, first_k, k, whole_k};
    const TilePlace place_b{output.first_column, output.n, config.whole_n != 0, first_k, k, whole_k};
    const Quantized a = load_a(place_a, round_k);
    const Tile<u8> b_codes = load_shuffled_b(b, place_b, config.block_n, round_k);
    const Tile<u8> b_scale = load_shuffled_scales(b_scales, place_b, config.block_n, round_k);
    sum += dot_scaled(a.codes, a.scales, e2m1, b_codes, b_scale, e2m1);
  };

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
  return sum;
}

/// Offsets of the program's tile from its first row, and which of them are in [m, n].
struct OutputTile {
  Tile<i32> offsets;
  Tile<i1> exists;
};

OutputTile tile_of(const GemmConfig &config, const Output &output) {
  const Tile<i32> row = col(arange(0, config.block_m));
  const Tile<i32> column = output.first_column + nereid::row(arange(0, config.block_n));
  return {row * output.n + column, (output.first_row + row < output.m) & (column < output.n)};
}

Long first_of_row(const Output &output) { return output.first_row.to<i64>() * output.n.to<i64>(); }

template <class Out>
void store_sum(const GemmConfig &config, const Output &output, const Ptr<Out> &out, const Tile<f32> &sum) {
  const OutputTile tile = tile_of(config, output);
  const Ptr<Out> first = out + first_of_row(output);
  if constexpr (std::is_same_v<Out, bf16>) {
    store(first + tile.offsets, sum.template to<bf16>(), tile.exists);
  } else if (config.reduce == Reduce::Atomic) {
    atomic_add(first + tile.offsets, sum, tile.exists, Order::Relaxed);
  } else {
    const Long slice = output.split.to<i64>() * output.m.to<i64>() * output.n.to<i64>();
    store(first + slice + tile.offsets, sum, tile.exists);
  }
}

} // namespace

template <class Out>
void mxfp4_gemm_fused(const GemmConfig &config, Ptr<const bf16> a, Ptr<const u8> b, Ptr<const u8> b_scales,
                      Ptr<Out> out, Int m, Int n, Int k) {
  const Output output = output_of(config, m, n);
  const auto load_a = [&](const TilePlace &place, int64_t round_k) {
    return quantize(load_rows(a, place, config.block_m, round_k), e2m1, ScaleRule::Even);
  };
  store_sum(config, output, out, multiply(config, output, load_a, b, b_scales, k));
}

template <class Out>
void mxfp4_gemm(const GemmConfig &config, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
                Ptr<const u8> b_scales, Ptr<const bf16> c, Ptr<Out> out, Int m, Int n, Int k, Float alpha,
                Float beta) {
  const Output output = output_of(config, m, n);
  const auto load_a = [&](const TilePlace &place, int64_t round_k) {
    return Quantized{load_codes(a, place, config.block_m, round_k),
                     load_shuffled_scales(a_scales, place, config.block_m, round_k)};
  };
  Var sum = multiply(config, output, load_a, b, b_scales, k);
  if (config.scaled_output >= 1)
    sum *= alpha;
  if (config.scaled_output >= 2) {
    const OutputTile tile = tile_of(config, output);
    sum += beta * load(c + first_of_row(output) + tile.offsets, tile.exists).to<f32>();
  }
  store_sum(config, output, out, sum.get());
}

template void mxfp4_gemm_fused<bf16>(const GemmConfig &, Ptr<const bf16>, Ptr<const u8>, Ptr<const u8>,
                                     Ptr<bf16>, Int, Int, Int);
template void mxfp4_gemm_fused<f32>(const GemmConfig &, Ptr<const bf16>, Ptr<const u8>, Ptr<const u8>,
                                    Ptr<f32>, Int, Int, Int);
template void mxfp4_gemm<bf16>(const GemmConfig &, Ptr<const u8>, Ptr<const u8>, Ptr<const u8>, Ptr<const u8>,
                               Ptr<const bf16>, Ptr<bf16>, Int, Int, Int, Float, Float);
template void mxfp4_gemm<f32>(const GemmConfig &, Ptr<const u8>, Ptr<const u8>, Ptr<const u8>, Ptr<const u8>,
                              Ptr<const bf16>, Ptr<f32>, Int, Int, Int, Float, Float);

} // namespace nereid::kernels
