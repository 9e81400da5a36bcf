#pragma once

#include "kernels/gates.h"
#include "kernels/library_kernel.h"
#include "kernels/moe_rows.h"
#include "kernels/producer_input.h"

namespace nereid::kernels {

/// The choices of moe_up at compile time.
struct MoeUpConfig {
  TileConfig tile; ///< block_n counts columns of the result: 32, 64 or 128
  Activation activation = Activation::Silu;
  GateLayout gates = GateLayout::Separated; ///< separated or interleaved
  bool bias = false;
  QuantRule rule = QuantRule::Even;

  NEREID_CONFIG(MoeUpConfig, tile, activation, gates, bias, rule)
};

/// Memory of moe_up.
struct MoeUpOperands {
  DeviceMemory a;                           ///< u8 [m, k/2] codes
  DeviceMemory a_scales;                    ///< u8 [m, k/32], plain
  MoeRows rows;                             ///< indices into [m, top_k]
  DeviceMemory b;                           ///< [experts] of shuffled codes [2n, k], gates and ups
  DeviceMemory b_scales;                    ///< shuffled
  GateLayout gates = GateLayout::Separated; ///< of b's rows and of bias
  DeviceMemory bias;                        ///< bf16 [experts, 2n], where the config has one
  DeviceMemory codes;  ///< out: u8 [blocks * block_m, n/2]; rows that fill blocks up stay
  DeviceMemory scales; ///< out: u8 [blocks * block_m, n/32], plain
};

/// The first product of a mixture: rows of A by index times the gates and ups of their expert, activated and
/// quantised, in sorted order. n is the width after the activation; it and k are multiples of 32. Programs:
/// (n in blocks, blocks of rows).
extern const LibraryKernel<MoeUpConfig, MoeUpOperands> moe_up_kernel;

} // namespace nereid::kernels
