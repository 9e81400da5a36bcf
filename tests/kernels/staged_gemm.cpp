#include <gtest/gtest.h>

#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

/// The GEMM whose A goes through LDS by a software pipeline: results on the simulator for every number of
/// rounds that the pipeline tells apart, and tiles that stand beyond the matrix.

namespace {

void expect_product(const ProblemSize &size, const ConfigValues &config) {
  const std::string what = size.text() + " " + config.text();
  const host::Problem problem = host::random_problem(size.m, size.n, size.k, size.m * 7 + size.n + size.k);
  const Result<std::vector<uint16_t>> c = run_linear(Backend::Compiled, problem, GemmPath::Staged, config);
  ASSERT_TRUE(c.ok()) << what << ": " << c.error().text();
  const host::Comparison comparison = host::compare(*c, problem.exact);
  EXPECT_EQ(comparison.wrong, 0) << what << ": the first of them is element "
                                 << comparison.first_wrong.value_or(-1) << ", the largest error "
                                 << comparison.max_error;
}

ConfigValues tile(int block_m, int block_n, int waves = 4) {
  return {{"block_m", block_m}, {"block_n", block_n}, {"block_k", 256}, {"waves", waves}};
}

} // namespace

TEST(StagedGemm, IsRightForEveryNumberOfRounds) {
  for (int64_t k = 256; k <= 9 * 256; k += 256) {
    expect_product({64, 128, k}, tile(64, 128));
    expect_product({32, 128, k}, tile(32, 128));
  }
  for (int64_t k = 256; k <= 5 * 256; k += 256)
    expect_product({128, 128, k}, tile(128, 128));
}

TEST(StagedGemm, IsRightForRaggedK) {
  for (int64_t k : {32, 224, 288, 480, 544, 1056, 1312, 2080})
    for (const ConfigValues &config : {tile(32, 128), tile(128, 128)})
      expect_product({96, 144, k}, config);
}

TEST(StagedGemm, IsRightForRaggedRowsAndColumns) {
  for (int64_t m : {1, 31, 65, 130})
    for (int64_t n : {16, 112, 272})
      expect_product({m, n, 768}, tile(64, 128));
  expect_product({130, 144, 1056}, tile(128, 128));
}

TEST(StagedGemm, IsRightForOtherDepths) {
  for (int stages : {1, 2, 3, 4, 5})
    for (int64_t k : {512, 1312})
      expect_product({64, 128, k},
                     {{"block_m", 64}, {"block_n", 128}, {"block_k", 256}, {"waves", 4}, {"stages", stages}});
}

TEST(StagedGemm, IsRightForOtherBlocksOfK) {
  for (int block_k : {128, 512})
    for (int64_t k : {512, 1120, 1312})
      expect_product({66, 144, k}, {{"block_m", 64}, {"block_n", 128}, {"block_k", block_k}, {"waves", 4}});
}

TEST(StagedGemm, IsRightForEverySplitOfTheWaves) {
  for (const char *split : {"n", "mn"})
    for (int waves : long_tests() ? std::vector<int>{1, 2, 4, 8} : std::vector<int>{2, 8}) {
      ConfigValues config = tile(64, 128, waves);
      config.set("wave_split", std::string(split) == "n" ? 1 : 3);
      expect_product({65, 144, 1056}, config);
    }
}

TEST(StagedGemm, IsRightForLargeTiles) {
  for (int64_t k : long_tests() ? std::vector<int64_t>{512, 768, 800, 1312} : std::vector<int64_t>{800}) {
    expect_product({250, 272, k}, {{"block_m", 256}, {"block_n", 256}});
    expect_product({130, 272, k}, tile(128, 256));
    expect_product({66, 528, k}, {{"block_m", 128}, {"block_n", 512}});
  }
}

TEST(StagedGemm, IsRightForTilesWithOddFactors) {
  std::vector<std::pair<int, int>> tiles = {{96, 128}, {48, 128}, {64, 96}, {96, 48}};
  if (long_tests())
    tiles.insert(tiles.end(), {{160, 256}, {192, 256}, {80, 64}, {64, 160}, {224, 128}});
  for (const auto &[block_m, block_n] : tiles)
    for (int64_t k : {512, 1056})
      expect_product({block_m + 17, block_n + 16, k}, tile(block_m, block_n));
}
