#pragma once

#include "kernels/library_kernel.h"
#include "kernels/specialize.h"

namespace nereid::kernels {

/// How mxfp4_quant rounds: integer arithmetic of its own, or the language's quantize.
enum class QuantPath : int { Software, Hardware };
constexpr auto nereid_config_names(QuantPath) { return std::to_array<std::string_view>({"sw", "hw"}); }

/// How a matrix is quantised: rows and columns of a program's block, and the keys that every kernel has.
struct QuantConfig {
  int block_m = 32;
  int block_k = 256;
  int waves = 1;
  int stages = 1;
  int mfma = 16;
  int waves_per_eu = 0;
  bool shuffled = false; ///< scales at shuffled offsets, in a buffer prefilled with 127
  QuantPath path = QuantPath::Hardware;

  NEREID_CONFIG(QuantConfig, block_m, block_k, waves, stages, mfma, waves_per_eu, shuffled, path)
};

/// Operands of mxfp4_quant, in device memory.
struct QuantOperands {
  DeviceMemory x;      ///< bf16 [m, k]
  DeviceMemory codes;  ///< out: u8 [m, k/2]
  DeviceMemory scales; ///< out: u8 [m, k/32], or shuffled in memory prefilled with 127
};

/// MXFP4 by the even rule (kernels/host/quantize.h) of a row-major matrix; k is a multiple of 32. Programs:
/// (k in blocks, m in blocks).
extern const LibraryKernel<QuantConfig, QuantOperands> quant_kernel;

} // namespace nereid::kernels
