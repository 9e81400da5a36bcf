// Integer and bit operations of the vector unit against their definitions.

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

using In = const LaneInputs &;
int32_t s(uint32_t value) { return static_cast<int32_t>(value); }
int64_t s64(uint32_t value) { return static_cast<int32_t>(value); }
uint32_t u(int64_t value) { return static_cast<uint32_t>(value); }
int64_t clamped(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}
constexpr int64_t int_min = -2147483648LL, int_max = 2147483647LL, uint_max = 4294967295LL;
int64_t s24(uint32_t value) {
  int64_t low = value & 0xFFFFFF;
  return low >= 0x800000 ? low - 0x1000000 : low;
}
uint64_t wide(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }
int64_t s16(uint32_t value) { return static_cast<int16_t>(value); }

TEST(VectorInteger, AddsAndSubtracts) {
  expect_lanes(
      {
          {"v_add_u32 %, v0, v1", [](In v) { return u(int64_t{v[0]} + v[1]); }},
          {"v_sub_u32 %, v0, v1", [](In v) { return u(int64_t{v[0]} - v[1]); }},
          {"v_subrev_u32 %, v0, v1", [](In v) { return u(int64_t{v[1]} - v[0]); }},
          {"v_add_u32 %, v0, v1 clamp", [](In v) { return u(clamped(int64_t{v[0]} + v[1], 0, uint_max)); }},
          {"v_sub_u32 %, v0, v1 clamp", [](In v) { return u(clamped(int64_t{v[0]} - v[1], 0, uint_max)); }},
          {"v_add_i32 %, v0, v1 clamp",
           [](In v) { return u(clamped(s64(v[0]) + s64(v[1]), int_min, int_max)); }},
          {"v_sub_i32 %, v0, v1 clamp",
           [](In v) { return u(clamped(s64(v[0]) - s64(v[1]), int_min, int_max)); }},
          {"v_add_u32 %, -16, v1", [](In v) { return u(int64_t{v[1]} - 16); }},
          {"v_add_u32 %, 0x12345678, v1", [](In v) { return u(int64_t{v[1]} + 0x12345678); }},
          {"v_add3_u32 %, v0, v1, v2", [](In v) { return u(int64_t{v[0]} + v[1] + v[2]); }},
          {"v_lshl_add_u32 %, v0, v1, v2", [](In v) { return u((int64_t{v[0]} << (v[1] & 31)) + v[2]); }},
          {"v_add_lshl_u32 %, v0, v1, v2",
           [](In v) { return u(int64_t{u(int64_t{v[0]} + v[1])} << (v[2] & 31)); }},
          {"v_lshl_add_u64 %, v[0:1], v2, v[4:5]",
           [](In v) { return (wide(v[0], v[1]) << (v[2] & 7)) + wide(v[4], v[5]); }, 2},
          {"v_mul_lo_u32 %, v0, v1", [](In v) { return u(static_cast<int64_t>(uint64_t{v[0]} * v[1])); }},
          {"v_mul_hi_u32 %, v0, v1", [](In v) { return uint64_t{v[0]} * v[1] >> 32; }},
          {"v_mul_hi_i32 %, v0, v1", [](In v) { return u(s64(v[0]) * s64(v[1]) >> 32); }},
          {"v_mul_i32_i24 %, v0, v1", [](In v) { return u(s24(v[0]) * s24(v[1])); }},
          {"v_mul_hi_i32_i24 %, v0, v1", [](In v) { return u(s24(v[0]) * s24(v[1]) >> 32); }},
          {"v_mul_u32_u24 %, v0, v1",
           [](In v) { return u(static_cast<int64_t>(uint64_t{v[0] & 0xFFFFFF} * (v[1] & 0xFFFFFF))); }},
          {"v_mad_u32_u24 %, v0, v1, v2",
           [](In v) {
             return u(static_cast<int64_t>(uint64_t{v[0] & 0xFFFFFF} * (v[1] & 0xFFFFFF) + v[2]));
           }},
          {"v_mad_i32_i24 %, v0, v1, v2", [](In v) { return u(s24(v[0]) * s24(v[1]) + s64(v[2])); }},
          {"v_mad_i32_i24 %, v0, v1, v2 clamp",
           [](In v) { return u(clamped(s24(v[0]) * s24(v[1]) + s64(v[2]), int_min, int_max)); }},
          {"v_mad_u64_u32 %, vcc, v0, v1, v[2:3]",
           [](In v) { return uint64_t{v[0]} * v[1] + wide(v[2], v[3]); }, 2},
          {"v_mad_i64_i32 %, vcc, v0, v1, v[2:3]",
           [](In v) { return static_cast<uint64_t>(s64(v[0]) * s64(v[1])) + wide(v[2], v[3]); }, 2},
          {"v_sad_u32 %, v0, v1, v2",
           [](In v) { return u(int64_t{std::max(v[0], v[1])} - std::min(v[0], v[1]) + v[2]); }},
          {"v_xad_u32 %, v0, v1, v2", [](In v) { return u(int64_t{v[0] ^ v[1]} + v[2]); }},
      },
      integer_inputs());
}

TEST(VectorInteger, CarriesGoThroughTheScalarDestination) {
  auto carry = [](In v) { return uint64_t{v[0]} + v[1] > 0xFFFFFFFF; };
  expect_lanes(
      {
          {"v_add_co_u32 %, vcc, v0, v1\nv_addc_co_u32 %, vcc, v2, v3, vcc",
           [=](In v) { return u(int64_t{v[2]} + v[3] + carry(v)); }},
          {"v_add_co_u32 %, s[20:21], v0, v1\nv_cndmask_b32 %, v2, v3, s[20:21]",
           [=](In v) { return carry(v) ? v[3] : v[2]; }},
          {"v_sub_co_u32 %, vcc, v0, v1\nv_subb_co_u32 %, vcc, v2, v3, vcc",
           [](In v) { return u(int64_t{v[2]} - v[3] - (v[1] > v[0])); }},
          {"v_subrev_co_u32 %, vcc, v0, v1\nv_subbrev_co_u32 %, vcc, v2, v3, vcc",
           [](In v) { return u(int64_t{v[3]} - v[2] - (v[0] > v[1])); }},
          {"v_mad_u64_u32 v[8:9], vcc, v0, v1, v[2:3]\nv_cndmask_b32 %, 0, 1, vcc",
           [](In v) { return uint64_t{v[0]} * v[1] + wide(v[2], v[3]) < uint64_t{v[0]} * v[1]; }},
      },
      integer_inputs());
}

TEST(VectorInteger, ShiftsAndBits) {
  expect_lanes(
      {
          {"v_lshlrev_b32 %, v0, v1", [](In v) { return v[1] << (v[0] % 32); }},
          {"v_lshrrev_b32 %, v0, v1", [](In v) { return v[1] >> (v[0] % 32); }},
          {"v_ashrrev_i32 %, v0, v1", [](In v) { return u(s64(v[1]) >> (v[0] % 32)); }},
          {"v_lshlrev_b64 %, v0, v[2:3]", [](In v) { return wide(v[2], v[3]) << (v[0] % 64); }, 2},
          {"v_lshrrev_b64 %, v0, v[2:3]", [](In v) { return wide(v[2], v[3]) >> (v[0] % 64); }, 2},
          {"v_ashrrev_i64 %, v0, v[2:3]",
           [](In v) { return static_cast<uint64_t>(static_cast<int64_t>(wide(v[2], v[3])) >> (v[0] % 64)); },
           2},
          {"v_and_b32 %, v0, v1", [](In v) { return v[0] & v[1]; }},
          {"v_or_b32 %, v0, v1", [](In v) { return v[0] | v[1]; }},
          {"v_xor_b32 %, v0, v1", [](In v) { return v[0] ^ v[1]; }},
          {"v_xnor_b32 %, v0, v1", [](In v) { return uint32_t(~(v[0] ^ v[1])); }},
          {"v_not_b32 %, v0", [](In v) { return uint32_t(~v[0]); }},
          {"v_and_or_b32 %, v0, v1, v2", [](In v) { return (v[0] & v[1]) | v[2]; }},
          {"v_or3_b32 %, v0, v1, v2", [](In v) { return v[0] | v[1] | v[2]; }},
          {"v_lshl_or_b32 %, v0, v1, v2", [](In v) { return v[0] << (v[1] % 32) | v[2]; }},
          {"v_bfi_b32 %, v0, v1, v2", [](In v) { return (v[0] & v[1]) | (~v[0] & v[2]); }},
          {"v_bfe_u32 %, v0, v1, v2",
           [](In v) {
             return uint32_t((uint64_t{v[0]} >> (v[1] % 32)) & ((uint64_t{1} << (v[2] % 32)) - 1));
           }},
          {"v_bfe_i32 %, v0, v1, v2",
           [](In v) {
             unsigned width = v[2] % 32;
             if (width == 0)
               return uint32_t{0};
             int64_t field = (s64(v[0]) >> (v[1] % 32)) & ((int64_t{1} << width) - 1);
             return u(field >= int64_t{1} << (width - 1) ? field - (int64_t{1} << width) : field);
           }},
          {"v_bfm_b32 %, v0, v1", [](In v) { return ((1u << (v[0] % 32)) - 1) << (v[1] % 32); }},
          {"v_alignbit_b32 %, v0, v1, v2", [](In v) { return uint32_t(wide(v[1], v[0]) >> (v[2] % 32)); }},
          {"v_alignbyte_b32 %, v0, v1, v2",
           [](In v) { return uint32_t(wide(v[1], v[0]) >> 8 * (v[2] % 4)); }},
          {"v_perm_b32 %, v0, v1, v2",
           [](In v) {
             uint8_t bytes[8];
             for (unsigned k = 0; k < 8; ++k)
               bytes[k] = static_cast<uint8_t>(wide(v[1], v[0]) >> 8 * k);
             uint32_t result = 0;
             for (unsigned k = 0; k < 4; ++k) {
               unsigned select = v[2] >> 8 * k & 255;
               uint32_t byte = select <= 7    ? bytes[select]
                               : select <= 11 ? (bytes[2 * (select - 8) + 1] & 0x80 ? 255u : 0u)
                               : select == 12 ? 0
                                              : 255;
               result |= byte << 8 * k;
             }
             return result;
           }},
          {"v_bfrev_b32 %, v0",
           [](In v) {
             uint32_t result = 0;
             for (unsigned k = 0; k < 32; ++k)
               result |= (v[0] >> k & 1) << (31 - k);
             return result;
           }},
          {"v_ffbh_u32 %, v0", [](In v) { return v[0] ? uint32_t(std::countl_zero(v[0])) : 0xFFFFFFFF; }},
          {"v_ffbl_b32 %, v0", [](In v) { return v[0] ? uint32_t(std::countr_zero(v[0])) : 0xFFFFFFFF; }},
          {"v_ffbh_i32 %, v0",
           [](In v) {
             for (unsigned k = 1; k < 32; ++k)
               if ((v[0] >> (31 - k) & 1) != v[0] >> 31)
                 return k;
             return 0xFFFFFFFF;
           }},
          {"v_bcnt_u32_b32 %, v0, v1", [](In v) { return u(std::popcount(v[0]) + int64_t{v[1]}); }},
          {"v_bitop3_b32 %, v0, v1, v2 bitop3:0x96", [](In v) { return v[0] ^ v[1] ^ v[2]; }},
          {"v_bitop3_b32 %, v0, v1, v2 bitop3:0xea", [](In v) { return (v[0] & v[1]) | v[2]; }},
          {"v_bitop3_b32 %, v0, v1, v2 bitop3:0x02", [](In v) { return ~v[0] & ~v[1] & v[2]; }},
          {"v_bitop3_b32 %, v0, v1, v2 bitop3:0x40", [](In v) { return v[0] & v[1] & ~v[2]; }},
          {"v_prng_b32 %, v0", [](In v) { return uint32_t(v[0] << 1) ^ (v[0] & 0x80000000 ? 197u : 0u); }},
      },
      integer_inputs());
}

TEST(VectorInteger, MinimaMaximaMedians) {
  expect_lanes(
      {
          {"v_min_i32 %, v0, v1", [](In v) { return s(v[0]) < s(v[1]) ? v[0] : v[1]; }},
          {"v_max_i32 %, v0, v1", [](In v) { return s(v[0]) > s(v[1]) ? v[0] : v[1]; }},
          {"v_min_u32 %, v0, v1", [](In v) { return v[0] < v[1] ? v[0] : v[1]; }},
          {"v_max_u32 %, v0, v1", [](In v) { return v[0] > v[1] ? v[0] : v[1]; }},
          {"v_min3_i32 %, v0, v1, v2", [](In v) { return u(std::min({s(v[0]), s(v[1]), s(v[2])})); }},
          {"v_max3_u32 %, v0, v1, v2", [](In v) { return std::max({v[0], v[1], v[2]}); }},
          {"v_med3_i32 %, v0, v1, v2",
           [](In v) {
             int32_t all[] = {s(v[0]), s(v[1]), s(v[2])};
             std::sort(all, all + 3);
             return u(all[1]);
           }},
          {"v_med3_u32 %, v0, v1, v2",
           [](In v) {
             uint32_t all[] = {v[0], v[1], v[2]};
             std::sort(all, all + 3);
             return all[1];
           }},
      },
      integer_inputs());
}

TEST(VectorInteger, HalvesZeroOrKeepTheRestOfTheRegister) {
  expect_lanes(
      {
          {"v_add_u16 %, v0, v1", [](In v) { return (v[0] + v[1]) & 0xFFFF; }},
          {"v_sub_u16 %, v0, v1 clamp",
           [](In v) { return u(clamped(int64_t{v[0] & 0xFFFF} - (v[1] & 0xFFFF), 0, 65535)); }},
          {"v_mul_lo_u16 %, v0, v1", [](In v) { return v[0] * v[1] & 0xFFFF; }},
          {"v_lshlrev_b16 %, v0, v1", [](In v) { return v[1] << (v[0] % 16) & 0xFFFF; }},
          {"v_ashrrev_i16 %, v0, v1", [](In v) { return u(s16(v[1]) >> (v[0] % 16)) & 0xFFFF; }},
          {"v_max_i16 %, v0, v1", [](In v) { return u(std::max(s16(v[0]), s16(v[1]))) & 0xFFFF; }},
          {"v_mad_u16 %, v0, v1, v2",
           [](In v) { return (v[7] & 0xFFFF0000) | ((v[0] * v[1] + v[2]) & 0xFFFF); }},
          {"v_mad_i16 %, v0, v1, v2 clamp",
           [](In v) {
             return (v[7] & 0xFFFF0000) |
                    (u(clamped(s16(v[0]) * s16(v[1]) + s16(v[2]), -32768, 32767)) & 0xFFFF);
           }},
          {"v_add_i16 %, v0, v1 op_sel:[1,0,1]",
           [](In v) { return (v[7] & 0xFFFF) | ((v[0] >> 16) + v[1]) << 16; }},
          {"v_mad_u32_u16 %, v0, v1, v2", [](In v) { return (v[0] & 0xFFFF) * (v[1] & 0xFFFF) + v[2]; }},
          {"v_pack_b32_f16 %, v0, v1", [](In v) { return (v[0] & 0xFFFF) | v[1] << 16; }},
          {"v_pack_b32_f16 %, v0, v1 op_sel:[1,1,0]", [](In v) { return v[0] >> 16 | (v[1] & 0xFFFF0000); }},
          {"v_ashr_pk_i8_i32 %, v0, v1, v2",
           [](In v) {
             auto byte = [&](uint32_t x) { return u(clamped(s64(x) >> (v[2] % 32), -128, 127)) & 255; };
             return byte(v[0]) | byte(v[1]) << 8;
           }},
          {"v_cvt_pk_i16_i32 %, v0, v1",
           [](In v) {
             return (u(clamped(s64(v[0]), -32768, 32767)) & 0xFFFF) | u(clamped(s64(v[1]), -32768, 32767))
                                                                          << 16;
           }},
      },
      integer_inputs());
}

TEST(VectorInteger, PackedPairs) {
  auto pack = [](int64_t low, int64_t high) { return (u(low) & 0xFFFF) | u(high) << 16; };
  expect_lanes(
      {
          {"v_pk_add_u16 %, v0, v1", [=](In v) { return pack(v[0] + v[1], (v[0] >> 16) + (v[1] >> 16)); }},
          {"v_pk_add_u16 %, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]",
           [=](In v) { return pack((v[0] >> 16) + v[1], v[0] + (v[1] >> 16)); }},
          {"v_pk_sub_i16 %, v0, v1 clamp",
           [=](In v) {
             return pack(clamped(s16(v[0]) - s16(v[1]), -32768, 32767),
                         clamped(s16(v[0] >> 16) - s16(v[1] >> 16), -32768, 32767));
           }},
          {"v_pk_add_u16 %, v0, 1", [=](In v) { return pack(v[0] + 1, v[0] >> 16); }},
          {"v_pk_add_u16 %, v0, 1 op_sel_hi:[1,0]", [=](In v) { return pack(v[0] + 1, (v[0] >> 16) + 1); }},
          {"v_pk_add_u16 %, v0, -1", [=](In v) { return pack(v[0] + 0xFFFF, (v[0] >> 16) + 0xFFFF); }},
          {"v_pk_max_u16 %, v0, v1",
           [=](In v) {
             return pack(std::max(v[0] & 0xFFFF, v[1] & 0xFFFF), std::max(v[0] >> 16, v[1] >> 16));
           }},
          {"v_pk_min_i16 %, v0, v1",
           [=](In v) {
             return pack(std::min(s16(v[0]), s16(v[1])), std::min(s16(v[0] >> 16), s16(v[1] >> 16)));
           }},
          {"v_pk_mul_lo_u16 %, v0, v1", [=](In v) { return pack(v[0] * v[1], (v[0] >> 16) * (v[1] >> 16)); }},
          {"v_pk_mad_u16 %, v0, v1, v2",
           [=](In v) { return pack(v[0] * v[1] + v[2], (v[0] >> 16) * (v[1] >> 16) + (v[2] >> 16)); }},
          {"v_pk_lshlrev_b16 %, v0, v1",
           [=](In v) { return pack(v[1] << (v[0] % 16), v[1] >> 16 << (v[0] >> 16) % 16); }},
          {"v_pk_lshrrev_b16 %, v0, v1",
           [=](In v) { return pack((v[1] & 0xFFFF) >> v[0] % 16, v[1] >> 16 >> (v[0] >> 16) % 16); }},
          {"v_pk_ashrrev_i16 %, v0, v1",
           [=](In v) { return pack(s16(v[1]) >> v[0] % 16, s16(v[1] >> 16) >> (v[0] >> 16) % 16); }},
          {"v_dot4_i32_i8 %, v0, v1, v2",
           [](In v) {
             int64_t sum = s64(v[2]);
             for (unsigned k = 0; k < 4; ++k)
               sum += static_cast<int8_t>(v[0] >> 8 * k) * static_cast<int8_t>(v[1] >> 8 * k);
             return u(sum);
           }},
          {"v_dot2_u32_u16 %, v0, v1, v2 clamp",
           [](In v) {
             int64_t sum =
                 int64_t{v[0] & 0xFFFF} * (v[1] & 0xFFFF) + int64_t{v[0] >> 16} * (v[1] >> 16) + v[2];
             return u(clamped(sum, 0, uint_max));
           }},
          {"v_dot8_i32_i4 %, v0, v1, v2",
           [](In v) {
             int64_t sum = s64(v[2]);
             for (unsigned k = 0; k < 8; ++k)
               sum += (s(v[0] << (28 - 4 * k)) >> 28) * (s(v[1] << (28 - 4 * k)) >> 28);
             return u(sum);
           }},
      },
      integer_inputs());
}

TEST(VectorInteger, SdwaSelectsPartsOfSourcesAndDestination) {
  expect_lanes(
      {
          {"v_add_u32_sdwa %, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1",
           [](In v) { return (v[0] >> 8 & 255) + (v[1] >> 16); }},
          {"v_add_u32_sdwa %, sext(v0), v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 "
           "src1_sel:DWORD",
           [](In v) { return u(static_cast<int8_t>(v[0] >> 24) + int64_t{v[1]}); }},
          {"v_or_b32_sdwa %, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 "
           "src1_sel:WORD_0",
           [](In v) { return (v[7] & 0xFFFF) | (v[0] | v[1]) << 16; }},
          {"v_mov_b32_sdwa %, v0 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:BYTE_1",
           [](In v) { return (v[0] >> 8 & 255) << 16; }},
          {"v_mov_b32_sdwa %, v0 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:DWORD",
           [](In v) { return u(s64(v[0] << 24) >> 24 << 8) & 0xFFFFFF00; }},
          {"v_cmp_eq_u32_sdwa vcc, v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_0\nv_cndmask_b32 %, 0, 1, vcc",
           [](In v) { return (v[0] & 255) == (v[1] & 255); }},
      },
      integer_inputs());
}

TEST(VectorInteger, ComparesIntoMasks) {
  expect_lanes(
      {
          {"v_cmp_lt_i32 vcc, v0, v1\nv_cndmask_b32 %, 0, 1, vcc", [](In v) { return s(v[0]) < s(v[1]); }},
          {"v_cmp_ge_u32 s[20:21], v0, v1\nv_cndmask_b32 %, 0, 1, s[20:21]",
           [](In v) { return v[0] >= v[1]; }},
          {"v_cmp_ne_u64 vcc, v[0:1], v[2:3]\nv_cndmask_b32 %, 0, 1, vcc",
           [](In v) { return wide(v[0], v[1]) != wide(v[2], v[3]); }},
          {"v_cmp_gt_i64 vcc, v[0:1], v[2:3]\nv_cndmask_b32 %, 0, 1, vcc",
           [](In v) {
             return static_cast<int64_t>(wide(v[0], v[1])) > static_cast<int64_t>(wide(v[2], v[3]));
           }},
          {"v_cmp_le_i16 vcc, v0, v1\nv_cndmask_b32 %, 0, 1, vcc",
           [](In v) { return s16(v[0]) <= s16(v[1]); }},
          {"v_cmp_t_u32 vcc, v0, v1\nv_cndmask_b32 %, 0, 1, vcc", [](In) { return 1; }},
          {"s_mov_b64 s[22:23], exec\nv_cmpx_eq_u32 vcc, v0, v1\nv_mov_b32 %, 77\ns_mov_b64 exec, s[22:23]",
           [](In v) { return v[0] == v[1] ? 77 : v[7]; }},
      },
      integer_inputs());
}

} // namespace
} // namespace nereid::sim::test
