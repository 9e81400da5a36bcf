#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "dsl/ir/element.h"
#include "dsl/small_float.h"

/// f32 to bfloat16 and IEEE binary16 and back, and the one step before them that keeps wider numbers from
/// being rounded twice.
namespace nereid::detail {

/// Rounds to the nearest bfloat16, ties to even; a NaN stays a (quiet) NaN with the upper bits of its
/// payload.
constexpr uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float bf16_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// Rounds to the nearest binary16, ties to even, subnormals included.
constexpr uint16_t f16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (bits >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) // half way between the largest finite number and the next power of two
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x33000001) // at most half of the smallest subnormal
    return static_cast<uint16_t>(sign);
  const uint32_t exponent = magnitude >> 23;
  const bool normal = exponent >= 113;
  const uint32_t significand = normal ? magnitude - (112u << 23) : (magnitude & 0x7fffff) | 0x800000;
  const uint32_t shift = normal ? 13 : 126 - exponent;
  const uint32_t half = (1u << (shift - 1)) - 1 + (significand >> shift & 1);
  return static_cast<uint16_t>(sign | (significand + half) >> shift);
}

constexpr float f16_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

/// The float of a float element, of 32 bits at most, from its bits, and its bits.
inline float float_of(ir::Element element, uint64_t bits) {
  switch (element) {
  case ir::Element::BF16:
    return bf16_value(static_cast<uint16_t>(bits));
  case ir::Element::F16:
    return f16_value(static_cast<uint16_t>(bits));
  case ir::Element::FP8:
    return small_float_value(e4m3_format, static_cast<uint8_t>(bits));
  case ir::Element::BF8:
    return small_float_value(e5m2_format, static_cast<uint8_t>(bits));
  default:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
}
inline uint64_t bits_of(ir::Element element, float value) {
  switch (element) {
  case ir::Element::BF16:
    return bf16_bits(value);
  case ir::Element::F16:
    return f16_bits(value);
  case ir::Element::FP8:
    return small_float_bits(e4m3_format, value);
  case ir::Element::BF8:
    return small_float_bits(e5m2_format, value);
  default:
    return std::bit_cast<uint32_t>(value);
  }
}

/// Of the two f32 around a number that is none the one whose last bit is set. Rounding that to a type with at
/// least two bits less rounds the number itself once. A long double holds every double and 64-bit integer.
constexpr float round_to_odd(long double value) {
  constexpr float max = std::numeric_limits<float>::max();
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  if (value > max || value < -max)
    return value == infinity || value == -infinity ? static_cast<float>(value) : value > 0 ? max : -max;
  const auto nearest = static_cast<float>(value);
  if (nearest == value || value != value)
    return nearest;
  const bool away = value > 0 ? nearest > value : nearest < value;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(nearest) - away) | 1);
}

/// a * b + c of bf16 or f16 numbers, to be rounded to their type: round_to_odd of the exact sum.
inline float fma_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * b; // exact
  const double sum = product + c;
  // What the sum leaves out, exactly; a NaN where it is not finite.
  const double of_c = sum - product;
  const double rest = (product - (sum - of_c)) + (c - of_c);
  auto bits = std::bit_cast<uint64_t>(sum);
  if ((rest > 0 || rest < 0) && (bits & 1) == 0)
    bits += (rest > 0) == (sum > 0) ? 1 : -1;
  return round_to_odd(std::bit_cast<double>(bits));
}

} // namespace nereid::detail
