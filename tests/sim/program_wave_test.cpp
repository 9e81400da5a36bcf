// Kernels of tests/sim/programs/wave.cl and matrix.cl: lanes together.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

NEREID_PROGRAMS(ProgramWave);
NEREID_PROGRAMS(ProgramMatrix);

std::vector<int32_t> numbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> result(count);
  for (int32_t &x : result)
    x = static_cast<int32_t>(random() % 101) - 50;
  return result;
}

TEST_P(ProgramWave, BallotsAndRanks) {
  const auto in = numbers(192, 1);
  std::vector<uint64_t> masks(3);
  std::vector<uint32_t> ranks(192);
  std::vector<int32_t> first(192);
  for (unsigned i = 0; i < 192; ++i) {
    ranks[i] = static_cast<uint32_t>(std::popcount(masks[i / 64]));
    masks[i / 64] |= in[i] > 0 ? uint64_t{1} << i % 64 : 0;
  }
  // A rank counts the lanes before this one that are set.
  for (unsigned wave = 0; wave < 3; ++wave) {
    const auto begin = in.begin() + 64 * wave;
    const int32_t large = *std::find_if(begin, begin + 64, [](int32_t x) { return x > 10; });
    for (unsigned lane = 0; lane < 64; ++lane)
      first[64 * wave + lane] = *begin + (begin[lane] > 10 ? large : 0);
  }
  ProgramRun program("wave", "ballots", GetParam());
  program.buffer(in);
  const size_t to_masks = program.undefined<uint64_t>(3), to_ranks = program.undefined<uint32_t>(192),
               to_first = program.undefined<int32_t>(192);
  program.run({1, 1, 1}, {192, 1, 1});
  EXPECT_EQ(program.read<uint64_t>(to_masks, 3), masks);
  EXPECT_EQ(program.read<uint32_t>(to_ranks, 192), ranks);
  EXPECT_EQ(program.read<int32_t>(to_first, 192), first);
}

TEST_P(ProgramWave, MovesBetweenLanes) {
  const auto in = numbers(64, 2);
  std::vector<int32_t> expected(9 * 64);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const unsigned in_row = lane % 16, bank = in_row / 4, row = lane / 16;
    const int32_t *x = in.data();
    auto put = [&](unsigned k, unsigned to, int32_t value) { expected[64 * k + to] = value; };
    put(0, lane, x[17]);
    put(1, lane, x[(lane * 5 + 3) % 64]);
    put(2, (lane * 5 + 3) % 64, x[lane]);
    put(3, lane, x[lane ^ 1]);
    put(4, lane, x[lane ^ 3]);
    put(5, lane, in_row ? x[lane - 1] : -1);
    put(6, lane, x[lane ^ 15]);
    put(7, lane, row % 2 == 0 && bank < 2 ? x[16 * row + (in_row + 4) % 16] : -1);
    put(8, lane, row ? x[16 * row - 1] : 0);
  }
  ProgramRun program("wave", "lane_moves", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<int32_t>(expected.size());
  program.value<uint32_t>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, expected.size()), expected);
}

TEST_P(ProgramWave, AScanInRegisters) {
  const auto in = numbers(128, 3);
  std::vector<int32_t> scans(128), sums(2);
  for (unsigned i = 0; i < 128; ++i)
    scans[i] = sums[i / 64] += in[i];
  ProgramRun program("wave", "wave_sums", GetParam());
  program.buffer(in);
  const size_t to_scans = program.undefined<int32_t>(128), to_sums = program.undefined<int32_t>(2);
  program.run({1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(program.read<int32_t>(to_scans, 128), scans);
  EXPECT_EQ(program.read<int32_t>(to_sums, 2), sums);
}

TEST_P(ProgramWave, RowsThatAreExchanged) {
  std::vector<uint32_t> in(64), expected(4 * 64);
  for (uint32_t i = 0; i < 64; ++i)
    in[i] = 1000 + i;
  for (uint32_t lane = 0; lane < 64; ++lane) {
    // The odd rows (the upper half) of the first trade places with the even rows (the lower half) of the
    // second.
    for (const uint32_t distance : {16, 32}) {
      const bool upper = lane & distance;
      expected[(distance == 32 ? 128 : 0) + lane] = upper ? 3 * in[lane - distance] : in[lane];
      expected[(distance == 32 ? 192 : 64) + lane] = upper ? 3 * in[lane] : in[lane + distance];
    }
  }
  ProgramRun program("wave", "lane_swaps", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<uint32_t>(expected.size());
  program.value<uint32_t>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(out, expected.size()), expected);
}

TEST_P(ProgramWave, ALoopOverTheKeysOfAWave) {
  const auto values = numbers(128, 4);
  std::vector<uint32_t> keys(128);
  std::vector<int32_t> expected(128);
  std::map<std::pair<unsigned, uint32_t>, int32_t> sums;
  for (unsigned i = 0; i < 128; ++i) {
    keys[i] = i * 13 % 17 % 6;
    sums[{i / 64, keys[i]}] += values[i];
  }
  for (unsigned i = 0; i < 128; ++i)
    expected[i] = sums[{i / 64, keys[i]}];
  ProgramRun program("wave", "sums_by_key", GetParam());
  program.buffer(keys);
  program.buffer(values);
  const size_t out = program.undefined<int32_t>(128);
  program.run({2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 128), expected);
}

/// f16 bits of a small integer.
uint16_t half_bits(int x) {
  if (x == 0)
    return 0;
  const int exponent = std::ilogb(static_cast<float>(x));
  return static_cast<uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                               ((std::abs(x) << 10 >> exponent) & 0x3FF));
}
std::vector<uint16_t> half_bits(const std::vector<int32_t> &values) {
  std::vector<uint16_t> result;
  for (const int32_t x : values)
    result.push_back(half_bits(x));
  return result;
}

/// C = A B transposed, rows of k elements; sums are exact.
template <class T>
std::vector<T> product(const std::vector<int32_t> &a, const std::vector<int32_t> &b, size_t k,
                       size_t columns) {
  const size_t rows = a.size() / k;
  std::vector<T> c(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      for (size_t at = 0; at < k; ++at)
        c[i * columns + j] += static_cast<T>(a[i * k + at] * b[j * k + at]);
  return c;
}

TEST_P(ProgramMatrix, OneTileOfHalves) {
  constexpr uint32_t k = 96;
  const auto a = numbers(16 * k, 5), b = numbers(16 * k, 6);
  ProgramRun program("matrix", "product_f16", GetParam());
  program.buffer(half_bits(a));
  program.buffer(half_bits(b));
  const size_t c = program.undefined<float>(256);
  program.value(k);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<float>(c, 256), product<float>(a, b, k, 16));
}

TEST_P(ProgramMatrix, BlocksOfHalvesThroughLds) {
  constexpr uint32_t m = 128, n = 64, k = 96;
  const auto a = numbers(m * k, 7), b = numbers(n * k, 8);
  ProgramRun program("matrix", "block_product_f16", GetParam());
  program.buffer(half_bits(a));
  program.buffer(half_bits(b));
  const size_t c = program.undefined<float>(m * n);
  program.value(n);
  program.value(k);
  program.run({n / 64, m / 64, 1}, {256, 1, 1});
  EXPECT_EQ(program.read<float>(c, m * n), product<float>(a, b, k, n));
}

TEST_P(ProgramMatrix, Bytes) {
  const auto a = numbers(16 * 64, 9), b = numbers(16 * 64, 10), start = numbers(256, 11);
  auto expected = product<int32_t>(a, b, 64, 16);
  for (size_t i = 0; i < 256; ++i)
    expected[i] += start[i];
  ProgramRun program("matrix", "product_i8", GetParam());
  program.buffer(std::vector<int8_t>(a.begin(), a.end()));
  program.buffer(std::vector<int8_t>(b.begin(), b.end()));
  const size_t c = program.buffer(start);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(c, 256), expected);
}

TEST_P(ProgramMatrix, Doubles) {
  constexpr uint32_t k = 20;
  const auto a = numbers(16 * k, 12), b = numbers(16 * k, 13);
  ProgramRun program("matrix", "product_f64", GetParam());
  program.buffer(std::vector<double>(a.begin(), a.end()));
  program.buffer(std::vector<double>(b.begin(), b.end()));
  const size_t c = program.undefined<double>(256);
  program.value(k);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<double>(c, 256), product<double>(a, b, k, 16));
}

TEST_P(ProgramMatrix, ScaledFourBitFloats) {
  const float values[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0f, -0.5, -1, -1.5, -2, -3, -4, -6};
  std::mt19937 random(14);
  std::vector<uint8_t> a(16 * 64), b(16 * 64), scale_a(64), scale_b(64);
  for (auto *codes : {&a, &b})
    for (uint8_t &pair : *codes)
      pair = static_cast<uint8_t>(random());
  for (auto *scales : {&scale_a, &scale_b})
    for (uint8_t &scale : *scales)
      scale = static_cast<uint8_t>(125 + random() % 5);
  auto value = [&](const std::vector<uint8_t> &codes, const std::vector<uint8_t> &scales, size_t row,
                   size_t k) {
    const uint8_t pair = codes[64 * row + k / 2];
    return std::ldexp(values[k % 2 ? pair >> 4 : pair & 15], scales[4 * row + k / 32] - 127);
  };
  std::vector<float> expected(256);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 16; ++j)
      for (size_t k = 0; k < 128; ++k)
        expected[16 * i + j] += value(a, scale_a, i, k) * value(b, scale_b, j, k);
  ProgramRun program("matrix", "product_mxfp4", GetParam());
  program.buffer(a);
  program.buffer(b);
  program.buffer(scale_a);
  program.buffer(scale_b);
  const size_t c = program.undefined<float>(256);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<float>(c, 256), expected);
}

} // namespace
} // namespace nereid::sim::test
