#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

std::vector<float> numbers_with_extremes(size_t count) {
  std::vector<float> x = Random(count).normals(count);
  const float extremes[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-42f, -1e-42f, 1.0f, 1.0f};
  for (size_t i = 0; i < std::min(count / 4, std::size(extremes)); ++i)
    x[3 * i] = extremes[i];
  return x;
}

/// The order of the language: a NaN last, -0 before +0.
bool precedes(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return !std::isnan(a) && std::isnan(b);
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

/// Whether the numbers are equal to the bit; NaNs are alike.
void expect_bits(const std::vector<float> &found, const std::vector<float> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE((std::isnan(found[i]) && std::isnan(expected[i])) ||
                std::bit_cast<uint32_t>(found[i]) == std::bit_cast<uint32_t>(expected[i]))
        << i << ": " << found[i] << ", not " << expected[i];
}

TEST(LowerSort, ButterfliesOfEveryDistance) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> z) {
    store(z + c.offsets(), butterfly(load(x + c.offsets()).to<i16>(), c.extra, c.axis).to<i32>());
  };
  for (const auto &[rows, columns] : {std::pair{4, 256}, {12, 96}, {64, 8}})
    for (int axis : {0, 1})
      for (int waves : {1, 4}) {
        const int size = axis == 0 ? rows : columns;
        for (int distance = 0; distance < (size & -size);
             distance = distance < 8 ? distance + 1 : 2 * distance + 1) {
          const TileConfig c{rows, columns, axis, distance, waves};
          SCOPED_TRACE(config_text(c));
          std::vector<int32_t> x(c.count()), expected(c.count());
          std::iota(x.begin(), x.end(), 1);
          for (const std::vector<size_t> &line : c.lines())
            for (size_t k = 0; k < line.size(); ++k)
              expected[line[k]] = x[line[k ^ static_cast<size_t>(distance)]];
          expect_values(traced(kernel, c), {buffer(x), {Bytes(c.count() * 4)}}, 1, expected);
        }
      }
}

TEST(LowerSort, FloatsInBothOrders) {
  const auto kernel = [](const TileConfig &c, Ptr<const f32> x, Ptr<f32> z) {
    store(z + c.offsets(),
          sort(load(x + c.offsets()), c.extra != 0 ? SortOrder::Descending : SortOrder::Ascending));
  };
  for (const auto &[rows, columns] : {std::pair{1, 1}, {1, 2}, {3, 64}, {4, 128}, {1, 1024}})
    for (int descending : {0, 1})
      for (int waves : {1, 4}) {
        const TileConfig c{rows, columns, 1, descending, waves};
        SCOPED_TRACE(config_text(c));
        const std::vector<float> x = numbers_with_extremes(c.count());
        std::vector<float> expected = x;
        for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
          const auto first = expected.begin() + static_cast<std::ptrdiff_t>(r) * columns;
          std::sort(first, first + columns, precedes);
          if (descending != 0)
            std::reverse(first, first + columns);
        }
        const ir::Function function = traced(kernel, c);
        const std::vector<Argument> arguments = {buffer(x), {Bytes(c.count() * 4)}};
        expect_same(function, {1, 1, 1}, arguments, {{1, ir::Element::F32, 0}});
        const Result<Outcome> outcome = run_interpreted(function, {1, 1, 1}, arguments);
        ASSERT_TRUE(outcome.ok()) << outcome.error().text();
        expect_bits(outcome->values<float>(1), expected);
      }
}

TEST(LowerSort, KeysTakeTheirValuesAlong) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> keys, Ptr<i32> values) {
    const Tile<i32> at = c.offsets();
    auto [key, value] = sort(load(x + at), at, c.extra != 0 ? SortOrder::Descending : SortOrder::Ascending);
    store(keys + at, key);
    store(values + at, value);
  };
  for (const auto &[rows, columns] : {std::pair{1, 4}, {3, 64}, {2, 256}})
    for (int descending : {0, 1})
      for (int waves : {1, 2}) {
        const TileConfig c{rows, columns, 1, descending, waves};
        SCOPED_TRACE(config_text(c));
        std::vector<int32_t> x(c.count());
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = static_cast<int32_t>((i * 7919) % 1009) - 500; // all different
        std::vector<int32_t> order(c.count());
        std::iota(order.begin(), order.end(), 0);
        for (int r = 0; r < rows; ++r)
          std::sort(order.begin() + r * columns, order.begin() + (r + 1) * columns,
                    [&](int32_t a, int32_t b) {
                      return descending != 0 ? x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)]
                                             : x[static_cast<size_t>(a)] < x[static_cast<size_t>(b)];
                    });
        expect_values(traced(kernel, c), {buffer(x), {Bytes(x.size() * 4)}, {Bytes(x.size() * 4)}}, 2, order);
      }
}

TEST(LowerSort, TheGreatestWithTheirIndices) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> values, Ptr<i32> indices) {
    auto [value, index] = topk(load(x + c.offsets()).to<f16>(), c.extra);
    const Tile<i32> at = rows(c.rows) * c.extra + cols(c.extra);
    store(values + at, value.to<i32>());
    store(indices + at, index);
  };
  for (const auto &[columns, k] : {std::pair{1, 1}, {8, 8}, {64, 1}, {64, 4}, {256, 8}, {128, 64}})
    for (int waves : {1, 4}) {
      const TileConfig c{3, columns, 1, k, waves};
      SCOPED_TRACE(config_text(c));
      std::vector<int32_t> x(c.count()), expected;
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int32_t>((i * 37) % 53) - 20; // with equal ones
      for (size_t r = 0; r < 3; ++r) {
        const int32_t *row = x.data() + r * static_cast<size_t>(columns);
        std::vector<int32_t> order(static_cast<size_t>(columns));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
        expected.insert(expected.end(), order.begin(), order.begin() + k);
      }
      expect_values(traced(kernel, c),
                    {buffer(x), {Bytes(expected.size() * 4)}, {Bytes(expected.size() * 4)}}, 2, expected);
    }
}

TEST(LowerSort, CountsByBin) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> z) {
    store(z + arange(0, c.extra), histogram(load(x + c.offsets()).to<i8>(), c.extra));
  };
  for (const TileConfig &c : {TileConfig{1, 1, 1, 1, 1}, {4, 64, 1, 10, 1}, {3, 96, 1, 300, 4}}) {
    SCOPED_TRACE(config_text(c));
    std::vector<int32_t> x(c.count()), expected(static_cast<size_t>(c.extra));
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<int32_t>((i * i) % 23) - 5;
      if (x[i] >= 0 && x[i] < c.extra)
        ++expected[static_cast<size_t>(x[i])];
    }
    expect_values(traced(kernel, c), {buffer(x), {Bytes(expected.size() * 4)}}, 1, expected);
  }
}

/// The butterflies of a transform that has one for each bit of the index.
void hadamard(const TileConfig &c, Ptr<const f32> x, Ptr<f32> z) {
  const Tile<i32> i = arange(0, c.columns);
  Var y = load(x + i);
  for (int distance = 1; distance < c.columns; distance *= 2) {
    const Tile<f32> own = y, other = butterfly(y, distance);
    y = other + where((i & distance) == 0, own, -own);
  }
  store(z + i, y);
}

TEST(LowerSort, AHadamardTransform) {
  for (int columns : {2, 64, 512, 4096})
    for (int waves : {1, 4}) {
      const TileConfig c{1, columns, 1, 0, waves};
      SCOPED_TRACE(config_text(c));
      std::vector<float> x(c.count());
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 11) - 5; // sums are exact
      std::vector<float> expected = x;
      for (size_t d = 1; d < x.size(); d *= 2)
        for (size_t k = 0; k < x.size(); ++k)
          if ((k & d) == 0) {
            const float a = expected[k], b = expected[k | d];
            expected[k] = a + b;
            expected[k | d] = a - b;
          }
      expect_values(traced(hadamard, c), {buffer(x), {Bytes(c.count() * 4)}}, 1, expected);
    }
}

} // namespace
} // namespace nereid::lowering_test
