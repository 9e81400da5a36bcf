#pragma once

#include "dsl/dsl.h"

namespace nereid::kernels {

/// What splitk_reduce is traced with.
struct ReduceConfig {
  int block_m = 16;
  int block_n = 128;
  int split_k = 8;
  int waves = 4;
  int stages = 1;
  int mfma = 16;
  int waves_per_eu = 0;
  int scaled_output = 0; ///< 1 multiplies by alpha, 2 also adds beta times C

  NEREID_CONFIG(ReduceConfig, block_m, block_n, split_k, waves, stages, mfma, waves_per_eu, scaled_output)
};

/// D = alpha (sum of the slices of f32 [split_k, m, n], in order) + beta C, as bf16 [m, n]; alpha and beta as
/// config.scaled_output says; C may be what D is. Programs: (n in blocks, m in blocks).
void splitk_reduce(const ReduceConfig &config, Ptr<const f32> slices, Ptr<const bf16> c, Ptr<bf16> out, Int m,
                   Int n, Float alpha, Float beta);

/// What zero_f32 is traced with.
struct ZeroConfig {
  int block = 4096;
  int waves = 4;

  NEREID_CONFIG(ZeroConfig, block, waves)
};

/// Sets `count` elements to 0: the memset of a stream. Programs: count in blocks.
void zero_f32(const ZeroConfig &config, Ptr<f32> out, Long count);

} // namespace nereid::kernels
