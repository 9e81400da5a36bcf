// mxfp4_quant: bf16 to MXFP4, by integer arithmetic or by the language's quantize.
#include "kernels/mxfp4_quant.h"

#include <algorithm>
#include <bit>

#include "kernels/config_checks.h"
#include "kernels/problem_arguments.h"

namespace nereid::kernels {
namespace {

/// e2m1 magnitudes (0 to 7) of |x| from the bits of f32 values of any sign: nearest, ties to even, at most 6;
/// NaN gives 7.
Tile<u32> e2m1_magnitude(const Tile<u32> &bits) {
  const Tile<u32> magnitude = min(bits & 0x7fffffffU, 0x40c00000U); // 6.0
  // From 1 up a code is exponent and one mantissa bit: add half a unit less one, and one more where it is
  // odd.
  const Tile<u32> normal = ((magnitude + 0x1fffffU + ((magnitude >> 22) & 1U)) >> 22) - 252U;
  // Below 1 codes are multiples of one half, which is the unit in the last place of 2^22.
  const Tile<u32> small = bitcast<u32>(bitcast<f32>(magnitude) + 4194304.0F) & 7U;
  return where(magnitude < 0x3f800000U, small, normal);
}

MxTile quantize_by_integers(const Tile<bf16> &x) {
  const int64_t rows = x.size(0);
  const int64_t columns = x.size(1);
  const Tile<u16> bits = reshape(bitcast<u16>(x), {rows, columns / 32, 32});
  const Tile<u32> largest = max(bits & 0x7fff, axis(2)).to<u32>() << 16;
  // The exponent field after rounding a mantissa of 1.75 and more up; 253 and 254 only arise from Inf and NaN
  // or from magnitudes that count as infinite.
  const Tile<u32> exponent = (largest + 0x200000U) >> 23;
  const Tile<u32> byte = where(exponent < 2U, 0U, exponent - 2U);
  const Tile<u32> scale = where(byte >= 253U, 254U, byte);
  // 2^(127 - scale); for 254 that is half the smallest normal number.
  const Tile<u32> factor_bits = where(scale == 254U, 0x400000U, (254U - scale) << 23);
  const Tile<f32> factor = expand_dims(bitcast<f32>(factor_bits), 2);
  const Tile<f32> scaled = bitcast<f32>(bits.to<u32>() << 16) * factor;
  // The sign comes from x: a NaN's does not survive the product.
  const Tile<u32> sign = (bits.to<u32>() >> 12) & 8U;
  const Tile<u8> code = (e2m1_magnitude(bitcast<u32>(scaled)) | sign).to<u8>();
  const auto [even, odd] = split(reshape(code, {rows, columns / 2, 2}));
  return {even | (odd << 4), scale.to<u8>(), e2m1};
}

MxTile quantize_tile(const QuantConfig &config, const Tile<bf16> &x) {
  if (config.path == QuantPath::Software)
    return quantize_by_integers(x);
  return quantize(x, e2m1, ScaleRule::Even);
}

void mxfp4_quant(const Specialized<QuantConfig> &specialized, Ptr<const bf16> x, Ptr<u8> codes,
                 Ptr<u8> scales, Int m, Int k) {
  const auto &[config, shape, scaling] = specialized;
  const Position2D at{program_id(1) * config.block_m, program_id(0) * config.block_k};
  const View2D from(x, {m, k}, {.even_rows = shape.even_m, .even_columns = shape.even_k});
  const MxView2D to(codes, scales, {m, k},
                    {.scales = config.shuffled ? MxOrder::Shuffled : MxOrder::RowMajor,
                     .even_rows = shape.even_m,
                     .even_k = shape.even_k});
  to.store(at, quantize_tile(config, from.load(at, {config.block_m, config.block_k})));
}

QuantConfig quant_defaults(const Partial<QuantConfig> &given, const MaybeSize &size) {
  QuantConfig config = config_merge(QuantConfig{.block_m = size && size->m <= 16 ? 16 : 32}, given);
  // A wave quantises 8192 values at a time.
  const auto waves = static_cast<int>(std::bit_floor(config.block_m * config.block_k / 8192U));
  config.waves = given.waves.value_or(std::clamp(waves, 1, 4));
  return config;
}

Status check_quant(std::string_view kernel, const QuantConfig &config, const MaybeSize &size) {
  static constexpr Key<QuantConfig> keys[] = {
      {"block_m", &QuantConfig::block_m}, {"block_k", &QuantConfig::block_k}, {"waves", &QuantConfig::waves}};
  NEREID_CHECK(check_rows(kernel, config.block_m, size));
  return with_nearest<QuantConfig>(config, keys, [&](const QuantConfig &tried) -> Status {
    const KeyValue m{"block_m", tried.block_m}, k{"block_k", tried.block_k};
    const KeyValue values[] = {m, k, {"waves", tried.waves}};
    NEREID_CHECK(check_values(kernel, values));
    return check_elements(kernel, m, k, tried.waves, 512);
  });
}

Grid quant_grid(const QuantConfig &config, const ProblemSize &size, const QuantOperands &) {
  return {programs(size.k, config.block_k), programs(size.m, config.block_m)};
}

BoundKernel bind_quant(std::string_view name, const QuantConfig &config, const MaybeSize &size,
                       const QuantOperands &operands) {
  const ProblemArguments problem(size);
  const Specialized<QuantConfig> specialized{config,
                                             {.even_m = is_even(size, &ProblemSize::m, config.block_m),
                                              .even_k = is_even(size, &ProblemSize::k, config.block_k)}};
  return bind_kernel<mxfp4_quant>(
      name, specialized, problem.bf16_a("x", operands.x), problem.codes_a<u8>("codes", operands.codes),
      problem.a_scales<u8>("scales", operands.scales, config.shuffled), problem.m(), problem.k());
}

} // namespace

constinit const LibraryKernel<QuantConfig, QuantOperands> quant_kernel{
    .name = "mxfp4_quant",
    .summary = "bf16 to packed e2m1 and e8m0 scales, plain or shuffled",
    .rule = quantized_rule,
    .defaults = quant_defaults,
    .check = check_quant,
    .grid = quant_grid,
    .grid_terms = {{{"k", "block_k"}, {"m", "block_m"}, {}}},
    .bind = bind_quant,
};

} // namespace nereid::kernels
