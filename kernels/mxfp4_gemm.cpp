#include "kernels/mxfp4_gemm.h"

#include <type_traits>

#include "kernels/gemm_tile.h"
#include "kernels/last_arrival.h"

namespace nereid::kernels {
namespace {

OutputPlace output_of(const GemmConfig &config, const Int &m, const Int &n) {
  assume_rows(m);
  assume_columns(n);
  return {program_id(2) * config.block_m, program_id(0) * config.block_n, program_id(1), m, n};
}

/// Where programs of one tile count themselves.
Int tile_number() { return program_id(2) * num_programs(0) + program_id(0); }

template <class Out>
void store_sum(const GemmConfig &config, const OutputPlace &output, const Ptr<Out> &out,
               const Tile<f32> &sum) {
  const OutputTile tile = tile_of(config, output);
  const Ptr<Out> first = out + output.first_of_row();
  if constexpr (std::is_same_v<Out, bf16>) {
    store(first + tile.offsets, sum.template to<bf16>(), tile.exists);
  } else if (config.reduce == Reduce::Atomic) {
    atomic_add(first + tile.offsets, sum, tile.exists, Order::Relaxed);
  } else {
    const Long slice = output.split.to<i64>() * output.m.to<i64>() * output.n.to<i64>();
    store(first + slice + tile.offsets, sum, tile.exists);
  }
}

/// Quantised A from memory: a load_a for multiply.
auto loaded_codes(const GemmConfig &config, const Ptr<const u8> &a, const Ptr<const u8> &a_scales) {
  return [config, a, a_scales](const TilePlace &place, int64_t round_k) {
    return Quantized{load_codes(a, place, config.block_m, round_k),
                     load_shuffled_scales(a_scales, place, config.block_m, round_k)};
  };
}

/// alpha sum + beta C, as far as config.scaled_output says.
Tile<f32> scaled(const GemmConfig &config, const OutputPlace &output, const Tile<f32> &sum,
                 const Ptr<const bf16> &c, const Float &alpha, const Float &beta) {
  Var result = sum;
  if (config.scaled_output >= 1)
    result *= alpha;
  if (config.scaled_output >= 2) {
    const OutputTile tile = tile_of(config, output);
    result += beta * load(c + output.first_of_row() + tile.offsets, tile.exists).to<f32>();
  }
  return result;
}

} // namespace

template <class Out>
void mxfp4_gemm_fused(const GemmConfig &config, Ptr<const bf16> a, Ptr<const u8> b, Ptr<const u8> b_scales,
                      Ptr<Out> out, Int m, Int n, Int k) {
  const OutputPlace output = output_of(config, m, n);
  store_sum(config, output, out, multiply(config, output, quantized_rows(config, a), b, b_scales, k));
}

template <class Out>
void mxfp4_gemm(const GemmConfig &config, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
                Ptr<const u8> b_scales, Ptr<const bf16> c, Ptr<Out> out, Int m, Int n, Int k, Float alpha,
                Float beta) {
  const OutputPlace output = output_of(config, m, n);
  const Tile<f32> sum = multiply(config, output, loaded_codes(config, a, a_scales), b, b_scales, k);
  store_sum(config, output, out, scaled(config, output, sum, c, alpha, beta));
}

void mxfp4_gemm_fused_last(const GemmConfig &config, Ptr<const bf16> a, Ptr<const u8> b,
                           Ptr<const u8> b_scales, Ptr<f32> slices, Ptr<i32> arrivals, Ptr<bf16> out, Int m,
                           Int n, Int k) {
  const OutputPlace output = output_of(config, m, n);
  const Tile<f32> part = multiply(config, output, quantized_rows(config, a), b, b_scales, k);
  with_sum_of_splits(config, output, slices, arrivals, tile_number(), part,
                     [&](const Tile<f32> &sum) { store_sum(config, output, out, sum); });
}

void mxfp4_gemm_last(const GemmConfig &config, Ptr<const u8> a, Ptr<const u8> a_scales, Ptr<const u8> b,
                     Ptr<const u8> b_scales, Ptr<const bf16> c, Ptr<f32> slices, Ptr<i32> arrivals,
                     Ptr<bf16> out, Int m, Int n, Int k, Float alpha, Float beta) {
  const OutputPlace output = output_of(config, m, n);
  const Tile<f32> part = multiply(config, output, loaded_codes(config, a, a_scales), b, b_scales, k);
  with_sum_of_splits(config, output, slices, arrivals, tile_number(), part, [&](const Tile<f32> &sum) {
    store_sum(config, output, out, scaled(config, output, sum, c, alpha, beta));
  });
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
