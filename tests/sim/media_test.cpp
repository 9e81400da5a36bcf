// Sums of absolute differences, cube maps, reduction of large angles, integer clamps.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

using In = const LaneInputs &;
__extension__ typedef __int128 Wide;

uint64_t wide(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }
uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/// The sum over four bytes; `masked` leaves out those whose reference is 0.
uint64_t byte_sum(uint64_t a, uint32_t b, bool masked) {
  uint64_t sum = 0;
  for (unsigned k = 0; k < 4; ++k) {
    uint32_t x = a >> 8 * k & 255, y = b >> 8 * k & 255;
    sum += masked && y == 0 ? 0 : distance(x, y);
  }
  return sum;
}
uint64_t half_sum(uint32_t a, uint32_t b) {
  return distance(a & 0xFFFF, b & 0xFFFF) + distance(a >> 16, b >> 16);
}
uint64_t capped(uint64_t value) { return std::min<uint64_t>(value, 0xFFFFFFFF); }

uint64_t four(In v, bool masked, bool clamp) {
  uint64_t result = 0, source = wide(v[0], v[1]), addend = wide(v[4], v[5]);
  for (unsigned k = 0; k < 4; ++k) {
    uint64_t sum = byte_sum(source >> 8 * k, v[2], masked) + (addend >> 16 * k & 0xFFFF);
    result |= (clamp ? std::min<uint64_t>(sum, 0xFFFF) : sum & 0xFFFF) << 16 * k;
  }
  return result;
}

TEST(Media, SumsOfAbsoluteDifferences) {
  expect_lanes(
      {
          {"v_sad_u8 %, v0, v1, v2", [](In v) { return uint32_t(byte_sum(v[0], v[1], false) + v[2]); }},
          {"v_sad_u8 %, v0, v1, v2 clamp", [](In v) { return capped(byte_sum(v[0], v[1], false) + v[2]); }},
          {"v_sad_hi_u8 %, v0, v1, v2",
           [](In v) { return uint32_t((byte_sum(v[0], v[1], false) << 16) + v[2]); }},
          {"v_sad_hi_u8 %, v0, v1, v2 clamp",
           [](In v) { return capped((byte_sum(v[0], v[1], false) << 16) + v[2]); }},
          {"v_sad_u16 %, v0, v1, v2", [](In v) { return uint32_t(half_sum(v[0], v[1]) + v[2]); }},
          {"v_sad_u16 %, v0, v1, v2 clamp", [](In v) { return capped(half_sum(v[0], v[1]) + v[2]); }},
          {"v_sad_u32 %, v0, v1, v2", [](In v) { return uint32_t(distance(v[0], v[1]) + v[2]); }},
          {"v_sad_u32 %, v0, v1, v2 clamp", [](In v) { return capped(distance(v[0], v[1]) + v[2]); }},
          {"v_msad_u8 %, v0, v1, v2", [](In v) { return uint32_t(byte_sum(v[0], v[1], true) + v[2]); }},
          {"v_qsad_pk_u16_u8 %, v[0:1], v2, v[4:5]", [](In v) { return four(v, false, false); }, 2},
          {"v_qsad_pk_u16_u8 %, v[0:1], v2, v[4:5] clamp", [](In v) { return four(v, false, true); }, 2},
          {"v_mqsad_pk_u16_u8 %, v[0:1], v2, v[4:5]", [](In v) { return four(v, true, false); }, 2},
          {"v_mqsad_u32_u8 v[120:123], v[0:1], v2, v[4:7]\nv_mov_b32 %, v120",
           [](In v) { return uint32_t(byte_sum(v[0], v[2], true) + v[4]); }},
          {"v_mqsad_u32_u8 v[120:123], v[0:1], v2, v[4:7]\nv_mov_b32 %, v123",
           [](In v) { return uint32_t(byte_sum(wide(v[0], v[1]) >> 24, v[2], true) + v[7]); }},
          {"v_mqsad_u32_u8 v[120:123], v[0:1], v2, v[4:7] clamp\nv_mov_b32 %, v121",
           [](In v) { return capped(byte_sum(wide(v[0], v[1]) >> 8, v[2], true) + v[5]); }},
          {"v_lerp_u8 %, v0, v1, v2",
           [](In v) {
             uint32_t result = 0;
             for (unsigned k = 0; k < 32; k += 8)
               result |= ((v[0] >> k & 255) + (v[1] >> k & 255) + (v[2] >> k & 1)) / 2 << k;
             return result;
           }},
      },
      integer_inputs());
}

TEST(Media, CubeFaceAndCoordinates) {
  struct Cube {
    float face, s, t, axis;
  };
  const auto cube = [](In v) {
    const float x = as_float(v[0]), y = as_float(v[1]), z = as_float(v[2]);
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    if (az >= ax && az >= ay)
      return Cube{z < 0 ? 5.0f : 4.0f, z < 0 ? -x : x, -y, 2 * z};
    if (ay >= ax)
      return Cube{y < 0 ? 3.0f : 2.0f, x, y < 0 ? -z : z, 2 * y};
    return Cube{x < 0 ? 1.0f : 0.0f, x < 0 ? z : -z, -y, 2 * x};
  };
  expect_lanes({{"v_cubeid_f32 %, v0, v1, v2", [=](In v) { return bits_of(cube(v).face); }, 1, Match::Float},
                {"v_cubesc_f32 %, v0, v1, v2", [=](In v) { return bits_of(cube(v).s); }, 1, Match::Float},
                {"v_cubetc_f32 %, v0, v1, v2", [=](In v) { return bits_of(cube(v).t); }, 1, Match::Float},
                {"v_cubema_f32 %, v0, v1, v2", [=](In v) { return bits_of(cube(v).axis); }, 1, Match::Float}},
               float_inputs());
}

TEST(Media, SegmentsOfTwoOverPiAddUpToIt) {
  // The first three segments are 159 bits of 2/pi: their sum, taken in long double, is 2/pi to 64 bits; for a
  // large angle the first segment starts where the angle's exponent says.
  constexpr long double two_over_pi = 0.636619772367581343075535053490057448L;
  expect_lanes(
      {{"v_mov_b32 v120, 0\nv_mov_b32 v121, 0x3ff00000\nv_trig_preop_f64 %, v[120:121], 0",
        [=](In) { return bits_of(static_cast<double>(std::floor(two_over_pi * 0x1p53L) * 0x1p-53L)); }, 2},
       {"v_mov_b32 v120, 0\nv_mov_b32 v121, 0x3ff00000\nv_trig_preop_f64 %, v[120:121], 1",
        [](In) {
          // Bits 54 to 106 of 2/pi = 0.A2F9836E4E441529FC2757D1F534DDC0...
          const uint64_t segment = 0x529ull << 42 | 0xFC2757D1F534DDC0ull >> 22; // 11 bits taken, then 53
          return bits_of(std::ldexp(static_cast<double>(segment), -106));
        },
        2},
       {"v_mov_b32 v120, 0\nv_mov_b32 v121, 0x43f00000\nv_trig_preop_f64 %, v[120:121], 0",
        [](In) {
          // Exponent 1087: ten bits further.
          const uint64_t bits = 0xA2F9836E4E441529ull << 10 | 0xFC2757D1ull >> 22;
          return bits_of(std::ldexp(static_cast<double>(bits >> 11), -63));
        },
        2}},
      integer_inputs());
}

int64_t sign_24(uint32_t v) { return static_cast<int32_t>(v << 8) >> 8; }
uint32_t cap(int64_t value, int64_t low, int64_t high) {
  return static_cast<uint32_t>(std::clamp(value, low, high));
}

TEST(Media, IntegerClampsSaturate) {
  constexpr int64_t u32_max = 0xFFFFFFFF, i32_max = 0x7FFFFFFF, i32_min = -i32_max - 1;
  expect_lanes(
      {
          {"v_add_u32 %, v0, v1 clamp", [](In v) { return cap(int64_t{v[0]} + v[1], 0, u32_max); }},
          {"v_sub_u32 %, v0, v1 clamp", [](In v) { return cap(int64_t{v[0]} - v[1], 0, u32_max); }},
          {"v_subrev_u32 %, v0, v1 clamp", [](In v) { return cap(int64_t{v[1]} - v[0], 0, u32_max); }},
          {"v_add_u32_sdwa %, v0, v1 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
           [](In v) { return cap(int64_t{v[0]} + v[1], 0, u32_max); }},
          {"v_add_co_u32 %, vcc, v0, v1 clamp", [](In v) { return cap(int64_t{v[0]} + v[1], 0, u32_max); }},
          {"v_sub_co_u32 %, vcc, v0, v1 clamp", [](In v) { return cap(int64_t{v[0]} - v[1], 0, u32_max); }},
          {"v_subrev_co_u32 %, vcc, v0, v1 clamp",
           [](In v) { return cap(int64_t{v[1]} - v[0], 0, u32_max); }},
          {"s_mov_b64 vcc, -1\nv_addc_co_u32 %, vcc, v0, v1, vcc clamp",
           [](In v) { return cap(int64_t{v[0]} + v[1] + 1, 0, u32_max); }},
          {"s_mov_b64 vcc, -1\nv_subb_co_u32 %, vcc, v0, v1, vcc clamp",
           [](In v) { return cap(int64_t{v[0]} - v[1] - 1, 0, u32_max); }},
          {"v_add_i32 %, v0, v1 clamp",
           [](In v) {
             return cap(int64_t{static_cast<int32_t>(v[0])} + static_cast<int32_t>(v[1]), i32_min, i32_max);
           }},
          {"v_sub_i32 %, v0, v1 clamp",
           [](In v) {
             return cap(int64_t{static_cast<int32_t>(v[0])} - static_cast<int32_t>(v[1]), i32_min, i32_max);
           }},
          {"v_mad_i32_i24 %, v0, v1, v2 clamp",
           [](In v) {
             return cap(sign_24(v[0]) * sign_24(v[1]) + static_cast<int32_t>(v[2]), i32_min, i32_max);
           }},
          {"v_mad_u32_u24 %, v0, v1, v2 clamp",
           [](In v) {
             return cap(static_cast<int64_t>(uint64_t{v[0] & 0xFFFFFF} * (v[1] & 0xFFFFFF)) + v[2], 0,
                        u32_max);
           }},
          {"v_mul_i32_i24_e64 %, v0, v1 clamp",
           [](In v) { return cap(sign_24(v[0]) * sign_24(v[1]), i32_min, i32_max); }},
          {"v_add_u16_e64 %, v0, v1 clamp",
           [](In v) { return cap(int64_t{v[0] & 0xFFFF} + (v[1] & 0xFFFF), 0, 0xFFFF); }},
          {"v_sub_u16_e64 %, v0, v1 clamp",
           [](In v) { return cap(int64_t{v[0] & 0xFFFF} - (v[1] & 0xFFFF), 0, 0xFFFF); }},
          {"v_mad_u64_u32 %, vcc, v0, v1, v[4:5] clamp",
           [](In v) {
             Wide sum = Wide(uint64_t{v[0]} * v[1]) + wide(v[4], v[5]);
             return sum >> 64 ? ~uint64_t{0} : static_cast<uint64_t>(sum);
           },
           2},
          {"v_mad_i64_i32 %, vcc, v0, v1, v[4:5] clamp",
           [](In v) {
             Wide sum = Wide{static_cast<int32_t>(v[0])} * static_cast<int32_t>(v[1]) +
                        static_cast<int64_t>(wide(v[4], v[5]));
             const Wide most = INT64_MAX, least = INT64_MIN;
             return static_cast<uint64_t>(static_cast<int64_t>(sum > most    ? most
                                                               : sum < least ? least
                                                                             : sum));
           },
           2},
      },
      integer_inputs());
}

TEST(Media, SignallingNansWinAMinimumInIeeeModeOnly) {
  std::array<LaneInputs, 64> inputs{};
  for (auto &lane : inputs)
    lane = {0x7F800001, 0x3F800000, 0x7FC00000, 0x7C01, 0x3C00};
  constexpr const char *relaxed = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0";
  expect_lanes({{"v_min_f32 %, v0, v1", [](In) { return 0x7FC00001; }},
                {"v_max_f32 %, v1, v0", [](In) { return 0x7FC00001; }},
                {"v_min_f32 %, v2, v1", [](In) { return 0x3F800000; }},
                {"v_max3_f32 %, v1, v1, v0", [](In) { return 0x7FC00001; }},
                {"v_min_f16 %, v3, v4", [](In) { return 0x7E01; }}},
               inputs);
  expect_lanes({{"v_min_f32 %, v0, v1", [](In) { return 0x3F800000; }},
                {"v_med3_f32 %, v1, v1, v0", [](In) { return 0x3F800000; }},
                {"v_max_f16 %, v3, v4", [](In) { return 0x3C00; }}},
               inputs, relaxed);
}

} // namespace
} // namespace nereid::sim::test
