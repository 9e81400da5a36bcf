#include "kernels/mxfp4_grouped_gemm.h"

#include "kernels/epilogues.h"
#include "kernels/gemm_tile.h"

namespace nereid::kernels {

GemmConfig GroupedConfig::gemm() const {
  GemmConfig config;
  config.block_m = block_m;
  config.block_n = block_n;
  config.block_k = block_k;
  config.waves = waves;
  config.stages = stages;
  config.constant_k = constant_k;
  config.whole_m = whole_m;
  config.whole_n = whole_n;
  config.whole_k = whole_k;
  return config;
}

namespace {

/// B number `number` of several, and its scales.
struct Weights {
  Ptr<const u8> codes;
  Ptr<const u8> scales;
};

Weights weights_of(const Ptr<const u8> &b, const Ptr<const u8> &b_scales, const Int &number, const Int &n,
                   const Int &k) {
  const Long code_bytes = n.to<i64>() * (k >> 1).to<i64>();
  const Long scale_bytes = (((n + 255) >> 8) << 8).to<i64>() * (((k + 255) >> 8) << 3).to<i64>();
  return {b + number.to<i64>() * code_bytes, b_scales + number.to<i64>() * scale_bytes};
}

void store_product(const GemmConfig &config, const OutputPlace &output, const Ptr<const bf16> &a,
                   const Weights &weights, const Ptr<bf16> &out, const Int &k) {
  assume_rows(output.m);
  assume_columns(output.n);
  store_bf16(config, output, out,
             multiply(config, output, quantized_rows(config, a), weights.codes, weights.scales, k));
}

/// A program's block of rows: whose rows they are, the first, and the end of that expert's.
struct RowBlock {
  Tile<i1> exists; ///< a scalar
  Int expert;
  Int first_row;
  Int end_row;
};

/// Experts' blocks one after another; each program finds its own by counting the experts that end before it.
RowBlock row_block(const GroupedConfig &config, const Ptr<const i32> &ends, const Int &experts) {
  const Int number = program_id(1);
  const Tile<i32> e = arange(0, config.experts);
  const Tile<i1> is_expert = e < experts;
  const Tile<i32> end = load(ends + e, is_expert);
  const Tile<i32> begin = load(ends + (e - 1), is_expert & (e > 0));
  const Tile<i32> block_count = (end - begin + (config.block_m - 1)) / config.block_m;
  const Tile<i32> block_end = cumsum(block_count, 0);
  const Tile<i1> earlier = block_end <= number;
  const Int expert = sum(earlier.to<i32>(), 0);
  const Int first_block = sum(where(earlier, block_count, 0), 0);
  const Tile<i1> mine = e == expert;
  const Int first_row = sum(where(mine, begin, 0), 0) + (number - first_block) * config.block_m;
  return {expert < config.experts, expert, first_row, sum(where(mine, end, 0), 0)};
}

} // namespace

void mxfp4_batched_gemm(const GroupedConfig &config, Ptr<const bf16> a, Ptr<const u8> b,
                        Ptr<const u8> b_scales, Ptr<bf16> out, Int m, Int n, Int k) {
  const GemmConfig gemm = config.gemm();
  const Int number = program_id(2);
  const OutputPlace output{program_id(1) * config.block_m, program_id(0) * config.block_n, 0, m, n};
  const Long rows = number.to<i64>() * m.to<i64>();
  store_product(gemm, output, a + rows * k.to<i64>(), weights_of(b, b_scales, number, n, k),
                out + rows * n.to<i64>(), k);
}

void mxfp4_grouped_gemm(const GroupedConfig &config, Ptr<const bf16> a, Ptr<const i32> ends, Ptr<const u8> b,
                        Ptr<const u8> b_scales, Ptr<bf16> out, Int experts, Int n, Int k) {
  const RowBlock block = row_block(config, ends, experts);
  when(block.exists, [&] {
    const OutputPlace output{block.first_row, program_id(0) * config.block_n, 0, block.end_row, n};
    store_product(config.gemm(), output, a, weights_of(b, b_scales, block.expert, n, k), out, k);
  });
}

} // namespace nereid::kernels
