#pragma once

#include "kernels/library_kernel.h"
#include "kernels/producer_input.h"
#include "kernels/specialize.h"

namespace nereid::kernels {

/// The choices of rmsnorm_quant at compile time.
struct RmsNormQuantConfig {
  int block_m = 1;
  int width = 4096; ///< columns that a program holds: a whole row and what rounds it up
  int waves = 4;
  int waves_per_eu = 0;
  InputSource source = InputSource::Bf16;
  int split_k = 1;      ///< slices, of source=slices
  bool residual = true; ///< a residual is added before, and the sum is stored
  QuantRule rule = QuantRule::Even;
  bool shuffled = false; ///< scales at shuffled offsets, in a buffer prefilled with 127

  NEREID_CONFIG(RmsNormQuantConfig, block_m, width, waves, waves_per_eu, source, split_k, residual, rule,
                shuffled)
};

/// Memory of rmsnorm_quant.
struct RmsNormQuantOperands {
  DeviceMemory x;        ///< bf16 [m, k]; of source=slices f32 [split_k, m, k]
  DeviceMemory residual; ///< bf16 [m, k], where the config has one
  DeviceMemory weight;   ///< bf16 [k]
  DeviceMemory codes;    ///< out: u8 [m, k/2]
  DeviceMemory scales;   ///< out: u8 [m, k/32], or shuffled in memory prefilled with 127
  DeviceMemory sum; ///< out, where there is a residual: bf16 [m, k], x + residual; may be what residual is
  float epsilon = 1e-6F;
};

/// r = x + residual and y = r w / sqrt(mean(r^2) + epsilon) in f32, y as MXFP4, r in bf16. Where the sum of a
/// row's squares exceeds f32, y is r * 0. k is a multiple of 32 and at most `width`. Programs: (m in blocks).
extern const LibraryKernel<RmsNormQuantConfig, RmsNormQuantOperands> rmsnorm_quant_kernel;

} // namespace nereid::kernels
