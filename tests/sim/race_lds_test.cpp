// The check that waves of a workgroup touch LDS in order: planted races and right code.

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// Runs two waves with the check on. s12 is the wave, v1 = 4 * work-item, v3 the same of the partner in the
/// other wave, s[4:5] a buffer of 4096 bytes, s[8:11] its descriptor, m0 = 256 * wave.
Report execute(const std::string &body, unsigned block = 128) {
  KernelOptions options;
  options.lds_size = 4096;
  TestRun run(
      load_buffer +
          std::string("v_lshrrev_b32 v2, 6, v0\nv_lshlrev_b32 v1, 2, v0\nv_xor_b32 v3, 0x100, v1\n"
                      "v_readfirstlane_b32 s12, v2\ns_lshl_b32 m0, s12, 8\ns_cmp_eq_u32 s12, 0\n"
                      "s_mov_b64 s[20:21], src_shared_base\nv_mov_b32 v60, v1\nv_mov_b32 v61, s21\n") +
          body,
      options);
  run.launch.block = {block, 1, 1};
  run.launch.checks.race_lds = true;
  return run_on_buffer(run);
}

struct Case {
  const char *name;
  const char *body;
  const char *at;   ///< the instruction at fault; null: the code is right
  const char *text; ///< a part of what the fault says
  unsigned wave = 1;
};

class LdsRaces : public testing::TestWithParam<Case> {};

TEST_P(LdsRaces, AreFoundAtTheSecondAccess) {
  const Report report = execute(GetParam().body);
  expect_fault(report, FaultKind::RaceLds, GetParam().at, GetParam().text);
  if (!report.fault)
    return;
  EXPECT_EQ(report.fault->wave, GetParam().wave);
  EXPECT_EQ(report.fault->lane, 0);
}

constexpr Case cases[] = {
    {"NoBarrier", "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v4, v3", "ds_read_b32 v4, v3",
     "this reads LDS byte 0x100, which 'ds_write_b32 v1, v0'", 0},
    {"Barrier", "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v4, v3", nullptr, ""},
    {"WriteNotWaitedFor", "ds_write_b32 v1, v0\ns_barrier\nds_read_b32 v4, v3", "ds_read_b32 v4, v3",
     "wave 1 writes: its wave did not wait for it (lgkmcnt) before the barrier", 0},
    {"WaitAfterTheBarrierIsTooLate",
     "ds_write_b32 v1, v0\ns_barrier\ns_waitcnt lgkmcnt(0)\nds_read_b32 v4, v3", "ds_read_b32 v4, v3",
     "before the barrier", 0},
    {"TheNextBarrierDoes",
     "ds_write_b32 v1, v0\ns_barrier\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v4, v3", nullptr, ""},
    {"YoungestWriteOnly",
     "ds_write_b32 v1, v0\nds_write_b32 v1, v0 offset:512\ns_waitcnt lgkmcnt(1)\ns_barrier\n"
     "ds_read_b32 v4, v3\nds_read_b32 v4, v3 offset:512",
     "ds_read_b32 v4, v3 offset:512", "which 'ds_write_b32 v1, v0 offset:512'", 0},
    {"ReadWhileOverwritten", "ds_read_b32 v4, v3\ns_waitcnt lgkmcnt(0)\nds_write_b32 v1, v0",
     "ds_write_b32 v1, v0", "this writes LDS byte 0x0, which 'ds_read_b32 v4, v3'", 0},
    {"ReadNotWaitedFor", "ds_read_b32 v4, v3\ns_barrier\nds_write_b32 v1, v0", "ds_write_b32 v1, v0",
     "which 'ds_read_b32 v4, v3'", 0},
    {"ReadWaitedFor", "ds_read_b32 v4, v3\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_write_b32 v1, v0", nullptr,
     ""},
    {"BothWrite", "v_mov_b32 v4, 0\nds_write_b32 v4, v0", "ds_write_b32 v4, v0", "wave 0 writes"},
    {"BothWriteTheSame", "v_mov_b32 v4, 0\nv_mov_b32 v5, 7\nds_write_b32 v4, v5", nullptr, ""},
    {"BothWriteTheSameByteOfAHighHalf",
     "v_mov_b32 v4, 0\nv_lshl_or_b32 v5, 7, 16, v0\nds_write_b8_d16_hi v4, v5", nullptr, ""},
    {"BothWriteTheSameHighHalf", "v_mov_b32 v4, 0\nv_lshl_or_b32 v5, 7, 16, v0\nds_write_b16_d16_hi v4, v5",
     nullptr, ""},
    {"BothWriteAnotherHighHalf", "v_mov_b32 v4, 0\nv_lshlrev_b32 v5, 16, v0\nds_write_b16_d16_hi v4, v5",
     "ds_write_b16_d16_hi v4, v5", "wave 0 writes"},
    {"BothWriteTheSameAndOneReads",
     "v_mov_b32 v4, 0\nv_mov_b32 v5, 7\nds_write_b32 v4, v5\ns_waitcnt lgkmcnt(0)\nds_read_b32 v6, v4\n"
     "s_waitcnt lgkmcnt(0)",
     "ds_write_b32 v4, v5", "wave 0 reads"},
    {"BothWriteTheSameTwoElements",
     "v_mov_b32 v4, 0\nv_mov_b32 v5, 7\nv_mov_b32 v6, 9\nds_write2_b32 v4, v5, v6 offset1:1\n"
     "ds_write2st64_b32 v4, v6, v5 offset0:1 offset1:2",
     nullptr, ""},
    {"BothWriteAnotherSecondElement",
     "v_mov_b32 v4, 0\nv_mov_b32 v5, 7\nds_write2_b32 v4, v5, v0 offset0:2 offset1:1",
     "ds_write2_b32 v4, v5, v0 offset0:2 offset1:1", "LDS byte 0x4,"},
    {"BothRead", "ds_read_b32 v4, v3\nds_read_b32 v4, v1", nullptr, ""},
    {"BytesOfOneWord",
     "v_lshlrev_b32 v4, 2, v0\nv_and_b32 v4, 0xff, v4\nv_add_u32 v4, s12, v4\nds_write_b8 v4, v0\n"
     "ds_read_u8 v5, v4",
     nullptr, ""},
    {"HalvesThatOverlap",
     "v_lshlrev_b32 v4, 2, v0\nv_and_b32 v4, 0xff, v4\nv_add_u32 v4, s12, v4\nds_write_b16 v4, v0",
     "ds_write_b16 v4, v0", "LDS byte 0x1,"},
    {"WideReads",
     "v_lshlrev_b32 v4, 2, v1\nds_write_b128 v4, v[4:7]\nv_xor_b32 v4, 0x400, v4\n"
     "ds_read2_b64 v[8:11], v4 offset1:1",
     "ds_write_b128 v4, v[4:7]", "LDS byte 0x400"},
    {"Atomics", "v_mov_b32 v4, 0\nds_add_u32 v4, v0\nds_add_rtn_u32 v5, v4, v0", nullptr, ""},
    {"AtomicsAndARead", "v_mov_b32 v4, 0\nds_add_u32 v4, v0\nds_read_b32 v5, v4", "ds_add_u32 v4, v0",
     "this changes atomically LDS byte 0x0, which 'ds_read_b32 v5, v4'"},
    {"AWriteBehindAtomics",
     "v_mov_b32 v4, 0\ns_cbranch_scc1 first\nds_write_b32 v4, v0\nfirst:\nds_add_u32 v4, v0",
     "ds_write_b32 v4, v0", "changes atomically"},
    {"AtomicsWaitedFor",
     "v_mov_b32 v4, 0\nds_add_u32 v4, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v5, v4", nullptr, ""},
    {"LoadToLdsNotWaitedFor", "buffer_load_dword v1, s[8:11], 0 offen lds\ns_barrier\nds_read_b32 v4, v3",
     "ds_read_b32 v4, v3", "did not wait for it (vmcnt)", 0},
    {"LoadToLdsOfTheOtherCounter",
     "buffer_load_dword v1, s[8:11], 0 offen lds\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v4, v3",
     "ds_read_b32 v4, v3", "vmcnt", 0},
    {"LoadToLdsWaitedFor",
     "buffer_load_dword v1, s[8:11], 0 offen lds\nbuffer_load_dword v4, v1, s[8:11], 0 offen\n"
     "s_waitcnt vmcnt(1)\ns_barrier\nds_read_b32 v4, v3",
     nullptr, ""},
    {"LoadToLdsOneTooMany",
     "buffer_load_dword v1, s[8:11], 0 offen lds\nbuffer_load_dword v4, v1, s[8:11], 0 offen\n"
     "s_waitcnt vmcnt(2)\ns_barrier\nds_read_b32 v4, v3",
     "ds_read_b32 v4, v3", "vmcnt", 0},
    {"LoadToLdsOverWhatIsRead", "ds_read_b32 v4, v3\ns_barrier\nbuffer_load_dword v1, s[8:11], 0 offen lds",
     "buffer_load_dword v1, s[8:11], 0 offen lds", "lgkmcnt", 0},
    {"FlatNotWaitedFor", "flat_store_dword v[60:61], v0\ns_waitcnt vmcnt(0)\ns_barrier\nds_read_b32 v4, v3",
     "ds_read_b32 v4, v3", "both counters", 0},
    {"FlatWaitedFor",
     "flat_store_dword v[60:61], v0\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier\nds_read_b32 v4, v3", nullptr,
     ""},
    {"AWaveThatHasEnded",
     "s_cbranch_scc0 second\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_endpgm\n"
     "second:\nds_read_b32 v4, v3",
     "ds_read_b32 v4, v3", "no barrier"},
};

INSTANTIATE_TEST_SUITE_P(Each, LdsRaces, testing::ValuesIn(cases),
                         [](const auto &instance) { return std::string(instance.param.name); });

TEST(LdsRace, OneWaveHasNone) {
  EXPECT_FALSE(execute("ds_write_b32 v1, v0\nds_read_b32 v4, v3\nds_write_b32 v3, v0", 64).fault);
}

TEST(LdsRace, ALoopNeedsBothItsBarriers) {
  const std::string both = "s_mov_b32 s20, 4\nloop:\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                           "ds_read_b32 v4, v3\ns_waitcnt lgkmcnt(0)\n",
                    end = "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 loop";
  EXPECT_FALSE(execute(both + "s_barrier\n" + end).fault);
  const Report report = execute(both + end);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::RaceLds);
  EXPECT_EQ(report.fault->instruction, "ds_read_b32 v4, v3");
}

TEST(LdsRace, WorkgroupsDoNotMeet) {
  // Each workgroup has LDS of its own: what the last one left is not seen.
  Memory memory;
  KernelOptions options;
  options.lds_size = 1024;
  TestRun run(
      "v_lshlrev_b32 v1, 2, v0\ns_bitcmp1_b32 s2, 0\ns_cselect_b32 s3, 0x100, 0\nv_xor_b32 v1, s3, v1\n"
      "ds_write_b32 v1, v0",
      options);
  run.launch.grid = {4, 1, 1};
  run.launch.block = {128, 1, 1};
  run.launch.threads = 1;
  run.launch.checks.race_lds = true;
  EXPECT_FALSE(run(memory).fault);
}

} // namespace
} // namespace nereid::sim::test
