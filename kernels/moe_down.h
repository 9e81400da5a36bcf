#pragma once

#include "kernels/moe_up.h"

namespace nereid::kernels {

/// How results of the experts of one row come together: stored one by one, for moe_combine to add in order,
/// or added to the row as they come, in no order.
enum class Scatter : int { Store, Add };
constexpr auto nereid_config_names(Scatter) { return std::to_array<std::string_view>({"store", "add"}); }

/// The choices of moe_down at compile time.
struct MoeDownConfig {
  TileConfig tile;
  bool bias = false;
  Scatter scatter = Scatter::Store;

  NEREID_CONFIG(MoeDownConfig, tile, bias, scatter)
};

/// Memory of moe_down; shapes in elements of the type that each says.
struct MoeDownOperands {
  DeviceMemory a;        ///< u8 [blocks * block_m, k/2] codes in sorted order
  DeviceMemory a_scales; ///< u8 [blocks * block_m, k/32], plain
  MoeRows rows;          ///< indices into [m, top_k]
  DeviceMemory weights;  ///< f32 [m, top_k]
  DeviceMemory b;        ///< [experts] of shuffled codes [n, k]
  DeviceMemory b_scales; ///< shuffled
  DeviceMemory bias;     ///< bf16 [experts, n], where the config has one
  DeviceMemory out;      ///< out: f32 [m, top_k, n]; with scatter=add f32 [m, n], to which is added
};

/// The second product of a mixture: sorted rows of A times the B of their expert, with the bias and then the
/// weight of their index, scattered to it. k is a multiple of 32. Programs: (n in blocks, blocks of rows).
extern const LibraryKernel<MoeDownConfig, MoeDownOperands> moe_down_kernel;

/// Memory of moe_combine.
struct MoeCombineOperands {
  DeviceMemory parts; ///< f32 [m, top_k, n]; with scatter=add f32 [m, n]
  DeviceMemory ids;   ///< i32 [m, top_k]: parts of ids below 0 or beyond the experts are left out
  DeviceMemory out;   ///< out: bf16 [m, n]
  int experts = 1;
  int top_k = 1;
};

/// The sum of the parts of each row, in their order, as bf16.
Result<LaunchRecord> launch_moe_combine(const LaunchTarget &target, Scatter scatter, int64_t m, int64_t n,
                                        const MoeCombineOperands &operands);

} // namespace nereid::kernels
