// Timed launches: what is executed, what it leaves, and what the time depends on.
#include <chrono>
#include <cstring>

#include <gtest/gtest.h>

#include "base/progress.h"
#include "sim/run/profile_launch.h"
#include "tests/sim/assembler.h"
#include "tests/support/terminal.h"

namespace nereid::sim::test {
namespace {

/// Each workgroup adds 1 to its own 256 words of a buffer, in a loop of 8 steps over 64 KiB that all share.
const std::string kernel = std::string(load_buffer) + R"(
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s12, s2, 10
  v_add_u32 v2, s12, v1
  s_mov_b32 s13, 8
  v_mov_b32 v5, 0
1:
  global_load_dword v4, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v5, v5, v4
  v_add_u32 v1, 0x400, v1
  s_sub_u32 s13, s13, 1
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 1b
  v_mov_b32 v5, 1
  s_add_u32 s4, s4, 0x10000
  s_addc_u32 s5, s5, 0
  global_store_dword v2, v5, s[4:5]
  s_endpgm
)";

struct Timed {
  TestRun run{kernel};
  Memory memory;
  uint64_t buffer = 0;

  explicit Timed(uint32_t groups) {
    buffer = *memory.allocate(0x10000 + size_t{groups} * 1024);
    run.argument(buffer);
    run.launch.grid = {groups, 1, 1};
    run.launch.block = {256, 1, 1};
  }
  Report operator()(Timing timing, CacheState caches = CacheState::Cold) {
    run.launch.timing = timing;
    run.launch.caches = caches;
    return run(memory);
  }
  uint32_t word(size_t index) {
    uint32_t value = 0;
    EXPECT_TRUE(memory.read(buffer + 0x10000 + index * 4, &value, 4).ok());
    return value;
  }
};

TEST(LaunchTiming, OffGivesNoTime) {
  Timed timed(4);
  EXPECT_FALSE(timed(Timing::Off).time);
}

TEST(LaunchTiming, OnRunsTheWholeLaunchAsWithoutIt) {
  Timed timed(600), plain(600);
  const Report report = timed(Timing::On), same = plain(Timing::Off);
  ASSERT_TRUE(report.time);
  EXPECT_EQ(report.counts.total, same.counts.total);
  EXPECT_EQ(report.waves, same.waves);
  for (size_t group = 0; group < 600; ++group)
    ASSERT_EQ(timed.word(group * 256), 1u);
}

TEST(LaunchTiming, OnlyExecutesAFewWorkgroupsOfALargeGrid) {
  Timed small(512), large(50'000);
  const Report few = small(Timing::Only), many = large(Timing::Only);
  ASSERT_TRUE(few.time && many.time);
  EXPECT_LE(many.counts.total, few.counts.total * 2);
  EXPECT_GT(many.time->us, few.time->us);
}

TEST(LaunchTiming, OnAndOnlyGiveTheSameTime) {
  Timed a(300), b(300);
  const Report on = a(Timing::On), only = b(Timing::Only);
  EXPECT_EQ(on.time->us, only.time->us);
  EXPECT_EQ(on.time->cycles_per_workgroup, only.time->cycles_per_workgroup);
  EXPECT_EQ(on.time->stalls, only.time->stalls);
}

TEST(LaunchTiming, EqualLaunchesTakeEqualTimes) {
  Timed a(300), b(300);
  EXPECT_EQ(a(Timing::Only).time->us, b(Timing::Only).time->us);
}

TEST(LaunchTiming, WarmCachesAreFasterThanColdOnes) {
  Timed a(300), b(300), c(300);
  const double cold = a(Timing::Only, CacheState::Cold).time->us,
               rotating = b(Timing::Only, CacheState::Rotating).time->us,
               warm = c(Timing::Only, CacheState::Warm).time->us;
  EXPECT_LT(warm, cold);
  EXPECT_LE(warm, rotating);
  EXPECT_LE(rotating, cold);
}

TEST(LaunchTiming, SharesOfStallsSumToOneAndALatencyBoundLoopWaitsForMemory) {
  Timed timed(100);
  const LaunchTime time = *timed(Timing::Only).time;
  double sum = 0;
  for (const auto &[reason, share] : time.stalls)
    sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_GT(time.stalls.at("vector memory"), 0.5);
  EXPECT_LE(time.clock_ghz, 2.4);
}

TEST(LaunchTiming, AFaultIsReportedInPlaceOfATime) {
  TestRun run(std::string(load_buffer) + "v_mov_b32 v1, 0\nglobal_load_dword v2, v1, s[10:11]\ns_endpgm\n");
  Memory memory;
  run.argument(*memory.allocate(4096));
  run.launch.timing = Timing::Only;
  const Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::OutOfBounds);
  EXPECT_FALSE(report.time);
}

TEST(LaunchTiming, AnEndlessKernelEndsWithTheBudget) {
  TestRun run("1:\ns_branch 1b\n");
  Memory memory;
  run.launch.timing = Timing::Only;
  run.launch.instruction_budget = 100'000;
  const Report report = run(memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Budget);
}

/// A workgroup of 4 waves in a loop of `trips` steps over the same 64 KiB, by a counter as the text says.
struct Loop {
  TestRun run;
  Memory memory;

  Loop(uint32_t trips, const std::string &count, bool barrier = true)
      : run(std::string(load_buffer) + "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 s13, " + std::to_string(trips) +
            "\ns_mov_b32 s14, 0\n1:\nglobal_load_dword v4, v1, s[4:5]\ns_waitcnt vmcnt(0)\n" +
            (barrier ? "s_barrier\n" : "") + count + "\ns_cbranch_scc1 1b\ns_endpgm\n") {
    const uint64_t buffer = *memory.allocate(0x10000);
    EXPECT_TRUE(memory.fill(buffer, std::byte{0}, 0x10000).ok());
    run.argument(buffer);
    run.launch.grid = {300, 1, 1};
    run.launch.block = {256, 1, 1};
    run.launch.timing = Timing::Only;
  }
};

TEST(LongLoops, TakeNoLongerToTimeAndAsLongAsTheyAre) {
  const char *counters[] = {"s_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0",
                            "s_add_i32 s14, s14, 4\ns_lshl_b32 s15, s13, 2\ns_cmp_lt_i32 s14, s15"};
  for (const char *counter : counters) {
    Loop shorter(20'000, counter), longer(2'000'000, counter);
    const Report some = shorter.run(shorter.memory), many = longer.run(longer.memory);
    ASSERT_TRUE(some.time && many.time) << (many.fault ? many.fault->text : "");
    EXPECT_NEAR((many.time->us - 2) / (some.time->us - 2), 100, 2) << counter;
    EXPECT_LT(many.counts.total, 4'000'000u);
  }
}

TEST(LongLoops, ThatAreExtrapolatedTakeWhatTheyTakeExecuted) {
  const char *counter = "s_sub_u32 s13, s13, 1\ns_cmp_lg_u32 s13, 0";
  // The first is executed as a whole, the second is not.
  Loop whole(10'000, counter), part(80'000, counter);
  const double cycles = whole.run(whole.memory).time->cycles_per_workgroup;
  EXPECT_NEAR(part.run(part.memory).time->cycles_per_workgroup / cycles, 8, 0.08);
}

TEST(LongLoops, WithoutACounterEndWithAFaultThatSaysSo) {
  Loop spins(1, "s_load_dword s16, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_lg_u32 s16, 1", false);
  const Report report = spins.run(spins.memory);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Budget);
  EXPECT_NE(report.fault->text.find("has not ended"), std::string::npos) << report.fault->text;
  EXPECT_LT(report.counts.total, 4'000'000u);
}

TEST(LaunchTiming, RoundsAfterTheFirstFindTheCode) {
  Timed cold(16 * 4 * 256), warm(16 * 4 * 256);
  const double us =
      cold(Timing::Only, CacheState::Cold).time->us - warm(Timing::Only, CacheState::Rotating).time->us;
  EXPECT_LT(us, 2.5) << "one fetch of the code and one of the operands, not one a round";
}

TEST(LaunchTiming, SaysOnATerminalWhatTakesLong) {
  const auto shown = [](Timed &timed, std::chrono::milliseconds delay) {
    const auto before = progress_delay();
    set_progress_delay(delay);
    const std::string text = nereid::test::on_terminal([&] { timed(Timing::Only); });
    set_progress_delay(before);
    return text;
  };
  Timed timed(16 * 4 * 256);
  const std::string text = shown(timed, std::chrono::milliseconds(0));
  EXPECT_EQ(text.find("\r\x1b[Ktiming kernel 'k', 0 s"), 0U) << text;
  EXPECT_TRUE(text.ends_with(" s\r\x1b[K")) << text;
  EXPECT_EQ(shown(timed, std::chrono::hours(1)), "") << "a short one";
  testing::internal::CaptureStderr();
  set_progress_delay(std::chrono::milliseconds(0));
  timed(Timing::Only);
  set_progress_delay(std::chrono::seconds(1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "no terminal";
}

TEST(LaunchProfile, CountsTheBytesThatWorkgroupsShareOnce) {
  Timed timed(256);
  timed.run.launch.timing = Timing::Only;
  const auto profiled = profile_launch(timed.run.code, timed.memory, timed.run.launch);
  ASSERT_TRUE(profiled.ok());
  ASSERT_EQ(profiled->profile.rounds.size(), 1u);
  const RoundProfile &round = profiled->profile.rounds.front();
  EXPECT_EQ(round.workgroups, 256u);
  EXPECT_EQ(round.compute_units, 256u);
  double loads = 0, fabric = 0, hbm = 0, stores = 0;
  for (const PhaseProfile &phase : round.phases) {
    loads += phase.load_bytes;
    fabric += phase.fabric_bytes;
    hbm += phase.hbm_bytes;
    stores += phase.store_bytes;
  }
  EXPECT_EQ(loads, 8 * 1024); // of a workgroup
  EXPECT_EQ(stores, 1024);
  EXPECT_DOUBLE_EQ(fabric, 8 * 1024); // of an XCD: its 32 workgroups read the same
  EXPECT_DOUBLE_EQ(hbm, 8 * 1024);    // of the device
}

TEST(LaunchProfile, RoundsAreAsManyAsWorkgroupsFit) {
  // 8 workgroups of 4 waves with 128 registers fit by waves 8, by registers 4 a SIMD.
  Timed timed(2 * 4 * 256 + 10);
  timed.run.launch.timing = Timing::Only;
  const auto profiled = profile_launch(timed.run.code, timed.memory, timed.run.launch);
  ASSERT_TRUE(profiled.ok());
  uint64_t groups = 0;
  for (const RoundProfile &round : profiled->profile.rounds)
    groups += round.workgroups * round.repeats;
  EXPECT_EQ(groups, 2u * 4 * 256 + 10);
  EXPECT_EQ(profiled->profile.rounds.back().workgroups,
            (2 * 4 * 256 + 10) % profiled->profile.rounds.front().workgroups);
}

} // namespace
} // namespace nereid::sim::test
