// The check `undefined`: what carries undefined bits, and where they are reported.

#include <string>

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// What a program should end with: nothing, or a report at an instruction that starts like this.
struct Case {
  const char *body;
  const char *reported = nullptr; ///< null: silent
  int lane = -1;
};

/// One wave. At entry s[4:5] is a buffer of 4096 defined bytes, s[6:7] one that nothing wrote, s[8:9] a third
/// one for results; v0 is the lane, v1 = 4 * lane. Vector registers from v2 and scalar ones from s12 on are
/// undefined.
class Undefined : public testing::Test {
protected:
  Memory memory;
  uint64_t defined = *memory.allocate(4096);
  uint64_t raw = *memory.allocate(4096);
  uint64_t out = *memory.allocate(4096);

  void SetUp() override {
    ASSERT_TRUE(memory.fill(defined, std::byte{0}, 4096).ok());
    ASSERT_TRUE(memory.fill(out, std::byte{0}, 4096).ok());
  }

  Report execute(const std::string &body, KernelOptions options = {}) {
    options.lds_size = 4096;
    options.scratch_size = 64;
    TestRun run("s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dwordx2 s[8:9], s[0:1], 0x10\n"
                "v_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n" +
                    body,
                options);
    run.argument(defined).argument(raw).argument(out);
    run.launch.block = {64, 1, 1};
    run.launch.checks.undefined = true;
    return run(memory);
  }

  void expect(const Case &c) {
    const Report report = execute(c.body);
    if (!c.reported) {
      EXPECT_FALSE(report.fault) << c.body << "\n" << report.fault->error().text();
      return;
    }
    ASSERT_TRUE(report.fault) << c.body << "\nis silent";
    EXPECT_EQ(report.fault->kind, FaultKind::Undefined) << c.body << "\n" << report.fault->error().text();
    EXPECT_TRUE(report.fault->instruction.starts_with(c.reported))
        << c.body << "\nreported at " << report.fault->instruction;
    EXPECT_EQ(report.fault->lane, c.lane) << c.body << "\n" << report.fault->text;
  }
  void expect_all(std::initializer_list<Case> cases) {
    for (const Case &c : cases)
      expect(c);
  }
};

TEST_F(Undefined, DoesNotCarryDownFromUpperWords) {
  const std::string low = "v_mov_b32 v2, v1\n", high = "v_mov_b32 v3, 0\n",
                    load = "\nglobal_load_dword v6, v4, s[4:5]",
                    load_high = "\nglobal_load_dword v6, v5, s[4:5]";
  for (const std::string operation :
       {"v_mad_u64_u32 v[4:5], s[20:21], v0, 4, v[2:3]", "v_mad_i64_i32 v[4:5], s[20:21], v0, 4, v[2:3]",
        "v_lshl_add_u64 v[4:5], v[2:3], 0, v[2:3]"}) {
    expect({(low + operation + load).c_str()});
    expect({(low + operation + load_high).c_str(), "global_load_dword", 0});
    expect({(high + operation + load).c_str(), "global_load_dword", 0});
    expect({(high + operation + load_high).c_str(), "global_load_dword", 0});
  }
}

TEST_F(Undefined, IsReportedWhereItSteers) {
  expect_all({
      {"s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 .Lend0\n.Lend0:", "s_cbranch_scc1"},
      {"s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .Lend0\n.Lend0:"},
      {"s_cbranch_scc0 .Lend0\n.Lend0:", "s_cbranch_scc0"},
      {"v_cmp_eq_u32 vcc, v2, v0\ns_cbranch_vccz .Lend0\n.Lend0:", "s_cbranch_vccz"},
      {"v_cmp_eq_u32 vcc, v1, v0\ns_cbranch_vccz .Lend0\n.Lend0:"},
      // Lane 0 is set for certain, whatever the others are.
      {"v_mov_b32 v3, v2\nv_writelane_b32 v3, 5, 0\nv_cmp_eq_u32 vcc, 5, v3\ns_cbranch_vccnz "
       ".Lend0\n.Lend0:"},
      {"v_cmp_eq_u32 vcc, v2, v0\ns_and_saveexec_b64 s[20:21], vcc", "s_and_saveexec_b64"},
      {"v_cmp_eq_u32 vcc, v1, v0\ns_and_saveexec_b64 s[20:21], vcc"},
      {"v_cmpx_eq_u32 vcc, v2, v0", "v_cmpx_eq_u32"},
      {"s_mov_b64 exec, s[20:21]", "s_mov_b64 exec"},
      {"s_mov_b64 exec, 1"},
      {"s_mov_b32 exec_lo, 1"},
      {"global_load_dword v3, v2, s[4:5]", "global_load_dword", 0},
      {"global_load_dword v3, v1, s[4:5]"},
      {"s_mov_b64 exec, 0x30\nglobal_store_dword v2, v0, s[8:9]", "global_store_dword", 4},
      {"s_mov_b64 exec, 0x30\nv_mov_b32 v2, 0\nglobal_store_dword v2, v0, s[8:9]"},
      {"s_load_dword s20, s[22:23], 0x0", "s_load_dword"},
      {"s_load_dword s20, s[4:5], s22", "s_load_dword"},
      {"ds_read_b32 v3, v2", "ds_read_b32", 0},
      {"ds_write_b32 v2, v1", "ds_write_b32", 0},
      {"v_mov_b32 v4, 0\nbuffer_load_dword v3, v4, s[20:23], 0 offen", "buffer_load_dword"},
      {"s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_movk_i32 s22, 4096\ns_mov_b32 s23, 0x27000\n"
       "buffer_load_dword v3, v1, s[20:23], s24 offen",
       "buffer_load_dword"},
      {"s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_movk_i32 s22, 4096\ns_mov_b32 s23, 0x27000\n"
       "buffer_load_dword v3, v1, s[20:23], 0 offen"},
      {"s_mov_b32 s20, s4\ns_mov_b32 s21, s5\ns_movk_i32 s22, 4096\ns_mov_b32 s23, 0x27000\n"
       "buffer_load_dword v1, s[20:23], 0 offen lds",
       "buffer_load_dword"}, // M0
      {"global_atomic_add v2, v0, s[8:9]", "global_atomic_add", 0},
      {"s_setpc_b64 s[20:21]", "s_setpc_b64"},
  });
}

/// Branches on v3 of lane 5.
const std::string branch_on_v3 = "\nv_readlane_b32 s30, v3, 5\ns_cmp_eq_u32 s30, 0\ns_cbranch_scc0 .Lend0\n"
                                 ".Lend0:";

TEST_F(Undefined, IsCarriedByWhatMovesBits) {
  // Each moves v2, which is undefined, to v3, and the same of v0 is defined.
  for (const std::string move : {
           "v_mov_b32 v3, V",
           "v_mov_b32_dpp v3, V quad_perm:[1,1,3,3] row_mask:0xf bank_mask:0xf",
           "v_mov_b32_sdwa v3, V dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
           "v_accvgpr_write_b32 a3, V\ns_nop 1\nv_accvgpr_mov_b32 a4, a3\ns_nop 1\nv_accvgpr_read_b32 v3, a4",
           "v_readlane_b32 s20, V, 7\ns_mov_b32 s21, s20\nv_mov_b32 v3, s21",
           "v_readfirstlane_b32 s20, V\nv_mov_b32 v3, s20",
           "v_readfirstlane_b32 s20, V\nv_mov_b32 v3, 0\nv_writelane_b32 v3, s20, 5",
           "v_mov_b32 v3, V\nv_mov_b32 v4, 0\nv_swap_b32 v3, v4\nv_swap_b32 v4, v3",
           "v_mov_b32 v3, V\nv_mov_b32 v4, V\nv_permlane16_swap_b32 v3, v4",
           "v_mov_b32 v3, V\nv_mov_b32 v4, V\nv_permlane32_swap_b32 v3, v4",
           "ds_bpermute_b32 v3, v1, V\ns_waitcnt lgkmcnt(0)",
           "ds_permute_b32 v3, v1, V\ns_waitcnt lgkmcnt(0)",
           "ds_swizzle_b32 v3, V offset:0x8055\ns_waitcnt lgkmcnt(0)",
           "v_cmp_eq_u32 vcc, 5, v0\nv_cndmask_b32 v3, 0, V, vcc",
           "v_lshlrev_b32 v3, 4, V",
           "v_lshrrev_b32 v3, v0, V",
           "v_ashrrev_i32 v3, 31, V",
           "v_mov_b32 v4, V\nv_mov_b32 v5, 0\nv_lshrrev_b64 v[6:7], 4, v[4:5]\nv_mov_b32 v3, v6",
           "v_bfe_u32 v3, V, 8, 8",
           "v_bfe_i32 v3, V, 8, 8",
           "v_alignbit_b32 v3, 0, V, 8",
           "v_alignbyte_b32 v3, V, 0, 3",
           "s_mov_b32 s20, 0x0c0c0005\nv_perm_b32 v3, V, 0, s20",
           "v_pack_b32_f16 v3, 0, V",
           "v_bfrev_b32 v3, V",
           "v_mov_b32 v4, V\nv_mov_b32 v5, 0\nv_mov_b64 v[6:7], v[4:5]\nv_mov_b32 v3, v6",
           "v_mov_b32 v4, V\nv_mov_b32 v5, 0\nv_pk_mov_b32 v[6:7], v[4:5], v[4:5] op_sel:[1,0]\n"
           "v_mov_b32 v3, v7",
           "v_readfirstlane_b32 s20, V\ns_lshl_b32 s21, s20, 3\ns_bfe_u32 s22, s21, 0x80010\n"
           "s_pack_ll_b32_b16 s23, 0, s22\ns_brev_b32 s24, s23\ns_sext_i32_i8 s25, s24\nv_mov_b32 v3, s24",
           "v_readfirstlane_b32 s20, V\ns_cmp_eq_u32 s2, s2\ns_cselect_b32 s21, s20, 0\nv_mov_b32 v3, s21",
           "v_add_u32 v3, V, v0",
           "v_mul_f32 v3, V, v0",
           "v_mov_b32 v4, V\nv_mov_b32 v5, 0\nv_fma_f64 v[6:7], v[4:5], v[4:5], v[4:5]\nv_mov_b32 v3, v7",
           "v_cvt_f32_ubyte2 v3, V",
           "v_mov_b32 v3, 0\nv_fmac_f32 v3, V, v0",
           "v_mov_b32 v3, 0\nv_cvt_scalef32_pk_fp4_f32 v3, V, v0, 1.0",
           "v_pk_add_f16 v3, V, v0",
           "v_add_co_u32 v4, vcc, V, v0\nv_cndmask_b32 v3, 0, v0, vcc",
           "v_mbcnt_lo_u32_b32 v3, -1, V",
       }) {
    for (const std::string source : {"v2", "v0"}) {
      std::string body = move;
      for (size_t at; (at = body.find('V')) != std::string::npos;)
        body.replace(at, 1, source);
      body += branch_on_v3;
      const bool undefined = source == "v2";
      expect({body.c_str(), undefined ? "s_cbranch_scc0" : nullptr});
    }
  }
}

TEST_F(Undefined, EndsWhereEveryBitIsKnown) {
  // v2 is undefined throughout; what branches is not.
  for (const std::string body : {
           "v_mov_b32 v3, v2\nv_mov_b32 v3, 7",
           "v_and_b32 v3, 0, v2",
           "v_or_b32 v3, -1, v2",
           "v_xor_b32 v3, v2, v2",
           "v_and_b32 v4, 0xff, v2\nv_lshrrev_b32 v3, 8, v4",
           "v_and_b32 v4, 0xffff0000, v2\nv_or_b32 v4, 5, v4\nv_and_b32 v3, 15, v4",
           "v_bfi_b32 v3, 0, v2, v0",
           "v_and_or_b32 v3, v2, 0, v0",
           "v_lshl_or_b32 v4, v2, 16, v0\nv_and_b32 v3, 0xffff, v4",
           "v_bitop3_b32 v3, v2, v0, v0 bitop3:0xcc",
           "v_lshlrev_b32 v4, 16, v2\nv_and_b32 v3, 0xffff, v4",
           "v_bfe_u32 v4, v0, 0, 4\nv_mov_b32_sdwa v2, v4 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE "
           "src0_sel:DWORD\nv_and_b32 v3, 0xff, v2",
           "v_cvt_scalef32_pk_fp4_f32 v2, v0, v0, 1.0\nv_and_b32 v3, 0xff, v2",
           "v_cvt_pk_fp8_f32 v2, v0, v0 op_sel:[0,0,1]\nv_lshrrev_b32 v3, 16, v2",
           "v_cvt_f32_ubyte0 v3, v0",
           "v_mov_b32 v4, v0\nv_mov_b32_sdwa v4, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
           "src0_sel:WORD_0\nv_cvt_f32_f16 v3, v4",
           "v_mov_b32 v4, v0\nv_mov_b32_sdwa v4, v2 dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE "
           "src0_sel:BYTE_0\nv_mul_u32_u24 v3, v4, v4",
           "v_cmp_eq_u32 vcc, v2, v0\nv_cndmask_b32 v3, 9, 9, vcc",
           "v_mov_b32 v3, v0\ns_mov_b64 exec, 0xf\nv_add_u32 v3, v2, v0\ns_mov_b64 exec, -1",
           "v_readfirstlane_b32 s20, v2\ns_and_b32 s21, s20, 0\nv_mov_b32 v3, s21",
           "v_readfirstlane_b32 s20, v2\ns_andn2_b32 s21, s20, s20\nv_mov_b32 v3, s21",
           "v_readfirstlane_b32 s20, v2\ns_or_b32 s20, s20, 1\ns_bitcmp1_b32 s20, 0\n"
           "s_cselect_b32 s21, 4, 5\nv_mov_b32 v3, s21",
           "v_mov_b32 v3, 0\nv_mov_b32_dpp v3, v0 row_shr:1 row_mask:0xf bank_mask:0xf",
           "v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\nv_mov_b32 v3, v2",
           "s_mov_b32 s20, 0x0d0c0400\nv_perm_b32 v4, 0, v2, s20\nv_and_b32 v3, 0xffffff00, v4",
       })
    expect({(body + branch_on_v3).c_str()});
}

TEST_F(Undefined, StaysInTheBitsThatDependOnIt) {
  for (const std::string body : {
           "v_and_b32 v4, 0x100, v2\nv_and_b32 v3, 0x1ff, v4",
           "v_lshl_or_b32 v4, v2, 16, v0\nv_lshrrev_b32 v3, 16, v4",
           "v_bitop3_b32 v3, v2, v0, v0 bitop3:0xf0",
           "v_cvt_scalef32_pk_fp4_f32 v2, v0, v0, 1.0\nv_lshrrev_b32 v3, 8, v2",
           "v_cvt_pk_fp8_f32 v2, v0, v0 op_sel:[0,0,1]\nv_and_b32 v3, 0xffff, v2",
           "v_mov_b32_dpp v2, v0 quad_perm:[0,1,2,3] row_mask:0xe bank_mask:0xf\nv_mov_b32 v3, v2",
           "v_cmp_eq_u32 vcc, v2, v0\nv_cndmask_b32 v3, 8, 9, vcc",
           "v_cvt_pk_bf16_f32 v4, v2, v0\nv_and_b32 v3, 1, v4",
       })
    expect({(body + branch_on_v3).c_str(), "s_cbranch_scc0"});
  // The other half, or the other lane, is defined.
  for (const std::string body : {
           "v_cvt_pk_bf16_f32 v4, v2, v0\nv_lshrrev_b32 v3, 16, v4",
           "v_mov_b32 v4, 0\nv_writelane_b32 v4, s20, 6\nv_mov_b32 v3, v4",
           "v_mov_b32 v4, 0\nv_mov_b32_sdwa v4, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
           "src0_sel:WORD_0\n"
           "v_pk_add_u16 v5, v4, v4\nv_and_b32 v3, 0xffff, v5",
       })
    expect({(body + branch_on_v3).c_str()});
}

TEST_F(Undefined, IsNotLookedForWhenNobodyAsks) {
  TestRun run("s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 .Lend0\n.Lend0:");
  run.launch.block = {64, 1, 1};
  EXPECT_FALSE(run(memory).fault);
}

} // namespace
} // namespace nereid::sim::test
