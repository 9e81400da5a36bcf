// A kernel is found again by the values of its config: all of them, and nothing else.
#include <cstring>

#include <gtest/gtest.h>

#include "dsl/dsl.h"
#include "jit/kernel.h"

namespace nereid::test {
namespace {

struct Inner {
  bool doubled = false;
  NEREID_CONFIG(Inner, doubled)
};

/// Padding after each bool.
struct ScaleConfig {
  bool negative = false;
  float factor = 1;
  Inner inner;
  int waves = 1;
  NEREID_CONFIG(ScaleConfig, negative, factor, inner, waves)
};

void scale(const ScaleConfig &c, Ptr<f32> x) {
  const float factor = c.factor * (c.negative ? -1.0F : 1.0F) * (c.inner.doubled ? 2.0F : 1.0F);
  const Tile<i32> i = arange(0, 64);
  store(x + i, load(x + i) * factor);
}

struct Scale {
  Device device = Device::simulator();
  Kernel<scale> kernel;

  /// What becomes of 3; from which cache the kernel came.
  std::pair<float, CacheLevel> run(const ScaleConfig &config) {
    Buffer<float> x = device.upload(std::vector<float>(64, 3.0F)).value();
    const LaunchInfo launched = kernel.launch({.interpret = true}, device.stream(), {1}, config, x).value();
    return {x.to_host().value()[63], launched.cache};
  }
};

TEST(ConfigKey, ConfigsThatDifferInOneFieldAreKernelsOfTheirOwn) {
  Scale s;
  EXPECT_EQ(s.run({.factor = 0.5F}).first, 1.5F);
  EXPECT_EQ(s.run({.factor = 0.25F}).first, 0.75F);
  EXPECT_EQ(s.run({.negative = true, .factor = 0.25F}).first, -0.75F);
  EXPECT_EQ(s.run({.factor = 0.25F, .inner = {.doubled = true}}).first, 1.5F);
  const auto [value, cache] = s.run({.factor = 0.25F});
  EXPECT_EQ(value, 0.75F);
  EXPECT_EQ(cache, CacheLevel::Memory);
}

TEST(ConfigKey, PaddingIsNoPartOfIt) {
  Scale s;
  EXPECT_EQ(s.run({.factor = 2}).second, CacheLevel::None);
  ScaleConfig filled;
  std::memset(static_cast<void *>(&filled), 0xff, sizeof filled);
  filled.negative = false;
  filled.factor = 2;
  filled.inner.doubled = false;
  filled.waves = 1;
  EXPECT_EQ(s.run(filled).second, CacheLevel::Memory);
}

struct NothingToChoose {
  NEREID_CONFIG(NothingToChoose)
};

void three(const NothingToChoose &, Ptr<f32> x) { store(x, 3.0F); }

TEST(ConfigKey, AConfigWithoutFieldsHasAnEmptyOne) {
  const Device device = Device::simulator();
  const Kernel kernel("three", three);
  const Buffer<float> x = device.allocate<float>(1).value();
  for (CacheLevel expected : {CacheLevel::None, CacheLevel::Memory}) {
    const auto launched = kernel.launch({.interpret = true}, device.stream(), {1}, NothingToChoose{}, x);
    ASSERT_TRUE(launched) << launched.error().text();
    EXPECT_EQ(launched->cache, expected);
  }
  EXPECT_EQ(x.to_host().value()[0], 3.0F);
}

} // namespace
} // namespace nereid::test
