// What a report says of a simulated launch: accesses, banks, stalls, the timeline.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inspect/inspect.h"
#include "inspect/render/render.h"
#include "tests/sim/assembler.h"

namespace nereid::inspect {
namespace {

/// Runs waves of a kernel that gets the address of `bytes` bytes in s[4:5].
Report run(const std::string &body, unsigned waves = 1, unsigned lds = 0, uint64_t bytes = 1 << 20) {
  const auto object =
      sim::test::assemble("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + body + "\ns_endpgm",
                          {.kernarg_size = 8, .lds_size = lds});
  RunRequest request;
  request.block = {64 * waves, 1, 1};
  request.arguments = {RunArgument::buffer(bytes)};
  const Result<Report> report = report_of(object, "k", &request);
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error().text());
  return report.value();
}

const Instruction &instruction(const Report &report, const std::string &text) {
  const auto found = std::find_if(report.code.begin(), report.code.end(),
                                  [&](const Instruction &of) { return of.text.starts_with(text); });
  if (found == report.code.end())
    throw std::runtime_error("there is no " + text);
  return *found;
}

struct AccessRow {
  const char *what;
  std::string body;
  double lines_each;
  double coalescing;
};

TEST(Coalescing, CountsTheLinesThatAnInstructionTouches) {
  const AccessRow rows[] = {
      {"neighbours of 4 bytes", "v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]", 2, 1},
      {"neighbours of 16 bytes", "v_lshlrev_b32 v1, 4, v0\nglobal_load_dwordx4 v[4:7], v1, s[4:5]", 8, 1},
      {"a line a lane", "v_lshlrev_b32 v1, 7, v0\nglobal_load_dword v2, v1, s[4:5]", 64, 2.0 / 64},
      {"every second word", "v_lshlrev_b32 v1, 3, v0\nglobal_load_dword v2, v1, s[4:5]", 4, 0.5},
      {"one word for all", "v_mov_b32 v1, 0\nglobal_load_dword v2, v1, s[4:5]", 1, 1},
      {"across lines", "v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5] offset:64", 3, 2.0 / 3},
  };
  for (const AccessRow &row : rows) {
    const Report report = run(row.body + "\ns_waitcnt vmcnt(0)");
    const auto &global = instruction(report, "global_load").global;
    ASSERT_TRUE(global) << row.what;
    EXPECT_EQ(global->executed, 1U) << row.what;
    EXPECT_DOUBLE_EQ(global->lines_each(), row.lines_each) << row.what;
    EXPECT_DOUBLE_EQ(global->coalescing(), row.coalescing) << row.what;
    EXPECT_FALSE(global->writes);
  }
}

TEST(LdsBanks, CountsTheClocksThatConflictsCost) {
  // A word a lane takes the banks one clock; lanes 256 bytes apart want another row of one bank each.
  for (const auto &[shift, clocks, conflicts] : {std::tuple(2U, 1U, 0U), std::tuple(8U, 64U, 63U)}) {
    const Report report = run(
        fmt::format("v_lshlrev_b32 v1, {}, v0\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)", shift), 1, 16384);
    const auto &lds = instruction(report, "ds_read_b32").lds;
    ASSERT_TRUE(lds);
    EXPECT_EQ(lds->clocks, clocks);
    EXPECT_EQ(lds->conflict_clocks(), conflicts);
    EXPECT_EQ(lds->first, 0U);
    EXPECT_EQ(lds->end, (63U << shift) + 4);
    ASSERT_EQ(lds->lanes.size(), 64U);
    EXPECT_EQ(lds->lanes[63], 63 << shift);
    EXPECT_FALSE(lds->writes);
    EXPECT_EQ(lds->banks, 64U);
  }
}

TEST(LdsBanks, TwoLocationsALaneAreOneInstruction) {
  const Report report = run(
      "v_lshlrev_b32 v1, 2, v0\nds_read2_b32 v[2:3], v1 offset0:0 offset1:64\ns_waitcnt lgkmcnt(0)", 1, 1024);
  const auto &lds = instruction(report, "ds_read2_b32").lds;
  ASSERT_TRUE(lds);
  EXPECT_EQ(lds->executed, 1U);
  EXPECT_EQ(lds->bytes, 512U);
  EXPECT_EQ(lds->clocks, 2U);
  EXPECT_EQ(lds->conflict_clocks(), 0U);
  EXPECT_EQ(lds->end, 512U);
}

TEST(Stalls, StandAtTheWaitThatNeedsTheLoad) {
  const Report report = run("v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\nv_mov_b32 v3, "
                            "1\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v2");
  const Instruction &wait = instruction(report, "s_waitcnt vmcnt(0)");
  ASSERT_TRUE(wait.stalls.contains("vector memory"));
  // A cold load takes a round trip to HBM.
  EXPECT_GT(wait.stalls.at("vector memory"), 500);
  EXPECT_LT(instruction(report, "v_mov_b32_e32 v3").stall_clocks(), 8);
  EXPECT_EQ(wait.executed, 1);
  EXPECT_GT(report.run->us, 0);
  EXPECT_FALSE(report.run->limit.empty());
}

TEST(Stalls, OfABarrierStandAtTheBarrier) {
  // Wave 1 skips what wave 0 sleeps.
  const Report report = run(
      "v_readfirstlane_b32 s6, v0\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 skip\ns_sleep 20\nskip:\ns_barrier", 2);
  const auto &stalls = instruction(report, "s_barrier").stalls;
  ASSERT_TRUE(stalls.contains("barrier"));
  EXPECT_GT(stalls.at("barrier"), 20 * 64 / 2) << "the mean of both waves, one of which waits for the sleep";
}

TEST(Timeline, HasEveryIssueInOrderOfTime) {
  const Report report =
      run("s_mov_b32 s6, 0\nloop:\nv_add_u32 v1, v1, v0\nv_add_u32 v1, v1, v0\ns_add_u32 s6, s6, 1\n"
          "s_cmp_lt_u32 s6, 50\ns_cbranch_scc1 loop",
          2);
  ASSERT_EQ(report.hot_loop, 0);
  EXPECT_EQ(report.loops[0].iterations, 50);
  const std::vector<Issue> &timeline = report.run->timeline;
  const auto of_wave = [&](unsigned wave) {
    return std::count_if(timeline.begin(), timeline.end(),
                         [=](const Issue &issue) { return issue.wave == wave; });
  };
  EXPECT_EQ(of_wave(0), 2 + 1 + 5 * 50 + 1);
  EXPECT_EQ(of_wave(1), of_wave(0));
  EXPECT_FALSE(report.run->timeline_is_cut);
  for (const Issue &issue : timeline) {
    EXPECT_LE(issue.ready, issue.issue);
    EXPECT_LE(issue.issue, issue.end);
    EXPECT_LT(issue.instruction, report.code.size());
    EXPECT_EQ(issue.issue > issue.ready, !report.run->reasons[issue.reason].empty());
  }
}

TEST(Timeline, ClocksOfInstructionsAddUpToTheTimeOfTheirWaves) {
  const Report report = run("v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
                            "ds_write_b32 v1, v2\ns_barrier\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)",
                            4, 1024);
  double spent = 0, lasted = 0;
  for (const Instruction &instruction : report.code)
    spent += instruction.issue_clocks + instruction.stall_clocks();
  for (unsigned wave = 0; wave < 4; ++wave) {
    uint32_t first = ~0U, last = 0;
    for (const Issue &issue : report.run->timeline)
      if (issue.wave == wave) {
        first = std::min(first, issue.ready);
        last = std::max(last, issue.end);
      }
    lasted += (last - first) / 4.0;
  }
  EXPECT_DOUBLE_EQ(spent, lasted);
}

TEST(Timeline, OfALongLoopStandsForAllOfIt) {
  const Report report = run("s_mov_b32 s6, 0\nloop:\nv_add_u32 v1, v1, v0\ns_add_u32 s6, s6, 1\n"
                            "s_cmp_lt_u32 s6, 0x100000\ns_cbranch_scc1 loop");
  EXPECT_NEAR(report.loops[0].iterations, 0x100000, 0x100000 * 0.01);
  EXPECT_TRUE(report.run->timeline_is_cut);
  EXPECT_LE(report.run->timeline.size(), 12'000U);
  EXPECT_LT(to_html(report).size(), 2'000'000U);
}

TEST(Traffic, NamesTheBytesOfEachLevel) {
  const Report report =
      run("v_lshlrev_b32 v1, 4, v0\nglobal_load_dwordx4 v[4:7], v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
          "ds_write_b128 v1, v[4:7]\ns_waitcnt lgkmcnt(0)",
          1, 1024);
  std::map<std::string, double> bytes;
  for (const Traffic &traffic : report.run->traffic)
    bytes[traffic.level] = traffic.bytes;
  EXPECT_EQ(bytes.at("LDS"), 1024);
  EXPECT_EQ(bytes.at("L2"), 1024);
  EXPECT_EQ(bytes.at("HBM"), 1024);
}

TEST(RunOfAReport, RefusesArgumentsThatDoNotFit) {
  const auto object = sim::test::assemble("s_endpgm", {.kernarg_size = 8});
  RunRequest request;
  request.block = {64, 1, 1};
  EXPECT_EQ(report_of(object, "k", &request).error().owner, Owner::User) << "none given";
  request.arguments = {RunArgument::number(1)};
  EXPECT_EQ(report_of(object, "k", &request).error().owner, Owner::User) << "a number for memory";
  request.arguments = {RunArgument::buffer(64)};
  request.block = {0, 1, 1};
  EXPECT_EQ(report_of(object, "k", &request).error().owner, Owner::User) << "an empty block";
  request.block = {64, 1, 1};
  request.caches = "lukewarm";
  EXPECT_NE(report_of(object, "k", &request).error().text().find("lukewarm"), std::string::npos);
}

TEST(RunOfAReport, AFaultIsTheDevices) {
  const auto object =
      sim::test::assemble("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0\n"
                          "global_load_dword v2, v1, s[4:5] offset:4092\ns_waitcnt vmcnt(0)\ns_endpgm",
                          {.kernarg_size = 8});
  RunRequest request;
  request.block = {64, 1, 1};
  request.arguments = {RunArgument::buffer(256)};
  const auto report = report_of(object, "k", &request);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().owner, Owner::Device);
}

} // namespace
} // namespace nereid::inspect
