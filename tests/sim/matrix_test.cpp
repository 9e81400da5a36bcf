// MFMA: layouts by one-hot operands, scales, formats, accumulation.

#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/decode/disassembler.h"
#include "tests/sim/assembler.h"

namespace nereid::sim::test {
namespace {

/// A wave's registers as the operands of an MFMA.
using Registers = std::vector<uint32_t>; // [register][lane]

void put_bits(Registers &registers, unsigned lane, unsigned bit, unsigned width, uint32_t code) {
  for (unsigned k = 0; k < width; ++k)
    if (code >> k & 1)
      registers[(bit + k) / 32 * 64 + lane] |= 1u << (bit + k) % 32;
}

struct Format {
  unsigned number, bits, registers;
  unsigned exponent_bits, mantissa_bits;
  int bias;

  double value(uint32_t code) const {
    unsigned exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1),
             mantissa = code & ((1u << mantissa_bits) - 1);
    double fraction = std::ldexp(static_cast<double>(mantissa), -static_cast<int>(mantissa_bits));
    double magnitude = exponent ? std::ldexp(1 + fraction, static_cast<int>(exponent) - bias)
                                : std::ldexp(fraction, 1 - bias);
    return code >> (bits - 1) & 1 ? -magnitude : magnitude;
  }
  uint32_t one() const { return static_cast<uint32_t>(bias) << mantissa_bits; }
};
constexpr Format formats[] = {
    {0, 8, 8, 4, 3, 7}, {1, 8, 8, 5, 2, 15}, {2, 6, 6, 2, 3, 1}, {3, 6, 6, 3, 2, 3}, {4, 4, 4, 2, 1, 1}};

/// Where element (row, k) of a side lies: lane and bit.
struct Place {
  unsigned lane, bit;
};
Place place_of(const Format &format, unsigned size, unsigned row, unsigned k) {
  unsigned groups = 64 / size;
  if (format.bits == 8) // dealt in chunks of 16
    return {row + size * (k / 16 % groups), 8 * (k % 16 + 16 * (k / (16 * groups)))};
  return {row + size * (k / 32), format.bits * (k % 32)};
}

/// Element (i, j) of the result from its registers.
float result_at(const std::vector<uint32_t> &d, unsigned size, unsigned i, unsigned j) {
  unsigned lane = size == 16 ? j + 16 * (i / 4) : j + 32 * (i / 4 % 2);
  unsigned index = size == 16 ? i % 4 : 4 * (i / 8) + i % 4;
  float value;
  std::memcpy(&value, &d[index * 64 + lane], 4);
  return value;
}

struct Operand {
  const Format &format;
  std::vector<uint32_t> code;  ///< [row][k]
  std::vector<uint32_t> scale; ///< [row][k / 32]
};

Operand random_operand(const Format &format, unsigned size, unsigned k, std::mt19937 &random) {
  Operand result{format, std::vector<uint32_t>(size * k), std::vector<uint32_t>(size * k / 32)};
  for (uint32_t &code : result.code) {
    do
      code = random() & ((1u << format.bits) - 1);
    while (format.bits == 8 && (code & 0x7F) >= 0x7C); // no infinity, no NaN
  }
  for (uint32_t &scale : result.scale)
    scale = 120 + random() % 12;
  return result;
}

/// Registers: v0..7 A, v8..15 B, v16 and v17 scales with the byte in question at `byte`, 0x55 elsewhere.
Registers registers_of(const Operand &a, const Operand &b, unsigned size, unsigned byte_a, unsigned byte_b) {
  unsigned k = size == 16 ? 128 : 64;
  Registers result(18 * 64);
  for (unsigned side = 0; side < 2; ++side) {
    const Operand &operand = side ? b : a;
    for (unsigned row = 0; row < size; ++row)
      for (unsigned at = 0; at < k; ++at) {
        Place place = place_of(operand.format, size, row, at);
        put_bits(result, place.lane, 8 * 32 * side + place.bit, operand.format.bits,
                 operand.code[row * k + at]);
      }
    unsigned byte = side ? byte_b : byte_a;
    for (unsigned lane = 0; lane < 64; ++lane) {
      uint32_t scale = operand.scale[lane % size * (k / 32) + lane / size];
      result[(16 + side) * 64 + lane] = (0x55555555 & ~(255u << 8 * byte)) | scale << 8 * byte;
    }
  }
  return result;
}

std::string scaled_text(const Format &a, const Format &b, unsigned size, unsigned byte_a, unsigned byte_b,
                        const char *accumulator) {
  const char *shape = size == 16 ? "16x16x128" : "32x32x64";
  return fmt::format("v_mfma_scale_f32_{}_f8f6f4 v[40:{}], v[0:{}], v[8:{}], {}, v16, v17 op_sel:[{},{},0] "
                     "op_sel_hi:[{},{},0] cbsz:{} blgp:{}",
                     shape, size == 16 ? 43 : 55, a.registers - 1, 7 + b.registers, accumulator, byte_a & 1,
                     byte_b & 1, byte_a >> 1, byte_b >> 1, a.number, b.number);
}

TEST(Matrix, EveryPairOfSmallFormatsMultipliesWithScales) {
  std::mt19937 random(5);
  for (unsigned size : {16u, 32u})
    for (const Format &fa : formats)
      for (const Format &fb : formats) {
        unsigned k = size == 16 ? 128 : 64;
        Operand a = random_operand(fa, size, k, random), b = random_operand(fb, size, k, random);
        unsigned byte_a = random() % 4, byte_b = random() % 4;
        auto d = run_lanes(scaled_text(fa, fb, size, byte_a, byte_b, "1.0"),
                           registers_of(a, b, size, byte_a, byte_b), 40, size == 16 ? 4 : 16);
        for (unsigned i = 0; i < size; ++i)
          for (unsigned j = 0; j < size; ++j) {
            float sum = 1.0f;
            for (unsigned block = 0; block < k / 32; ++block) {
              double dot = 0;
              for (unsigned at = block * 32; at < block * 32 + 32; ++at)
                dot += fa.value(a.code[i * k + at]) * fb.value(b.code[j * k + at]);
              int scale =
                  static_cast<int>(a.scale[i * (k / 32) + block] + b.scale[j * (k / 32) + block]) - 254;
              sum = static_cast<float>(sum + std::ldexp(dot, scale));
            }
            ASSERT_EQ(result_at(d, size, i, j), sum)
                << fmt::format("{}x{} cbsz {} blgp {} at ({}, {})", size, size, fa.number, fb.number, i, j);
          }
      }
}

TEST(Matrix, OneHotElementsMeetAtTheirRowColumnAndBlock) {
  for (unsigned size : {16u, 32u})
    for (const Format *format : {&formats[4], &formats[0]}) {
      unsigned k = size == 16 ? 128 : 64;
      for (unsigned probe = 0; probe < 12; ++probe) {
        unsigned i = probe * 7 % size, j = probe * 5 % size, at = probe * 37 % k;
        Operand a{*format, std::vector<uint32_t>(size * k), std::vector<uint32_t>(size * k / 32, 127)}, b = a;
        a.code[i * k + at] = format->one();
        b.code[j * k + at] = format->one();
        a.scale[i * (k / 32) + at / 32] = 130;
        b.scale[j * (k / 32) + at / 32] = 129;
        auto d = run_lanes(scaled_text(*format, *format, size, 2, 1, "0"), registers_of(a, b, size, 2, 1), 40,
                           size == 16 ? 4 : 16);
        for (unsigned row = 0; row < size; ++row)
          for (unsigned column = 0; column < size; ++column)
            ASSERT_EQ(result_at(d, size, row, column), row == i && column == j ? 32.0f : 0.0f);
      }
    }
}

TEST(Matrix, ScalesReachFromTheSmallestToNan) {
  for (unsigned first = 0; first < 256; first += 16) {
    Operand a{formats[4], std::vector<uint32_t>(16 * 128, 2), std::vector<uint32_t>(16 * 4, 127)}, b = a;
    for (unsigned row = 0; row < 16; ++row)
      a.scale[row * 4 + 3] = first + row; // the last block of each row
    auto d =
        run_lanes(scaled_text(formats[4], formats[4], 16, 0, 3, "0"), registers_of(a, b, 16, 0, 3), 40, 4);
    for (unsigned row = 0; row < 16; ++row) {
      unsigned scale = first + row;
      float actual = result_at(d, 16, row, 9);
      if (scale == 255)
        EXPECT_TRUE(std::isnan(actual));
      else
        EXPECT_EQ(actual, static_cast<float>(96 + std::ldexp(32.0, static_cast<int>(scale) - 127))) << scale;
    }
  }
}

TEST(Matrix, UnscaledFormIgnoresScalesAndAccumulates) {
  std::mt19937 random(6);
  Operand a = random_operand(formats[4], 16, 128, random), b = random_operand(formats[4], 16, 128, random);
  Registers in = registers_of(a, b, 16, 0, 0);
  auto d = run_lanes("v_accvgpr_write_b32 a0, 1.0\nv_accvgpr_write_b32 a1, 1.0\nv_accvgpr_write_b32 a2, 1.0\n"
                     "v_accvgpr_write_b32 a3, 1.0\n"
                     "v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:3], v[8:11], a[0:3] cbsz:4 blgp:4\n"
                     "v_mfma_f32_16x16x128_f8f6f4 a[4:7], v[0:3], v[8:11], a[0:3] cbsz:4 blgp:4\n"
                     "v_accvgpr_read_b32 v40, a4\nv_accvgpr_read_b32 v41, a5\nv_accvgpr_read_b32 v42, a6\n"
                     "v_accvgpr_read_b32 v43, a7",
                     in, 40, 4);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      double dot = 0;
      for (unsigned k = 0; k < 128; ++k)
        dot += formats[4].value(a.code[i * 128 + k]) * formats[4].value(b.code[j * 128 + k]);
      ASSERT_EQ(result_at(d, 16, i, j), static_cast<float>(1 + 2 * dot));
    }
}

/// The dense forms with one block: mnemonic, extents, bits of an element, how to encode a small integer.
struct Dense {
  const char *name;
  unsigned size, k, bits;
  uint32_t (*encode)(int value);
};
uint32_t float_bits(int value) {
  float f = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}
uint32_t half_bits(int value) {
  int exponent;
  double fraction = std::frexp(std::abs(value), &exponent);
  uint32_t magnitude =
      value ? static_cast<uint32_t>((exponent + 14) << 10) + static_cast<uint32_t>(fraction * 2048) - 1024
            : 0;
  return magnitude | (value < 0 ? 0x8000 : 0);
}
uint32_t fp8_bits(int value) {
  int exponent;
  double fraction = std::frexp(std::abs(value), &exponent);
  uint32_t magnitude =
      value ? static_cast<uint32_t>((exponent + 6) << 3) + static_cast<uint32_t>(fraction * 16) - 8 : 0;
  return magnitude | (value < 0 ? 0x80 : 0);
}

constexpr Dense dense[] = {
    {"f32_16x16x32_bf16", 16, 32, 16, [](int v) { return float_bits(v) >> 16; }},
    {"f32_32x32x16_bf16", 32, 16, 16, [](int v) { return float_bits(v) >> 16; }},
    {"f32_16x16x16_bf16", 16, 16, 16, [](int v) { return float_bits(v) >> 16; }},
    {"f32_16x16x32_f16", 16, 32, 16, half_bits},
    {"f32_32x32x16_f16", 32, 16, 16, half_bits},
    {"f32_32x32x8_f16", 32, 8, 16, half_bits},
    {"f32_16x16x4_f32", 16, 4, 32, float_bits},
    {"f32_32x32x2_f32", 32, 2, 32, float_bits},
    {"f32_16x16x32_fp8_fp8", 16, 32, 8, fp8_bits},
    {"f32_32x32x16_fp8_fp8", 32, 16, 8, fp8_bits},
    {"i32_16x16x64_i8", 16, 64, 8, [](int v) { return static_cast<uint32_t>(v) & 255; }},
    {"i32_32x32x32_i8", 32, 32, 8, [](int v) { return static_cast<uint32_t>(v) & 255; }},
    {"i32_16x16x32_i8", 16, 32, 8, [](int v) { return static_cast<uint32_t>(v) & 255; }},
};

TEST(Matrix, OperandsMayEndAtTheLastRegister) {
  // v_mfma_scale_f32_16x16x128_f8f6f4 v[70:73], a[252:255], v[210:213], v[70:73], v36, v1 cbsz:4 blgp:4
  constexpr uint32_t scaled[] = {0xD3AC0000, 0x00020324, 0xD3AD0C46, 0x8D1BA5FC};
  Disassembler disassembler;
  const Disassembler::Decoded with_scales = disassembler.decode(std::as_bytes(std::span(scaled)), 0);
  EXPECT_EQ(with_scales.size, 16U);
  EXPECT_EQ(with_scales.mnemonic, "v_mfma_scale_f32_16x16x128_f8f6f4");
  constexpr uint32_t unscaled[] = {0xD3AD0446, 0x8D1BA5FC};
  const Disassembler::Decoded plain = disassembler.decode(std::as_bytes(std::span(unscaled)), 0);
  EXPECT_EQ(plain.size, 8U);
  EXPECT_EQ(plain.mnemonic, "v_mfma_f32_16x16x128_f8f6f4");
}

TEST(Matrix, DenseFormsMultiplySmallIntegers) {
  for (const Dense &form : dense) {
    std::mt19937 random(7);
    unsigned groups = 64 / form.size, elements = form.k / groups,
             registers = std::max(1u, elements * form.bits / 32);
    std::vector<int> a(form.size * form.k), b(form.size * form.k);
    Registers in(16 * 64);
    for (unsigned row = 0; row < form.size; ++row)
      for (unsigned k = 0; k < form.k; ++k) {
        a[row * form.k + k] = static_cast<int>(random() % 15) - 7;
        b[row * form.k + k] = static_cast<int>(random() % 15) - 7;
        unsigned lane = row + form.size * (k / elements), bit = k % elements * form.bits;
        put_bits(in, lane, bit, form.bits, form.encode(a[row * form.k + k]));
        put_bits(in, lane, 8 * 32 + bit, form.bits, form.encode(b[row * form.k + k]));
      }
    auto tuple = [&](unsigned first) {
      return registers == 1 ? fmt::format("v{}", first)
                            : fmt::format("v[{}:{}]", first, first + registers - 1);
    };
    unsigned results = form.size == 16 ? 4 : 16;
    auto d = run_lanes(fmt::format("v_mfma_{} v[40:{}], {}, {}, 0\nv_mfma_{} v[40:{}], {}, {}, v[40:{}]",
                                   form.name, 39 + results, tuple(0), tuple(8), form.name, 39 + results,
                                   tuple(0), tuple(8), 39 + results),
                       in, 40, results);
    for (unsigned i = 0; i < form.size; ++i)
      for (unsigned j = 0; j < form.size; ++j) {
        int dot = 0;
        for (unsigned k = 0; k < form.k; ++k)
          dot += a[i * form.k + k] * b[j * form.k + k];
        float actual = result_at(d, form.size, i, j);
        if (form.name[0] == 'i') {
          int32_t word;
          std::memcpy(&word, &actual, 4);
          ASSERT_EQ(word, 2 * dot) << form.name << " " << i << " " << j;
        } else {
          ASSERT_EQ(actual, static_cast<float>(2 * dot)) << form.name << " " << i << " " << j;
        }
      }
  }
}

TEST(Matrix, BlocksOfFourByFour) {
  // v_mfma_f32_4x4x4_16b_f16: lane = row + 4 * block, 4 elements of k; result: lane = column + 4 * block,
  // register row.
  Registers in(4 * 64);
  auto a = [](unsigned block, unsigned i, unsigned k) {
    return static_cast<int>((block + 3 * i + k) % 7) - 3;
  };
  auto b = [](unsigned block, unsigned j, unsigned k) {
    return static_cast<int>((2 * block + j + 5 * k) % 9) - 4;
  };
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned k = 0; k < 4; ++k) {
      put_bits(in, lane, 16 * k, 16, half_bits(a(lane / 4, lane % 4, k)));
      put_bits(in, lane, 64 + 16 * k, 16, half_bits(b(lane / 4, lane % 4, k)));
    }
  auto d = run_lanes("v_mfma_f32_4x4x4_16b_f16 v[40:43], v[0:1], v[2:3], 0", in, 40, 4);
  for (unsigned block = 0; block < 16; ++block)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned j = 0; j < 4; ++j) {
        int dot = 0;
        for (unsigned k = 0; k < 4; ++k)
          dot += a(block, i, k) * b(block, j, k);
        float actual;
        std::memcpy(&actual, &d[i * 64 + j + 4 * block], 4);
        ASSERT_EQ(actual, static_cast<float>(dot));
      }
}

} // namespace
} // namespace nereid::sim::test
