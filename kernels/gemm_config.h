#pragma once

#include "dsl/dsl.h"
#include "kernels/config.h"

namespace nereid::kernels {

/// What the GEMM kernels are traced with. The fields after wave_split are what the library derives from the
/// problem; 0 is always right.
struct GemmConfig {
  int block_m = 16;
  int block_n = 32;
  int block_k = 256;
  int split_k = 1;
  int waves = 4;
  int stages = 2;
  int mfma = 16;
  int waves_per_eu = 0;
  Reduce reduce = Reduce::None;
  WaveSplit wave_split = WaveSplit::Auto;
  int constant_k = 0;    ///< K where it is a constant of the code, else 0
  int whole_m = 0;       ///< 1: M is a multiple of block_m
  int whole_n = 0;       ///< 1: N is a multiple of block_n
  int whole_k = 0;       ///< 1: K is a multiple of block_k
  int scaled_output = 0; ///< mxfp4_gemm: 1 multiplies by alpha, 2 also adds beta times C

  NEREID_CONFIG(GemmConfig, block_m, block_n, block_k, split_k, waves, stages, mfma, waves_per_eu, reduce,
                wave_split, constant_k, whole_m, whole_n, whole_k, scaled_output)
};

} // namespace nereid::kernels
