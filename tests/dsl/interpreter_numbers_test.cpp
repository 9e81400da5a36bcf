#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "dsl/interpreter/numbers.h"

namespace nereid::interpreter {
namespace {

using ir::Format;
using ir::ScaleRule;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The formats as the OCP specification tabulates them.
struct Specification {
  Format format;
  int bits, exponent_bits, mantissa_bits, bias;
  double largest;
  int largest_exponent;
};
constexpr Specification specifications[] = {
    {Format::E2M1, 4, 2, 1, 1, 6.0, 2},       {Format::E2M3, 6, 2, 3, 1, 7.5, 2},
    {Format::E3M2, 6, 3, 2, 3, 28.0, 4},      {Format::E4M3, 8, 4, 3, 7, 448.0, 8},
    {Format::E5M2, 8, 5, 2, 15, 57344.0, 15},
};

/// The value of a code, or nothing for NaN, from its fields.
std::optional<double> by_formula(const Specification &s, unsigned code) {
  const unsigned fraction = code % (1u << s.mantissa_bits);
  const unsigned exponent = code >> s.mantissa_bits & ((1u << s.exponent_bits) - 1);
  const double sign = code >> (s.bits - 1) != 0 ? -1.0 : 1.0;
  if (s.format == Format::E4M3 && exponent == 15 && fraction == 7)
    return {};
  if (s.format == Format::E5M2 && exponent == 31)
    return fraction == 0 ? std::optional<double>(sign * infinity) : std::nullopt;
  const double part = fraction / std::pow(2.0, s.mantissa_bits);
  if (exponent == 0)
    return sign * part * std::pow(2.0, 1 - s.bias);
  return sign * (1 + part) * std::pow(2.0, static_cast<int>(exponent) - s.bias);
}

TEST(Numbers, EveryCodeOfEveryFormatDecodes) {
  for (const Specification &s : specifications)
    for (unsigned code = 0; code < 1u << s.bits; ++code) {
      const std::optional<double> expected = by_formula(s, code);
      const float value = decode(s.format, static_cast<uint8_t>(code));
      if (!expected) {
        EXPECT_TRUE(std::isnan(value)) << ir::facts(s.format).name << " " << code;
        continue;
      }
      EXPECT_EQ(value, *expected) << ir::facts(s.format).name << " " << code;
      EXPECT_EQ(std::signbit(value), std::signbit(*expected));
    }
}

TEST(Numbers, LargestValues) {
  for (const Specification &s : specifications) {
    EXPECT_EQ(decode(s.format, largest_code(s.format)), s.largest);
    EXPECT_EQ(largest_exponent(s.format), s.largest_exponent);
  }
}

/// The nearest finite code by comparing with all of them; ties to the even one.
uint8_t slow_nearest(const Specification &s, double value) {
  unsigned best = 0;
  double best_distance = infinity;
  for (unsigned code = 0; code < 1u << (s.bits - 1); ++code) {
    const std::optional<double> candidate = by_formula(s, code);
    if (!candidate || std::isinf(*candidate))
      continue;
    const double distance = std::fabs(*candidate - std::fabs(value));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  return static_cast<uint8_t>(best | (std::signbit(value) ? 1u << (s.bits - 1) : 0));
}

std::vector<double> interesting_values(const Specification &s, unsigned seed) {
  std::vector<double> values = {0.0,           -0.0, 1e-30, -1e-300, s.largest, s.largest * 1.01,
                                s.largest * 4, 1e9,  -1e9};
  for (unsigned code = 0; code + 1u < 1u << (s.bits - 1); ++code) {
    const auto low = by_formula(s, code), high = by_formula(s, code + 1);
    if (!low || !high || std::isinf(*high))
      continue;
    const double middle = (*low + *high) / 2;
    for (double value : {*low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, infinity)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, s.largest / 3);
  for (int i = 0; i < 2000; ++i)
    values.push_back(normal(random));
  return values;
}

TEST(Numbers, EncodingIsTheNearestCodeTiesToEven) {
  for (const Specification &s : specifications)
    for (double value : interesting_values(s, 7))
      EXPECT_EQ(encode(s.format, value, Overflow::Saturate), slow_nearest(s, value))
          << ir::facts(s.format).name << " " << value;
}

TEST(Numbers, OverflowOfEightBitFormatsIsSpecialOnRequest) {
  EXPECT_EQ(encode(Format::E4M3, 464.0, Overflow::Special), 0x7e); // a tie goes to the even 448
  EXPECT_EQ(encode(Format::E4M3, std::nextafter(464.0, 1e9), Overflow::Special), 0x7f);
  EXPECT_EQ(encode(Format::E4M3, -1e9, Overflow::Special), 0xff);
  EXPECT_EQ(encode(Format::E5M2, std::nextafter(61440.0, 0.0), Overflow::Special), 0x7b);
  EXPECT_EQ(encode(Format::E5M2, 61440.0, Overflow::Special), 0x7c);
  EXPECT_EQ(encode(Format::E5M2, -1e9, Overflow::Special), 0xfc);
  EXPECT_EQ(encode(Format::E2M1, 1e9, Overflow::Special), 0x7);
  EXPECT_EQ(encode(Format::E3M2, -1e9, Overflow::Special), 0x3f);
}

TEST(Numbers, NanAndInfinityKeepTheirSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Specification &s : specifications) {
    const uint8_t sign = static_cast<uint8_t>(1u << (s.bits - 1));
    const bool has_nan = s.bits == 8;
    const uint8_t for_nan = has_nan ? 0x7f : largest_code(s.format);
    const uint8_t for_infinity = s.format == Format::E5M2 ? 0x7c : for_nan;
    EXPECT_EQ(encode(s.format, nan, Overflow::Saturate), for_nan);
    EXPECT_EQ(encode(s.format, std::copysign(nan, -1.0), Overflow::Saturate), for_nan | sign);
    EXPECT_EQ(encode(s.format, infinity, Overflow::Saturate), for_infinity);
    EXPECT_EQ(encode(s.format, -infinity, Overflow::Saturate), for_infinity | sign);
  }
}

TEST(Numbers, ScalesArePowersOfTwo) {
  for (int byte = 0; byte < 255; ++byte)
    EXPECT_EQ(scale_value(static_cast<uint8_t>(byte)), std::ldexp(1.0, byte - 127));
  EXPECT_TRUE(std::isnan(scale_value(255)));
}

TEST(Numbers, EveryHalfRoundTrips) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float from_f16 = f16_value(half), from_bf16 = bf16_value(half);
    if (std::isnan(from_f16))
      EXPECT_TRUE(std::isnan(f16_value(f16_bits(from_f16))));
    else
      EXPECT_EQ(f16_bits(from_f16), half);
    if (std::isnan(from_bf16))
      EXPECT_TRUE(std::isnan(bf16_value(bf16_bits(from_bf16))));
    else
      EXPECT_EQ(bf16_bits(from_bf16), half);
  }
  EXPECT_EQ(f16_value(0x3c00), 1.0f);
  EXPECT_EQ(f16_value(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_value(0x7bff), 65504.0f);
  EXPECT_EQ(f16_value(0xfc00), -infinity);
  EXPECT_EQ(bf16_value(0x3f80), 1.0f);
}

/// Rounds by trying both neighbours in the table of all values.
template <class Value> uint16_t slow_half(float value, Value value_of, uint16_t infinity_bits) {
  uint16_t low = 0;
  for (unsigned step = 0x4000; step != 0; step /= 2)
    if (low + step <= infinity_bits && value_of(static_cast<uint16_t>(low + step)) <= std::fabs(value))
      low = static_cast<uint16_t>(low + step);
  uint16_t chosen = low;
  if (low != infinity_bits) {
    // The value behind the largest is where the next power of two would be.
    const auto high_bits = static_cast<uint16_t>(low + 1);
    const double largest_step = static_cast<double>(value_of(low)) - value_of(static_cast<uint16_t>(low - 1));
    const double high =
        high_bits == infinity_bits ? static_cast<double>(value_of(low)) + largest_step : value_of(high_bits);
    const double below = std::fabs(value) - static_cast<double>(value_of(low)),
                 above = high - std::fabs(value);
    if (above < below || (above == below && low % 2 == 1))
      chosen = high_bits;
  }
  return static_cast<uint16_t>(chosen | (std::signbit(value) ? 0x8000 : 0));
}

TEST(Numbers, RoundingToHalvesIsToTheNearestTiesToEven) {
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    const float any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const float small =
        std::ldexp(static_cast<float>(static_cast<int32_t>(random())), -31 - static_cast<int>(random() % 30));
    const float tie = f16_value(static_cast<uint16_t>(random() & 0x7bff)) * 1.00048828125f;
    for (float value : {any, small, tie, 65519.99f, 65520.0f, 0x1p-25f, 0x1.8p-25f}) {
      if (!std::isfinite(value))
        continue;
      EXPECT_EQ(f16_bits(value), slow_half(value, f16_value, 0x7c00)) << value;
      EXPECT_EQ(bf16_bits(value), slow_half(value, bf16_value, 0x7f80)) << value;
    }
  }
}

TEST(Numbers, EvenScaleOfE2M1) {
  struct {
    float amax;
    uint8_t scale;
  } cases[] = {
      {0.0f, 0},         {1e-45f, 0},
      {1.0f, 125},       {1.7499999f, 125},
      {1.75f, 126},      {2.0f, 126},
      {6.0f, 127},       {7.0f, 128},
      {0x1p-126f, 0},    {0x1p-124f, 1},
      {0x1p127f, 252},   {std::nextafter(0x1.cp127f, 0.0f), 252},
      {0x1.cp127f, 254}, {std::numeric_limits<float>::max(), 254},
      {infinity, 254},
  };
  for (const auto &c : cases)
    EXPECT_EQ(group_scale(Format::E2M1, ScaleRule::Even, c.amax), c.scale) << c.amax;
  EXPECT_EQ(group_scale(Format::E2M1, ScaleRule::Even, std::numeric_limits<float>::quiet_NaN()), 254);
}

TEST(Numbers, FloorAndCeilScalesAreWhatTheirNamesSay) {
  std::mt19937 random(5);
  for (const Specification &s : specifications)
    for (int i = 0; i < 3000; ++i) {
      const float amax = std::bit_cast<float>(static_cast<uint32_t>(random() & 0x7fffffff));
      if (!std::isfinite(amax) || amax == 0)
        continue;
      const int exponent = std::max(std::ilogb(amax), -127) - s.largest_exponent;
      EXPECT_EQ(group_scale(s.format, ScaleRule::Floor, amax), std::max(exponent + 127, 0)) << amax;
      int least = 0;
      while (std::ldexp(static_cast<double>(amax), 127 - least) > s.largest)
        ++least;
      EXPECT_EQ(group_scale(s.format, ScaleRule::Ceil, amax), least) << amax;
    }
}

} // namespace
} // namespace nereid::interpreter
