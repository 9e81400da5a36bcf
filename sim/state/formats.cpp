// Rounding to and from the small float formats, and f64 to f16 in any rounding mode.

#include "sim/state/formats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::sim {

namespace {

/// |value| in units of the last place that a small format keeps at that magnitude, with the exponent of that
/// place.
struct Scaled {
  double units;
  int exponent;
};

/// 2^exponent, of a normal double.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// `magnitude` is finite and the smallest normal number of the format well above a double's.
Scaled in_last_places(double magnitude, int smallest_normal, unsigned mantissa_bits) {
  int exponent = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023;
  exponent = std::max(exponent, smallest_normal) - static_cast<int>(mantissa_bits);
  return {magnitude * power_of_two(-exponent), exponent};
}

/// The whole part of a number of units: at most twice the codes of an exponent.
uint32_t whole_part(double units) { return static_cast<uint32_t>(units); }

uint32_t max_code(const SmallFormat &format) {
  uint32_t all = (1u << (format.exponent_bits + format.mantissa_bits)) - 1;
  if (format.has_infinity)
    return all - (1u << format.mantissa_bits);
  return format.has_nan ? all - 1 : all;
}

/// The code of `whole` units of 2^exponent; they may have grown to the next power of two by rounding.
uint32_t finite_code(const SmallFormat &format, uint32_t whole, int exponent) {
  int biased = exponent + static_cast<int>(format.mantissa_bits) + format.bias;
  uint32_t one = 1u << format.mantissa_bits;
  // A denormal has the exponent of the smallest normal and no hidden bit; carries move into the exponent
  // field.
  return whole < one ? whole : (static_cast<uint32_t>(biased) << format.mantissa_bits) + (whole - one);
}

template <class Round>
uint32_t to_small(const SmallFormat &format, double value, bool saturate, Round round) {
  uint32_t sign = std::signbit(value) ? 1u << (format.bits() - 1) : 0;
  const uint32_t max = max_code(format);
  uint32_t all = (1u << (format.exponent_bits + format.mantissa_bits)) - 1;
  if (std::isnan(value))
    return sign | (format.has_nan ? all : max);
  uint32_t overflow = saturate || !format.has_nan ? max
                      : format.has_infinity       ? all - (1u << format.mantissa_bits) + 1
                                                  : all;
  if (std::isinf(value))
    return sign | overflow;
  Scaled scaled = in_last_places(std::fabs(value), 1 - format.bias, format.mantissa_bits);
  const uint32_t code = finite_code(format, round(scaled.units), scaled.exponent);
  return sign | (code > max ? overflow : code);
}

} // namespace

uint32_t double_to_half(double value, unsigned rounding) {
  uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7E00;
  if (std::isinf(value))
    return sign | 0x7C00;
  Scaled scaled = in_last_places(std::fabs(value), -14, 10);
  const uint32_t below = whole_part(scaled.units);
  const double rest = scaled.units - below;
  bool away = rounding == 0   ? rest > 0.5 || (rest == 0.5 && below % 2 == 1)
              : rounding == 1 ? rest > 0 && !sign
              : rounding == 2 ? rest > 0 && sign
                              : false;
  const uint32_t units = below + (away ? 1 : 0);
  if (units * power_of_two(scaled.exponent) > 65504) {
    bool infinite = rounding == 0 || (rounding == 1 && !sign) || (rounding == 2 && sign);
    return sign | (infinite ? 0x7C00 : 0x7BFF);
  }
  return sign | finite_code({5, 10, 15, true, true}, units, scaled.exponent);
}

float small_to_float(const SmallFormat &format, uint32_t code) {
  uint32_t all = (1u << (format.exponent_bits + format.mantissa_bits)) - 1;
  uint32_t magnitude = code & all;
  bool negative = code >> (format.bits() - 1) & 1;
  uint32_t exponent = magnitude >> format.mantissa_bits;
  uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  float result;
  if (format.has_infinity && exponent == (1u << format.exponent_bits) - 1)
    result = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (format.has_nan && !format.has_infinity && magnitude == all)
    result = std::numeric_limits<float>::quiet_NaN();
  else {
    uint32_t whole = exponent ? mantissa + (1u << format.mantissa_bits) : mantissa;
    int place =
        (exponent ? static_cast<int>(exponent) : 1) - format.bias - static_cast<int>(format.mantissa_bits);
    result = static_cast<float>(whole * power_of_two(place));
  }
  return negative ? -result : result;
}

uint32_t float_to_small(const SmallFormat &format, double value, bool saturate) {
  return to_small(format, value, saturate, [](double units) {
    const uint32_t below = whole_part(units);
    const double rest = units - below;
    return below + (rest > 0.5 || (rest == 0.5 && below % 2 == 1) ? 1 : 0);
  });
}

uint32_t float_to_small_stochastic(const SmallFormat &format, double value, bool saturate, uint32_t random) {
  return to_small(format, value, saturate, [random](double units) {
    return whole_part(units + static_cast<double>(random) * 0x1p-32);
  });
}

double e8m0_value(uint32_t exponent) {
  return exponent == 255 ? std::numeric_limits<double>::quiet_NaN()
                         : power_of_two(static_cast<int>(exponent) - 127);
}

} // namespace nereid::sim
