// f64: arithmetic to the last bit, memory, reductions, scans, sorting and atomics, compiled and interpreted,
// against the host's doubles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/codegen/lower_traced.h"

namespace nereid::lowering_test {
namespace {

using codegen::testing::FloatBuffer;
using codegen::testing::KernelBuilder;
using ir::Element;
using ir::Opcode;

constexpr int64_t count = 1024;

/// Special values with each other, then numbers of any exponent, and numbers near each other.
std::vector<double> doubles(uint64_t seed, size_t wanted) {
  Random random(seed);
  const double infinity = std::numeric_limits<double>::infinity();
  const double edges[] = {0.0,
                          -0.0,
                          1.0,
                          -1.0,
                          infinity,
                          -infinity,
                          std::nan(""),
                          5e-324,
                          -5e-324,
                          1e-310,
                          0x1p-1022,
                          1.7976931348623157e308,
                          0.5,
                          1.5,
                          2.5,
                          3.0,
                          1e-6,
                          0x1p52,
                          4503599627370495.5};
  std::vector<double> values;
  for (const double a : edges)
    for (const double b : edges)
      values.push_back(seed % 2 == 0 ? a : b);
  while (values.size() < wanted) {
    const uint64_t bits = random.next();
    values.push_back(values.size() % 4 == 0 ? std::bit_cast<double>(bits)
                                            : std::bit_cast<double>((bits & ~(uint64_t{0x7ff} << 52)) |
                                                                    (1023 + bits % 5) << 52));
  }
  return values;
}

/// One kernel with the operations: result k goes to z + k * programs * count.
TEST(LowerDouble, ArithmeticIsThatOfTheHostToTheLastBit) {
  constexpr size_t programs = 8, elements = programs * count;
  KernelBuilder b(2);
  const ir::ValueId x = b.pointer(Element::F64), y = b.pointer(Element::F64), z = b.pointer(Element::F64),
                    truth = b.pointer(Element::I1);
  const ir::ValueId i = b.add(b.mul(b.program_id(0), b.number(count)), b.arange(0, count));
  const ir::ValueId p = b.load(b.ptr_add(x, i), {}, {}, ""), q = b.load(b.ptr_add(y, i), {}, {}, "");
  size_t results = 0, comparisons = 0;
  const auto offset = [&](size_t k) { return b.add(i, b.number(static_cast<int64_t>(k * elements))); };
  const auto keep = [&](ir::ValueId value) { b.store(b.ptr_add(z, offset(results++)), value, {}, ""); };
  for (const Opcode op : {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Div, Opcode::Min, Opcode::Max})
    keep(b.binary(op, p, q));
  keep(b.fma(p, q, p));
  keep(b.add(b.mul(p, q), p)); // two roundings
  for (const Opcode op :
       {Opcode::Neg, Opcode::Abs, Opcode::Sqrt, Opcode::Floor, Opcode::Ceil, Opcode::Round, Opcode::Trunc})
    keep(b.unary(op, p));
  keep(b.where(b.binary(Opcode::Lt, p, q), p, q));
  for (const Opcode op : {Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge})
    b.store(b.ptr_add(truth, offset(comparisons++)), b.binary(op, p, q), {}, "");
  const std::vector<Argument> arguments = {buffer(doubles(2, elements)),
                                           buffer(doubles(3, elements)),
                                           {Bytes(results * elements * 8)},
                                           {Bytes(comparisons * elements)}};
  const ir::Function function = b.done();
  expect_same(function, {programs, 1, 1}, arguments, {{2, Element::F64}});
  const Result<Outcome> outcome = run_interpreted(function, {programs, 1, 1}, arguments);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  const std::vector<double> a = doubles(2, elements), c = doubles(3, elements),
                            got = outcome->values<double>(2);
  const auto same = [](double v, double w) {
    return std::bit_cast<uint64_t>(v) == std::bit_cast<uint64_t>(w) || (std::isnan(v) && std::isnan(w));
  };
  for (size_t k = 0; k < elements; ++k) {
    EXPECT_TRUE(same(got[3 * elements + k], a[k] / c[k])) << a[k] << " / " << c[k];
    EXPECT_TRUE(same(got[6 * elements + k], std::fma(a[k], c[k], a[k]))) << a[k] << ", " << c[k];
    EXPECT_TRUE(same(got[10 * elements + k], std::sqrt(a[k]))) << a[k];
  }
}

struct DoubleConfig {
  int rows = 16, columns = 64, waves = 1;
  NEREID_CONFIG(DoubleConfig, rows, columns, waves)
};

/// Whole numbers beyond those of f32: any order of a sum is exact.
std::vector<double> wholes(size_t wanted) {
  Random random(wanted);
  std::vector<double> values(wanted);
  for (double &value : values)
    value =
        static_cast<double>(static_cast<int64_t>(random.next() % (uint64_t{1} << 40)) - (int64_t{1} << 39));
  return values;
}

void check_across(const DoubleConfig &c) {
  SCOPED_TRACE(config_text(c));
  const auto kernel = [](const DoubleConfig &c, Ptr<const f64> x, Ptr<f64> sums, Ptr<f64> largest,
                         Ptr<f64> running, Ptr<f64> in_order, Ptr<i32> where_least, Ptr<f64> combined) {
    const Tile<i32> i = rows(c.rows) * c.columns + cols(c.columns), r = arange(0, c.rows);
    const Tile<f64> v = load(x + i);
    store(sums + r, sum(v, 1));
    store(largest + r, max(v, axis(1)));
    store(running + i, cumsum(v, 1));
    store(in_order + i, sort(v));
    store(where_least + r, argmin(v, 1));
    store(combined + arange(0, c.columns),
          reduce(v, axis(0), [](auto a, auto b) { return where(abs(a) < abs(b), b, a); }));
  };
  const auto rows = static_cast<size_t>(c.rows), columns = static_cast<size_t>(c.columns);
  const std::vector<double> x = wholes(rows * columns);
  std::vector<double> sums, largest, running, in_order = x, combined(columns);
  std::vector<int32_t> least;
  for (size_t r = 0; r < rows; ++r) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(r * columns),
               last = first + static_cast<std::ptrdiff_t>(columns);
    sums.push_back(std::accumulate(first, last, 0.0));
    largest.push_back(*std::max_element(first, last));
    least.push_back(static_cast<int32_t>(std::min_element(first, last) - first));
    std::partial_sum(first, last, std::back_inserter(running));
    std::sort(in_order.begin() + (first - x.begin()), in_order.begin() + (last - x.begin()));
    for (size_t k = 0; k < columns; ++k)
      if (std::fabs(x[r * columns + k]) > std::fabs(combined[k]))
        combined[k] = x[r * columns + k];
  }
  const std::vector<Argument> arguments = {
      buffer(x),         {Bytes(rows * 8)},   {Bytes(rows * 8)}, {Bytes(x.size() * 8)}, {Bytes(x.size() * 8)},
      {Bytes(rows * 4)}, {Bytes(columns * 8)}};
  const ir::Function function = traced(kernel, c);
  expect_values(function, arguments, 1, sums);
  const Result<Outcome> outcome = run_interpreted(function, {1, 1, 1}, arguments);
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  EXPECT_EQ(outcome->values<double>(2), largest);
  EXPECT_EQ(outcome->values<double>(3), running);
  EXPECT_EQ(outcome->values<double>(4), in_order);
  EXPECT_EQ(outcome->values<int32_t>(5), least);
  EXPECT_EQ(outcome->values<double>(6), combined);
}

TEST(LowerDouble, ReductionsScansAndSorts) {
  for (const int waves : {1, 4}) {
    check_across({16, 64, waves});
    check_across({6, 32, waves});
    check_across({3, 256, waves});
  }
}

/// Masks, other values, loops, permutes, gathers and constants.
void move_doubles(const DoubleConfig &c, Ptr<const f64> x, Ptr<f64> z, Int n) {
  const Tile<i32> i = rows(c.rows) * c.columns + cols(c.columns);
  Var<f64> acc = load(x + i, i < n, 1.0 / 3);
  for (Int k : range(0, 3, 1, {.stages = 2}))
    acc = acc * 0.1 + load(x + i + k);
  store(z + trans(i), trans(acc), trans(i) < n);
  store(z + (i + c.rows * c.columns), gather(acc, broadcast(cols(c.columns) / 2, {c.rows, c.columns}), 1));
  store(z + (i + 2 * c.rows * c.columns), copysign(full<f64>(acc.shape(), 1e300), acc),
        isinf(acc) | (acc > 0));
}

TEST(LowerDouble, MovesAndLoops) {
  for (const int waves : {1, 4})
    for (const DoubleConfig &c : {DoubleConfig{8, 32, waves}, DoubleConfig{3, 64, waves}}) {
      const auto elements = static_cast<size_t>(c.rows * c.columns);
      std::vector<double> x = wholes(elements + 3), expected(3 * elements);
      const size_t n = elements - 7;
      std::vector<double> acc(elements);
      for (size_t i = 0; i < elements; ++i) {
        acc[i] = i < n ? x[i] : 1.0 / 3;
        for (size_t k = 0; k < 3; ++k)
          acc[i] = acc[i] * 0.1 + x[i + k];
      }
      for (size_t i = 0; i < elements; ++i) {
        const size_t column = i % static_cast<size_t>(c.columns);
        expected[i] = i < n ? acc[i] : 0;
        expected[elements + i] = acc[i - column + column / 2];
        expected[2 * elements + i] = acc[i] > 0 ? 1e300 : 0;
      }
      expect_values(traced(move_doubles, c),
                    {buffer(x), buffer(std::vector<double>(expected.size())), number(static_cast<int>(n))}, 1,
                    expected);
    }
}

TEST(LowerDouble, Atomics) {
  const auto kernel = [](const DoubleConfig &c, Ptr<f64> cells, Ptr<f64> old) {
    const Tile<i32> i = arange(0, c.columns);
    const Tile<f64> value = (i + 1).to<f64>() * 0x1p-40;
    const Tile<f64> first = atomic_add(cells + i, value);
    const Tile<f64> second = atomic_max(cells + i, 3 - value);
    const Tile<f64> third = atomic_min(cells + i, -value);
    store(old + i, first);
    store(old + (i + c.columns), second);
    store(old + (i + 2 * c.columns), third);
    atomic_exchange(cells + (i + c.columns), value);
  };
  for (const int waves : {1, 2}) {
    const DoubleConfig c{1, 128, waves};
    std::vector<double> cells(256, 2.0), after(256), old(3 * 128);
    for (size_t i = 0; i < 128; ++i) {
      const double value = static_cast<double>(i + 1) * 0x1p-40;
      after[i] = -value;
      after[i + 128] = value;
      old[i] = 2;
      old[i + 128] = 2 + value;
      old[i + 256] = 3 - value;
    }
    const ir::Function function = traced(kernel, c);
    const std::vector<Argument> arguments = {buffer(cells), {Bytes(old.size() * 8)}};
    expect_values(function, arguments, 0, after);
    expect_values(function, arguments, 1, old);
  }
}

} // namespace
} // namespace nereid::lowering_test
