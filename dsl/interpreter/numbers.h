#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "dsl/half.h"
#include "dsl/ir/format.h"

namespace nereid::interpreter {

/// Number formats as the interpreter knows them, written from the formats' definitions alone: OCP
/// Microscaling Formats (MX) v1.0.

using detail::bf16_bits;
using detail::bf16_value;
using detail::bits_of;
using detail::f16_bits;
using detail::f16_value;
using detail::float_of;

/// Of f64, which tensors store as double.
inline uint64_t bits_of(ir::Element, double value) { return std::bit_cast<uint64_t>(value); }
/// A float element from its bits as tensors store it: T is double for f64, float for all others.
template <std::floating_point T> T real_of(ir::Element element, uint64_t bits) {
  if constexpr (std::same_as<T, double>)
    return std::bit_cast<double>(bits);
  else
    return float_of(element, bits);
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
