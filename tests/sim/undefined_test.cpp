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
      {"s_mov_b64 exec, 0x30\nglobal_load_dword v3, v1, s[20:21]", "global_load_dword"},
      {"s_mov_b64 exec, 0\nglobal_load_dword v3, v1, s[20:21]"},
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
           "v_lshl_or_b32 v4, v2, 5, 3\nv_lshlrev_b32 v3, v4, v0",
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

const std::string wait = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";

TEST_F(Undefined, IsReportedInStoredResultsOfArithmetic) {
  expect_all({
      {"v_add_u32 v3, v2, v0\nglobal_store_dword v1, v3, s[8:9]", "global_store_dword", 0},
      {"s_mov_b64 exec, 0x30\nv_add_u32 v3, v2, v0\nglobal_store_dword v1, v3, s[8:9]", "global_store_dword",
       4},
      {"v_mul_f32 v3, v2, v0\nv_mov_b32 v4, v3\nglobal_store_short v1, v4, s[8:9]", "global_store_short", 0},
      // Copies are silent, of halves and bytes too, and so are lanes that are masked off.
      {"global_store_dword v1, v2, s[8:9]"},
      {"v_lshl_or_b32 v3, v2, 16, v0\nglobal_store_dword v1, v3, s[8:9]"},
      {"v_add_u32 v3, v2, v0\nglobal_store_dword v1, v0, s[8:9]"},
      {"v_add_u32 v3, v2, v0\ns_mov_b64 exec, 1\nv_mov_b32 v3, 0\nglobal_store_dword v1, v3, s[8:9]"},
      // The lower half is computed, the upper one is not.
      {"v_mov_b32 v4, 0\nv_add_u16 v3, v2, v0\nv_lshl_or_b32 v5, v0, 16, v3\n"
       "global_store_short_d16_hi v1, v5, s[8:9]"},
      {"v_mov_b32 v4, 0\nv_add_u16 v3, v2, v0\nv_lshl_or_b32 v5, v0, 16, v3\n"
       "global_store_short v1, v5, s[8:9]",
       "global_store_short", 0},
      // An atomic is arithmetic, an exchange a copy.
      {"global_atomic_add v1, v2, s[8:9]", "global_atomic_add", 0},
      {"global_atomic_add v1, v0, s[8:9]"},
      {"global_atomic_add v1, v0, s[6:7]", "global_atomic_add", 0},
      {"global_atomic_swap v1, v2, s[8:9]"},
      {"global_atomic_swap v1, v0, s[6:7]"},
  });
}

TEST_F(Undefined, IsCarriedByMemory) {
  // Each leaves v3 of lane 5 undefined with V = v2, and defined with V = v0.
  for (const std::string path : {
           "ds_write_b32 v1, V\nW ds_read_b32 v3, v1\nW",
           "ds_write_b8 v1, V\nW v_mov_b32 v3, 0\nds_read_u8 v3, v1\nW",
           "ds_write_b32 v1, V\nW ds_read_i16 v3, v1\nW",
           "v_mov_b32 v3, 0\nds_write_b16 v1, V\nW ds_read_u16_d16_hi v3, v1\nW",
           "v_lshlrev_b32 v6, 3, v0\nv_mov_b32 v8, 0\nds_write2_b32 v6, v8, V offset1:1\nW"
           "ds_read2_b32 v[4:5], v6 offset1:1\nW v_mov_b32 v3, v5",
           "v_lshlrev_b32 v6, 4, v0\nv_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, V\nv_mov_b32 v11, 0\n"
           "ds_write_b128 v6, v[8:11]\nW ds_read_b64 v[4:5], v6 offset:8\nW v_mov_b32 v3, v4",
           "v_lshlrev_b32 v6, 3, v0\nv_mov_b32 v8, V\nv_mov_b32 v9, V\nds_write_b64 v6, v[8:9]\nW"
           "ds_read_b64_tr_b16 v[4:5], v6\nW v_mov_b32 v3, v4",
           "v_mov_b32 v4, 0\nds_write_b32 v1, v4\nW ds_add_u32 v1, V\nW ds_read_b32 v3, v1\nW",
           "ds_write_b32 v1, V\nW ds_add_rtn_u32 v3, v1, v0\nW",
           "v_mov_b32 v4, 0\nds_write_b32 v1, v4\nW ds_wrxchg_rtn_b32 v5, v1, V\nW ds_read_b32 v3, v1\nW",
           "scratch_store_dword off, V, off offset:8\nW scratch_load_dword v3, off, off offset:8\nW",
           "v_mov_b32 v4, 0\nscratch_store_byte off, V, off offset:8\nW v_mov_b32 v3, 0\n"
           "scratch_load_ubyte v3, off, off offset:8\nW",
           "global_store_dword v1, V, s[8:9]\nW global_load_dword v3, v1, s[8:9]\nW",
           "v_mov_b32 v3, 0\nglobal_store_byte v1, V, s[8:9]\nW global_load_ubyte_d16_hi v3, v1, s[8:9]\nW",
           "v_lshlrev_b32 v6, 4, v0\nv_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, V\nv_mov_b32 v11, 0\n"
           "global_store_dwordx4 v6, v[8:11], s[8:9]\nW global_load_dwordx2 v[4:5], v6, s[8:9] offset:8\nW"
           "v_mov_b32 v3, v4",
           "global_store_dword v1, V, s[8:9]\nW s_mov_b32 m0, 0\ns_nop 0\n"
           "global_load_lds_dword v1, s[8:9]\nW ds_read_b32 v3, v1\nW",
           "global_store_dword v1, V, s[8:9]\nW s_load_dwordx2 s[20:21], s[8:9], 0x14\nW v_mov_b32 v3, s20",
           "global_store_dword v1, V, s[8:9]\nW global_atomic_swap v3, v1, v0, s[8:9] sc0\nW",
           "s_mov_b32 s20, s8\ns_mov_b32 s21, s9\ns_movk_i32 s22, 4096\ns_mov_b32 s23, 0x27000\n"
           "buffer_store_dword V, v1, s[20:23], 0 offen\nW buffer_load_dword v3, v1, s[20:23], 0 offen\nW",
       }) {
    for (const std::string source : {"v2", "v0"}) {
      std::string body = path;
      for (size_t at; (at = body.find('V')) != std::string::npos;)
        body.replace(at, 1, source);
      for (size_t at; (at = body.find('W')) != std::string::npos;)
        body.replace(at, 1, wait);
      body += branch_on_v3;
      SetUp();
      expect({body.c_str(), source == "v2" ? "s_cbranch_scc0" : nullptr});
    }
  }
}

TEST_F(Undefined, IsWhatNobodyWrote) {
  const std::string copy = "global_load_dword v2, v1, s[6:7]" + wait;
  expect_all({
      // LDS and private memory.
      {("ds_read_b32 v3, v1" + wait + branch_on_v3).c_str(), "s_cbranch_scc0"},
      {("ds_read_b32 v3, v1" + wait + "v_add_u32 v3, v3, v0\nglobal_store_dword v1, v3, s[8:9]").c_str(),
       "global_store_dword", 0},
      {("scratch_load_dword v3, off, off" + wait + branch_on_v3).c_str(), "s_cbranch_scc0"},
      // A buffer without content: copied is fine, used is not, stored to is defined.
      {(copy + "global_store_dword v1, v2, s[8:9]").c_str()},
      {(copy + "v_lshlrev_b32 v2, 2, v2\nglobal_load_dword v3, v2, s[4:5]").c_str(), "global_load_dword v3",
       0},
      {(copy + "v_add_f32 v3, v2, v2\nglobal_store_dword v1, v3, s[8:9]").c_str(), "global_store_dword", 0},
      {("s_load_dword s20, s[6:7], 0x0" + wait + "s_cmp_eq_u32 s20, 1\ns_cbranch_scc1 .Lend0\n.Lend0:")
           .c_str(),
       "s_cbranch_scc1"},
      {("global_store_dword v1, v0, s[6:7]" + wait + "global_load_dword v3, v1, s[6:7]" + wait + branch_on_v3)
           .c_str()},
  });
}

TEST_F(Undefined, OutlivesTheLaunch) {
  const std::string use = "global_load_dword v3, v1, s[8:9]" + wait + branch_on_v3;
  expect({use.c_str()});
  // One launch copies, the next one uses.
  expect({("global_load_dword v2, v1, s[6:7]" + wait + "global_store_dword v1, v2, s[8:9]").c_str()});
  expect({use.c_str(), "s_cbranch_scc0"});
  // What the host or a kernel writes is defined.
  expect({"global_store_dword v1, v0, s[8:9]"});
  expect({use.c_str()});
  expect({("global_load_dword v2, v1, s[6:7]" + wait + "global_store_dword v1, v2, s[8:9]").c_str()});
  const uint32_t word = 1;
  ASSERT_TRUE(memory.write(out + 20, &word, 4).ok());
  expect({use.c_str()});
  expect({("global_load_dword v3, v1, s[8:9] offset:4" + wait + branch_on_v3).c_str(), "s_cbranch_scc0"});
}

TEST_F(Undefined, IsForgottenWhenALaunchWasNotFollowed) {
  TestRun run("s_nop 0");
  run.launch.block = {64, 1, 1};
  EXPECT_FALSE(run(memory).fault);
  expect({("global_load_dword v3, v1, s[6:7]" + wait + branch_on_v3).c_str()});
}

TEST_F(Undefined, OfAMatrixStaysInRowsAndColumns) {
  // A in v[4:7], B in v[8:11], C in v[12:15] are zero but for one lane; the result's element (i, j) is word
  // i % 4 of lane j + 16 * (i / 4).
  const std::string zero = [] {
    std::string text;
    for (unsigned k = 4; k < 16; ++k)
      text += "v_mov_b32 v" + std::to_string(k) + ", 0\n";
    return text;
  }();
  const std::string product =
      "s_nop 4\nv_mfma_f32_16x16x32_bf16 v[16:19], v[4:7], v[8:11], v[12:15]\ns_nop 15\n"
      "v_mov_b32 v3, v16\n";
  const std::string undefined_lane = "s_mov_b64 exec, 0x20\nv_mov_b32 R, v2\ns_mov_b64 exec, -1\n"; // 5
  const auto at = [&](const std::string &reg, unsigned lane) {
    std::string text = zero + undefined_lane + product;
    text.replace(text.find('R'), 1, reg);
    return text + "v_readlane_b32 s30, v3, " + std::to_string(lane) +
           "\ns_cmp_eq_u32 s30, 0\ns_cbranch_scc0 .Lend0\n.Lend0:";
  };
  // Row 5 of A is word 1 of lanes 16 to 31, word 0 is row 4.
  expect({at("v4", 17).c_str()});
  std::string row = at("v4", 17);
  row.replace(row.find("v_mov_b32 v3, v16"), 17, "v_mov_b32 v3, v17");
  expect({row.c_str(), "s_cbranch_scc0"});
  // Column 5 of B.
  expect({at("v8", 5).c_str(), "s_cbranch_scc0"});
  expect({at("v9", 21).c_str(), "s_cbranch_scc0"});
  expect({at("v8", 6).c_str()});
  // One element of C.
  expect({at("v12", 5).c_str(), "s_cbranch_scc0"});
  expect({at("v12", 21).c_str()});
  expect({at("v13", 5).c_str()});
}

TEST_F(Undefined, IsTheSameWithSeveralHostThreads) {
  TestRun run("s_load_dwordx2 s[8:9], s[0:1], 0x10\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
              "s_cmp_lt_u32 s2, 9\ns_cbranch_scc1 .Lend0\nv_add_u32 v3, v2, v0\n"
              "global_store_dword v1, v3, s[8:9]\n.Lend0:");
  run.argument(defined).argument(raw).argument(out);
  run.launch.block = {64, 1, 1};
  run.launch.grid = {64, 1, 1};
  run.launch.threads = 4;
  run.launch.checks.undefined = true;
  for (unsigned round = 0; round < 3; ++round) {
    const Report report = run(memory);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->workgroup[0], 9u);
    EXPECT_NE(report.fault->text.find("v3"), std::string::npos) << report.fault->text;
  }
}

TEST_F(Undefined, IsFoundInRegistersThatAnIndexNames) {
  const auto indexed = [&](const std::string &move) {
    return "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\n" + move + "\ns_set_gpr_idx_off\n" + branch_on_v3;
  };
  // v1 and v3 are defined, v2 is not.
  const std::string from = "s_mov_b32 s20, 1\ns_set_gpr_idx_on s20, gpr_idx(SRC0)\n";
  expect({indexed(from + "v_mov_b32 v3, v0").c_str()});
  expect({indexed(from + "v_mov_b32 v3, v1").c_str(), "s_cbranch_scc0"});
  const std::string to = "v_mov_b32 v3, 0\ns_mov_b32 s20, 1\ns_set_gpr_idx_on s20, gpr_idx(DST)\n";
  expect({indexed(to + "v_mov_b32 v2, v2").c_str(), "s_cbranch_scc0"});
  expect({indexed(to + "v_mov_b32 v4, v2").c_str()});
  expect({indexed("s_set_gpr_idx_on s20, gpr_idx(SRC0)\nv_mov_b32 v3, v0").c_str(), "v_mov_b32"});
}

TEST_F(Undefined, IsNotLookedForWhenNobodyAsks) {
  TestRun run("s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 .Lend0\n.Lend0:");
  run.launch.block = {64, 1, 1};
  EXPECT_FALSE(run(memory).fault);
}

} // namespace
} // namespace nereid::sim::test
