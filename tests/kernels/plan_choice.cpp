// What mxfp4_linear takes when the caller leaves path and config open.
#include "kernels/plan_choice.h"

#include <algorithm>
#include <cstdio>

#include <gtest/gtest.h>

#include "jit/tune/kernel_tunings.h"
#include "kernels/linear_config.h"
#include "kernels/plan_space.h"
#include "kernels/quick_estimate.h"
#include "kernels/registry.h"
#include "kernels/shipped_table.h"

namespace nereid::kernels {
namespace {

TEST(ShippedTable, IsWholeAndEveryWinnerIsAPlanOfItsShape) {
  const auto table = KernelTunings::parse(shipped_table, "the table of the library");
  ASSERT_TRUE(table.ok()) << table.error().text();
  EXPECT_EQ(table->kernel(), linear_name);
  EXPECT_EQ(table->device(), simulated_device);
  EXPECT_GE(table->keys().size(), 200u);
  for (const std::string &key : table->keys()) {
    const TuningRecord *winner = table->winner(key);
    ASSERT_TRUE(winner) << key;
    ProblemSize size;
    ASSERT_EQ(std::sscanf(key.c_str(), "M=%ld,N=%ld,K=%ld", &size.m, &size.n, &size.k), 3) << key;
    const Result<GemmPlan> plan = choose_plan(size, simulated_device);
    ASSERT_TRUE(plan.ok()) << key << ": " << plan.error().text();
    // The whole config of the table, and nothing of an estimate.
    const auto wanted = parse_keys<LinearConfig>(linear_name, winner->config);
    ASSERT_TRUE(wanted.ok() && wanted->path) << key;
    EXPECT_EQ(plan->path, *wanted->path) << key;
    EXPECT_EQ(config_text(plan->gemm), config_text(plan_gemm(*wanted->path, wanted->gemm, size)->gemm))
        << key;
  }
}

TEST(PlanChoice, AnMWithoutAnEntryTakesThatOfTheNextPowerOfTwo) {
  const GemmPlan tuned = choose_plan({16, 7168, 2048}, simulated_device).value();
  const GemmPlan between = choose_plan({13, 7168, 2048}, simulated_device).value();
  EXPECT_EQ(between.path, tuned.path);
  EXPECT_EQ(config_text(between.gemm), config_text(tuned.gemm));
}

TEST(PlanChoice, AShapeWithoutAnEntryTakesTheLeastEstimate) {
  const ProblemSize size{48, 1168, 4352};
  const GemmPlan plan = choose_plan(size, simulated_device).value();
  for (const GemmPath path : {GemmPath::Fused, GemmPath::Workspace, GemmPath::TwoPass})
    for (const auto &config : plan_space(path, size))
      EXPECT_LE(quick_estimate(plan, size), quick_estimate(*plan_gemm(path, config, size), size));
}

TEST(PlanChoice, EveryValidShapeHasAPlan) {
  for (const int64_t m : {1, 3, 17, 100, 5000, 100'000})
    for (const int64_t n : {16, 48, 2880, 106496})
      for (const int64_t k : {32, 96, 576, 16384})
        EXPECT_TRUE(choose_plan({m, n, k}, simulated_device).ok()) << m << " " << n << " " << k;
}

TEST(PlanSpace, HasNoConfigThatIsRefusedAndNoneTwice) {
  const ProblemSize size{64, 7168, 2048};
  for (const GemmPath path : {GemmPath::Fused, GemmPath::Atomic, GemmPath::Workspace, GemmPath::TwoPass}) {
    std::vector<std::string> texts;
    for (const auto &config : plan_space(path, size)) {
      EXPECT_TRUE(plan_gemm(path, config, size).ok());
      texts.push_back(config_text(config));
    }
    EXPECT_GE(texts.size(), 5u);
    std::sort(texts.begin(), texts.end());
    EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
  }
}

TEST(PlanSpace, TheBestComeFirst) {
  const ProblemSize size{64, 7168, 2048};
  double last = 0;
  for (const EstimatedPlan &each : best_of_space(GemmPath::Fused, size, 10)) {
    const double us = quick_estimate(*plan_gemm(GemmPath::Fused, each.config, size), size);
    EXPECT_GE(us, last);
    last = us;
  }
}

} // namespace
} // namespace nereid::kernels
