#pragma once

#include <bit>
#include <cstdint>

namespace nereid::sim {

/// A value of IEEE half precision, held as the float that equals it; operations round once when the result is
/// stored.
struct Half {
  float value;
};

/// A number format of at most 8 bits: sign, exponent, mantissa.
struct SmallFormat {
  unsigned exponent_bits;
  unsigned mantissa_bits;
  int bias;
  bool has_nan;      ///< e4m3 (all ones only) and e5m2
  bool has_infinity; ///< e5m2

  constexpr unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
};

inline constexpr SmallFormat fp4{2, 1, 1, false, false};
inline constexpr SmallFormat fp6{2, 3, 1, false, false};
inline constexpr SmallFormat bf6{3, 2, 3, false, false};
inline constexpr SmallFormat fp8{4, 3, 7, true, false};
inline constexpr SmallFormat bf8{5, 2, 15, true, true};

inline float half_to_float(uint32_t bits) {
  uint32_t sign = (bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7FFF;
  // A denormal becomes a normal float once 2^-14 is added and taken away again.
  float denormal = std::bit_cast<float>(magnitude << 13 | 0x38800000) - std::bit_cast<float>(0x38800000u);
  uint32_t finite = magnitude < 0x400 ? std::bit_cast<uint32_t>(denormal) : (magnitude << 13) + 0x38000000;
  uint32_t special = 0x7F800000 | (magnitude & 0x3FF) << 13;
  return std::bit_cast<float>(sign | (magnitude >= 0x7C00 ? special : finite));
}

/// Rounds to nearest even.
inline uint32_t float_to_half(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  // Denormal results: adding 2^-1 lets the float adder round at 2^-24.
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  uint32_t normal = (magnitude + 0xC8000FFF + ((magnitude >> 13) & 1)) >> 13;
  uint32_t large = magnitude > 0x7F800000 ? 0x7E00 | (magnitude >> 13 & 0x3FF) : 0x7C00;
  uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = magnitude >= 0x47800000 ? large : result;
  return sign | result;
}

/// Rounds a double once to half precision under a rounding mode (0 nearest even, 1 up, 2 down, 3 to zero).
uint32_t double_to_half(double value, unsigned rounding);

inline float bfloat_to_float(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

/// Rounds to nearest even.
inline uint32_t float_to_bfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? (bits >> 16 | 0x40) : rounded;
}

/// The value of a code of a small format.
float small_to_float(const SmallFormat &format, uint32_t code);

/// Rounds value / 2^scale to nearest even in a small format. Values beyond the largest finite number saturate
/// when the format has no infinity or NaN or when `saturate` is set; otherwise they become infinity, or NaN
/// where there is none. NaN becomes NaN, or the largest number with its sign in a format without NaN.
uint32_t float_to_small(const SmallFormat &format, double value, bool saturate);

/// As float_to_small, but adds `random` (32 bits, a fraction of the last kept place) and truncates.
uint32_t float_to_small_stochastic(const SmallFormat &format, double value, bool saturate, uint32_t random);

/// 2^(exponent - 127), or NaN for 255: the value of an e8m0 byte.
double e8m0_value(uint32_t exponent);

} // namespace nereid::sim
