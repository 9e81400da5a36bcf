// The check that results are waited for: what each counter covers, planted faults and right code.

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// Runs one wave with the check on. s[4:5] is a buffer of 4096 bytes, s[8:11] its descriptor, v1 = 4 * lane,
/// v3 = 16 * lane.
Report execute(const std::string &body) {
  KernelOptions options;
  options.lds_size = 4096;
  options.scratch_size = 64;
  TestRun run(load_buffer +
                  std::string("v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v3, 4, v0\nv_mov_b32 v60, s4\n"
                              "v_mov_b32 v61, s5\ns_movk_i32 m0, 0x400\ns_nop 7\n") +
                  body,
              options);
  run.launch.block = {64, 1, 1};
  run.launch.checks.wait = true;
  return run_on_buffer(run);
}

struct Case {
  const char *name;
  const char *body;
  const char *at;   ///< the instruction at fault; null: the code is right
  const char *text; ///< a part of what the fault says
};

class Waits : public testing::TestWithParam<Case> {};

TEST_P(Waits, AreFoundMissingWhereTheResultIsUsed) {
  expect_fault(execute(GetParam().body), FaultKind::Wait, GetParam().at, GetParam().text);
}

constexpr Case cases[] = {
    {"LoadRead", "global_load_dword v2, v1, s[4:5]\nv_mov_b32 v4, v2", "v_mov_b32_e32 v4, v2",
     "v2 is read before 'global_load_dword v2, v1, s[4:5]'"},
    {"LoadWaited", "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v2", nullptr, ""},
    {"WrongCounter", "global_load_dword v2, v1, s[4:5]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v2",
     "v_mov_b32_e32 v4, v2", "vmcnt(0)"},
    {"LoadOverwritten", "global_load_dword v2, v1, s[4:5]\nv_mov_b32 v2, 0", "v_mov_b32_e32 v2, 0",
     "v2 is overwritten before"},
    {"LastWordOfTheLoad", "global_load_dwordx4 v[4:7], v3, s[4:5]\nv_mov_b32 v8, v7", "v_mov_b32_e32 v8, v7",
     "v7"},
    {"BesideTheLoad", "global_load_dwordx4 v[4:7], v3, s[4:5]\nv_mov_b32 v8, v3", nullptr, ""},
    {"CountsLaterOnes",
     "buffer_load_dword v2, v1, s[8:11], 0 offen\nbuffer_load_dword v4, v1, s[8:11], 0 offen\n"
     "buffer_load_dword v5, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(2)\nv_mov_b32 v6, v2\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32 v6, v4\ns_waitcnt vmcnt(0)\nv_mov_b32 v6, v5",
     nullptr, ""},
    {"OneTooMany",
     "buffer_load_dword v2, v1, s[8:11], 0 offen\nbuffer_load_dword v4, v1, s[8:11], 0 offen\n"
     "buffer_load_dword v5, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(2)\nv_mov_b32 v6, v4",
     "v_mov_b32_e32 v6, v4", "s_waitcnt vmcnt(1)"},
    {"StoresCount",
     "global_load_dword v2, v1, s[4:5]\nglobal_store_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(1)\n"
     "v_mov_b32 v4, v2",
     nullptr, ""},
    {"StoreOfALoad", "global_load_dword v2, v1, s[4:5]\nglobal_store_dword v1, v2, s[4:5]",
     "global_store_dword v1, v2, s[4:5]", "v2 is read"},
    {"StoreOfTheUpperHalf",
     "buffer_load_dword v2, v1, s[8:11], 0 offen\nbuffer_store_short_d16_hi v2, v1, s[8:11], 0 offen",
     "buffer_store_short_d16_hi v2, v1, s[8:11], 0 offen", "v2 is read"},
    {"StoredDataMayChange", "global_store_dword v1, v0, s[4:5]\ns_nop 1\nv_mov_b32 v0, 0", nullptr, ""},
    {"AtomicReturn", "v_mov_b32 v5, 0\nglobal_atomic_add v2, v5, v0, s[4:5] sc0\nv_mov_b32 v4, v2",
     "v_mov_b32_e32 v4, v2", "global_atomic_add"},
    {"AtomicWithoutReturn",
     "v_mov_b32 v5, 0\nglobal_load_dword v2, v1, s[4:5]\nglobal_atomic_add v5, v0, s[4:5]\n"
     "s_waitcnt vmcnt(1)\nv_mov_b32 v4, v2",
     nullptr, ""},
    {"WritingBackCounts",
     "global_load_dword v2, v1, s[4:5]\nbuffer_wbl2 sc1\ns_waitcnt vmcnt(1)\nv_mov_b32 v4, v2", nullptr, ""},
    {"InvalidatingDoesNot",
     "global_load_dword v2, v1, s[4:5]\nbuffer_inv sc1\ns_waitcnt vmcnt(1)\nv_mov_b32 v4, v2",
     "v_mov_b32_e32 v4, v2", "vmcnt(0)"},
    {"LoadsReplaceEachOtherInOrder",
     "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v2, v1, s[4:5] offset:4\ns_waitcnt vmcnt(0)\n"
     "v_mov_b32 v4, v2",
     nullptr, ""},
    {"HalvesComeBackInOrder",
     "v_mov_b32 v2, 0\nglobal_load_short_d16 v2, v1, s[4:5]\nglobal_load_short_d16_hi v2, v1, s[4:5]\n"
     "s_waitcnt vmcnt(0)\nv_mov_b32 v4, v2",
     nullptr, ""},
    {"LdsAfterLoad", "global_load_dword v2, v1, s[4:5]\nds_read_b32 v2, v1", "ds_read_b32 v2, v1",
     "overwritten"},
    {"AddressOfTheNextLoad", "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v4, v2, s[4:5]",
     "global_load_dword v4, v2, s[4:5]", "v2 is read"},
    {"LdsRead", "ds_read_b64 v[4:5], v3\nv_mov_b32 v6, v5", "v_mov_b32_e32 v6, v5", "lgkmcnt(0)"},
    {"LdsInOrder",
     "ds_read_b32 v4, v1\nds_write_b32 v1, v0\nds_read_b32 v5, v1\ns_waitcnt lgkmcnt(2)\nv_mov_b32 v6, v4\n"
     "s_waitcnt lgkmcnt(0)\nv_mov_b32 v6, v5",
     nullptr, ""},
    {"LdsOneTooMany", "ds_read_b32 v4, v1\nds_read_b32 v5, v1\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v6, v5",
     "v_mov_b32_e32 v6, v5", "lgkmcnt(0)"},
    {"Permutation", "ds_bpermute_b32 v4, v1, v0\nv_mov_b32 v6, v4", "v_mov_b32_e32 v6, v4",
     "ds_bpermute_b32"},
    {"ScalarLoad", "s_load_dwordx2 s[20:21], s[4:5], 0x0\ns_mov_b32 s22, s21", "s_mov_b32 s22, s21",
     "s21 is read"},
    {"ScalarLoadOverwritten", "s_load_dword s20, s[4:5], 0x0\ns_mov_b32 s20, 0", "s_mov_b32 s20, 0",
     "overwritten"},
    {"ScalarLoadsComeInAnyOrder",
     "s_load_dword s20, s[4:5], 0x0\ns_load_dword s21, s[4:5], 0x4\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s22, s20",
     "s_mov_b32 s22, s20", "lgkmcnt(0)"},
    {"ScalarLoadWaited", "s_load_dword s20, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s22, s20", nullptr,
     ""},
    {"ScalarLoadsCoverNoLds",
     "ds_read_b32 v4, v1\ns_load_dword s20, s[4:5], 0x0\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v6, v4",
     "v_mov_b32_e32 v6, v4", "lgkmcnt(0)"},
    {"Clock", "s_memtime s[20:21]\ns_mov_b32 s22, s20", "s_mov_b32 s22, s20", "s_memtime"},
    {"ScalarLoadIntoVcc", "s_load_dwordx2 vcc, s[4:5], 0x0\nv_cndmask_b32 v2, v0, v1, vcc",
     "v_cndmask_b32_e32 v2, v0, v1, vcc", "vcc_lo"},
    {"FlatNeedsBoth", "flat_load_dword v2, v[60:61]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v2",
     "v_mov_b32_e32 v4, v2", "vmcnt(0) lgkmcnt(0)"},
    {"FlatWaited", "flat_load_dword v2, v[60:61]\ns_waitcnt vmcnt(0)\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v2",
     nullptr, ""},
    {"FlatCoversNoLoad",
     "global_load_dword v4, v1, s[4:5]\nflat_load_dword v2, v[60:61]\ns_waitcnt vmcnt(1)\nv_mov_b32 v5, v4",
     "v_mov_b32_e32 v5, v4", "vmcnt(0)"},
    {"ScratchIsCountedAsMemory",
     "scratch_store_dword off, v0, off\nscratch_load_dword v4, off, off\ns_waitcnt lgkmcnt(0)\n"
     "v_mov_b32 v5, v4",
     "v_mov_b32_e32 v5, v4", "vmcnt(0)"},
    {"Accumulation", "global_load_dwordx4 a[4:7], v3, s[4:5]\nv_accvgpr_read_b32 v4, a6",
     "v_accvgpr_read_b32 v4, a6", "a6"},
    {"MatrixOperand", "ds_read_b128 v[4:7], v3\nv_mfma_f32_16x16x32_bf16 a[0:3], v[4:7], v[8:11], a[0:3]",
     "v_mfma_f32_16x16x32_bf16 a[0:3], v[4:7], v[8:11], a[0:3]", "v4"},
    {"BarrierWaitsForNothing", "global_load_dword v2, v1, s[4:5]\ns_barrier\nv_mov_b32 v4, v2",
     "v_mov_b32_e32 v4, v2", "vmcnt(0)"},
    {"TheEndWaitsForAll", "global_load_dword v2, v1, s[4:5]\nds_read_b32 v4, v1", nullptr, ""},
    {"FollowsBranches",
     "s_mov_b32 s20, 3\nloop:\nglobal_load_dword v2, v1, s[4:5]\ns_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n"
     "s_cbranch_scc1 loop\nv_mov_b32 v4, v2",
     "v_mov_b32_e32 v4, v2", "vmcnt(0)"},
    {"LoadToLdsRead", "buffer_load_dword v1, s[8:11], 0 offen lds\nds_read_b32 v2, v1 offset:1024",
     "ds_read_b32 v2, v1 offset:1024", "LDS byte 0x400 is read before 'buffer_load_dword v1"},
    {"LoadToLdsOverwritten", "buffer_load_dword v1, s[8:11], 0 offen lds\nds_write_b8 v1, v0 offset:1027",
     "ds_write_b8 v1, v0 offset:1027", "LDS byte 0x403 is overwritten"},
    {"LoadToLdsWaited",
     "buffer_load_dword v1, s[8:11], 0 offen lds\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v1 offset:1024",
     nullptr, ""},
    {"BesideTheLoadToLds",
     "buffer_load_dword v1, s[8:11], 0 offen lds\nds_read_b32 v2, v1\nds_read_b32 v2, v1 offset:1280",
     nullptr, ""},
    {"SecondPlaceOfTheRead",
     "global_load_lds_dwordx4 v3, s[4:5]\nds_read2st64_b32 v[4:5], v1 offset0:1 offset1:4",
     "ds_read2st64_b32 v[4:5], v1 offset0:1 offset1:4", "LDS byte 0x400"},
    {"YoungerLoadsToLds",
     "buffer_load_dword v1, s[8:11], 0 offen lds\ns_movk_i32 m0, 0x800\ns_nop 0\n"
     "buffer_load_dword v1, s[8:11], 0 offen lds\ns_waitcnt vmcnt(1)\nds_read_b32 v2, v1 offset:1024\n"
     "ds_read_b32 v2, v1 offset:2048",
     "ds_read_b32 v2, v1 offset:2048", "LDS byte 0x800"},
};

INSTANTIATE_TEST_SUITE_P(Each, Waits, testing::ValuesIn(cases),
                         [](const auto &instance) { return std::string(instance.param.name); });

std::string loads(unsigned count, const char *instruction) {
  std::string text;
  for (unsigned k = 0; k < count; ++k)
    text += instruction;
  return text;
}

TEST(WaitCounters, HoldNoMoreThanTheyCanCount) {
  // The 64th operation is issued only when the first is complete.
  const std::string load = "global_load_dword v2, v1, s[4:5]\n";
  EXPECT_FALSE(execute(load + loads(63, "global_load_dword v4, v1, s[4:5]\n") + "v_mov_b32 v5, v2").fault);
  const Report report = execute(load + loads(62, "global_load_dword v4, v1, s[4:5]\n") +
                                "s_waitcnt vmcnt(63)\nv_mov_b32 v5, v2");
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::Wait);
  EXPECT_FALSE(
      execute("ds_read_b32 v2, v1\n" + loads(15, "ds_read_b32 v4, v1\n") + "v_mov_b32 v5, v2").fault);
  EXPECT_TRUE(execute("ds_read_b32 v2, v1\n" + loads(14, "ds_read_b32 v4, v1\n") + "v_mov_b32 v5, v2").fault);
}

TEST(WaitCounters, AreNotCheckedUnlessAskedFor) {
  TestRun run("s_load_dwordx2 s[20:21], s[0:1], 0x0\ns_mov_b32 s22, s20");
  Memory memory;
  EXPECT_FALSE(run(memory).fault);
}

} // namespace
} // namespace nereid::sim::test
