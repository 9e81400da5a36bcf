#include <cmath>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "dsl/interpreter/numbers.h"
#include "dsl/interpreter/packing.h"
#include "tests/codegen/lower_harness.h"

/// dot and dot_scaled in every pair of formats.
namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Format;

constexpr Format scaled_formats[] = {Format::E2M1, Format::E2M3, Format::E3M2, Format::E4M3, Format::E5M2};
constexpr Format half_formats[] = {Format::BF16, Format::F16};

struct Size {
  int64_t m, n, k;
};

bool long_tests() {
  const char *value = std::getenv("NEREID_LONG_TESTS");
  return value && std::string(value) == "1";
}

int64_t bytes_of(Format format, int64_t values) { return values * ir::facts(format).bits / 8; }

Element element_of(Format format) {
  return format == Format::BF16 ? Element::BF16 : format == Format::F16 ? Element::F16 : Element::U8;
}

/// Bits of multiples of 1/4 up to 4: sums of their products are exact, with scales near 1 too.
std::vector<uint16_t> plain_codes(Format format) {
  std::vector<uint16_t> codes;
  if (!ir::facts(format).scaled) {
    for (int quarters = -16; quarters <= 16; ++quarters)
      codes.push_back(static_cast<uint16_t>(
          interpreter::bits_of(element_of(format), 0.25F * static_cast<float>(quarters))));
    return codes;
  }
  for (unsigned code = 0; code < 1u << ir::facts(format).bits; ++code) {
    const float value = interpreter::decode(format, static_cast<uint8_t>(code));
    if (std::fabs(value) <= 4 && value * 4 == std::floor(value * 4))
      codes.push_back(static_cast<uint16_t>(code));
  }
  return codes;
}

/// rows x k values packed along K, each chosen by `code_at`.
template <class CodeAt> Bytes matrix(Format format, int64_t rows, int64_t k, const CodeAt &code_at) {
  Bytes bytes(static_cast<size_t>(rows * bytes_of(format, k)));
  auto *data = reinterpret_cast<uint8_t *>(bytes.data());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < k; ++i) {
      const uint16_t code = code_at(row, i);
      if (ir::facts(format).scaled)
        interpreter::pack_code(data + row * bytes_of(format, k), ir::facts(format).bits,
                               static_cast<size_t>(i), static_cast<uint8_t>(code));
      else
        std::memcpy(data + (row * k + i) * 2, &code, 2);
    }
  return bytes;
}

Bytes plain_matrix(Format format, int64_t rows, int64_t k, uint64_t seed) {
  Random random(seed);
  const std::vector<uint16_t> codes = plain_codes(format);
  return matrix(format, rows, k, [&](int64_t, int64_t) { return codes[random.next() % codes.size()]; });
}

std::vector<uint8_t> scales_near_one(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> values(static_cast<size_t>(count));
  for (uint8_t &value : values)
    value = static_cast<uint8_t>(125 + random.next() % 4);
  return values;
}

struct Product {
  Format a, b;
  Size size;
  int waves = 1;
  int mfma = 16;
  bool unscaled = false; ///< dot of codes
};

/// c (+)= a b^T with b [n, k] packed along k; arguments a, scales of a, b, scales of b, c.
ir::Function kernel_of(const Product &p) {
  KernelBuilder b(p.waves);
  b.options().mfma = p.mfma;
  const auto [m, n, k] = p.size;
  ir::ValueId pa = b.pointer(element_of(p.a)), psa = b.pointer(Element::U8), pb = b.pointer(element_of(p.b)),
              psb = b.pointer(Element::U8), pc = b.pointer(Element::F32);
  auto elements = [&](Format format) { return ir::facts(format).scaled ? bytes_of(format, k) : k; };
  ir::ValueId a = b.load_tile(pa, {m, elements(p.a)});
  ir::ValueId right = b.permute(b.load_tile(pb, {n, elements(p.b)}), {1, 0});
  ir::ValueId product;
  if (p.unscaled) {
    product = b.dot(a, p.a, right, p.b);
  } else {
    ir::Builder::ScaledOperand left{a, {}, p.a}, other{right, {}, p.b};
    if (ir::facts(p.a).scaled)
      left.scales = b.load_tile(psa, {m, k / 32});
    if (ir::facts(p.b).scaled)
      other.scales = b.load_tile(psb, {n, k / 32});
    product = b.dot_scaled(left, other);
  }
  b.store_tile(pc, b.add(b.load_tile(pc, {m, n}), product));
  return b.done();
}

void check(const Product &p, const Bytes &a, const std::vector<uint8_t> &scales_a, const Bytes &b,
           const std::vector<uint8_t> &scales_b) {
  SCOPED_TRACE(::testing::Message() << ir::facts(p.a).name << " x " << ir::facts(p.b).name << ", " << p.size.m
                                    << "x" << p.size.n << "x" << p.size.k << ", " << p.waves
                                    << " waves, mfma " << p.mfma);
  std::vector<float> c(static_cast<size_t>(p.size.m * p.size.n));
  for (size_t i = 0; i < c.size(); ++i)
    c[i] = static_cast<float>(i % 7) - 3;
  expect_same(kernel_of(p), {1, 1, 1}, {{a}, buffer(scales_a), {b}, buffer(scales_b), buffer(c)},
              {{4, Element::F32}});
}

void check(const Product &p) {
  const auto [m, n, k] = p.size;
  check(p, plain_matrix(p.a, m, k, 1), scales_near_one(m * k / 32 + 1, 2), plain_matrix(p.b, n, k, 3),
        scales_near_one(n * k / 32 + 1, 4));
}

/// Whole instructions, several along each dimension, parts of one along each.
std::vector<Size> sizes() {
  std::vector<Size> all = {{16, 16, 128}, {32, 64, 32}, {8, 16, 256}, {48, 16, 96}};
  if (long_tests())
    all.insert(
        all.end(),
        {{32, 32, 64}, {64, 16, 64}, {4, 16, 512}, {1, 16, 128}, {16, 8, 32}, {64, 64, 128}, {6, 80, 384}});
  return all;
}

TEST(LowerFormats, EveryPairOfScaledFormats) {
  for (Format a : scaled_formats)
    for (Format b : scaled_formats)
      for (Size size : sizes())
        check({.a = a, .b = b, .size = size, .waves = size.n > 16 ? 4 : 1});
}

TEST(LowerFormats, EveryPairInLargeInstructions) {
  for (Format a : scaled_formats)
    for (Format b : scaled_formats)
      for (Size size : {Size{32, 32, 64}, {64, 32, 32}, {32, 64, 256}})
        if (size.k == 64 || long_tests())
          check({.a = a, .b = b, .size = size, .waves = size.k == 256 ? 2 : 1, .mfma = 32});
}

TEST(LowerFormats, HalvesTimesScaledFormats) {
  for (Format half : half_formats)
    for (Format scaled : scaled_formats)
      for (int mfma : {16, 32})
        for (Size size : {Size{16, 16, 32}, {32, 64, 128}, {4, 16, 64}, {64, 32, 64}, {96, 32, 192}}) {
          if (mfma == 32 && size.m < 32)
            continue;
          if (scaled != Format::E2M1 && size.m != 32 && !long_tests())
            continue;
          check({.a = half, .b = scaled, .size = size, .waves = size.n > 16 ? 2 : 1, .mfma = mfma});
          check({.a = scaled, .b = half, .size = size, .waves = size.n > 16 ? 2 : 1, .mfma = mfma});
        }
}

/// Every scale but NaN, with one value of the half side at each scale's place: nothing overflows on the way.
TEST(LowerFormats, HalvesTakeEveryScale) {
  for (Format half : half_formats) {
    const uint16_t one = static_cast<uint16_t>(interpreter::bits_of(element_of(half), 1.0F));
    std::vector<uint8_t> scales(32 * 8);
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = static_cast<uint8_t>(i == 255 ? 0 : i);
    const Bytes a = matrix(half, 16, 256, [&](int64_t row, int64_t k) {
      return k % 32 == row && k / 32 == row % 8 ? one : uint16_t{0};
    });
    const Bytes b = plain_matrix(Format::E2M1, 32, 256, 5);
    check({.a = half, .b = Format::E2M1, .size = {16, 32, 256}}, a, {0}, b, scales);
  }
}

TEST(LowerFormats, DotOfCodes) {
  constexpr Format bytes[] = {Format::E4M3, Format::E5M2};
  for (Format a : bytes)
    for (Format b : bytes)
      for (int mfma : {16, 32})
        for (Size size : {Size{16, 16, 128}, {32, 64, 16}, {32, 32, 512}})
          check({.a = a, .b = b, .size = size, .waves = size.n > 16 ? 4 : 1, .mfma = mfma, .unscaled = true});
}

/// One side a unit matrix: each value of the other comes through alone, at its own place of K.
TEST(LowerFormats, EveryCodeAtEveryPlace) {
  for (Format format : scaled_formats)
    for (Format unit : scaled_formats)
      for (int mfma : {16, 32}) {
        uint8_t one = 0;
        while (interpreter::decode(unit, one) != 1.0F)
          ++one;
        const Bytes identity =
            matrix(unit, 128, 128, [&](int64_t row, int64_t k) { return row == k ? one : uint8_t{0}; });
        Random random(7);
        const Bytes codes = matrix(format, 32, 128, [&](int64_t, int64_t) {
          for (;;)
            if (auto code = static_cast<uint8_t>(random.next() & ((1u << ir::facts(format).bits) - 1));
                std::isfinite(interpreter::decode(format, code)))
              return code;
        });
        const std::vector<uint8_t> ones(128 * 4, 127);
        check({.a = format, .b = unit, .size = {32, 128, 128}, .waves = 4, .mfma = mfma}, codes,
              scales_near_one(32 * 4, 8), identity, ones);
        check({.a = unit, .b = format, .size = {128, 32, 128}, .waves = 4, .mfma = mfma}, identity, ones,
              codes, scales_near_one(32 * 4, 9));
      }
}

void check_integer_dot(Size size, int waves, int mfma, bool loop) {
  SCOPED_TRACE(::testing::Message() << size.m << "x" << size.n << "x" << size.k);
  KernelBuilder b(waves);
  b.options().mfma = mfma;
  ir::ValueId pa = b.pointer(Element::I8), pb = b.pointer(Element::I8), pc = b.pointer(Element::I32);
  ir::ValueId iterations = b.scalar_argument(Element::I32);
  const ir::ValueId start[] = {b.load_tile(pc, {size.m, size.n})};
  ir::Builder::Loop made = b.begin_for(b.number(0), loop ? iterations : b.number(1), b.number(1), 1, start);
  ir::ValueId a = b.load_tile(b.ptr_add(pa, b.mul(made.index, b.number(size.m * size.k))), {size.m, size.k});
  ir::ValueId right =
      b.load_tile(b.ptr_add(pb, b.mul(made.index, b.number(size.n * size.k))), {size.n, size.k});
  const ir::ValueId next[] = {b.add(made.carried[0], b.dot(a, b.permute(right, {1, 0})))};
  b.store_tile(pc, b.end_for(next)[0]);
  Random random(11);
  expect_same(b.done(), {1, 1, 1},
              {buffer(random.bits<int8_t>(3 * size.m * size.k)),
               buffer(random.bits<int8_t>(3 * size.n * size.k)),
               buffer(random.bits<int32_t>(size.m * size.n)), i32(3)});
}

TEST(LowerFormats, IntegerProductsAreExactAndWrap) {
  for (int mfma : {16, 32})
    for (Size size : {Size{16, 16, 64}, {32, 64, 128}, {32, 32, 16}, {4, 16, 32}, {64, 32, 256}})
      for (int waves : {1, 4})
        check_integer_dot(size, waves, mfma, waves == 4);
}

} // namespace
} // namespace nereid::codegen::testing
