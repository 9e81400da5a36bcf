#pragma once

#include <bit>
#include <cstdint>

/// Floats of 8 bits to f32 and back: E4M3 and E5M2 of the OCP 8-bit Floating Point Specification (OFP8) 1.0.
namespace nereid::detail {

/// A format of 8 bits, the upper one of which is the sign. Codes without it: those up to `largest` are finite.
struct SmallFloat {
  int mantissa_bits, bias;
  uint8_t largest;
  uint8_t infinity; ///< what too large numbers become: NaN where the format has no infinity
  uint8_t nan;      ///< what a NaN becomes
};
inline constexpr SmallFloat e4m3_format{3, 7, 0x7e, 0x7f, 0x7f};
inline constexpr SmallFloat e5m2_format{2, 15, 0x7b, 0x7c, 0x7f};

/// The code of a number, rounded to nearest, ties to even, subnormals included. What rounds to more than the
/// largest becomes infinite (e5m2) or NaN (e4m3), as v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32 have it.
constexpr uint8_t small_float_bits(const SmallFloat &format, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint8_t>(bits >> 24 & 0x80);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000)
    return sign | (magnitude > 0x7f800000 ? format.nan : format.infinity);
  const int exponent = static_cast<int>(magnitude >> 23), smallest_normal = 128 - format.bias;
  if (exponent < smallest_normal - format.mantissa_bits - 1) // less than half of the smallest subnormal
    return sign;
  const bool normal = exponent >= smallest_normal;
  const uint32_t significand = normal ? magnitude - (static_cast<uint32_t>(smallest_normal - 1) << 23)
                                      : (magnitude & 0x7fffff) | 0x800000;
  const int shift = 23 - format.mantissa_bits + (normal ? 0 : smallest_normal - exponent);
  const uint32_t half = (1u << (shift - 1)) - 1 + (significand >> shift & 1);
  const uint32_t code = (significand + half) >> shift;
  return sign | (code > format.largest ? format.infinity : static_cast<uint8_t>(code));
}

/// The number of a code.
constexpr float small_float_value(const SmallFloat &format, uint8_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x80) << 24;
  const uint32_t magnitude = bits & 0x7f;
  const int mantissa = format.mantissa_bits;
  if (magnitude > format.largest) {
    const bool is_infinite = magnitude == format.infinity && format.infinity != format.nan;
    return std::bit_cast<float>(sign | (is_infinite ? 0x7f800000 : 0x7fc00000));
  }
  if (magnitude >> mantissa == 0) { // a subnormal counts the last bit of the smallest normal number
    const float last = std::bit_cast<float>(static_cast<uint32_t>(128 - format.bias - mantissa) << 23);
    const float value = static_cast<float>(magnitude) * last;
    return sign != 0 ? -value : value;
  }
  const uint32_t bias_gap = static_cast<uint32_t>(127 - format.bias) << 23;
  return std::bit_cast<float>(sign | ((magnitude << (23 - mantissa)) + bias_gap));
}

} // namespace nereid::detail
