// Launch profiles from counts alone.
#include "tests/calibrate/analytic_profile.h"

#include <algorithm>
#include <array>
#include <set>

namespace nereid::calibrate::test {
namespace {

constexpr size_t units = 256, xcds = 8, group = 32, step_k = 256;
constexpr double row_bytes = 136; // fp4 codes and scales of a step

size_t tiles(size_t rows, size_t tile) { return (rows + tile - 1) / tile; }

/// Rows of tile `i` that exist.
double rows_of(size_t i, size_t tile, size_t rows) {
  return static_cast<double>(std::min(tile, rows - i * tile));
}

/// Tile of workgroup `i`: columns of 32 tiles of N, in them N fastest.
std::pair<size_t, size_t> place(size_t i, size_t tiles_m, size_t tiles_n) {
  const size_t column = i / (group * tiles_m);
  const size_t width = std::min(group, tiles_n - column * group);
  const size_t rest = i - column * group * tiles_m;
  return {rest / width, column * group + rest % width};
}

sim::RoundProfile round_profile(const Shape &shape, const StaticCycles &cycles, size_t first, size_t count) {
  const auto [tile_m, tile_n] = cycles.tile;
  const size_t tiles_m = tiles(shape.m, tile_m), tiles_n = tiles(shape.n, tile_n);
  std::array<std::set<size_t>, xcds> rows, columns;
  double bytes = 0, stores = 0, fabric = 0;
  for (size_t i = first; i < first + count; ++i) {
    const auto [m, n] = place(i, tiles_m, tiles_n);
    const double real_m = rows_of(m, tile_m, shape.m), real_n = rows_of(n, tile_n, shape.n);
    bytes += (real_m + real_n) * row_bytes;
    stores += real_m * real_n * 2;
    if (rows[i % xcds].insert(m).second)
      fabric += real_m * row_bytes;
    if (columns[i % xcds].insert(n).second)
      fabric += real_n * row_bytes;
  }
  const double steps = static_cast<double>(tiles(shape.k, step_k));
  const double work = static_cast<double>(count);
  sim::RoundProfile round;
  round.workgroups = round.compute_units = count;
  round.phases[sim::RoundProfile::Prologue].cycles = cycles.prologue;
  sim::PhaseProfile &loop = round.phases[sim::RoundProfile::Loop];
  loop.steps = steps;
  loop.cycles = steps * std::max(cycles.issue, cycles.mfma);
  loop.mfma_cycles = steps * cycles.mfma;
  loop.issue_cycles = steps * cycles.issue;
  loop.load_bytes = steps * bytes / work;
  loop.fabric_bytes = steps * fabric / static_cast<double>(std::min(count, xcds));
  loop.hbm_bytes = steps * static_cast<double>(shape.m + shape.n) * row_bytes * work /
                   static_cast<double>(tiles_m * tiles_n);
  loop.matrix_flop = steps * 2.0 * static_cast<double>(tile_m * tile_n * step_k);
  sim::PhaseProfile &epilogue = round.phases[sim::RoundProfile::Epilogue];
  epilogue.cycles = cycles.epilogue;
  epilogue.store_bytes = stores / work;
  return round;
}

constexpr StaticCycles counted[] = {
    {{32, 128}, 1452, 225, 128, 208},      {{64, 128}, 1492, 321, 256, 384},
    {{64, 256}, 1492, 517, 512, 740},      {{64, 640}, 1928, 1282, 1280, 1808},
    {{64, 1024}, 2220, 2050, 2048, 2876},  {{96, 128}, 1712, 421, 384, 560},
    {{96, 256}, 1768, 777, 768, 1092},     {{96, 384}, 2020, 1158, 1152, 1624},
    {{96, 512}, 2056, 1542, 1536, 2156},   {{96, 640}, 2388, 1926, 1920, 2688},
    {{128, 128}, 1676, 557, 512, 736},     {{128, 256}, 1788, 1033, 1024, 1444},
    {{128, 384}, 2096, 1542, 1536, 2152},  {{128, 512}, 2444, 2048, 2048, 3964},
    {{160, 128}, 1928, 665, 640, 912},     {{160, 256}, 2080, 1286, 1280, 1796},
    {{160, 384}, 2444, 1926, 1920, 2680},  {{192, 128}, 2020, 785, 768, 1088},
    {{192, 256}, 2244, 1550, 1536, 2372},  {{224, 128}, 2112, 937, 896, 1264},
    {{224, 256}, 2408, 1806, 1792, 2756},  {{256, 128}, 2076, 1045, 1024, 1440},
    {{256, 256}, 2568, 2048, 2048, 3836},
};

} // namespace

sim::LaunchProfile analytic_profile(const Shape &shape, const StaticCycles &cycles) {
  const size_t workgroups = tiles(shape.m, cycles.tile.m) * tiles(shape.n, cycles.tile.n);
  sim::LaunchProfile profile;
  const double rows = static_cast<double>(shape.m + shape.n);
  profile.footprint_bytes = rows * static_cast<double>(tiles(shape.k, step_k)) * row_bytes +
                            2.0 * static_cast<double>(shape.m * shape.n);
  if (workgroups >= units) {
    profile.rounds.push_back(round_profile(shape, cycles, 0, units));
    profile.rounds.back().repeats = workgroups / units;
  }
  if (const size_t rest = workgroups % units)
    profile.rounds.push_back(round_profile(shape, cycles, workgroups - rest, rest));
  return profile;
}

const StaticCycles *static_cycles(const Tile &tile) {
  const auto *found = std::find_if(std::begin(counted), std::end(counted),
                                   [&](const StaticCycles &row) { return row.tile == tile; });
  return found == std::end(counted) ? nullptr : found;
}

} // namespace nereid::calibrate::test
