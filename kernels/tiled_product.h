#pragma once

#include "kernels/problem_size.h"
#include "sim/timing/launch_profile.h"

namespace nereid::kernels {

/// Clocks of a loaded round trip to memory: 44 KB in flight at the rate that a compute unit's loads return
/// (docs/timing.md).
inline constexpr double loaded_round_trip = 1360;

/// Clocks of a workgroup beside those of its matrix instructions.
struct TiledProductCosts {
  double prologue, prologue_row;     ///< before the first MFMA, and of each row and column of the tile
  double epilogue, epilogue_element; ///< behind the last one, and of each element
  double step;                       ///< of a step that waits for nothing
};

/// Straight lines through what the simulator says of AMD's f4gemm kernels: first round trips, the fill of the
/// loop and its drain included.
inline constexpr TiledProductCosts assembly_costs{3200, 1.8, 500, 0.066, 200};

/// A tiled product C[m,n] = A[m,k] B[n,k]^T as far as its time can be counted without its code: a workgroup
/// makes a tile of C from its part of K, in steps.
struct TiledProduct {
  ProblemSize size;
  int64_t block_m = 0, block_n = 0, block_k = 0; ///< of a workgroup and a step
  int64_t split_k = 1;                           ///< workgroups that share the K of a tile
  double a_bytes = 0.53125;                      ///< of an element of A: MXFP4 is a code and 1/32 of a scale
  double b_bytes = 0.53125;
  double c_bytes = 2;
  int64_t column_group = 0;      ///< the order: n fastest in groups of so many tiles, then m; 0: no groups
  int64_t workgroups_per_cu = 1; ///< that registers and LDS allow
  double prefetched_steps = 0;   ///< steps whose loads are in flight at a time; 0: as many as memory takes
  double extra_step_cycles = 0;  ///< core clocks of a workgroup's step that no MFMA hides
  TiledProductCosts costs = assembly_costs;
};

/// What the launch needs (sim/timing/device_model.h), from counts alone: bytes of the rows that exist, panels
/// of A and B that an XCD reads, peak rate of the matrix cores. A few microseconds of the host's time.
sim::LaunchProfile counted_profile(const TiledProduct &product);

} // namespace nereid::kernels
