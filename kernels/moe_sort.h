#pragma once

#include "kernels/library_kernel.h"

/// Rows of a mixture in the order of their experts, in whole blocks.
namespace nereid::kernels {

/// The choices of moe_sort's kernels at compile time.
struct MoeSortConfig {
  int block_m = 16;  ///< sorted rows of a block
  int experts = 256; ///< a power of two that is at least the number of experts
  int chunk = 64;    ///< ids of a program
  int waves = 4;

  NEREID_CONFIG(MoeSortConfig, block_m, experts, chunk, waves)
};

/// Lengths of what sorting `ids` ids needs and gives.
struct MoeSortSize {
  int64_t ids;
  int64_t experts;

  /// Blocks that suffice for any ids.
  int64_t max_blocks(const MoeSortConfig &config) const;
  int64_t sorted_rows(const MoeSortConfig &config) const { return max_blocks(config) * config.block_m; }
  int64_t scratch_bytes(const MoeSortConfig &config) const;
};

/// Memory of moe_sort.
struct MoeSortOperands {
  DeviceMemory ids;           ///< i32 [ids]: experts; below 0 or beyond them: skipped
  DeviceMemory sorted;        ///< out: i32 [sorted_rows]: indices of ids, -1 where a block is filled up
  DeviceMemory block_experts; ///< out: i32 [max_blocks], -1 for blocks that nothing needs
  DeviceMemory places;        ///< out: i32 [ids]: where each index stands in `sorted`, or -1
  DeviceMemory scratch;       ///< scratch_bytes
};

/// Sorts indices of ids by expert, in order within an expert; each expert begins a block. Four launches.
/// Error (User): an operand is null or too short, or there are more experts than the config has.
Result<std::vector<LaunchRecord>> launch_moe_sort(const LaunchTarget &target, const MoeSortConfig &config,
                                                  const MoeSortSize &size, const MoeSortOperands &operands);

} // namespace nereid::kernels
