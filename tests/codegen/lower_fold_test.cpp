#include <numeric>

#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

std::vector<int32_t> small_numbers(size_t count, int32_t range = 16) {
  Random random(count);
  std::vector<int32_t> values(count);
  for (int32_t &value : values)
    value = static_cast<int32_t>(random.next() % static_cast<uint64_t>(range)) - range / 2;
  return values;
}

std::vector<TileConfig> configs() {
  std::vector<TileConfig> result;
  const std::pair<int, int> shapes[] = {{1, 1}, {1, 64},  {4, 256}, {64, 16}, {2, 2},
                                        {3, 7}, {48, 16}, {6, 96},  {256, 1}, {1, 1024}};
  for (const auto &[rows, columns] : shapes)
    for (int axis : {0, 1})
      for (int waves : {1, 2, 4})
        result.push_back({rows, columns, axis, 0, waves});
  return result;
}

/// a then b of the maps x -> p x + q mod 2^32: associative, not commutative.
struct Affine {
  uint32_t p, q;
};
Affine then(const Affine &a, const Affine &b) { return {a.p * b.p, a.q * b.p + b.q}; }

const auto affine_tiles = [](auto a, auto b) {
  auto [p, q] = a;
  auto [r, s] = b;
  return std::tuple(p * r, q * r + s);
};

TEST(LowerFold, ReductionsKeepTheOrderOfWhatDoesNotCommute) {
  const auto kernel = [](const TileConfig &c, Ptr<const u32> p, Ptr<const u32> q, Ptr<u32> z) {
    const Tile<i32> at = c.offsets();
    auto [factor, rest] = reduce(std::tuple(load(p + at), load(q + at)), c.axis, affine_tiles);
    const Tile<i32> to = arange(0, c.axis == 0 ? c.columns : c.rows) * 2;
    store(z + to, factor);
    store(z + to + 1, rest);
  };
  for (const TileConfig &c : configs()) {
    SCOPED_TRACE(config_text(c));
    Random random(7);
    const auto p = random.bits<uint32_t>(c.count()), q = random.bits<uint32_t>(c.count());
    std::vector<uint32_t> expected;
    for (const std::vector<size_t> &line : c.lines()) {
      Affine total{p[line[0]], q[line[0]]};
      for (size_t k = 1; k < line.size(); ++k)
        total = then(total, {p[line[k]], q[line[k]]});
      expected.insert(expected.end(), {total.p, total.q});
    }
    expect_values(traced(kernel, c), {buffer(p), buffer(q), {Bytes(expected.size() * 4)}}, 2, expected);
  }
}

TEST(LowerFold, ScansKeepTheOrderOfWhatDoesNotCommute) {
  const auto kernel = [](const TileConfig &c, Ptr<const u32> p, Ptr<const u32> q, Ptr<u32> y, Ptr<u32> z) {
    const Tile<i32> at = c.offsets();
    auto [factor, rest] = scan(std::tuple(load(p + at), load(q + at)), c.axis, affine_tiles);
    store(y + at, factor);
    store(z + at, rest);
  };
  for (const TileConfig &c : configs()) {
    SCOPED_TRACE(config_text(c));
    Random random(8);
    const auto p = random.bits<uint32_t>(c.count()), q = random.bits<uint32_t>(c.count());
    std::vector<uint32_t> expected(c.count());
    for (const std::vector<size_t> &line : c.lines()) {
      Affine total{p[line[0]], q[line[0]]};
      for (size_t k = 0; k < line.size(); ++k) {
        total = k == 0 ? total : then(total, {p[line[k]], q[line[k]]});
        expected[line[k]] = total.q;
      }
    }
    expect_values(traced(kernel, c), {buffer(p), buffer(q), {Bytes(c.count() * 4)}, {Bytes(c.count() * 4)}},
                  3, expected);
  }
}

/// The order that the language states: pairs of neighbours, then the blocks of an odd factor.
float stated_sum(std::vector<float> x) {
  const size_t block = x.size() & -x.size();
  for (size_t step = 1; step < block; step *= 2) {
    for (size_t i = 0; i < x.size() / 2; ++i)
      x[i] = x[2 * i] + x[2 * i + 1];
    x.resize(x.size() / 2);
  }
  return std::accumulate(x.begin() + 1, x.end(), x[0]);
}

TEST(LowerFold, FloatSumsAreTheSameToTheBitForEveryNumberOfWaves) {
  const auto kernel = [](const TileConfig &c, Ptr<const f32> x, Ptr<f32> z) {
    store(z + arange(0, c.rows),
          reduce(load(x + c.offsets()), axis(1), [](Float a, Float b) { return a + b; }));
  };
  for (const auto &[rows, columns] : {std::pair{2, 512}, {3, 96}, {16, 40}})
    for (int waves : {1, 4, 8}) {
      const TileConfig c{rows, columns, 1, 0, waves};
      SCOPED_TRACE(config_text(c));
      const std::vector<float> x = Random(5).normals(c.count());
      std::vector<float> expected;
      for (const std::vector<size_t> &line : c.lines()) {
        std::vector<float> row;
        for (size_t at : line)
          row.push_back(x[at]);
        expected.push_back(stated_sum(row));
      }
      expect_values(traced(kernel, c), {buffer(x), {Bytes(expected.size() * 4)}}, 1, expected);
    }
}

TEST(LowerFold, MaximumWithItsIndexAndSegmentedSums) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<const i32> flags, Ptr<i32> z) {
    const Tile<i32> i = arange(0, c.columns), values = load(x + i), starts = load(flags + i);
    auto [largest, index] = reduce(std::tuple(values, i), 0, [](auto a, auto b) {
      auto [v, at] = a;
      auto [w, other] = b;
      return std::tuple(where(w > v, w, v), where(w > v, other, at));
    });
    auto [sums, any_start] = scan(std::tuple(values, starts), 0, [](auto a, auto b) {
      auto [v, f] = a;
      auto [w, g] = b;
      return std::tuple(where(g != 0, w, v + w), f | g);
    });
    store(z + i, sums);
    store(z + c.columns, largest);
    store(z + c.columns + 1, index);
  };
  for (int columns : {1, 64, 320, 1024})
    for (int waves : {1, 4}) {
      const TileConfig c{1, columns, 1, 0, waves};
      SCOPED_TRACE(config_text(c));
      const std::vector<int32_t> x = small_numbers(c.count(), 1000);
      std::vector<int32_t> flags(c.count());
      for (size_t i = 0; i < flags.size(); ++i)
        flags[i] = i % 7 == 3;
      std::vector<int32_t> expected(c.count() + 2);
      for (size_t i = 0; i < x.size(); ++i)
        expected[i] = i == 0 || flags[i] ? x[i] : expected[i - 1] + x[i];
      const auto best = std::max_element(x.begin(), x.end());
      expected[c.count()] = *best;
      expected[c.count() + 1] = static_cast<int32_t>(best - x.begin());
      expect_values(traced(kernel, c), {buffer(x), buffer(flags), {Bytes(expected.size() * 4)}}, 2, expected);
    }
}

TEST(LowerFold, EveryWidthAndProductsAndAllAxes) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> z) {
    const Tile<i32> at = c.offsets(), values = load(x + at);
    const auto greater = [](auto a, auto b) { return max(a, b); };
    store(z, reduce(values.to<i8>(), all_axes, greater).to<i32>());
    store(z + 1, reduce(values.to<f16>(), all_axes, greater).to<i32>());
    store(z + 2, reduce(values.to<i64>(), all_axes, greater).to<i32>());
    store(z + 3, reduce(values > 6, all_axes, [](auto a, auto b) { return a | b; }).to<i32>());
    store(z + 4, sum(values, all_axes));
    store(z + 5, max(values, all_axes) - min(values, all_axes));
    store(z + 6, any(values == 3, all_axes).to<i32>());
    store(z + 8 + at, cumprod(values, c.axis));
  };
  for (const TileConfig &c : {TileConfig{4, 64, 1, 0, 1}, {4, 64, 0, 0, 4}, {6, 48, 1, 0, 2}}) {
    SCOPED_TRACE(config_text(c));
    const std::vector<int32_t> x = small_numbers(c.count());
    const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
    std::vector<int32_t> expected = {*greatest,
                                     *greatest,
                                     *greatest,
                                     *greatest > 6,
                                     std::accumulate(x.begin(), x.end(), 0),
                                     *greatest - *least,
                                     std::count(x.begin(), x.end(), 3) != 0,
                                     0};
    expected.resize(8 + c.count());
    for (const std::vector<size_t> &line : c.lines())
      for (size_t k = 0; k < line.size(); ++k) {
        const uint32_t before = k == 0 ? 1u : static_cast<uint32_t>(expected[8 + line[k - 1]]);
        expected[8 + line[k]] = static_cast<int32_t>(before * static_cast<uint32_t>(x[line[k]]));
      }
    expect_values(traced(kernel, c), {buffer(x), {Bytes(expected.size() * 4)}}, 1, expected);
  }
}

TEST(LowerFold, ACombiningFunctionUsesScalarsFromOutside) {
  const auto kernel = [](const TileConfig &c, Ptr<const i32> x, Ptr<i32> z, Int modulus) {
    const auto add = [&](auto a, auto b) { return (a + b) % modulus; };
    for (Int k : range(0, 2))
      store(z + k * c.columns + arange(0, c.columns), scan(load(x + arange(0, c.columns)) + k, 0, add));
  };
  const TileConfig c{1, 128, 1, 0, 2};
  std::vector<int32_t> x = small_numbers(128), expected;
  for (int32_t &value : x)
    value += 8;
  for (int32_t k : {0, 1})
    for (size_t i = 0; i < 128; ++i)
      expected.push_back(i == 0 ? x[0] + k : (expected.back() + x[i] + k) % 97);
  expect_values(traced(kernel, c), {buffer(x), {Bytes(expected.size() * 4)}, number(97)}, 1, expected);
}

} // namespace
} // namespace nereid::lowering_test
