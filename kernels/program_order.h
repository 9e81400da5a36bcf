#pragma once

#include "dsl/dsl.h"

/// In which order programs work on tiles. Programs that run at a time should share what the caches hold. All
/// functions are one to one on 0 .. count - 1.
namespace nereid::kernels {

/// XCDs (accelerator dies) of an MI350: program i of a launch runs on XCD i % 8, and each has an L2 of its
/// own.
inline constexpr int xcds = 8;

/// Gives each XCD a run of neighbouring numbers: program 0, 8, 16, ... get 0, 1, 2, ... Where `count` is no
/// multiple of the XCDs, the last count % xcds programs keep theirs.
inline Int xcd_remap(const Int &id, const Int &count) {
  const Int run = count / xcds;
  return where(id < run * xcds, id % xcds * run + id / xcds, id);
}

/// A program's tile, in tiles.
struct TilePosition {
  Int row;
  Int column;
};

/// Tiles in groups of `group_m` rows; within a group down the rows first, so that programs that run at a time
/// share the group's part of A and few columns of B. The last group may be lower.
inline TilePosition group_m_order(const Int &id, const Int &rows, const Int &columns, int group_m) {
  const Int group = id / (columns * group_m);
  const Int first_row = group * group_m;
  const Int group_rows = min(rows - first_row, group_m);
  const Int within = id - group * (columns * group_m);
  return {first_row + within % group_rows, within / group_rows};
}

} // namespace nereid::kernels
