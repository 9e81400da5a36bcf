// Softmax and what it is made of, on the rows where it is hard.
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

/// Rows of `columns` f32: near ones, weights down to denormal and 0, masked ones, and special values.
std::vector<std::vector<float>> rows_of(int64_t columns) {
  Random random(static_cast<uint64_t>(columns));
  const auto normal = [&](float scale) {
    std::vector<float> row = random.normals(static_cast<size_t>(columns));
    for (float &x : row)
      x *= scale;
    return row;
  };
  const auto with = [&](size_t at, float value) {
    std::vector<float> row = normal(2);
    row[at % row.size()] = value;
    return row;
  };
  std::vector<std::vector<float>> rows = {normal(0.1F), normal(3), normal(40), normal(1e30F)};
  rows.push_back(std::vector<float>(columns, 7.5F));
  rows.push_back(std::vector<float>(columns, -INFINITY));
  rows.push_back(with(5, INFINITY));
  rows.push_back(with(70, NAN));
  rows.push_back(with(133, std::bit_cast<float>(0xffc01234U)));
  rows.push_back(with(3, std::bit_cast<float>(0x7fc00001U)));
  std::vector<float> masked = normal(5), denormal(columns), uniform = normal(1);
  for (size_t i = 0; i < masked.size(); ++i) {
    if (i % 3 != 0)
      masked[i] = -INFINITY;
    denormal[i] = i % 2 == 0 ? 1 : -86 - static_cast<float>(random.next() >> 40) * 0x1p-24F * 20;
    uniform[i] = i % 2 == 0 ? 0.0F : -0.0F;
  }
  rows.insert(rows.end(), {masked, denormal, uniform});
  return rows;
}

/// Of differences from the maximum as they are in f32.
std::vector<double> softmax(const std::vector<float> &row) {
  float max = -INFINITY;
  for (float x : row)
    max = std::isnan(x) || std::isnan(max) ? NAN : std::max(max, x);
  double sum = 0;
  std::vector<double> result;
  for (float x : row) {
    const float difference = x - max;
    result.push_back(std::exp(double(difference)));
    sum += result.back();
  }
  for (double &x : result)
    x /= sum;
  return result;
}

/// Row by row, in tiles of [tile_rows, columns].
std::vector<float> compiled_softmax(const std::vector<std::vector<float>> &rows, int64_t tile_rows,
                                    int waves) {
  const auto columns = static_cast<int64_t>(rows[0].size());
  std::vector<float> x;
  for (const std::vector<float> &row : rows)
    x.insert(x.end(), row.begin(), row.end());
  const size_t programs = rows.size() / static_cast<size_t>(tile_rows);
  KernelBuilder b(waves);
  ir::ValueId from = b.pointer(Element::F32), to = b.pointer(Element::F32);
  ir::ValueId first = b.mul(b.program_id(0), b.number(tile_rows * columns));
  const ir::Shape shape = {tile_rows, columns};
  ir::ValueId value = b.load_tile(b.ptr_add(from, first), shape);
  ir::ValueId weight =
      b.unary(Opcode::Exp, b.binary(Opcode::Sub, value, b.reduce(Opcode::ReduceMax, value, 1, true)));
  b.store_tile(b.ptr_add(to, first),
               b.binary(Opcode::Div, weight, b.reduce(Opcode::ReduceSum, weight, 1, true)));
  Result<Outcome> outcome = run_compiled(b.done(), {static_cast<uint32_t>(programs), 1, 1},
                                         {buffer(x), buffer(std::vector<float>(x.size()))});
  EXPECT_TRUE(outcome.ok()) << outcome.error().text();
  return outcome.ok() ? outcome->values<float>(1) : std::vector<float>(x.size());
}

/// The weight is within 1 ulp, the quotient within half of one, and the sum is of 1024 values at most. A
/// unit is no less than the least denormal.
void expect_right(int64_t columns, int64_t tile_rows, int waves) {
  SCOPED_TRACE(std::to_string(tile_rows) + " rows of " + std::to_string(columns) + ", waves " +
               std::to_string(waves));
  std::vector<std::vector<float>> rows = rows_of(columns);
  rows.resize(rows.size() / static_cast<size_t>(tile_rows) * static_cast<size_t>(tile_rows));
  const std::vector<float> results = compiled_softmax(rows, tile_rows, waves);
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::vector<double> expected = softmax(rows[r]);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double exact = expected[i];
      const float result = results[r * expected.size() + i];
      const double ulp = std::ldexp(1.0, std::max(exact > 0 ? std::ilogb(exact) - 23 : -149, -149));
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(result) : std::fabs(result - exact) <= 3.5 * ulp)
          << "row " << r << ", " << rows[r][i] << " gives " << result << ", not " << exact;
    }
  }
}

TEST(LowerSoftmax, IsRightForEveryRowAndTile) {
  for (const auto &[columns, tile_rows, waves] : {std::tuple<int64_t, int64_t, int>{1024, 1, 1},
                                                  {1024, 1, 4},
                                                  {192, 1, 1},
                                                  {64, 1, 1},
                                                  {256, 4, 1},
                                                  {128, 4, 2}})
    expect_right(columns, tile_rows, waves);
}

TEST(LowerSoftmax, EqualValuesShareOne) {
  std::vector<float> row(1024, -3.25F);
  EXPECT_EQ(compiled_softmax({row}, 1, 1), std::vector<float>(1024, 0x1p-10F));
}

/// Weights that something else sees are those of exp, and the quotient is theirs to the bit.
TEST(LowerSoftmax, QuotientsOfStoredWeightsAreExact) {
  const std::vector<std::vector<float>> rows = rows_of(1024);
  for (const std::vector<float> &row : rows) {
    KernelBuilder b(1);
    ir::ValueId from = b.pointer(Element::F32), to = b.pointer(Element::F32), kept = b.pointer(Element::F32),
                sum = b.pointer(Element::F32);
    ir::ValueId value = b.load_tile(from, {1024});
    ir::ValueId weight =
        b.unary(Opcode::Exp, b.binary(Opcode::Sub, value, b.reduce(Opcode::ReduceMax, value, 0, false)));
    ir::ValueId total = b.reduce(Opcode::ReduceSum, weight, 0, false);
    b.store_tile(to, b.binary(Opcode::Div, weight, total));
    b.store_tile(kept, weight);
    b.store(sum, total, {}, "");
    const std::vector<float> zeros(1024);
    Result<Outcome> outcome =
        run_compiled(b.done(), {1, 1, 1}, {buffer(row), buffer(zeros), buffer(zeros), buffer(zeros)});
    ASSERT_TRUE(outcome.ok()) << outcome.error().text();
    const std::vector<float> quotients = outcome->values<float>(1), weights = outcome->values<float>(2);
    const float divisor = outcome->values<float>(3)[0];
    for (size_t i = 0; i < row.size(); ++i) {
      const float exact = weights[i] / divisor;
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(quotients[i]) : quotients[i] == exact)
          << weights[i] << " / " << divisor << " is " << quotients[i];
    }
  }
}

/// Over all lanes of a wave a NaN anywhere is the result, and -0 is less than 0.
TEST(LowerSoftmax, ExtremesOfAWave) {
  for (Opcode opcode : {Opcode::ReduceMax, Opcode::ReduceMin})
    for (size_t count : {64, 256})
      for (size_t at : {0, 17, 38, 63}) {
        const bool is_max = opcode == Opcode::ReduceMax;
        const float sign = is_max ? 1.0F : -1.0F;
        for (const auto &[others, one] : {std::pair{-sign, sign},
                                          {-sign, NAN},
                                          {sign, std::bit_cast<float>(0xffc00001U)},
                                          {-sign * 0.0F, sign * 0.0F},
                                          {-sign * INFINITY, -sign},
                                          {sign * 0.0F, -sign}}) {
          std::vector<float> x(count, others);
          x[count / 64 * at] = one;
          KernelBuilder b(1);
          ir::ValueId from = b.pointer(Element::F32), to = b.pointer(Element::F32);
          b.store(to, b.reduce(opcode, b.load_tile(from, {static_cast<int64_t>(count)}), 0, false), {}, "");
          Result<Outcome> outcome =
              run_compiled(b.done(), {1, 1, 1}, {buffer(x), buffer(std::vector<float>(1))});
          ASSERT_TRUE(outcome.ok()) << outcome.error().text();
          const float result = outcome->values<float>(1)[0];
          const float expected =
              std::isnan(one) || sign * one > sign * others || one == others ? one : others;
          EXPECT_TRUE(std::isnan(expected)
                          ? std::isnan(result)
                          : std::bit_cast<uint32_t>(result) == std::bit_cast<uint32_t>(expected))
              << count << " of " << others << " and one " << one << " give " << result;
        }
      }
}

} // namespace
} // namespace nereid::codegen::testing
