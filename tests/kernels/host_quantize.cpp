#include <cmath>

#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/quantize.h"
#include "kernels/host/random.h"

using namespace nereid::kernels::host;

namespace {

/// A group whose largest magnitude is `largest`, at position 3; all else is zero.
std::vector<uint16_t> group_with(uint16_t largest) {
  std::vector<uint16_t> group(32, 0);
  group[3] = largest;
  return group;
}

uint8_t byte_of(double largest) { return scale_byte_even(group_with(bf16_from_double(largest))); }

} // namespace

TEST(HostQuantize, TheScaleByteFollowsTheEvenRule) {
  EXPECT_EQ(byte_of(0), 0);
  EXPECT_EQ(byte_of(0x1p-133), 0);
  EXPECT_EQ(byte_of(1.0), 125);
  EXPECT_EQ(byte_of(1.75), 126);
  EXPECT_EQ(byte_of(1.75 - 0x1p-7), 125);
  EXPECT_EQ(byte_of(6.0), 127);
  EXPECT_EQ(byte_of(7.0), 128);
  EXPECT_EQ(byte_of(7.0 - 0x1p-5), 127);
  EXPECT_EQ(byte_of(0x1p127), 252);
  EXPECT_EQ(byte_of(1.75 * 0x1p127), 254);
  EXPECT_EQ(byte_of(1.7421875 * 0x1p127), 252);
}

TEST(HostQuantize, InfinityAndNanGiveByte254AndCode7) {
  for (uint16_t special : {0x7f80, 0x7fc0, 0x7f81, 0x7fff}) {
    for (uint16_t sign : {0x0000, 0x8000}) {
      const MxMatrix q = quantize_even(group_with(static_cast<uint16_t>(special | sign)), 1, 32);
      EXPECT_EQ(q.scales[0], 254);
      EXPECT_EQ(q.code(0, 3), sign != 0 ? 15 : 7);
      EXPECT_EQ(q.code(0, 4), 0);
    }
  }
}

TEST(HostQuantize, KeepsTheSignOfZeroAndPacksTheEvenElementLow) {
  std::vector<uint16_t> group(32, 0);
  group[0] = bf16_from_double(1.0);
  group[1] = 0x8000;
  group[2] = 0x8000;
  const MxMatrix q = quantize_even(group, 1, 32);
  EXPECT_EQ(q.scales[0], 125);
  EXPECT_EQ(q.codes[0], 0x86); // 1.0 / 2^-2 = 4 is code 6; -0 is code 8
  EXPECT_EQ(q.codes[1], 0x08);
}

TEST(HostQuantize, NormalDataHasTheExpectedShareOfScales) {
  const MxMatrix q = quantize_even(normal_bf16(1 << 20, 1), 1, 1 << 20);
  int64_t counts[256] = {};
  for (uint8_t byte : q.scales)
    ++counts[byte];
  const double groups = static_cast<double>(q.scales.size());
  EXPECT_NEAR(counts[125] / groups, 0.069, 0.01);
  EXPECT_NEAR(counts[126] / groups, 0.916, 0.01);
  EXPECT_NEAR(counts[127] / groups, 0.015, 0.005);
}
