// Kernels of tests/sim/programs/loops.cl and private.cl: control flow and private arrays.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

NEREID_PROGRAMS(ProgramLoops);
NEREID_PROGRAMS(ProgramPrivate);

TEST_P(ProgramLoops, LanesLeaveAWhileLoopOneByOne) {
  std::vector<uint32_t> start(200), expected(200);
  for (uint32_t i = 0; i < 200; ++i) {
    start[i] = 3 * i + 1;
    for (uint64_t value = start[i]; value != 1; value = value % 2 ? 3 * value + 1 : value / 2)
      ++expected[i];
  }
  ProgramRun program("loops", "collatz_steps", GetParam());
  program.buffer(start);
  const size_t steps = program.undefined<uint32_t>(200);
  program.value<uint32_t>(200);
  program.run({4, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(steps, 200), expected);
}

TEST_P(ProgramLoops, BreakAndContinueInNestedLoops) {
  std::vector<uint32_t> expected(128);
  for (uint32_t number = 2; number < 128 * 16; ++number) {
    uint32_t divisor = 2;
    while (number % divisor)
      ++divisor;
    expected[number / 16] += divisor == number;
  }
  ProgramRun program("loops", "prime_counts", GetParam());
  const size_t primes = program.undefined<uint32_t>(128);
  program.run({1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(primes, 128), expected);
}

int32_t nested_branches(int32_t x) {
  if (x < -100)
    return x % 2 ? -x : x / 3;
  if (x < 0)
    return x * x - (x * x > 2500 ? 7 : 0) + (x * x <= 2500 && x * x > 400 ? 11 : 0);
  if (x <= 50)
    return x == 0 ? 1000 : 1000 / x;
  int32_t y = 0;
  do {
    y += x % 16;
    x /= 2;
    if (x == 21)
      return y;
  } while (x > 3);
  return y ^ 0x55;
}

TEST_P(ProgramLoops, NestedBranchesAndAJumpOutOfALoop) {
  std::vector<int32_t> in(512), expected(512);
  for (int i = 0; i < 512; ++i) {
    in[i] = (i * 37) % 512 - 200;
    expected[i] = nested_branches(in[i]);
  }
  ProgramRun program("loops", "nested_branches", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<int32_t>(512);
  program.run({2, 1, 1}, {256, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 512), expected);
}

int32_t interpret(const std::vector<uint8_t> &code, uint32_t at, int32_t top) {
  int32_t below = 1;
  for (int step = 0; step < 100; ++step) {
    const uint8_t operation = code[at++];
    if (operation == 0)
      return top;
    if (operation == 1)
      top += below;
    else if (operation == 2)
      top -= below;
    else if (operation == 3)
      top *= 3;
    else if (operation == 4)
      std::swap(top, below);
    else if (operation == 5)
      below = static_cast<int8_t>(code[at++]);
    else if (operation == 6)
      at += top % 2 ? 2 : 0;
    else if (operation == 7)
      top = (top ^ below * 8) >> 1;
    else if (operation == 8)
      top >>= 1;
    else
      at = operation - 9;
  }
  return -1;
}

TEST_P(ProgramLoops, ASwitchWhoseLanesRunDifferentPrograms) {
  const std::vector<uint8_t> code = {
      5,      7,   1, 3, 0,                     // (x + 7) * 3
      5,      250, 2, 7, 4, 0,                  // exchanges
      6,      3,   3, 8, 5, 3, 1, 9 + 22,       // three ways that meet
      9 + 19, 1,   1, 8, 8, 0,                  // an endless loop before it
      4,      3,   3, 4, 1, 7, 6, 0,      0, 0, // ends early or late
  };
  const std::vector<uint32_t> entries = {0, 5, 11, 19, 25, 12};
  std::vector<uint32_t> start(256);
  std::vector<int32_t> expected(256);
  for (uint32_t i = 0; i < 256; ++i) {
    start[i] = entries[(i * 7 + i / 64) % entries.size()];
    expected[i] = interpret(code, start[i], static_cast<int32_t>(i));
  }
  ProgramRun program("loops", "bytecode", GetParam());
  program.buffer(code);
  program.buffer(start);
  const size_t out = program.undefined<int32_t>(256);
  program.run({1, 1, 1}, {256, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, 256), expected);
}

TEST_P(ProgramLoops, AFloatLoopOnATwoDimensionalGrid) {
  constexpr uint32_t width = 32, height = 24, limit = 60;
  std::vector<uint32_t> expected;
  for (uint32_t row = 0; row < height; ++row)
    for (uint32_t column = 0; column < width; ++column) {
      const float a = -2.25f + 0.1f * static_cast<float>(column), b = -1.25f + 0.1f * static_cast<float>(row);
      float x = 0, y = 0;
      uint32_t n = 0;
      for (; n < limit && x * x + y * y <= 4.0f; ++n) {
        const float next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
      }
      expected.push_back(n);
    }
  ProgramRun program("loops", "mandelbrot", GetParam());
  const size_t steps = program.undefined<uint32_t>(width * height);
  program.value(-2.25f);
  program.value(-1.25f);
  program.value(0.1f);
  program.value(width);
  program.value(limit);
  program.run({width / 16, height / 8, 1}, {16, 8, 1});
  EXPECT_EQ(program.read<uint32_t>(steps, width * height), expected);
}

TEST_P(ProgramLoops, LoopsOnWideIntegers) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> a(128), b(128), expected(128);
  for (size_t i = 0; i < 128; ++i) {
    const uint64_t common = random() >> 40 | 1;
    a[i] = common * ((random() >> 40) + 1) << i % 9;
    b[i] = common * ((random() >> 40) + 1) << i % 4;
    expected[i] = std::gcd(a[i], b[i]);
  }
  ProgramRun program("loops", "binary_gcd", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t out = program.undefined<uint64_t>(128);
  program.run({2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint64_t>(out, 128), expected);
}

TEST_P(ProgramPrivate, ArraysIndexedByEveryLaneForItself) {
  constexpr uint32_t length = 24;
  std::mt19937 random(4);
  std::vector<int32_t> in(128 * length);
  for (int32_t &x : in)
    x = static_cast<int32_t>(random()) >> 20;
  std::vector<int32_t> expected = in;
  for (auto row = expected.begin(); row != expected.end(); row += length)
    std::sort(row, row + length);
  ProgramRun program("private", "insertion_sort", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<int32_t>(in.size());
  program.value(length);
  program.run({2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(out, in.size()), expected);
}

double determinant(const double *in) {
  double m[6][6], product = 1;
  std::copy_n(in, 36, m[0]);
  for (unsigned step = 0; step < 6; ++step) {
    unsigned best = step;
    for (unsigned row = step + 1; row < 6; ++row)
      if (std::fabs(m[row][step]) > std::fabs(m[best][step]))
        best = row;
    if (m[best][step] == 0)
      return 0;
    if (best != step) {
      product = -product;
      std::swap_ranges(m[step], m[step] + 6, m[best]);
    }
    product *= m[step][step];
    for (unsigned row = step + 1; row < 6; ++row) {
      const double factor = m[row][step] / m[step][step];
      for (unsigned column = step; column < 6; ++column)
        m[row][column] -= factor * m[step][column];
    }
  }
  return product;
}

TEST_P(ProgramPrivate, MatricesOfDoubles) {
  std::mt19937 random(5);
  std::vector<double> in(64 * 36), expected(64);
  for (double &x : in)
    x = static_cast<int32_t>(random() % 19) - 9;
  for (unsigned k = 0; k < 6; ++k)
    in[36 * 5 + 6 * 2 + k] = 2 * in[36 * 5 + 6 * 4 + k]; // a singular one
  for (unsigned i = 0; i < 64; ++i)
    expected[i] = determinant(&in[36 * i]);
  ProgramRun program("private", "determinants", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<double>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<double>(out, 64), expected);
}

TEST_P(ProgramPrivate, AQueueOfBytes) {
  std::mt19937_64 random(6);
  std::vector<uint64_t> walls(64);
  for (uint64_t &maze : walls)
    maze = random() & random();
  std::vector<uint8_t> expected(64 * 64, 255);
  for (size_t i = 0; i < 64; ++i) {
    uint8_t *distance = &expected[64 * i];
    distance[0] = 0;
    // As many rounds as the longest way may have.
    for (int round = 0; round < 64; ++round)
      for (int cell = 0; cell < 64; ++cell)
        for (const int next : {cell % 8 ? cell - 1 : cell, cell % 8 != 7 ? cell + 1 : cell,
                               cell >= 8 ? cell - 8 : cell, cell < 56 ? cell + 8 : cell})
          if (distance[next] != 255 && distance[next] + 1 < distance[cell] &&
              !((walls[i] & ~1ull) >> cell & 1))
            distance[cell] = static_cast<uint8_t>(distance[next] + 1);
  }
  ProgramRun program("private", "maze_distances", GetParam());
  program.buffer(walls);
  const size_t out = program.undefined<uint8_t>(expected.size());
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint8_t>(out, expected.size()), expected);
}

} // namespace
} // namespace nereid::sim::test
