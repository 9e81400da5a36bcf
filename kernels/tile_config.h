#pragma once

#include "dsl/dsl.h"

namespace nereid::kernels {

/// The part of their configs that all products share.
struct TileConfig {
  int block_m = 16;  ///< rows of A and C of a program
  int block_n = 64;  ///< columns of C of a program
  int block_k = 256; ///< K of an iteration of a program's loop
  int waves = 4;
  int stages = 2;
  int mfma = 16;
  int waves_per_eu = 0;
  bool const_k = false; ///< K of the shape is a constant of the code
  WaveSplit wave_split = WaveSplit::Auto;

  NEREID_CONFIG(TileConfig, block_m, block_n, block_k, waves, stages, mfma, waves_per_eu, const_k, wave_split)
};

} // namespace nereid::kernels
