#pragma once

#include <bit>
#include <cstdint>

#include "dsl/ir/element.h"
#include "dsl/ir/format.h"

namespace nereid::interpreter {

/// Number formats as the interpreter knows them, written from the formats' definitions alone: OCP
/// Microscaling Formats (MX) v1.0, IEEE 754 binary16 and bfloat16.

/// Rounds to nearest even; a NaN stays one (quiet, upper bits of its payload kept).
inline uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float bf16_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f16_bits(float value);
float f16_value(uint16_t bits);

/// The float of an f32, bf16 or f16 from its bits, and its bits.
inline float float_of(ir::Element element, uint64_t bits) {
  if (element == ir::Element::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return element == ir::Element::BF16 ? bf16_value(static_cast<uint16_t>(bits))
                                      : f16_value(static_cast<uint16_t>(bits));
}
inline uint64_t bits_of(ir::Element element, float value) {
  if (element == ir::Element::F32)
    return std::bit_cast<uint32_t>(value);
  return element == ir::Element::BF16 ? bf16_bits(value) : f16_bits(value);
}

/// The value of a code of a microscaling format.
float decode(ir::Format format, uint8_t code);

/// What becomes of a finite value that rounds to more than the largest of its format.
enum class Overflow : uint8_t {
  Saturate, ///< the largest finite value
  Special,  ///< NaN in e4m3, infinity in e5m2; the others have neither and saturate
};

/// The nearest code, ties to an even code, the sign of zero kept. Infinities and NaN: formats with 4 and 6
/// bits give their largest value with the operand's sign; e5m2 gives infinity and NaN, e4m3 NaN for both.
uint8_t encode(ir::Format format, double value, Overflow overflow);

/// 2^(byte - 127); NaN for 255.
float scale_value(uint8_t byte);

/// The e8m0 byte of a group whose largest magnitude is `amax`, as ir::ScaleRule says; NaN or infinite where
/// an element is.
uint8_t group_scale(ir::Format format, ir::ScaleRule rule, float amax);

/// Largest code without a sign that is finite, and the exponent of its value.
uint8_t largest_code(ir::Format format);
int largest_exponent(ir::Format format);

} // namespace nereid::interpreter
