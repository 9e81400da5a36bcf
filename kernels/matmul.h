#pragma once

#include "kernels/library_kernel.h"

namespace nereid::kernels {

/// The element of a matmul's operands.
enum class MatmulElement : int { F16, Bf16, I8 };
constexpr auto nereid_config_names(MatmulElement) {
  return std::to_array<std::string_view>({"f16", "bf16", "i8"});
}

/// The choices of matmul at compile time.
struct MatmulConfig {
  MatmulElement element = MatmulElement::F16;
  int block_m = 128, block_n = 128, block_k = 64;
  bool even = false; ///< m, n and k are multiples of the blocks: no masks
  int waves = 4;
  int stages = 3;
  int mfma = 16;
  int waves_per_eu = 0;

  NEREID_CONFIG(MatmulConfig, element, block_m, block_n, block_k, even, waves, stages, mfma, waves_per_eu)
};

/// Memory of matmul, row-major.
struct MatmulOperands {
  DeviceMemory a;   ///< [m, k]
  DeviceMemory b;   ///< [k, n]
  DeviceMemory out; ///< [m, n]: the element; i32 for i8
};

/// C = A B, summed up in f32 (i8: i32). Programs: (n blocks, m blocks).
extern const LibraryKernel<MatmulConfig, MatmulOperands> matmul_kernel;

} // namespace nereid::kernels
