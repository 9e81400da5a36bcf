#pragma once

#include "codegen/assign/dot_grid.h"

namespace nereid::codegen {

/// log2 of the waves along each dimension of a dot, and of those to which its tiles are broadcast. Along M
/// and N a wave's tiles are neighbours.
struct WaveTiling {
  unsigned m = 0, n = 0, k = 0, broadcast = 0;

  unsigned along(char dim) const { return dim == 'm' ? m : dim == 'n' ? n : k; }
};

/// Where each wave runs iterations of a loop of its own, it holds the whole dot. Slices: each wave takes a
/// part of K, if there are instructions for all. Rows: each wave takes whole rows, if there are tiles of rows
/// for all.
enum class DotOwner { Workgroup, Wave, Slices, Rows };

/// Of the tilings that the function's wave_split allows the one that keeps the shared units less busy.
WaveTiling choose_wave_tiling(const DotGrid &grid, DotOwner owner);

} // namespace nereid::codegen
