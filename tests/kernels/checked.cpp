// The library's kernels under all checks of the simulator: they wait, order and define what they use.

#include <gtest/gtest.h>

#include "kernels/host/formats.h"
#include "kernels/host/random.h"
#include "tests/kernels/backend.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::test;

TEST(Checked, QuantIsSilent) {
  for (QuantPath path : {QuantPath::Software, QuantPath::Hardware})
    for (bool shuffled : {false, true}) {
      const Partial<QuantConfig> config{.shuffled = shuffled, .path = path};
      const std::vector<uint16_t> values = host::normal_bf16(40 * 96, 1);
      const Result<QuantOutput> output = run_quant(Backend::Checked, values, 40, 96, config);
      ASSERT_TRUE(output.ok()) << config_text(config) << ": " << output.error().text();
      EXPECT_EQ(output->codes, expected_quant(values, 40, 96, shuffled).codes);
    }
}

TEST(Checked, EveryPathOfTheGemmIsSilent) {
  const host::Problem problem = host::random_problem(20, 48, 608, 3);
  for (GemmPath path : {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass}) {
    const Result<std::vector<uint16_t>> c = run_linear(Backend::Checked, problem, path, {});
    ASSERT_TRUE(c.ok()) << name_of(path) << ": " << c.error().text();
    EXPECT_TRUE(host::compare(*c, problem.exact).passed()) << name_of(path);
  }
}

TEST(Checked, LastArrivalIsOrderedTowardsOtherPrograms) {
  const auto expect_silent = [](const host::Problem &problem, GemmPath path,
                                const Partial<GemmConfig> &config) {
    const Result<std::vector<uint16_t>> c = run_linear(Backend::Checked, problem, path, config);
    ASSERT_TRUE(c.ok()) << config_text(config) << ": " << c.error().text();
    EXPECT_TRUE(host::compare(*c, problem.exact).passed()) << config_text(config);
  };
  const host::Problem ragged = host::random_problem(37, 144, 1056, 3),
                      even = host::random_problem(16, 64, 1024, 4);
  for (GemmPath path : {GemmPath::Workspace, GemmPath::TwoPass})
    for (int split_k : {2, 5, 20})
      expect_silent(
          ragged, path,
          {.tile = {.block_m = 16, .block_n = 64}, .split_k = split_k, .reduce = Reduce::LastArrival});
  for (const Partial<TileConfig> &tile :
       std::initializer_list<Partial<TileConfig>>{{.waves = 1},
                                                  {.waves = 8},
                                                  {.mfma = 32},
                                                  {.const_k = true},
                                                  {.block_m = 32, .wave_split = WaveSplit::N}})
    expect_silent(even, GemmPath::Workspace, {.tile = tile, .split_k = 4, .reduce = Reduce::LastArrival});
}
