// The check `nan_scale`: products of an e8m0 NaN that reach memory.

#include <string>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// One wave whose scales of A are in v20 and of B in v21, 127 in every byte but for what a test changes. The
/// product of zeros is in v[16:19]: its element (i, j) is word i % 4 of lane j + 16 * (i / 4).
Report execute(const std::string &change, const std::string &after, const std::string &selects = "") {
  std::string body = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 4, v0\n"
                     "v_mov_b32 v20, 0x7f7f7f7f\nv_mov_b32 v21, 0x7f7f7f7f\n";
  for (unsigned k = 4; k < 16; ++k)
    body += "v_mov_b32 v" + std::to_string(k) + ", 0\n";
  body += change + "\ns_mov_b64 exec, -1\ns_waitcnt lgkmcnt(0)\ns_nop 4\n" +
          "v_mfma_scale_f32_16x16x128_f8f6f4 v[16:19], v[4:7], v[8:11], v[12:15], v20, v21 " + selects +
          " cbsz:4 blgp:4\ns_nop 15\n" + after;
  Memory memory;
  TestRun run(body);
  run.argument(*memory.allocate(4096));
  run.launch.block = {64, 1, 1};
  run.launch.checks.nan_scale = true;
  return run(memory);
}

const std::string store = "global_store_dwordx4 v1, v[16:19], s[8:9]";
/// Lane 5 of a register: row or column 5, block 0 of K.
const std::string lane_5 = "s_mov_b64 exec, 0x20\n";

TEST(NanScale, IsReportedWhenItsRowOrColumnIsStored) {
  const Report silent = execute("", store);
  EXPECT_FALSE(silent.fault) << silent.fault->text;
  const Report row = execute(lane_5 + "v_mov_b32 v20, 0xff", store);
  ASSERT_TRUE(row.fault);
  EXPECT_EQ(row.fault->kind, FaultKind::NanScale);
  EXPECT_EQ(row.fault->lane, 16) << "row 5 is word 1 of lanes 16 to 31";
  EXPECT_TRUE(row.fault->instruction.starts_with("global_store_dwordx4"));
  EXPECT_NE(row.fault->text.find("v17"), std::string::npos) << row.fault->text;
  const Report column = execute(lane_5 + "v_mov_b32 v21, 0xff", store);
  ASSERT_TRUE(column.fault);
  EXPECT_EQ(column.fault->lane, 5);
}

TEST(NanScale, CountsInTheByteThatIsSelected) {
  EXPECT_FALSE(execute(lane_5 + "v_mov_b32 v20, 0xff7f", store).fault);
  EXPECT_TRUE(execute(lane_5 + "v_mov_b32 v20, 0xff7f", store, "op_sel:[1,0,0]").fault);
  EXPECT_FALSE(execute(lane_5 + "v_mov_b32 v20, 0xff7f", store, "op_sel:[0,1,0]").fault);
  EXPECT_TRUE(execute(lane_5 + "v_mov_b32 v21, 0xff007f7f", store, "op_sel:[0,1,0] op_sel_hi:[0,1,0]").fault);
}

TEST(NanScale, IsSilentWhereRowsAndColumnsOfPaddingAreMaskedOff) {
  // Column 5 is not stored.
  EXPECT_FALSE(execute(lane_5 + "v_mov_b32 v21, 0xff",
                       "s_mov_b32 s20, 0xffdfffdf\ns_mov_b32 exec_lo, s20\ns_mov_b32 exec_hi, s20\n" + store)
                   .fault);
  // Nor row 5.
  EXPECT_FALSE(execute(lane_5 + "v_mov_b32 v20, 0xff", "s_mov_b64 exec, 0xffff\n" + store).fault);
  EXPECT_FALSE(execute(lane_5 + "v_mov_b32 v20, 0xff", "v_mov_b32 v17, 0\n" + store).fault);
}

TEST(NanScale, IsFollowedThroughArithmeticAndLds) {
  const std::string change = lane_5 + "v_mov_b32 v21, 0xff";
  const auto fault_of = [&](const std::string &after) { return execute(change, after).fault; };
  EXPECT_TRUE(fault_of("v_add_f32 v18, 1.0, v16\nglobal_store_dword v1, v18, s[8:9]"));
  EXPECT_TRUE(fault_of("v_cvt_pk_bf16_f32 v18, v16, v16\nglobal_store_short v1, v18, s[8:9]"));
  EXPECT_TRUE(fault_of("v_mov_b32_dpp v18, v16 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\n"
                       "s_mov_b64 exec, 0x10\nglobal_store_dword v1, v18, s[8:9]"));
  EXPECT_FALSE(fault_of("v_mov_b32_dpp v18, v16 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\n"
                        "s_mov_b64 exec, 0x20\nglobal_store_dword v1, v18, s[8:9]"));
  EXPECT_TRUE(fault_of("v_max_f32 v18, 0, v16\nglobal_atomic_add_f32 v1, v18, s[8:9]"));
  EXPECT_FALSE(fault_of("v_and_b32 v18, 0, v16\nglobal_store_dword v1, v18, s[8:9]"));
  // The accumulator of a second product.
  EXPECT_TRUE(fault_of("v_mfma_f32_16x16x32_bf16 v[24:27], v[4:7], v[8:11], v[16:19]\ns_nop 15\n"
                       "global_store_dword v1, v24, s[8:9]"));
}

TEST(NanScale, OfAConversionIsReportedWhereItMultiplies) {
  const std::string up = "v_mov_b32 v22, 0x7f800000\nv_cvt_scalef32_pk_f32_fp4 v[24:25], v4, v22\n"
                         "global_store_dword v1, v24, s[8:9]";
  EXPECT_TRUE(execute("", up).fault);
  const std::string down = "v_mov_b32 v22, 0x7f800000\nv_mov_b32 v24, 0\n"
                           "v_cvt_scalef32_pk_fp4_f32 v24, v4, v5, v22\nglobal_store_dword v1, v24, s[8:9]";
  EXPECT_FALSE(execute("", down).fault);
}

} // namespace
} // namespace nereid::sim::test
