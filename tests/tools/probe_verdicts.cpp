// What fails a probe of the chip.
#include "tools/probe_verdicts.h"

#include <cmath>

#include <gtest/gtest.h>

namespace nereid::tools {
namespace {

TEST(ProbeVerdict, OnlySumsThatAnOrderGivesPass) {
  EXPECT_TRUE(judge_sum_order(1.0F).passed);
  EXPECT_TRUE(judge_sum_order(0.0F).passed);
  for (const float wrong : {-1.0F, 2.0F, 8.0F, 1024.0F, 0x1p26F, NAN, INFINITY})
    EXPECT_FALSE(judge_sum_order(wrong).passed) << wrong;
  EXPECT_NE(judge_sum_order(8.0F).detail.find("gives 8"), std::string::npos);
}

TEST(ProbeVerdict, RepeatsAreTheSameAndRight) {
  const std::vector<double> exact{1.0, 2.0};
  const std::vector<uint16_t> right{0x3f80, 0x4000}, wrong{0x3f80, 0x4080}, nans{0x7fc0, 0x7fc0};
  EXPECT_TRUE(judge_waits({right, right}, exact).passed);
  const ProbeResult stable = judge_waits({wrong, wrong, wrong}, exact);
  EXPECT_FALSE(stable.passed);
  EXPECT_EQ(stable.detail, "0 of 3 repeats differ from the first, 3 are wrong");
  EXPECT_FALSE(judge_waits({nans, nans}, exact).passed);
  const ProbeResult once = judge_waits({right, wrong, right}, exact);
  EXPECT_FALSE(once.passed);
  EXPECT_EQ(once.detail, "1 of 3 repeats differ from the first, 1 are wrong");
}

} // namespace
} // namespace nereid::tools
