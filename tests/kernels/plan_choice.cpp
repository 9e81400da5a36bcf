// What mxfp4_linear takes when the caller leaves path and config open.
#include "kernels/plan_choice.h"

#include <algorithm>
#include <cstdio>

#include <gtest/gtest.h>

#include "jit/tune/kernel_tunings.h"
#include "jit/tune/table_file.h"
#include "kernels/linear_config.h"
#include "kernels/plan_space.h"
#include "kernels/quick_estimate.h"
#include "kernels/registry.h"
#include "kernels/shipped_table.h"
#include "tests/jit/temporary_directory.h"

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

/// A directory with one entry for mxfp4_linear, which NEREID_TUNING names. Devices are named apart: tables
/// are read once for each.
GemmPlan plan_with_entry(const std::string &device, const ProblemSize &size, const std::string &config,
                         const ProblemSize &entry, double figure = 1) {
  const test::TemporaryDirectory directory;
  const test::ScopedEnvironment tables(tables_variable, directory.path());
  const Status written =
      TableFile(directory.path(), linear_name, device).update([&](KernelTunings &tunings) -> Status {
        tunings.add({.key = linear_key(entry),
                     .config = config,
                     .figure = figure,
                     .unit = "us",
                     .ranking = "device time"});
        return {};
      });
  EXPECT_TRUE(written) << (written ? "" : written.error().text());
  return choose_plan(size, device).value();
}

TEST(PlanChoice, AnMBetweenEntriesTakesWhatIsEstimatedToBeTheFastest) {
  // The entry above has a config that takes several times as long as others; its figure is what is estimated.
  const ProblemSize entry{64, 1168, 4352}, size{48, 1168, 4352};
  const Partial<GemmConfig> slow{.tile = {.block_m = 64, .block_n = 192, .waves = 8}};
  const GemmPlan slow_plan = plan_gemm(GemmPath::Fused, slow, entry).value();
  const GemmPlan plan =
      plan_with_entry("with a slow entry", size, config_text(Partial<LinearConfig>{GemmPath::Fused, slow}),
                      entry, quick_estimate(slow_plan, entry));
  double best = 1e9;
  for (const GemmPath path : {GemmPath::Fused, GemmPath::Workspace, GemmPath::TwoPass})
    for (const EstimatedPlan &each : best_of_space(path, size, 1))
      best = std::min(best, each.us);
  EXPECT_LE(quick_estimate(plan, size), best);
  // And a config that is known to be faster than anything estimated is taken from its neighbour.
  const GemmPlan fast =
      plan_with_entry("with a fast entry", size, config_text(Partial<LinearConfig>{GemmPath::Fused, slow}),
                      entry, quick_estimate(slow_plan, entry) / 100);
  EXPECT_EQ(fast.path, GemmPath::Fused);
  EXPECT_EQ(fast.gemm.tile.block_n, 192);
}

TEST(PlanChoice, AutoInATableIsNoPath) {
  const ProblemSize size{16, 2112, 7168};
  ::testing::internal::CaptureStderr();
  const GemmPlan plan = plan_with_entry("with auto", size, "path=auto", size);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(plan.path, GemmPath::Auto);
  EXPECT_NE(warning.find("names no path"), std::string::npos) << warning;
  EXPECT_NE(plan_with_entry("auto and a tile", size, "path=auto,block_m=16", size).path, GemmPath::Auto);
}

TEST(PlanChoice, ARefusedEntryIsOneWarning) {
  const ProblemSize size{16, 2112, 7168};
  ::testing::internal::CaptureStderr();
  (void)plan_with_entry("with nonsense", size, "path=fused,block_m=17", size);
  (void)choose_plan(size, "with nonsense");
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("block_m=17"), std::string::npos) << warning;
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1) << warning;
}

TEST(PlanChoice, AMissingDirectoryIsAnErrorOfTheEnvironment) {
  const test::ScopedEnvironment tables(tables_variable, "/nowhere/at/all");
  const auto plan = choose_plan({16, 2112, 7168}, "another device");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().owner, Owner::Environment);
  EXPECT_NE(plan.error().message.find("/nowhere/at/all"), std::string::npos) << plan.error().text();
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

TEST(PlanSpace, HasSplitsThatDoNotDivideTheBlocksOfK) {
  const ProblemSize size{2, 32, 100'000}; // 782 and 391 blocks
  bool found = false;
  for (const auto &config : plan_space(GemmPath::Workspace, size))
    found |= config.split_k == 16;
  EXPECT_TRUE(found);
  for (const auto &config : plan_space(GemmPath::Workspace, {16, 512, 9 * 128}))
    EXPECT_NE(config.split_k, 8) << "two blocks each leave splits without any";
}

TEST(PlanSpace, HasNoTallTilesWhoseWavesLoadAllOfAEach) {
  bool has_shared = false;
  for (const Partial<GemmConfig> &config : plan_space(GemmPath::TwoPass, {512, 2304, 16384})) {
    EXPECT_TRUE(*config.tile.block_n > 64 || *config.tile.block_m <= 64 || *config.tile.block_m == 128)
        << config_text(config);
    has_shared |= *config.tile.block_n == 64 && *config.tile.block_m == 128;
  }
  EXPECT_TRUE(has_shared);
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
