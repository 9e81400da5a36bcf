#include "tests/dsl/interpreter_support.h"

#include <cmath>
#include <random>

namespace nereid {
namespace {

using ir::Format;

struct FormatCase {
  const char *name;
  const char *element;
  unsigned bits;
  bool scaled;
  unsigned codes; ///< codes to draw from: without NaN and infinities
};
constexpr FormatCase formats[] = {
    {"e2m1", "u8", 4, true, 16},   {"e2m3", "u8", 6, true, 64},   {"e3m2", "u8", 6, true, 64},
    {"e4m3", "u8", 8, true, 0x7f}, {"e5m2", "u8", 8, true, 0x7c}, {"bf16", "bf16", 16, false, 0},
    {"f16", "f16", 16, false, 0},
};

/// One side of a product, [rows, k] in plain values and as packed bytes.
struct Side {
  std::vector<double> values;
  std::vector<uint8_t> bytes;  ///< [rows, k * bits / 8]
  std::vector<uint8_t> scales; ///< [rows, k / 32]
};

Side random_side(const FormatCase &format, size_t rows, size_t k, std::mt19937 &random) {
  Side side;
  side.bytes.resize(rows * k * format.bits / 8);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t g = 0; format.scaled && g < k / 32; ++g)
      side.scales.push_back(static_cast<uint8_t>(120 + random() % 16));
    for (size_t i = 0; i < k; ++i) {
      if (!format.scaled) {
        // Small multiples of 1/4 are exact in both formats.
        const float value = static_cast<float>(static_cast<int>(random() % 65) - 32) / 4;
        const uint16_t bits =
            format.name == std::string("bf16") ? interpreter::bf16_bits(value) : interpreter::f16_bits(value);
        side.bytes[(r * k + i) * 2] = static_cast<uint8_t>(bits);
        side.bytes[(r * k + i) * 2 + 1] = static_cast<uint8_t>(bits >> 8);
        side.values.push_back(value);
        continue;
      }
      const auto code = static_cast<uint8_t>(random() % format.codes);
      // Bit by bit, as the format's definition says.
      for (unsigned bit = 0; bit < format.bits; ++bit)
        if (code >> bit & 1) {
          const size_t at = i * format.bits + bit;
          side.bytes[r * k * format.bits / 8 + at / 8] |= static_cast<uint8_t>(1u << at % 8);
        }
      const double scale = std::ldexp(1.0, side.scales[r * (k / 32) + i / 32] - 127);
      side.values.push_back(interpreter::decode(*ir::format_named(format.name), code) * scale);
    }
  }
  return side;
}

/// Swaps rows and columns of units of `unit` bytes.
std::vector<uint8_t> transposed(const std::vector<uint8_t> &bytes, size_t rows, size_t unit) {
  const size_t columns = bytes.size() / rows / unit;
  std::vector<uint8_t> out(bytes.size());
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      std::copy_n(&bytes[(r * columns + c) * unit], unit, &out[(c * rows + r) * unit]);
  return out;
}

std::string load_tile(int base, const std::string &element, size_t rows, size_t columns,
                      const std::string &id) {
  const std::string count = "[" + std::to_string(rows * columns) + "]";
  const std::string shape = "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
  return id + "0 = arange {start = 0} : i32" + count + "\n" + id + "1 = broadcast %" + std::to_string(base) +
         " : ptr<" + element + ">" + count + "\n" + id + "2 = ptr_add " + id + "1, " + id + "0 : ptr<" +
         element + ">" + count + "\n" + id + "3 = load " + id + "2 : " + element + count + "\n" + id +
         "4 = reshape " + id + "3 : " + element + shape + "\n";
}
std::string store_tile(int base, const std::string &element, const std::string &value, size_t count,
                       const std::string &id) {
  const std::string shape = "[" + std::to_string(count) + "]";
  return id + "0 = arange {start = 0} : i32" + shape + "\n" + id + "1 = broadcast %" + std::to_string(base) +
         " : ptr<" + element + ">" + shape + "\n" + id + "2 = ptr_add " + id + "1, " + id + "0 : ptr<" +
         element + ">" + shape + "\n" + id + "3 = reshape " + value + " : " + element + shape + "\nstore " +
         id + "2, " + id + "3\n";
}

std::vector<float> run_dot_scaled(const FormatCase &fa, const FormatCase &fb, const Side &a, const Side &b,
                                  size_t m, size_t n, size_t k) {
  const auto packed = [&](const FormatCase &f) { return f.scaled ? k * f.bits / 8 : k; };
  std::string text = std::string("kernel @product(%0: ptr<") + fa.element + ">, %1: ptr<u8>, %2: ptr<" +
                     fb.element + ">, %3: ptr<u8>, %4: ptr<f32>) options {waves = 1} {\n";
  text += load_tile(0, fa.element, m, packed(fa), "%10") + load_tile(2, fb.element, packed(fb), n, "%11");
  std::string operands = "%104, ";
  if (fa.scaled) {
    text += load_tile(1, "u8", m, k / 32, "%12");
    operands += "%124, ";
  }
  operands += "%114";
  if (fb.scaled) {
    text += load_tile(3, "u8", n, k / 32, "%13");
    operands += ", %134";
  }
  text += "%200 = dot_scaled " + operands + " {format_a = \"" + fa.name + "\", format_b = \"" + fb.name +
          "\"} : f32[" + std::to_string(m) + ", " + std::to_string(n) + "]\n";
  text += store_tile(4, "f32", "%200", m * n, "%14") + "}";
  std::vector<uint8_t> a_bytes = a.bytes, a_scales = a.scales, b_scales = b.scales;
  std::vector<uint8_t> b_bytes = transposed(b.bytes, n, fb.scaled ? 1 : 2);
  a_scales.resize(a_scales.size() + 1);
  b_scales.resize(b_scales.size() + 1);
  std::vector<float> out(m * n, -1.0f);
  const Status status = run_text(text, {a_bytes, a_scales, b_bytes, b_scales, out});
  EXPECT_TRUE(status.ok()) << status.error().text();
  return out;
}

TEST(InterpreterMatrix, DotScaledOfEveryPairOfFormats) {
  std::mt19937 random(2);
  const size_t m = 5, n = 11, k = 96;
  for (const FormatCase &fa : formats)
    for (const FormatCase &fb : formats) {
      if (!fa.scaled && !fb.scaled)
        continue;
      const Side a = random_side(fa, m, k, random), b = random_side(fb, n, k, random);
      const std::vector<float> out = run_dot_scaled(fa, fb, a, b, m, n, k);
      for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j) {
          double exact = 0, magnitude = 0;
          for (size_t x = 0; x < k; ++x) {
            exact += a.values[i * k + x] * b.values[j * k + x];
            magnitude += std::fabs(a.values[i * k + x] * b.values[j * k + x]);
          }
          EXPECT_NEAR(out[i * n + j], exact, magnitude * 0x1p-21)
              << fa.name << " x " << fb.name << " " << i << " " << j;
        }
    }
}

TEST(InterpreterMatrix, DotScaledIsExactWhereAllSumsAreRepresentable) {
  std::mt19937 random(4);
  const FormatCase &f = formats[0];
  Side a = random_side(f, 4, 64, random), b = random_side(f, 8, 64, random);
  for (std::vector<uint8_t> *scales : {&a.scales, &b.scales})
    for (uint8_t &scale : *scales) // products from 2^-149 on: subnormal results
      scale = static_cast<uint8_t>(scale % 2 + (scales == &a.scales ? 0 : 108));
  const std::vector<float> out = run_dot_scaled(f, f, a, b, 4, 8, 64);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 8; ++j) {
      double exact = 0;
      for (size_t x = 0; x < 64; ++x) {
        const auto value = [&](const Side &side, size_t row) {
          const uint8_t byte = side.bytes[row * 32 + x / 2];
          return std::ldexp(interpreter::decode(Format::E2M1, x % 2 == 0 ? byte & 15 : byte >> 4),
                            side.scales[row * 2 + x / 32] - 127);
        };
        exact += static_cast<double>(value(a, i)) * value(b, j);
      }
      EXPECT_EQ(out[i * 8 + j], static_cast<float>(exact));
    }
}

TEST(InterpreterMatrix, ANanScaleSpoilsItsRowOrColumnOnly) {
  std::mt19937 random(6);
  for (const FormatCase *f : {&formats[0], &formats[3]}) {
    Side a = random_side(*f, 4, 64, random), b = random_side(*f, 8, 64, random);
    a.scales[2 * 2 + 1] = 255;
    b.scales[5 * 2] = 255;
    const std::vector<float> out = run_dot_scaled(*f, *f, a, b, 4, 8, 64);
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 8; ++j)
        EXPECT_EQ(std::isnan(out[i * 8 + j]), i == 2 || j == 5) << f->name << i << " " << j;
  }
}

TEST(InterpreterMatrix, DotSumsInTheOrderOfK) {
  for (const char *element : {"bf16", "f16"}) {
    const FormatCase &f = formats[element == std::string("bf16") ? 5 : 6];
    const auto bits = [&](float v) {
      return f.name == std::string("bf16") ? interpreter::bf16_bits(v) : interpreter::f16_bits(v);
    };
    // 2^24 cannot hold the ones that follow, but keeps those that come before.
    std::vector<uint16_t> a = {bits(4096), bits(1), bits(1), bits(1), bits(1), bits(4096), bits(3), bits(-2)};
    std::vector<uint16_t> b = {bits(4096), bits(1), bits(1), bits(4096), bits(1), bits(1), bits(1), bits(1)};
    std::vector<float> out(4);
    const std::string e = element;
    const Status status =
        run_text("kernel @dot(%0: ptr<" + e + ">, %1: ptr<" + e + ">, %2: ptr<f32>) options {waves = 1} {\n" +
                     load_tile(0, e, 2, 4, "%10") + load_tile(1, e, 4, 2, "%11") +
                     "%200 = dot %104, %114 : f32[2, 2]\n" + store_tile(2, "f32", "%200", 4, "%14") + "}",
                 {a, b, out});
    ASSERT_TRUE(status.ok()) << status.error().text();
    EXPECT_EQ(out, (std::vector<float>{16777216.0f, 8194.0f, 8193.0f, 16777218.0f}));
  }
}

void run_quantize(const std::string &element, TestBuffer x, size_t rows, size_t k, const char *format,
                  unsigned bits, const char *rule, std::vector<uint8_t> &codes,
                  std::vector<uint8_t> &scales) {
  codes.assign(rows * k * bits / 8, 0xaa);
  scales.assign(rows * k / 32, 0xaa);
  const auto shape = [&](size_t columns) {
    return "u8[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
  };
  const std::string text = "kernel @quantize(%0: ptr<" + element +
                           ">, %1: ptr<u8>, %2: ptr<u8>) options {waves = 1} {\n" +
                           load_tile(0, element, rows, k, "%10") + "%200, %201 = quantize %104 {format = \"" +
                           format + "\", rule = \"" + rule + "\"} : " + shape(k * bits / 8) + ", " +
                           shape(k / 32) + "\n" + store_tile(1, "u8", "%200", codes.size(), "%14") +
                           store_tile(2, "u8", "%201", scales.size(), "%15") + "}";
  const Status status = run_text(text, {x, codes, scales});
  ASSERT_TRUE(status.ok()) << status.error().text();
}

TEST(InterpreterQuantize, EveryFormatAndRuleIsTheNearestCode) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  const size_t rows = 3, k = 64;
  for (size_t f = 0; f < 5; ++f)
    for (const char *rule : {"even", "floor", "ceil"}) {
      std::vector<float> x(rows * k);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = std::ldexp(normal(random), static_cast<int>(i / 32) * 40 - 100);
      std::vector<uint8_t> codes, scales;
      run_quantize("f32", x, rows, k, formats[f].name, formats[f].bits, rule, codes, scales);
      const Format format = *ir::format_named(formats[f].name);
      for (size_t g = 0; g < rows * k / 32; ++g) {
        float amax = 0;
        for (size_t i = 0; i < 32; ++i)
          amax = std::max(amax, std::fabs(x[g * 32 + i]));
        EXPECT_EQ(scales[g], interpreter::group_scale(format, *ir::scale_rule_named(rule), amax));
        for (size_t i = 0; i < 32; ++i) {
          unsigned code = 0;
          for (unsigned bit = 0; bit < formats[f].bits; ++bit) {
            const size_t at = (g * 32 + i) * formats[f].bits + bit;
            code |= static_cast<unsigned>(codes[at / 8] >> at % 8 & 1) << bit;
          }
          const double scaled = std::ldexp(static_cast<double>(x[g * 32 + i]), 127 - scales[g]);
          EXPECT_EQ(code, interpreter::encode(format, scaled, interpreter::Overflow::Saturate))
              << formats[f].name << " " << rule;
        }
      }
    }
}

TEST(InterpreterQuantize, InfinityAndNanGetTheGreatestScaleAndCodeSeven) {
  std::vector<uint16_t> x(32, 0x3f80);
  x[0] = 0x7f80; // infinity
  x[1] = 0xffc0; // -NaN
  x[2] = 0x7f7f; // the largest
  x[3] = 0x8000; // -0
  std::vector<uint8_t> codes, scales;
  run_quantize("bf16", x, 1, 32, "e2m1", 4, "even", codes, scales);
  EXPECT_EQ(scales[0], 254);
  EXPECT_EQ(codes[0], 0xf7);
  EXPECT_EQ(codes[1], 0x84); // 1.99 * 2^127 / 2^127 rounds to 2
  EXPECT_EQ(codes[2], 0x00);
}

TEST(InterpreterQuantize, GroupsOfZerosKeepTheirSigns) {
  std::vector<float> x(32, 0.0f);
  x[5] = -0.0f;
  std::vector<uint8_t> codes, scales;
  run_quantize("f32", x, 1, 32, "e2m1", 4, "even", codes, scales);
  EXPECT_EQ(scales[0], 0);
  EXPECT_EQ(codes[2], 0x80);
  EXPECT_EQ(codes[0], 0);
}

} // namespace
} // namespace nereid
