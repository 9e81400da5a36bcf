// The scaled MFMAs by one-hot operands, every pair of formats: each element of A, of B and each scale is
// found at its results, whichever byte of the scale registers is selected.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

using Registers = std::vector<uint32_t>; // [register * 64 + lane]

struct Format {
  unsigned number, bits, exponent_bits, mantissa_bits;
  int bias;

  unsigned registers() const { return bits; } // 32 elements a lane
  uint32_t one() const { return static_cast<uint32_t>(bias) << mantissa_bits; }
  double value(uint32_t code) const {
    const int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
    const double mantissa = std::ldexp(code & ((1u << mantissa_bits) - 1), -static_cast<int>(mantissa_bits));
    const double magnitude =
        exponent ? std::ldexp(1 + mantissa, exponent - bias) : std::ldexp(mantissa, 1 - bias);
    return code >> (bits - 1) & 1 ? -magnitude : magnitude;
  }
  /// A random code that is a number.
  uint32_t any(std::mt19937 &random) const {
    const uint32_t code = random() & ((1u << bits) - 1);
    return bits == 8 && (code & 0x7C) == 0x7C ? code & 0x83 : code;
  }
};
constexpr Format formats[] = {
    {0, 8, 4, 3, 7}, {1, 8, 5, 2, 15}, {2, 6, 2, 3, 1}, {3, 6, 3, 2, 3}, {4, 4, 2, 1, 1}};

void put(Registers &to, unsigned first, unsigned size, const Format &format, unsigned row, unsigned k,
         uint32_t code) {
  const unsigned groups = 64 / size;
  // Elements of 8 bits are dealt to the lane groups in runs of 16, others in runs of 32.
  const bool wide = format.bits == 8;
  const unsigned lane = row + size * (wide ? k / 16 % groups : k / 32);
  const unsigned element = wide ? k % 16 + 16 * (k / (16 * groups)) : k % 32;
  for (unsigned b = 0; b < format.bits; ++b)
    if (code >> b & 1) {
      const unsigned bit = element * format.bits + b;
      to[(first + bit / 32) * 64 + lane] |= 1u << bit % 32;
    }
}

float result_at(const Registers &d, unsigned size, unsigned i, unsigned j) {
  const unsigned lane = size == 16 ? j + 16 * (i / 4) : j + 32 * (i / 4 % 2);
  const unsigned index = size == 16 ? i % 4 : 4 * (i / 8) + i % 4;
  float value;
  std::memcpy(&value, &d[index * 64 + lane], 4);
  return value;
}

constexpr unsigned first_b = 8, scale_a = 16, scale_b = 17, first_result = 32;

TEST(MatrixScaledLayout, EveryElementAndScaleOfEveryPairOfFormats) {
  std::mt19937 random(3);
  unsigned round = 0;
  for (const unsigned size : {16u, 32u})
    for (const Format &a : formats)
      for (const Format &b : formats) {
        const unsigned length = size == 16 ? 128 : 64, results = size == 16 ? 4 : 16;
        Registers common(18 * 64);
        std::vector<uint32_t> codes(length * size);
        for (unsigned k = 0; k < length; ++k)
          for (unsigned j = 0; j < size; ++j)
            put(common, first_b, size, b, j, k, codes[k * size + j] = b.any(random));
        // Four different bytes in each register; one of them counts.
        for (unsigned lane = 0; lane < 64; ++lane)
          for (unsigned side : {scale_a, scale_b})
            for (unsigned byte = 0; byte < 4; ++byte)
              common[side * 64 + lane] |= (127 - 8 + random() % 16) << 8 * byte;
        const unsigned byte_a = round % 4, byte_b = round / 4 % 4;
        ++round;
        std::vector<Registers> waves(length, common);
        for (unsigned wave = 0; wave < length; ++wave)
          for (unsigned i = 0; i < size; ++i)
            put(waves[wave], 0, size, a, i, (i + wave) % length, a.one());
        const std::string text =
            fmt::format("v_mfma_scale_f32_{} v[{}:{}], v[0:{}], v[8:{}], 0, v16, v17 op_sel:[{},{},0] "
                        "op_sel_hi:[{},{},0] "
                        "cbsz:{} blgp:{}",
                        size == 16 ? "16x16x128_f8f6f4" : "32x32x64_f8f6f4", first_result,
                        first_result + results - 1, a.registers() - 1, 7 + b.registers(), byte_a & 1,
                        byte_b & 1, byte_a >> 1, byte_b >> 1, a.number, b.number);
        const auto d = run_waves(text, waves, first_result, results);
        const auto exponent = [&](unsigned side, unsigned row, unsigned k, unsigned byte) {
          return static_cast<int>(common[side * 64 + row + size * (k / 32)] >> 8 * byte & 255) - 127;
        };
        for (unsigned wave = 0; wave < length; ++wave)
          for (unsigned i = 0; i < size; ++i)
            for (unsigned j = 0; j < size; ++j) {
              const unsigned k = (i + wave) % length;
              const double expected =
                  std::ldexp(b.value(codes[k * size + j]),
                             exponent(scale_a, i, k, byte_a) + exponent(scale_b, j, k, byte_b));
              ASSERT_EQ(result_at(d[wave], size, i, j), static_cast<float>(expected))
                  << fmt::format("{} ({}, {}) k {}", text, i, j, k);
            }
      }
}

TEST(MatrixScaledLayout, AllScalesOfBothSides) {
  // 32 ones meet 32 ones in the first block only; the scale of A is the wave's number, that of B its opposite
  // or 1.
  for (const bool opposite : {false, true}) {
    std::vector<Registers> waves(256, Registers(18 * 64));
    for (unsigned wave = 0; wave < 256; ++wave)
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned r = 0; r < 4; ++r)
          waves[wave][r * 64 + lane] = waves[wave][(first_b + r) * 64 + lane] = lane < 16 ? 0x22222222 : 0;
        waves[wave][scale_a * 64 + lane] = lane < 16 ? wave : 127;
        waves[wave][scale_b * 64 + lane] = lane < 16 && opposite ? 254 - std::min(wave, 254u) : 127;
      }
    const auto d = run_waves("v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[0:3], v[8:11], 0, v16, v17 "
                             "op_sel:[0,0,0] op_sel_hi:[0,0,0] cbsz:4 blgp:4",
                             waves, first_result, 4);
    for (unsigned wave = 0; wave < 256; ++wave) {
      const float actual = result_at(d[wave], 16, 7, 3);
      if (wave == 255)
        EXPECT_TRUE(std::isnan(actual));
      else
        EXPECT_EQ(actual,
                  opposite ? 32.0f : static_cast<float>(std::ldexp(32.0, static_cast<int>(wave) - 127)))
            << wave;
    }
  }
}

} // namespace
} // namespace nereid::sim::test
