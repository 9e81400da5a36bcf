#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/host/formats.h"

using namespace nereid::kernels::host;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();
} // namespace

TEST(Bf16, EveryFinitePatternSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      continue;
    EXPECT_EQ(bf16_from_float(value), bits);
    EXPECT_EQ(bf16_from_double(value), bits);
  }
}

TEST(Bf16, RoundsToNearestWithTiesToEven) {
  EXPECT_EQ(bf16_from_double(1.0 + 0x1p-8), 0x3f80);           // tie: even below
  EXPECT_EQ(bf16_from_double(1.0 + 3 * 0x1p-8), 0x3f82);       // tie: even above
  EXPECT_EQ(bf16_from_double(1.0 + 0x1p-8 + 0x1p-40), 0x3f81); // just above the tie, lost in f32
  EXPECT_EQ(bf16_from_double(1.0 + 3 * 0x1p-8 - 0x1p-40), 0x3f81);
  EXPECT_EQ(bf16_from_double(-(1.0 + 0x1p-8 + 0x1p-40)), 0xbf81);
  EXPECT_EQ(bf16_from_double(0x1p128), 0x7f80);
  EXPECT_EQ(bf16_from_double(0x1p-133), 0x0001);
  EXPECT_EQ(bf16_from_double(0x1p-134), 0x0000);
  EXPECT_TRUE(std::isnan(bf16_to_float(bf16_from_double(nan_value))));
}

TEST(E2m1, DecodesTheEightMagnitudes) {
  const float expected[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int code = 0; code < 8; ++code) {
    EXPECT_EQ(e2m1_to_float(static_cast<uint8_t>(code)), expected[code]);
    EXPECT_EQ(e2m1_to_float(static_cast<uint8_t>(code | 8)), -expected[code]);
  }
}

TEST(E2m1, EncodesTheNearestCodeWithTiesToEven) {
  const struct {
    double value;
    int code;
  } cases[] = {{0, 0},    {0.25, 0},      {0.2500001, 1}, {0.5, 1},  {0.75, 2}, {0.7499999, 1},
               {1.25, 2}, {1.2500001, 3}, {1.75, 4},      {2.5, 4},  {3.5, 6},  {3.4999, 5},
               {5, 6},    {5.0001, 7},    {6, 7},         {1e30, 7}, {inf, 7},  {nan_value, 7}};
  for (const auto &c : cases) {
    EXPECT_EQ(e2m1_from_double(c.value), c.code) << c.value;
    EXPECT_EQ(e2m1_from_double(std::copysign(c.value, -1)), c.code | 8) << -c.value;
  }
}

TEST(E8m0, IsAPowerOfTwoOrNan) {
  EXPECT_EQ(e8m0_to_double(127), 1.0);
  EXPECT_EQ(e8m0_to_double(0), 0x1p-127);
  EXPECT_EQ(e8m0_to_double(254), 0x1p127);
  EXPECT_TRUE(std::isnan(e8m0_to_double(255)));
}
