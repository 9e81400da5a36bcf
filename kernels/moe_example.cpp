// What moe_sort gives where all experts have as many rows.
#include "kernels/moe_example.h"

namespace nereid::kernels {

LaunchIndices equal_moe_shares(const TileConfig &tile, int64_t m, MoeRows &rows) {
  std::vector<int32_t> sorted, block_experts;
  const auto block_m = static_cast<size_t>(tile.block_m);
  for (int64_t expert = 0; expert < rows.experts; ++expert) {
    for (int64_t index = expert; index < m * rows.top_k; index += rows.experts)
      sorted.push_back(static_cast<int32_t>(index));
    sorted.resize((sorted.size() + block_m - 1) / block_m * block_m, -1);
    block_experts.resize(sorted.size() / block_m, static_cast<int32_t>(expert));
  }
  rows.blocks = static_cast<int64_t>(block_experts.size());
  rows.block_m = tile.block_m;
  return {"rows in equal shares to the experts",
          {contents_of<int32_t>("sorted", sorted), contents_of<int32_t>("block_experts", block_experts)}};
}

} // namespace nereid::kernels
