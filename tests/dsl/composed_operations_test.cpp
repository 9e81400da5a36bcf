// Values of functions that are made of several operations: bits, signs, first minima, random numbers.
#include <bit>
#include <cmath>
#include <limits>

#include "dsl/interpreter/interpreter.h"
#include "tests/dsl/trace_support.h"

namespace nereid::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Runs a kernel with one program on arrays that it gets as pointers, in order.
template <class Kernel, class... T> void run(const Kernel &kernel, std::vector<T> &...arrays) {
  const Result<ir::Function> function = trace("composed", kernel, NoConfig{});
  ASSERT_TRUE(function.ok()) << function.error().text();
  HostMemory memory;
  ASSERT_TRUE((memory.add(arrays.data(), arrays.size() * sizeof(T), "array").ok() && ...));
  const InterpretArgument arguments[] = {InterpretArgument::pointer(arrays.data())...};
  const Status status = interpret(*function, {1, 1, 1}, arguments, memory);
  ASSERT_TRUE(status.ok()) << status.error().text();
}

TEST(Composed, FindsTheLowestBit) {
  std::vector<i32> x = {0, 1, -1, 8, INT32_MIN, 6, 0x50000000, 3};
  run([](const NoConfig &, Ptr<i32> p) { store(p + arange(0, 8), ffs(load(p + arange(0, 8)))); }, x);
  EXPECT_EQ(x, (std::vector<i32>{0, 1, 1, 4, 32, 2, 29, 1}));
  std::vector<u8> narrow = {0, 128, 255, 12};
  run([](const NoConfig &, Ptr<u8> p) { store(p + arange(0, 4), ffs(load(p + arange(0, 4)))); }, narrow);
  EXPECT_EQ(narrow, (std::vector<u8>{0, 8, 1, 3}));
}

TEST(Composed, ClassifiesAndMovesSigns) {
  std::vector<float> x = {1, -2, nan_value, infinity, -infinity, 0, -0.0F, -nan_value};
  std::vector<float> sign = {-1, -1, 1, -0.0F, 1, -nan_value, 1, 1};
  std::vector<i32> kinds(8);
  run(
      [](const NoConfig &, Ptr<f32> p, Ptr<f32> s, Ptr<i32> k) {
        const Tile<i32> i = arange(0, 8);
        const Tile<f32> x = load(p + i);
        store(k + i, isnan(x).to<i32>() + isinf(x).to<i32>() * 2);
        store(p + i, copysign(x, load(s + i)));
      },
      x, sign, kinds);
  EXPECT_EQ(kinds, (std::vector<i32>{0, 0, 1, 2, 2, 0, 0, 1}));
  const bool negative[] = {true, true, false, true, false, true, false, false};
  const float magnitude[] = {1, 2, nan_value, infinity, infinity, 0, 0, nan_value};
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(std::signbit(x[i]), negative[i]) << i;
    EXPECT_EQ(std::bit_cast<u32>(std::fabs(x[i])), std::bit_cast<u32>(magnitude[i])) << i;
  }
}

TEST(Composed, TheFirstLeastElement) {
  std::vector<i32> x = {3, INT32_MIN, 5, INT32_MIN}, at(5);
  std::vector<u32> u = {7, 0xffffffff, 2, 2};
  std::vector<float> f = {1, -0.0F, 0.0F, 2}, with_nan = {1, -infinity, nan_value, nan_value};
  run(
      [](const NoConfig &, Ptr<i32> p, Ptr<u32> u, Ptr<f32> f, Ptr<f32> g, Ptr<i32> out) {
        const Tile<i32> i = arange(0, 4);
        store(out, argmin(load(p + i), 0));
        store(out + 1, argmin(load(u + i), 0));
        store(out + 2, argmin(load(f + i), axis(0)));
        store(out + 3, argmin(load(g + i), 0));
        const Tile<i32> square = reshape(load(p + i), {2, 2});
        store(out + 4, sum(sum(argmin(square, keep_axis(-1)), axis(0)), 0));
      },
      x, u, f, with_nan, at);
  EXPECT_EQ(at, (std::vector<i32>{1, 2, 1, 2, 2}));
}

/// The known answers of Random123 for Philox4x32 with ten rounds: key and counter 0.
TEST(Composed, RandomWordsAreThoseOfPhilox) {
  std::vector<u32> words(4);
  run(
      [](const NoConfig &, Ptr<u32> p) {
        const auto random = randint4x(0, arange(0, 1));
        for (int i = 0; i < 4; ++i)
          store(p + arange(i, i + 1), random[static_cast<size_t>(i)]);
      },
      words);
  EXPECT_EQ(words, (std::vector<u32>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

/// The paper's rounds in plain C++.
std::array<u32, 4> philox(u64 key, u64 counter) {
  std::array<u32, 4> c = {static_cast<u32>(counter), static_cast<u32>(counter >> 32), 0, 0};
  u32 k0 = static_cast<u32>(key), k1 = static_cast<u32>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 a = u64{0xD2511F53} * c[0], b = u64{0xCD9E8D57} * c[2];
    c = {static_cast<u32>(b >> 32) ^ c[1] ^ k0, static_cast<u32>(b), static_cast<u32>(a >> 32) ^ c[3] ^ k1,
         static_cast<u32>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

TEST(Composed, RandomNumbersOfWideSeedsAndOffsets) {
  constexpr size_t count = 256;
  std::vector<u32> narrow(count), wide(count), negative(count);
  std::vector<float> uniform(count), normal(count);
  run(
      [](const NoConfig &, Ptr<u32> n, Ptr<u32> w, Ptr<u32> m, Ptr<f32> u, Ptr<f32> g) {
        const Tile<i32> i = arange(0, static_cast<int64_t>(count));
        store(n + i, randint(0x123456789abcdef, i));
        store(w + i, randint(5, i + full<i64>({1}, int64_t{7} << 32)));
        store(m + i, randint(-1, i));
        store(u + i, rand(3, i));
        store(g + i, randn(3, i));
      },
      narrow, wide, negative, uniform, normal);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(narrow[i], philox(0x123456789abcdef, i)[0]);
    EXPECT_EQ(wide[i], philox(5, (u64{7} << 32) + i)[0]);
    EXPECT_EQ(negative[i], philox(~u64{0}, i)[0]);
    const auto number = [](u32 word) {
      const i32 x = static_cast<i32>(word);
      return static_cast<float>(x < 0 ? -x - 1 : x) * 4.6566127342e-10F;
    };
    const std::array<u32, 4> words = philox(3, i);
    EXPECT_EQ(uniform[i], number(words[0]));
    EXPECT_GE(uniform[i], 0.0F);
    EXPECT_LT(uniform[i], 1.0F);
    const double radius = std::sqrt(-2 * std::log(std::max(1e-7, double(number(words[0])))));
    EXPECT_NEAR(normal[i], radius * std::cos(6.283185307179586 * number(words[1])), 2e-6);
    sum += normal[i];
    squares += double(normal[i]) * normal[i];
  }
  EXPECT_NEAR(sum / count, 0, 0.2);
  EXPECT_NEAR(squares / count, 1, 0.3);
}

/// An Int next to a Long is extended before the operation.
TEST(Composed, IntTimesLongDoesNotWrap) {
  std::vector<i64> out(2);
  run(
      [](const NoConfig &, Ptr<i64> p) {
        const Int big = num_programs(0) * 0x7fffffff;
        store(p, big * Long(num_programs(0) * 4));
        store(p + 1, sum(full<i64>({2}, 1) * arange(-1, 1), 0));
      },
      out);
  EXPECT_EQ(out, (std::vector<i64>{0x7fffffffLL * 4, -1}));
}

TEST(Composed, GathersAndFlipsAlongAnAxis) {
  std::vector<i32> x = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, at = {2, 0, 1, 2, 0, 0, 2, 1};
  std::vector<i32> rows_out(8), flipped(12), columns(6), reversed(12);
  run(
      [](const NoConfig &, Ptr<i32> p, Ptr<i32> q, Ptr<i32> r, Ptr<i32> f, Ptr<i32> c, Ptr<i32> v) {
        const Tile<i32> tile = load(p + rows(3) * 4 + arange(0, 4));
        store(r + rows(2) * 4 + arange(0, 4), gather(tile, load(q + rows(2) * 4 + arange(0, 4)), 0));
        store(f + rows(3) * 4 + arange(0, 4), flip(tile, -1));
        // One row of indices for all rows.
        store(c + rows(3) * 2 + arange(0, 2), gather(tile, arange(0, 2) * 3, 1));
        store(v + rows(3) * 4 + arange(0, 4), flip(tile, 0));
      },
      x, at, rows_out, flipped, columns, reversed);
  EXPECT_EQ(rows_out, (std::vector<i32>{20, 1, 12, 23, 0, 1, 22, 13}));
  EXPECT_EQ(flipped, (std::vector<i32>{3, 2, 1, 0, 13, 12, 11, 10, 23, 22, 21, 20}));
  EXPECT_EQ(columns, (std::vector<i32>{0, 3, 10, 13, 20, 23}));
  EXPECT_EQ(reversed, (std::vector<i32>{20, 21, 22, 23, 10, 11, 12, 13, 0, 1, 2, 3}));
}

TEST(Composed, AnIndexOutsideOfTheAxisIsReported) {
  const Result<ir::Function> function = trace(
      "outside",
      [](const NoConfig &, Ptr<i32> p) {
        const Tile<i32> i = arange(0, 4);
        store(p + i, gather(load(p + i), i + 1, 0));
      },
      NoConfig{});
  ASSERT_TRUE(function.ok()) << function.error().text();
  std::vector<i32> x(4);
  HostMemory memory;
  ASSERT_TRUE(memory.add(x.data(), 16, "x").ok());
  const InterpretArgument arguments[] = {InterpretArgument::pointer(x.data())};
  const Status status = interpret(*function, {1, 1, 1}, arguments, memory);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().owner, Owner::User);
  EXPECT_NE(status.error().message.find("the index 4 of element [3] is outside of axis 0 of size 4"),
            std::string::npos)
      << status.error().message;
}

/// A missing leading dimension is repeated, as numpy has it.
TEST(Composed, LeadingDimensionsAreRepeated) {
  std::vector<i32> out(8);
  run(
      [](const NoConfig &, Ptr<i32> p) {
        const Tile<i32> columns = arange(0, 4);
        store(p + rows(2) * 4 + columns, rows(2) * 10 + columns, columns < 3);
      },
      out);
  EXPECT_EQ(out, (std::vector<i32>{0, 1, 2, 0, 10, 11, 12, 0}));
}

} // namespace
} // namespace nereid::test
