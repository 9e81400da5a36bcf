#pragma once

#include "sim/timing/launch_profile.h"
#include "tools/calibrate/measurement.h"

namespace nereid::calibrate::test {

/// Cycles of a tile's workgroup, counted in code without memory.
struct StaticCycles {
  Tile tile;
  double prologue, issue, mfma, epilogue; ///< issue and MFMA: of a step of K = 256
};

/// A profile by counting panels, without simulation: workgroups of one tile of C in columns of 32 tiles of N,
/// one a compute unit, operands of 136 bytes a row and step, C of bf16.
sim::LaunchProfile analytic_profile(const Shape &shape, const StaticCycles &cycles);

/// Counts for the tiles of the MI355X table.
const StaticCycles *static_cycles(const Tile &tile);

} // namespace nereid::calibrate::test
