// The GEMM whose A goes through LDS in a pipeline: results on the simulator for every number of iterations
// that the pipeline tells apart, and tiles that reach beyond the matrix.
#include <gtest/gtest.h>

#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

void expect_product(const ProblemSize &size, const Partial<TileConfig> &tile) {
  const std::string what = size.text() + " " + config_text(tile);
  const host::Problem problem = host::random_problem(size.m, size.n, size.k, size.m * 7 + size.n + size.k);
  const Result<std::vector<uint16_t>> c =
      run_linear(Backend::Compiled, problem, GemmPath::TwoPass, {.tile = tile});
  ASSERT_TRUE(c.ok()) << what << ": " << c.error().text();
  const host::Comparison comparison = host::compare(*c, problem.exact);
  EXPECT_EQ(comparison.wrong, 0) << what << ": the first of them is element "
                                 << comparison.first_wrong.value_or(-1) << ", the largest error "
                                 << comparison.max_error;
}

Partial<TileConfig> tile_of(int block_m, int block_n, int waves = 4) {
  return {.block_m = block_m, .block_n = block_n, .block_k = 256, .waves = waves};
}

} // namespace

TEST(LdsPipelineGemm, IsRightForEveryNumberOfIterations) {
  for (int64_t k = 256; k <= 9 * 256; k += 256) {
    expect_product({64, 128, k}, tile_of(64, 128));
    expect_product({32, 128, k}, tile_of(32, 128));
  }
  for (int64_t k = 256; k <= 5 * 256; k += 256)
    expect_product({128, 128, k}, tile_of(128, 128));
}

TEST(LdsPipelineGemm, IsRightForRaggedK) {
  for (int64_t k : {32, 224, 288, 480, 544, 1056, 1312, 2080})
    for (const Partial<TileConfig> &tile : {tile_of(32, 128), tile_of(128, 128)})
      expect_product({96, 144, k}, tile);
}

TEST(LdsPipelineGemm, IsRightForRaggedRowsAndColumns) {
  for (int64_t m : {1, 31, 65, 130})
    for (int64_t n : {16, 112, 272})
      expect_product({m, n, 768}, tile_of(64, 128));
  expect_product({130, 144, 1056}, tile_of(128, 128));
}

TEST(LdsPipelineGemm, IsRightForOtherDepths) {
  for (int stages : {1, 2, 3, 4, 5})
    for (int64_t k : {512, 1312})
      expect_product({64, 128, k},
                     {.block_m = 64, .block_n = 128, .block_k = 256, .waves = 4, .stages = stages});
}

TEST(LdsPipelineGemm, IsRightForOtherBlocksOfK) {
  for (int block_k : {128, 512})
    for (int64_t k : {512, 1120, 1312})
      expect_product({66, 144, k}, {.block_m = 64, .block_n = 128, .block_k = block_k, .waves = 4});
}

TEST(LdsPipelineGemm, IsRightForEverySplitOfTheWaves) {
  for (WaveSplit split : {WaveSplit::N, WaveSplit::Mn})
    for (int waves : long_tests() ? std::vector<int>{1, 2, 4, 8} : std::vector<int>{2, 8}) {
      Partial<TileConfig> tile = tile_of(64, 128, waves);
      tile.wave_split = split;
      expect_product({65, 144, 1056}, tile);
    }
}

TEST(LdsPipelineGemm, IsRightForLargeTiles) {
  for (int64_t k : long_tests() ? std::vector<int64_t>{512, 768, 800, 1312} : std::vector<int64_t>{800}) {
    expect_product({250, 272, k}, {.block_m = 256, .block_n = 256});
    expect_product({130, 272, k}, tile_of(128, 256));
    expect_product({66, 528, k}, {.block_m = 128, .block_n = 512});
  }
}

TEST(LdsPipelineGemm, IsRightForTilesWithOddFactors) {
  std::vector<std::pair<int, int>> tiles = {{96, 128}, {48, 128}, {64, 96}, {96, 48}};
  if (long_tests())
    tiles.insert(tiles.end(), {{160, 256}, {192, 256}, {80, 64}, {64, 160}, {224, 128}});
  for (const auto &[block_m, block_n] : tiles)
    for (int64_t k : {512, 1056})
      expect_product({block_m + 17, block_n + 16, k}, tile_of(block_m, block_n));
}
