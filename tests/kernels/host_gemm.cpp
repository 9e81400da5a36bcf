#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/gemm.h"
#include "kernels/host/random.h"

using namespace nereid::kernels::host;

TEST(HostGemm, EqualsTheSumOverDecodedElements) {
  const MxMatrix a = normal_mx(3, 96, 1);
  const MxMatrix b = normal_mx(5, 96, 2);
  const std::vector<double> c = gemm(a, b);
  for (int64_t m = 0; m < 3; ++m)
    for (int64_t n = 0; n < 5; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < 96; ++k)
        sum += static_cast<double>(e2m1_to_float(a.code(m, k))) * e8m0_to_double(a.scales[m * 3 + k / 32]) *
               e2m1_to_float(b.code(n, k)) * e8m0_to_double(b.scales[n * 3 + k / 32]);
      EXPECT_EQ(c[m * 5 + n], sum);
    }
}

TEST(HostGemm, ANanScalePoisonsItsRowOnly) {
  MxMatrix a = normal_mx(2, 32, 1);
  a.scales[1] = 255;
  const std::vector<double> c = gemm(a, normal_mx(1, 32, 2));
  EXPECT_TRUE(std::isfinite(c[0]));
  EXPECT_TRUE(std::isnan(c[1]));
}

TEST(HostCompare, AppliesBothTolerances) {
  const std::vector<double> exact = {0.0, 100.0, 100.0};
  EXPECT_TRUE(compare(std::vector<uint16_t>{bf16_from_double(0.0099), bf16_from_double(101.0),
                                            bf16_from_double(99.0)},
                      exact)
                  .passed());
  const Comparison bad = compare(
      std::vector<uint16_t>{bf16_from_double(0.0), bf16_from_double(101.5), bf16_from_double(98.0)}, exact);
  EXPECT_EQ(bad.wrong, 2);
  EXPECT_EQ(bad.first_wrong, 1);
  EXPECT_EQ(bad.max_error, 2.0);
}

TEST(HostCompare, AResultThatIsNotFiniteIsInfinitelyWrong) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> exact = {1.0, 2.0};
  for (const uint16_t wrong : {0x7fc0, 0xffff, 0x7f80, 0xff80})
    EXPECT_EQ(compare(std::vector<uint16_t>{wrong, 0x4000}, exact).max_error, inf);
  const std::vector<double> not_finite = {inf, std::nan("")};
  EXPECT_EQ(compare(std::vector<uint16_t>{0x3f80, 0x7fc0}, not_finite).max_error, inf);
  EXPECT_EQ(compare(std::vector<uint16_t>{0x7f80, 0x7fc0}, not_finite).max_error, 0.0);
}

TEST(HostCompare, NanAndInfinityMustMatch) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> exact = {std::nan(""), 1e39, -inf, 1.0};
  EXPECT_TRUE(compare(std::vector<uint16_t>{0x7fc1, 0x7f80, 0xff80, 0x3f80}, exact).passed());
  EXPECT_EQ(compare(std::vector<uint16_t>{0x3f80, 0xff80, 0x7f80, 0x7fc0}, exact).wrong, 4);
}
