// Conversions over all inputs: every 16-bit value, and every 8-bit code under every e8m0 scale.

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/state/simd.h"
#include "tests/sim/assembler.h"
#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

/// A small format by its definition. Codes up to `finite` grow with the magnitude; `finite` itself is NaN
/// (fp8), infinity (bf8) or nothing.
struct Small {
  const char *name;
  unsigned exponent_bits, mantissa_bits;
  int bias;
  uint32_t finite;

  unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
  uint32_t sign() const { return 1u << (bits() - 1); }
  double magnitude(uint32_t code) const {
    const int exponent = static_cast<int>(code >> mantissa_bits);
    const double mantissa = std::ldexp(code & ((1u << mantissa_bits) - 1), -static_cast<int>(mantissa_bits));
    return exponent ? std::ldexp(1 + mantissa, exponent - bias) : std::ldexp(mantissa, 1 - bias);
  }
  double value(uint32_t code) const {
    const uint32_t low = code & (sign() - 1);
    const double result = low < finite                                         ? magnitude(low)
                          : low == finite && mantissa_bits == 2 && bits() == 8 ? INFINITY
                                                                               : NAN;
    return code & sign() ? -result : result;
  }
  /// The code of a value; `part` is the fraction of a step that rounds up, or half to even when negative.
  uint32_t code(double value, double part) const {
    const uint32_t negative = std::signbit(value) ? sign() : 0;
    const double m = std::fabs(value);
    if (std::isnan(value))
      return negative | (bits() == 8 ? sign() - 1 : finite - 1);
    const uint32_t beyond = bits() == 8 ? finite : finite - 1;
    if (m >= magnitude(finite - 1) * 2)
      return negative | beyond;
    uint32_t low = 0, high = finite - 1; // the largest finite code at or below the magnitude
    while (low < high) {
      const uint32_t middle = (low + high + 1) / 2;
      magnitude(middle) <= m ? low = middle : high = middle - 1;
    }
    const double step = magnitude(low + 1) - magnitude(low), rest = (m - magnitude(low)) / step;
    const bool up = part >= 0 ? rest + part >= 1 : rest > 0.5 || (rest == 0.5 && low & 1);
    const uint32_t rounded = low + (up ? 1 : 0);
    return negative | (rest >= 1 || rounded >= finite ? beyond : rounded);
  }
};
constexpr Small fp4{"fp4", 2, 1, 1, 8}, fp6{"fp6", 2, 3, 1, 32}, bf6{"bf6", 3, 2, 3, 32},
    fp8{"fp8", 4, 3, 7, 127}, bf8{"bf8", 5, 2, 15, 124};

double bf16_value(uint32_t bits) { return as_float(uint64_t{bits} << 16); }
uint32_t nearest_bf16(double value) {
  const uint32_t bits = bits_of(static_cast<float>(value));
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

enum class Kind { Bits, Float, Half, Bf16 };

bool is_nan(Kind kind, uint32_t bits) {
  return kind == Kind::Float  ? std::isnan(as_float(bits))
         : kind == Kind::Half ? std::isnan(half_value(bits & 0xFFFF))
         : kind == Kind::Bf16 ? std::isnan(bf16_value(bits & 0xFFFF))
                              : false;
}

/// One instruction on 65,536 inputs; the result is in v16 (and v17 and so on).
struct Exhaustive {
  std::string text;
  std::function<uint32_t(uint32_t input)> expected; ///< of the first word
  Kind kind = Kind::Bits;
  uint32_t mask = 0xFFFFFFFF;
};

constexpr uint32_t seed_of(uint32_t input) { return input * 2654435761u + 12345; }
constexpr unsigned scale_of(uint32_t input) { return 127 - 6 + input % 13; }

/// A bf16 near what the high byte of an input scales to the values of fp4, ties and the first values beside
/// them included.
uint32_t bf16_near_scale(uint32_t input, unsigned step) {
  const int magnitude = static_cast<int>(input >> 8 << 7) - 320 + static_cast<int>(input % 128) * 8 +
                        static_cast<int>((input / 128 + step) % 3) - 1;
  return static_cast<uint32_t>(std::clamp(magnitude, 0, 0x7FFF)) | (input >> 7 & 1) << 15;
}

/// v0 the input, v1 the input in the upper half, v2 a float 2^(scale - 127), v3 a seed, v4 the high byte of
/// the input as a scale, v5 the four bytes low, low + 1, low + 2, low + 3, v6 two bf16 near that scale.
void expect_all(const std::vector<Exhaustive> &cases) {
  std::vector<std::vector<uint32_t>> inputs(1024, std::vector<uint32_t>(7 * 64));
  for (uint32_t input = 0; input < 65536; ++input) {
    const auto set = [&](unsigned r, uint32_t value) { inputs[input / 64][r * 64 + input % 64] = value; };
    set(0, input);
    set(1, input << 16);
    set(2, scale_of(input) << 23);
    set(3, seed_of(input));
    set(4, input >> 8 << 23);
    set(6, bf16_near_scale(input, 0) | bf16_near_scale(input, 1) << 16);
    const uint32_t low = input & 255;
    set(5, low | ((low + 1) & 255) << 8 | ((low + 2) & 255) << 16 | ((low + 3) & 255) << 24);
  }
  std::string body;
  for (size_t k = 0; k < cases.size(); ++k)
    body += fmt::format("v_mov_b32 v16, 0\n{}\nv_mov_b32 v{}, v16\n", cases[k].text, 50 + k);
  const auto results = run_waves(body, inputs, 50, static_cast<unsigned>(cases.size()));
  for (size_t k = 0; k < cases.size(); ++k)
    for (uint32_t input = 0; input < 65536; ++input) {
      const uint32_t actual = results[input / 64][k * 64 + input % 64] & cases[k].mask,
                     expected = cases[k].expected(input) & cases[k].mask;
      ASSERT_TRUE(actual == expected || (is_nan(cases[k].kind, actual) && is_nan(cases[k].kind, expected)))
          << fmt::format("{} of {:#x}: {:#x}, expected {:#x}", cases[k].text, input, actual, expected);
    }
}

uint32_t truncated(double value, double low, double high) {
  return std::isnan(value)
             ? 0
             : static_cast<uint32_t>(static_cast<int64_t>(std::clamp(std::trunc(value), low, high)));
}
uint32_t normal(double value, double low, double most) {
  return std::isnan(value) ? 0
                           : static_cast<uint32_t>(
                                 static_cast<int64_t>(std::nearbyint(std::clamp(value, low, 1.0) * most)));
}
int32_t sign_16(uint32_t bits) { return static_cast<int16_t>(bits); }

TEST(ConvertAll, SixteenBitNumbers) {
  expect_all({
      {"v_cvt_f32_f16 v16, v0", [](uint32_t x) { return bits_of(static_cast<float>(half_value(x))); },
       Kind::Float},
      {"v_cvt_f32_f16_sdwa v16, v1 src0_sel:WORD_1",
       [](uint32_t x) { return bits_of(static_cast<float>(half_value(x))); }, Kind::Float},
      {"v_cvt_f32_f16_e64 v16, -|v0|",
       [](uint32_t x) { return bits_of(static_cast<float>(-std::fabs(half_value(x)))); }, Kind::Float},
      {"v_cvt_f32_bf16 v16, v0", [](uint32_t x) { return x << 16; }, Kind::Float},
      {"v_cvt_u16_f16 v16, v0", [](uint32_t x) { return truncated(half_value(x), 0, 65535); }},
      {"v_cvt_i16_f16 v16, v0", [](uint32_t x) { return truncated(half_value(x), -32768, 32767) & 0xFFFF; }},
      {"v_cvt_norm_i16_f16 v16, v0", [](uint32_t x) { return normal(half_value(x), -1, 32767) & 0xFFFF; }},
      {"v_cvt_norm_u16_f16 v16, v0", [](uint32_t x) { return normal(half_value(x), 0, 65535); }},
      {"v_cvt_f16_u16 v16, v0", [](uint32_t x) { return nearest_half(x); }},
      {"v_cvt_f16_i16 v16, v0", [](uint32_t x) { return nearest_half(sign_16(x)); }},
      {"v_cvt_f32_ubyte0 v16, v0", [](uint32_t x) { return bits_of(static_cast<float>(x & 255)); }},
      {"v_cvt_f32_ubyte1 v16, v0", [](uint32_t x) { return bits_of(static_cast<float>(x >> 8)); }},
      {"v_sat_pk_u8_i16 v16, v0",
       [](uint32_t x) { return static_cast<uint32_t>(std::clamp(sign_16(x), 0, 255)); }},
      {"v_cvt_f16_f32 v16, v1", [](uint32_t x) { return nearest_half(bf16_value(x)); }, Kind::Half},
      {"v_cvt_i32_f32 v16, v1",
       [](uint32_t x) { return truncated(bf16_value(x), -2147483648.0, 2147483647); }},
      {"v_cvt_u32_f32 v16, v1", [](uint32_t x) { return truncated(bf16_value(x), 0, 4294967295.0); }},
      {"v_cvt_pk_fp8_f32 v16, v1, v1", [](uint32_t x) { return fp8.code(bf16_value(x), -1) * 0x101; }},
      {"v_cvt_pk_bf8_f32 v16, v1, v1", [](uint32_t x) { return bf8.code(bf16_value(x), -1) * 0x101; }},
      {"v_cvt_sr_fp8_f32 v16, v1, v3",
       [](uint32_t x) { return fp8.code(bf16_value(x), std::ldexp(seed_of(x), -32)); }},
      {"v_cvt_sr_bf8_f32 v16, v1, v3",
       [](uint32_t x) { return bf8.code(bf16_value(x), std::ldexp(seed_of(x), -32)); }},
  });
}

TEST(ConvertAll, SixteenBitNumbersToSmallFormatsWithScales) {
  std::vector<Exhaustive> cases;
  for (const bool half : {true, false})
    for (const Small *format : {&fp4, &fp8, &bf8}) {
      const char *wide = half ? "f16" : "bf16";
      const auto scaled = [half](uint32_t x) {
        const double value = half ? half_value(x) : bf16_value(x);
        // NaN keeps its sign.
        return std::copysign(std::ldexp(value, 127 - static_cast<int>(scale_of(x))), x & 0x8000 ? -1.0 : 1.0);
      };
      const uint32_t pair_mask = format->bits() == 4 ? 0xF : 0xFF;
      cases.push_back({fmt::format("v_cvt_scalef32_pk_{}_{} v16, v0, v2", format->name, wide),
                       [=](uint32_t x) { return format->code(scaled(x), -1); }, Kind::Bits, pair_mask});
      cases.push_back({fmt::format("v_cvt_scalef32_sr_{}{}_{} v16, v0, v3, v2", format == &fp4 ? "pk_" : "",
                                   format->name, wide),
                       [=](uint32_t x) { return format->code(scaled(x), std::ldexp(seed_of(x), -32)); },
                       Kind::Bits, pair_mask});
    }
  // The second element of a stochastic pair takes the generator's next number.
  cases.push_back({"v_cvt_scalef32_sr_pk_fp4_bf16 v16, v1, v3, v2",
                   [](uint32_t x) {
                     const uint32_t seed = seed_of(x), next = seed << 1 ^ (seed >> 31 ? 197u : 0);
                     return fp4.code(std::ldexp(bf16_value(x), 127 - static_cast<int>(scale_of(x))),
                                     std::ldexp(next, -32))
                            << 4;
                   },
                   Kind::Bits, 0xF0});
  expect_all(cases);
}

TEST(ConvertAll, PairsToFp4UnderEveryScale) {
  for (const Simd simd : {Simd::Portable, Simd::Avx2, Simd::Avx512}) {
    use_simd(simd);
    std::vector<Exhaustive> cases;
    for (unsigned byte = 0; byte < 4; ++byte)
      cases.push_back(
          {fmt::format("v_cvt_scalef32_pk_fp4_bf16 v16, v6, v4 op_sel:[0,0,{},{}]", byte & 1, byte >> 1),
           [byte](uint32_t x) {
             uint32_t result = 0;
             for (unsigned step = 0; step < 2; ++step) {
               const uint32_t bits = bf16_near_scale(x, step);
               const unsigned scale = x >> 8;
               const double value =
                   scale == 255 ? NAN : std::ldexp(bf16_value(bits & 0x7FFF), 127 - static_cast<int>(scale));
               result |= fp4.code(std::copysign(value, bits & 0x8000 ? -1.0 : 1.0), -1) << 4 * step;
             }
             return result << 8 * byte;
           }});
    // Of all bf16 patterns, in the upper half.
    cases.push_back({"v_cvt_scalef32_pk_fp4_bf16 v16, v1, v2",
                     [](uint32_t x) {
                       const double value = std::ldexp(bf16_value(x), 127 - static_cast<int>(scale_of(x)));
                       return fp4.code(std::copysign(value, x & 0x8000 ? -1.0 : 1.0), -1) << 4;
                     },
                     Kind::Bits, 0xF0});
    expect_all(cases);
  }
  use_simd(default_simd());
}

TEST(ConvertAll, SmallCodesUnderEveryScale) {
  std::vector<Exhaustive> cases;
  const auto scaled = [](const Small &format, uint32_t code, uint32_t input) {
    const unsigned scale = input >> 8;
    return scale == 255 ? NAN : std::ldexp(format.value(code), static_cast<int>(scale) - 127);
  };
  const auto as = [](Kind kind, double value) {
    return kind == Kind::Float  ? bits_of(static_cast<float>(value))
           : kind == Kind::Half ? nearest_half(value)
                                : nearest_bf16(value);
  };
  for (const Small *format : {&fp8, &bf8})
    for (unsigned byte = 0; byte < 4; ++byte) {
      const auto code = [byte](uint32_t x) { return (x + byte) & 255; };
      const std::string select = fmt::format("op_sel:[{},{},0]", byte & 1, byte >> 1);
      cases.push_back({fmt::format("v_cvt_f32_{}_sdwa v16, v5 src0_sel:BYTE_{}", format->name, byte),
                       [=](uint32_t x) { return bits_of(static_cast<float>(format->value(code(x)))); },
                       Kind::Float});
      cases.push_back({fmt::format("v_cvt_scalef32_f32_{} v16, v5, v4 {}", format->name, select),
                       [=](uint32_t x) { return as(Kind::Float, scaled(*format, code(x), x)); },
                       Kind::Float});
      cases.push_back({fmt::format("v_cvt_scalef32_f16_{} v16, v5, v4 {}", format->name, select),
                       [=](uint32_t x) { return as(Kind::Half, scaled(*format, code(x), x)); }, Kind::Half});
    }
  const std::pair<const char *, Kind> wides[] = {
      {"f32", Kind::Float}, {"f16", Kind::Half}, {"bf16", Kind::Bf16}};
  for (const Small *format : {&fp8, &bf8, &fp4})
    for (const auto &[name, kind] : wides)
      for (unsigned part : {0u, 1u}) {
        const bool four = format == &fp4;
        const auto code = [=](uint32_t x) { return four ? (x + part) & 15 : (x + 2 * part) & 255; };
        cases.push_back({fmt::format("v_cvt_scalef32_pk_{}_{} v[16:17], v5, v4 op_sel:[{},0,0]", name,
                                     format->name, part),
                         [=, kind = kind](uint32_t x) { return as(kind, scaled(*format, code(x), x)); }, kind,
                         kind == Kind::Float ? ~0u : 0xFFFF});
        if (kind != Kind::Float)
          cases.back().text.replace(cases.back().text.find("v[16:17]"), 8, "v16");
      }
  expect_all(cases);
}

TEST(ConvertAll, SixBitCodesUnderEveryScale) {
  // The 192-bit tuple v[20:25] repeats the six low bits of the input at element 0 and its complement at 31.
  std::vector<Exhaustive> cases;
  const std::pair<const char *, Kind> wides[] = {
      {"f32", Kind::Float}, {"f16", Kind::Half}, {"bf16", Kind::Bf16}};
  for (const Small *format : {&fp6, &bf6})
    for (const auto &[name, kind] : wides)
      for (const bool last : {false, true}) {
        const unsigned words = kind == Kind::Float ? 32 : 16;
        const unsigned from = last ? 68 + words - 1 : 68;
        const std::string shift = last && words == 16 ? "v_lshrrev_b32 v16, 16, v16\n" : "";
        cases.push_back(
            {fmt::format("v_and_b32 v20, 63, v0\nv_not_b32 v25, v0\nv_lshlrev_b32 v25, 26, v25\n"
                         "v_cvt_scalef32_pk32_{}_{} v[68:{}], v[20:25], v4\nv_mov_b32 v16, v{}\n{}",
                         name, format->name, 67 + words, from, shift),
             [=, kind = kind](uint32_t x) {
               const unsigned scale = x >> 8;
               const uint32_t code = (last ? ~x : x) & 63;
               const double value =
                   scale == 255 ? NAN : std::ldexp(format->value(code), static_cast<int>(scale) - 127);
               return kind == Kind::Float  ? bits_of(static_cast<float>(value))
                      : kind == Kind::Half ? nearest_half(value)
                                           : nearest_bf16(value);
             },
             kind, kind == Kind::Float ? ~0u : 0xFFFF});
      }
  expect_all(cases);
}

} // namespace
} // namespace nereid::sim::test
