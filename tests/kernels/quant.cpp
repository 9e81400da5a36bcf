// mxfp4_quant against the reference, to the bit.
#include <gtest/gtest.h>

#include "kernels/host/random.h"
#include "tests/kernels/backend.h"
#include "tests/kernels/quant_values.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

namespace {

/// Index of the first difference, or -1; lengths must agree.
int64_t first_difference(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b) {
  if (a.size() != b.size())
    return 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i])
      return static_cast<int64_t>(i);
  return -1;
}

void expect_exact(Backend backend, const QuantData &data, const Partial<QuantConfig> &config) {
  const Result<QuantOutput> output = run_quant(backend, data.values, data.rows, data.columns, config);
  ASSERT_TRUE(output.ok()) << data.name << ": " << output.error().text();
  const QuantOutput expected =
      expected_quant(data.values, data.rows, data.columns, config.shuffled.value_or(false));
  EXPECT_EQ(first_difference(output->scales, expected.scales), -1) << data.name << " " << config_text(config);
  EXPECT_EQ(first_difference(output->codes, expected.codes), -1) << data.name << " " << config_text(config);
}

struct Variant {
  Backend backend;
  QuantPath path;
};

Partial<QuantConfig> config_of(const Variant &variant, bool shuffled) {
  return {.shuffled = shuffled, .path = variant.path};
}

class Quant : public ::testing::TestWithParam<Variant> {};

} // namespace

TEST_P(Quant, IsExactForNormalDataOfEveryMagnitude) {
  for (int exponent : {-120, -80, -40, -10, 10, 40, 80, 120})
    expect_exact(GetParam().backend, normal_data(exponent), config_of(GetParam(), exponent % 80 == 0));
}

TEST_P(Quant, IsExactForEveryFinitePatternAtEveryPosition) {
  expect_exact(GetParam().backend, rotated_patterns(), config_of(GetParam(), false));
  for (int shift = 0; shift < 32; ++shift)
    expect_exact(GetParam().backend, lone_patterns(shift), config_of(GetParam(), true));
}

TEST_P(Quant, IsExactForSpecialGroups) {
  expect_exact(GetParam().backend, special_groups(), config_of(GetParam(), false));
}

TEST_P(Quant, IsExactForEveryTileAndTail) {
  const Partial<QuantConfig> tiles[] = {
      {.block_m = 16, .block_k = 256, .waves = 1}, {.block_m = 32, .block_k = 256, .waves = 4},
      {.block_m = 32, .block_k = 512, .waves = 4}, {.block_m = 64, .block_k = 128, .waves = 2},
      {.block_m = 8, .block_k = 64, .waves = 1},
  };
  const int64_t sizes[][2] = {{1, 32}, {5, 96}, {33, 320}, {64, 512}, {130, 288}};
  int which = 0;
  for (Partial<QuantConfig> config : tiles)
    for (const auto &[rows, columns] : sizes) {
      config.path = GetParam().path;
      config.shuffled = which++ % 2 == 1;
      const QuantData data{"tail", rows, columns, host::normal_bf16(rows * columns, which)};
      expect_exact(GetParam().backend, data, config);
    }
}

INSTANTIATE_TEST_SUITE_P(Paths, Quant,
                         ::testing::Values(Variant{Backend::Interpreted, QuantPath::Software},
                                           Variant{Backend::Interpreted, QuantPath::Hardware},
                                           Variant{Backend::Compiled, QuantPath::Software},
                                           Variant{Backend::Compiled, QuantPath::Hardware}),
                         [](const auto &info) {
                           return nereid::kernels::test::name_of(info.param.backend) +
                                  (info.param.path == QuantPath::Software ? "_sw" : "_hw");
                         });
