// Kernels of tests/sim/programs/wide.cl, small.cl, bits.cl and grids.cl: numbers of every width.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "tests/sim/program_runner.h"

namespace nereid::sim::test {
namespace {

NEREID_PROGRAMS(ProgramWide);
NEREID_PROGRAMS(ProgramSmall);
NEREID_PROGRAMS(ProgramBits);
NEREID_PROGRAMS(ProgramGrids);

/// Numbers of all magnitudes.
template <class T> std::vector<T> spread(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result(count);
  for (T &x : result)
    x = static_cast<T>(static_cast<int64_t>(random()) >> random() % 60);
  return result;
}

/// Runs a kernel of (a, b, out, count) whose out[k * count + i] is the k-th of `results` of a[i] and b[i].
template <class T, class R, class F>
void expect_rows(const std::string &source, const std::string &kernel, const std::string &level,
                 const std::vector<T> &a, const std::vector<T> &b, size_t rows, F results) {
  const size_t count = a.size();
  ProgramRun program(source, kernel, level);
  program.buffer(a);
  program.buffer(b);
  const size_t out = program.undefined<R>(rows * count);
  program.value(static_cast<uint32_t>(count));
  program.run({static_cast<uint32_t>(count / 64), 1, 1}, {64, 1, 1});
  const auto found = program.read<R>(out, rows * count);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<R> expected = results(a[i], b[i], i);
    ASSERT_EQ(expected.size(), rows);
    for (size_t k = 0; k < rows; ++k)
      ASSERT_EQ(found[k * count + i], expected[k]) << "result " << k << " of work-item " << i;
  }
}

TEST_P(ProgramWide, Integers) {
  auto a = spread<int64_t>(256, 1), b = spread<int64_t>(256, 2);
  for (int64_t &x : b)
    x = x == 0 || x == -1 ? 3 : x;
  expect_rows<int64_t, int64_t>("wide", "wide_integers", GetParam(), a, b, 11,
                                [](int64_t x, int64_t y, size_t) {
                                  const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
                                  return std::vector<int64_t>{static_cast<int64_t>(ux * uy),
                                                              x / y,
                                                              x % y,
                                                              static_cast<int64_t>(ux / uy),
                                                              static_cast<int64_t>(ux % uy),
                                                              static_cast<int64_t>(ux << uy % 64),
                                                              x >> uy % 64,
                                                              static_cast<int64_t>(ux >> uy % 64),
                                                              std::min(x, y),
                                                              static_cast<int64_t>((ux + uy) ^ (ux - uy)),
                                                              x / 1000003 + x % 7};
                                });
}

TEST_P(ProgramWide, ProductsOf128Bits) {
  const auto a = spread<uint64_t>(128, 3), b = spread<uint64_t>(128, 4);
  ProgramRun program("wide", "wide_products", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t low = program.undefined<uint64_t>(128), high = program.undefined<uint64_t>(128),
               shifted = program.undefined<uint64_t>(128);
  program.run({1, 1, 1}, {128, 1, 1});
  __extension__ using Wide = unsigned __int128;
  std::vector<uint64_t> lows, highs, shifts;
  for (size_t i = 0; i < 128; ++i) {
    const Wide product = static_cast<Wide>(a[i]) * b[i];
    lows.push_back(static_cast<uint64_t>(product));
    highs.push_back(static_cast<uint64_t>(product >> 64));
    shifts.push_back(static_cast<uint64_t>(product >> b[i] % 128));
  }
  EXPECT_EQ(program.read<uint64_t>(low, 128), lows);
  EXPECT_EQ(program.read<uint64_t>(high, 128), highs);
  EXPECT_EQ(program.read<uint64_t>(shifted, 128), shifts);
}

TEST_P(ProgramWide, Doubles) {
  std::mt19937_64 random(5);
  std::vector<double> a(128), b(128);
  for (auto *side : {&a, &b})
    for (double &x : *side)
      x = std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                     static_cast<int>(random() % 40) - 75);
  expect_rows<double, double>("wide", "doubles", GetParam(), a, b, 11, [](double x, double y, size_t i) {
    return std::vector<double>{x + y,
                               x * y,
                               x / y,
                               std::fma(x, y, x),
                               std::sqrt(std::fabs(x)),
                               std::floor(x) + std::trunc(y) - std::nearbyint(x) + std::ceil(y),
                               std::min(x, y) - std::max(x, y),
                               static_cast<double>(static_cast<float>(x)),
                               static_cast<double>(static_cast<int64_t>(x * 0.001)) +
                                   static_cast<double>(static_cast<uint64_t>(std::fabs(y))),
                               x > y ? x - y : -x,
                               std::ldexp(x, static_cast<int>(i % 64) - 32)};
  });
}

TEST_P(ProgramWide, APolynomialWithATableInConstantMemory) {
  const double coefficients[8] = {0.5, -1.25, 3.0, 0.0625, -7.5, 2.0, 0.125, -0.75};
  std::vector<double> in(64), expected(64);
  for (unsigned i = 0; i < 64; ++i) {
    in[i] = i * 0.37 - 11;
    for (unsigned k = 8; k-- > 0;)
      expected[i] = expected[i] * in[i] + coefficients[(k + i) % 8];
  }
  ProgramRun program("wide", "polynomial", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<double>(64);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<double>(out, 64), expected);
}

TEST_P(ProgramSmall, Bytes) {
  const auto rgb = spread<uint8_t>(300, 6);
  std::vector<uint8_t> expected(100);
  for (unsigned i = 0; i < 100; ++i)
    expected[i] =
        static_cast<uint8_t>((77u * rgb[3 * i] + 150u * rgb[3 * i + 1] + 29u * rgb[3 * i + 2]) / 256);
  ProgramRun program("small", "gray_of_rgb", GetParam());
  program.buffer(rgb);
  const size_t gray = program.undefined<uint8_t>(100);
  program.value<uint32_t>(100);
  program.run({2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint8_t>(gray, 100), expected);
}

TEST_P(ProgramSmall, FieldsOfPackedRecords) {
  constexpr size_t size = 15, count = 64;
  const auto in = spread<uint8_t>(size * count, 7);
  std::vector<uint8_t> expected = in;
  std::vector<int64_t> sums(count);
  for (size_t i = 0; i < count; ++i) {
    uint8_t *record = &expected[size * i];
    int8_t a;
    int16_t b;
    uint32_t c;
    int64_t d;
    std::memcpy(&a, record, 1);
    std::memcpy(&b, record + 1, 2);
    std::memcpy(&c, record + 3, 4);
    std::memcpy(&d, record + 7, 8);
    sums[i] = static_cast<int64_t>(static_cast<uint64_t>(d) + static_cast<uint64_t>(int64_t{a} + b) +
                                   static_cast<uint64_t>(int64_t{static_cast<int32_t>(c)}));
    a = static_cast<int8_t>(-a);
    b = static_cast<int16_t>(b * 3);
    c ^= 0x01010101;
    d >>= 3;
    std::memcpy(record, &a, 1);
    std::memcpy(record + 1, &b, 2);
    std::memcpy(record + 3, &c, 4);
    std::memcpy(record + 7, &d, 8);
  }
  ProgramRun program("small", "packed_fields", GetParam());
  program.buffer(in);
  const size_t to_sums = program.undefined<int64_t>(count), out = program.undefined<uint8_t>(size * count);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int64_t>(to_sums, count), sums);
  EXPECT_EQ(program.read<uint8_t>(out, size * count), expected);
}

int16_t saturated(int x) { return static_cast<int16_t>(std::clamp(x, -32768, 32767)); }

TEST_P(ProgramSmall, ShortsThatSaturate) {
  auto a = spread<int16_t>(128, 8), b = spread<int16_t>(128, 9);
  a[0] = b[0] = b[1] = -32768;
  a[1] = 32767;
  expect_rows<int16_t, int16_t>("small", "short_saturation", GetParam(), a, b, 4, [](int x, int y, size_t) {
    return std::vector<int16_t>{saturated(x + y), saturated(x - y), static_cast<int16_t>((x * y) >> 15),
                                static_cast<int16_t>(std::max(x, y))};
  });
}

TEST_P(ProgramSmall, VectorsOfBytes) {
  const auto a = spread<uint8_t>(256, 10);
  const auto b = spread<int8_t>(256, 11);
  std::vector<int32_t> dots(64);
  std::vector<uint8_t> mixed(256);
  for (unsigned i = 0; i < 64; ++i) {
    const uint8_t *x = &a[4 * i];
    for (unsigned k = 0; k < 4; ++k)
      dots[i] += x[k] * b[4 * i + k];
    mixed[4 * i] = x[3];
    mixed[4 * i + 1] = static_cast<uint8_t>(x[0] + x[1]);
    mixed[4 * i + 2] = x[2] >> 2;
    mixed[4 * i + 3] = x[0] ^ x[3];
  }
  ProgramRun program("small", "byte_vectors", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t to_dots = program.undefined<int32_t>(64), to_mixed = program.undefined<uint8_t>(256);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<int32_t>(to_dots, 64), dots);
  EXPECT_EQ(program.read<uint8_t>(to_mixed, 256), mixed);
}

/// Numbers that f16 holds: i / 8.
double half_number(uint64_t random) {
  return static_cast<double>(static_cast<int64_t>(random % 4001) - 2000) / 8;
}

/// The nearest f16 of a normal number below 65520, ties to even.
uint16_t half_of(double x) {
  if (x == 0)
    return std::signbit(x) ? 0x8000 : 0;
  const int exponent = std::max(std::ilogb(x), -14);
  const double fraction = std::nearbyint(std::ldexp(std::fabs(x), 10 - exponent));
  const int bits = static_cast<int>(fraction) + ((exponent + 14) << 10);
  return static_cast<uint16_t>(bits | (std::signbit(x) ? 0x8000 : 0));
}
double of_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  const double x = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -x : x;
}
double rounded(double x) { return of_half(half_of(x)); }

std::vector<uint16_t> halves(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<uint16_t> result(count);
  for (uint16_t &x : result)
    x = half_of(half_number(random()) / 4);
  return result;
}

TEST_P(ProgramSmall, Halves) {
  expect_rows<uint16_t, uint16_t>(
      "small", "halves", GetParam(), halves(128, 12), halves(128, 13), 6, [](uint16_t a, uint16_t b, size_t) {
        const double x = of_half(a), y = of_half(b);
        return std::vector<uint16_t>{
            half_of(x + y),          half_of(rounded(x * y) - x),  half_of(x * y + y),
            half_of(std::min(x, y)), half_of(static_cast<int>(x)), half_of(x * y)};
      });
}

TEST_P(ProgramSmall, PairsOfHalves) {
  constexpr size_t count = 64;
  const auto a = halves(2 * count, 14), b = halves(2 * count, 15);
  std::vector<uint16_t> expected(4 * 2 * count);
  for (size_t i = 0; i < 2 * count; ++i) {
    const double x = of_half(a[i]), y = of_half(b[i]), other = of_half(b[i ^ 1]);
    expected[i] = half_of(x + y);
    expected[i + 2 * count] = half_of(x * y);
    expected[i + 4 * count] = half_of(x * other - x);
    expected[i + 6 * count] = half_of(std::max(x, y) - std::min(x, y));
  }
  ProgramRun program("small", "half_pairs", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t out = program.undefined<uint16_t>(expected.size());
  program.value<uint32_t>(count);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint16_t>(out, expected.size()), expected);
}

TEST_P(ProgramSmall, PairsOfShorts) {
  constexpr size_t count = 64;
  const auto a = spread<uint16_t>(2 * count, 16), b = spread<uint16_t>(2 * count, 17);
  std::vector<uint16_t> expected(4 * 2 * count);
  for (size_t i = 0; i < 2 * count; ++i) {
    const uint32_t x = a[i], y = b[i], other = b[i ^ 1];
    expected[i] = static_cast<uint16_t>(x + y);
    expected[i + 2 * count] = static_cast<uint16_t>(x * y - other);
    expected[i + 4 * count] = static_cast<uint16_t>(x >> y % 16);
    expected[i + 6 * count] = static_cast<uint16_t>(std::max(x, y) ^ std::min(x, other));
  }
  ProgramRun program("small", "short_pairs", GetParam());
  program.buffer(a);
  program.buffer(b);
  const size_t out = program.undefined<uint16_t>(expected.size());
  program.value<uint32_t>(count);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint16_t>(out, expected.size()), expected);
}

TEST_P(ProgramBits, Divisions) {
  auto a = spread<uint32_t>(256, 18), b = spread<uint32_t>(256, 19);
  for (uint32_t &x : b)
    x = x == 0 || x == ~0u ? 5 : x;
  expect_rows<uint32_t, uint32_t>(
      "bits", "divisions", GetParam(), a, b, 9, [](uint32_t x, uint32_t y, size_t) {
        const auto sx = static_cast<int32_t>(x), sy = static_cast<int32_t>(y);
        return std::vector<uint32_t>{x / y,
                                     x % y,
                                     static_cast<uint32_t>(sx / sy),
                                     static_cast<uint32_t>(sx % sy),
                                     x / 10 + x % 1000,
                                     static_cast<uint32_t>(sx / -7),
                                     x % 65536 / std::max(y % 256, 1u),
                                     static_cast<uint32_t>(uint64_t{x} * y >> 32),
                                     static_cast<uint32_t>(int64_t{sx} * sy >> 32)};
      });
}

uint32_t reversed_bits(uint32_t x) {
  uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit)
    result |= (x >> bit & 1) << (31 - bit);
  return result;
}
uint64_t reversed_bytes(uint64_t x, unsigned bytes) {
  uint64_t result = 0;
  for (unsigned k = 0; k < bytes; ++k)
    result |= (x >> 8 * k & 0xFF) << 8 * (bytes - 1 - k);
  return result;
}

TEST_P(ProgramBits, CountsAndMoves) {
  auto a = spread<uint32_t>(128, 20), b = spread<uint32_t>(128, 21);
  a[3] = a[4] = b[4] = b[5] = 0;
  expect_rows<uint32_t, uint32_t>(
      "bits", "bit_counts", GetParam(), a, b, 11, [](uint32_t x, uint32_t y, size_t) {
        const uint64_t wide = uint64_t{x} << 32 | y;
        return std::vector<uint32_t>{static_cast<uint32_t>(2 * std::popcount(x) + std::popcount(y)),
                                     static_cast<uint32_t>(std::countl_zero(x)),
                                     static_cast<uint32_t>(std::countr_zero(wide)),
                                     reversed_bits(x),
                                     static_cast<uint32_t>(reversed_bytes(x, 4) ^ reversed_bytes(wide, 8)),
                                     std::rotl(x, static_cast<int>(y % 32)),
                                     x >> 5 & 0x7FF,
                                     (x & y) | (~x & 0x0F0F0F0F),
                                     static_cast<uint32_t>(static_cast<int32_t>(x << 9) >> 20),
                                     x ^ y ^ 0x3C3C3C3C,
                                     std::max(x, y) - std::min(x, y) + std::max(x, y)};
      });
}

TEST_P(ProgramBits, Checksums) {
  constexpr uint32_t bytes = 37;
  auto in = spread<uint8_t>(64 * bytes, 22);
  std::vector<uint32_t> crcs, adlers;
  for (size_t i = 0; i < 64; ++i) {
    uint32_t sum = ~0u, low = 1, high = 0;
    for (size_t k = 0; k < bytes; ++k) {
      // The CRC by its definition: division of polynomials whose bits are reversed.
      sum ^= in[i * bytes + k];
      for (int bit = 0; bit < 8; ++bit)
        sum = sum % 2 ? sum / 2 ^ 0xEDB88320u : sum / 2;
      low = (low + in[i * bytes + k]) % 65521;
      high = (high + low) % 65521;
    }
    crcs.push_back(~sum);
    adlers.push_back(high << 16 | low);
  }
  ProgramRun program("bits", "checksums", GetParam());
  program.buffer(in);
  const size_t crc = program.undefined<uint32_t>(64), adler = program.undefined<uint32_t>(64);
  program.value(bytes);
  program.run({1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<uint32_t>(crc, 64), crcs);
  EXPECT_EQ(program.read<uint32_t>(adler, 64), adlers);
}

TEST_P(ProgramBits, InstructionsWrittenByHand) {
  const auto a = spread<uint32_t>(64, 23), b = spread<uint32_t>(64, 24);
  expect_rows<uint32_t, uint32_t>(
      "bits", "by_hand", GetParam(), a, b, 8, [&](uint32_t x, uint32_t y, size_t i) {
        const uint64_t bytes = uint64_t{x} << 32 | y;
        auto byte = [&](unsigned k) { return static_cast<uint32_t>(bytes >> 8 * k & 0xFF); };
        uint32_t distance = 5;
        for (unsigned k = 0; k < 4; ++k)
          distance +=
              static_cast<uint32_t>(std::abs(static_cast<int>(byte(k)) - static_cast<int>(byte(k + 4))));
        uint64_t twice = 0; // every bit of 64 two times
        for (unsigned bit = 0; bit < 32; ++bit)
          twice |= (uint64_t{64} >> bit & 1) * 3 << 2 * bit;
        const uint64_t sum = uint64_t{x} + y;
        const auto sx = static_cast<int32_t>(x), sy = static_cast<int32_t>(y);
        const uint32_t combined = x << 3 | y;
        return std::vector<uint32_t>{
            byte(6) << 24 | byte(1) << 16 | byte(7) << 8 | byte(3),
            x >> 7 & 0x1FF,
            static_cast<uint32_t>(sum) + static_cast<uint32_t>(sum >> 32),
            a[i ^ 3],
            distance,
            static_cast<uint32_t>(twice ^ twice >> 32) ^ 0xF8u,
            static_cast<uint32_t>(std::popcount(combined)) + x,
            static_cast<uint32_t>(std::max(std::min(sx, sy), std::min(std::max(sx, sy), 50)))};
      });
}

TEST_P(ProgramGrids, PositionsInThreeDimensions) {
  ProgramRun program("grids", "positions", GetParam());
  const size_t out = program.undefined<uint32_t>(6 * 12 * 8);
  program.value<uint32_t>(6);
  program.value<uint32_t>(12);
  program.run({2, 3, 4}, {3, 4, 2});
  const auto found = program.read<uint32_t>(out, 6 * 12 * 8);
  for (uint32_t z = 0; z < 8; ++z)
    for (uint32_t y = 0; y < 12; ++y)
      for (uint32_t x = 0; x < 6; ++x)
        ASSERT_EQ(found[(z * 12 + y) * 6 + x],
                  x % 3 | y % 4 << 4 | z % 2 << 8 | x / 3 << 12 | y / 4 << 16 | z / 2 << 20 | 9u << 24);
}

TEST_P(ProgramGrids, ArgumentsOfManyTypes) {
  struct Options {
    int32_t count;
    int8_t tag;
    int16_t offsets[3];
    double scale;
    float x, y;
  };
  ProgramRun program("grids", "many_arguments", GetParam());
  program.value<int8_t>(-7);
  program.value<uint8_t>(250);
  program.value<int16_t>(-30000);
  program.value<uint16_t>(65000);
  program.value<int32_t>(-2'000'000'000);
  program.value<uint32_t>(4'000'000'000);
  program.value<int64_t>(-(int64_t{1} << 50));
  program.value<uint64_t>(uint64_t{1} << 63);
  program.value(0.1f);
  program.value(-0.1);
  program.value<uint16_t>(half_of(-2.5));
  program.value(std::array<int8_t, 4>{1, -2, 3, -4});
  program.value(std::array<double, 2>{5.5, 9.25});
  program.value(Options{100, -1, {20, -30, 7}, 1.5, 2.0f, -0.25f});
  const size_t out = program.undefined<double>(16);
  program.value(std::array<int32_t, 4>{12, 34, 56, 0});
  program.run({2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(program.read<double>(out, 16),
            (std::vector<double>{-7, 250, -30000, 65000, -2e9, 4e9, -0x1p50, 0x1p63, double{0.1f}, -0.1, -2.5,
                                 1 - 4 + 9 - 16, -3.75, 100 - 1 - 600 + 7, 2.75, 123456}));
}

TEST_P(ProgramGrids, AStencilWhoseGridIsLargerThanTheImage) {
  constexpr uint32_t width = 37, height = 21;
  std::vector<float> in(width * height), expected(width * height);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i * 7919 % 1009);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const uint32_t at = y * width + x;
      const bool border = x == 0 || y == 0 || x == width - 1 || y == height - 1;
      expected[at] =
          border ? in[at] : in[at] / 2 + (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]) / 8;
    }
  ProgramRun program("grids", "stencil", GetParam());
  program.buffer(in);
  const size_t out = program.undefined<float>(in.size());
  program.value(width);
  program.value(height);
  program.run({3, 3, 1}, {16, 8, 1});
  EXPECT_EQ(program.read<float>(out, in.size()), expected);
}

} // namespace
} // namespace nereid::sim::test
