// The compute unit's model against published rates: what a run of instructions adds to a workgroup's cycles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/run/profile_launch.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

std::string repeated(const std::string &text, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i)
    result += text + "\n";
  return result;
}

/// Cycles of a workgroup of `waves` waves.
double cycles(const std::string &body, unsigned waves, unsigned lds = 0) {
  TestRun run(body + "\ns_endpgm\n", {.lds_size = lds, .vgprs = 128, .agprs = 0});
  run.launch.block = {64 * waves, 1, 1};
  run.launch.timing = Timing::Only;
  Memory memory;
  auto profiled = profile_launch(run.code, memory, run.launch);
  EXPECT_TRUE(profiled.ok());
  EXPECT_FALSE(profiled->fault);
  return profiled->profile.cycles_per_workgroup;
}

/// What each repetition of some instructions takes.
double clocks_of(const std::string &text, unsigned waves = 1, const std::string &before = "",
                 unsigned lds = 0) {
  constexpr unsigned few = 64, many = 192;
  return (cycles(before + repeated(text, many), waves, lds) -
          cycles(before + repeated(text, few), waves, lds)) /
         (many - few);
}

const std::string scaled16 = "v_mfma_scale_f32_16x16x128_f8f6f4 v[8:11], v[0:3], v[4:7], v[8:11], v12, v13 "
                             "op_sel_hi:[0,0,0] cbsz:4 blgp:4";
const std::string scaled32 = "v_mfma_scale_f32_32x32x64_f8f6f4 v[16:31], v[0:3], v[4:7], v[16:31], v12, v13 "
                             "op_sel_hi:[0,0,0] cbsz:4 blgp:4";
const std::string move = "\nv_mov_b32 v40, v41";

TEST(UnitTiming, MatrixProductsIssueAtTheRateOfTheirPasses) {
  EXPECT_EQ(clocks_of(scaled16), 16);
  EXPECT_EQ(clocks_of(scaled32), 32);
  EXPECT_EQ(clocks_of("v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[0:7], v[16:23], v[8:11]"), 32); // both fp8
  EXPECT_EQ(clocks_of("v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], v[8:11]"), 16);
  EXPECT_EQ(clocks_of("v_mfma_f32_32x32x16_f16 v[16:31], v[0:3], v[4:7], v[16:31]"), 32);
  EXPECT_EQ(clocks_of("v_mfma_i32_16x16x64_i8 v[8:11], v[0:3], v[4:7], v[8:11]"), 16);
  EXPECT_EQ(clocks_of("v_mfma_f32_16x16x4_f32 v[8:11], v0, v1, v[8:11]"), 32);
}

/// What a power limit sees of an MFMA for each clock that it takes.
double flop_a_clock(const std::string &product) {
  TestRun run(repeated(product, 16) + "s_endpgm\n");
  run.launch.timing = Timing::Only;
  Memory memory;
  const auto profiled = profile_launch(run.code, memory, run.launch);
  double flop = 0, clocks = 0;
  for (const PhaseProfile &phase : profiled->profile.rounds.front().phases) {
    flop += phase.matrix_flop;
    clocks += phase.mfma_cycles;
  }
  return flop / clocks;
}

TEST(UnitTiming, PowerGoesWithTheClocksOfTheMatrixCoresWhateverTheFormat) {
  EXPECT_EQ(flop_a_clock(scaled16), 4096);
  EXPECT_EQ(flop_a_clock("v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[0:7], v[16:23], v[8:11]"), 4096);
  EXPECT_EQ(flop_a_clock("v_mfma_f32_32x32x16_f16 v[16:31], v[0:3], v[4:7], v[16:31]"), 4096);
  EXPECT_EQ(flop_a_clock("v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], v[8:11]"), 4096);
}

TEST(UnitTiming, OneInstructionHidesUnderASmallScaledProductAndFiveUnderALargeOne) {
  EXPECT_EQ(clocks_of(scaled16 + move), 16);
  EXPECT_EQ(clocks_of(scaled16 + move + move), 20);
  EXPECT_EQ(clocks_of(scaled32 + move + move + move + move + move), 32);
  EXPECT_EQ(clocks_of(scaled32 + move + move + move + move + move + move), 36);
}

TEST(UnitTiming, TwoInstructionsHideUnderAProductWithoutScales) {
  const std::string product = "v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], v[8:11]";
  EXPECT_EQ(clocks_of(product + move + move), 16);
  EXPECT_EQ(clocks_of(product + move + move + move), 20);
}

TEST(UnitTiming, PackedF32KeepsAwayFromProducts) {
  EXPECT_EQ(clocks_of("v_pk_fma_f32 v[40:41], v[42:43], v[44:45], v[46:47]"), 4);
  EXPECT_EQ(clocks_of(scaled16 + "\nv_pk_fma_f32 v[40:41], v[42:43], v[44:45], v[46:47]"), 16 + 12 + 4);
}

TEST(UnitTiming, VectorInstructionsTakeFourClocksAndSlowOnesMore) {
  EXPECT_EQ(clocks_of("v_add_f32 v0, v1, v2"), 4);
  EXPECT_EQ(clocks_of("v_exp_f32 v0, v1"), 8);
  EXPECT_EQ(clocks_of("v_mul_lo_u32 v0, v1, v2"), 16);
  EXPECT_EQ(clocks_of("v_permlane32_swap_b32 v0, v1"), 8);
  EXPECT_EQ(clocks_of("s_add_u32 s20, s20, 1"), 4);
  EXPECT_EQ(clocks_of("s_nop 3"), 16);
  EXPECT_EQ(clocks_of("s_sleep 2"), 2 * 64 + 4);
}

TEST(UnitTiming, WavesOfASimdShareItsPipesAndOthersDoNot) {
  EXPECT_EQ(clocks_of("v_add_f32 v0, v1, v2", 4), 4);
  EXPECT_EQ(clocks_of("v_add_f32 v0, v1, v2", 8), 8);
  EXPECT_EQ(clocks_of(scaled16, 8), 32);
  // A scalar instruction of one wave issues beside a vector one of another.
  EXPECT_EQ(clocks_of("v_add_f32 v0, v1, v2\ns_add_u32 s20, s20, 1", 8), 8);
}

/// v1 = lane * stride.
std::string lane_times(unsigned stride) { return fmt::format("v_mul_u32_u24 v1, {}, v0\n", stride); }
const std::string read_four = "ds_read_b128 v[4:7], v1";

TEST(UnitTiming, LdsReadsReachTheMeasuredRates) {
  constexpr unsigned lds = 64 * 1024;
  const std::string before = "v_and_b32 v0, 63, v0\n";
  // AMD's table of ds_read_b128: clocks an instruction with one wave in the compute unit and with four.
  const struct {
    unsigned stride;
    double alone, of_four;
  } rows[] = {{16, 8, 16}, {32, 8, 32}, {64, 16, 64}, {128, 32, 128}};
  for (const auto &row : rows) {
    EXPECT_EQ(clocks_of(read_four, 1, before + lane_times(row.stride), lds), row.alone) << row.stride;
    EXPECT_EQ(clocks_of(read_four, 4, before + lane_times(row.stride), lds), row.of_four) << row.stride;
  }
  EXPECT_EQ(clocks_of("ds_read_b64 v[4:5], v1", 4, before + lane_times(8), lds), 8);
}

TEST(UnitTiming, ABarrierWaitsForTheLastWave) {
  const std::string late = "v_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccz 1f\n" + repeated("s_nop 15", 100) +
                           "1:\ns_barrier\n" + repeated("v_mov_b32 v40, v41", 10);
  const std::string alone = repeated("s_nop 15", 100);
  EXPECT_GE(cycles(late, 4), cycles(alone, 1) + 40);
  EXPECT_LE(cycles(late, 4), cycles(alone, 1) + 120);
}

} // namespace
} // namespace nereid::sim::test
