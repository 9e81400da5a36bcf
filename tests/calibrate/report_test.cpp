// Figures of accuracy and of the choice of tiles.
#include <cmath>

#include <gtest/gtest.h>

#include "tools/calibrate/report.h"
#include "tools/calibrate/tile_choice.h"

namespace nereid::calibrate {
namespace {

Prediction prediction(Tile tile, double measured, double predicted, size_t m = 1) {
  Prediction result;
  result.measured.shape = {m, 128, 256};
  result.measured.tile = tile;
  result.measured.us = measured;
  result.us = predicted;
  return result;
}

TEST(Report, QuantilesLieBetweenValues) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.9), 3);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 0.9), 90);
}

TEST(Report, SpearmanComparesRanks) {
  const std::vector<double> a = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(spearman(a, std::vector<double>{10, 100, 1000, 10000}), 1);
  EXPECT_DOUBLE_EQ(spearman(a, std::vector<double>{4, 3, 2, 1}), -1);
  // Ranks 1 2 3 4 against 1.5 1.5 3 4: 1 - (0.25 + 0.25) corrected for the tie, 4.5 / sqrt(5 * 4.5).
  EXPECT_NEAR(spearman(a, std::vector<double>{1, 1, 2, 3}), 4.5 / std::sqrt(5 * 4.5), 1e-12);
}

TEST(Report, ErrorsAreByMeasuredTimeAndByTile) {
  const std::vector<Prediction> rows = {prediction({32, 128}, 10, 11), prediction({32, 128}, 10, 8),
                                        prediction({64, 128}, 20, 20), prediction({64, 128}, 100, 130)};
  const Accuracy result = accuracy(rows, 2);
  ASSERT_EQ(result.classes.size(), 4u);
  EXPECT_EQ(result.classes[0].count, 4u);
  EXPECT_NEAR(result.classes[0].median, 0.15, 1e-12);
  EXPECT_NEAR(result.classes[0].mean, 0.15, 1e-12);
  EXPECT_EQ(result.classes[1].count, 2u);
  EXPECT_NEAR(result.classes[1].bias, -0.05, 1e-12);
  EXPECT_EQ(result.classes[2].count, 1u);
  EXPECT_EQ(result.classes[3].count, 1u);
  ASSERT_EQ(result.tiles.size(), 2u);
  EXPECT_EQ(result.tiles[1].name, "64x128");
  EXPECT_NEAR(result.tiles[1].p90, 0.27, 1e-12);
  ASSERT_EQ(result.worst.size(), 2u);
  EXPECT_EQ(result.worst[0].measured.us, 100);
  EXPECT_EQ(result.worst[1].us, 8);
}

Sample sample(size_t m, Tile tile, double us) {
  Sample result;
  result.measured.shape = {m, 128, 256};
  result.measured.tile = tile;
  result.measured.us = us;
  return result;
}

TEST(Report, AChosenTileIsJudgedByItsMeasuredTime) {
  const std::vector<Sample> samples = {sample(1, {32, 128}, 10), sample(1, {64, 128}, 12),
                                       sample(2, {32, 128}, 10), sample(2, {64, 128}, 10.4),
                                       sample(3, {32, 128}, 10), sample(3, {64, 128}, 11),
                                       sample(4, {32, 128}, 10)};
  const std::vector<double> predicted = {1, 2, 2, 1, 2, 1, 1};
  const TileChoice choice = choice_among_measured(samples, predicted);
  EXPECT_EQ(choice.shapes, 3u);
  EXPECT_EQ(choice.best, 1u);
  EXPECT_EQ(choice.within, 2u);
  EXPECT_NEAR(choice.mean_regret, (0 + 0.04 + 0.1) / 3, 1e-12);
}

TEST(Report, AWinnerIsComparedWithAllTiles) {
  std::vector<Sample> samples = {sample(1, {32, 128}, 10), sample(2, {256, 256}, 10)};
  const std::vector<Tile> tiles = {{32, 128}, {64, 128}, {256, 256}};
  std::vector<WantedLaunch> asked;
  const ProfileSource source = [&](const WantedLaunch &wanted) {
    asked.push_back(wanted);
    return counted_profile(wanted);
  };
  for (Sample &row : samples)
    row.measured.shape = {row.measured.shape.m, 2112, 7168};
  const auto choice = winner_among_all(samples, tiles, 2, {}, source, 1);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->shapes, 2u);
  EXPECT_EQ(choice->best, 1u) << "the small tile is right for one row of M, the large one is not";
  EXPECT_EQ(choice->within, 1u);
  EXPECT_GT(choice->mean_regret, 0.5);
}

} // namespace
} // namespace nereid::calibrate
