// The hardware's approximations: their errors, and the instructions that the exact functions take.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

constexpr size_t count = 1 << 14;

/// Every exponent with random mantissas, powers of two, and a range sampled densely.
std::vector<float> normal_samples(float first, float last) {
  std::vector<float> values;
  Random random(3);
  for (int e = -126; e < 128; ++e)
    for (int k = 0; k < 16; ++k) {
      const float mantissa = k == 0 ? 1 : 1 + static_cast<float>(random.next() >> 41) * 0x1p-23f;
      values.push_back(std::ldexp(k % 2 == 0 ? mantissa : -mantissa, e));
    }
  while (values.size() < count)
    values.push_back(first + (last - first) * (static_cast<float>(random.next() >> 40) * 0x1p-24f));
  return values;
}

std::vector<float> results_of(const std::vector<float> &a, const std::vector<float> &b, Opcode opcode) {
  KernelBuilder builder(4);
  ir::ValueId x = builder.pointer(Element::F32), y = builder.pointer(Element::F32),
              z = builder.pointer(Element::F32);
  ir::ValueId i =
      builder.add(builder.mul(builder.program_id(0), builder.number(1024)), builder.arange(0, 1024));
  ir::ValueId left = builder.load(builder.ptr_add(x, i), {}, {}, "");
  ir::ValueId right = builder.load(builder.ptr_add(y, i), {}, {}, "");
  const bool has_one = ir::facts(opcode).op_class == ir::OpClass::Unary;
  ir::ValueId value =
      builder.as_fast(has_one ? builder.unary(opcode, left) : builder.binary(opcode, left, right));
  builder.store(builder.ptr_add(z, i), value, {}, "");
  Result<Outcome> outcome = run_compiled(builder.done(), {count / 1024, 1, 1},
                                         {buffer(a), buffer(b), buffer(std::vector<float>(count))});
  EXPECT_TRUE(outcome.ok()) << outcome.error().text();
  return outcome.ok() ? outcome->values<float>(2) : std::vector<float>(count);
}

bool may_be_zero(double exact) { return std::fabs(exact) < 0x1p-126; }

struct Case {
  Opcode opcode;
  double (*reference)(double, double);
  /// Of the error, in ulps of the exact value (tanh: of 2).
  double (*bound)(double, double);
  float first, last;
};
const Case cases[] = {
    {Opcode::Exp, [](double x, double) { return std::exp(x); },
     [](double x, double) { return 2 + 1.25 * std::fabs(x); }, -90, 90},
    {Opcode::Exp2, [](double x, double) { return std::exp2(x); }, [](double, double) { return 1.0; }, -130,
     129},
    {Opcode::Log, [](double x, double) { return std::log(x); }, [](double, double) { return 4.0; }, 0.5f, 2},
    {Opcode::Tanh, [](double x, double) { return std::tanh(x); },
     [](double x, double) { return 0x1p-21 / std::ldexp(1.0, std::ilogb(std::tanh(x)) - 23); }, -10, 10},
    {Opcode::Div, [](double a, double b) { return a / b; },
     [](double, double b) { return std::fabs(b) <= 0x1p126 ? 3.0 : INFINITY; }, -4, 4},
};

TEST(LowerFastMath, FormsStayWithinTheirErrors) {
  for (const Case &form : cases) {
    const std::vector<float> a = normal_samples(form.first, form.last);
    std::vector<float> b = a;
    std::rotate(b.begin(), b.begin() + 777, b.end());
    const std::vector<float> fast = results_of(a, b, form.opcode);
    for (size_t i = 0; i < count; ++i) {
      const double exact = form.reference(a[i], b[i]);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(fast[i])) << ir::facts(form.opcode).name << " of " << a[i];
        continue;
      }
      if (may_be_zero(exact) || std::fabs(exact) > 0x1.fffffep127) {
        if (form.opcode != Opcode::Div) {
          EXPECT_TRUE(may_be_zero(exact) ? std::fabs(fast[i]) <= 0x1p-126f : std::isinf(fast[i]))
              << ir::facts(form.opcode).name << " of " << a[i] << " is " << fast[i];
        }
        continue;
      }
      const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
      ASSERT_LE(std::fabs(fast[i] - exact) / ulp, form.bound(a[i], b[i]))
          << ir::facts(form.opcode).name << " of " << a[i] << " and " << b[i] << " is " << fast[i];
    }
  }
}

TEST(LowerFastMath, SpecialValues) {
  const std::vector<float> special = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 200, -200};
  std::vector<float> padded = special;
  padded.resize(count, 1.0f);
  const struct {
    Opcode opcode;
    std::vector<float> results;
  } rows[] = {
      {Opcode::Exp, {1, 1, INFINITY, 0, NAN, 1, 1, INFINITY, 0}},
      {Opcode::Exp2, {1, 1, INFINITY, 0, NAN, 1, 1, INFINITY, 0}},
      {Opcode::Tanh, {0, 0, 1, -1, NAN, 0, 0, 1, -1}},
  };
  for (const auto &row : rows) {
    const std::vector<float> results = results_of(padded, std::vector<float>(count, 3.0f), row.opcode);
    for (size_t i = 0; i < special.size(); ++i)
      EXPECT_TRUE(std::isnan(row.results[i])
                      ? std::isnan(results[i])
                      : std::fabs(results[i] - row.results[i]) <= 0x1p-30f || results[i] == row.results[i])
          << ir::facts(row.opcode).name << " of " << special[i] << " is " << results[i];
  }
}

/// Rows of 1024 dividends, each by one divisor: the quotient is that of the host, to the bit.
TEST(LowerFastMath, DivisionByTheScalarOfARowIsExact) {
  std::vector<float> dividends = normal_samples(-4, 4), divisors, expected;
  dividends.resize(1024 - 8);
  for (float x : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, -3e-45f, 0x1.fffffep127f})
    dividends.push_back(x);
  Random random(9);
  for (size_t i = 0; i < 1024; ++i) // multiples of few denormals: quotients that are ties
    if (i % 5 == 0)
      dividends[i] = static_cast<float>(random.next() % 60) * 0x1p-149f;
  for (float x :
       {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -6.0f, 10.0f, 1e-45f, 0x1p-126f, 0x1p127f, 14.0f})
    divisors.push_back(x);
  while (divisors.size() < 64)
    divisors.push_back(std::ldexp(1 + static_cast<float>(random.next() >> 41) * 0x1p-23f,
                                  static_cast<int>(random.next() % 252) - 126));
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::F32), y = b.pointer(Element::F32), z = b.pointer(Element::F32);
  ir::ValueId row = b.program_id(0);
  ir::ValueId quotient = b.binary(Opcode::Div, b.load_tile(x, {1024}), b.load(b.ptr_add(y, row), {}, {}, ""));
  b.store(b.ptr_add(z, b.add(b.mul(row, b.number(1024)), b.arange(0, 1024))), quotient, {}, "");
  Result<Outcome> outcome = run_compiled(
      b.done(), {64, 1, 1}, {buffer(dividends), buffer(divisors), buffer(std::vector<float>(64 * 1024))});
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  const std::vector<float> results = outcome->values<float>(2);
  for (size_t r = 0; r < 64; ++r)
    for (size_t i = 0; i < 1024; ++i) {
      const float exact = dividends[i] / divisors[r], result = results[r * 1024 + i];
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(result)
                                    : exact == result && std::signbit(exact) == std::signbit(result))
          << dividends[i] << " / " << divisors[r] << " is " << result << ", not " << exact;
    }
}

size_t vector_instructions(const std::string &text) {
  size_t instructions = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    instructions += line.starts_with("\tv_");
  return instructions;
}

/// Vector instructions that the operation adds for each of a lane's 16 values.
double price(Opcode opcode, bool fast) {
  size_t counts[2];
  for (int with : {0, 1}) {
    KernelBuilder b(1);
    ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
    ir::ValueId value = b.load_tile(x, {1024});
    if (with == 1)
      value = b.unary(opcode, value);
    if (with == 1 && fast)
      value = b.as_fast(value);
    b.store_tile(z, value);
    counts[with] = vector_instructions(assembly(b.done()));
  }
  return (static_cast<double>(counts[1]) - static_cast<double>(counts[0])) / 16;
}

TEST(LowerFastMath, InstructionsOfAValue) {
  EXPECT_LE(price(Opcode::Exp, false), 9.25);
  EXPECT_LE(price(Opcode::Log, false), 18);
  EXPECT_LE(price(Opcode::Tanh, false), 13.5);
  EXPECT_LE(price(Opcode::Sigmoid, false), 13.75);
  EXPECT_LE(price(Opcode::Exp, true), 1.5);
  EXPECT_LE(price(Opcode::Exp2, true), 1);
  EXPECT_LE(price(Opcode::Log, true), 1.5);
  EXPECT_LE(price(Opcode::Tanh, true), 3.75);
}

/// Vector instructions a value of the softmax of a row of 1024 by one wave.
double softmax_price(bool fast) {
  KernelBuilder b(1);
  ir::ValueId from = b.pointer(Element::F32), to = b.pointer(Element::F32);
  const auto form = [&](ir::ValueId value) { return fast ? b.as_fast(value) : value; };
  ir::ValueId x = b.load_tile(from, {1024});
  ir::ValueId shifted = b.binary(Opcode::Sub, x, b.reduce(Opcode::ReduceMax, x, 0, false));
  ir::ValueId power = form(b.unary(Opcode::Exp, shifted));
  b.store_tile(to, form(b.binary(Opcode::Div, power, b.reduce(Opcode::ReduceSum, power, 0, false))));
  return static_cast<double>(vector_instructions(assembly(b.done()))) / 16;
}

TEST(LowerFastMath, InstructionsOfASoftmax) {
  EXPECT_LE(softmax_price(true), 5);
  EXPECT_LE(softmax_price(false), 12);
}

} // namespace
} // namespace nereid::codegen::testing
