// The check that workgroups touch global memory in order: planted races and right code.

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// Runs workgroups of two waves with the check on. s2 is the workgroup, s12 the wave, s[4:5] a zeroed buffer
/// of 4096 bytes with a counter at 2048, v1 = 4 * work-item, v4 = 2048, v5 = 1.
Report execute(const std::string &body, unsigned grid = 2, bool check = true) {
  TestRun run(load_buffer +
              std::string("v_lshrrev_b32 v2, 6, v0\nv_lshlrev_b32 v1, 2, v0\nv_readfirstlane_b32 s12, v2\n"
                          "v_mov_b32 v4, 0x800\nv_mov_b32 v5, 1\n") +
              body);
  run.launch.grid = {grid, 1, 1};
  run.launch.block = {128, 1, 1};
  run.launch.checks.race_global = check;
  return run_on_buffer(run);
}

struct Case {
  const char *name;
  const char *body;
  const char *at;   ///< the instruction at fault, in workgroup 1; null: the code is right
  const char *text; ///< a part of what the fault says
};

class GlobalRaces : public testing::TestWithParam<Case> {};

TEST_P(GlobalRaces, AreFoundInTheSecondWorkgroup) {
  const Report report = execute(GetParam().body);
  expect_fault(report, FaultKind::RaceGlobal, GetParam().at, GetParam().text);
  if (report.fault) {
    EXPECT_EQ(report.fault->workgroup[0], 1u);
  }
}

// The first workgroup stores and the second loads; "store", "load" and the lines of release and acquire vary.
#define FIRST "s_cmp_eq_u32 s2, 1\ns_cbranch_scc1 second\n"
#define SECOND "s_endpgm\nsecond:\n"
#define STORE "global_store_dword v1, v0, s[4:5] sc1\n"
#define WAIT "s_waitcnt vmcnt(0)\n"
#define COUNT "global_atomic_add v6, v4, v5, s[4:5] sc0\n"
#define LOAD "global_load_dword v7, v1, s[4:5] sc1"
#define PLAIN_STORE "global_store_dword v1, v0, s[4:5]\n"
#define PLAIN_LOAD "global_load_dword v7, v1, s[4:5]"

constexpr Case cases[] = {
    {"StoresToTheSamePlace", "global_store_dword v1, v0, s[4:5]", "global_store_dword v1, v0, s[4:5]",
     "in wave 0 of workgroup 0 writes: no atomic orders them"},
    {"StoresToOtherPlaces", "s_lshl_b32 s20, s2, 9\nv_add_u32 v1, s20, v1\nglobal_store_dword v1, v0, s[4:5]",
     nullptr, ""},
    {"BytesOfOneWord", "s_nop 0\nv_add_u32 v1, s2, v1\nglobal_store_byte v1, v0, s[4:5]", nullptr, ""},
    {"Loads", "global_load_dword v7, v1, s[4:5]", nullptr, ""},
    {"LoadOfAStore", FIRST STORE SECOND LOAD, "global_load_dword v7, v1, s[4:5] sc1", "this reads the byte"},
    {"StoreOverALoad", FIRST PLAIN_LOAD "\n" WAIT SECOND "global_store_dword v1, v0, s[4:5]",
     "global_store_dword v1, v0, s[4:5]", "reads: no atomic"},
    {"ScalarLoadOfAStore", FIRST STORE SECOND "s_load_dword s20, s[4:5], 0x0",
     "s_load_dword s20, s[4:5], 0x0", "this reads"},
    {"Ordered", FIRST STORE WAIT COUNT SECOND COUNT WAIT LOAD, nullptr, ""},
    {"StoreNotWaitedFor", FIRST STORE COUNT SECOND COUNT WAIT LOAD, "global_load_dword v7, v1, s[4:5] sc1",
     "which 'global_store_dword v1, v0, s[4:5] sc1'"},
    {"StoreAfterTheAtomic", FIRST COUNT STORE WAIT SECOND COUNT WAIT LOAD,
     "global_load_dword v7, v1, s[4:5] sc1", "writes"},
    {"AtomicOfTheSecondMissing", FIRST STORE WAIT COUNT SECOND LOAD, "global_load_dword v7, v1, s[4:5] sc1",
     "writes"},
    {"AtomicNotWaitedFor", FIRST STORE WAIT COUNT SECOND COUNT LOAD, "global_load_dword v7, v1, s[4:5] sc1",
     "writes"},
    {"AtomicWithoutReturn", FIRST STORE WAIT COUNT SECOND "global_atomic_add v4, v5, s[4:5]\n" WAIT LOAD,
     "global_load_dword v7, v1, s[4:5] sc1", "writes"},
    {"AnotherCounter",
     FIRST STORE WAIT COUNT SECOND "global_atomic_add v6, v4, v5, s[4:5] offset:8 sc0\n" WAIT LOAD,
     "global_load_dword v7, v1, s[4:5] sc1", "writes"},
    {"PlainStore", FIRST PLAIN_STORE WAIT COUNT SECOND COUNT WAIT LOAD,
     "global_load_dword v7, v1, s[4:5] sc1", "which 'global_store_dword v1, v0, s[4:5]'"},
    {"PlainStoreWrittenBack", FIRST PLAIN_STORE "buffer_wbl2 sc1\n" WAIT COUNT SECOND COUNT WAIT LOAD,
     nullptr, ""},
    {"WriteBackNotWaitedFor", FIRST PLAIN_STORE WAIT "buffer_wbl2 sc1\n" COUNT SECOND COUNT WAIT LOAD,
     "global_load_dword v7, v1, s[4:5] sc1", "writes"},
    {"PlainLoad", FIRST STORE WAIT COUNT SECOND COUNT WAIT PLAIN_LOAD, "global_load_dword v7, v1, s[4:5]",
     "reads"},
    {"PlainLoadAfterInvalidating", FIRST STORE WAIT COUNT SECOND COUNT WAIT "buffer_inv sc1\n" PLAIN_LOAD,
     nullptr, ""},
    {"InvalidatedTooEarly", FIRST STORE WAIT COUNT SECOND COUNT "buffer_inv sc1\n" WAIT PLAIN_LOAD,
     "global_load_dword v7, v1, s[4:5]", "reads"},
    {"StoreOverAnOrderedLoad", FIRST PLAIN_LOAD "\n" WAIT COUNT SECOND COUNT WAIT PLAIN_STORE, nullptr, ""},
    {"AtomicsOnly", "global_atomic_add v6, v4, v5, s[4:5] sc0\nglobal_atomic_umax v4, v5, s[4:5]", nullptr,
     ""},
    {"CounterReadAtDeviceScope", FIRST COUNT SECOND "global_load_dword v6, v4, s[4:5] sc1\n" WAIT "s_nop 0",
     nullptr, ""},
    {"CounterReadAtDeviceScopeOrders",
     FIRST STORE WAIT COUNT SECOND "global_load_dword v6, v4, s[4:5] sc1\n" WAIT LOAD, nullptr, ""},
    {"CounterReadPlainly", FIRST COUNT SECOND "global_load_dword v6, v4, s[4:5]",
     "global_load_dword v6, v4, s[4:5]", "writes"},
    {"CounterReset", FIRST COUNT SECOND COUNT WAIT "global_store_dword v4, v5, s[4:5] sc1\n", nullptr, ""},
    {"WavesMeet",
     FIRST STORE WAIT "s_barrier\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc0 done\n" COUNT "done:\n" SECOND
                      "s_cmp_eq_u32 s12, 0\ns_cbranch_scc0 other\n" COUNT WAIT
                      "other:\ns_barrier\nv_xor_b32 v1, 0x100, v1\n" LOAD,
     nullptr, ""},
    {"WavesDoNotMeet",
     FIRST STORE WAIT "s_cmp_eq_u32 s12, 0\ns_cbranch_scc0 done\n" COUNT "done:\n" SECOND
                      "s_cmp_eq_u32 s12, 0\ns_cbranch_scc0 other\n" COUNT WAIT
                      "other:\ns_barrier\nv_xor_b32 v1, 0x100, v1\n" LOAD,
     "global_load_dword v7, v1, s[4:5] sc1", "in wave 1 of workgroup 0 writes"},
    {"OneWaveWritesBackForAll",
     FIRST PLAIN_STORE WAIT
     "s_barrier\ns_cmp_eq_u32 s12, 0\ns_cbranch_scc0 done\nbuffer_wbl2 sc1\n" WAIT COUNT
     "done:\n" SECOND COUNT WAIT LOAD,
     nullptr, ""},
};

INSTANTIATE_TEST_SUITE_P(Each, GlobalRaces, testing::ValuesIn(cases),
                         [](const auto &instance) { return std::string(instance.param.name); });

TEST(GlobalRace, KnowledgeIsPassedOn) {
  // The third workgroup sees the second's atomic, and with it what the second saw of the first.
  const std::string
      start = "s_cmp_eq_u32 s2, 1\ns_cbranch_scc1 second\ns_cmp_eq_u32 s2, 2\ns_cbranch_scc1 third\n",
      first = STORE WAIT COUNT "s_endpgm\nsecond:\n",
      third = "s_endpgm\nthird:\nglobal_atomic_add v6, v4, v5, s[4:5] offset:8 sc0\n" WAIT LOAD,
      other = "global_atomic_add v6, v4, v5, s[4:5] offset:8 sc0\n";
  EXPECT_FALSE(execute(start + first + COUNT WAIT + other + third, 3).fault);
  EXPECT_TRUE(execute(start + first + other + third, 3).fault);
}

TEST(GlobalRace, IsNotLookedForUnlessNamed) {
  EXPECT_FALSE(execute("global_store_dword v1, v0, s[4:5]", 2, false).fault);
  EXPECT_FALSE(Checks::all().race_global);
}

} // namespace
} // namespace nereid::sim::test
