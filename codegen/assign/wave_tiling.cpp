// Which waves take which tiles of a dot.
#include "codegen/assign/wave_tiling.h"

#include <algorithm>

#include "codegen/target/cost_model.h"
#include "codegen/target/gfx950.h"

namespace nereid::codegen {

namespace {

/// Waves go along N while it has tiles for them (`balanced`: as long as it has as many as M), then along M.
WaveTiling tile_waves(const DotGrid &grid, bool balanced) {
  WaveTiling waves;
  for (unsigned i = 0; i < grid.wave_bits; ++i) {
    const unsigned n_left = grid.n.bits - waves.n, m_left = grid.m.bits - waves.m;
    if (n_left > 0 && (!balanced || n_left >= m_left))
      ++waves.n;
    else if (m_left > 0)
      ++waves.m;
    else
      ++waves.broadcast;
  }
  return waves;
}

/// Clocks of a workgroup's shared units for a dot, as a rough measure: LDS, from which each wave reads all of
/// A that it multiplies, and the vector cache, through which A comes once and each wave's B.
struct Traffic {
  int64_t max, sum;
  auto operator<=>(const Traffic &) const = default;
};

Traffic traffic(const DotGrid &grid, const WaveTiling &waves) {
  const auto bytes = [&](const GridSide &side) {
    const ir::Type &type = grid.function.type(side.operand.value);
    return type.count() * ir::byte_size(type.element);
  };
  const int64_t lds = (bytes(grid.a) << waves.n) / cost::lds_bytes_per_clock;
  const int64_t cache = (bytes(grid.a) + (bytes(grid.b) << waves.m)) / cost::cache_bytes_per_clock;
  const int64_t busy_simds = std::min(1u << grid.wave_bits, gfx950::simds);
  const int64_t matrix = grid.m.size() * grid.n.size() * grid.k.size() * cost::mfma_clocks / busy_simds;
  return {std::max({lds, cache, matrix}), lds + cache};
}

} // namespace

WaveTiling choose_wave_tiling(const DotGrid &grid, DotOwner owner) {
  if (owner == DotOwner::Wave)
    return {.broadcast = grid.wave_bits};
  if (owner == DotOwner::Rows && grid.m.bits >= grid.wave_bits)
    return {.m = grid.wave_bits};
  const WaveTiling along_n = tile_waves(grid, false), balanced = tile_waves(grid, true);
  const ir::WaveSplit split = grid.function.options.wave_split;
  const bool is_balanced = split == ir::WaveSplit::Mn ||
                           (split == ir::WaveSplit::Auto && traffic(grid, balanced) < traffic(grid, along_n));
  return is_balanced ? balanced : along_n;
}

} // namespace nereid::codegen
