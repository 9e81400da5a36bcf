#include "kernels/choices.h"

namespace nereid::kernels {
namespace {

/// One line of a tuning list.
struct Tile {
  int block_m;
  int block_n;
  int block_k;
  int split_k;
  int waves;
  int stages;
};

constexpr Tile fused_tiles[] = {
    {16, 32, 256, 1, 4, 1},  {16, 32, 256, 1, 4, 2},  {16, 64, 256, 1, 4, 1}, {16, 64, 256, 1, 4, 2},
    {32, 32, 256, 1, 4, 1},  {32, 32, 256, 1, 4, 2},  {32, 64, 256, 1, 4, 1}, {32, 64, 256, 1, 4, 2},
    {32, 128, 256, 1, 4, 2}, {32, 128, 256, 1, 8, 2},
};

constexpr Tile atomic_tiles[] = {
    {16, 32, 256, 4, 4, 2}, {16, 32, 256, 8, 4, 2}, {16, 64, 256, 4, 4, 2},
    {16, 64, 256, 8, 4, 2}, {32, 32, 256, 4, 4, 2}, {32, 64, 256, 4, 4, 2},
};

constexpr Tile workspace_tiles[] = {
    {16, 32, 256, 1, 4, 2}, {16, 32, 256, 2, 4, 2}, {16, 32, 256, 4, 4, 2}, {16, 32, 256, 8, 4, 2},
    {16, 64, 256, 1, 4, 2}, {16, 64, 256, 2, 4, 2}, {16, 64, 256, 4, 4, 2}, {16, 64, 256, 8, 4, 2},
    {16, 32, 256, 1, 4, 1}, {16, 32, 256, 2, 4, 1}, {16, 32, 256, 4, 4, 1}, {16, 32, 256, 8, 4, 1},
    {16, 64, 256, 1, 4, 1}, {16, 64, 256, 2, 4, 1}, {16, 64, 256, 4, 4, 1}, {16, 64, 256, 8, 4, 1},
    {16, 32, 512, 2, 4, 2}, {16, 32, 512, 4, 4, 2}, {16, 64, 512, 2, 4, 2}, {16, 64, 512, 4, 4, 2},
    {16, 32, 256, 4, 8, 2}, {16, 32, 256, 8, 8, 2}, {16, 64, 256, 4, 8, 2}, {16, 64, 256, 8, 8, 2},
    {16, 32, 256, 4, 2, 2}, {16, 32, 256, 8, 2, 2}, {16, 64, 256, 4, 2, 2}, {16, 64, 256, 8, 2, 2},
};

constexpr Tile staged_tiles[] = {
    {32, 64, 256, 1, 2, 4},   {32, 128, 256, 1, 4, 4},  {64, 64, 256, 1, 4, 4},
    {64, 128, 256, 1, 4, 4},  {96, 128, 256, 1, 4, 4},  {128, 128, 256, 1, 4, 3},
    {128, 256, 256, 1, 4, 2}, {192, 256, 256, 1, 4, 2}, {256, 256, 256, 1, 8, 2},
};

template <size_t Count> std::vector<ConfigValues> values_of(const Tile (&tiles)[Count], Reduce reduce) {
  std::vector<ConfigValues> result;
  for (const Tile &tile : tiles)
    result.push_back({{"block_m", tile.block_m},
                      {"block_n", tile.block_n},
                      {"block_k", tile.block_k},
                      {"split_k", tile.split_k},
                      {"waves", tile.waves},
                      {"stages", tile.stages},
                      {"reduce", static_cast<int>(reduce)}});
  return result;
}

} // namespace

std::vector<ConfigValues> tuning_list(GemmPath path) {
  switch (path) {
  case GemmPath::Fused:
    return values_of(fused_tiles, Reduce::None);
  case GemmPath::Atomic:
    return values_of(atomic_tiles, Reduce::Atomic);
  case GemmPath::Workspace:
    return values_of(workspace_tiles, Reduce::Workspace);
  case GemmPath::Staged:
    return values_of(staged_tiles, Reduce::None);
  case GemmPath::Auto:
    break;
  }
  return {};
}

std::vector<ConfigValues> quant_tuning_list() {
  std::vector<ConfigValues> result;
  for (int block_m : {16, 32})
    for (int waves : {1, 2, 4})
      result.push_back({{"block_m", block_m}, {"block_k", 256}, {"waves", waves}});
  return result;
}

} // namespace nereid::kernels
