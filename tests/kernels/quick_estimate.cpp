// The estimate that needs no compile: what must make a plan slower or faster.
#include <gtest/gtest.h>

#include "kernels/quick_estimate.h"
#include "kernels/tiled_product.h"

namespace nereid::kernels {
namespace {

double estimate(const ProblemSize &size, const GemmPlan &plan) { return quick_estimate(plan, size); }

GemmPlan plan(GemmPath path, int block_m, int block_n, int split_k = 1, Reduce reduce = Reduce::None,
              int stages = 2) {
  return {path,
          {.tile = {.block_m = block_m, .block_n = block_n, .stages = stages},
           .split_k = split_k,
           .reduce = reduce}};
}

TEST(QuickEstimate, MoreOfAnyDimensionTakesLonger) {
  const GemmPlan fused = plan(GemmPath::Fused, 16, 64), two_pass = plan(GemmPath::TwoPass, 128, 128);
  for (const GemmPlan &tried : {fused, two_pass})
    for (const ProblemSize &size : {ProblemSize{16, 2112, 7168}, {4096, 4096, 4096}, {256, 57344, 8192}}) {
      const double us = estimate(size, tried);
      EXPECT_GT(us, 2) << "a launch alone takes that long";
      EXPECT_GT(estimate({4 * size.m, size.n, size.k}, tried), us) << size.text();
      EXPECT_GT(estimate({size.m, 4 * size.n, size.k}, tried), us) << size.text();
      EXPECT_GT(estimate({size.m, size.n, 4 * size.k}, tried), us) << size.text();
    }
}

TEST(QuickEstimate, LargeProductsTakeWhatPowerAllows) {
  const ProblemSize size{16384, 16384, 16384};
  const double us = quick_gemm_estimate(plan(GemmPath::TwoPass, 256, 256), size);
  const double petaflops = 2.0 * 16384 * 16384 * 16384 / us * 1e-9;
  EXPECT_GT(petaflops, 3.5);
  EXPECT_LT(petaflops, 6);
}

TEST(QuickEstimate, RanksTilesAsTheirUseOfTheDeviceDoes) {
  const ProblemSize large{8192, 8192, 8192}, small{16, 2112, 7168};
  EXPECT_LT(estimate(large, plan(GemmPath::TwoPass, 256, 256)),
            estimate(large, plan(GemmPath::TwoPass, 64, 64)));
  EXPECT_LT(estimate(large, plan(GemmPath::TwoPass, 64, 64)),
            estimate(large, plan(GemmPath::TwoPass, 32, 32)));
  EXPECT_LT(estimate(small, plan(GemmPath::TwoPass, 16, 64)),
            estimate(small, plan(GemmPath::TwoPass, 256, 256)))
      << "most rows of a large tile do not exist";
}

TEST(QuickEstimate, SplittingALongKOfFewTilesPays) {
  const ProblemSize size{16, 2112, 7168};
  const double whole = quick_gemm_estimate(plan(GemmPath::Fused, 16, 64), size);
  const double split = quick_gemm_estimate(plan(GemmPath::Fused, 16, 64, 7, Reduce::LastArrival), size);
  EXPECT_LT(split, whole);
  const ProblemSize wide{4096, 16384, 512};
  EXPECT_GT(quick_gemm_estimate(plan(GemmPath::TwoPass, 128, 128, 2, Reduce::Workspace), wide),
            quick_gemm_estimate(plan(GemmPath::TwoPass, 128, 128), wide));
}

TEST(QuickEstimate, PrefetchingMoreIsNeverSlowerWhileItFits) {
  const ProblemSize size{32, 4096, 8192};
  double before = estimate(size, plan(GemmPath::TwoPass, 32, 64, 1, Reduce::None, 1));
  for (const int stages : {2, 3, 4}) {
    const double us = estimate(size, plan(GemmPath::TwoPass, 32, 64, 1, Reduce::None, stages));
    EXPECT_LE(us, before) << stages;
    before = us;
  }
}

TEST(QuickEstimate, EachFurtherLaunchCostsALaunch) {
  const ProblemSize size{16, 2112, 7168};
  const GemmPlan workspace = plan(GemmPath::Workspace, 16, 64, 4, Reduce::Workspace);
  EXPECT_GT(quick_estimate(workspace, size), quick_gemm_estimate(workspace, size) + 2);
  const GemmPlan atomic = plan(GemmPath::Atomic, 16, 64, 4, Reduce::Atomic);
  EXPECT_GT(quick_estimate(atomic, size), quick_gemm_estimate(atomic, size) + 4);
  const GemmPlan two_pass = plan(GemmPath::TwoPass, 32, 128);
  EXPECT_GT(quick_estimate(two_pass, size), quick_gemm_estimate(two_pass, size) + 2);
  const GemmPlan fused = plan(GemmPath::Fused, 16, 64);
  EXPECT_EQ(quick_estimate(fused, size), quick_gemm_estimate(fused, size));
}

TEST(QuickEstimate, WarmCachesAreNotSlower) {
  const ProblemSize size{16, 2112, 7168};
  const GemmPlan fused = plan(GemmPath::Fused, 16, 64);
  EXPECT_LT(quick_estimate(fused, size, sim::CacheState::Warm),
            quick_estimate(fused, size, sim::CacheState::Cold));
}

TEST(TiledProductProfile, CountsBytesOfRowsThatExist) {
  // Three rows of A and 128 of B, one workgroup: 136 bytes a row and step of 256.
  const sim::LaunchProfile profile =
      counted_profile({.size = {3, 128, 512}, .block_m = 32, .block_n = 128, .block_k = 256});
  ASSERT_EQ(profile.rounds.size(), 1u);
  const sim::PhaseProfile &loop = profile.rounds[0].phases[sim::RoundProfile::Loop];
  EXPECT_EQ(loop.load_bytes, 131 * 136 * 2);
  EXPECT_EQ(loop.hbm_bytes, 131 * 136 * 2);
  EXPECT_EQ(loop.matrix_flop, 2.0 * 32 * 128 * 512);
  EXPECT_EQ(profile.rounds[0].phases[sim::RoundProfile::Epilogue].store_bytes, 3 * 128 * 2);
  EXPECT_EQ(profile.footprint_bytes, 131 * 136 * 2 + 3 * 128 * 2);
}

TEST(TiledProductProfile, AUnitLoadsWhatTheFullestTileDoes) {
  // The second row of tiles has one row.
  const sim::LaunchProfile profile =
      counted_profile({.size = {17, 128, 512}, .block_m = 16, .block_n = 128, .block_k = 256});
  ASSERT_EQ(profile.rounds.size(), 1u);
  EXPECT_EQ(profile.rounds[0].phases[sim::RoundProfile::Loop].load_bytes, (16 + 128) * 136 * 2);
}

TEST(TiledProductProfile, APanelThatWorkgroupsOfAnXcdShareIsFetchedOnce) {
  // 8 x 32 tiles, n fastest: XCD x has columns x, x+8, x+16, x+24 of all 8 rows: 12 panels.
  const sim::LaunchProfile profile =
      counted_profile({.size = {8 * 128, 32 * 128, 256}, .block_m = 128, .block_n = 128, .block_k = 256});
  ASSERT_EQ(profile.rounds.size(), 1u);
  EXPECT_EQ(profile.rounds[0].phases[sim::RoundProfile::Loop].fabric_bytes, 12 * 128 * 136);
}

TEST(TiledProductProfile, FullRoundsAreCountedOnce) {
  const sim::LaunchProfile profile =
      counted_profile({.size = {256 * 33, 256 * 16, 256}, .block_m = 256, .block_n = 256, .block_k = 256});
  ASSERT_EQ(profile.rounds.size(), 2u);
  EXPECT_EQ(profile.rounds[0].repeats, 2u);
  EXPECT_EQ(profile.rounds[1].workgroups, 16u);
}

} // namespace
} // namespace nereid::kernels
