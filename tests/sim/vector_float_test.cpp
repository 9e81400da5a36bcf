// f32, f16 and f64 operations of the vector unit against host arithmetic.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

using In = const LaneInputs &;
constexpr Match number = Match::Float, near = Match::FloatNear, half = Match::Half, dbl = Match::Double;

float f(uint32_t bits) { return as_float(bits); }
uint32_t r(float value) { return bits_of(value); }
bool denormal(float value) { return std::fpclassify(value) == FP_SUBNORMAL; }
float flushed(float value) { return denormal(value) ? std::copysign(0.0f, value) : value; }

float ieee_min(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == 0 && b == 0)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
float ieee_max(float a, float b) { return -ieee_min(-a, -b); }

TEST(VectorFloat, Arithmetic) {
  expect_lanes(
      {
          {"v_add_f32 %, v0, v1", [](In v) { return r(f(v[0]) + f(v[1])); }, 1, number},
          {"v_sub_f32 %, v0, v1", [](In v) { return r(f(v[0]) - f(v[1])); }, 1, number},
          {"v_subrev_f32 %, v0, v1", [](In v) { return r(f(v[1]) - f(v[0])); }, 1, number},
          {"v_mul_f32 %, v0, v1", [](In v) { return r(f(v[0]) * f(v[1])); }, 1, number},
          {"v_mul_legacy_f32 %, v0, v1",
           [](In v) { return r(f(v[0]) == 0 || f(v[1]) == 0 ? 0 : f(v[0]) * f(v[1])); }, 1, number},
          {"v_fma_f32 %, v0, v1, v2", [](In v) { return r(std::fma(f(v[0]), f(v[1]), f(v[2]))); }, 1, number},
          {"v_fmac_f32 %, v0, v1", [](In v) { return r(std::fma(f(v[0]), f(v[1]), f(v[7]))); }, 1, number},
          {"v_fmaak_f32 %, v0, v1, 0x40490fdb",
           [](In v) { return r(std::fma(f(v[0]), f(v[1]), f(0x40490FDB))); }, 1, number},
          {"v_fmamk_f32 %, v0, 0x40490fdb, v1",
           [](In v) { return r(std::fma(f(v[0]), f(0x40490FDB), f(v[1]))); }, 1, number},
          {"v_add_f32 %, -v0, |v1|", [](In v) { return r(-f(v[0]) + std::fabs(f(v[1]))); }, 1, number},
          {"v_fma_f32 %, -|v0|, v1, -v2",
           [](In v) { return r(std::fma(-std::fabs(f(v[0])), f(v[1]), -f(v[2]))); }, 1, number},
          {"v_mul_f32 %, v0, v1 clamp",
           [](In v) {
             float x = f(v[0]) * f(v[1]);
             return r(x > 1 ? 1 : x > 0 ? x : 0);
           }},
          {"v_add_f32 %, 0.5, v1", [](In v) { return r(0.5f + f(v[1])); }, 1, number},
          {"v_mul_f32 %, 0.15915494, v1", [](In v) { return r(f(0x3E22F983) * f(v[1])); }, 1, number},
          {"v_add_f32 %, 3, v1", [](In v) { return r(f(3) + f(v[1])); }, 1, number},
          {"v_min_f32 %, v0, v1", [](In v) { return r(ieee_min(f(v[0]), f(v[1]))); }, 1, number},
          {"v_max_f32 %, v0, v1", [](In v) { return r(ieee_max(f(v[0]), f(v[1]))); }, 1, number},
          {"v_max3_f32 %, v0, v1, v2", [](In v) { return r(ieee_max(ieee_max(f(v[0]), f(v[1])), f(v[2]))); },
           1, number},
          {"v_max3_f32 %, |v0|, |v1|, v2",
           [](In v) { return r(ieee_max(ieee_max(std::fabs(f(v[0])), std::fabs(f(v[1]))), f(v[2]))); }, 1,
           number},
          {"v_med3_f32 %, v0, v1, v2",
           [](In v) {
             float a = f(v[0]), b = f(v[1]), c = f(v[2]);
             if (std::isnan(a) || std::isnan(b) || std::isnan(c))
               return r(ieee_min(ieee_min(a, b), c));
             return r(std::max(std::min(a, b), std::min(std::max(a, b), c)) + 0.0f);
           },
           1, near},
          {"v_maximum3_f32 %, v0, v1, v2",
           [](In v) {
             float a = f(v[0]), b = f(v[1]), c = f(v[2]);
             return r(std::isnan(a) || std::isnan(b) || std::isnan(c) ? NAN : ieee_max(ieee_max(a, b), c));
           },
           1, number},
          {"v_minimum3_f32 %, v0, v1, v2",
           [](In v) {
             float a = f(v[0]), b = f(v[1]), c = f(v[2]);
             return r(std::isnan(a) || std::isnan(b) || std::isnan(c) ? NAN : ieee_min(ieee_min(a, b), c));
           },
           1, number},
      },
      float_inputs());
}

TEST(VectorFloat, RoundingAndParts) {
  expect_lanes(
      {
          {"v_floor_f32 %, v0", [](In v) { return r(std::floor(f(v[0]))); }, 1, number},
          {"v_ceil_f32 %, v0", [](In v) { return r(std::ceil(f(v[0]))); }, 1, number},
          {"v_trunc_f32 %, v0", [](In v) { return r(std::trunc(f(v[0]))); }, 1, number},
          {"v_rndne_f32 %, v0", [](In v) { return r(std::nearbyint(f(v[0]))); }, 1, number},
          {"v_fract_f32 %, v0",
           [](In v) {
             float x = f(v[0]) - std::floor(f(v[0]));
             return r(x >= 1 ? std::nextafter(1.0f, 0.0f) : x);
           },
           1, number},
          {"v_frexp_mant_f32 %, v0",
           [](In v) {
             int exponent;
             return r(std::isfinite(f(v[0])) ? std::frexp(f(v[0]), &exponent) : f(v[0]));
           },
           1, number},
          {"v_frexp_exp_i32_f32 %, v0",
           [](In v) {
             int exponent = 0;
             if (std::isfinite(f(v[0])))
               std::frexp(f(v[0]), &exponent);
             return static_cast<uint32_t>(exponent);
           }},
          {"v_ldexp_f32 %, v0, v1",
           [](In v) {
             int exponent = std::clamp(static_cast<int>(v[1]), -1000, 1000);
             return r(static_cast<float>(std::ldexp(static_cast<double>(f(v[0])), exponent)));
           },
           1, number},
      },
      float_inputs());
}

TEST(VectorFloat, TranscendentalsAreWithinOneUlpAndFlushDenormals) {
  expect_lanes(
      {
          {"v_rcp_f32 %, v0", [](In v) { return r(flushed(1.0f / flushed(f(v[0])))); }, 1, near},
          {"v_sqrt_f32 %, v0", [](In v) { return r(std::sqrt(flushed(f(v[0])))); }, 1, near},
          {"v_rsq_f32 %, v0",
           [](In v) { return r(static_cast<float>(1 / std::sqrt(static_cast<double>(flushed(f(v[0])))))); },
           1, near},
          {"v_exp_f32 %, v0",
           [](In v) { return r(flushed(static_cast<float>(std::exp2(static_cast<double>(f(v[0])))))); }, 1,
           near},
          {"v_log_f32 %, v0",
           [](In v) { return r(static_cast<float>(std::log2(static_cast<double>(flushed(f(v[0])))))); }, 1,
           near},
      },
      float_inputs());
}

TEST(VectorFloat, PackedPairsOfRegisters) {
  auto pair = [](float low, float high) { return r(low) | uint64_t{r(high)} << 32; };
  std::array<LaneInputs, 64> inputs = float_inputs();
  for (auto &lane : inputs) // NaNs compare by word here: keep them out
    for (auto &word : lane)
      word = (word & 0x80FFFFFF) | 0x3E000000;
  expect_lanes(
      {
          {"v_pk_add_f32 %, v[0:1], v[2:3]", [=](In v) { return pair(f(v[0]) + f(v[2]), f(v[1]) + f(v[3])); },
           2},
          {"v_pk_mul_f32 %, v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]",
           [=](In v) { return pair(f(v[1]) * f(v[2]), f(v[0]) * f(v[3])); }, 2},
          {"v_pk_fma_f32 %, v[0:1], v[2:3], v[4:5] neg_lo:[1,0,0] neg_hi:[0,0,1]",
           [=](In v) {
             return pair(std::fma(-f(v[0]), f(v[2]), f(v[4])), std::fma(f(v[1]), f(v[3]), -f(v[5])));
           },
           2},
          {"v_pk_mul_f32 %, v[0:1], 2.0", [=](In v) { return pair(f(v[0]) * 2, f(v[1]) * 2); }, 2},
          {"v_pk_mov_b32 %, v[0:1], v[2:3] op_sel:[1,0]", [](In v) { return v[1] | uint64_t{v[2]} << 32; },
           2},
          {"v_pk_mov_b32 %, v[0:1], v[2:3] op_sel:[0,1]", [](In v) { return v[0] | uint64_t{v[3]} << 32; },
           2},
          {"v_mov_b64 %, v[2:3]", [](In v) { return v[2] | uint64_t{v[3]} << 32; }, 2},
      },
      inputs);
}

TEST(VectorFloat, ModeRoundsAndFlushes) {
  // MODE bits 1:0 round f32: 1 up, 2 down, 3 to zero; bits 5:4 keep f32 denormals.
  auto cut = [](double exact, bool up) {
    float nearest = static_cast<float>(exact);
    if (up && nearest < exact)
      return std::nextafter(nearest, INFINITY);
    if (!up && nearest > exact)
      return std::nextafter(nearest, -INFINITY);
    return nearest;
  };
  std::array<LaneInputs, 64> inputs = float_inputs();
  for (auto &lane : inputs)
    for (auto &word : lane)
      word = (word & 0x80FFFFFF) | 0x3E000000;
  auto product = [](In v) { return static_cast<double>(f(v[0])) * f(v[1]); };
  expect_lanes({{"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1\nv_mul_f32 %, v0, v1\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
                 [=](In v) { return r(cut(product(v), true)); }},
                {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2\nv_mul_f32 %, v0, v1\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0",
                 [=](In v) { return r(cut(product(v), false)); }},
                {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 3\nv_cvt_f16_f32 %, v0\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0",
                 [](In v) {
                   uint32_t nearest = nearest_half(f(v[0]));
                   bool above = std::fabs(half_value(nearest)) > std::fabs(f(v[0]));
                   return above ? nearest - 1 : nearest;
                 }},
                {"s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)\nv_mov_b32 %, s20", [](In) { return 15; }}},
               inputs);
  expect_lanes({{"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\nv_add_f32 %, v0, v1\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
                 [](In v) { return r(flushed(flushed(f(v[0])) + flushed(f(v[1])))); }, 1, number}},
               float_inputs());
}

/// What an output modifier leaves: no denormals, no negative zero.
uint32_t modified(float value) { return r(flushed(value) + 0.0f); }

TEST(VectorFloat, OutputModifiersNeedIeeeModeAndDenormalsOff) {
  constexpr const char *relaxed = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0\n"
                                  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0";
  expect_lanes({{"v_mul_f32 %, v0, v1 mul:4",
                 [](In v) { return modified(flushed(flushed(f(v[0])) * flushed(f(v[1]))) * 4); }, 1, number},
                {"v_add_f32 %, v0, v1 div:2",
                 [](In v) { return modified(flushed(flushed(f(v[0])) + flushed(f(v[1]))) / 2); }, 1, number}},
               float_inputs(), relaxed);
  expect_lanes({{"v_mul_f32 %, v0, v1 mul:4", [](In v) { return r(f(v[0]) * f(v[1])); }, 1, number}},
               float_inputs());
  expect_lanes({{"v_mul_f32 %, v0, v1 mul:4", [](In v) { return r(f(v[0]) * f(v[1])); }, 1, number}},
               float_inputs(), "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0");
}

TEST(VectorFloat, ComparesAndClasses) {
  auto test = [](const char *relation, std::function<bool(float, float)> expected) {
    return LaneCase{std::string("v_cmp_") + relation + "_f32 vcc, v0, v1\nv_cndmask_b32 %, 0, 1, vcc",
                    [expected](In v) { return expected(f(v[0]), f(v[1])); }};
  };
  expect_lanes({test("lt", [](float a, float b) { return a < b; }),
                test("eq", [](float a, float b) { return a == b; }),
                test("le", [](float a, float b) { return a <= b; }),
                test("lg", [](float a, float b) { return a < b || a > b; }),
                test("o", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); }),
                test("u", [](float a, float b) { return std::isnan(a) || std::isnan(b); }),
                test("nge", [](float a, float b) { return !(a >= b); }),
                test("nlg", [](float a, float b) { return !(a < b || a > b); }),
                test("neq", [](float a, float b) { return !(a == b); }),
                {"v_cmp_class_f32 vcc, v0, v1\nv_cndmask_b32 %, 0, 1, vcc",
                 [](In v) {
                   float x = f(v[0]);
                   bool n = std::signbit(x);
                   int kind = std::fpclassify(x);
                   unsigned bit = kind == FP_NAN         ? (v[0] & 0x400000 ? 1 : 0)
                                  : kind == FP_INFINITE  ? (n ? 2 : 9)
                                  : kind == FP_NORMAL    ? (n ? 3 : 8)
                                  : kind == FP_SUBNORMAL ? (n ? 4 : 7)
                                                         : (n ? 5 : 6);
                   return v[1] >> bit & 1;
                 }}},
               float_inputs());
}

uint32_t h(uint32_t word) { return word & 0xFFFF; }
double hv(uint32_t word) { return half_value(word & 0xFFFF); }

TEST(VectorHalf, Arithmetic) {
  expect_lanes(
      {
          {"v_add_f16 %, v0, v1", [](In v) { return nearest_half(hv(v[0]) + hv(v[1])); }, 1, half},
          {"v_sub_f16 %, v0, v1", [](In v) { return nearest_half(hv(v[0]) - hv(v[1])); }, 1, half},
          {"v_mul_f16 %, v0, v1", [](In v) { return nearest_half(hv(v[0]) * hv(v[1])); }, 1, half},
          {"v_fma_f16 %, v0, v1, v2",
           [](In v) { return (v[7] & 0xFFFF0000) | nearest_half(hv(v[0]) * hv(v[1]) + hv(v[2])); }, 1, half},
          {"v_add_f16 %, -v0, |v1|", [](In v) { return nearest_half(-hv(v[0]) + std::fabs(hv(v[1]))); }, 1,
           half},
          {"v_fma_f16 %, v0, v1, v2 op_sel:[1,0,0,0]",
           [](In v) { return (v[7] & 0xFFFF0000) | nearest_half(hv(v[0] >> 16) * hv(v[1]) + hv(v[2])); }, 1,
           half},
          {"v_add_f16 %, 1.0, v1", [](In v) { return nearest_half(1.0 + hv(v[1])); }, 1, half},
          {"v_rcp_f16 %, v0", [](In v) { return nearest_half(1.0 / hv(v[0])); }, 1, half},
          {"v_sqrt_f16 %, v0", [](In v) { return nearest_half(std::sqrt(hv(v[0]))); }, 1, half},
          {"v_floor_f16 %, v0", [](In v) { return nearest_half(std::floor(hv(v[0]))); }, 1, half},
          {"v_rndne_f16 %, v0", [](In v) { return nearest_half(std::nearbyint(hv(v[0]))); }, 1, half},
          {"v_cvt_f32_f16 %, v0", [](In v) { return r(static_cast<float>(hv(v[0]))); }, 1, number},
          {"v_cvt_f32_f16_sdwa %, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
           [](In v) { return r(static_cast<float>(hv(v[0] >> 16))); }, 1, number},
          {"v_cmp_lt_f16 vcc, v0, v1\nv_cndmask_b32 %, 0, 1, vcc", [](In v) { return hv(v[0]) < hv(v[1]); }},
          {"v_cvt_i16_f16 %, v0",
           [](In v) {
             double x = hv(v[0]);
             return h(static_cast<uint32_t>(
                 std::isnan(x) ? 0 : static_cast<int>(std::clamp(x, -32768.0, 32767.0))));
           }},
          {"v_cvt_f16_u16 %, v0", [](In v) { return nearest_half(v[0] & 0xFFFF); }},
      },
      half_inputs());
}

/// The nearest float to 1 + 2^-11 + 2^-24 is a tie of f16: rounding twice would lose the last bit.
TEST(VectorHalf, MultiplyAddRoundsOnce) {
  std::array<LaneInputs, 64> inputs{};
  for (LaneInputs &lane : inputs)
    lane = {0x42004200, 0x35563556, 0x00010001, 0x80018001,
            0,          0,          0,          0x00010001}; // 3, 683/2048, 2^-24, -2^-24
  auto always = [](uint64_t bits) { return [bits](In) { return bits; }; };
  expect_lanes({{"v_fma_f16 %, v0, v1, v2", always(0x00013C01)},
                {"v_fma_f16 %, v0, v1, v3", always(0x00013C00)},
                {"v_fma_legacy_f16 %, v0, v1, v2", always(0x3C01)},
                {"v_mad_legacy_f16 %, v0, v1, v2", always(0x3C00)},
                {"v_pk_fma_f16 %, v0, v1, v2", always(0x3C013C01)},
                {"v_pk_fma_f16 %, v0, v1, v3", always(0x3C003C00)},
                {"v_pk_fmac_f16 %, v0, v1", always(0x3C013C01)}},
               inputs);
}

TEST(VectorHalf, ThePackedFormWithoutSelectionTakesBothHalves) {
  std::array<LaneInputs, 64> inputs{};
  for (LaneInputs &lane : inputs)
    lane = {0x40003C00, 0x42003C00, 0, 0, 0, 0, 0, 0x3C000000}; // (1, 2), (1, 3), (0, 1)
  expect_lanes({{"v_pk_fmac_f16_e64 %, v0, v1", [](In) { return uint64_t{0x47003C00}; }}}, inputs);
}

TEST(VectorHalf, OverflowModeKeepsFiniteResultsFinite) {
  std::array<LaneInputs, 64> inputs{};
  for (LaneInputs &lane : inputs)
    lane = {0xFBFF7BFF, 0x7BFF7BFF, 0x7C007C00, bits_of(1e6f), bits_of(-1e6f), bits_of(INFINITY), 0, 0};
  auto always = [](uint64_t bits) { return [bits](In) { return bits; }; };
  const std::string overflow = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), ";
  expect_lanes({{"v_mul_f16 %, v0, v1", always(0x7BFF)},
                {"v_pk_add_f16 %, v0, v1 op_sel_hi:[0,1]", always(0x7BFF7BFF)},
                {"v_pk_mul_f16 %, v0, v1", always(0xFBFF7BFF)},
                {"v_pk_mul_f16 %, v2, v1", always(0x7C007C00)},
                {"v_cvt_f16_f32 %, v3", always(0x7BFF)},
                {"v_cvt_f16_f32 %, v4", always(0xFBFF)},
                {"v_cvt_f16_f32 %, v5", always(0x7C00)}},
               inputs, overflow + "1");
  expect_lanes({{"v_mul_f16 %, v0, v1", always(0x7C00)}, {"v_cvt_f16_f32 %, v4", always(0xFC00)}}, inputs,
               overflow + "0");
}

TEST(VectorHalf, PackedAndMixed) {
  std::array<LaneInputs, 64> inputs = half_inputs();
  for (auto &lane : inputs) // finite only: NaN payloads are not compared
    for (auto &word : lane)
      word &= 0xBFFFBFFF;
  auto pack = [](double low, double high) { return nearest_half(low) | nearest_half(high) << 16; };
  expect_lanes(
      {
          {"v_pk_add_f16 %, v0, v1",
           [=](In v) { return pack(hv(v[0]) + hv(v[1]), hv(v[0] >> 16) + hv(v[1] >> 16)); }},
          {"v_pk_mul_f16 %, v0, v1 op_sel:[0,1] op_sel_hi:[1,0] neg_lo:[1,0]",
           [=](In v) { return pack(-hv(v[0]) * hv(v[1] >> 16), hv(v[0] >> 16) * hv(v[1])); }},
          {"v_pk_fma_f16 %, v0, v1, v2",
           [=](In v) {
             return pack(hv(v[0]) * hv(v[1]) + hv(v[2]), hv(v[0] >> 16) * hv(v[1] >> 16) + hv(v[2] >> 16));
           }},
          {"v_pk_max_f16 %, v0, v1",
           [=](In v) {
             auto larger = [](uint32_t a, uint32_t b) {
               return static_cast<double>(ieee_max(static_cast<float>(hv(a)), static_cast<float>(hv(b))));
             };
             return pack(larger(v[0], v[1]), larger(v[0] >> 16, v[1] >> 16));
           }},
          {"v_pk_mul_f16 %, v0, 2.0 op_sel_hi:[1,0]",
           [=](In v) { return pack(2 * hv(v[0]), 2 * hv(v[0] >> 16)); }},
          {"v_fma_mix_f32 %, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,1,0]",
           [](In v) {
             return r(static_cast<float>(std::fma(hv(v[0] >> 16), hv(v[1]), static_cast<double>(f(v[2])))));
           }},
          {"v_dot2_f32_f16 %, v0, v1, 0",
           [](In v) {
             return r(static_cast<float>(hv(v[0]) * hv(v[1])) +
                      static_cast<float>(hv(v[0] >> 16) * hv(v[1] >> 16)) + 0.0f);
           }},
      },
      inputs);
}

double d(In v, unsigned k) { return as_double(v[2 * k], v[2 * k + 1]); }

TEST(VectorDouble, Arithmetic) {
  expect_lanes(
      {
          {"v_add_f64 %, v[0:1], v[2:3]", [](In v) { return bits_of(d(v, 0) + d(v, 1)); }, 2, dbl},
          {"v_mul_f64 %, v[0:1], -v[2:3]", [](In v) { return bits_of(d(v, 0) * -d(v, 1)); }, 2, dbl},
          {"v_fma_f64 %, v[0:1], v[2:3], |v[4:5]|",
           [](In v) { return bits_of(std::fma(d(v, 0), d(v, 1), std::fabs(d(v, 2)))); }, 2, dbl},
          {"v_add_f64 %, v[0:1], 0.5", [](In v) { return bits_of(d(v, 0) + 0.5); }, 2, dbl},
          {"v_floor_f64 %, v[0:1]", [](In v) { return bits_of(std::floor(d(v, 0))); }, 2, dbl},
          {"v_rndne_f64 %, v[0:1]", [](In v) { return bits_of(std::nearbyint(d(v, 0))); }, 2, dbl},
          {"v_sqrt_f64 %, v[0:1]", [](In v) { return bits_of(std::sqrt(d(v, 0))); }, 2, dbl},
          {"v_cvt_f32_f64 %, v[0:1]", [](In v) { return r(static_cast<float>(d(v, 0))); }, 1, number},
          {"v_cvt_i32_f64 %, v[0:1]",
           [](In v) {
             double x = d(v, 0);
             return static_cast<uint32_t>(
                 std::isnan(x) ? 0 : static_cast<int32_t>(std::clamp(x, -2147483648.0, 2147483647.0)));
           }},
          {"v_cvt_f64_i32 %, v0",
           [](In v) { return bits_of(static_cast<double>(static_cast<int32_t>(v[0]))); }, 2},
          {"v_cvt_f64_u32 %, v0", [](In v) { return bits_of(static_cast<double>(v[0])); }, 2},
          {"v_cmp_lt_f64 vcc, v[0:1], v[2:3]\nv_cndmask_b32 %, 0, 1, vcc",
           [](In v) { return d(v, 0) < d(v, 1); }},
          {"v_ldexp_f64 %, v[0:1], 5", [](In v) { return bits_of(std::ldexp(d(v, 0), 5)); }, 2, dbl},
      },
      double_inputs());
}

} // namespace
} // namespace nereid::sim::test
