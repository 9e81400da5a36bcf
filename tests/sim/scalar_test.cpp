// Scalar instructions: each program leaves a 64-bit result in s[20:21] and SCC.

#include <gtest/gtest.h>

#include "tests/sim/scalar_table.h"

namespace nereid::sim::test {
namespace {

TEST(Scalar, Arithmetic) {
  expect_scalars({
      {"s_add_u32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         uint64_t s = uint64_t{low(a)} + low(b);
         return ScalarResult{low(s), s >> 32 != 0};
       }},
      {"s_add_u32 s20, s24, s26\ns_addc_u32 s21, s25, s27",
       [](uint64_t a, uint64_t b) { return ScalarResult{a + b, a + b < a}; }, true},
      {"s_sub_u32 s20, s24, s26\ns_subb_u32 s21, s25, s27",
       [](uint64_t a, uint64_t b) { return ScalarResult{a - b, b > a}; }, true},
      {"s_add_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         int64_t s = sign(a) + sign(b);
         return ScalarResult{low(static_cast<uint64_t>(s)), s != static_cast<int32_t>(s)};
       }},
      {"s_sub_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         int64_t s = sign(a) - sign(b);
         return ScalarResult{low(static_cast<uint64_t>(s)), s != static_cast<int32_t>(s)};
       }},
      {"s_mul_i32 s20, s24, s26", [](uint64_t a, uint64_t b) { return ScalarResult{low(a * b), false}; }},
      {"s_mul_hi_u32 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{uint64_t{low(a)} * low(b) >> 32, false}; }},
      {"s_mul_hi_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         return ScalarResult{static_cast<uint64_t>(sign(a) * sign(b) >> 32), false};
       }},
      {"s_min_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{sign(a) < sign(b) ? a : b, sign(a) < sign(b)}; }},
      {"s_max_u32 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{low(a) > low(b) ? a : b, low(a) >= low(b)}; }},
      {"s_lshl2_add_u32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         uint64_t s = (uint64_t{low(a)} << 2) + low(b);
         return ScalarResult{low(s), s >> 32 != 0};
       }},
      {"s_abs_i32 s20, s24", [](uint64_t a, uint64_t) { return nonzero(sign(a) < 0 ? 0 - low(a) : low(a)); }},
      {"s_movk_i32 s20, -5", [](uint64_t, uint64_t) { return ScalarResult{0xFFFFFFFB, false}; }},
      {"s_mov_b32 s20, s24\ns_addk_i32 s20, 100",
       [](uint64_t a, uint64_t) { return ScalarResult{low(a + 100), sign(a) + 100 > 0x7FFFFFFF}; }},
      {"s_mov_b32 s20, s24\ns_mulk_i32 s20, -3",
       [](uint64_t a, uint64_t) { return ScalarResult{low(a * static_cast<uint64_t>(-3)), false}; }},
  });
}

TEST(Scalar, LogicAndShifts) {
  expect_scalars({
      {"s_and_b32 s20, s24, s26", [](uint64_t a, uint64_t b) { return nonzero(low(a & b)); }},
      {"s_or_b64 s[20:21], s[24:25], s[26:27]", [](uint64_t a, uint64_t b) { return nonzero64(a | b); },
       true},
      {"s_andn2_b64 s[20:21], s[24:25], s[26:27]", [](uint64_t a, uint64_t b) { return nonzero64(a & ~b); },
       true},
      {"s_xnor_b32 s20, s24, s26", [](uint64_t a, uint64_t b) { return nonzero(low(~(a ^ b))); }},
      {"s_not_b64 s[20:21], s[24:25]", [](uint64_t a, uint64_t) { return nonzero64(~a); }, true},
      {"s_lshl_b32 s20, s24, s26", [](uint64_t a, uint64_t b) { return nonzero(low(a) << (b & 31)); }},
      {"s_lshr_b64 s[20:21], s[24:25], s26", [](uint64_t a, uint64_t b) { return nonzero64(a >> (b & 63)); },
       true},
      {"s_ashr_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return nonzero(low(static_cast<uint64_t>(sign(a) >> (b & 31)))); }},
      {"s_bfe_u32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         unsigned width = b >> 16 & 127;
         uint64_t field = uint64_t{low(a)} >> (b & 31);
         return nonzero(low(width >= 32 ? field : field & ((uint64_t{1} << width) - 1)));
       }},
      {"s_bfe_i32 s20, s24, s26",
       [](uint64_t a, uint64_t b) {
         unsigned width = b >> 16 & 127;
         int64_t field = sign(a) >> (b & 31);
         if (width == 0)
           return nonzero(0);
         if (width < 32)
           field = field << (64 - width) >> (64 - width);
         return nonzero(low(static_cast<uint64_t>(field)));
       }},
      {"s_bfm_b32 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{((1u << (a & 31)) - 1) << (b & 31), false}; }},
      {"s_bcnt1_i32_b64 s20, s[24:25]",
       [](uint64_t a, uint64_t) { return nonzero(static_cast<uint32_t>(__builtin_popcountll(a))); }},
      {"s_ff1_i32_b32 s20, s24",
       [](uint64_t a, uint64_t) {
         return ScalarResult{low(a) ? static_cast<uint64_t>(__builtin_ctz(low(a))) : ~uint64_t{0}, false};
       }},
      {"s_flbit_i32_b64 s20, s[24:25]",
       [](uint64_t a, uint64_t) {
         return ScalarResult{a ? static_cast<uint64_t>(__builtin_clzll(a)) : ~uint64_t{0}, false};
       }},
      {"s_brev_b32 s20, s24",
       [](uint64_t a, uint64_t) {
         uint32_t result = 0;
         for (unsigned k = 0; k < 32; ++k)
           result |= low(a >> k & 1) << (31 - k);
         return ScalarResult{result, false};
       }},
      {"s_sext_i32_i8 s20, s24",
       [](uint64_t a, uint64_t) {
         return ScalarResult{low(static_cast<uint64_t>(static_cast<int8_t>(a))), false};
       }},
      {"s_pack_lh_b32_b16 s20, s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{(a & 0xFFFF) | (low(b) & 0xFFFF0000), false}; }},
      {"s_bitset1_b32 s20, s24", [](uint64_t a, uint64_t) { return ScalarResult{1u << (a & 31), false}; }},
  });
}

TEST(Scalar, LiteralsOf64BitsAreExtended) {
  expect_scalars({
      {"s_mov_b64 s[20:21], 0xf0000001", [](uint64_t, uint64_t) { return ScalarResult{0xF0000001, false}; },
       true},
      {"s_xor_b64 s[20:21], s[24:25], 0xffffffff",
       [](uint64_t a, uint64_t) { return ScalarResult{a ^ 0xFFFFFFFF, (a ^ 0xFFFFFFFF) != 0}; }, true},
      {"s_ashr_i64 s[20:21], 0xf0000000, 4",
       [](uint64_t, uint64_t) { return ScalarResult{0xFFFFFFFFFF000000, true}; }, true},
      {"v_mov_b32 v0, 0xf0000000\nv_mov_b32 v1, 0\nv_cmp_eq_u64 vcc, 0xf0000000, v[0:1]\n"
       "s_and_b64 s[20:21], vcc, 1",
       [](uint64_t, uint64_t) { return ScalarResult{1, true}; }, true},
      {"v_mov_b32 v0, 0xf0000000\nv_mov_b32 v1, -1\nv_cmp_eq_i64 vcc, 0xf0000000, v[0:1]\n"
       "s_and_b64 s[20:21], vcc, 1",
       [](uint64_t, uint64_t) { return ScalarResult{1, true}; }, true},
  });
}

TEST(Scalar, ComparesSelectsAndBranches) {
  expect_scalars({
      {"s_cmp_lt_i32 s24, s26", [](uint64_t a, uint64_t b) { return ScalarResult{0, sign(a) < sign(b)}; }},
      {"s_cmp_ge_u32 s24, s26", [](uint64_t a, uint64_t b) { return ScalarResult{0, low(a) >= low(b)}; }},
      {"s_cmp_eq_u64 s[24:25], s[26:27]", [](uint64_t a, uint64_t b) { return ScalarResult{0, a == b}; }},
      {"s_cmpk_gt_i32 s24, -2", [](uint64_t a, uint64_t) { return ScalarResult{0, sign(a) > -2}; }},
      {"s_cmpk_lt_u32 s24, 0xfff0", [](uint64_t a, uint64_t) { return ScalarResult{0, low(a) < 0xFFF0}; }},
      {"s_bitcmp1_b32 s24, s26",
       [](uint64_t a, uint64_t b) { return ScalarResult{0, (a >> (b & 31) & 1) != 0}; }},
      {"s_cmp_lt_u32 s24, s26\ns_cselect_b64 s[20:21], s[24:25], s[26:27]",
       [](uint64_t a, uint64_t b) { return ScalarResult{low(a) < low(b) ? a : b, low(a) < low(b)}; }, true},
      {"s_cmp_lt_u32 s24, s26\ns_cbranch_scc0 1f\ns_mov_b32 s20, 7\n1:",
       [](uint64_t a, uint64_t b) { return ScalarResult{low(a) < low(b) ? 7u : 0u, low(a) < low(b)}; }},
      {"s_mov_b64 s[28:29], exec\ns_and_saveexec_b64 s[20:21], s[24:25]\ns_mov_b64 s[20:21], exec\n"
       "s_mov_b64 exec, s[28:29]",
       [](uint64_t a, uint64_t) { return nonzero64(a & 1); }, true},
  });
}

} // namespace
} // namespace nereid::sim::test
