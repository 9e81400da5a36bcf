// The number formats of the library on the host: bf16 and e8m0, e2m1.
#include "kernels/host/formats.h"

#include <bit>
#include <cmath>
#include <limits>

namespace nereid::kernels::host {

float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x0040);
  const uint32_t ties_to_even = 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>((bits + ties_to_even) >> 16);
}

// In integers: the host's rounding mode has no say.
uint16_t bf16_from_double(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 63 << 15);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  constexpr int first = -126, last = 127; // exponents of normal bf16 numbers
  if (exponent > last)
    return static_cast<uint16_t>(sign | 0x7f80 |
                                 (exponent == 1024 && fraction != 0 ? 0x0040 | fraction >> 45 : 0));
  if (exponent < first - 8)
    return sign; // less than half of the smallest number
  const uint64_t significand = fraction | uint64_t{1} << 52;
  const int dropped = 45 + (exponent < first ? first - exponent : 0);
  const uint64_t half = uint64_t{1} << (dropped - 1);
  const uint64_t rounded = (significand + half - 1 + (significand >> dropped & 1)) >> dropped;
  // The implicit bit of a normal number counts up the exponent, and so does a carry, to infinity at last.
  const int below = exponent < first ? 0 : exponent - first;
  return static_cast<uint16_t>(sign | ((static_cast<uint64_t>(below) << 7) + rounded));
}

float e2m1_to_float(uint8_t code) {
  static constexpr float magnitudes[8] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  const float magnitude = magnitudes[code & 7];
  return (code & 8) != 0 ? -magnitude : magnitude;
}

uint8_t e2m1_from_double(double value) {
  // A code is passed at the midpoint to its successor; on the midpoint itself the even one of the two wins.
  static constexpr double midpoints[7] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0};
  const uint8_t sign = std::signbit(value) ? 8 : 0;
  if (std::isnan(value))
    return sign | 7;
  const double magnitude = std::fabs(value);
  uint8_t code = 0;
  while (code < 7) {
    const bool next_is_even = (code & 1) != 0;
    if (magnitude < midpoints[code] || (magnitude == midpoints[code] && !next_is_even))
      break;
    ++code;
  }
  return sign | code;
}

double e8m0_to_double(uint8_t byte) {
  if (byte == 255)
    return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, byte - 127);
}

} // namespace nereid::kernels::host
