#include "kernels/mxfp4_quant.h"

#include "kernels/mx_tiles.h"

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

Quantized quantize_by_integers(const Tile<bf16> &x) {
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
  return {even | (odd << 4), scale.to<u8>()};
}

Quantized quantize_tile(const QuantConfig &config, const Tile<bf16> &x) {
  if (config.path == QuantPath::Software)
    return quantize_by_integers(x);
  return quantize(x, e2m1, ScaleRule::Even);
}

} // namespace

void mxfp4_quant(const QuantConfig &config, Ptr<const bf16> x, Ptr<u8> codes, Ptr<u8> scales, Int m, Int k) {
  assume_rows(m);
  assume_columns(k);
  const Int first_k = program_id(0) * config.block_k;
  const Int first_row = program_id(1) * config.block_m;
  const TilePlace place{first_row, m, config.whole_m != 0, first_k, k, config.whole_k != 0};
  const Quantized result = quantize_tile(config, load_rows(x, place, config.block_m, config.block_k));

  store_bytes(codes, place, result.codes, 1);
  if (config.shuffled != 0)
    store_shuffled_scales(scales, place, result.scales);
  else
    store_bytes(scales, place, result.scales, 5);
}

} // namespace nereid::kernels
