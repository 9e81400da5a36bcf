// dot of f32 in bf16 parts, and of batches, compiled and interpreted, against the host.
#include <cmath>

#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

struct ProductConfig {
  int batch = 1, m = 16, n = 16, k = 32, six = 1, waves = 1;
  NEREID_CONFIG(ProductConfig, batch, m, n, k, six, waves)

  Tile<i32> offsets(int64_t rows, int64_t columns) const {
    const Tile<i32> matrix = expand_dims(nereid::rows(rows) * static_cast<int>(columns) + cols(columns), 0);
    return reshape(arange(0, batch), {batch, 1, 1}) * static_cast<int>(rows * columns) + matrix;
  }
};

size_t count(int64_t a, int64_t b, int64_t c = 1) { return static_cast<size_t>(a * b * c); }

/// Values of very different size, whose products cancel.
std::vector<float> numbers(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = std::ldexp(random.normal(), static_cast<int>(random.next() % 12) - 6);
  return values;
}

void check_f32(const ProductConfig &c) {
  SCOPED_TRACE(config_text(c));
  const auto kernel = [](const ProductConfig &c, Ptr<const f32> a, Ptr<const f32> b, Ptr<f32> z) {
    const Tile<f32> x = load(a + (rows(c.m) * c.k + cols(c.k))), y = load(b + (rows(c.k) * c.n + cols(c.n)));
    store(z + (rows(c.m) * c.n + cols(c.n)), c.six == 1 ? dot(x, y) : dot(x, y, DotPrecision::Bf16x3));
  };
  const std::vector<float> a = numbers(count(c.m, c.k), 1), b = numbers(count(c.k, c.n), 2);
  const std::vector<Argument> arguments = {buffer(a), buffer(b), {Bytes(count(c.m, c.n) * 4)}};
  const ir::Function function = traced(kernel, c);
  for (const auto &run : {codegen::testing::run_compiled, run_interpreted}) {
    const Result<Outcome> outcome = run(function, {1, 1, 1}, arguments);
    ASSERT_TRUE(outcome.ok()) << outcome.error().text();
    const std::vector<float> z = outcome->values<float>(2);
    for (int m = 0; m < c.m; ++m)
      for (int n = 0; n < c.n; ++n) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < c.k; ++k) {
          const double term = double{a[count(m, c.k) + count(k, 1)]} * b[count(k, c.n) + count(n, 1)];
          sum += term;
          magnitude += std::fabs(term);
        }
        // What is promised of the products, and an f32 rounding of each of the k sums of each part.
        const double products = c.six == 1 ? 0x1p-25 : 0x1p-16, sums = c.k * (c.six == 1 ? 6 : 3) * 0x1p-24;
        EXPECT_LE(std::fabs(z[count(m, c.n) + count(n, 1)] - sum), (products + sums) * magnitude);
      }
  }
}

TEST(LowerProduct, OfF32IsAsExactAsItsPartsSay) {
  for (const int six : {0, 1})
    for (const int waves : {1, 4}) {
      check_f32({1, 16, 16, 32, six, waves});
      check_f32({1, 64, 32, 128, six, waves});
      check_f32({1, 4, 48, 16, six, waves});
    }
}

/// Numbers of few bits: exact in any precision.
TEST(LowerProduct, OfF32IsExactForSmallIntegers) {
  const auto kernel = [](const TileConfig &, Ptr<const f32> x, Ptr<f32> z) {
    const Tile<f32> a = load(x + (rows(16) * 16 + cols(16)));
    store(z + (rows(16) * 16 + cols(16)), dot(a, trans(a)));
  };
  std::vector<float> x(256), expected(256);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i * 7 % 61) - 30) * 33; // more bits than a bf16 has
  for (size_t m = 0; m < 16; ++m)
    for (size_t n = 0; n < 16; ++n)
      for (size_t k = 0; k < 16; ++k)
        expected[m * 16 + n] += x[m * 16 + k] * x[n * 16 + k];
  expect_values(traced(kernel, TileConfig{}), {buffer(x), {Bytes(1024)}}, 1, expected);
}

template <class T> void check_batch(const ProductConfig &c) {
  SCOPED_TRACE(config_text(c));
  using Sum = std::conditional_t<std::same_as<T, i8>, i32, f32>;
  const auto kernel = [](const ProductConfig &c, Ptr<const T> a, Ptr<const T> b, Ptr<Sum> z) {
    store(z + c.offsets(c.m, c.n), dot(load(a + c.offsets(c.m, c.k)), load(b + c.offsets(c.k, c.n))));
  };
  std::vector<T> a, b;
  Random random(3);
  const auto fill = [&](std::vector<T> &values, size_t wanted) {
    while (values.size() < wanted)
      values.push_back(T(static_cast<int>(random.next() % 9) - 4));
  };
  fill(a, count(c.batch, c.m, c.k));
  fill(b, count(c.batch, c.k, c.n));
  std::vector<Sum> expected;
  const auto number_at = [](const std::vector<T> &values, size_t i) { return static_cast<Sum>(values[i]); };
  for (int i = 0; i < c.batch; ++i)
    for (int m = 0; m < c.m; ++m)
      for (int n = 0; n < c.n; ++n) {
        Sum sum = 0;
        for (int k = 0; k < c.k; ++k)
          sum += number_at(a, count(i * c.m + m, c.k) + count(k, 1)) *
                 number_at(b, count(i * c.k + k, c.n) + count(n, 1));
        expected.push_back(sum);
      }
  expect_values(traced(kernel, c), {buffer(a), buffer(b), {Bytes(expected.size() * 4)}}, 2, expected);
}

TEST(LowerProduct, OfABatchMultipliesPairByPair) {
  for (const ProductConfig &c : {ProductConfig{1}, ProductConfig{2, 16, 32, 32, 1, 4},
                                 ProductConfig{4, 32, 16, 64, 1, 2}, ProductConfig{8, 4, 16, 16, 1, 4}}) {
    check_batch<bf16>(c);
    check_batch<f16>(c);
    check_batch<fp8>(c);
    check_batch<i8>(c);
    check_batch<f32>(c);
  }
}

struct ScaledConfig {
  int batch = 1, m = 16, n = 16, k = 64, half = 0, waves = 1;
  int bits = 4;
  NEREID_CONFIG(ScaledConfig, batch, m, n, k, half, waves, bits)

  Format format() const { return bits == 4 ? e2m1 : bits == 6 ? e2m3 : e4m3; }

  Tile<i32> offsets(int64_t rows, int64_t columns) const {
    return ProductConfig{.batch = batch}.offsets(rows, columns);
  }
};

/// A quantised batch, or a bf16 one, times another that is quantised.
void multiply_batches(const ScaledConfig &c, Ptr<const f32> a, Ptr<const f32> b, Ptr<f32> z) {
  const Tile<f32> x = load(a + c.offsets(c.m, c.k));
  const MxTile y = quantize(load(b + c.offsets(c.n, c.k)), c.format());
  store(z + c.offsets(c.m, c.n), c.half == 1 ? dot_scaled(x.to<bf16>(), y.transposed())
                                             : dot_scaled(quantize(x, c.format()), y.transposed()));
}

/// Whole numbers up to 4 times a power of two for each row and group of 32 are exact in every format.
TEST(LowerProduct, OfAScaledBatchMultipliesPairByPair) {
  for (const ScaledConfig &c :
       {ScaledConfig{}, ScaledConfig{2, 16, 32, 64, 0, 4}, ScaledConfig{4, 32, 16, 128, 1, 2},
        ScaledConfig{2, 32, 32, 64, 0, 2, 8}, ScaledConfig{8, 16, 16, 32, 0, 4, 6}}) {
    SCOPED_TRACE(config_text(c));
    Random random(5);
    const auto exact = [&](int rows) {
      std::vector<float> values;
      for (int row = 0; row < c.batch * rows; ++row)
        for (int k = 0; k < c.k; ++k)
          values.push_back(
              std::ldexp(k % 32 == 0 ? 4.0F : static_cast<float>(static_cast<int>(random.next() % 7) - 3),
                         (row + k / 32) % 3 - 1));
      return values;
    };
    const std::vector<float> a = exact(c.m), b = exact(c.n);
    std::vector<float> expected;
    for (int i = 0; i < c.batch; ++i)
      for (int m = 0; m < c.m; ++m)
        for (int n = 0; n < c.n; ++n) {
          float sum = 0;
          for (int k = 0; k < c.k; ++k)
            sum += a[count(i * c.m + m, c.k) + count(k, 1)] * b[count(i * c.n + n, c.k) + count(k, 1)];
          expected.push_back(sum);
        }
    expect_values(traced(multiply_batches, c), {buffer(a), buffer(b), {Bytes(expected.size() * 4)}}, 2,
                  expected);
  }
}

} // namespace
} // namespace nereid::lowering_test
