#pragma once

#include <vector>

#include "base/result.h"
#include "jit/device/device.h"
#include "jit/device/launch.h"
#include "kernels/config.h"
#include "kernels/device_memory.h"
#include "kernels/specialize.h"

/// One checked launch of each library kernel on operands in device memory.
namespace nereid::kernels {

/// What a launch was: its config in library keys and what the device says of it.
struct LaunchRecord {
  ConfigValues config;
  LaunchInfo info;
};

/// Where launches go.
struct LaunchTarget {
  Stream stream;
  LaunchOptions options = {};
};

/// The epilogue D = alpha A B + beta C.
struct Epilogue {
  float alpha = 1;
  float beta = 0;
  DeviceMemory c = {}; ///< bf16 [m, n]; read only where beta is not 0

  Scaling scaling() const {
    return beta != 0 ? Scaling::AlphaBeta : alpha != 1 ? Scaling::Alpha : Scaling::None;
  }
};

/// Where the splits of K leave their parts with reduce = last_arrival. Launches that may run at a time need
/// workspaces of their own.
struct SplitWorkspace {
  DeviceMemory slices;   ///< f32 [split_k, m, n]
  DeviceMemory arrivals; ///< i32, one for each block_m x block_n tile of the output, zeroed once
};

/// The i32 that SplitWorkspace::arrivals needs.
int64_t gemm_tiles(const ConfigValues &config, const ProblemSize &size);

// Configs are whole ones of choices.h. Errors (User) name a null or short operand.

/// x bf16 [m, k] to codes u8 [m, k/2] and scales: u8 [m, k/32], or shuffled in memory prefilled with 127.
Result<LaunchRecord> launch_quant(const LaunchTarget &target, const ConfigValues &config,
                                  const ProblemSize &size, DeviceMemory x, DeviceMemory codes,
                                  DeviceMemory scales);

/// A B into out: bf16 [m, n] for reduce = none and last_arrival, f32 else: zeroed [m, n] for atomic,
/// [split_k, m, n] for workspace.
Result<LaunchRecord> launch_gemm_fused(const LaunchTarget &target, const ConfigValues &config,
                                       const ProblemSize &size, DeviceMemory a, DeviceMemory b,
                                       DeviceMemory b_scales, DeviceMemory out,
                                       const SplitWorkspace &workspace = {});

/// The same of quantised A: codes u8 [m, k/2] and shuffled scales. The epilogue applies where out is bf16.
Result<LaunchRecord> launch_gemm(const LaunchTarget &target, const ConfigValues &config,
                                 const ProblemSize &size, DeviceMemory a, DeviceMemory a_scales,
                                 DeviceMemory b, DeviceMemory b_scales, DeviceMemory out,
                                 const Epilogue &epilogue = {}, const SplitWorkspace &workspace = {});

/// f32 [split_k, m, n] to bf16 [m, n].
Result<LaunchRecord> launch_reduce(const LaunchTarget &target, const ConfigValues &config,
                                   const ProblemSize &size, DeviceMemory slices, DeviceMemory out,
                                   const Epilogue &epilogue = {});

/// Zeroes f32 elements, in the order of the stream.
Result<LaunchRecord> launch_zero(const LaunchTarget &target, DeviceMemory out, int64_t count);

} // namespace nereid::kernels
