// Kernels of tests/sim/programs/lds.cl and atomics.cpp: work-items that share memory.

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

NEREID_PROGRAMS(ProgramLds);
NEREID_PROGRAMS(ProgramAtomics);

template <class T> std::vector<T> random_numbers(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result(count);
  for (T &x : result)
    x = static_cast<T>(random());
  return result;
}
/// Small integers as floats: sums of them are exact in any order.
std::vector<float> whole_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result(count);
  for (float &x : result)
    x = static_cast<float>(static_cast<int>(random() % 201) - 100);
  return result;
}

TEST_P(ProgramLds, ATreeOfSums) {
  const auto in = random_numbers<int32_t>(5000, 1);
  std::vector<int32_t> expected(4);
  for (size_t i = 0; i < in.size(); ++i)
    expected[i / 256 % 4] =
        static_cast<int32_t>(static_cast<uint32_t>(expected[i / 256 % 4]) + static_cast<uint32_t>(in[i]));
  ProgramRun program("lds", "block_sum", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<int32_t>(4);
  program.value<uint32_t>(5000);
  program.run({4, 1, 1}, {256, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 4), expected);
}

TEST_P(ProgramLds, TilesThatAreTransposed) {
  constexpr uint32_t rows = 70, columns = 45;
  const auto in = whole_floats(rows * columns, 2);
  std::vector<float> expected(in.size());
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x)
      expected[x * rows + y] = in[y * columns + x];
  ProgramRun program("lds", "transpose", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<float>(in.size());
  program.value(rows);
  program.value(columns);
  program.run({2, 3, 1}, {32, 8, 1});
  EXPECT_EQ(program.read<float>(out, in.size()), expected);
}

TEST_P(ProgramLds, AScanOfEightWaves) {
  const auto in = random_numbers<uint32_t>(1024, 3);
  std::vector<uint32_t> expected(1024);
  std::partial_sum(in.begin(), in.begin() + 512, expected.begin());
  std::partial_sum(in.begin() + 512, in.end(), expected.begin() + 512);
  ProgramRun program("lds", "inclusive_scan", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<uint32_t>(1024);
  program.run({2, 1, 1}, {512, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(out, 1024), expected);
}

TEST_P(ProgramLds, ASortingNetwork) {
  const auto in = random_numbers<int32_t>(1024, 4);
  std::vector<int32_t> expected = in;
  std::sort(expected.begin(), expected.begin() + 512);
  std::sort(expected.begin() + 512, expected.end());
  ProgramRun program("lds", "bitonic_sort", GetParam());
  const size_t data = program.buffer(in);
  program.run({2, 1, 1}, {256, 1, 1});
  EXPECT_EQ(program.read<int32_t>(data, 1024), expected);
}

TEST_P(ProgramLds, AMatrixProductOfTiles) {
  constexpr uint32_t n = 48;
  const auto a = whole_floats(n * n, 5), b = whole_floats(n * n, 6);
  std::vector<float> expected(n * n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j)
      for (uint32_t k = 0; k < n; ++k)
        expected[i * n + j] += a[i * n + k] * b[k * n + j];
  ProgramRun program("lds", "matrix_product", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t c = program.undefined<float>(n * n);
  program.value(n);
  program.run({3, 3, 1}, {16, 16, 1});
  EXPECT_EQ(program.read<float>(c, n * n), expected);
}

TEST_P(ProgramLds, DynamicLdsBeginsWhereTheArgumentSays) {
  const auto in = random_numbers<uint16_t>(501, 7);
  const std::vector<uint16_t> expected(in.rbegin(), in.rend());
  ProgramRun program("lds", "reverse_dynamic", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<uint16_t>(in.size());
  program.value<uint32_t>(64);
  program.value<uint32_t>(501);
  program.launch.dynamic_lds = 64 + 1002;
  program.run({1, 1, 1}, {96, 1, 1});
  EXPECT_EQ(program.read<uint16_t>(out, in.size()), expected);
}

TEST_P(ProgramLds, RecordsOfMixedFields) {
  struct Color {
    uint16_t x, y, z, unused;
  };
  struct Record {
    uint8_t tag;
    double weight;
    Color color;
  };
  std::vector<Record> in(64);
  std::vector<double> weights(64);
  std::vector<uint32_t> colors(64);
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned tag = (i * 29 + 5) % 64;
    in[i] = {static_cast<uint8_t>(tag),
             i * 1.25 - 7,
             {static_cast<uint16_t>(i), static_cast<uint16_t>(2 * i), 3, 0}};
    weights[tag] = in[i].weight * 2;
    colors[tag] = i + 256 * 2 * i + 65536 * 3;
  }
  ProgramRun program("lds", "records_by_tag", GetParam());
  program.buffer(in);
  const size_t to_weights = program.undefined<double>(64), to_colors = program.undefined<uint32_t>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<double>(to_weights, 64), weights);
  EXPECT_EQ(program.read<uint32_t>(to_colors, 64), colors);
}

TEST_P(ProgramAtomics, IntegersOfTheWholeGrid) {
  auto in = random_numbers<uint32_t>(512, 8);
  in[300] = 0x12345678;
  std::vector<uint32_t> expected = {5, 6, ~0u, 0, ~0u, 0, 1, 0x7FFFFFFF, 0x80000000, 8, 9};
  std::vector<uint32_t> start = expected;
  for (const uint32_t x : in) {
    expected[0] += x & 0xFF;
    expected[1] -= x & 0xF;
    expected[2] = std::min(expected[2], x);
    expected[3] = std::max(expected[3], x);
    expected[4] &= x | 0xF0F0;
    expected[5] |= x & 0x00FF00FF;
    expected[6] ^= x;
    expected[7] = static_cast<uint32_t>(std::min(static_cast<int32_t>(expected[7]), static_cast<int32_t>(x)));
    expected[8] = static_cast<uint32_t>(std::max(static_cast<int32_t>(expected[8]), static_cast<int32_t>(x)));
  }
  expected[9] = 9;
  expected[10] = 77;
  ProgramRun program("atomics", "integer_atomics", GetParam());
  program.buffer(in);
  const size_t out = program.buffer(start);
  program.run({4, 1, 1}, {128, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(out, start.size()), expected);
}

TEST_P(ProgramAtomics, WideIntegersAndDoubles) {
  const auto in = random_numbers<int64_t>(256, 9);
  std::vector<int64_t> expected = {0, in[0], 0};
  double total = 0.5;
  for (const int64_t x : in) {
    expected[0] = static_cast<int64_t>(static_cast<uint64_t>(expected[0]) + static_cast<uint64_t>(x));
    expected[1] = std::max(expected[1], x);
    expected[2] ^= x;
    total += static_cast<double>(x % 1024);
  }
  ProgramRun program("atomics", "wide_atomics", GetParam());
  program.buffer(in);
  const size_t sums = program.buffer(std::vector<int64_t>{0, std::numeric_limits<int64_t>::min(), 0});
  const size_t to_total = program.buffer(std::vector<double>{0.5});
  program.run({4, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int64_t>(sums, 3), expected);
  EXPECT_EQ(program.read<double>(to_total, 1)[0], total);
}

TEST_P(ProgramAtomics, FloatsAndALoopOfCompareAndExchange) {
  const auto in = whole_floats(512, 10);
  ProgramRun program("atomics", "float_atomics", GetParam());
  program.buffer(in);
  const size_t out = program.buffer(std::vector<float>{0.25f, -1000});
  program.run({8, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<float>(out, 2), (std::vector<float>{std::accumulate(in.begin(), in.end(), 0.25f),
                                                             *std::max_element(in.begin(), in.end())}));
}

TEST_P(ProgramAtomics, AHistogramInLds) {
  const auto in = random_numbers<uint8_t>(3001, 11);
  std::vector<uint32_t> expected(64);
  for (const uint8_t x : in)
    ++expected[x % 64];
  ProgramRun program("atomics", "histogram", GetParam());
  program.buffer(in);
  const size_t out = program.buffer(std::vector<uint32_t>(64));
  program.value<uint32_t>(3001);
  program.run({2, 1, 1}, {256, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(out, 64), expected);
}

TEST_P(ProgramAtomics, FloatsAndWideIntegersInLds) {
  std::vector<float> in(256);
  for (unsigned i = 0; i < 256; ++i)
    in[i] = static_cast<float>(i * 37 % 128);
  ProgramRun program("atomics", "shared_atomics", GetParam());
  program.buffer(in);
  const size_t total = program.undefined<float>(2), largest = program.undefined<uint64_t>(2),
               owners = program.undefined<int32_t>(2);
  program.run({2, 1, 1}, {128, 1, 1});
  std::vector<int32_t> winner(2);
  std::vector<uint64_t> key(2);
  for (unsigned i = 0; i < 256; ++i)
    if (in[i] == 127) {
      winner[i / 128] = static_cast<int32_t>(i % 128);
      key[i / 128] = uint64_t{127} << 32 | i % 128;
    }
  EXPECT_EQ(program.read<float>(total, 2), (std::vector<float>{8128, 8128}));
  EXPECT_EQ(program.read<uint64_t>(largest, 2), key);
  EXPECT_EQ(program.read<int32_t>(owners, 2), winner);
}

TEST_P(ProgramAtomics, AListThatWorkItemsAppendTo) {
  const auto in = random_numbers<uint32_t>(700, 12);
  std::vector<uint32_t> expected;
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](uint32_t x) { return x % 7 == 0; });
  ProgramRun program("atomics", "filter", GetParam());
  program.buffer(in);
  const size_t list = program.undefined<uint32_t>(700), length = program.buffer(std::vector<uint32_t>{0});
  program.value<uint32_t>(700);
  program.run({6, 1, 1}, {128, 1, 1});
  ASSERT_EQ(program.read<uint32_t>(length, 1)[0], expected.size());
  auto found = program.read<uint32_t>(list, expected.size());
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST_P(ProgramAtomics, TheLastWorkgroupAddsWhatTheOthersLeft) {
  std::vector<int32_t> in(40 * 64);
  std::iota(in.begin(), in.end(), -500);
  ProgramRun program("atomics", "sum_by_last_arrival", GetParam());
  program.buffer(in);
  program.undefined<int32_t>(40);
  const size_t arrived = program.buffer(std::vector<uint32_t>{0}), out = program.undefined<int32_t>(1);
  program.value<uint32_t>(40);
  program.run({40, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 1)[0], std::accumulate(in.begin(), in.end(), 0));
  EXPECT_EQ(program.read<uint32_t>(arrived, 1)[0], 0u);
}

} // namespace
} // namespace nereid::sim::test
