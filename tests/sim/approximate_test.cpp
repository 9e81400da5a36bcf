// Results that AMD does not specify to the bit: within one unit in the last place, for every half, for floats
// of every exponent, and for doubles; the coverage table says so.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/coverage.h"
#include "tests/sim/assembler.h"
#include "tests/sim/lane_table.h"

namespace nereid::sim::test {
namespace {

/// The sine of a number of turns by its symmetries: exact at 0, a quarter, a half.
long double sine(long double x) {
  if (x < 0)
    return -sine(-x);
  x -= std::floor(x);
  if (x >= 0.5L)
    return -sine(x - 0.5L);
  if (x > 0.25L)
    x = 0.5L - x;
  return std::sin(2 * std::numbers::pi_v<long double> * x);
}

struct Function {
  const char *name;
  long double (*exact)(long double);
};
constexpr Function functions[] = {
    {"rcp", [](long double x) { return 1 / x; }},
    {"sqrt", [](long double x) { return std::sqrt(x); }},
    {"rsq", [](long double x) { return 1 / std::sqrt(x); }},
    {"exp", [](long double x) { return std::exp2(x); }},
    {"log", [](long double x) { return std::log2(x); }},
    {"sin", [](long double x) { return sine(x); }},
    {"cos", [](long double x) { return sine(std::fabs(x) - std::floor(std::fabs(x)) + 0.25L); }},
};

/// Whether two values are at most one step of a format apart. `smallest` is its smallest positive value.
bool near(long double actual, long double exact, int mantissa_bits, long double smallest,
          long double largest) {
  if (std::isnan(exact))
    return std::isnan(actual);
  if (std::isinf(actual) || std::isinf(exact))
    return std::isinf(actual) ? std::fabs(exact) >= largest && (actual > 0) == (exact > 0)
                              : std::fabs(exact) > largest && std::fabs(actual) >= largest;
  const long double step =
      exact == 0 ? smallest : std::max(std::ldexp(1.0L, std::ilogb(exact) - mantissa_bits), smallest);
  return std::fabs(actual - exact) <= step;
}

/// Runs `body` on 65,536 values of v0 (and v1) and returns `words` registers from v16 on for each.
std::vector<std::vector<uint32_t>> run_all(const std::string &body, uint64_t (*input)(uint32_t),
                                           unsigned words) {
  std::vector<std::vector<uint32_t>> inputs(1024, std::vector<uint32_t>(128));
  for (uint32_t k = 0; k < 65536; ++k) {
    inputs[k / 64][k % 64] = static_cast<uint32_t>(input(k));
    inputs[k / 64][64 + k % 64] = static_cast<uint32_t>(input(k) >> 32);
  }
  return run_waves(body, inputs, 16, words);
}

TEST(Approximate, EveryHalf) {
  std::string body;
  for (size_t k = 0; k < std::size(functions); ++k)
    body += fmt::format("v_{}_f16 v{}, v0\n", functions[k].name, 16 + k);
  const auto results = run_all(body, [](uint32_t k) { return uint64_t{k}; }, std::size(functions));
  for (uint32_t x = 0; x < 65536; ++x)
    for (size_t k = 0; k < std::size(functions); ++k) {
      const uint32_t actual = results[x / 64][k * 64 + x % 64];
      ASSERT_TRUE(near(half_value(actual), functions[k].exact(half_value(x)), 10, 0x1p-24L, 65504))
          << fmt::format("v_{}_f16 of {:#x} is {:#x}", functions[k].name, x, actual);
    }
}

/// All signs and exponents with some mantissas.
uint64_t float_input(uint32_t k) { return uint64_t{k << 16 | (k * 40503u >> 3 & 0xFFFF)}; }

TEST(Approximate, FloatsOfEveryExponent) {
  std::string body;
  for (size_t k = 0; k < std::size(functions); ++k)
    body += fmt::format("v_{}_f32 v{}, v0\n", functions[k].name, 16 + k);
  const auto results = run_all(body, float_input, std::size(functions));
  for (uint32_t x = 0; x < 65536; ++x) {
    float value = as_float(float_input(x));
    if (std::fpclassify(value) == FP_SUBNORMAL) // neither read nor written by this unit
      value = std::copysign(0.0f, value);
    for (size_t k = 0; k < std::size(functions); ++k) {
      const uint32_t actual = results[x / 64][k * 64 + x % 64];
      const long double exact = functions[k].exact(value);
      const bool flushed = std::fabs(exact) < 0x1p-126L && as_float(actual) == 0;
      ASSERT_TRUE(flushed || near(as_float(actual), exact, 23, 0x1p-126L, 0x1.fffffep127L))
          << fmt::format("v_{}_f32 of {} is {:#x}", functions[k].name, value, actual);
    }
  }
}

uint64_t double_input(uint32_t k) { return uint64_t{k} << 48 | uint64_t{k * 2654435761u} << 12; }

TEST(Approximate, DoublesOfEveryExponent) {
  const auto results = run_all(
      "v_rcp_f64 v[16:17], v[0:1]\nv_sqrt_f64 v[18:19], v[0:1]\nv_rsq_f64 v[20:21], v[0:1]", double_input, 6);
  for (uint32_t x = 0; x < 65536; ++x)
    for (unsigned k = 0; k < 3; ++k) {
      const uint64_t in = double_input(x);
      const double value = as_double(static_cast<uint32_t>(in), static_cast<uint32_t>(in >> 32));
      const double actual =
          as_double(results[x / 64][2 * k * 64 + x % 64], results[x / 64][(2 * k + 1) * 64 + x % 64]);
      ASSERT_TRUE(near(actual, functions[k].exact(value), 52, 0x1p-1074L, 0x1.fffffffffffffp1023L))
          << fmt::format("v_{}_f64 of {} is {}", functions[k].name, value, actual);
    }
}

TEST(Approximate, TheTableSaysWhichAreAndWhatIsNotExecuted) {
  unsigned unsupported = 0;
  for (const CoverageRow &row : coverage()) {
    const bool approximate = std::any_of(std::begin(functions), std::end(functions), [&](const Function &f) {
      return row.mnemonic.starts_with(fmt::format("v_{}_", f.name));
    });
    EXPECT_EQ(row.note == "within 1 ulp of the exact result", approximate) << row.mnemonic;
    if (!row.done) {
      ++unsupported;
      EXPECT_FALSE(row.note.empty() || row.note == "not simulated") << row.mnemonic;
    }
  }
  EXPECT_EQ(unsupported, 14U);
}

} // namespace
} // namespace nereid::sim::test
