// The library's choice of tiles, waves and stages of products.
#include "kernels/tile_defaults.h"

#include <algorithm>

namespace nereid::kernels {
namespace {

struct Block {
  int rows, columns;
};

/// By the registers that a tile's accumulators take.
int waves_of(const Block &block) { return block.rows * block.columns >= 256 * 256 ? 8 : 4; }

/// The largest tile that leaves a program for each of the chip's 256 compute units, where M and N are large
/// enough for one; what the caller gives is kept.
std::optional<Block> large_block(const ProblemSize &size, const Partial<TileConfig> &given) {
  constexpr int64_t compute_units = 256;
  for (const Block &block : {Block{256, 256}, {128, 256}, {128, 128}}) {
    const bool fits = given.block_m.value_or(block.rows) == block.rows &&
                      given.block_n.value_or(block.columns) == block.columns &&
                      given.block_k.value_or(256) <= 256 && size.m >= block.rows && size.n >= block.columns &&
                      given.waves.value_or(waves_of(block)) >= waves_of(block);
    if (fits && blocks(size.m, block.rows) * blocks(size.n, block.columns) >= compute_units)
      return block;
  }
  return std::nullopt;
}

/// As many rows as there are, up to a limit.
int block_of_rows(const MaybeSize &size, int min_rows, int max_rows) {
  const int64_t m = size ? size->m : 16;
  int block = min_rows;
  while (block < m && block < max_rows)
    block *= 2;
  return block;
}

/// Small tiles have registers left for loads that are further ahead.
int stages_of(const Block &block, bool fused) {
  const int elements = block.rows * block.columns;
  return fused ? 2 : elements <= 96 * 128 ? 4 : elements < 256 * 256 ? 3 : 2;
}

} // namespace

TileConfig tile_defaults(const Partial<TileConfig> &given, const MaybeSize &size, bool fused, bool is_split) {
  const std::optional<Block> large = fused || !size ? std::nullopt : large_block(*size, given);
  const int rows = large ? large->rows : block_of_rows(size, given.mfma.value_or(16), fused ? 32 : 64);
  const int block_m = given.block_m.value_or(rows);
  const int columns = large ? large->columns : !fused ? 128 : block_m <= 16 && !is_split ? 32 : 64;
  const Block block{block_m, given.block_n.value_or(columns)};
  const TileConfig chosen{.block_m = block.rows,
                          .block_n = block.columns,
                          .waves = waves_of(block),
                          .stages = stages_of(block, fused)};
  return config_merge(chosen, given);
}

} // namespace nereid::kernels
