// Generated spaces of configs, and the estimate that ranks without a clock.
#include "jit/tune/config_space.h"

#include <gtest/gtest.h>

#include "jit/tune/estimate.h"
#include "tests/jit/toy_tuning.h"

namespace nereid::test {
namespace {

std::vector<std::string> texts(const ConfigSpace<ToyConfig> &space) {
  std::vector<std::string> texts;
  for (const ToyConfig &config : space.configs().value())
    texts.push_back(config_text(config));
  return texts;
}

TEST(ConfigSpace, HasTheBaseTheListAndAllCombinationsThatAreAllowedOnce) {
  ConfigSpace<ToyConfig> space;
  space.add({.block = 64}).axis("block", {64, 256}).axis("waves", {1, 4}).axis("flaw", {"none", "wrong"});
  space.where([](const ToyConfig &c) { return c.flaw == Flaw::None || c.waves == 1; });
  EXPECT_EQ(texts(space), (std::vector<std::string>{"block=256,waves=4,waves_per_eu=0,flaw=none",
                                                    "block=64,waves=4,waves_per_eu=0,flaw=none",
                                                    "block=64,waves=1,waves_per_eu=0,flaw=none",
                                                    "block=64,waves=1,waves_per_eu=0,flaw=wrong",
                                                    "block=256,waves=1,waves_per_eu=0,flaw=none",
                                                    "block=256,waves=1,waves_per_eu=0,flaw=wrong"}));
  EXPECT_EQ(texts(ConfigSpace<ToyConfig>(ToyConfig{.block = 1})),
            std::vector<std::string>{"block=1,waves=4,waves_per_eu=0,flaw=none"});
}

TEST(ConfigSpace, RefusesWhatNoConfigHas) {
  const auto error = [](const ConfigSpace<ToyConfig> &space) { return space.configs().error().text(); };
  EXPECT_NE(error(ConfigSpace<ToyConfig>().axis("size", {1})).find("size"), std::string::npos);
  EXPECT_NE(error(ConfigSpace<ToyConfig>().axis("flaw", {"grave"})).find("grave"), std::string::npos);
  EXPECT_NE(error(ConfigSpace<ToyConfig>().axis("waves", {})).find("no values"), std::string::npos);
  EXPECT_NE(error(ConfigSpace<ToyConfig>().axis("waves", {1}).axis("block", {64}).axis("waves", {2, 4}))
                .find("two axes of 'waves'"),
            std::string::npos);
  ConfigSpace<ToyConfig> large;
  for (const char *field : {"block", "waves", "waves_per_eu"})
    large.axis(field, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41});
  EXPECT_NE(error(large).find("more than 65536"), std::string::npos);
}

TEST(Estimate, CountsWavesAndOccupancy) {
  // 256 workgroups of 4 waves, 100 instructions each: one wave a SIMD, four slots an instruction.
  const CountedLaunch one{256, 4, 8, 256 * 4 * 100, 100};
  EXPECT_EQ(estimated_slots(one), 400);
  // Four times the workgroups fit beside each other and fill the slots that were idle.
  CountedLaunch four{1024, 4, 8, 1024 * 4 * 100, 100};
  EXPECT_EQ(estimated_slots(four), 400);
  // Where only one fits at a time they queue.
  four.waves_per_simd = 1;
  EXPECT_EQ(estimated_slots(four), 1600);
  // Twice the waves with half the work each: no gain beyond four waves a SIMD.
  const CountedLaunch eight{2048, 8, 8, 2048 * 8 * 50, 50};
  const CountedLaunch same{2048, 4, 8, 2048 * 4 * 100, 100};
  EXPECT_EQ(estimated_slots(eight), estimated_slots(same));
  // Waves that do the whole work over again are not free.
  const CountedLaunch doubled{2048, 8, 8, 2048 * 8 * 100, 100};
  EXPECT_EQ(estimated_slots(doubled), 2 * estimated_slots(same));
}

} // namespace
} // namespace nereid::test
