// Instructions that change how others run: indexed registers, vskip, forks; scalar stores and atomics; the
// exchanges, counters and swizzles of the LDS unit.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

using In = const LaneInputs &;

TEST(State, IndexedVectorRegisters) {
  // M0[7:0] is the index; bits 0 to 2 of the mode move the sources, bit 3 the destination.
  constexpr const char *off = "\ns_set_gpr_idx_off\n";
  const auto indexed = [&](const std::string &mode, const std::string &body) {
    return "s_mov_b32 s20, 3\ns_set_gpr_idx_on s20, gpr_idx(" + mode + ")\n" + body + off;
  };
  expect_lanes(
      {
          {indexed("SRC0", "v_add_u32 v100, v0, v1") + "v_mov_b32 %, v100",
           [](In v) { return uint32_t(v[3] + v[1]); }},
          {indexed("SRC1", "v_sub_u32 v100, v0, v1") + "v_mov_b32 %, v100",
           [](In v) { return uint32_t(v[0] - v[4]); }},
          {indexed("SRC0,SRC1,SRC2", "v_add3_u32 v100, v0, v1, v2") + "v_mov_b32 %, v100",
           [](In v) { return uint32_t(v[3] + v[4] + v[5]); }},
          {indexed("DST", "v_mov_b32 v100, v6") + "v_mov_b32 %, v103", [](In v) { return v[6]; }},
          {indexed("SRC0", "v_mov_b32 v100, s20") + "v_mov_b32 %, v100", [](In) { return 3; }},
          {indexed("SRC0", "s_set_gpr_idx_idx 2\nv_mov_b32 v100, v0") + "v_mov_b32 %, v100",
           [](In v) { return v[2]; }},
          {indexed("SRC0", "s_set_gpr_idx_mode gpr_idx(SRC1)\nv_sub_u32 v100, v0, v1") + "v_mov_b32 %, v100",
           [](In v) { return uint32_t(v[0] - v[4]); }},
          {"s_mov_b32 m0, 0xabcd0000\n" + indexed("SRC0,DST", "s_nop 0") + "v_mov_b32 %, m0",
           [](In) { return 0xABCD9003; }},
          // Beyond the last register the first one is read and results are dropped.
          {"s_movk_i32 s21, 0xf0\ns_set_gpr_idx_on s21, gpr_idx(SRC0)\nv_mov_b32 v100, v90" +
               std::string(off) + "v_mov_b32 %, v100",
           [](In v) { return v[0]; }},
      },
      integer_inputs());
}

TEST(State, SkippedVectorInstructionsAndMovesByM0) {
  expect_lanes(
      {
          {"v_mov_b32 %, v0\ns_setvskip -1, 4\nv_mov_b32 %, v1\ns_setvskip 0, 4\n",
           [](In v) { return v[0]; }},
          {"s_mov_b32 m0, 2\ns_mov_b32 s22, 7\ns_mov_b32 s23, 8\ns_movrels_b64 s[24:25], s[20:21]\n"
           "v_mov_b32 %, s25",
           [](In) { return 8; }},
          {"s_mov_b32 m0, 2\ns_mov_b64 s[26:27], 5\ns_movreld_b64 s[20:21], s[26:27]\nv_mov_b32 %, s22",
           [](In) { return 5; }},
          {"s_mov_b32 m0, 3\ns_mov_b32 s23, 9\ns_movrels_b32 s24, s20\nv_mov_b32 %, s24",
           [](In) { return 9; }},
          {"v_clrexcp\ns_wakeup\ns_cbranch_cdbguser 1f\nv_mov_b32 %, 4\n1:", [](In) { return 4; }},
      },
      integer_inputs());
}

TEST(State, ForksRunBothWaysAndJoin) {
  // Lanes of the first operand take the branch; v100 gets 1 there and 2 elsewhere, both sides join.
  constexpr const char *both =
      "s_mov_b64 s[40:41], {}\ns_getreg_b32 s43, hwreg(HW_REG_MODE, 29, 3)\n"
      "s_cbranch_i_fork s[40:41], 1f\nv_mov_b32 v100, 2\ns_branch 2f\n1:\n"
      "v_mov_b32 v100, 1\n2:\ns_cbranch_join s43\ns_mov_b64 exec, -1\nv_mov_b32 %, v100";
  const auto expected = [](uint64_t mask, unsigned lane) { return mask >> lane & 1 ? 1u : 2u; };
  for (const auto &[text, mask] : {std::pair<const char *, uint64_t>{"0xff", 0xFF},
                                   {"-2", ~uint64_t{1}},
                                   {"-1", ~uint64_t{0}},
                                   {"0", 0}}) {
    std::string body = fmt::format(fmt::runtime(both), text);
    body.replace(body.find('%'), 1, "v10");
    const auto result = run_lanes(body, std::vector<uint32_t>(64), 10, 1);
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(result[lane], expected(mask, lane)) << text << " lane " << lane;
  }
}

class ScalarMemory : public testing::Test {
protected:
  /// Runs a body with s[4:5] a buffer of 16 words that hold 100, 101, ..., and gives them back.
  std::vector<uint32_t> run(const std::string &body) {
    Memory memory;
    std::vector<uint32_t> words(16);
    for (uint32_t k = 0; k < 16; ++k)
      words[k] = 100 + k;
    uint64_t buffer = *memory.allocate(64);
    EXPECT_TRUE(memory.write(buffer, words.data(), 64).ok());
    TestRun program(
        "s_load_dwordx2 s[4:5], s[0:1], 0\ns_waitcnt lgkmcnt(0)\n"
        "s_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_mov_b32 s10, 60\ns_mov_b32 s11, 0x27000\n" +
        body + "\ns_waitcnt lgkmcnt(0)\ns_dcache_wb");
    program.argument(buffer);
    Report report = program(memory);
    EXPECT_FALSE(report.fault) << report.fault->error().text();
    EXPECT_TRUE(memory.read(buffer, words.data(), 64).ok());
    return words;
  }
};

TEST_F(ScalarMemory, Stores) {
  auto words =
      run("s_mov_b32 s20, 1\ns_mov_b32 s21, 2\ns_mov_b32 s22, 3\ns_mov_b32 s23, 4\ns_movk_i32 s24, 8\n"
          "s_store_dword s20, s[4:5], 0x4\ns_store_dwordx2 s[22:23], s[4:5], s24\n"
          "s_store_dwordx4 s[20:23], s[4:5], 0x10\ns_buffer_store_dwordx4 s[20:23], s[8:11], 0x30");
  EXPECT_EQ(words, (std::vector<uint32_t>{100, 1, 3, 4, 1, 2, 3, 4, 108, 109, 110, 111, 1, 2, 3, 115}));
}

TEST_F(ScalarMemory, Atomics) {
  auto words = run("s_mov_b32 s20, 5\ns_atomic_add s20, s[4:5], 0x0\ns_mov_b32 s21, 7\n"
                   "s_atomic_swap s21, s[4:5], 0x4 glc\ns_mov_b32 s22, 9\ns_mov_b32 s23, 102\n"
                   "s_atomic_cmpswap s[22:23], s[4:5], 0x8 glc\ns_mov_b32 s24, 1\ns_mov_b32 s25, 0\n"
                   "s_atomic_add_x2 s[24:25], s[4:5], 0x10\ns_movk_i32 s26, 55\n"
                   "s_buffer_atomic_umin s26, s[8:11], 0x18\ns_buffer_atomic_add s26, s[8:11], 0x3c glc\n"
                   "s_waitcnt lgkmcnt(0)\ns_store_dword s21, s[4:5], 0x20\ns_store_dword s22, s[4:5], 0x24\n"
                   "s_store_dword s26, s[4:5], 0x28");
  EXPECT_EQ(words,
            (std::vector<uint32_t>{105, 7, 9, 103, 105, 105, 55, 107, 101, 102, 0, 111, 112, 113, 114, 115}));
}

TEST(LdsUnit, ExchangesAndCounters) {
  KernelOptions options;
  options.lds_size = 4096;
  const auto run = [&](const std::string &body) {
    Memory memory;
    uint64_t out = *memory.allocate(256);
    TestRun program(
        "s_load_dwordx2 s[6:7], s[0:1], 0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
        "v_lshlrev_b32 v3, 4, v0\nv_mov_b32 v4, v0\nv_add_u32 v5, 100, v0\nv_add_u32 v6, 200, v0\n"
        "v_add_u32 v7, 300, v0\nds_write_b128 v3, v[4:7]\ns_waitcnt lgkmcnt(0)\n" +
            body + "\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[6:7]",
        options);
    program.argument(out);
    program.launch.block = {64, 1, 1};
    Report report = program(memory);
    EXPECT_FALSE(report.fault) << report.fault->error().text();
    std::vector<uint32_t> words(64);
    EXPECT_TRUE(memory.read(out, words.data(), 256).ok());
    return words;
  };
  const auto expect = [&](const std::string &body, uint32_t (*expected)(unsigned lane)) {
    const auto words = run(body);
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(words[lane], expected(lane)) << body << " lane " << lane;
  };
  constexpr const char *exchange = "ds_wrxchg2_rtn_b32 v[8:9], v3, v6, v7 offset0:1 offset1:0\n"
                                   "s_waitcnt lgkmcnt(0)\n";
  expect(std::string(exchange) + "v_mov_b32 v2, v8", [](unsigned l) { return 100 + l; });
  expect(std::string(exchange) + "v_mov_b32 v2, v9", [](unsigned l) { return l; });
  expect(std::string(exchange) + "ds_read_b32 v2, v3 offset:4", [](unsigned l) { return 200 + l; });
  expect("ds_wrxchg2_rtn_b64 v[8:11], v3, v[6:7], v[4:5] offset0:0 offset1:1\ns_waitcnt lgkmcnt(0)\n"
         "v_mov_b32 v2, v11",
         [](unsigned l) { return 300 + l; });
  expect("ds_wrxchg2st64_rtn_b32 v[8:9], v1, v6, v7 offset0:0 offset1:1\ns_waitcnt lgkmcnt(0)\n"
         "ds_read_b32 v2, v1 offset:256",
         [](unsigned l) { return 300 + l; });
  expect("v_or_b32 v8, 0x80000000, v6\nv_mov_b32 v9, v7\nds_condxchg32_rtn_b64 v[10:11], v3, v[8:9]\n"
         "s_waitcnt lgkmcnt(0)\nds_read_b32 v2, v3",
         [](unsigned l) { return 200 + l; });
  expect("v_or_b32 v8, 0x80000000, v6\nv_mov_b32 v9, v7\nds_condxchg32_rtn_b64 v[10:11], v3, v[8:9]\n"
         "s_waitcnt lgkmcnt(0)\nds_read_b32 v2, v3 offset:4",
         [](unsigned l) { return 100 + l; });
  expect("s_mov_b32 m0, 16\ns_mov_b64 exec, 0xff\nds_append v2 offset:4\ns_waitcnt lgkmcnt(0)\n"
         "s_mov_b64 exec, -1\nv_mov_b32 v8, 20\nds_read_b32 v2, v8",
         [](unsigned) { return 101u + 8; });
  expect("s_mov_b32 m0, 20\nds_consume v2", [](unsigned) { return 101u; });
  expect("s_mov_b32 m0, 20\nds_consume v2\nv_mov_b32 v8, 20\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v8",
         [](unsigned) { return 101u - 64; });
}

TEST(LdsUnit, SwizzlesOfEveryMode) {
  struct Mode {
    const char *text;
    unsigned (*source)(unsigned lane);
  };
  const Mode modes[] = {
      {"swizzle(QUAD_PERM,3,1,0,2)", [](unsigned l) { return (l & ~3u) + (0x87 >> 2 * (l & 3) & 3); }},
      {"swizzle(SWAP,4)", [](unsigned l) { return l ^ 4; }},
      {"swizzle(REVERSE,8)", [](unsigned l) { return l ^ 7; }},
      {"swizzle(BROADCAST,8,5)", [](unsigned l) { return (l & ~7u) + 5; }},
      {"swizzle(ROTATE,0,3)", [](unsigned l) { return (l & 32) | ((l + 3) & 31); }},
      {"swizzle(ROTATE,1,3)", [](unsigned l) { return (l & 32) | ((l - 3) & 31); }},
      {"swizzle(FFT,0)",
       [](unsigned l) {
         return (l & 32) | (l & 1) << 4 | (l & 2) << 2 | (l & 4) | (l & 8) >> 2 | (l & 16) >> 4;
       }},
      {"swizzle(FFT,16)",
       [](unsigned l) { return (l & 48) | (l & 1) << 3 | (l & 2) << 1 | (l & 4) >> 1 | (l & 8) >> 3; }},
      {"swizzle(FFT,31)", [](unsigned l) { return l; }},
  };
  std::vector<uint32_t> inputs(64);
  for (unsigned lane = 0; lane < 64; ++lane)
    inputs[lane] = 1000 + lane;
  for (const Mode &mode : modes) {
    const auto result = run_lanes(
        fmt::format("ds_swizzle_b32 v10, v0 offset:{}\ns_waitcnt lgkmcnt(0)", mode.text), inputs, 10, 1);
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(result[lane], 1000 + mode.source(lane)) << mode.text << " lane " << lane;
  }
}

} // namespace
} // namespace nereid::sim::test
