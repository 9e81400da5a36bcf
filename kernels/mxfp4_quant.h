#pragma once

#include "dsl/dsl.h"
#include "kernels/config.h"

namespace nereid::kernels {

/// What mxfp4_quant is traced with.
struct QuantConfig {
  int block_m = 32;
  int block_k = 256;
  int waves = 1;
  int stages = 1;
  int mfma = 16;
  int waves_per_eu = 0;
  int shuffled = 0; ///< 1: scales at shuffled offsets, in a buffer prefilled with 127
  QuantPath path = QuantPath::Hardware;
  int whole_m = 0; ///< 1: M is a multiple of block_m
  int whole_k = 0; ///< 1: K is a multiple of block_k

  NEREID_CONFIG(QuantConfig, block_m, block_k, waves, stages, mfma, waves_per_eu, shuffled, path, whole_m,
                whole_k)
};

/// MXFP4 by the even rule (kernels/host/quantize.h): x bf16 [m, k] row-major to codes u8 [m, k/2] and scales
/// u8 [m, k/32], plain or shuffled. k is a multiple of 32. Programs: (k in blocks, m in blocks).
void mxfp4_quant(const QuantConfig &config, Ptr<const bf16> x, Ptr<u8> codes, Ptr<u8> scales, Int m, Int k);

} // namespace nereid::kernels
