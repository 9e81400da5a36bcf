#pragma once

#include "kernels/gates.h"
#include "kernels/library_kernel.h"
#include "kernels/producer_input.h"
#include "kernels/specialize.h"

namespace nereid::kernels {

/// The choices of act_quant at compile time; tiles in elements of the result.
struct ActQuantConfig {
  int block_m = 32;
  int block_k = 128;
  int waves = 2;
  int waves_per_eu = 0;
  Activation activation = Activation::Silu;
  GateLayout gates = GateLayout::Separated;
  InputSource source = InputSource::Bf16;
  int split_k = 1; ///< slices, of source=slices
  QuantRule rule = QuantRule::Even;
  bool shuffled = false; ///< scales at shuffled offsets, in a buffer prefilled with 127

  NEREID_CONFIG(ActQuantConfig, block_m, block_k, waves, waves_per_eu, activation, gates, source, split_k,
                rule, shuffled)
};

/// Memory of act_quant.
struct ActQuantOperands {
  DeviceMemory x;                           ///< bf16 [m, 2k]; of source=slices f32 [split_k, m, 2k]
  GateLayout gates = GateLayout::Separated; ///< of x: the launch is refused where the config has another
  DeviceMemory codes;                       ///< out: u8 [m, k/2]
  DeviceMemory scales;                      ///< out: u8 [m, k/32], or shuffled in memory prefilled with 127
};

/// act(gates) * ups in f32 as MXFP4; k is a multiple of 32. Programs: (k in blocks, m in blocks).
extern const LibraryKernel<ActQuantConfig, ActQuantOperands> act_quant_kernel;

} // namespace nereid::kernels
