// The check of software wait states: each row of the table with exactly as many states as it asks for, which
// is right, and with one less, which is found.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

Report execute(const std::string &body) {
  KernelOptions options;
  options.lds_size = 4096;
  TestRun run(load_buffer +
                  std::string("v_mov_b32 v1, 0\nv_mov_b32 v60, 0\nv_mov_b32 v62, s4\nv_mov_b32 v63, s5\n"
                              "s_mov_b32 s20, 0\ns_mov_b32 m0, 0\ns_nop 15\ns_nop 15\n") +
                  body,
              options);
  run.launch.block = {64, 1, 1};
  run.launch.checks.hazard = true;
  return run_on_buffer(run);
}

/// s_nop that make a number of wait states.
std::string wait_states(unsigned count) {
  std::string text;
  for (; count > 16; count -= 16)
    text += "s_nop 15\n";
  return count ? text + fmt::format("s_nop {}\n", count - 1) : text;
}

struct Case {
  const char *name;
  const char *first;
  const char *second;
  unsigned states;  ///< 0: the hardware waits
  const char *text; ///< a part of what the fault says
};

class Hazards : public testing::TestWithParam<Case> {};

TEST_P(Hazards, AreFoundBelowTheirWaitStates) {
  const Case &row = GetParam();
  const std::string first = std::string(row.first) + "\n";
  const Report right = execute(first + wait_states(row.states) + row.second);
  EXPECT_FALSE(right.fault) << right.fault->error().text();
  if (row.states == 0)
    return;
  const Report report = execute(first + wait_states(row.states - 1) + row.second);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Hazard);
  EXPECT_NE(report.fault->text.find(row.text), std::string::npos) << report.fault->text;
  EXPECT_NE(report.fault->text.find(
                fmt::format("is {} wait states before, {} are needed", row.states - 1, row.states)),
            std::string::npos)
      << report.fault->text;
}

#define BF16_16 "v_mfma_f32_16x16x32_bf16 v[0:3], v[12:15], v[16:19], v[0:3]"
#define BF16_32 "v_mfma_f32_32x32x16_bf16 v[64:79], v[12:15], v[16:19], v[64:79]"
#define F32_16 "v_mfma_f32_16x16x4_f32 v[0:3], v12, v16, v[0:3]"
#define F32_32 "v_mfma_f32_32x32x2_f32 v[64:79], v12, v16, v[64:79]"
#define F16_4 "v_mfma_f32_4x4x4_16b_f16 v[0:3], v[12:13], v[16:17], v[0:3]"
#define F16_BLOCKS "v_mfma_f32_32x32x4_2b_f16 v[64:95], v[12:13], v[16:17], v[64:95]"
#define FP4_16 "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[12:15], v[16:19], v[0:3], v8, v9 cbsz:4 blgp:4"
#define FP8_16 "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[12:19], v[20:27], v[0:3], v8, v9"
#define FP8_FP4_16 "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[12:19], v[20:23], v[0:3] blgp:4"
#define FP4_32 "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[12:15], v[16:19], v[64:79] cbsz:4 blgp:4"
#define FP8_32 "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[12:19], v[20:27], v[64:79]"
#define F64_16 "v_mfma_f64_16x16x4_f64 v[64:71], v[12:13], v[16:17], v[64:71]"
#define F64_4 "v_mfma_f64_4x4x4_4b_f64 v[64:65], v[12:13], v[16:17], v[64:65]"
#define SPARSE_16 "v_smfmac_f32_16x16x64_bf16 v[0:3], v[12:15], v[16:23], v24"

constexpr Case matrix_results[] = {
    {"Bf16", BF16_16, "v_mov_b32 v30, v3", 8, "reads what a matrix operation writes (v3)"},
    {"Bf16Rows32", BF16_32, "v_mov_b32 v30, v79", 12, "(v79)"},
    {"F32", F32_16, "v_mov_b32 v30, v0", 10, "(v0)"},
    {"F32Rows32", F32_32, "v_mov_b32 v30, v64", 18, "(v64)"},
    {"F16Rows4", F16_4, "v_mov_b32 v30, v0", 5, "(v0)"},
    {"F16Blocks", F16_BLOCKS, "v_mov_b32 v30, v95", 19, "(v95)"},
    {"Fp4", FP4_16, "v_mov_b32 v30, v0", 8, "(v0)"},
    {"Fp8", FP8_16, "v_mov_b32 v30, v0", 12, "(v0)"},
    {"Fp8AndFp4", FP8_FP4_16, "v_mov_b32 v30, v0", 12, "(v0)"},
    {"Fp4Rows32", FP4_32, "v_mov_b32 v30, v64", 12, "(v64)"},
    {"Fp8Rows32", FP8_32, "v_mov_b32 v30, v64", 19, "(v64)"},
    {"F64", F64_16, "v_mov_b32 v30, v64", 19, "(v64)"},
    {"F64Rows4", F64_4, "v_mov_b32 v30, v64", 6, "(v64)"},
    {"Sparse", SPARSE_16, "v_mov_b32 v30, v0", 8, "(v0)"},
    {"Store", BF16_16, "global_store_dword v60, v1, s[4:5]", 8, "(v1)"},
    {"LdsStore", BF16_16, "ds_write_b32 v60, v1", 8, "(v1)"},
    {"F64Store", F64_16, "global_store_dword v60, v64, s[4:5]", 18, "(v64)"},
    {"F64Rows4Store", F64_4, "global_store_dword v60, v64, s[4:5]", 9, "(v64)"},
    {"Accumulation", "v_mfma_f32_16x16x32_bf16 a[0:3], v[12:15], v[16:19], a[0:3]",
     "v_accvgpr_read_b32 v30, a2", 8, "(a2)"},
    {"Overwritten", BF16_16, "v_mov_b32 v3, 0", 8, "overwrites what a matrix operation writes (v3)"},
    {"F64Overwritten", F64_16, "v_mov_b32 v64, 0", 11, "overwrites"},
    {"OverwrittenByALoad", BF16_16, "ds_read_b32 v3, v60", 8, "overwrites"},
    {"OtherRegisters", BF16_16, "v_mov_b32 v4, v5", 0, ""},
    {"Operand", BF16_16, "v_mfma_f32_16x16x32_bf16 v[30:33], v[0:3], v[16:19], v[30:33]", 8,
     "has as operand what a matrix operation writes (v0)"},
    {"Scale", BF16_16,
     "v_mfma_scale_f32_16x16x128_f8f6f4 v[30:33], v[12:15], v[16:19], v[30:33], v2, v9 cbsz:4 blgp:4", 8,
     "(v2)"},
    {"F32Operand", F32_16, "v_mfma_f32_16x16x4_f32 v[30:33], v12, v3, v[30:33]", 10, "(v3)"},
    {"F64Operand", F64_16, "v_mfma_f64_16x16x4_f64 v[80:87], v[64:65], v[16:17], v[80:87]", 19, "(v64)"},
    {"SparseIndex", BF16_16, "v_smfmac_f32_16x16x64_bf16 v[30:33], v[12:15], v[16:23], v3", 8, "(v3)"},
    {"SameAccumulator", BF16_16, BF16_16, 0, ""},
    {"SameAccumulatorOfAnother", BF16_16, FP4_16, 0, ""},
    {"SameAccumulatorRows4", F16_4, F16_4, 2, "accumulates on a part"},
    {"SameAccumulatorF64Rows4", F64_4, F64_4, 4, "accumulates"},
    {"SameAccumulatorF64", F64_16, F64_16, 0, ""},
    {"SparseAccumulator", SPARSE_16, SPARSE_16, 0, ""},
    {"PartOfAccumulator", BF16_16, "v_mfma_f32_16x16x32_bf16 v[2:5], v[12:15], v[16:19], v[2:5]", 6,
     "accumulates on a part of what a matrix operation writes (v2)"},
    {"PartOfAccumulatorRows32", BF16_32, "v_mfma_f32_16x16x32_bf16 v[64:67], v[12:15], v[16:19], v[64:67]",
     10, "accumulates"},
    {"PartOfAccumulatorFp8", FP8_32, "v_mfma_f32_16x16x32_bf16 v[64:67], v[12:15], v[16:19], v[64:67]", 18,
     "accumulates"},
    {"PartOfAccumulatorF32", F32_16, "v_mfma_f32_16x16x4_f32 v[2:5], v12, v16, v[2:5]", 8, "accumulates"},
    {"PartOfAccumulatorF32ThenBf16", F32_16, "v_mfma_f32_16x16x32_bf16 v[2:5], v[12:15], v[16:19], v[2:5]", 0,
     ""},
    {"PartOfAccumulatorF64", F64_16, "v_mfma_f64_16x16x4_f64 v[66:73], v[12:13], v[16:17], v[66:73]", 17,
     "accumulates"},
    {"AccumulatorOverwritten", "v_mfma_f32_16x16x32_bf16 v[30:33], v[12:15], v[16:19], v[0:3]",
     "v_mov_b32 v3, 0", 3, "overwrites what a matrix operation accumulates on (v3)"},
    {"AccumulatorOverwrittenRows32", "v_mfma_f32_32x32x16_bf16 v[64:79], v[12:15], v[16:19], v[80:95]",
     "v_mov_b32 v80, 0", 7, "accumulates on"},
    {"AccumulatorOverwrittenFp8", "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[12:19], v[20:27], v[80:95]",
     "v_mov_b32 v80, 0", 15, "accumulates on"},
    {"AccumulatorOverwrittenRows4", "v_mfma_f32_4x4x4_16b_f16 v[30:33], v[12:13], v[16:17], v[0:3]",
     "v_mov_b32 v3, 0", 1, "accumulates on"},
    {"AccumulatorOverwrittenF32", "v_mfma_f32_16x16x4_f32 v[30:33], v12, v16, v[0:3]", "v_mov_b32 v3, 0", 0,
     ""},
    {"OperandOverwritten", BF16_16, "v_mov_b32 v12, 0", 0, ""},
};

constexpr Case others[] = {
    {"MatrixReadsVector", "v_mov_b32 v12, 0", BF16_16, 2, "(v12)"},
    {"MatrixAccumulatesOnVector", "v_mov_b32 v1, 0", BF16_16, 2, "(v1)"},
    {"MatrixReadsScale", "v_mov_b32 v9, 0", FP4_16, 2, "(v9)"},
    {"MatrixReadsAccumulation", "v_accvgpr_write_b32 a0, v1",
     "v_mfma_f32_16x16x32_bf16 a[0:3], v[12:15], v[16:19], a[0:3]", 2, "(a0)"},
    {"MatrixReadsDot", "v_dot2_f32_f16 v12, v30, v31, v32", BF16_16, 0, ""},
    {"DoubleBehindMatrix", F64_4, "v_fma_f64 v[30:31], v[32:33], v[34:35], v[36:37]", 2, "f64"},
    {"MatrixUnderExec", "v_cmpx_eq_u32 v60, v60", BF16_16, 4, "(exec_lo)"},
    {"DppUnderExec", "v_cmpx_eq_u32 v60, v60", "v_mov_b32_dpp v30, v31 row_shr:1", 5, "(exec_lo)"},
    {"ReadLaneUnderExec", "v_cmpx_eq_u32 v60, v60", "v_readlane_b32 s30, v31, 0", 4, "(exec_lo)"},
    {"FirstLaneUnderExec", "v_cmpx_eq_u32 v60, v60", "v_readfirstlane_b32 s30, v31", 4, "(exec_lo)"},
    {"WriteLaneUnderExec", "v_cmpx_eq_u32 v60, v60", "v_writelane_b32 v31, s30, 0", 4, "(exec_lo)"},
    {"SwapUnderExec", "v_cmpx_eq_u32 v60, v60", "v_permlane32_swap_b32 v30, v31", 4, "swaps lanes under"},
    {"VectorUnderExec", "v_cmpx_eq_u32 v60, v60", "v_mov_b32 v30, v31", 0, ""},
    {"ExecFromScalar", "s_mov_b64 exec, -1", "v_mov_b32_dpp v30, v31 row_shr:1", 0, ""},
    {"DppReadsVector", "v_mov_b32 v31, 0", "v_mov_b32_dpp v30, v31 row_shr:1", 2, "(v31)"},
    {"ReadLaneReadsVector", "v_mov_b32 v31, 0", "v_readlane_b32 s30, v31, 0", 1, "(v31)"},
    {"FirstLaneReadsVector", "v_mov_b32 v31, 0", "v_readfirstlane_b32 s30, v31", 1, "(v31)"},
    {"SwapReadsVector", "v_mov_b32 v31, 0", "v_permlane16_swap_b32 v30, v31", 2, "(v31)"},
    {"VectorReadsVector", "v_mov_b32 v31, 0", "v_mov_b32 v30, v31", 0, ""},
    {"BaseFromVector", "v_readfirstlane_b32 s5, v63", "global_load_dword v30, v60, s[4:5]", 5, "(s5)"},
    {"DescriptorFromVector", "v_readfirstlane_b32 s8, v62", "buffer_load_dword v30, v60, s[8:11], 0 offen", 5,
     "(s8)"},
    {"OffsetFromVector", "v_readfirstlane_b32 s20, v60", "buffer_load_dword v30, v60, s[8:11], s20 offen", 5,
     "(s20)"},
    {"BaseFromScalar", "s_mov_b32 s4, s8", "global_load_dword v30, v60, s[4:5]", 0, ""},
    {"LaneFromVector", "v_readfirstlane_b32 s20, v60", "v_readlane_b32 s30, v31, s20", 4, "(s20)"},
    {"WrittenLaneFromVector", "v_readfirstlane_b32 s20, v60", "v_writelane_b32 v31, 0, s20", 4, "(s20)"},
    {"LaneFromScalar", "s_mov_b32 s20, 0", "v_readlane_b32 s30, v31, s20", 0, ""},
    {"ConstantFromVector", "v_readfirstlane_b32 s20, v60", "v_mov_b32 v30, s20", 2, "(s20)"},
    {"WideConstantFromVector", "v_readfirstlane_b32 s21, v60", "v_lshlrev_b64 v[30:31], 1, s[20:21]", 2,
     "(s21)"},
    {"MaskFromVector", "v_cmp_eq_u32 s[20:21], v60, v1", "v_cndmask_b32 v30, v31, v32, s[20:21]", 0, ""},
    {"VccFromVector", "v_cmp_eq_u32 vcc, v60, v1", "v_cndmask_b32 v30, v31, v32, vcc", 0, ""},
    {"CarryFromVector", "v_add_co_u32 v30, vcc, v31, v32", "v_addc_co_u32 v33, vcc, v31, v32, vcc", 0, ""},
    {"ScalarAluReadsIt", "v_readfirstlane_b32 s20, v60", "s_mov_b32 s30, s20", 0, ""},
    {"DivisionReadsVcc", "v_cmp_eq_u32 vcc, v60, v1", "v_div_fmas_f32 v30, v31, v32, v33", 4, "(vcc_lo)"},
    {"MaskIsZero", "v_cmp_eq_u32 vcc, v60, v1", "v_mov_b32 v30, src_vccz", 5, "(vcc_lo)"},
    {"ExecIsZero", "v_cmpx_eq_u32 v60, v60", "v_mov_b32 v30, src_execz", 5, "(exec_lo)"},
    {"HalfMoved", "v_mad_u16 v30, v31, v32, v33 op_sel:[0,0,0,1]", "v_mov_b32 v34, v30", 1, "(v30)"},
    {"HalfNotMoved", "v_mad_u16 v30, v31, v32, v33", "v_mov_b32 v34, v30", 0, ""},
    {"SdwaMoved", "v_mov_b32_sdwa v30, v31 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0",
     "v_mov_b32 v34, v30", 1, "(v30)"},
    {"SdwaNotMoved", "v_mov_b32_sdwa v30, v31 dst_sel:DWORD src0_sel:WORD_0", "v_mov_b32 v34, v30", 0, ""},
    {"ByteMoved", "v_cvt_sr_fp8_f32 v30, v31, v32 op_sel:[0,0,1,0]", "v_mov_b32 v34, v30", 1, "(v30)"},
    {"Fp4Moved", "v_cvt_scalef32_pk_fp4_f32 v30, v31, v32, v33 op_sel:[0,0,1,0]", "v_mov_b32 v34, v30", 1,
     "(v30)"},
    {"Fp4NotMoved", "v_cvt_scalef32_pk_fp4_f32 v30, v31, v32, v33", "v_mov_b32 v34, v30", 0, ""},
    {"Fp4Stochastic", "v_cvt_scalef32_sr_pk_fp4_f32 v30, v[32:33], v34, v35", "v_mov_b32 v36, v30", 1,
     "(v30)"},
    {"PackedIsNotMoved", "v_pk_max_u16 v30, v31, v32", "v_pk_max_u16 v33, v30, v34", 0, ""},
    {"Transcendental", "v_rcp_f32 v30, v31", "v_mov_b32 v34, v30", 1, "transcendental operation (v30)"},
    {"TranscendentalF64", "v_rsq_f64 v[30:31], v[32:33]", "v_mov_b32 v34, v31", 1, "(v31)"},
    {"TranscendentalToTheSame", "v_rcp_f32 v30, v31", "v_exp_f32 v34, v30", 0, ""},
    {"TranscendentalToAStore", "v_rcp_f32 v30, v31", "global_store_dword v60, v30, s[4:5]", 0, ""},
    {"Dot", "v_dot2_f32_f16 v30, v31, v32, v33", "v_mov_b32 v34, v30", 3, "result of a dot product (v30)"},
    {"DotStored", "v_dot2_f32_f16 v30, v31, v32, v33", "global_store_dword v60, v30, s[4:5]", 3, "(v30)"},
    {"DotSums", "v_dot2_f32_f16 v30, v31, v32, v33", "v_dot2_f32_f16 v30, v31, v32, v30", 0, ""},
    {"DotMultiplies", "v_dot2_f32_f16 v30, v31, v32, v33", "v_dot2_f32_f16 v34, v30, v32, v33", 3, "(v30)"},
    {"DotOverwritten", "v_dot2_f32_f16 v30, v31, v32, v33", "v_mov_b32 v30, 0", 3, "overwrites the result"},
    {"M0ForBufferLoadToLds", "s_mov_b32 m0, 0", "buffer_load_dword v60, s[8:11], 0 offen lds", 0, ""},
    {"M0ForGlobalLoadToLds", "s_mov_b32 m0, 0", "global_load_lds_dword v60, s[4:5]", 1, "(m0)"},
    {"M0ForThreadAddress", "s_mov_b32 m0, 0", "ds_read_addtid_b32 v30", 1, "(m0)"},
    {"M0ForALoad", "s_mov_b32 m0, 0", "buffer_load_dword v30, v60, s[8:11], 0 offen", 0, ""},
    {"StoredDataOverwritten", "global_store_dwordx4 v60, v[28:31], s[4:5]", "v_mov_b32 v31, 0", 2,
     "overwrites data of a wide store (v31)"},
    {"ThreeWordsOverwritten", "global_store_dwordx3 v60, v[28:30], s[4:5]", "v_mov_b32 v28, 0", 2, "(v28)"},
    {"TwoWordsOverwritten", "global_store_dwordx2 v60, v[28:29], s[4:5]", "v_mov_b32 v28, 0", 0, ""},
    {"BufferDataOverwritten", "buffer_store_dwordx4 v[28:31], v60, s[8:11], 0 offen", "v_mov_b32 v31, 0", 2,
     "(v31)"},
    {"BufferDataWithOffset", "buffer_store_dwordx4 v[28:31], v60, s[8:11], s20 offen", "v_mov_b32 v31, 0", 0,
     ""},
    {"ComparedDataOverwritten", "global_atomic_cmpswap_x2 v60, v[28:31], s[4:5]", "v_mov_b32 v31, 0", 2,
     "(v31)"},
    {"LdsDataOverwritten", "ds_write_b128 v60, v[28:31]", "v_mov_b32 v31, 0", 0, ""},
    {"ModeReadBack", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s30, hwreg(HW_REG_MODE)",
     2, "hardware register"},
    {"ModeWrittenAgain", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", 2, "hardware register"},
    {"AnotherRegister", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0",
     "s_getreg_b32 s30, hwreg(HW_REG_STATUS)", 0, ""},
};

auto case_name = [](const auto &instance) { return std::string(instance.param.name); };
INSTANTIATE_TEST_SUITE_P(MatrixResults, Hazards, testing::ValuesIn(matrix_results), case_name);
INSTANTIATE_TEST_SUITE_P(Others, Hazards, testing::ValuesIn(others), case_name);

TEST(HazardHistory, CountsAnyInstructionAsOneState) {
  const std::string nops = std::string(BF16_16) + "\ns_nop 3\nv_mov_b32 v40, 0\ns_mov_b32 s40, 0\n";
  EXPECT_FALSE(execute(nops + "s_nop 1\nv_mov_b32 v30, v0").fault);
  EXPECT_TRUE(execute(nops + "s_nop 0\nv_mov_b32 v30, v0").fault);
}

TEST(HazardHistory, CountsASwapOfLanesAsTwoStates) {
  const std::string first = "v_permlane32_swap_b32 v30, v31\n", read = "v_permlane16_swap_b32 v30, v34";
  EXPECT_FALSE(execute(first + "v_permlane32_swap_b32 v32, v33\n" + read).fault);
  EXPECT_TRUE(execute(first + "v_mov_b32 v32, 0\n" + read).fault);
  EXPECT_TRUE(execute(first + read).fault);
}

TEST(HazardHistory, CountsTheTimeThatAMatrixOperationWaitsForThePipe) {
  // Another one of 4 passes lies between: 3 states of waiting, its own, and 4 more make the 8 that are asked.
  const std::string both = BF16_16 "\nv_mfma_f32_16x16x32_bf16 v[64:67], v[12:15], v[16:19], v[64:67]\n";
  EXPECT_FALSE(execute(both + wait_states(4) + "v_mov_b32 v30, v0").fault);
  const Report report = execute(both + wait_states(3) + "v_mov_b32 v30, v0");
  ASSERT_TRUE(report.fault);
  EXPECT_NE(report.fault->text.find("is 7 wait states before, 8 are needed"), std::string::npos)
      << report.fault->text;
}

TEST(HazardHistory, CountsTheTimeThatPackedFloatsWaitForAMatrixOperation) {
  // 4 passes and 3 states, then two others: 8 states lie between the result and its reader.
  const std::string other = "v_pk_mul_f32 v[30:31], v[32:33], v[34:35]\n";
  EXPECT_FALSE(execute(BF16_16 "\n" + other + other + "v_pk_mul_f32 v[36:37], v[0:1], v[34:35]").fault);
  EXPECT_FALSE(execute(BF16_16 "\n" + other + other + "v_mov_b32 v30, v0").fault);
  const Report report = execute(BF16_16 "\n" + other + "v_pk_mul_f32 v[36:37], v[0:1], v[34:35]");
  ASSERT_TRUE(report.fault);
  EXPECT_NE(report.fault->text.find("is 7 wait states before, 8 are needed"), std::string::npos)
      << report.fault->text;
  // Without a matrix operation they wait for nothing.
  EXPECT_TRUE(execute("v_readfirstlane_b32 s20, v60\n" + other + "v_mov_b32 v30, s20").fault);
}

TEST(HazardHistory, GoesThroughJumps) {
  const std::string far(wait_states(16) + wait_states(3));
  // The writer is at the end of the loop, the reader at its beginning.
  const std::string body = "s_mov_b32 s40, 3\nloop:\nv_mov_b32 v30, s31\n" + far +
                           "s_sub_u32 s40, s40, 1\ns_cmp_lg_u32 s40, 0\nv_readfirstlane_b32 s31, v60\n"
                           "s_cbranch_scc1 loop";
  const Report report = execute(body);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Hazard);
  EXPECT_EQ(report.fault->instruction, "v_mov_b32_e32 v30, s31");
  EXPECT_NE(report.fault->text.find("is 1 wait states before, 2 are needed"), std::string::npos)
      << report.fault->text;
}

TEST(HazardHistory, RemembersWhichJumpItCameFrom) {
  // The same instruction twice: first with nothing before it, then by a jump after a writer.
  const std::string far(wait_states(16) + wait_states(3));
  const std::string body = "s_mov_b32 s40, 0\n" + far + "s_branch reader\nagain:\n" + far +
                           "v_readfirstlane_b32 s31, v60\ns_branch reader\n" + far +
                           "reader:\nv_mov_b32 v30, s31\ns_add_u32 s40, s40, 1\ns_cmp_lt_u32 s40, 3\n"
                           "s_cbranch_scc1 again";
  const Report report = execute(body);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->instruction, "v_mov_b32_e32 v30, s31");
}

TEST(HazardHistory, TheLastWriterDecides) {
  // An older result with more passes has been replaced; its chain is the hardware's business.
  EXPECT_FALSE(
      execute(std::string(FP8_32) + "\n" + BF16_32 + "\n" + wait_states(12) + "v_mov_b32 v30, v64").fault);
}

} // namespace
} // namespace nereid::sim::test
