// Launches whose workgroups differ: their times, their traffic, and what cannot be timed.
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/timing/workgroup_schedule.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// Each workgroup of one wave reads 256 bytes a step, of 64 KiB again and again, for as many steps as `steps`
/// leaves in s13, and stores 256 bytes. s12 is the number of workgroups less one.
std::string kernel(const std::string &steps, const std::string &advance) {
  return std::string(load_buffer) + "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v5, 0\ns_mov_b32 s14, 0\n" + steps +
         R"(
1:
  v_add_u32 v3, s14, v1
  global_load_dword v4, v3, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v5, v5, v4
)" + advance +
         R"(  s_add_i32 s13, s13, -1
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 1b
  s_lshl_b32 s15, s2, 8
  v_add_u32 v2, s15, v1
  v_add_u32 v2, 0x10000, v2
  global_store_dword v2, v5, s[4:5]
  s_endpgm
)";
}

const char *const next_line = "s_add_u32 s14, s14, 0x100\ns_and_b32 s14, s14, 0xffff\n";

Report run_steps(const std::string &steps, uint32_t groups, Timing timing,
                 CacheState caches = CacheState::Cold, const std::string &advance = next_line) {
  TestRun run(kernel(steps, advance));
  Memory memory;
  const size_t bytes = 0x10000 + size_t{groups} * 256;
  const uint64_t buffer = *memory.allocate(bytes);
  EXPECT_TRUE(memory.fill(buffer, std::byte{0}, bytes).ok());
  run.argument(buffer);
  run.launch.grid = {groups, 1, 1};
  run.launch.block = {64, 1, 1};
  run.launch.timing = timing;
  run.launch.caches = caches;
  Report report = run(memory);
  EXPECT_FALSE(report.fault) << report.fault->text;
  EXPECT_TRUE(report.time || report.fault) << (report.untimed ? report.untimed->text : "");
  return report;
}

LaunchTime time_of(const std::string &steps, uint32_t groups, Timing timing = Timing::On,
                   CacheState caches = CacheState::Cold, const std::string &advance = next_line) {
  return run_steps(steps, groups, timing, caches, advance).time.value_or(LaunchTime());
}

/// One step, but `steps` where the workgroup is `which`.
std::string one_long(uint32_t which, uint32_t steps) {
  return "s_mov_b32 s13, " + std::to_string(steps) + "\ns_cmp_eq_u32 s2, " + std::to_string(which) +
         "\ns_cselect_b32 s13, s13, 1\n";
}

TEST(UnevenLaunches, TakeAsLongAsTheirLongestWorkgroupAloneWhereverItIs) {
  constexpr uint32_t steps = 1000;
  for (const CacheState caches : {CacheState::Cold, CacheState::Warm}) {
    const LaunchTime alone = time_of(one_long(0, steps), 1, Timing::On, caches);
    for (const uint32_t which : {0u, 100u, 3000u, 4095u}) {
      const LaunchTime time = time_of(one_long(which, steps), 4096, Timing::On, caches);
      EXPECT_GE(time.us, alone.us) << which;
      EXPECT_LE(time.us, 1.05 * alone.us + 5) << which << ": the others are done in a few microseconds";
      EXPECT_NEAR(time.cycles_per_workgroup / alone.cycles_per_workgroup, 1, 0.05) << which;
    }
  }
}

TEST(UnevenLaunches, OfATriangleTakeTheSameInEitherOrderAndMoveTheSame) {
  // All of them run at once. A workgroup moves a line of 128 bytes twice a step.
  constexpr uint32_t groups = 1024;
  const LaunchTime up = time_of("s_add_u32 s13, s2, 1\n", groups);
  const LaunchTime down = time_of("s_sub_u32 s13, " + std::to_string(groups) + ", s2\n", groups);
  EXPECT_NEAR(up.us / down.us, 1, 0.02);
  const double moved = 256.0 * groups * (groups + 1) / 2 + 256.0 * groups;
  for (const LaunchTime &time : {up, down}) {
    EXPECT_NEAR(static_cast<double>(time.l2_bytes) / moved, 1, 0.01);
    EXPECT_LE(time.hbm_bytes, 0x10000 + 2 * 256 * groups) << "of the allocation, and what is stored";
    EXPECT_GE(time.us, time.cycles_per_workgroup / 2400);
  }
}

TEST(UnevenLaunches, ThatAreExecutedAsAWholeHaveOneTime) {
  for (const char *steps : {"s_add_u32 s13, s2, 1\n", "s_sub_u32 s13, 40, s2\n"})
    EXPECT_EQ(time_of(steps, 40, Timing::On).us, time_of(steps, 40, Timing::Only).us) << steps;
}

TEST(UnevenLaunches, OfLanesThatAreMaskedLoadNoBytes) {
  // Every other workgroup, the first too, loads 8 lines in place of 512 by as many instructions; one takes
  // long.
  TestRun run(std::string(load_buffer) + "v_lshlrev_b32 v1, 7, v0\ns_mov_b32 s13, 8\ns_bitcmp1_b32 s2, 0\n"
                                         "s_cbranch_scc1 1f\ns_mov_b64 exec, 1\n1:\n"
                                         "global_load_dword v4, v1, s[4:5]\nv_add_u32 v1, 0x2000, v1\n"
                                         "s_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0\ns_cbranch_scc1 1b\n"
                                         "s_cmp_lg_u32 s2, 7\ns_cbranch_scc1 3f\ns_mov_b32 s13, 2000\n2:\n"
                                         "s_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0\ns_cbranch_scc1 2b\n"
                                         "3:\ns_waitcnt vmcnt(0)\ns_endpgm\n");
  for (const Timing timing : {Timing::On, Timing::Only}) {
    Memory memory;
    run.launch.kernarg.clear();
    run.argument(*memory.allocate(0x10000));
    run.launch.grid = {256, 1, 1};
    run.launch.block = {64, 1, 1};
    run.launch.timing = timing;
    const Report report = run(memory);
    ASSERT_TRUE(report.time);
    EXPECT_EQ(report.time->l2_bytes, 128U * (8 + 512) * 128);
  }
}

TEST(UnevenLaunches, FillThePlacesInTheOrderOfDispatch) {
  // Eight workgroups fit into a compute unit: four times as many as there are places, of which a quarter is
  // long.
  constexpr uint32_t groups = 4 * 8 * 256;
  const auto us = [](const char *pick) {
    return time_of(std::string("s_mov_b32 s13, 60\n") + pick + "s_cselect_b32 s13, s13, 1\n", groups).us;
  };
  const double first = us("s_cmp_lt_u32 s2, 2048\n"), last = us("s_cmp_ge_u32 s2, 6144\n");
  EXPECT_NEAR(first / last, 1, 0.1) << "the long ones side by side, before or after the others";
  EXPECT_GT(first, time_of("s_mov_b32 s13, 60\n", 2048).us);
  EXPECT_LT(first, time_of("s_mov_b32 s13, 60\n", groups).us / 2);
}

TEST(UnevenLaunches, WithAVeryLongWorkgroupAreTimedInBothWays) {
  // More instructions than are kept of one of the eight workgroups that share a compute unit. Each step loads
  // the same line: iterations that are not executed could not tell where addresses wrap.
  constexpr uint32_t steps = 20'000;
  const auto us = [](const std::string &counts, uint32_t groups, Timing timing) {
    return time_of(counts, groups, timing, CacheState::Cold, "").us;
  };
  const double alone = us(one_long(0, steps), 1, Timing::Only);
  EXPECT_NEAR(us(one_long(100, steps), 4096, Timing::On) / alone, 1, 0.05);
  // Of the 4096 a sample is known, whose longest workgroup stands for one in each of two rounds.
  EXPECT_NEAR(us(one_long(100, steps), 4096, Timing::Only) / alone, 2, 0.05);
}

TEST(UnevenLaunches, OfWhichAFewAreExecutedSaySo) {
  constexpr uint32_t groups = 4096;
  const std::string even = "s_mov_b32 s13, 60\n", growing = "s_lshr_b32 s13, s2, 3\ns_add_u32 s13, s13, 1\n",
                    // As many steps in all workgroups but the last thousand, which the sample does not reach.
      ending = "s_mov_b32 s13, 60\ns_cmp_gt_u32 s2, 3000\ns_cselect_b32 s13, 1, s13\n";
  for (const auto &[steps, is_uneven] : {std::pair(even, false), {growing, true}, {ending, true}}) {
    const LaunchTime sampled = time_of(steps, groups, Timing::Only), whole = time_of(steps, groups);
    EXPECT_EQ(sampled.workgroups, groups);
    EXPECT_LT(sampled.executed_workgroups, groups);
    EXPECT_EQ(sampled.looks_uneven, is_uneven) << steps;
    EXPECT_EQ(sampled.note().find(fmt::format("timed from {} of 4096", sampled.executed_workgroups)), 0u);
    EXPECT_EQ(sampled.note().find("looks uneven") != std::string::npos, is_uneven) << sampled.note();
    EXPECT_EQ(whole.executed_workgroups, groups);
    EXPECT_FALSE(whole.looks_uneven);
    EXPECT_EQ(whole.note(), "");
  }
}

TEST(UnevenLaunches, ThatRanAreTimedAlsoWhereTheEndOfALoopIsNotToBeSeen) {
  // A counter in a vector register.
  const auto us = [](uint32_t steps) {
    TestRun run("v_mov_b32 v1, 0\n1:\nv_add_u32 v1, 1, v1\nv_cmp_gt_u32 vcc, " + std::to_string(steps) +
                ", v1\ns_cbranch_vccnz 1b\ns_endpgm\n");
    Memory memory;
    run.launch.grid = {2, 1, 1};
    run.launch.block = {64, 1, 1};
    run.launch.timing = Timing::On;
    return run(memory).time.value_or(LaunchTime()).us;
  };
  EXPECT_NEAR((us(1'500'000) - 2) / (us(150'000) - 2), 10, 0.2);
}

TEST(LaunchTiming, SaysWhyALaunchThatRanHasNoTime) {
  // An address from a product, which is not computed when the launch is timed.
  TestRun run(std::string(load_buffer) + R"(
  v_mov_b32 v0, 0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  v_mfma_f32_16x16x32_f16 v[8:11], v[0:3], v[0:3], 0
  s_nop 15
  s_nop 15
  global_load_dword v4, v8, s[4:5]
  s_endpgm
)");
  Memory memory;
  run.argument(*memory.allocate(4096));
  run.launch.block = {64, 1, 1};
  run.launch.timing = Timing::On;
  const Report report = run(memory);
  EXPECT_FALSE(report.fault) << report.fault->text;
  EXPECT_FALSE(report.time);
  ASSERT_TRUE(report.untimed);
  EXPECT_EQ(report.untimed->kind, FaultKind::OutOfBounds);
}

TEST(LaunchTiming, CountsTheBytesBetweenUnitsAndL2) {
  // 257 workgroups are one more than there are compute units.
  for (const uint32_t groups : {1u, 100u, 256u, 257u, 700u})
    EXPECT_EQ(time_of("s_mov_b32 s13, 3\n", groups).l2_bytes, groups * (3 * 256 + 256)) << groups;
}

TEST(WorkgroupSchedule, IsAListSchedule) {
  using timing::ScheduledWorkgroup;
  // Eight XCDs with 32 compute units each; on one XCD every eighth workgroup runs.
  std::vector<ScheduledWorkgroup> even(256, {1000, 10});
  const timing::WorkgroupSchedule one = timing::schedule(even, {1, 1});
  EXPECT_EQ(one.clocks, 1000);
  EXPECT_EQ(one.longest, 1000);
  EXPECT_EQ(one.most_unit_bytes, 10);

  std::vector<ScheduledWorkgroup> more(257, {1000, 10});
  EXPECT_EQ(timing::schedule(more, {1, 1}).clocks, 2000);
  EXPECT_EQ(timing::schedule(more, {1, 1}).most_unit_bytes, 20);

  // The last workgroup begins when the first places are free; as the first it hides the others.
  more.back().clocks = 5000;
  EXPECT_EQ(timing::schedule(more, {1, 1}).clocks, 6000);
  std::swap(more.front(), more.back());
  EXPECT_EQ(timing::schedule(more, {1, 1}).clocks, 5000);
  EXPECT_EQ(timing::schedule(more, {1, 1}).longest, 5000);
}

TEST(WorkgroupSchedule, WorkgroupsOfAUnitSlowEachOtherDown) {
  std::vector<timing::ScheduledWorkgroup> two(512, {1e6, 0});
  EXPECT_NEAR(timing::schedule(two, {2, 1}).clocks, 1e6, 200) << "beside the delay of the second start";
  EXPECT_NEAR(timing::schedule(two, {2, 2}).clocks, 2e6, 400);
  // The second half of the long one is alone.
  for (size_t i = 256; i < two.size(); ++i)
    two[i].clocks = 5e5;
  EXPECT_NEAR(timing::schedule(two, {2, 2}).clocks, 1.5e6, 400);
}

TEST(WorkgroupSchedule, OfNothingTakesNoTime) { EXPECT_EQ(timing::schedule({}, {1, 1}).clocks, 0); }

} // namespace
} // namespace nereid::sim::test
