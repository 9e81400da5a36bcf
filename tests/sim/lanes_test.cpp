// Movement between lanes: DPP, permutes, swaps, read and write of single lanes, EXEC.

#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

std::vector<uint32_t> lane_numbers() {
  std::vector<uint32_t> words(3 * 64);
  for (unsigned lane = 0; lane < 64; ++lane) {
    words[lane] = lane;
    words[64 + lane] = 1000 + lane;
    words[128 + lane] = 4 * (63 - lane);
  }
  return words;
}

/// v16 after `text`, which starts with v0 = lane, v1 = 1000 + lane, v2 = 4 * (63 - lane), v16 = 77.
std::vector<uint32_t> after(const std::string &text, unsigned first = 16, unsigned count = 1) {
  return run_lanes("v_mov_b32 v16, 77\nv_mov_b32 v17, 78\n" + text, lane_numbers(), first, count);
}

struct Permuted {
  const char *control;
  int (*source)(int lane); ///< -1: none
};

TEST(Lanes, DppReadsTheLaneOfItsControl) {
  const Permuted cases[] = {
      {"quad_perm:[1,0,3,2]", [](int l) { return l ^ 1; }},
      {"quad_perm:[3,3,0,1]",
       [](int l) {
         return (l & ~3) + (l % 4 == 0 ? 3 : l % 4 == 1 ? 3 : l % 4 == 2 ? 0 : 1);
       }},
      {"row_shl:3", [](int l) { return l % 16 + 3 < 16 ? l + 3 : -1; }},
      {"row_shr:1", [](int l) { return l % 16 ? l - 1 : -1; }},
      {"row_ror:5", [](int l) { return l / 16 * 16 + (l % 16 + 11) % 16; }},
      {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
      {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
      {"row_newbcast:6", [](int l) { return l / 16 * 16 + 6; }},
      {"row_bcast:15", [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; }},
      {"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }},
      {"wave_shr:1", [](int l) { return l - 1; }},
      {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
  };
  for (const Permuted &c : cases) {
    auto kept =
        after(std::string("s_nop 1\nv_mov_b32_dpp v16, v1 ") + c.control + " row_mask:0xf bank_mask:0xf");
    auto zeroed = after(std::string("s_nop 1\nv_mov_b32_dpp v16, v1 ") + c.control +
                        " row_mask:0xf bank_mask:0xf bound_ctrl:1");
    for (int lane = 0; lane < 64; ++lane) {
      int source = c.source(lane);
      EXPECT_EQ(kept[lane], source < 0 ? 77u : 1000u + source) << c.control << " lane " << lane;
      EXPECT_EQ(zeroed[lane], source < 0 ? 0u : 1000u + source) << c.control << " lane " << lane;
    }
  }
}

TEST(Lanes, DppMasksAndInactiveSources) {
  auto masked = after("s_nop 1\nv_add_u32_dpp v16, v1, v0 quad_perm:[0,1,2,3] row_mask:0x5 bank_mask:0x3");
  for (unsigned lane = 0; lane < 64; ++lane) {
    bool row = 0x5 >> lane / 16 & 1, bank = 0x3 >> lane / 4 % 4 & 1;
    EXPECT_EQ(masked[lane], row && bank ? 1000 + 2 * lane : 77) << lane;
  }
  // Odd lanes are off: even ones that read them keep their value.
  auto inactive = after("s_mov_b32 exec_lo, 0x55555555\ns_mov_b32 exec_hi, 0x55555555\ns_nop 4\n"
                        "v_mov_b32_dpp v16, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf");
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(inactive[lane], 77u) << lane;
}

TEST(Lanes, SwapsExchangeRowsAndHalves) {
  auto sixteen =
      after("v_mov_b32 v16, v0\nv_mov_b32 v17, v1\ns_nop 1\nv_permlane16_swap_b32 v16, v17", 16, 2);
  auto half = after("v_mov_b32 v16, v0\nv_mov_b32 v17, v1\ns_nop 1\nv_permlane32_swap_b32 v16, v17", 16, 2);
  auto whole = after("v_mov_b32 v16, v0\nv_mov_b32 v17, v1\nv_swap_b32 v16, v17", 16, 2);
  for (unsigned lane = 0; lane < 64; ++lane) {
    bool odd_row = lane & 16, upper = lane & 32;
    EXPECT_EQ(sixteen[lane], odd_row ? 1000 + lane - 16 : lane);
    EXPECT_EQ(sixteen[64 + lane], odd_row ? 1000 + lane : lane + 16);
    EXPECT_EQ(half[lane], upper ? 1000 + lane - 32 : lane);
    EXPECT_EQ(half[64 + lane], upper ? 1000 + lane : lane + 32);
    EXPECT_EQ(whole[lane], 1000 + lane);
    EXPECT_EQ(whole[64 + lane], lane);
  }
}

TEST(Lanes, SingleLanesAndCounts) {
  auto read = after("v_readlane_b32 s20, v1, 37\nv_mov_b32 v16, s20");
  EXPECT_EQ(read[5], 1037u);
  auto first =
      after("s_mov_b64 exec, 0xf0\nv_readfirstlane_b32 s20, v1\ns_mov_b64 exec, -1\nv_mov_b32 v16, s20");
  EXPECT_EQ(first[0], 1004u);
  auto none = after("s_mov_b64 exec, 0\nv_readfirstlane_b32 s20, v1\ns_mov_b64 exec, -1\nv_mov_b32 v16, s20");
  EXPECT_EQ(none[0], 1000u);
  auto written = after("s_movk_i32 s20, 555\nv_writelane_b32 v16, s20, 9");
  EXPECT_EQ(written[9], 555u);
  EXPECT_EQ(written[8], 77u);
  auto counted =
      after("s_mov_b32 s20, 0xff00ff00\nv_mbcnt_lo_u32_b32 v16, s20, 0\nv_mbcnt_hi_u32_b32 v16, s20, v16");
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(counted[lane],
              static_cast<unsigned>(__builtin_popcountll(0xff00ff00ff00ff00 & ((1ull << lane) - 1))));
  auto accumulation =
      after("v_accvgpr_write_b32 a5, v1\nv_accvgpr_mov_b32 a6, a5\nv_accvgpr_read_b32 v16, a6");
  EXPECT_EQ(accumulation[12], 1012u);
}

TEST(Lanes, LdsPermutes) {
  auto pulled = after("ds_bpermute_b32 v16, v2, v1\ns_waitcnt lgkmcnt(0)");
  auto pushed = after("v_lshlrev_b32 v3, 2, 5\nds_permute_b32 v16, v3, v1\ns_waitcnt lgkmcnt(0)");
  auto swizzled = after("ds_swizzle_b32 v16, v1 offset:swizzle(SWAP,4)\ns_waitcnt lgkmcnt(0)");
  auto quad = after("ds_swizzle_b32 v16, v1 offset:swizzle(QUAD_PERM,3,2,1,0)\ns_waitcnt lgkmcnt(0)");
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(pulled[lane], 1063 - lane);
    EXPECT_EQ(pushed[lane], lane == 5 ? 1063u : 0u);
    EXPECT_EQ(swizzled[lane], 1000 + (lane ^ 4));
    EXPECT_EQ(quad[lane], 1000 + (lane ^ 3));
  }
}

TEST(Lanes, InactiveLanesKeepTheirResults) {
  auto kept = after("s_mov_b64 exec, 0xffff\nv_add_u32 v16, v0, v1\ns_mov_b64 exec, -1");
  for (unsigned lane = 0; lane < 64; ++lane)
    EXPECT_EQ(kept[lane], lane < 16 ? 1000 + 2 * lane : 77) << lane;
}

} // namespace
} // namespace nereid::sim::test
