// The microscaling formats by their definitions: codes to values and back, scales of groups.
#include "dsl/interpreter/numbers.h"

#include <array>
#include <cmath>
#include <limits>

namespace nereid::interpreter {

using ir::Format;

uint8_t largest_code(Format format) {
  switch (format) {
  case Format::E2M1:
    return 0x7;
  case Format::E4M3:
    return 0x7e;
  case Format::E5M2:
    return 0x7b;
  default:
    return 0x1f;
  }
}

int largest_exponent(Format format) {
  const ir::FormatFacts &facts = ir::facts(format);
  return static_cast<int>(largest_code(format) >> facts.mantissa_bits) - facts.bias;
}

static float formula(Format format, unsigned code) {
  const ir::FormatFacts &facts = ir::facts(format);
  const unsigned magnitude = code & ((1u << (facts.bits - 1)) - 1);
  const float sign = code >> (facts.bits - 1) & 1 ? -1.0f : 1.0f;
  if (format == Format::E5M2 && magnitude == 0x7c)
    return sign * std::numeric_limits<float>::infinity();
  if (magnitude > largest_code(format))
    return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
  const unsigned exponent = magnitude >> facts.mantissa_bits;
  unsigned significand = magnitude & ((1u << facts.mantissa_bits) - 1);
  if (exponent != 0)
    significand |= 1u << facts.mantissa_bits;
  const int scale =
      static_cast<int>(exponent == 0 ? 1 : exponent) - facts.bias - static_cast<int>(facts.mantissa_bits);
  return sign * std::ldexp(static_cast<float>(significand), scale);
}

float decode(Format format, uint8_t code) {
  static const auto table = [] {
    std::array<std::array<float, 256>, 5> result{};
    for (unsigned f = 0; f < result.size(); ++f)
      for (unsigned c = 0; c < 256; ++c)
        result[f][c] =
            formula(static_cast<Format>(f), c & ((1u << ir::facts(static_cast<Format>(f)).bits) - 1));
    return result;
  }();
  return table[static_cast<size_t>(format)][code];
}

static uint8_t special_code(Format format, bool is_nan) {
  if (format == Format::E5M2)
    return is_nan ? 0x7f : 0x7c;
  return format == Format::E4M3 ? 0x7f : largest_code(format);
}

uint8_t encode(Format format, double value, Overflow overflow) {
  const ir::FormatFacts &facts = ir::facts(format);
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 1u << (facts.bits - 1) : 0);
  if (!std::isfinite(value))
    return sign | special_code(format, std::isnan(value));
  const double magnitude = std::fabs(value);
  const int min_exponent = 1 - facts.bias;
  const int mantissa = static_cast<int>(facts.mantissa_bits);
  const int exponent = magnitude == 0 ? min_exponent : std::max(std::ilogb(magnitude), min_exponent);
  if (exponent > largest_exponent(format) + 1)
    return sign | (overflow == Overflow::Special ? special_code(format, false) : largest_code(format));
  // Significands run on into the next exponent, as codes do.
  const auto significand = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, mantissa - exponent)));
  const unsigned code = (static_cast<unsigned>(exponent - min_exponent) << mantissa) + significand;
  if (code <= largest_code(format))
    return sign | static_cast<uint8_t>(code);
  return sign | (overflow == Overflow::Special ? special_code(format, false) : largest_code(format));
}

float scale_value(uint8_t byte) {
  if (byte == 255)
    return std::numeric_limits<float>::quiet_NaN();
  return byte == 0 ? 0x1p-127f : std::bit_cast<float>(static_cast<uint32_t>(byte) << 23);
}

uint8_t group_scale(Format format, ir::ScaleRule rule, float amax) {
  if (!std::isfinite(amax))
    return 254;
  const uint32_t bits = std::bit_cast<uint32_t>(amax) & 0x7fffffff;
  const int largest = largest_exponent(format);
  switch (rule) {
  case ir::ScaleRule::Even: {
    const uint32_t half = 1u << (22 - ir::facts(format).mantissa_bits);
    const auto exponent = static_cast<int>((bits + half) >> 23);
    return static_cast<uint8_t>(exponent == 255 ? 254 : std::max(exponent - largest, 0));
  }
  case ir::ScaleRule::Floor:
    return static_cast<uint8_t>(std::max(static_cast<int>(bits >> 23) - largest, 0));
  case ir::ScaleRule::Ceil: {
    const double limit = decode(format, largest_code(format));
    int byte = std::max(static_cast<int>(bits >> 23) - largest, 0);
    while (std::ldexp(static_cast<double>(amax), 127 - byte) > limit)
      ++byte;
    return static_cast<uint8_t>(byte);
  }
  }
  return 254;
}

} // namespace nereid::interpreter
