#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "kernels/host/random.h"
#include "kernels/host/shuffle.h"

using namespace nereid;
using namespace nereid::kernels::host;

TEST(ShuffleB, ATileOfTheMatrixInstructionIsContiguousLaneByLane) {
  const int64_t n = 48;
  const int64_t k = 512;
  // Lane l of a 16x16x128 instruction owns row l%16 and bytes 16*(l/16).. of the tile.
  for (int64_t row_block = 0; row_block < n / 16; ++row_block)
    for (int64_t k_tile = 0; k_tile < k / 128; ++k_tile)
      for (int64_t lane = 0; lane < 64; ++lane)
        for (int64_t byte = 0; byte < 16; ++byte)
          EXPECT_EQ(shuffled_b_offset(row_block * 16 + lane % 16, k_tile * 64 + lane / 16 * 16 + byte, k),
                    row_block * 16 * (k / 2) + k_tile * 1024 + lane * 16 + byte);
}

TEST(ShuffleB, IsAPermutationForEveryKThatIsAMultipleOf32) {
  for (int64_t k : {32, 64, 96, 160, 320}) {
    std::set<int64_t> seen;
    for (int64_t row = 0; row < 32; ++row)
      for (int64_t byte = 0; byte < k / 2; ++byte)
        seen.insert(shuffled_b_offset(row, byte, k));
    EXPECT_EQ(static_cast<int64_t>(seen.size()), shuffled_b_bytes(32, k));
    EXPECT_EQ(*seen.rbegin(), shuffled_b_bytes(32, k) - 1);
  }
}

TEST(ShuffleB, UnshuffleIsItsInverse) {
  const MxMatrix b = normal_mx(80, 96, 7);
  const std::vector<uint8_t> shuffled = shuffle_b(b.codes, 80, 96).value();
  EXPECT_NE(shuffled, b.codes);
  EXPECT_EQ(unshuffle_b(shuffled, 80, 96).value(), b.codes);
}

TEST(ShuffleScales, OneDwordHoldsTwoRowHalvesAndTwoSteps) {
  const int64_t k = 1024;
  EXPECT_EQ(shuffled_scale_offset(5, 2, k), 5 * 4 + 2 * 64);
  EXPECT_EQ(shuffled_scale_offset(21, 2, k), 5 * 4 + 2 * 64 + 1);
  EXPECT_EQ(shuffled_scale_offset(5, 6, k), 5 * 4 + 2 * 64 + 2);
  EXPECT_EQ(shuffled_scale_offset(21, 6, k), 5 * 4 + 2 * 64 + 3);
  EXPECT_EQ(shuffled_scale_offset(5, 10, k), 5 * 4 + 2 * 64 + 256);
  EXPECT_EQ(shuffled_scale_offset(37, 2, k), 5 * 4 + 2 * 64 + 32 * 32);
}

TEST(ShuffleScales, PadsTo256RowsAnd8ColumnsWithTheGivenByte) {
  const std::vector<uint8_t> scales(3 * 5, 9);
  const std::vector<uint8_t> shuffled = shuffle_scales(scales, 3, 160, 0xff).value();
  EXPECT_EQ(shuffled.size(), 256U * 8);
  EXPECT_EQ(std::count(shuffled.begin(), shuffled.end(), 9), 15);
  EXPECT_EQ(std::count(shuffled.begin(), shuffled.end(), 0xff), 256 * 8 - 15);
  EXPECT_EQ(unshuffle_scales(shuffled, 3, 160).value(), scales);
}

TEST(Shuffle, RefusesWrongShapesAndLengths) {
  const std::vector<uint8_t> bytes(16 * 16);
  EXPECT_EQ(shuffle_b(bytes, 16, 32).ok(), true);
  EXPECT_EQ(shuffle_b(bytes, 8, 64).error().message, "shuffle_b: 8 rows are not a positive multiple of 16");
  EXPECT_EQ(shuffle_b(bytes, 16, 48).error().message, "shuffle_b: K = 48 is not a positive multiple of 32");
  EXPECT_EQ(unshuffle_b(bytes, 16, 64).error().message,
            "unshuffle_b: 256 bytes given, 512 expected for 16 rows and K = 64");
  EXPECT_EQ(unshuffle_scales(bytes, 1, 32).error().owner, Owner::User);
}
