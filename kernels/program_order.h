#pragma once

#include "dsl/dsl.h"

/// In which order programs work on tiles. Programs that run at a time should share what the caches hold. All
/// functions are one to one on 0 .. count - 1.
namespace nereid::kernels {

/// Dies of an MI350: program i of a launch runs on die i % 8, and each die has an L2 of its own.
inline constexpr int dies = 8;

/// Gives each die a run of neighbouring numbers: program 0, 8, 16, ... get 0, 1, 2, ... Where `count` is no
/// multiple of the dies, the last count % dies programs keep theirs.
inline Int die_order(const Int &id, const Int &count) {
  const Int run = count / dies;
  return where(id < run * dies, id % dies * run + id / dies, id);
}

struct TilePosition {
  Int row;
  Int column;
};

/// Tiles in strips of `height` rows; within a strip down the rows first, so that programs that run at a time
/// share a strip of A and few columns of B. The last strip may be lower.
inline TilePosition grouped_order(const Int &id, const Int &rows, const Int &columns, int height) {
  const Int strip = id / (columns * height);
  const Int first_row = strip * height;
  const Int strip_rows = min(rows - first_row, height);
  const Int within = id - strip * (columns * height);
  return {first_row + within % strip_rows, within / strip_rows};
}

} // namespace nereid::kernels
