// Which candidate wins, which are rejected and why, and what a store remembers.
#include "jit/tune/tuner.h"

#include <gtest/gtest.h>

#include "tests/jit/sample_kernels.h"
#include "tests/jit/temporary_directory.h"

namespace nereid::test {
namespace {

struct ToyConfig {
  int block = 256;
  int waves = 4;
  int waves_per_eu = 0;
  int wrong = 0;
  NEREID_CONFIG(ToyConfig, block, waves, waves_per_eu, wrong)
};

void twice(const ToyConfig &c, Ptr<const f32> x, Ptr<f32> z, Int n) {
  Tile<i32> i = program_id(0) * c.block + arange(0, c.block);
  Tile<i1> in_range = i < n;
  Tile<f32> value = load(x + i, in_range);
  store(z + i, c.wrong ? value : value + value, in_range);
}

class Toy {
public:
  Toy() {
    for (int i = 0; i < n; ++i)
      host.push_back(static_cast<float>(i));
    x = device.upload(host).value();
    z = device.allocate<float>(host.size()).value();
  }
  TuneRequest request(const std::vector<ToyConfig> &configs) {
    TuneRequest made{"twice", "n=4096", {}, {}, {}, 0};
    for (const ToyConfig &config : configs)
      made.candidates.push_back(candidate(kernel, device.stream(),
                                          {static_cast<uint32_t>((n + config.block - 1) / config.block)},
                                          config, x, z, n));
    made.prepare = [this] { return z.fill(-1.0f); };
    made.validate = [this]() -> Status {
      const std::vector<float> result = z.to_host().value();
      for (size_t i = 0; i < result.size(); ++i)
        if (result[i] != 2 * host[i])
          return user_error("element " + std::to_string(i) + " differs");
      return {};
    };
    return made;
  }

  const int n = 4096;
  Device device = Device::simulator();
  std::vector<float> host;
  Buffer<float> x, z;
  Kernel<ToyConfig, Ptr<const f32>, Ptr<f32>, Int> kernel{"twice", twice};
};

TEST(Tuner, FindsTheBestOfWhatIsRight) {
  Toy toy;
  const ToyConfig wrong{.block = 256, .wrong = 1};
  // A wave's work grows with the block; the grid always fits in one round.
  const ToyConfig good{.block = 256}, large{.block = 4096};
  auto report = tune(toy.request({large, wrong, good}), toy.device.stream(), Estimate());
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->ranking, "estimate");
  ASSERT_TRUE(report->winner) << report->json();
  EXPECT_EQ(*report->winner, 2u) << report->json();
  EXPECT_EQ(report->winning_config(), config_text(good));
  EXPECT_NE(report->candidates[1].rejected.find("differs"), std::string::npos);
  EXPECT_FALSE(report->candidates[1].figure);
  ASSERT_TRUE(report->candidates[0].figure);
  EXPECT_GT(*report->candidates[0].figure, *report->candidates[2].figure);
  EXPECT_EQ(*report->candidates[2].figure,
            static_cast<double>(report->candidates[2].launches[0].instructions->longest_wave));
}

TEST(Tuner, RejectsByWhatWasCompiled) {
  Toy toy;
  // 16 waves of one workgroup: at most 8 waves a SIMD, never 9.
  auto report =
      tune(toy.request({{.waves_per_eu = 8}, {.block = 48}, {.waves = 17}}), toy.device.stream(), Estimate());
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->winner, 0u) << report->json();
  EXPECT_NE(report->candidates[2].rejected.find("does not compile"), std::string::npos) << report->json();
}

TEST(Tuner, HasNoWinnerWhenAllAreWrong) {
  Toy toy;
  auto report = tune(toy.request({{.wrong = 1}}), toy.device.stream(), Estimate());
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->winner);
  EXPECT_EQ(report->winning_config(), "");
  EXPECT_NE(report->json().find("\"winner\": null"), std::string::npos);
}

TEST(Tuner, TiesGoToTheFirst) {
  Toy toy;
  const ToyConfig same{.block = 512};
  auto report = tune(toy.request({same, same}), toy.device.stream(), Estimate());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->winner, 0u);
}

TEST(Tuner, WantsCandidatesAndAReference) {
  Toy toy;
  EXPECT_EQ(tune(toy.request({}), toy.device.stream(), Estimate()).error().owner, Owner::User);
  TuneRequest blind = toy.request({{}});
  blind.validate = nullptr;
  EXPECT_EQ(tune(blind, toy.device.stream(), Estimate()).error().owner, Owner::User);
}

TEST(TuningStore, RemembersWinners) {
  Toy toy;
  TemporaryDirectory directory;
  const TuningStore store(directory.path() + "/tuned");
  EXPECT_FALSE(store.winner("twice", "n=4096", toy.device.name()));
  auto report = tune(toy.request({{.block = 512}}), toy.device.stream(), Estimate());
  ASSERT_TRUE(report);
  ASSERT_TRUE(store.store(*report));
  EXPECT_EQ(store.winner("twice", "n=4096", toy.device.name()), report->winning_config());
  EXPECT_FALSE(store.winner("twice", "n=4096", "another device"));
  EXPECT_FALSE(store.winner("twice", "n=8192", toy.device.name()));
}

TEST(Ranking, IsAnEstimateOnTheSimulator) { EXPECT_EQ(ranking_for(Device::simulator())->name(), "estimate"); }

} // namespace
} // namespace nereid::test
