// Kernels of tests/sim/programs/calls.cpp and values.cpp: functions, and what C++ makes of values.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

NEREID_PROGRAMS(ProgramCalls);
NEREID_PROGRAMS(ProgramValues);

uint32_t ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

TEST_P(ProgramCalls, RecursionThatLanesLeaveAtDifferentDepths) {
  std::vector<uint32_t> expected(128);
  for (uint32_t i = 0; i < 128; ++i)
    expected[i] = ackermann(i & 1, i >> 1 & 7) + ackermann(2, i & 3);
  ProgramRun program("calls", "ackermann_values", GetParam());
  const size_t out = program.undefined<uint32_t>(128);
  program.run({2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(out, 128), expected);
}

TEST_P(ProgramCalls, RecursionOnAnArrayOfTheCaller) {
  std::mt19937 random(1);
  std::vector<int32_t> in(64 * 16);
  for (int32_t &x : in)
    x = static_cast<int32_t>(random() % 50);
  std::vector<int32_t> expected = in;
  for (auto row = expected.begin(); row != expected.end(); row += 16)
    std::sort(row, row + 16);
  ProgramRun program("calls", "sort_rows", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<int32_t>(in.size());
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, in.size()), expected);
}

TEST_P(ProgramCalls, LanesThatCallDifferentFunctions) {
  std::vector<uint32_t> which(128);
  std::vector<int32_t> a(128), b(128), expected(128);
  for (int i = 0; i < 128; ++i) {
    which[i] = static_cast<uint32_t>(i * 11 / 3);
    a[i] = i * 7 - 300;
    b[i] = 50 - i;
    const int32_t sum = a[i] + b[i], product = a[i] * b[i], order = a[i] < b[i] ? 1 : -1;
    expected[i] = std::array{sum, product, order, (a[i] * 3 + b[i]) ^ order}[which[i] % 4];
  }
  ProgramRun program("calls", "call_by_table", GetParam());
  program.buffer(which);
  program.buffer(a);
  program.buffer(b);
  const size_t out = program.undefined<int32_t>(128);
  program.run({1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 128), expected);
}

TEST_P(ProgramCalls, VirtualFunctions) {
  std::vector<float> sizes(96), areas(96);
  std::vector<int32_t> corners(96);
  for (unsigned i = 0; i < 96; ++i) {
    sizes[i] = 0.5f * static_cast<float>(i);
    areas[i] = i % 3 == 0   ? sizes[i] * sizes[i]
               : i % 3 == 1 ? sizes[i] * 4 * 0.5f
                            : 3.25f * sizes[i] * sizes[i];
    corners[i] = std::array{4, 3, 0}[i % 3];
  }
  ProgramRun program("calls", "virtual_calls", GetParam());
  program.buffer(sizes);
  const size_t to_areas = program.undefined<float>(96), to_corners = program.undefined<int32_t>(96);
  program.run({1, 1, 1}, {96, 1, 1});
  EXPECT_EQ(program.read<float>(to_areas, 96), areas);
  EXPECT_EQ(program.read<int32_t>(to_corners, 96), corners);
}

TEST_P(ProgramCalls, StructuresPassedAndReturned) {
  std::mt19937 random(2);
  std::vector<double> in(64 * 9), expected(64 * 9);
  for (double &x : in)
    x = static_cast<int>(random() % 9) - 4;
  for (unsigned i = 0; i < 64; ++i) {
    const double *m = &in[9 * i];
    std::array<double, 9> power;
    std::copy_n(m, 9, power.begin());
    for (unsigned round = 0; round < (i & 3); ++round) {
      std::array<double, 9> next;
      for (unsigned k = 0; k < 9; ++k) {
        next[k] = -3 + 5 - 1;
        for (unsigned j = 0; j < 3; ++j)
          next[k] += power[k / 3 * 3 + j] * m[j * 3 + k % 3] * 2;
      }
      power = next;
    }
    std::copy(power.begin(), power.end(), &expected[9 * i]);
  }
  ProgramRun program("calls", "matrix_power", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<double>(in.size());
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<double>(out, in.size()), expected);
}

TEST_P(ProgramCalls, AStackThatGrowsAtRunTime) {
  std::vector<uint32_t> in(128), expected(128);
  std::mt19937 random(3);
  for (uint32_t i = 0; i < 128; ++i) {
    in[i] = random() >> i % 30;
    const uint32_t base = 2 + i % 14;
    uint32_t value = in[i];
    do
      expected[i] = expected[i] * base + value % base;
    while (value /= base);
  }
  ProgramRun program("calls", "reversed_digits", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<uint32_t>(128);
  program.run({1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(out, 128), expected);
}

TEST_P(ProgramValues, Sha256OfKnownMessages) {
  // Padded messages and their digests from FIPS 180-2 and RFC 6234: "abc", the empty one.
  std::vector<uint8_t> blocks(64 * 64);
  const std::array<uint32_t, 8> abc = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                       0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  const std::array<uint32_t, 8> empty = {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                                         0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
  std::vector<uint32_t> expected;
  for (unsigned i = 0; i < 64; ++i) {
    uint8_t *block = &blocks[64 * i];
    if (i % 5 == 0)
      std::copy_n("abc\x80", 4, block);
    else
      block[0] = 0x80;
    block[63] = i % 5 == 0 ? 24 : 0;
    const auto &digest = i % 5 == 0 ? abc : empty;
    expected.insert(expected.end(), digest.begin(), digest.end());
  }
  ProgramRun program("values", "sha256", GetParam());
  program.buffer(blocks);
  const size_t digests = program.undefined<uint32_t>(64 * 8);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(digests, 64 * 8), expected);
}

uint16_t bf16_of(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
float float_of(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

TEST_P(ProgramValues, Bf16Pairs) {
  std::mt19937 random(4);
  std::vector<uint16_t> in(128), expected(128);
  std::vector<float> sums(64);
  for (unsigned i = 0; i < 128; ++i) {
    in[i] =
        bf16_of(std::ldexp(static_cast<float>(random() % 2000) - 1000, static_cast<int>(random() % 40) - 20));
    expected[i] = bf16_of(float_of(in[i]) * 0.3f);
  }
  for (unsigned i = 0; i < 64; ++i)
    sums[i] = float_of(in[2 * i]) + float_of(in[2 * i + 1]);
  ProgramRun program("values", "bf16_scale", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<uint16_t>(128), to_sums = program.undefined<float>(64);
  program.value(0.3f);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint16_t>(out, 128), expected);
  EXPECT_EQ(program.read<float>(to_sums, 64), sums);
}

TEST_P(ProgramValues, FloatPairs) {
  std::mt19937 random(5);
  std::vector<float> a(128), b(128), expected(3 * 128);
  for (unsigned i = 0; i < 128; ++i) {
    a[i] = static_cast<float>(random()) * 0x1p-16f - 20000;
    b[i] = static_cast<float>(random()) * 0x1p-20f - 1000;
  }
  for (unsigned i = 0; i < 128; ++i) {
    expected[i] = a[i] + b[i];
    expected[i + 128] = a[i] * b[i ^ 1];
    expected[i + 256] = std::fma(a[i], b[i], -a[i ^ 1]);
  }
  ProgramRun program("values", "packed_floats", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t out = program.undefined<float>(3 * 128);
  program.value<uint32_t>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<float>(out, 3 * 128), expected);
}

/// The float nearest to x with 3 fraction bits and exponents from -6 on (f8 e4m3), ties to even.
float f8_of(float x) {
  const int exponent = std::max(std::ilogb(x), -6);
  return std::ldexp(std::nearbyint(std::ldexp(x, 3 - exponent)), exponent - 3);
}

TEST_P(ProgramValues, F8AndBack) {
  std::mt19937 random(6);
  std::vector<float> in(256), expected(256);
  for (unsigned i = 0; i < 256; ++i) {
    in[i] = std::ldexp(static_cast<float>(random() % 1024 + 1) * (i % 2 ? -1.0f : 1.0f),
                       static_cast<int>(random() % 12) - 14);
    expected[i] = f8_of(in[i]);
  }
  ProgramRun program("values", "f8_round_trip", GetParam());
  program.buffer(in);
  program.undefined<uint32_t>(64);
  const size_t out = program.undefined<float>(256);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<float>(out, 256), expected);
}

TEST_P(ProgramValues, OnePointerOfThreeAddressSpaces) {
  std::vector<int32_t> in(64), expected(64);
  for (int i = 0; i < 64; ++i)
    in[i] = i * i - 40;
  for (int i = 0; i < 64; ++i)
    expected[i] = i % 3 == 0 ? in[i] : i % 3 == 1 ? in[i ^ 1] * 2 : std::array{i, 7, -3, 100}[i % 4];
  ProgramRun program("values", "generic_pointers", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<int32_t>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 64), expected);
}

TEST_P(ProgramValues, DivisionAndSquareRoot) {
  std::mt19937 random(7);
  std::vector<float> in(64 * 5), expected(64 * 5);
  for (float &x : in)
    x = static_cast<float>(random() % 20001) - 10000;
  std::fill_n(in.begin() + 50, 5, 0.0f);
  for (unsigned i = 0; i < 64; ++i) {
    float square = 0;
    for (unsigned k = 0; k < 5; ++k)
      square += in[5 * i + k] * in[5 * i + k];
    for (unsigned k = 0; k < 5; ++k)
      expected[5 * i + k] = square > 0 ? in[5 * i + k] / std::sqrt(square) : 0;
  }
  ProgramRun program("values", "normalised", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<float>(in.size());
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<float>(out, in.size()), expected);
}

TEST_P(ProgramValues, AGlobalVariableStartsAnewWithEveryLaunch) {
  ProgramRun program("values", "global_variable", GetParam());
  const size_t out = program.undefined<uint32_t>(2);
  for (int launch = 0; launch < 2; ++launch) {
    program.run({1, 1, 1}, {192, 1, 1});
    EXPECT_EQ(program.read<uint32_t>(out, 2), (std::vector<uint32_t>{1000 + 3 * 192, 0}));
  }
}

} // namespace
} // namespace nereid::sim::test
