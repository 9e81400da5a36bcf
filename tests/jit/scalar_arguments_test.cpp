// Scalars of every element as arguments of a launch: their values, compiled and interpreted, and their facts.
#include <gtest/gtest.h>

#include "nereid/nereid.h"

namespace nereid::test {
namespace {

struct ScalarConfig {
  int waves = 1;
  NEREID_CONFIG(ScalarConfig, waves)
};

void store_all(const ScalarConfig &, Tile<i1> flag, Ptr<i64> out, Tile<f16> half, Tile<u32> word,
               Tile<bf16> brain, Tile<u64> wide, Tile<i1> other, Int last) {
  store(out, flag.to<i64>());
  store(out + 1, half.to<i64>());
  store(out + 2, word.to<i64>());
  store(out + 3, brain.to<i64>());
  store(out + 4, wide.to<i64>());
  store(out + 5, where(other, Int(7), Int(8)).to<i64>());
  store(out + 6, last.to<i64>());
}

TEST(ScalarArguments, HaveTheirValuesCompiledAndInterpreted) {
  const Device device = Device::simulator();
  const Kernel kernel("store_all", store_all);
  for (bool interpret : {false, true})
    for (bool flag : {false, true}) {
      Buffer<i64> out = device.allocate<i64>(7).value();
      LaunchOptions options;
      options.interpret = interpret;
      const auto run = kernel.launch(options, device.stream(), {1}, ScalarConfig{}, flag, out, f16(-2.5F),
                                     4000000000U, bf16(96.0F), uint64_t{1} << 63, !flag, -5);
      ASSERT_TRUE(run) << run.error().text();
      EXPECT_EQ(out.to_host().value(),
                (std::vector<i64>{flag, -2, 4000000000, 96, INT64_MIN, flag ? 8 : 7, -5}));
    }
}

void store_word(const ScalarConfig &, Ptr<u32> out, Tile<u32> word) { store(out, word + 1); }

TEST(ScalarArguments, UnsignedNumbersAreSpecialisedAsIntsAre) {
  const Device device = Device::simulator();
  const Kernel kernel("store_word", store_word);
  Buffer<u32> out = device.allocate<u32>(1).value();
  for (uint32_t word : {1U, 16U, 3U, 0xffffffffU}) {
    const auto run = kernel(device.stream(), {1}, ScalarConfig{}, out, word);
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(out.to_host().value()[0], word + 1);
  }
  const std::vector<ArgumentFacts> one = kernel.facts(out, 1U), many = kernel.facts(out, 32U);
  EXPECT_EQ(one[1].constant, 1);
  EXPECT_EQ(many[1].divisibility, 16);
}

} // namespace
} // namespace nereid::test
