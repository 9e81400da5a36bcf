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
