#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/codegen/lower_harness.h"

namespace nereid::codegen::testing {
namespace {

using ir::Element;
using ir::Opcode;

struct FunctionCase {
  Opcode opcode;
  double (*reference)(double);
  double ulps;
  float first, last; ///< where it is sampled densely
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }

const FunctionCase cases[] = {
    {Opcode::Exp, [](double x) { return std::exp(x); }, 1, -105, 90},
    {Opcode::Exp2, [](double x) { return std::exp2(x); }, 1, -151, 129},
    {Opcode::Log, [](double x) { return std::log(x); }, 1, 0, 8},
    {Opcode::Log2, [](double x) { return std::log2(x); }, 1, 0, 8},
    {Opcode::Sqrt, [](double x) { return std::sqrt(x); }, 1, 0, 100},
    {Opcode::Rsqrt, rsqrt, 1, 0, 100},
    {Opcode::Tanh, [](double x) { return std::tanh(x); }, 2, -11, 11},
    {Opcode::Erf, [](double x) { return std::erf(x); }, 2, -5, 5},
    {Opcode::Sigmoid, sigmoid, 2, -110, 30},
    {Opcode::Sin, [](double x) { return std::sin(x); }, 1, -200, 200},
    {Opcode::Cos, [](double x) { return std::cos(x); }, 1, -200, 200},
    {Opcode::Atan, [](double x) { return std::atan(x); }, 1, -8, 8},
    {Opcode::Asin, [](double x) { return std::asin(x); }, 1, -1.0625F, 1.0625F},
    {Opcode::Acos, [](double x) { return std::acos(x); }, 1, -1.0625F, 1.0625F},
    {Opcode::Log1p, [](double x) { return std::log1p(x); }, 1, -1, 4},
    {Opcode::Expm1, [](double x) { return std::expm1(x); }, 1, -20, 90},
};

/// The distance in units of the reference's last place as an f32, denormals included.
double error_in_ulps(float value, double reference) {
  if (std::isnan(reference))
    return std::isnan(value) ? 0 : INFINITY;
  auto nearest = static_cast<float>(reference);
  if (value == nearest)
    return 0;
  if (std::isnan(value) || std::isinf(value) || std::isinf(nearest))
    return INFINITY;
  int exponent = std::max(-149, std::ilogb(reference) - 23);
  return std::fabs(value - reference) / std::ldexp(1.0, exponent);
}

std::vector<float> samples(const FunctionCase &function, size_t count) {
  std::vector<float> values;
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-45f, 1e-40f, 1.17549435e-38f,
                  3.4e38f, -3.4e38f, 0.9999999f, 1.0000001f, 0x1p-12f, 0x1p-10f, 0x1.fffffep-11f})
    values.push_back(x);
  for (int e = -149; e < 128; ++e)
    values.push_back(std::ldexp(1.0f, e));
  Random random(static_cast<uint64_t>(function.opcode) + 1);
  while (values.size() < count) {
    uint64_t bits = random.next();
    if (values.size() % 4 == 0)
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    else
      values.push_back(function.first +
                       (function.last - function.first) * (static_cast<float>(bits >> 40) * 0x1p-24f));
  }
  return values;
}

TEST(LowerFloatFunctions, StayWithinTheirUlps) {
  constexpr size_t count = 1 << 15;
  for (const FunctionCase &function : cases) {
    KernelBuilder b(4);
    ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
    ir::ValueId i = b.add(b.mul(b.program_id(0), b.number(1024)), b.arange(0, 1024));
    b.store(b.ptr_add(z, i), b.unary(function.opcode, b.load(b.ptr_add(x, i), {}, {}, "")), {}, "");
    std::vector<float> values = samples(function, count);
    Result<Outcome> outcome =
        run_compiled(b.done(), {count / 1024, 1, 1}, {buffer(values), buffer(std::vector<float>(count))});
    ASSERT_TRUE(outcome.ok()) << outcome.error().text();
    std::vector<float> results = outcome->values<float>(1);
    double worst = 0;
    size_t at = 0;
    for (size_t k = 0; k < count; ++k) {
      double error = error_in_ulps(results[k], function.reference(values[k]));
      if (!(error <= worst)) {
        worst = error;
        at = k;
      }
    }
    EXPECT_LE(worst, function.ulps) << ir::facts(function.opcode).name << " of " << values[at] << " is "
                                    << results[at];
  }
}

/// Floats next to multiples of a quarter turn, where the reduced angle is smallest: the worst of each
/// exponent among sampled multiples.
TEST(LowerFloatFunctions, AnglesNearMultiplesOfAQuarterTurn) {
  std::vector<float> values;
  Random random(5);
  for (int e = 1; e < 128; ++e) {
    float best = std::ldexp(1.0f, e);
    for (int k = 0; k < 4000; ++k) {
      const float x = std::ldexp(1 + static_cast<float>(random.next() >> 41) * 0x1p-23f, e);
      const double s = std::sin(static_cast<double>(x)), c = std::cos(static_cast<double>(x));
      const double b = std::sin(static_cast<double>(best)), d = std::cos(static_cast<double>(best));
      if (std::min(std::fabs(s), std::fabs(c)) < std::min(std::fabs(b), std::fabs(d)))
        best = x;
    }
    values.push_back(best);
  }
  // The closest of all f32: 16367173 * 2^72 is 1.6e-9 radians from a multiple.
  for (float x : {16367173 * 0x1p72f, 1.57079637f, 3.14159274f, 6.28318548f, 355.0f})
    values.push_back(x);
  values.resize(256, 1.0f);
  for (Opcode opcode : {Opcode::Sin, Opcode::Cos}) {
    KernelBuilder b(1);
    ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
    b.store_tile(z, b.unary(opcode, b.load_tile(x, {256})));
    Result<Outcome> outcome =
        run_compiled(b.done(), {1, 1, 1}, {buffer(values), buffer(std::vector<float>(256))});
    ASSERT_TRUE(outcome.ok()) << outcome.error().text();
    std::vector<float> results = outcome->values<float>(1);
    for (size_t i = 0; i < values.size(); ++i) {
      const double angle = values[i];
      EXPECT_LE(error_in_ulps(results[i], opcode == Opcode::Sin ? std::sin(angle) : std::cos(angle)), 1)
          << ir::facts(opcode).name << " of " << values[i];
    }
  }
}

struct BinaryCase {
  Opcode opcode;
  double (*reference)(double, double);
  double ulps;
};
const BinaryCase binary_cases[] = {
    {Opcode::Pow, [](double x, double y) { return std::pow(x, y); }, 1},
    {Opcode::Atan2, [](double y, double x) { return std::atan2(y, x); }, 1},
    {Opcode::Fmod, [](double x, double y) { return std::fmod(x, y); }, 0},
};

/// Every pair of the special values, numbers of the same size and any bits.
TEST(LowerFloatFunctions, OfTwoOperandsStayWithinTheirUlps) {
  const std::vector<float> special = {0.0f,   -0.0f,       1.0f,        -1.0f,        INFINITY,   -INFINITY,
                                      NAN,    1e-45f,      -1e-40f,     3.4e38f,      -3.4e38f,   2.0f,
                                      -2.0f,  0.5f,        -0.5f,       3.0f,         -3.0f,      1e10f,
                                      -1e10f, 16777216.0f, 16777215.0f, -16777215.0f, 0.9999999f, 1.0000001f};
  std::vector<float> left, right;
  for (float a : special)
    for (float b : special) {
      left.push_back(a);
      right.push_back(b);
    }
  constexpr size_t count = 1 << 14;
  Random random(11);
  while (left.size() < count) {
    const uint64_t bits = random.next();
    const bool any = left.size() % 2 == 0;
    left.push_back(any ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                       : std::ldexp(static_cast<float>(bits >> 44), -17));
    right.push_back(any ? std::bit_cast<float>(static_cast<uint32_t>(bits >> 32))
                        : std::ldexp(static_cast<float>(bits & 0xfffff), -15) - 16);
  }
  for (const BinaryCase &function : binary_cases) {
    KernelBuilder b(4);
    ir::ValueId x = b.pointer(Element::F32), y = b.pointer(Element::F32), z = b.pointer(Element::F32);
    ir::ValueId i = b.add(b.mul(b.program_id(0), b.number(1024)), b.arange(0, 1024));
    b.store(
        b.ptr_add(z, i),
        b.binary(function.opcode, b.load(b.ptr_add(x, i), {}, {}, ""), b.load(b.ptr_add(y, i), {}, {}, "")),
        {}, "");
    Result<Outcome> outcome = run_compiled(b.done(), {count / 1024, 1, 1},
                                           {buffer(left), buffer(right), buffer(std::vector<float>(count))});
    ASSERT_TRUE(outcome.ok()) << outcome.error().text();
    std::vector<float> results = outcome->values<float>(2);
    for (size_t k = 0; k < count; ++k) {
      const double exact = function.reference(left[k], right[k]);
      ASSERT_LE(error_in_ulps(results[k], exact), function.ulps)
          << ir::facts(function.opcode).name << " of " << left[k] << " and " << right[k] << " is "
          << results[k];
      if (!std::isnan(exact)) {
        ASSERT_EQ(std::signbit(results[k]), std::signbit(exact))
            << ir::facts(function.opcode).name << " of " << left[k] << " and " << right[k];
      }
    }
  }
}

TEST(LowerFloatFunctions, PowersOfTwoAreExact) {
  KernelBuilder b(1);
  ir::ValueId x = b.pointer(Element::F32), z = b.pointer(Element::F32);
  ir::ValueId exponents = b.load_tile(x, {256});
  ir::ValueId powers = b.unary(Opcode::Exp2, exponents);
  b.store_tile(z, powers);
  b.store(b.ptr_add(z, b.arange(256, 512)), b.unary(Opcode::Log2, powers), {}, "");
  std::vector<float> values(256);
  for (int i = 0; i < 256; ++i)
    values[i] = static_cast<float>(i - 128);
  Result<Outcome> outcome =
      run_compiled(b.done(), {1, 1, 1}, {buffer(values), buffer(std::vector<float>(512))});
  ASSERT_TRUE(outcome.ok()) << outcome.error().text();
  std::vector<float> results = outcome->values<float>(1);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(results[i], std::ldexp(1.0f, i - 128));
    EXPECT_EQ(results[256 + i], values[i]);
  }
}

TEST(LowerFloatFunctions, NarrowFloatsRoundOnce) {
  for (const FunctionCase &function : cases) {
    KernelBuilder b(4);
    ir::ValueId x = b.pointer(Element::BF16), z = b.pointer(Element::BF16);
    ir::ValueId i = b.add(b.mul(b.program_id(0), b.number(4096)), b.arange(0, 4096));
    b.store(b.ptr_add(z, i), b.unary(function.opcode, b.load(b.ptr_add(x, i), {}, {}, "")), {}, "");
    std::vector<uint16_t> all(1 << 16);
    for (size_t bits = 0; bits < all.size(); ++bits)
      all[bits] = static_cast<uint16_t>(bits);
    expect_same(b.done(), {16, 1, 1}, {buffer(all), buffer(std::vector<uint16_t>(all.size()))},
                {{1, Element::BF16, 1}});
  }
}

} // namespace
} // namespace nereid::codegen::testing
