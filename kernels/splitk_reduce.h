#pragma once

#include "kernels/library_kernel.h"
#include "kernels/specialize.h"

namespace nereid::kernels {

/// How slices are summed: a program's block of the result, and the keys that every kernel has.
struct ReduceConfig {
  int block_m = 16;
  int block_n = 128;
  int split_k = 8;
  int waves = 4;
  int stages = 1;
  int mfma = 16;
  int waves_per_eu = 0;

  NEREID_CONFIG(ReduceConfig, block_m, block_n, split_k, waves, stages, mfma, waves_per_eu)
};

/// Operands of the sum, in device memory.
struct ReduceOperands {
  DeviceMemory slices; ///< f32 [split_k, m, n]
  DeviceMemory out;    ///< bf16 [m, n]
  Epilogue epilogue = {};
};

/// D = alpha (sum of the slices, in order) + beta C; C may be what D is. Programs: (n in blocks, m in
/// blocks).
extern const LibraryKernel<ReduceConfig, ReduceOperands> reduce_kernel;

/// Zeroes f32 elements, in the order of the stream.
Result<LaunchRecord> launch_zero(const LaunchTarget &target, DeviceMemory out, int64_t count);

} // namespace nereid::kernels
