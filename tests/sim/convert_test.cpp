// Conversions between number formats, exhaustively where the input has 16 bits or fewer.

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"
#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

using In = const LaneInputs &;
constexpr Match number = Match::Float;

float f(uint32_t bits) { return as_float(bits); }

/// The magnitudes of a small format in the order of its codes, without infinity and NaN.
struct Format {
  const char *name;
  unsigned exponent_bits, mantissa_bits;
  int bias;
  unsigned finite; ///< codes of finite magnitudes

  unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
  double magnitude(unsigned code) const {
    unsigned exponent = code >> mantissa_bits, mantissa = code & ((1u << mantissa_bits) - 1);
    double fraction = std::ldexp(static_cast<double>(mantissa), -static_cast<int>(mantissa_bits));
    return exponent ? std::ldexp(1 + fraction, static_cast<int>(exponent) - bias)
                    : std::ldexp(fraction, 1 - bias);
  }
  /// Nearest code by search over all of them, the even code on a tie; beyond the largest value that one.
  unsigned nearest(double value) const {
    double m = std::fabs(value);
    unsigned best = 0;
    for (unsigned code = 1; code < finite; ++code) {
      double old = std::fabs(magnitude(best) - m), now = std::fabs(magnitude(code) - m);
      if (now < old || (now == old && code % 2 == 0))
        best = code;
    }
    if (m >= magnitude(finite - 1))
      best = finite - 1;
    return best | (std::signbit(value) ? 1u << (bits() - 1) : 0);
  }
};
constexpr Format fp4{"fp4", 2, 1, 1, 8}, fp6{"fp6", 2, 3, 1, 32}, bf6{"bf6", 3, 2, 3, 32},
    fp8{"fp8", 4, 3, 7, 127}, bf8{"bf8", 5, 2, 15, 124};

TEST(Convert, IntegersAndFloats) {
  expect_lanes(
      {
          {"v_cvt_f32_i32 %, v0",
           [](In v) { return bits_of(static_cast<float>(static_cast<int32_t>(v[0]))); }},
          {"v_cvt_f32_u32 %, v0", [](In v) { return bits_of(static_cast<float>(v[0])); }},
          {"v_cvt_f32_ubyte2 %, v0", [](In v) { return bits_of(static_cast<float>(v[0] >> 16 & 255)); }},
          {"v_cvt_off_f32_i4 %, v0",
           [](In v) { return bits_of(static_cast<float>(static_cast<int32_t>(v[0] << 28) >> 28) / 16); }},
      },
      integer_inputs());
  auto saturated = [](double x, double low, double high) {
    return std::isnan(x) ? 0.0 : std::fmin(std::fmax(x, low), high);
  };
  expect_lanes(
      {
          {"v_cvt_i32_f32 %, v0",
           [=](In v) {
             return static_cast<uint32_t>(
                 static_cast<int64_t>(saturated(f(v[0]), -2147483648.0, 2147483647.0)));
           }},
          {"v_cvt_u32_f32 %, v0",
           [=](In v) {
             return static_cast<uint32_t>(static_cast<int64_t>(saturated(f(v[0]), 0, 4294967295.0)));
           }},
          {"v_cvt_flr_i32_f32 %, v0",
           [=](In v) {
             return static_cast<uint32_t>(
                 static_cast<int64_t>(saturated(std::floor(f(v[0])), -2147483648.0, 2147483647.0)));
           }},
          {"v_cvt_f64_f32 %, v0", [](In v) { return bits_of(static_cast<double>(f(v[0]))); }, 2,
           Match::Double},
          {"v_cvt_f16_f32 %, v0", [](In v) { return nearest_half(f(v[0])); }, 1, Match::Half},
          {"v_cvt_pkrtz_f16_f32 %, v0, 0",
           [](In v) {
             uint32_t h = nearest_half(f(v[0]));
             if (std::isinf(half_value(h)) && std::isfinite(f(v[0])))
               return h - 1;
             return std::fabs(half_value(h)) > std::fabs(f(v[0])) ? h - 1 : h;
           },
           1, Match::Half},
          {"v_cvt_pk_bf16_f32 %, v0, v0\nv_and_b32 %, 0xffff, %\nv_lshlrev_b32 %, 16, %",
           [](In v) {
             uint32_t below = v[0] & 0xFFFF0000, rest = v[0] & 0xFFFF;
             bool up = rest > 0x8000 || (rest == 0x8000 && v[0] & 0x10000);
             return std::isnan(f(v[0])) ? v[0] : below + (up ? 0x10000 : 0);
           },
           1, number},
          {"v_cvt_f32_bf16 %, v0", [](In v) { return v[0] << 16; }, 1, number},
      },
      float_inputs());
}

/// Runs an instruction on all 65536 values of a 16-bit operand: in v0, two in each register.
std::vector<uint32_t> over_all_words(const std::string &body) {
  // 512 waves of 64 lanes, one pair of inputs a lane.
  constexpr unsigned lanes = 32768;
  std::vector<uint32_t> inputs(lanes), outputs(lanes);
  for (unsigned k = 0; k < lanes; ++k)
    inputs[k] = 2 * k | (2 * k + 1) << 16;
  Memory memory;
  uint64_t from = *memory.allocate(4 * lanes), to = *memory.allocate(4 * lanes);
  EXPECT_TRUE(memory.write(from, inputs.data(), 4 * lanes).ok());
  TestRun run(
      "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32 v9, 2, v0\ns_lshl_b32 s12, s2, 8\n"
      "s_waitcnt lgkmcnt(0)\nv_add_u32 v9, s12, v9\nglobal_load_dword v0, v9, s[8:9]\ns_waitcnt vmcnt(0)\n" +
      body + "\nglobal_store_dword v9, v1, s[10:11]");
  run.argument(from).argument(to);
  run.launch.grid = {lanes / 64, 1, 1};
  run.launch.block = {64, 1, 1};
  Report report = run(memory);
  EXPECT_FALSE(report.fault) << report.fault->error().text();
  EXPECT_TRUE(memory.read(to, outputs.data(), 4 * lanes).ok());
  return outputs;
}

TEST(Convert, EveryBf16ToFp4AtSeveralScales) {
  for (unsigned byte : {127u, 120u, 134u, 0u, 254u}) {
    auto outputs = over_all_words(fmt::format(
        "v_mov_b32 v1, 0\nv_mov_b32 v2, {:#x}\nv_cvt_scalef32_pk_fp4_bf16 v1, v0, v2", byte << 23));
    unsigned wrong = 0;
    for (unsigned word = 0; word < 65536 && wrong < 5; ++word) {
      double value = f(word << 16);
      unsigned code = outputs[word / 2] >> 4 * (word % 2) & 15;
      unsigned expected = std::isnan(value) ? 7 | (word >> 15 << 3)
                                            : fp4.nearest(std::ldexp(value, 127 - static_cast<int>(byte)));
      if (code != expected) {
        ++wrong;
        ADD_FAILURE() << fmt::format("bf16 {:#x} with byte {}: code {}, expected {}", word, byte, code,
                                     expected);
      }
    }
  }
}

TEST(Convert, EveryHalfToFp4AndFp8AndBack) {
  auto four = over_all_words("v_mov_b32 v1, 0\nv_cvt_scalef32_pk_fp4_f16 v1, v0, 1.0");
  auto eight = over_all_words("v_mov_b32 v1, 0\nv_cvt_scalef32_pk_fp8_f16 v1, v0, 1.0");
  for (unsigned word = 0; word < 65536; ++word) {
    double value = half_value(word);
    unsigned code = four[word / 2] >> 4 * (word % 2) & 15, byte = eight[word / 2] >> 8 * (word % 2) & 255;
    if (std::isnan(value)) {
      EXPECT_EQ(code & 7, 7u);
      EXPECT_EQ(byte & 127, 127u);
      continue;
    }
    ASSERT_EQ(code, fp4.nearest(value)) << word;
    // Without FP16_OVFL what rounds beyond 448 is NaN; the tie at 464 goes to the even 448.
    ASSERT_EQ(byte, std::fabs(value) > 464 ? 127u | (word >> 8 & 128) : fp8.nearest(value)) << word;
  }
}

TEST(Convert, EveryCodeOfSmallFormatsToFloat) {
  // v0 = 2 * lane index: pairs of the 16-bit inputs hold every byte in the low half.
  for (auto [format, text] :
       {std::pair{&fp8, "v_cvt_f32_fp8 v1, v0"}, std::pair{&bf8, "v_cvt_f32_bf8 v1, v0"}}) {
    auto outputs = over_all_words(text);
    for (unsigned k = 0; k < 32768; ++k) {
      unsigned code = 2 * k & 255, magnitude = code & 127;
      double expected = magnitude < format->finite           ? format->magnitude(magnitude)
                        : format == &bf8 && magnitude == 124 ? INFINITY
                                                             : NAN;
      float actual = f(outputs[k]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(actual)) << format->name << " " << code;
      else
        ASSERT_EQ(actual, code & 128 ? -expected : expected) << format->name << " " << code;
    }
  }
  auto outputs =
      over_all_words("v_lshrrev_b32 v0, 1, v0\nv_mov_b32 v4, 2.0\nv_cvt_scalef32_pk_f32_fp4 v[2:3], v0, v4\n"
                     "v_mov_b32 v1, v2");
  for (unsigned k = 0; k < 4096; ++k) {
    unsigned code = k & 15;
    double expected = 2 * fp4.magnitude(code & 7);
    ASSERT_EQ(f(outputs[k]), code & 8 ? -expected : expected);
  }
}

TEST(Convert, Fp4BytesGoWhereOpSelSays) {
  std::array<LaneInputs, 64> inputs = float_inputs();
  for (auto &lane : inputs) {
    lane[0] = bits_of(1.5f);
    lane[1] = bits_of(-4.0f);
    lane[2] = 0x11223344;
  }
  expect_lanes(
      {
          {"v_cvt_scalef32_pk_fp4_f32 %, v0, v1, 1.0", [](In v) { return (v[7] & 0xFFFFFF00) | 0xE3; }},
          {"v_cvt_scalef32_pk_fp4_f32 %, v0, v1, 1.0 op_sel:[0,0,1,0]",
           [](In v) { return (v[7] & 0xFFFF00FF) | 0xE300; }},
          {"v_cvt_scalef32_pk_fp4_f32 %, v0, v1, 1.0 op_sel:[0,0,0,1]",
           [](In v) { return (v[7] & 0xFF00FFFF) | 0xE30000; }},
          {"v_cvt_scalef32_pk_fp4_f32 %, v0, v1, 1.0 op_sel:[0,0,1,1]",
           [](In v) { return (v[7] & 0x00FFFFFF) | 0xE3000000; }},
          {"v_cvt_scalef32_pk_f32_fp4 %, v2, 1.0 op_sel:[1,1,0]",
           [](In) { return bits_of(0.5f) | uint64_t{bits_of(0.5f)} << 32; }, 2},
          {"v_cvt_scalef32_pk_f32_fp4 %, v2, 1.0 op_sel:[1,0,0]",
           [](In) { return bits_of(1.5f) | uint64_t{bits_of(1.5f)} << 32; }, 2},
          {"v_cvt_pk_fp8_f32 %, v0, v1 op_sel:[0,0,1]",
           [](In v) { return (v[7] & 0xFFFF) | fp8.nearest(1.5) << 16 | fp8.nearest(-4) << 24; }},
          {"v_cvt_pk_bf8_f32 %, v0, v1",
           [](In v) { return (v[7] & 0xFFFF0000) | bf8.nearest(1.5) | bf8.nearest(-4) << 8; }},
          {"v_cvt_scalef32_pk_bf16_fp4 %, v2, 1.0", [](In) { return 0x40004000; }}, // code 4 is 2.0
      },
      inputs);
}

TEST(Convert, ThirtyTwoValuesOfSixBits) {
  // 16 registers of bf16 pairs in, 6 registers of codes out, and back to f32.
  std::vector<uint32_t> inputs(16 * 64);
  auto value = [](unsigned lane, unsigned k) { return std::ldexp(static_cast<double>(lane) - 31.5 + k, -2); };
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned k = 0; k < 32; ++k)
      inputs[k / 2 * 64 + lane] |= bits_of(static_cast<float>(value(lane, k))) >> 16 << 16 * (k % 2);
  for (const Format *format : {&fp6, &bf6}) {
    auto codes =
        run_lanes(fmt::format("v_mov_b32 v20, 2.0\nv_cvt_scalef32_pk32_{}_bf16 v[30:35], v[0:15], v20\n"
                              "v_cvt_scalef32_pk32_f32_{} v[40:71], v[30:35], v20",
                              format->name, format->name),
                  inputs, 30, 42);
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned k = 0; k < 32; ++k) {
        unsigned bit = 6 * k;
        uint64_t words = codes[bit / 32 * 64 + lane];
        if (bit / 32 < 5)
          words |= uint64_t{codes[(bit / 32 + 1) * 64 + lane]} << 32;
        unsigned code = words >> bit % 32 & 63;
        ASSERT_EQ(code, format->nearest(value(lane, k) / 2)) << format->name << lane << " " << k;
        double back = 2 * format->magnitude(code & 31);
        ASSERT_EQ(f(codes[(10 + k) * 64 + lane]), code & 32 ? -back : back);
      }
  }
}

TEST(Convert, StochasticRoundingAddsTheSeedBelowTheLastPlace) {
  std::array<LaneInputs, 64> inputs = float_inputs();
  for (unsigned lane = 0; lane < 64; ++lane) {
    inputs[lane][0] = bits_of(1.0f + static_cast<float>(lane) / 64); // between fp8 values 1 and 2
    inputs[lane][1] = lane * 0x04000000u;
  }
  expect_lanes({{"v_cvt_sr_fp8_f32 %, v0, v1",
                 [](In v) {
                   double steps = (f(v[0]) - 1) * 8 + std::ldexp(static_cast<double>(v[1]), -32);
                   return (v[7] & 0xFFFFFF00) | (0x38 + static_cast<uint32_t>(steps));
                 }},
                {"v_cvt_sr_bf16_f32 %, v0, v1",
                 [](In v) { return (v[7] & 0xFFFF0000) | (v[0] + (v[1] >> 16)) >> 16; }}},
               inputs);
}

} // namespace
} // namespace nereid::sim::test
