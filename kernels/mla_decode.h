#pragma once

#include "kernels/library_kernel.h"

namespace nereid::kernels {

/// Elements of a row of the cache of multi-head latent attention: the latent part, which also is the value,
/// and the rotated part of the key (DeepSeek-V2, 2024).
inline constexpr int mla_latent = 512, mla_rotary = 64, mla_row = mla_latent + mla_rotary;

/// The choices of mla_decode and mla_combine at compile time.
struct MlaDecodeConfig {
  int block_m = 64; ///< heads of a program, 16 a wave
  int block_n = 64; ///< keys of an iteration
  int split_k = 1;  ///< parts of a sequence's keys; above 1 mla_combine puts them together
  int waves = 4;
  int stages = 2;
  int waves_per_eu = 0;

  NEREID_CONFIG(MlaDecodeConfig, block_m, block_n, split_k, waves, stages, waves_per_eu)
};

/// Memory of mla_decode and mla_combine, row-major.
struct MlaDecodeOperands {
  DeviceMemory q;       ///< bf16 [m, heads, mla_row]
  DeviceMemory cache;   ///< bf16 [m, n, mla_row]: of each sequence room for n keys
  DeviceMemory lengths; ///< i32 [m]: the keys that there are, 0 to n
  DeviceMemory out;     ///< bf16 [m, heads, mla_latent]; zeros for a sequence without keys
  DeviceMemory parts;   ///< f32 [split_k, m, heads, mla_latent], where split_k > 1
  DeviceMemory sums;    ///< f32 [split_k, m, heads], where split_k > 1: log2 of the sum of exp(score)
  int64_t heads = 1;    ///< at most 1024
  float scale = 1;      ///< of the scores, 1e-6 to 1000
};

/// One query of each of m sequences, all of whose heads share keys and values. With split_k of 1 the output,
/// else parts and sums. Programs: (heads in blocks, split_k, m).
extern const LibraryKernel<MlaDecodeConfig, MlaDecodeOperands> mla_decode_kernel;

/// The output from parts and sums. Programs: (heads, m).
extern const LibraryKernel<MlaDecodeConfig, MlaDecodeOperands> mla_combine_kernel;

} // namespace nereid::kernels
